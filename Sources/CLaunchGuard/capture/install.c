/* The signals that are taken, and the process for which they are: the one that started the session,
 * and not its children. */
#include "capture/internal.h"

/* Crashes; then limits, a request for a dump, and a lost reader: those four leave a record only
 * where they would end the process. */
const int lg__install_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ, SIGQUIT, SIGPIPE, 0 };
#define CRASH_COUNT 7
#define RECORD_COUNT (sizeof lg__install_signals / sizeof lg__install_signals[0] - 1)
/* The last signal only in a preloaded session: a program that knows of LaunchGuard uses it as a
 * crash. */
static const int terminate_signals[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
#define TERMINATE_COUNT (sizeof terminate_signals / sizeof terminate_signals[0])

static bool terminates(int signal)
{
    for (size_t i = 0; i < TERMINATE_COUNT; i++)
        if (terminate_signals[i] == signal)
            return signal != SIGPIPE || lg__fixed.options.preloaded;
    return false;
}

void (*lg__install_handler(int signal))(int, siginfo_t *, void *)
{
    return terminates(signal) ? lg__fixed.on_terminate : lg__fixed.on_crash;
}

/* Without SA_NODEFER: under a storm of signals from outside, the kernel would pile up handlers
 * before the first instruction of one ran. A fault inside the handler must come back to the
 * handler, though:
 * the handler unblocks its signal, unless the signal was sent. */
#define RECORD_FLAGS (SA_SIGINFO | SA_ONSTACK)

bool lg__install_is_crash(int signal)
{
    for (size_t i = 0; i < CRASH_COUNT; i++)
        if (lg__install_signals[i] == signal)
            return true;
    return false;
}

static uint64_t mask_of_handlers(void)
{
    uint64_t mask = ~LG__MASK_MARK;
    for (size_t i = 0; i < CRASH_COUNT; i++)
        mask &= ~(UINT64_C(1) << (lg__install_signals[i] - 1));
    return mask;
}

uint64_t lg__capture_quiet_mask(void)
{
    return mask_of_handlers() & ~LG__OS_OF_LIBC;
}

/* The flags: where the earlier handler restarts system calls, or the signal is ignored, our handler
 * restarts them, too. */
static int record_flags(int signal)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    bool restart = earlier.flags & SA_RESTART || earlier.handler == (uintptr_t)SIG_IGN;
    return RECORD_FLAGS | (restart ? SA_RESTART : 0);
}

static int terminate_flags(const struct lg__earlier *earlier)
{
    return SA_SIGINFO | SA_ONSTACK | ((int)earlier->flags & (SA_RESTART | SA_NODEFER));
}

void lg__install_again(int signal)
{
    const bool terminates = lg__install_handler(signal) == lg__fixed.on_terminate;
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const int flags = terminates ? terminate_flags(&earlier) : record_flags(signal);
    const struct lg__os_disposition ours = { (uintptr_t)lg__install_handler(signal), (unsigned long)flags };
    struct lg__os_disposition before;
    lg__os_signal_take(signal, &ours, terminates ? earlier.mask : lg__fixed.mask, signal, &before);
}

static bool install(int signal)
{
    struct sigaction action = { .sa_sigaction = lg__fixed.on_crash, .sa_flags = record_flags(signal) };
    const uint64_t mask = lg__fixed.mask & ~LG__OS_OF_LIBC;
    memcpy(&action.sa_mask, &mask, sizeof mask);
    return lg__libc_sigaction(signal, &action, NULL) == 0;
}

/* The kernel lets such a signal end any process but the first of a pid namespace: there not even a
 * handler runs. */
static bool is_kept_away(const struct sigaction *previous)
{
    return previous->sa_handler == SIG_DFL && lg__fixed.pid == 1;
}

/* The program's own action. */
static bool read_earlier(int signal, struct sigaction *ret_earlier)
{
    if (lg__libc_sigaction(signal, NULL, ret_earlier) != 0)
        return false;
    const struct lg__earlier earlier = lg__earlier_from(ret_earlier);
    lg__earlier_set(signal, &earlier);
    return true;
}

static bool install_record(int signal, bool is_crash)
{
    struct sigaction earlier;
    if (!read_earlier(signal, &earlier))
        return false;
    /* A signal that the program ignores, or handles as a part of its work, is no end. */
    if (!is_crash && (earlier.sa_handler == SIG_IGN || is_kept_away(&earlier)))
        return true;
    if (signal == SIGPIPE && earlier.sa_handler != SIG_DFL)
        return true;
    lg__fixed.installed[signal] = install(signal);
    return lg__fixed.installed[signal];
}

static bool install_terminate(int signal)
{
    struct sigaction earlier, action = { .sa_sigaction = lg__fixed.on_terminate };
    if (!read_earlier(signal, &earlier))
        return false;
    if (earlier.sa_handler == SIG_IGN || is_kept_away(&earlier))
        return true; /* ignored stays ignored: there is no end to mark */
    const struct lg__earlier kept = lg__earlier_of(signal);
    action.sa_flags = terminate_flags(&kept);
    action.sa_mask = earlier.sa_mask;
    lg__fixed.installed[signal] = lg__libc_sigaction(signal, &action, NULL) == 0;
    return lg__fixed.installed[signal];
}

bool lg__install_all(void)
{
    lg__fixed.mask = mask_of_handlers();
    for (size_t i = 0; i < RECORD_COUNT; i++)
        if (!terminates(lg__install_signals[i]) && !install_record(lg__install_signals[i], i < CRASH_COUNT))
            return false;
    for (size_t i = 0; i < TERMINATE_COUNT; i++)
        if (terminates(terminate_signals[i]) && !install_terminate(terminate_signals[i]))
            return false;
    return true;
}

static void give_back(int signal)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    memcpy(&action.sa_handler, &earlier.handler, sizeof earlier.handler);
    memcpy(&action.sa_mask, &earlier.mask, sizeof earlier.mask);
    action.sa_flags = (int)earlier.flags;
    lg__libc_sigaction(signal, &action, NULL);
}

void lg__capture_stop(void)
{
    for (int signal = 1; signal <= SIGSYS; signal++) {
        struct sigaction current;
        /* first: the watch thread must not find the handler replaced */
        if (!atomic_exchange(&lg__fixed.installed[signal], false) || lg__libc_sigaction(signal, NULL, &current) != 0)
            continue;
        if (current.sa_sigaction == lg__fixed.on_crash || current.sa_sigaction == lg__fixed.on_terminate)
            give_back(signal);
    }
}

void lg__install_as_first(void)
{
    for (int signal = 1; signal <= SIGSYS; signal++) {
        const struct lg__earlier earlier = lg__earlier_of(signal);
        if (lg__install_is_crash(signal) || earlier.handler != (uintptr_t)SIG_DFL || !atomic_exchange(&lg__fixed.installed[signal], false))
            continue;
        give_back(signal);
    }
}
