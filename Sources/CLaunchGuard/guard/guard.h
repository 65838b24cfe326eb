/* Layer 2: guards. They find a fault before it happens, or are asked by the handler before it is
 * recorded. Nothing in this folder knows the handler or the session: the session hands in what a
 * guard needs of them (struct lg__guard_host), and offers the first chances to the handler.
 *
 * switch.c holds which classes are on, ranges.c for which code, site.c counts and describes events
 * by site, event.c decides about one fault and reports it. The guards that the handler asks have a
 * file each on top of them. The typed guards are a library of their own, which sees guard/hook.h
 * alone. */
#ifndef LG_GUARD_GUARD_H
#define LG_GUARD_GUARD_H

#include <signal.h>
#include <stdbool.h>

#include "guard/hook.h"
#include "store/format.h"

/* Services of the session for guards. Set before anything is on; kept until the process ends. */
struct lg__guard_host {
    struct lg__guards *file; /* the section of the run file, or memory in its place */
    const _Atomic uint32_t *unforked; /* 0 in forked children */
    /* Append a breadcrumb of category "guard". Handler. */
    void (*breadcrumb)(lg_level level, const char *text, const lg_field *fields, size_t count);
    /* An event waits to be reported. Handler. */
    void (*wake)(void);
    /* Note the reason for which the calling thread is about to end the program, for the crash
     * record. Handler. */
    void (*say)(lg_guard_class guard_class, const char *text);
    /* The frames of an interrupted context, or from the caller on (NULL), by unwind tables. Returns
     * their number; 0: no walk can be made now. Handler. */
    uint32_t (*walk)(const void *ucontext, uint64_t *ret_frames, uint32_t most);
};

/* ---- switch.c: the classes that are on ---- */

/* Classes whose guards need a handler. */
#define LG__SWITCH_BY_SIGNAL (LG_GUARDS(LG_GUARD_MEMORY) | LG_GUARDS(LG_GUARD_NULL_CALL))

void lg__switch_set(uint32_t classes);
/* Switch all guards off, also in a forked child. */
void lg__switch_off(void);
void lg__switch_set_policy(uint32_t classes, lg_guard_policy policy);
/* Handler. */
lg_guard_policy lg__switch_policy(lg_guard_class guard_class);

/* ---- ranges.c: where guards hold ---- */

/* Take new lists, or with NULL the modules of today for those that are there. LG_OK or the status
 * of lg_guard_set_lists(). */
lg_status lg__ranges_set(const lg_guard_lists *lists);
lg_status lg__ranges_refresh(void);
/* Whether the guards of a class hold for code at an address. Handler. */
bool lg__ranges_hold(lg_guard_class guard_class, uint64_t address);

/* ---- site.c: events by site ---- */

/* An event of one site, for lg_guard_callback; `event` refers to the rest. */
struct lg__site_event {
    lg_guard_event event;
    lg_field fields[LG__GUARD_FIELDS];
};

void lg__site_open(struct lg__guards *file, uint32_t budget);
/* A fault of a run was survived. The file of a run without guards is not looked at. */
bool lg__site_has_survived(const struct lg__guards *file);
/* Index of the site; *ret_new: the caller describes it. Handler. */
uint32_t lg__site_find(lg_guard_class guard_class, uint64_t address, bool *ret_new);
/* One more fault may be survived there in this minute. Handler. */
bool lg__site_spend(uint32_t site, uint64_t now);
struct lg__guard_fault;
void lg__site_describe(uint32_t site, const struct lg__guard_fault *fault, const uint64_t *frames, uint32_t frame_count, uint64_t now);
/* Whether an event has a breadcrumb: the first of the site, the first for a second, or the first
 * with another action. Once for each event, before its count. Handler. */
bool lg__site_is_due(uint32_t site, lg_guard_action action, uint64_t now);
/* Count an event: from here on lg__site_take() finds it. Handler. */
void lg__site_count(uint32_t site, lg_guard_action action, uint64_t now);
/* The events of a site that on_event was not called for, as one event; false: there are none, or
 * the last call was less than a second ago, unless `at_once`. On an ordinary thread. */
bool lg__site_take(uint32_t site, bool at_once, struct lg__site_event *ret_event);

/* ---- event.c ---- */

struct lg__guard_fault {
    lg_guard_class guard_class;
    uint64_t site;        /* address */
    const void *ucontext; /* of the handler; NULL: the calling function meets the fault */
    const char *text;
    const lg_field *fields;
    size_t field_count;
};

void lg__event_open(const struct lg__guard_host *host);
/* A fault of a class at a site would be survived, but for the budget of the site. Nothing is
 * reported. Handler. */
bool lg__event_survives(lg_guard_class guard_class, uint64_t site);
/* Decide about a fault, and report it. True: neutralise it. In a handler the policy LG_GUARD_FATAL
 * returns false: the crash that follows ends the program. Bounded, no lock. Handler. */
bool lg__event_claim(const struct lg__guard_fault *fault);

/* ---- mapping.c: registered mappings ---- */

/* Statuses of lg_guard_map() and lg_guard_unmap(). */
lg_status lg__mapping_add(void *base, size_t size, int protection);
lg_status lg__mapping_remove(void *base);
/* True: the page is there now, or another thread is about to replace it; repeat the access.
 * Handler. */
bool lg__mapping_claim(int signal, const siginfo_t *info, const void *ucontext);

/* ---- copy.c: guarded reads ---- */

/* The source of a guarded read faulted. Handler. */
bool lg__copy_failed(int signal, const siginfo_t *info, const void *ucontext);
/* Decide about such a fault; true: the copy returns. Handler. */
bool lg__copy_claim(const siginfo_t *info, void *ucontext);

/* ---- chance.c: the question of the handler before it records a fault of the program ---- */

/* True: the context was mended, or the instruction can be repeated. Handler. */
bool lg__chance_claim(int signal, siginfo_t *info, void *ucontext);

/* ---- null_call.c: calls through NULL ---- */

/* True: the call returns 0. Handler. */
bool lg__null_call_claim(int signal, const siginfo_t *info, void *ucontext);
/* Code that goes on at 0 where it is called through NULL. */
void lg__null_call_entries(uint64_t begin, uint64_t end);

/* ---- stack.c ---- */

/* Frames by frame pointers: of an interrupted context, or from the caller on (NULL). Returns their
 * number, at least 1. Handler. */
uint32_t lg__stack_walk(const void *ucontext, uint64_t *ret_frames, uint32_t most);

#endif
