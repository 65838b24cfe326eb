/* musl 1.2.3 does not name its list of threads to the kernel again in a forked child: the end of
 * the first thread leaves the list locked, and each other thread waits for it at its own end. Later
 * versions do this. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

extern volatile int __thread_list_lock;

static void name_list(void)
{
    syscall(SYS_set_tid_address, &__thread_list_lock);
}

__attribute__((constructor)) static void before_any_fork(void)
{
    pthread_atfork(NULL, NULL, name_list);
}
