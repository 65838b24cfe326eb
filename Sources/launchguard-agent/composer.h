/* Owed runs and requests become reports in the mailbox, within its limits. */
#ifndef AGENT_COMPOSER_H
#define AGENT_COMPOSER_H

#include "policy/moment.h"
#include "send/mailbox.h"
#include "store/delivery_config.h"
#include "watch/runs.h"

struct composer {
    const struct lg__delivery_config *config;
    struct lg__consent consent;
    struct mailbox *mailbox;
    struct runs *runs;
    struct moment now;
};

/* Make reports of all owed runs, oldest first, of all requests, and of the runs that gave way
 * uncounted. Returns whether there was no room for one: it stays owed. */
bool composer_work(struct composer *composer, struct moment now);

#endif
