/* One lock for the data of typed guards on ordinary threads. A thread holds it for a few steps,
 * never while code of the program runs, and never while a fault is reported: a report may end in a
 * handler of the program which leaves by longjmp(). A fork takes the lock, so that a child finds it
 * free. */
#include "guards.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take(void)
{
    pthread_mutex_lock(&lock);
}

static void give(void)
{
    pthread_mutex_unlock(&lock);
}

static void hold_while_forking(void)
{
    pthread_atfork(take, give, give);
}

void lg__lock_take(void)
{
    pthread_once(&once, hold_while_forking);
    take();
}

void lg__lock_give(void)
{
    give();
}
