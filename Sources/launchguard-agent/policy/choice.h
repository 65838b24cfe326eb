/* Which report goes next, which one stands for a further run, and which one gives way: pure over
 * the reports in the spool and now. */
#ifndef AGENT_CHOICE_H
#define AGENT_CHOICE_H

#include "policy/mail.h"
#include "policy/moment.h"

/* The pending report to send now, of those that `skips` does not name; NULL: none is due. */
struct mail *choice_next(struct mail *mails, uint32_t count, const struct lg__server *server, struct moment now,
                         bool (*skips)(const struct mail *mail, const void *user), const void *user);

/* Nanoseconds until a pending or held report is due, of those that `skips` does not name;
 * UINT64_MAX: there is none. */
uint64_t choice_left(const struct mail *mails, uint32_t count, const struct lg__server *server, struct moment now,
                     bool (*skips)(const struct mail *mail, const void *user), const void *user);

/* The report that can stand for one more run of this fingerprint: no byte of it has left. The first
 * one of a streak only where there is no other. NULL: none. */
struct mail *choice_for_more(struct mail *mails, uint32_t count, const uint8_t fingerprint[16]);

/* When a new report may go: now, or later where many of its fingerprint were made lately. Sets
 * `before` and `next` of its header. */
void choice_pace(const struct mail *mails, uint32_t count, struct lg__report_header *new, struct moment now);

/* Whether a run is counted in the report of choice_for_more(), though there is room for a new one.
 * The first report of a streak and the newest launch crash go as they are, and those in between are
 * counted. */
bool choice_counts(struct mail *mails, uint32_t count, const struct lg__report_header *new, struct moment now);

/* The report that gives way to a new one: the oldest that was delivered, and not within the last
 * hour, so that no more reports are made in an hour than the spool holds. Those that on_delivered
 * was called for come first. Else the oldest that was given up. NULL: none. */
struct mail *choice_to_drop(struct mail *mails, uint32_t count, struct moment now);

#endif
