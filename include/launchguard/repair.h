/** Repairs: the rungs of the ladder that a launch climbs when it crashes again and again.
 *
 *  Repairs are tried in the order of their impact, each a number of times, in a launch that is
 *  held. A program may let its user decide: lg_launch_repair(), lg_launch_refuse() and
 *  lg_launch_skip() and lg_launch_repaired() answer for the repair that waits.
 */
#ifndef LAUNCHGUARD_REPAIR_H
#define LAUNCHGUARD_REPAIR_H

#include <launchguard/launch.h>

/** Most repairs of one context. */
#define LG_REPAIRS_MAX 16

/** A healthy-world callback. Called once for each attempt. The callback, or the code it hands
 *  `done` to, must answer with lg_complete(done, LG_OK) or with an error. An attempt without an
 *  answer within `timeout_ms` has failed. */
typedef void (*lg_repair_callback)(lg_completion *done, void *user);

/** Kinds of repairs, bits of lg_repair.flags. */
/** the repair loses something: a new series of attempts at most once in 24 h */
#define LG_REPAIR_DESTRUCTIVE 1u
/** the repair waits for lg_launch_repair() also with auto_repair */
#define LG_REPAIR_CONSENT 2u
/** a successful repair needs a new start of the program: lg_launch_begin() returns
 *  LG_ERR_RESTART */
#define LG_REPAIR_NEEDS_RESTART 4u

/** One rung of the ladder. */
typedef struct lg_repair {
    /** sizeof(lg_repair); LG_REPAIR_INIT sets it. */
    uint32_t size;
    /** Impact of the repair, from 0 (least disruptive) to 100. The least disruptive repair is tried
     *  first, equal ones in the order of registration. */
    uint32_t impact;
    /** 1 to LG_NAME_MAX bytes, unique in its context. Copied. */
    const char *name;
    /** Time for one attempt in milliseconds, 1 to 86400000; 0 = 30000. */
    uint32_t timeout_ms;
    /** Attempts before the next rung, at most 100; 0 = 2. */
    uint32_t attempts;
    /** LG_REPAIR_*, or 0. */
    uint32_t flags;
    /** 0. */
    uint32_t reserved;
    /** Required. */
    lg_repair_callback run;
    /** Handed to run. */
    void *user;
} lg_repair;

#ifdef __cplusplus
#define LG_REPAIR_INIT lg_sized<lg_repair>()
#else
#define LG_REPAIR_INIT { .size = (uint32_t)sizeof(lg_repair) }
#endif

/** The answers to a hold. */
typedef enum lg_answer {
    LG_ANSWER_REPAIR = 1,   /**< lg_launch_repair() */
    LG_ANSWER_REFUSE = 2,   /**< lg_launch_refuse() */
    LG_ANSWER_SKIP = 3,     /**< lg_launch_skip() */
    LG_ANSWER_REPAIRED = 4, /**< lg_launch_repaired() */
    LG_ANSWER_TRY_SAFE = 5  /**< lg_launch_try_safe(), of a halted launch */
} lg_answer;

LG_BEGIN

/** Add a repair, before lg_launch_begin().
 *
 *  @param repair  copied, with its name.
 *  @return LG_OK; LG_ERR_OPTION; LG_ERR_DUPLICATE; LG_ERR_LIMIT (LG_REPAIRS_MAX); LG_ERR_STATE
 *          after begin; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: has no effect on the parent.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_add_repair(lg_launch *launch, const lg_repair *repair);

/** Start the repair for which a held launch waits: the user agreed. The consent covers the other
 *  attempts of the repair in this launch and the rungs after it, except those with
 *  LG_REPAIR_CONSENT.
 *
 *  @return LG_OK, also when a repair runs already; LG_ERR_STATE when no repair is needed, or
 *          another answer came first; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the attempt is stored before it begins.
 */
LG_API lg_status lg_launch_repair(lg_launch *launch);

/** Refuse the repair for which a held launch waits: go to the next rung.
 *
 *  @return as lg_launch_repair(); LG_ERR_STATE also while a repair runs, and where another answer
 *          came first: of lg_launch_repair(), lg_launch_refuse(), lg_launch_skip() and
 *          lg_launch_repaired() at the same time one wins, and the others have no effect.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_refuse(lg_launch *launch);

/** Put the repair off: launch normally this time. After two skips in a row the launch goes on in
 *  safe mode instead.
 *
 *  @return as lg_launch_refuse().
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_skip(lg_launch *launch);

/** Say that the program has repaired itself, for example by what the user chose in the screen of a
 *  protect action. A launch that is held or halted goes on as after a repair that succeeded: its
 *  tasks run, and one more crash holds it again, with every repair that was not tried. After two
 *  such calls, or skips, without a good launch it goes on in safe mode instead. A program without
 *  any lg_repair, but with a protect action, is held by lg_launch_protect() for this call.
 *
 *  @return as lg_launch_refuse(); LG_ERR_STATE also where the launch is not held.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_repaired(lg_launch *launch);

/** Give one hold its answer, as the call of the same name does for the present one.
 *
 *  @param hold  from on_hold or on_give_up.
 *  @return LG_OK; LG_ERR_STATE as that call, and where this hold waits no more: another answer came
 *          first, its deadline has passed, or it is not the present one; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_answer(lg_launch *launch, uint32_t hold, lg_answer answer);

LG_END

#endif
