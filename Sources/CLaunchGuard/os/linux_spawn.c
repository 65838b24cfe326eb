/* Start a program that is independent of this process.
 *
 * Two processes begin here, each as a vfork() on a stack of its own. The first one has no exit
 * signal: neither wait() nor SIGCHLD reports it. It makes a session, begins the second process, and
 * ends, so that the second one belongs to init or to a subreaper. Both share the memory of this
 * process until they end or execute a program. They therefore make raw system calls only: state
 * that a sanitizer's runtime or an interposed function kept for them would count for the calling
 * thread. */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 65536u
#define SIGNALS 64
/* The descriptors to close where the kernel cannot close all of them and /proc does not list
 * them. */
#define DESCRIPTORS 65536u

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define ALONE __attribute__((no_sanitize("address"), no_sanitize("thread")))

/* The program that is being started, under the lock: the function of a new process has no
 * argument. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *path;
    char *const *argv, *const *envp;
    uint8_t *stacks;
    long error; /* errno of what failed */
} spawned;

LG__NOT_INSTRUMENTED_BEGIN

ALONE static bool close_one(uint32_t number, void *directory)
{
    if (number > STDERR_FILENO && number != *(const uint32_t *)directory)
        lg__os_close((int)number);
    return true;
}

ALONE static void close_all(void)
{
    if (lg__os_call(SYS_close_range, STDERR_FILENO + 1, UINT32_MAX, 0, 0, 0, 0) == 0)
        return;
    int directory = lg__os_open("/proc/self/fd");
    uint32_t own = (uint32_t)directory;
    if (directory >= 0 && lg__os_list_numbers(directory, close_one, &own) > 0) {
        lg__os_close(directory);
        return;
    }
    for (int file = STDERR_FILENO + 1; file < (int)DESCRIPTORS; file++)
        lg__os_close(file);
}

/* Reads from 0, 1 and 2 find nothing, and text written there goes nowhere. */
ALONE static void take_standard_files(void)
{
    long null = lg__os_call(SYS_openat, AT_FDCWD, (long)(uintptr_t)"/dev/null", O_RDWR, 0, 0, 0);
    if (null < 0)
        null = lg__os_call(SYS_openat, AT_FDCWD, (long)(uintptr_t)"/", O_RDONLY, 0, 0, 0);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (file != null)
            lg__os_call(SYS_dup3, null, file, 0, 0, 0, 0);
}

ALONE static void become_program(void)
{
    for (int signal = 1; signal <= SIGNALS; signal++)
        lg__os_signal_default(signal);
    lg__os_signals_set(0);
    take_standard_files();
    close_all();
    spawned.error = -lg__os_call(SYS_execve, (long)(uintptr_t)spawned.path, (long)(uintptr_t)spawned.argv, (long)(uintptr_t)spawned.envp, 0, 0, 0);
    lg__os_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

ALONE static void stand_between(void)
{
    lg__os_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
    long second = lg__arch_thread_begin(CLONE_VM | CLONE_VFORK | SIGCHLD, spawned.stacks + (size_t)2 * STACK_BYTES, NULL, become_program, NULL);
    if (second < 0)
        spawned.error = -second;
    else if (spawned.error) /* it is no program: nobody else has to bury it */
        lg__os_call(SYS_wait4, second, 0, 0, 0, 0, 0);
    lg__os_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

ALONE static long begin(void)
{
    long middle = lg__arch_thread_begin(CLONE_VM | CLONE_VFORK, spawned.stacks + STACK_BYTES, NULL, stand_between, NULL);
    if (middle < 0)
        return -middle;
    while (lg__os_call(SYS_wait4, middle, 0, (int)__WCLONE, 0, 0, 0) == -EINTR) {}
    return spawned.error;
}

LG__NOT_INSTRUMENTED_END

int lg__os_spawn_detached(const char *path, char *const argv[], char *const envp[])
{
    pthread_mutex_lock(&lock);
    uint8_t *stacks = mmap(NULL, (size_t)2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    long error = stacks == MAP_FAILED ? errno : 0;
    if (!error) {
        const uint64_t blocked = lg__os_signals_blocked();
        spawned.path = path;
        spawned.argv = argv;
        spawned.envp = envp;
        spawned.stacks = stacks;
        spawned.error = 0;
        lg__os_signals_set(UINT64_MAX);
        error = begin();
        lg__os_signals_set(blocked);
        munmap(stacks, (size_t)2 * STACK_BYTES);
    }
    pthread_mutex_unlock(&lock);
    return (int)error;
}
