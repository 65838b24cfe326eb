/* What an attempt does to a report, and to the waits of its server: pure over what is stored, the
 * answer and now. The table is in docs/DELIVERY.md, "What an answer means". */
#ifndef AGENT_FATE_H
#define AGENT_FATE_H

#include <stdbool.h>

#include "policy/mail.h"
#include "policy/moment.h"

/* A report that has waited for so long while the device was on is given up. */
#define AGE_MAX_NS (90 * DAY_NS)
/* A server cannot ask for a longer pause. */
#define PAUSE_MAX_NS DAY_NS
/* A refused report is tried again that much later. */
#define REFUSED_NS DAY_NS
/* The longest wait after a boot. */
#define BOOT_NS (HOUR_NS / 2)
/* Refusals of a body, each on a day of its own, after which it is given up. They count once in that
 * time. */
#define REFUSALS_MAX 3u
#define REFUSAL_NS (20 * HOUR_NS)

/* What the body of a positive answer says: of such a server, or of something else, as a portal. */
enum reply { REPLY_TAKEN, REPLY_REFUSED, REPLY_FOREIGN };

struct answer {
    int http_status;   /* 0: none came */
    enum reply reply;
    uint64_t bytes;    /* that went and came */
    bool none_left;    /* no byte of the request has left the machine */
    bool compressed;   /* the body of the request was */
    bool has_pause;
    uint64_t pause_ns; /* the server asks to wait that long */
};

enum fate {
    FATE_AGAIN,
    FATE_TAKEN, /* positive */
    FATE_PLAIN, /* now once more, and the body not compressed */
    FATE_SMALL, /* complete without its second part */
    FATE_HELD,  /* refused; tried again later, or with other settings */
    FATE_DEAD   /* given up */
};

/* An attempt begins, with a compressed body or not: the report and the server are as after one
 * without an answer, until fate_conclude() says more. An agent that is killed at each attempt so
 * waits longer each time. */
void fate_begin(struct lg__report_header *report, struct lg__server *server, bool compressed, struct moment now, uint64_t random);

/* The attempt has ended. `before`: the server as it was before fate_begin(); `left`: whether bytes
 * of the report had left before; `is_full`: the request was the second part. `random`: any
 * number. */
enum fate fate_conclude(struct lg__report_header *report, struct lg__server *server, const struct lg__server *before, bool left,
                        const struct answer *answer, bool is_full, struct moment now, uint64_t random);

/* So many bytes went and came. Where `daily_bytes` are spent, the server is left alone until the
 * end of the day. */
void fate_spend(struct lg__server *server, uint64_t bytes, uint64_t daily_bytes, struct moment now);

/* The settings name this server from now on. false: they did before. */
bool fate_set_server(struct lg__server *server, const uint8_t config[16]);

/* A new boot: whatever was away may be there. Nobody knows for how long the device was off: no wait
 * lasts longer than BOOT_NS from now but those that the server asked for. */
void fate_boot(struct lg__server *server, struct moment now);
bool fate_boot_report(struct mail *mail, struct moment now); /* whether it changed the report */

/* ---- what makes a report pending, and due; each returns whether it changed the report ---- */

/* A held report is tried again. */
bool fate_release(struct mail *mail, const struct lg__server *server, struct moment now);
/* A report that was tried with the settings of another server begins anew. */
bool fate_set_report(struct mail *mail, const struct lg__server *server, struct moment now);
/* A person wants the reports tried now, also one that waits for more of its fingerprint; `all`:
 * also those that are held or were given up. What the server asked for stays. */
bool fate_hurry(struct mail *mail, bool all, struct moment now);
void fate_hurry_server(struct lg__server *server);

/* ---- further runs ---- */

/* Runs that a report stands for. */
struct more {
    uint64_t count, ordinal; /* of the last */
    uint64_t first_ns, last_ns;
};

/* The report stands for them as well. Runs that were counted last are not counted again: an agent
 * died after that. Returns whether it changed the report. */
bool fate_stand_for(struct lg__report_header *report, const struct more *more);

#endif
