/* The reports in the spool, for the one process that writes them: made as a whole, kept up to date
 * in place, moved by rename. A death at any step leaves a report in one folder, or in two, of which
 * mailbox_open() keeps the later one. */
#ifndef AGENT_MAILBOX_H
#define AGENT_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/mail.h"
#include "send/permit.h"
#include "store/spool.h"

struct mailbox {
    int spool;
    struct permit permit; /* without it no file comes to a folder */
    int folders[5];     /* descriptors, by lg_delivery_state */
    struct mail *mails; /* all that can be read */
    uint32_t count, room;
    uint64_t bytes;     /* of all of them on the disk */
    uint32_t damaged;   /* put aside since the start */
};

/* Read all reports. Damaged reports move to dead/. false: a folder cannot be opened, and errno says
 * why. */
bool mailbox_open(int spool, struct mailbox *ret_mailbox);

/* A new report: `header` without its sizes and checksums. The result is borrowed until the next
 * change of the mailbox; NULL: it could not be written, and errno says why. */
struct mail *mailbox_add(struct mailbox *mailbox, const struct lg__report_name *parts, const struct lg__report_header *header,
                         const char *brief, size_t brief_bytes, const char *full, size_t full_bytes);

/* Write the header of a report. false: errno says why; the report in memory has it all the same. */
bool mailbox_update(struct mailbox *mailbox, struct mail *mail);

/* Move a report to another state, with its header as it is now. A sent report loses its two
 * parts. */
bool mailbox_move(struct mailbox *mailbox, struct mail *mail, lg_delivery_state state);

/* Delete a report. */
void mailbox_drop(struct mailbox *mailbox, struct mail *mail);

/* The two parts, read and checked: in memory of malloc(), one after the other. NULL: damaged, or
 * gone. */
char *mailbox_read(const struct mailbox *mailbox, const struct mail *mail);

/* How many reports there are. Counts for release health are none. */
uint32_t mailbox_reports(const struct mailbox *mailbox);

/* The report with this identity, in any state. NULL: none. */
struct mail *mailbox_find(struct mailbox *mailbox, const uint8_t uuid[16]);

/* Whether there is a report in this state. Nobody waits for release health. */
bool mailbox_has(const struct mailbox *mailbox, lg_delivery_state state);

/* Look again at files that others may have changed: the program empties the spool, or writes into
 * a sent report that it has called on_delivered. The agent writes no report that is in sent/. */
void mailbox_refresh(struct mailbox *mailbox);

#endif
