/* The thread of linux_thread.c under ThreadSanitizer: a libc thread, which is made once and waits
 * instead of ending. The sanitizer's runtime has to know every thread whose code it checks. */
#include "os/os.h"

#if LG__KEEPS_THREAD
#include <pthread.h>

#define WAIT_NS UINT64_C(1000000000)

static void (*function)(void);
static uint32_t wanted; /* futex: the thread is to run */
static int32_t number;  /* futex: of the thread; 0: it has not begun */

static void wait_until_wanted(void)
{
    while (!__atomic_exchange_n(&wanted, 0, __ATOMIC_SEQ_CST))
        lg__os_futex_wait(&wanted, 0, WAIT_NS);
}

static void *run(void *argument)
{
    lg__os_signals_set(~(LG__OS_OF_LIBC | UINT64_C(1) << (SIGSYS - 1)));
    __atomic_store_n(&number, lg__os_tid(), __ATOMIC_SEQ_CST);
    lg__os_futex_wake((const uint32_t *)&number);
    wait_until_wanted();
    function();
    return argument;
}

bool lg__os_kept_make(void)
{
    pthread_t thread;
    bool made = pthread_create(&thread, NULL, run, NULL) == 0 && pthread_detach(thread) == 0;
    while (made && !__atomic_load_n(&number, __ATOMIC_SEQ_CST))
        lg__os_futex_wait((const uint32_t *)&number, 0, WAIT_NS);
    return made;
}

long lg__os_kept_begin(void (*to_run)(void), int32_t *ret_tid)
{
    function = to_run;
    __atomic_store_n(ret_tid, number, __ATOMIC_RELAXED);
    __atomic_store_n(&wanted, 1, __ATOMIC_SEQ_CST);
    lg__os_futex_wake(&wanted);
    return 0;
}

void lg__os_kept_wait_if(uint32_t *word, uint32_t expected, uint32_t desired)
{
    if (!__atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signals_set(blocked & ~LG__OS_OF_LIBC);
    wait_until_wanted();
    lg__os_signals_set(blocked);
}
#else
typedef int lg__no_kept_thread;
#endif
