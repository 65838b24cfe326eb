/* The thread that copies standard error, for programs that ask for it. */
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

#define STACK_BYTES (64u << 10)

static int add_tls(struct dl_phdr_info *info, size_t size, void *argument)
{
    size_t *sum = argument;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
    return 0;
}

/* The thread blocks all signals, which belong to the program. libc takes the thread-local data of
 * the program and its libraries from the stack, and they may be larger than the stack. */
static bool start_thread(void *(*function)(void *))
{
    lg__os_first_thread_note();
    pthread_attr_t attributes;
    pthread_t thread;
    const uint64_t blocked = lg__os_signals_blocked();
    const size_t least = (size_t)PTHREAD_STACK_MIN; /* 128 KiB on AArch64 */
    size_t tls_bytes = 0;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    dl_iterate_phdr(add_tls, &tls_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (STACK_BYTES > least ? STACK_BYTES : least) + tls_bytes);
    lg__os_signals_set(~(LG__MASK_MARK | LG__OS_OF_LIBC));
    int error = lg__capture_create_thread(&thread, &attributes, function, NULL);
    lg__os_signals_set(blocked);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* futex: the thread is exempt. Before that, a crash would ask the thread as one of the program's:
 * the thread would stand still, while the crash waits for the text that the thread has to copy. */
static _Atomic uint32_t thread_is_exempt;
/* A start waits for that no longer. */
#define BEGIN_NS LG_PATIENCE(UINT64_C(1000000000))

static void *pump_stderr(void *argument)
{
    (void)argument;
    LG_FAULT_POINT("stderr thread: begins");
    lg__capture_own_begin();
    lg__capture_exempt();
    atomic_store(&thread_is_exempt, 1);
    lg__os_futex_wake((const uint32_t *)&thread_is_exempt);
    /* The thread writes to mapped files, which may be cut, and a sandbox may refuse a call: both
     * signals must reach the handler, which mends it. */
    lg__os_signal_block(SIGBUS, false);
    lg__os_signal_block(SIGSYS, false);
    lg__tail_pump();
    lg__capture_exempt_no_more();
    lg__capture_own_end();
    return NULL;
}

void lg__stderr_thread_start(struct lg_session *session)
{
    session->keep_stderr = lg__tail_start(&session->host.run);
    if (!session->keep_stderr)
        return;
    atomic_store(&thread_is_exempt, 0);
    if (!start_thread(pump_stderr)) {
        lg__tail_give_back();
        return;
    }
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + BEGIN_NS;
    for (uint64_t now; !atomic_load(&thread_is_exempt) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until;)
        lg__os_futex_wait((const uint32_t *)&thread_is_exempt, 0, until - now);
}
