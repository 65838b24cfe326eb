/* Which hint counts: pure over what the ledger has, what came, and now. */
#ifndef AGENT_HINT_H
#define AGENT_HINT_H

#include <stdbool.h>

#include "policy/moment.h"
#include "store/format_ledger.h"

/* A hint ends when the device was on for so long after it came, so that a device without a clock
 * forgets it too. */
#define HINT_ON_NS (30 * DAY_NS)

/* The place that a hint came to. */
struct hint_place {
    const char *app;    /* the ledger is of this application */
    const char *device; /* in hexadecimal digits; "": not known */
    uint8_t key[16];    /* digest of the key in the configuration */
};

enum hint_verdict { HINT_TAKEN, HINT_KNOWN, HINT_OLD, HINT_EXPIRED, HINT_OTHER_APP, HINT_OTHER_DEVICE };

/* `app` and `device` of the document; "": all devices. `stored`: all zeros where there is none. A
 * hint of another key has a series of its own. HINT_TAKEN: `stored` is what is to be stored. */
enum hint_verdict hint_judge(struct lg__hint *stored, const char *app, const char *device, const lg_hint *said, const struct hint_place *place,
                             struct moment now);

/* The stored hint is over, or its key is no longer that of the configuration (NULL: there is none):
 * it is withdrawn. Returns whether it changed. */
bool hint_withdraw(struct lg__hint *stored, const uint8_t *key, struct moment now);

#endif
