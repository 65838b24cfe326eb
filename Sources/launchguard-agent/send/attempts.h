/* The attempts to send: the choice of the due report, one attempt at a time, and the reaction to
 * its answer. All state of a report is in its header on the disk. */
#ifndef AGENT_ATTEMPTS_H
#define AGENT_ATTEMPTS_H

#include "send/mailbox.h"
#include "send/sender.h"
#include "store/delivery_config.h"

struct attempts {
    const struct lg__delivery_config *config;
    uint8_t config_digest[16]; /* of the configuration and the credential file */
    struct mailbox *mailbox;
    struct sender sender;
    const char *via;
    bool once;                /* a report that failed since `begun_ns` is not due again */
    uint64_t begun_ns;        /* CLOCK_REALTIME */
    uint64_t paused_until_ns; /* CLOCK_REALTIME; the server asked for it */
    uint8_t sending[16];      /* identity of the report under way */
    enum part part;
};

/* The report to send now; NULL: none is due. `now` is CLOCK_REALTIME here and below. */
struct mail *attempts_next(const struct attempts *attempts, uint64_t now);

/* Milliseconds until a pending report is due; −1: none is pending. */
int attempts_until_due(const struct attempts *attempts, uint64_t now);

/* Begin to send a report. false: no request is under way, and the report's error says why. */
bool attempts_begin(struct attempts *attempts, struct mail *mail);

/* The attempt under way has ended, with this answer of sender_step(). */
void attempts_conclude(struct attempts *attempts, const struct answer *answer, const char *why);

/* Send held reports again once the refused settings have changed. */
void attempts_release_held(struct attempts *attempts);

/* Somebody waits: try the reports that are due later now. */
void attempts_take_nudge(struct attempts *attempts);

/* The pause that an earlier agent was asked for. */
void attempts_read_pause(struct attempts *attempts);

#endif
