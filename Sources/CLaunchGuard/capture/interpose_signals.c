/* sigaction() and its relatives of the shared library. With lg_options.keep_first, a handler that
 * the program installs for a crash runs after the handler of LaunchGuard, as if it had been there
 * before, and questions of the program are answered as if LaunchGuard were not there. For the other
 * signals the program's handler replaces that of LaunchGuard; the default action brings
 * LaunchGuard's back. */
#include "capture/internal.h"
#include "capture/recovering.h"

#ifdef LG_INTERPOSE_SIGNALS
#include <errno.h>

#define EXPORT __attribute__((visibility("default")))

/* As libc would answer; `now`: what the kernel says. */
static struct sigaction action_of(const struct lg__earlier *earlier, const struct sigaction *now)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    memcpy(&action.sa_handler, &earlier->handler, sizeof earlier->handler);
    action.sa_flags = (int)earlier->flags;
    memcpy(&action.sa_mask, &earlier->mask, sizeof earlier->mask);
    if (earlier->flags & LG__SA_RESTORER)
        action.sa_restorer = now->sa_restorer;
    return action;
}

static bool is_ours(const struct sigaction *action)
{
    return action->sa_sigaction == lg__fixed.on_crash || action->sa_sigaction == lg__fixed.on_terminate;
}

static bool is_taken(int signal)
{
    return signal > 0 && signal <= SIGSYS && lg__fixed.options.keep_first && lg__fixed.installed[signal];
}

/* libc's function, for an action of the program. */
static int set_action(int signal, const struct sigaction *to, struct sigaction *ret_before)
{
    struct sigaction open;
    uint64_t mask;
    if (to) {
        open = *to;
        memcpy(&mask, &to->sa_mask, sizeof mask);
        mask = lg__mask_of_handler(mask);
        memcpy(&open.sa_mask, &mask, sizeof mask);
    }
    const int result = lg__libc_sigaction(signal, to ? &open : NULL, ret_before);
    if (result == 0 && ret_before) {
        memcpy(&mask, &ret_before->sa_mask, sizeof mask);
        mask = lg__mask_of_handler_before(mask);
        memcpy(&ret_before->sa_mask, &mask, sizeof mask);
    }
    return result;
}

static int change(int signal, const struct sigaction *to, struct sigaction *ret_before)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    struct sigaction now;
    if (set_action(signal, NULL, &now) != 0)
        return -1;
    /* copied first: the program may give one structure for both */
    const struct sigaction wanted = to ? *to : now;
    const bool crash = lg__install_is_crash(signal);
    if (ret_before)
        *ret_before = crash || is_ours(&now) ? action_of(&earlier, &now) : now;
    if (!to)
        return 0;
    if (!crash && wanted.sa_handler != SIG_DFL)
        return set_action(signal, &wanted, NULL);
    struct lg__earlier next = lg__earlier_from(&wanted);
    /* libc adds it to each action that is set */
    next.flags |= (uint64_t)now.sa_flags & LG__SA_RESTORER;
    if (!lg__earlier_is_function(&next))
        lg__recovering_gives_up(signal);
    lg__earlier_set(signal, &next);
    lg__crash_distrust(signal);
    lg__install_again(signal);
    return 0;
}

/* A forked child has actions of its own, and a vforked one shares all of our memory: its changes
 * are its own. It never reads our handler. */
static int in_child(int signal, const struct sigaction *to, struct sigaction *ret_before)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const int result = set_action(signal, to, ret_before);
    if (result == 0 && ret_before && is_ours(ret_before))
        *ret_before = action_of(&earlier, ret_before);
    return result;
}

EXPORT int sigaction(int signal, const struct sigaction *to, struct sigaction *ret_before)
{
    if (!is_taken(signal)) {
        const int result = set_action(signal, to, ret_before);
        if (to && signal > 0 && signal <= SIGSYS && lg__fixed.installed[signal] && lg__fixed_unforked())
            lg__disposition_check(signal); /* signal() puts a handler back without its flags */
        return result;
    }
    return lg__fixed_unforked() ? change(signal, to, ret_before) : in_child(signal, to, ret_before);
}

/* ---- the older functions, by sigaction() ---- */

static sigset_t interrupting; /* by siginterrupt() */

static sighandler_t install(int signal, sighandler_t handler, int flags, bool masks)
{
    struct sigaction action, before;
    if (handler == SIG_ERR || signal < 1 || signal >= NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (masks)
        sigaddset(&action.sa_mask, signal);
    return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

EXPORT sighandler_t signal(int signal, sighandler_t handler)
{
    return install(signal, handler, signal > 0 && signal < NSIG && sigismember(&interrupting, signal) ? 0 : SA_RESTART, true);
}

extern sighandler_t bsd_signal(int signal, sighandler_t handler) __attribute__((alias("signal"), visibility("default"), nothrow, leaf));
extern sighandler_t ssignal(int signal, sighandler_t handler) __attribute__((alias("signal"), visibility("default"), nothrow, leaf));

EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler)
{
    return install(signal, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
}

extern sighandler_t sysv_signal(int signal, sighandler_t handler) __attribute__((alias("__sysv_signal"), visibility("default"), nothrow, leaf));

EXPORT int siginterrupt(int signal, int interrupts)
{
    struct sigaction action;
    if (sigaction(signal, NULL, &action) != 0)
        return -1;
    if (interrupts) {
        sigaddset(&interrupting, signal);
        action.sa_flags &= ~SA_RESTART;
    } else {
        sigdelset(&interrupting, signal);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(signal, &action, NULL);
}

EXPORT sighandler_t sigset(int signal, sighandler_t handler)
{
    struct sigaction before;
    sigset_t set, blocked;
    sigemptyset(&set);
    if (handler == SIG_ERR || sigaddset(&set, signal) != 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (pthread_sigmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &blocked) != 0 || sigaction(signal, NULL, &before) != 0)
        return SIG_ERR;
    if (handler != SIG_HOLD && install(signal, handler, 0, false) == SIG_ERR)
        return SIG_ERR;
    return sigismember(&blocked, signal) ? SIG_HOLD : before.sa_handler;
}

EXPORT int sigignore(int signal)
{
    return install(signal, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

/* ---- a handler that ends the process at once ---- */

EXPORT _Noreturn void _exit(int status)
{
    lg__capture_ends_at_once(status);
    lg__libc_exit_at_once(status);
}

EXPORT _Noreturn void _Exit(int status)
{
    _exit(status);
}
#else
typedef int lg__signals_not_interposed;
#endif
