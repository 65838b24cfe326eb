/* LaunchGuard's own breadcrumbs on their way to the program's logger (lg_options.on_log). Any
 * thread puts them in, under any lock, in a handler and without libc. Only a libc thread that holds
 * none of LaunchGuard's locks hands them over. */
#ifndef LG_STORE_OUTBOX_H
#define LG_STORE_OUTBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/log.h"

/* Category of all breadcrumbs of LaunchGuard. */
#define LG__OUTBOX_CATEGORY "launchguard"

/* Breadcrumbs that may wait at once: a public call leaves a few. */
#define LG__OUTBOX_SLOTS 32u

struct lg__outbox {
    lg_log_callback on_log;
    void *user;
    /* Reads 1 while on_log may be called; NULL: it may not. Exchanged while others read it. */
    _Atomic(const _Atomic uint32_t *) open;
    _Atomic uint64_t turns;   /* of those that were put in */
    _Atomic uint32_t waiting; /* slots that are not free */
    _Atomic uint32_t lost;    /* found no free slot */
    _Atomic bool handing;     /* a thread hands over */
    struct lg__outbox_slot {
        _Atomic uint64_t turn; /* 0: free; 1: being written; else the larger, the later */
        lg_level level;
        char text[LG_ON_LOG_MAX + 1];
    } slots[LG__OUTBOX_SLOTS];
};

/* From now on on_log is called while *open reads 1. A NULL outbox: no calls. */
void lg__outbox_open(struct lg__outbox *outbox, const _Atomic uint32_t *open);
/* From now on no call of on_log begins. NULL: no outbox. */
void lg__outbox_close(struct lg__outbox *outbox);

/* Put a text in, cut to LG_ON_LOG_MAX bytes. A NULL outbox: nothing happens. Handler. */
void lg__outbox_put(struct lg__outbox *outbox, unsigned level, const char *text, size_t size);

/* Hand the waiting texts over. If another thread does that, or a call of on_log made this call,
 * that thread goes on with them. The caller holds no lock. Keeps errno. */
void lg__outbox_hand_over(struct lg__outbox *outbox);

static inline bool lg__outbox_waits(struct lg__outbox *outbox)
{
    return outbox && (atomic_load(&outbox->waiting) || atomic_load(&outbox->lost));
}

#endif
