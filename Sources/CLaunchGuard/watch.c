/* The threads of a session: one that prepares the handler and ends, one that sleeps until a crash is under way. */
#include <pthread.h>
#include <signal.h>

#include "capture/capture.h"
#include "os/os.h"
#include "session.h"

#define PREPARE_STACK_BYTES (256u << 10)
#define WATCH_STACK_BYTES (64u << 10)

/* The program's signals are not for these threads. Crashes of the preparing one are for the handler all the same. */
static bool start_thread(void *(*function)(void *), void *argument, size_t stack_bytes, bool crashes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t blocked, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&blocked);
    static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    for (size_t i = 0; crashes && i < sizeof crash_signals / sizeof crash_signals[0]; i++)
        sigdelset(&blocked, crash_signals[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(&thread, &attributes, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* Sleeps; takes no lock, allocates nothing, calls nobody: it has to work when everything else does not. */
static void *watch(void *argument)
{
    struct lg_session *session = argument;
    for (;;) {
        uint32_t seen = __atomic_load_n(&session->wake, __ATOMIC_SEQ_CST);
        lg__os_futex_wait(&session->wake, seen, lg__capture_deadline());
    }
    return NULL;
}

static void *prepare(void *argument)
{
    struct lg_session *session = argument;
    /* The watch first, before anything here can wait for a lock that a crash holds. */
    start_thread(watch, session, WATCH_STACK_BYTES, false);
    lg__capture_prepare();
    lg__retention_apply(session);
    return NULL;
}

bool lg__watch_start(struct lg_session *session)
{
    return start_thread(prepare, session, PREPARE_STACK_BYTES, true);
}
