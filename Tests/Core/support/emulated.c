/* Under a user-mode emulator every process has one thread more, the emulator's own, which is begun
 * anew in each forked child. That thread runs nothing of ours: as the thread of a sanitizer's
 * runtime, it is neither asked nor counted.
 *
 * What the kernel says of a thread that sleeps is the place on the emulator's own stack: here no
 * thread is known to sleep, and each is asked instead. In place of the core's function, by the
 * linker. */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/capture.h"

bool __wrap_lg__thread_sleeps(int32_t tid, uint64_t *ret_sp);

bool __wrap_lg__thread_sleeps(int32_t tid, uint64_t *ret_sp)
{
    (void)tid, (void)ret_sp;
    return false;
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
