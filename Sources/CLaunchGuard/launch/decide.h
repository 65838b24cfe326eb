/* Layer 4: the machine, row by row as docs/LAUNCH.md has it. Pure functions over the stored
 * context: no clock, no file, no callback. The caller stores the context after each of them, before
 * it acts on the decision; the process may die between any two. */
#ifndef LG_LAUNCH_DECIDE_H
#define LG_LAUNCH_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/ledger.h"
#include "store/format.h"

#define LG__INTERRUPTIONS_MAX 3u
#define LG__SKIPS_MAX 2u
#define LG__HELD_DEATHS_MAX 2u
#define LG__REPORT_STRIKES_MAX 2u
#define LG__DECIDE_STRIKES_MAX 2u
#define LG__GIVE_UP_STRIKES_MAX 2u
/* Clean ends of launches under way, in a row, that are as good as a finished launch. One or two are
 * a user who quits early. */
#define LG__QUITS_ENOUGH 3u
/* Times that a program is terminated in the same task before that is evidence against the task. */
#define LG__STOPS_ENOUGH 3u
/* Crashes in safe mode after which a repair is offered where nothing halts the launch. */
#define LG__SAFE_CRASHES_ENOUGH 2u
#define LG__THROTTLE_NS (UINT64_C(86400) * 1000000000u)

/* A moment, by the clocks that are compared between runs. */
struct lg__moment {
    uint8_t boot_id[16];
    uint64_t boottime_ns; /* CLOCK_BOOTTIME */
    uint64_t wall_ns;     /* CLOCK_REALTIME; for the throttle only */
};

/* The hint of the vendor that is in force for a launch, in its terms. */
struct lg__hinted {
    lg_hint_kind kind; /* WITHDRAWN: none is; LEAVE_OUT: it leaves out the task of the last end */
    uint32_t serial;
    uint32_t rung;     /* of REPAIR */
};

/* The policy of the program; all fields as in lg_launch_options, with defaults applied. */
struct lg__policy {
    uint32_t report_after, repair_after, unknown_after;
    uint32_t count;
    uint32_t safe_retry_runs, safe_retry_max, safe_crash_limit;
    uint32_t deescalate_runs;
    uint64_t deescalate_ms, steady_ms;
    uint32_t window_ms, finish; /* for readers: the machine gets an event when it finishes */
    bool shadow;
    bool asks;      /* there is an on_decide */
    lg_decision decision; /* where on_decide is not asked */
    bool skippable; /* a suspect task may be left out */
    bool by_hand;   /* no repair runs before the program asks for it */
    struct lg__hinted hint;
    uint32_t rung_count; /* with the built-in one, which is rung 0 */
    struct lg__ledger_rung rungs[LG__RUNGS]; /* series_wall_ns is ignored */
};

/* Forget all but the name, the totals, and which runs were reported. */
void lg__decide_reset(struct lg__ledger_context *context);

/* B1 to B11. The decision is in `phase` and `mode` (LG_PHASE_LAUNCHING, _HELD or _HALTED);
 * LG__CONTEXT_ASKING: call on_decide first, then lg__decide_course(); LG__CONTEXT_REPORTING: call
 * on_report then, and lg__decide_reported(). *ret_rule: the context as the rule has it, also in
 * shadow; may be NULL. */
void lg__decide_begin(struct lg__ledger_context *context, const struct lg__policy *policy, const struct lg__moment *now,
                      struct lg__ledger_context *ret_rule);
/* D1 to D4 */
void lg__decide_course(struct lg__ledger_context *context, lg_decision decision, const struct lg__hinted *hint, const struct lg__moment *now);

/* R1: on_report is about to be called, which may be after its time. */
void lg__decide_told(struct lg__ledger_context *context);
/* R2: on_report has answered, or its time is over. */
void lg__decide_reported(struct lg__ledger_context *context);

/* R3: on_give_up is about to be called. false: it crashed too often, and is not called. */
bool lg__decide_give_up(struct lg__ledger_context *context);
/* R4: on_give_up has returned, or its time is over. */
void lg__decide_gave_up(struct lg__ledger_context *context);

/* H1 to H10; each only from the phase that its row names. */
void lg__decide_attempt(struct lg__ledger_context *context, const struct lg__moment *now);
void lg__decide_attempted(struct lg__ledger_context *context, bool repaired, const struct lg__moment *now);
/* H3a: the attempt has not ended in its grace, and may run on. */
void lg__decide_overrun(struct lg__ledger_context *context);
void lg__decide_refuse(struct lg__ledger_context *context, const struct lg__moment *now);
void lg__decide_skip(struct lg__ledger_context *context, const struct lg__moment *now);
void lg__decide_repaired(struct lg__ledger_context *context, const struct lg__moment *now);
void lg__decide_expired(struct lg__ledger_context *context, const struct lg__moment *now);
void lg__decide_try_safe(struct lg__ledger_context *context);
/* `empty`: held even where no rung is left. */
void lg__decide_protect(struct lg__ledger_context *context, const struct lg__moment *now, bool empty);

/* F1 to F4, and F5 and F6. */
void lg__decide_finished(struct lg__ledger_context *context);
void lg__decide_terminating(struct lg__ledger_context *context);

/* Whether a launch is under way in this phase: begun, and neither finished nor announced to end. */
static inline bool lg__phase_launching(lg_phase phase)
{
    return phase != LG_PHASE_NONE && phase != LG_PHASE_FINISHED && phase != LG_PHASE_TERMINATING;
}

#endif
