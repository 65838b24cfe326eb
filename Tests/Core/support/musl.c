/* Two differences of musl 1.2.3 that are none of LaunchGuard's.
 *
 * Its functions have no unwind tables, so no walk gets through the one that calls main(): here the
 * begin of the program is the outermost frame. In place of main(), by the linker.
 *
 * It does not name its list of threads to the kernel again in a forked child: the end of the first
 * thread leaves the list locked, and each other thread waits for it at its own end. Later versions
 * do this. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);

int __wrap_main(int argc, char **argv, char **environment)
{
    __asm__ volatile(".cfi_undefined rip");
    return __real_main(argc, argv, environment);
}

extern volatile int __thread_list_lock;

static void name_list(void)
{
    syscall(SYS_set_tid_address, &__thread_list_lock);
}

__attribute__((constructor)) static void before_any_fork(void)
{
    pthread_atfork(NULL, NULL, name_list);
}
