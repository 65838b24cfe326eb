/* A context of the ledger as programs see it; shared by the reader and by launch/. */
#ifndef LG_READ_CONTEXT_H
#define LG_READ_CONTEXT_H

#include "launchguard/launch.h"
#include "launchguard/reader.h"
#include "store/format.h"

/* The stored values of a context; `status` is that of its stored phase. */
void lg__reader_context_info(const struct lg__ledger_context *stored, lg_launch_info *ret_info);

/* The state that a program sees in a phase, and the same as one of four: "not begun" and "finished"
 * are one there. */
static inline lg_launch_state lg__reader_context_state(uint32_t phase)
{
    static const uint8_t states[] = {
        [LG_PHASE_NONE] = LG_LAUNCH_STATE_IDLE,
        [LG_PHASE_DECIDING] = LG_LAUNCH_STATE_LAUNCHING,
        [LG_PHASE_LAUNCHING] = LG_LAUNCH_STATE_LAUNCHING,
        [LG_PHASE_HELD] = LG_LAUNCH_STATE_AWAITING_REPAIR,
        [LG_PHASE_HALTED] = LG_LAUNCH_STATE_AWAITING_REPAIR,
        [LG_PHASE_REPAIRING] = LG_LAUNCH_STATE_REPAIRING,
        [LG_PHASE_FINISHED] = LG_LAUNCH_STATE_FINISHED,
        [LG_PHASE_TERMINATING] = LG_LAUNCH_STATE_FINISHED,
    };
    return phase < sizeof states ? (lg_launch_state)states[phase] : LG_LAUNCH_STATE_IDLE;
}

static inline lg_launch_status lg__reader_context_status(lg_launch_state state)
{
    return (lg_launch_status)(state % LG_LAUNCH_STATE_FINISHED);
}
static inline void lg__reader_context_is(lg_launch_info *info, lg_launch_state state)
{
    info->state = state;
    info->status = lg__reader_context_status(state);
}

/* A copy for the program, whose lg_launch_info may be of another version. LG_ERR_ARGUMENT: its size
 * is not set. */
lg_status lg__reader_context_give(const lg_launch_info *info, lg_launch_info *ret_info);

/* Hot page and newest whole payload of a ledger. LG_OK; LG_ERR_DAMAGED; LG_ERR_STATE: another kind
 * of file. */
lg_status lg__reader_copy_ledger(const lg_reader *reader, struct lg__hot *ret_hot, struct lg__hint *ret_hint, struct lg__slot *ret_slot);

/* The reader shows this payload instead, until the ledger has a newer one. Takes the slot, which
 * is from malloc(). */
void lg__reader_amend(lg_reader *reader, struct lg__slot *slot);

#endif
