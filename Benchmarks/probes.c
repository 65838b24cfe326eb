#include "probes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WARM 12 /* starts after which a directory is in the steady state */

static char programs[BUILDS][2048];
static struct probe_figures *shared;

void probes_open(const char *self)
{
    static const char *const names[BUILDS] = { "probe-plain", "probe-shared", "probe-static" };
    const char *slash = strrchr(self, '/');
    for (int i = 0; i < BUILDS; i++)
        snprintf(programs[i], sizeof programs[i], "%.*s/%s", slash ? (int)(slash - self) : 1, slash ? self : ".", names[i]);
    shared = shared_make(sizeof *shared);
}

static struct child life(enum build build, const char *descriptor, const char *what, const char *directory, const char *keep)
{
    char *arguments[] = { programs[build], (char *)descriptor, (char *)what, (char *)directory, (char *)keep, NULL };
    struct child child = { .arguments = arguments, .limit_ms = 10000 };
    run_child(&child);
    child.arguments = NULL; /* they end here */
    return child;
}

struct probe_figures probe_run(enum build build, const char *what, const char *directory, const char *keep)
{
    memset(shared, 0, sizeof *shared);
    life(build, shared_name(), what, directory, keep);
    return *shared;
}

struct child probe_live(enum build build, const char *what, const char *directory, const char *keep, struct probe_figures *ret)
{
    struct child child = life(build, ret ? shared_name() : "-", what, directory, keep);
    if (ret)
        *ret = *shared;
    return child;
}

double probe_instructions(enum build build, const char *function, const char *directory, const char *keep, const char *scratch)
{
    char *arguments[] = { programs[build], "-", "exit", (char *)directory, (char *)keep, NULL };
    return count_instructions(function, arguments, scratch);
}

/* ---- history ---- */

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* The descriptor of the folder of the runs, and the name of the newest. */
static int newest_of(const char *directory, char name[256])
{
    char path[4096];
    snprintf(path, sizeof path, "%s/runs", directory);
    DIR *runs = opendir(path);
    if (!runs)
        give_up(path);
    name[0] = 0;
    for (struct dirent *entry; (entry = readdir(runs));)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && strcmp(entry->d_name, name) > 0)
            strcpy(name, entry->d_name);
    int folder = dup(dirfd(runs));
    closedir(runs);
    if (folder < 0 || !name[0])
        give_up(path);
    return folder;
}

static void copy(int folder, const char *name, const char *bytes, size_t size)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        give_up(name);
    close(file);
}

void history_make(enum build build, const char *directory, unsigned count, unsigned full)
{
    char keep[16], name[256], copied[512], linked[512] = "";
    struct stat info;
    snprintf(keep, sizeof keep, "%u", count);
    for (unsigned i = 0; i < WARM; i++)
        probe_live(build, "live", directory, keep, NULL);
    int folder = newest_of(directory, name);
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0)
        give_up(name);
    size_t size = (size_t)info.st_size;
    char *bytes = malloc(size);
    if (!bytes || read(file, bytes, size) != (ssize_t)size)
        give_up(name);
    close(file);
    size_t digits = strspn(name, "0123456789");
    name[digits + 1] = name[digits + 1] == 'f' ? 'e' : 'f'; /* no copy has the name of a run */
    for (unsigned i = 1; i + WARM <= count; i++) {
        snprintf(copied, sizeof copied, "%0*u%s", (int)digits, i, name + digits);
        if (i <= full || !linked[0]) {
            copy(folder, copied, bytes, size);
            if (i > full)
                strcpy(linked, copied);
        } else if (linkat(folder, linked, folder, copied, 0) != 0) {
            give_up(copied);
        }
    }
    free(bytes);
    /* so that nothing of this is written back while something is measured */
    if (syncfs(folder) != 0)
        give_up(directory);
    close(folder);
}

double history_newest_kib(const char *directory)
{
    char name[256];
    struct stat info;
    int folder = newest_of(directory, name);
    if (fstatat(folder, name, &info, 0) != 0)
        give_up(name);
    close(folder);
    return (double)info.st_blocks / 2;
}
