/* Under a user-mode emulator every process has one thread more, the emulator's own, which is begun
 * anew in each forked child. That thread runs nothing of ours: as the thread of a sanitizer's
 * runtime, it is neither asked nor counted.
 *
 * For a sleeping thread the kernel reports a place on the emulator's own stack: here no thread
 * counts as sleeping, and each is asked instead.
 *
 * A forked process that reads its own stat file gets the start time of the process in which the
 * emulator began: here the file is read by a path that the emulator does not know.
 *
 * In place of the core's functions, by the linker. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/os.h"

bool __wrap_lg__thread_sleeps(int32_t tid, uint64_t *ret_sp, uint64_t *ret_pc);
bool __wrap_lg__os_self(struct lg__os_process *ret_self);
bool __real_lg__os_self(struct lg__os_process *ret_self);
bool __wrap_lg__os_start_ticks(pid_t pid, uint64_t *ret_ticks);
bool __real_lg__os_start_ticks(pid_t pid, uint64_t *ret_ticks);

bool __wrap_lg__thread_sleeps(int32_t tid, uint64_t *ret_sp, uint64_t *ret_pc)
{
    (void)tid, (void)ret_sp, (void)ret_pc;
    return false;
}

/* Field 22 of proc(5), the 20th after the name. */
static uint64_t own_start(void)
{
    char text[1024];
    unsigned long long ticks = 0;
    const int file = open("/proc/./self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0)
        abort();
    text[size] = '\0';
    const char *name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &ticks) != 1)
        abort();
    return ticks;
}

bool __wrap_lg__os_self(struct lg__os_process *ret_self)
{
    if (!__real_lg__os_self(ret_self))
        return false;
    ret_self->start_ticks = own_start();
    return true;
}

bool __wrap_lg__os_start_ticks(pid_t pid, uint64_t *ret_ticks)
{
    if (!__real_lg__os_start_ticks(pid, ret_ticks))
        return false;
    if (pid == getpid())
        *ret_ticks = own_start();
    return true;
}

static void note_emulators_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid())
            lg__capture_never_ask(atoi(entry->d_name));
    closedir(tasks);
}

__attribute__((constructor)) static void begin(void)
{
    note_emulators_thread();
    pthread_atfork(NULL, NULL, note_emulators_thread);
}
