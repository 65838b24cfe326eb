/* The attempts to send, one at a time. The policy decides; all that it knows is in the headers of
 * the reports and in spool/server, and is stored before a request begins. */
#ifndef AGENT_ATTEMPTS_H
#define AGENT_ATTEMPTS_H

#include "send/mailbox.h"
#include "send/sender.h"
#include "store/delivery_config.h"

struct attempts {
    const char *state_directory;
    const struct lg__delivery_config *config;
    struct mailbox *mailbox;
    struct sender sender;
    struct lg__server server;
    const char *via;
    bool once;         /* no report is due again that failed since `begun_ns`, nor once `waits` */
    bool waits;        /* the server has failed */
    bool is_metered;   /* only first parts go */
    uint64_t begun_ns; /* CLOCK_REALTIME */
    /* the attempt under way */
    uint8_t sending[16]; /* identity of the report */
    enum part part;
    struct lg__server before;
    bool left;
    bool compressed;
};

/* Go on where the last agent ended. */
void attempts_open(struct attempts *attempts);

/* Two sets of settings with one digest name the same server, with the same credentials. */
void attempts_set_server(struct attempts *attempts);

/* The report to send now; NULL: none is due. */
struct mail *attempts_next(struct attempts *attempts);

/* Milliseconds until a report is due; −1: none waits. */
int attempts_until_due(const struct attempts *attempts);

/* Begin to send a report. false: no request is under way, and the report's error says why. */
bool attempts_begin(struct attempts *attempts, struct mail *mail);

/* The attempt under way has ended, with this answer of sender_step(). */
void attempts_conclude(struct attempts *attempts, const struct answer *answer, const char *why);

/* spool/metered, which somebody makes while each byte costs. */
void attempts_look_at_meter(struct attempts *attempts);

/* spool/nudge, where somebody has made it. */
void attempts_take_nudge(struct attempts *attempts);

#endif
