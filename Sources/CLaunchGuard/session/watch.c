/* The threads of a session. One prepares the handler and ends. The other one, the watch thread,
 * sleeps until a crash is under way or something that was expected has not come. */
#include <link.h>
#include <pthread.h>
#include <signal.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

#define PREPARE_STACK_BYTES (256u << 10)
#define WATCH_STACK_BYTES (64u << 10)

static int add_tls(struct dl_phdr_info *info, size_t size, void *argument)
{
    size_t *sum = argument;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
    return 0;
}

/* The part of a thread's stack that libc takes for the thread-local data of the program and its
 * libraries; it may be larger than our whole stack. */
static size_t tls_bytes;

/* The program's signals are not for these threads: all are blocked. */
static bool start_thread(void *(*function)(void *), void *argument, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t blocked, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes + tls_bytes);
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = lg__capture_create_thread(&thread, &attributes, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* this thread is one of LaunchGuard */
static __thread bool own_thread __attribute__((tls_model("initial-exec")));

/* Begin one of our threads. It writes to mapped files, which may be cut, and a sandbox may refuse a
 * call: both signals must reach the handler, which mends it. */
static void begin_own_thread(void)
{
    own_thread = true;
    lg__os_signal_block(SIGBUS, false);
    lg__os_signal_block(SIGSYS, false);
}

static void *pump_stderr(void *argument)
{
    (void)argument;
    LG_FAULT_POINT("watch: thread begins");
    lg__capture_exempt();
    begin_own_thread();
    lg__tail_pump();
    return NULL;
}

/* The program may change its handlers at any time: they are checked often at first, later every
 * minute. */
#define CHECK_FIRST_NS UINT64_C(1000000000)
#define CHECK_LAST_NS UINT64_C(64000000000)

/* Look at all that is expected of the program. Returns the nanoseconds until the next look. */
static uint64_t look_around(struct lg_session *session)
{
    if (atomic_load(&session->host.closed))
        return LG__NEVER;
    uint64_t heartbeats = lg__heartbeats_look(session), deadlines = lg__job_deadlines_look(session);
    uint64_t limits = lg__limits_look(session, lg__os_clock_ns(CLOCK_MONOTONIC));
    uint64_t both = heartbeats < deadlines ? heartbeats : deadlines;
    return both < limits ? both : limits;
}

/* The watch thread. It takes no lock, allocates nothing and calls no callback: it must work when
 * everything else does not. */
static void *watch_loop(void *argument)
{
    struct lg_session *session = argument;
    uint64_t pause = CHECK_FIRST_NS, next = lg__os_clock_ns(CLOCK_MONOTONIC) + pause;
    LG_FAULT_POINT("watch: thread begins");
    lg__capture_exempt();
    lg__capture_watches();
    begin_own_thread();
    for (;;) {
        uint32_t seen = __atomic_load_n(&session->wake, __ATOMIC_SEQ_CST);
        LG_FAULT_POINT("watch: wakes");
        uint64_t deadline = lg__capture_deadline(), now = lg__os_clock_ns(CLOCK_MONOTONIC);
        LG_FAULT_POINT("watch: looked");
        if (deadline == UINT64_MAX && now >= next) {
            lg__capture_check(false);
            lg__heartbeats_check(session);
            pause = pause < CHECK_LAST_NS ? 2 * pause : pause;
            next = now + pause;
        }
        atomic_store(&session->host.sleeps_until_ns, UINT64_MAX);
        if (deadline == UINT64_MAX && !lg__capture_busy()) { /* a crash waits for nothing of this */
            lg__run_mark_clock(&session->host.run);
            uint64_t sleep = look_around(session);
            now = lg__os_clock_ns(CLOCK_MONOTONIC);
            deadline = next > now && next - now < sleep ? next - now : next > now ? sleep : 1;
            atomic_store(&session->host.sleeps_until_ns, now + deadline);
        }
        LG_FAULT_POINT("watch: sleeps");
        lg__os_futex_wait(&session->wake, seen, deadline ? deadline : 1);
    }
    return NULL;
}

static siginfo_t redirected;
static _Atomic bool is_redirected;

bool lg__watch_redirect(int signal, siginfo_t *info, void *ucontext)
{
    (void)ucontext;
    if (info->si_code > 0)
        return false; /* a fault belongs to the thread that made it */
    if (own_thread) {
        if (lg__capture_busy())
            return true; /* the process is about to die of another one */
        /* The kernel lets a thread queue a siginfo to itself only: the first thread is sent a plain
         * signal and finds it here. */
        redirected = *info;
        atomic_store(&is_redirected, true);
        return lg__os_signal_send(lg__os_pid(), lg__os_pid(), signal) == 0;
    }
    if (info->si_code == SI_TKILL && info->si_signo == redirected.si_signo && atomic_exchange(&is_redirected, false))
        *info = redirected;
    return false;
}

/* Note the number of processes of this cgroup that were ended for lack of memory before this one:
 * one more, and no other mark, says that this one ended so. Not in lg_start(), whose caller would
 * wait for the kernel's files. */
static void note_memory(struct lg__state *state)
{
    uint64_t cgroup, kills;
    if (!lg__os_oom_kills(&cgroup, &kills))
        return;
    atomic_store(&state->oom_cgroup, cgroup);
    atomic_store(&state->oom_kills, kills);
    atomic_store(&state->oom_known, 1);
}

static void *prepare_session(void *argument)
{
    struct lg_session *session = argument;
    /* Faults of this thread itself go to the handler, as on every thread. */
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    LG_FAULT_POINT("watch: thread begins");
    lg__capture_exempt();
    begin_own_thread();
    lg__altstack_ensure();
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        lg__os_signal_block(faults[i], false);
    /* The watch first, before anything here can wait for a lock that a crash holds. */
    start_thread(watch_loop, session, WATCH_STACK_BYTES);
    if (session->keep_stderr && !start_thread(pump_stderr, session, WATCH_STACK_BYTES))
        lg__tail_give_back();
    note_memory(session->host.run.state);
    lg__capture_prepare();
    lg__retention_apply(session);
    lg__capture_exempt_no_more();
    return NULL;
}

bool lg__watch_start(struct lg_session *session)
{
    session->host.wake = &session->wake;
    atomic_store(&session->host.sleeps_until_ns, UINT64_MAX);
    tls_bytes = 0;
    dl_iterate_phdr(add_tls, &tls_bytes);
    if (session->keep_stderr)
        session->keep_stderr = lg__tail_start(&session->host.run);
    if (start_thread(prepare_session, session, PREPARE_STACK_BYTES))
        return true;
    lg__tail_give_back();
    return false;
}
