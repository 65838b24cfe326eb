/* Set when the handlers are installed, and constant while they are, but for the atomic fields: the
 * handler reads it and never changes it. The state that a crash changes is in crash.h. */
#ifndef LG_CAPTURE_FIXED_H
#define LG_CAPTURE_FIXED_H

#include "capture/capture.h"

struct lg__fixed {
    struct lg__capture_options options;
    _Atomic bool installed[SIGSYS + 1]; /* lg_stop() takes them away while the watch thread looks */
    /* installed for crashes */
    void (*on_crash)(int signal, siginfo_t *info, void *ucontext);
    void (*on_terminate)(int signal, siginfo_t *info, void *ucontext); /* for requests to end */
    /* on the crashed thread, when its time is over; `outer`: that of the outermost question, where
     * the signal interrupted the answer to one */
    void (*on_deadline)(uint64_t value, void *ucontext, const void *outer);
    /* blocked by the handlers of LaunchGuard: all signals but the crashes */
    uint64_t mask;
    pid_t pid;                    /* of the process that started the session */
    /* 1; reads 0 in a forked child, whose copy of the page the kernel wipes. Set after the fields
     * above: threads that begin while the session starts look at this one first. */
    const _Atomic uint32_t *_Atomic unforked;
};
extern struct lg__fixed lg__fixed __attribute__((visibility("hidden")));

/* True in the process that started the session; false in its children. Handler. */
bool lg__fixed_unforked(void);

/* The signal names its sender. For a signal of a timer and the like, the fields of pid and uid mean
 * something else. */
static inline bool lg__fixed_has_sender(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL || info->si_code == SI_MESGQ;
}

/* A signal came from outside: it is no crash of the code that it interrupted. A signal that abort()
 * or raise() sends is a crash. Handler. */
bool lg__fixed_is_sent(const siginfo_t *info);

#endif
