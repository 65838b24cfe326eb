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

/* The flags: our handler restarts system calls where the earlier handler does, and where there is
 * none: a signal that is ignored, or that waits, interrupts no call. */
static int record_flags(int signal)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    bool restart = earlier.flags & SA_RESTART || !lg__earlier_is_function(&earlier);
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

/* What takes a signal, by the action that the program has for it. */
static struct sigaction action_of(int signal)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const bool terminating = terminates(signal);
    struct sigaction action = { .sa_sigaction = lg__install_handler(signal), .sa_flags = terminating ? terminate_flags(&earlier) : record_flags(signal) };
    const uint64_t mask = (terminating ? earlier.mask : lg__fixed.mask) & ~LG__OS_OF_LIBC;
    memcpy(&action.sa_mask, &mask, sizeof mask);
    return action;
}

/* A signal that the program ignores, or handles as a part of its work, is no end. The kernel lets
 * no signal but that of a crash end the first process of a pid namespace where it has its default
 * action: there not even a handler runs. */
static bool is_left_alone(int signal, const struct sigaction *earlier)
{
    const bool kept_away = earlier->sa_handler == SIG_DFL && lg__fixed.pid == 1;
    if (signal == SIGPIPE && !terminates(signal) && earlier->sa_handler != SIG_DFL)
        return true;
    return !lg__install_is_crash(signal) && (earlier->sa_handler == SIG_IGN || kept_away);
}

static bool exchange(int signal, const struct sigaction *to, struct sigaction *ret_earlier)
{
    if (lg__libc_sigaction(signal, to, ret_earlier) != 0)
        return false;
    const struct lg__earlier earlier = lg__earlier_from(ret_earlier);
    lg__earlier_set(signal, &earlier);
    return true;
}

/* One call where the program has the default action, which the kernel said before: the call that
 * takes the signal also shows what was there. */
static bool install(int signal)
{
    struct sigaction earlier, action;
    const bool is_default = !(lg__fixed.options.touched_signals >> (signal - 1) & 1) && lg__fixed.pid != 1;
    if (is_default)
        lg__earlier_set_default(signal);
    action = action_of(signal);
    if (!exchange(signal, is_default ? &action : NULL, &earlier))
        return false;
    lg__fixed.installed[signal] = is_default;
    if (is_default && earlier.sa_handler == SIG_DFL)
        return true;
    if (is_left_alone(signal, &earlier)) { /* another thread has just changed it */
        lg__fixed.installed[signal] = false;
        return !is_default || lg__libc_sigaction(signal, &earlier, NULL) == 0;
    }
    action = action_of(signal);
    lg__fixed.installed[signal] = lg__libc_sigaction(signal, &action, NULL) == 0;
    return lg__fixed.installed[signal];
}

bool lg__install_all(void)
{
    lg__fixed.mask = mask_of_handlers();
    for (size_t i = 0; i < RECORD_COUNT; i++)
        if (!terminates(lg__install_signals[i]) && !install(lg__install_signals[i]))
            return false;
    for (size_t i = 0; i < TERMINATE_COUNT; i++)
        if (terminates(terminate_signals[i]) && !install(terminate_signals[i]))
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
