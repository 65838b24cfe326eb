/* Checks whether our handlers are still in force. Programs and libraries replace handlers, drop
 * their flags, change alternate stacks, block and ignore signals. A loss of protection leaves one
 * breadcrumb in the ring log. A loss is mended where that takes nothing from other code. */
#include "capture/internal.h"
#include "os/fault_point.h"

#include <pthread.h>

#include "launchguard/log.h"

/* Troubles of a signal that have a breadcrumb already: bits of enum trouble. */
static _Atomic uint32_t said[SIGSYS + 1];
enum trouble { REPLACED = 1, DEFAULTED = 2, IGNORED = 4, LOST_SIGINFO = 8, LOST_ONSTACK = 16, SMALL_STACK = 32 };

static const char *name_of(int signal)
{
    static const struct {
        int signal;
        const char *name;
    } names[] = { { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },   { SIGILL, "SIGILL" },  { SIGTRAP, "SIGTRAP" },
                  { SIGABRT, "SIGABRT" }, { SIGSYS, "SIGSYS" },   { SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" }, { SIGQUIT, "SIGQUIT" },
                  { SIGPIPE, "SIGPIPE" } };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].signal == signal)
            return names[i].name;
    return "a signal";
}

/* Leave a breadcrumb "launchguard: NAME TEXT", the first time. */
static void say(int signal, enum trouble trouble, const char *text)
{
    char line[256] = "launchguard: ";
    if (atomic_fetch_or(&said[signal], trouble) & trouble)
        return;
    size_t at = strlen(line), size = strlen(name_of(signal)), rest = strlen(text);
    memcpy(line + at, name_of(signal), size);
    at += size;
    if (at + 1 + rest > sizeof line)
        return;
    line[at++] = ' ';
    memcpy(line + at, text, rest);
    lg__ring_note(&lg__fixed.options.run.ring, LG_LEVEL_WARNING, line, at + rest);
}

static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP || signal == SIGSYS;
}

/* A function of ThreadSanitizer's runtime, which puts a handler of its own before each. */
extern void __tsan_init(void) __attribute__((weak));

void lg__disposition_check(int signal)
{
    struct lg__os_disposition now = lg__os_signal_now(signal);
    LG_FAULT_POINT("disposition: looked");
    /* After the look: lg_stop() first says that the handler goes. */
    if (!atomic_load(&lg__fixed.installed[signal]))
        return;
    if (now.handler != (uintptr_t)lg__install_handler(signal)) {
        if (__tsan_init)
            return;
        const struct lg__earlier earlier = lg__earlier_of(signal);
        if (now.handler == (uintptr_t)SIG_DFL && lg__fixed.options.keep_first && earlier.handler == (uintptr_t)SIG_DFL)
            lg__install_again(signal); /* a handler reset it, and the process lives on */
        else if (now.handler == (uintptr_t)SIG_DFL)
            say(signal, DEFAULTED, "was set to its default action: it no longer leaves a record");
        else if (now.handler == (uintptr_t)SIG_IGN && signal != SIGPIPE) /* servers do that */
            say(signal, IGNORED, is_fault(signal) ? "is ignored: a fault will end the process without a record" : "is ignored: it no longer leaves a record");
        else if (now.handler != (uintptr_t)SIG_IGN)
            say(signal, REPLACED, "got another handler: it leaves no record unless the new handler calls that of LaunchGuard");
        return;
    }
    bool siginfo = now.flags & SA_SIGINFO, onstack = now.flags & SA_ONSTACK;
    if (siginfo && onstack)
        return;
    lg__install_again(signal);
    if (!siginfo)
        say(signal, LOST_SIGINFO, "lost SA_SIGINFO of its handler, as where signal() restores one: installed again");
    else
        say(signal, LOST_ONSTACK, "lost SA_ONSTACK of its handler: installed again");
}

static void open_mask(void)
{
    lg__capture_thread_armed = true;
    if (lg__fixed_unforked() && !lg__fixed.options.none)
        lg__mask_open();
}

int lg__capture_thread_begin(void)
{
    int error = lg__altstack_ensure();
    open_mask();
    return error;
}

__attribute__((cold, noinline)) void lg__capture_thread_arm(void)
{
    open_mask();
    lg__altstack_ensure_late();
}

static void check_altstack(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && ((stack.ss_flags & SS_DISABLE) || stack.ss_size < lg__altstack_least()))
        say(SIGSEGV, SMALL_STACK, "has no alternate stack, or a small one, on a thread: an overflow of its stack may leave no record");
}

void lg__capture_check(bool thread_too)
{
    if (!lg__fixed_unforked() || lg__fixed.options.none)
        return;
    for (const int *signal = lg__install_signals; *signal; signal++)
        lg__disposition_check(*signal);
    if (thread_too) {
        lg__mask_open();
        check_altstack();
    }
}

bool lg__disposition_lost_siginfo(int signal)
{
    struct lg__os_disposition now = lg__os_signal_now(signal);
    return now.handler == (uintptr_t)lg__install_handler(signal) && !(now.flags & SA_SIGINFO);
}
