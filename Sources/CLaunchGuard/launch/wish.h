/* Layer 4: what a launch that is held does without a word of the program. Pure, as decide.h
 * says. */
#ifndef LG_LAUNCH_WISH_H
#define LG_LAUNCH_WISH_H

#include <stdbool.h>

#include "store/format.h"

/* The wish for a launch that is held. */
enum lg__wish { NO_WISH, WISH_REPAIR, WISH_REFUSE, WISH_SKIP, WISH_REPAIRED, WISH_TRY_SAFE };

/* The terms of one hold. */
struct lg__hold_terms {
    bool auto_repair, supervised; /* as in lg_launch_options */
    bool by_hand;                 /* LG_DECISION_HOLD: nothing is tried before the program asks */
    bool consented;               /* the program asked for a repair in this hold */
};

/* The wish of the launch itself, which counts where the program has none. */
enum lg__wish lg__wish_own(const struct lg__ledger_context *context, const struct lg__hold_terms *terms);

#endif
