/* The entries of a log that survive the kill of its process. */
#include "candidates.h"
#include "measured.h"

#include <launchguard/launchguard.h>

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS 10000

extern char **environ;

static bool seen[KILLED_AFTER];
static char pattern[32];

/* Note the numbers of all entries of this kill in some text. */
static void look_through(const char *text, size_t size)
{
    size_t length = strlen(pattern);
    const char *end = text + size;
    while ((text = memmem(text, (size_t)(end - text), pattern, length))) {
        char digits[5] = { 0 };
        text += length;
        if (end - text < 4)
            break;
        memcpy(digits, text, 4);
        unsigned number = (unsigned)strtoul(digits, NULL, 10);
        if (number < KILLED_AFTER)
            seen[number] = true;
    }
}

static void look_through_stream(FILE *stream)
{
    char *text = NULL;
    size_t size = 0, room = 0, got;
    do {
        if (size == room && !(text = realloc(text, room = room ? 2 * room : 1 << 20)))
            exit(1);
        size += got = fread(text + size, 1, room - size, stream);
    } while (got > 0);
    look_through(text, size);
    free(text);
}

static void look_through_run(const char *path)
{
    lg_reader *reader;
    lg_log_info info;
    static lg_log_entry entry;
    if (lg_reader_open(path, &reader) != LG_OK)
        return;
    if (lg_reader_log(reader, &info) == LG_OK)
        for (uint64_t i = 0; i < info.entries; i++)
            if (lg_reader_log_entry(reader, i, &entry) == LG_OK)
                look_through(entry.text, entry.size);
    lg_reader_close(reader);
}

static int look_into(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)place;
    FILE *file;
    if (kind != FTW_F)
        return 0;
    if (strstr(path, ".lgrun"))
        look_through_run(path);
    else if ((file = fopen(path, "re"))) {
        look_through_stream(file);
        fclose(file);
    }
    return 0;
}

static void read_recorded(const char *command)
{
    FILE *output = popen(command, "re");
    if (!output)
        return;
    look_through_stream(output);
    pclose(output);
}

/* Wait until the writer reported its last call. Then, or when it is too late, the writer is
 * killed. */
static bool run_and_kill(enum candidate candidate, const char *mode, const char *directory, unsigned kill_number)
{
    int pipes[2];
    char descriptor[16], number[16], byte;
    pid_t pid;
    if (pipe2(pipes, O_CLOEXEC) != 0 || fcntl(pipes[1], F_SETFD, 0) != 0)
        return false;
    snprintf(descriptor, sizeof descriptor, "%d", pipes[1]);
    snprintf(number, sizeof number, "%u", kill_number);
    char *arguments[] = { (char *)candidate_program(candidate), (char *)mode, (char *)directory, "die", descriptor, number, NULL };
    bool started = posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) == 0;
    close(pipes[1]);
    struct pollfd ready = { .fd = pipes[0], .events = POLLIN };
    bool returned = started && poll(&ready, 1, LIMIT_MS) == 1 && (ready.revents & POLLIN) && read(pipes[0], &byte, 1) == 1;
    close(pipes[0]);
    if (started) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return returned;
}

int candidate_kept(enum candidate candidate, const char *mode, unsigned kill_number)
{
    const char *directory = candidate_directory();
    int count = 0;
    memset(seen, 0, sizeof seen);
    snprintf(pattern, sizeof pattern, "kill %03u entry ", kill_number);
    if (!run_and_kill(candidate, mode, directory, kill_number))
        return -1;
    if (candidate == LTTNG_TEXT)
        read_recorded(getenv("LTTNG_READ"));
    else
        nftw(directory, look_into, 8, FTW_PHYS);
    for (int i = 0; i < KILLED_AFTER; i++)
        count += seen[i];
    return count;
}
