/* The environment of a program that is executed. A program of another kind of machine or with
 * another loader than glibc's, or in another root directory, cannot take this library: its loader
 * would say so on standard error, or would not start it. LD_PRELOAD goes on without us there.
 *
 * The caller may be a signal handler, or a child that shares the memory of its parent: all is on
 * the stack. */
#include "preload.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif
#define SCRIPTS_MOST 5 /* scripts of scripts, as the kernel follows them */

static char own_path[PATH_MAX];

/* Later there may be another root directory. */
__attribute__((constructor)) static void find_own_path(void)
{
    Dl_info info;
    if (dladdr(own_path, &info) && info.dli_fname && strlen(info.dli_fname) < sizeof own_path)
        strcpy(own_path, info.dli_fname);
}

static bool is_of_glibc(int file, const Elf64_Ehdr *header)
{
    char loader[256];
    Elf64_Phdr segment;
    for (unsigned i = 0; i < header->e_phnum && header->e_phentsize == sizeof segment; i++) {
        if (pread(file, &segment, sizeof segment, (off_t)(header->e_phoff + i * sizeof segment)) != sizeof segment)
            return true;
        if (segment.p_type != PT_INTERP)
            continue;
        const size_t size = segment.p_filesz < sizeof loader ? segment.p_filesz : sizeof loader - 1;
        const ssize_t count = pread(file, loader, size, (off_t)segment.p_offset);
        loader[count > 0 ? count : 0] = 0;
        return !strstr(loader, "/ld-musl") && !strstr(loader, "/ld-uClibc") && !strstr(loader, "/linker64");
    }
    return true; /* nothing is loaded into it */
}

/* Whether the program of an open file can take the library. A script: its interpreter, whose path
 * takes the place of the head of the file. */
static bool can_load(int file, char head[256], bool *ret_is_script)
{
    Elf64_Ehdr header;
    const ssize_t size = pread(file, head, 255, 0);
    *ret_is_script = false;
    if (size < 2)
        return true;
    head[size] = 0;
    if (head[0] == '#' && head[1] == '!') {
        char *path = head + 2 + strspn(head + 2, " \t");
        path[strcspn(path, " \t\n")] = 0;
        memmove(head, path, strlen(path) + 1);
        *ret_is_script = true;
        return true;
    }
    if ((size_t)size < sizeof header || memcmp(head, ELFMAG, SELFMAG) != 0)
        return true;
    memcpy(&header, head, sizeof header);
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == MACHINE && is_of_glibc(file, &header);
}

static bool takes_library(int directory, const char *path, int flags)
{
    char head[256];
    bool is_script = true, can = own_path[0] && faccessat(AT_FDCWD, own_path, R_OK, AT_EACCESS) == 0;
    for (int i = 0; can && is_script && i < SCRIPTS_MOST; i++) {
        const int file = i > 0 ? open(head, O_RDONLY | O_CLOEXEC | O_NOCTTY)
                         : flags & AT_EMPTY_PATH ? fcntl(directory, F_DUPFD_CLOEXEC, 0)
                                                 : openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (file < 0)
            break; /* it is not there, or may be executed and not read */
        can = can_load(file, head, &is_script);
        close(file);
    }
    return can;
}

/* The program that libc will find for a name without a slash. false: none. */
static bool find_in_path(const char *name, char *ret_path, size_t size)
{
    const char *at = getenv("PATH");
    for (const char *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, ":");
        const size_t length = (size_t)(end - at);
        if (length + strlen(name) + 2 > size)
            continue;
        memcpy(ret_path, at, length);
        ret_path[length] = '/';
        strcpy(ret_path + length + (length > 0), name);
        if (faccessat(AT_FDCWD, ret_path, X_OK, AT_EACCESS) == 0)
            return true;
    }
    return false;
}

static const char preload[] = "LD_PRELOAD=";

/* Where this library is in the value of the variable; NULL: it is not there. */
static const char *find_self(const char *variable)
{
    const size_t size = strlen(own_path);
    const char *at = variable + sizeof preload - 1;
    for (; *at; at += strspn(at, ": ")) {
        const size_t length = strcspn(at, ": ");
        if (length == size && memcmp(at, own_path, size) == 0)
            return at;
        at += length;
    }
    return NULL;
}

struct lg__environment lg__environment_for(int directory, const char *path, int flags, char *const *given)
{
    struct lg__environment change = { .self = NULL };
    char found[PATH_MAX];
    const int error = errno;
    for (size_t i = 0; given && given[i] && !lg__capture_is_confined(); i++) {
        if (strncmp(given[i], preload, sizeof preload - 1) == 0 && (change.self = find_self(given[i]))) {
            change.at = i;
            change.size = strlen(given[i]);
        }
        change.count = i + 1;
    }
    if (change.self && flags & LG__ENVIRONMENT_IN_PATH && !strchr(path, '/'))
        path = find_in_path(path, found, sizeof found) ? found : "";
    if (change.self && takes_library(directory, path, flags))
        change.self = NULL;
    errno = error;
    return change;
}

char *const *lg__environment_without_us(const struct lg__environment *change, char *const *given, char **entries, char *value)
{
    const size_t before = (size_t)(change->self - given[change->at]), after = before + strlen(own_path);
    memcpy(entries, given, (change->count + 1) * sizeof *entries);
    memcpy(value, given[change->at], before);
    strcpy(value + before, given[change->at] + after + (given[change->at][after] != 0));
    entries[change->at] = value;
    if (change->size == sizeof preload - 1 + strlen(own_path)) /* it was all of it */
        memmove(&entries[change->at], &entries[change->at + 1], (change->count - change->at) * sizeof *entries);
    return entries;
}

void lg__environment_leave(void)
{
    const char *all = getenv("LD_PRELOAD");
    const char *self = all ? find_self(all - (sizeof preload - 1)) : NULL;
    char *rest = self ? strdup(all) : NULL;
    if (!rest)
        return;
    char *at = rest + (self - all), *after = at + strlen(own_path);
    memmove(at, after + (*after != 0), strlen(after + (*after != 0)) + 1);
    if (!*rest || setenv("LD_PRELOAD", rest, 1) != 0)
        unsetenv("LD_PRELOAD");
    free(rest);
}
