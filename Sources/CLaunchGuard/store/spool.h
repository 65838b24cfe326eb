/* The spool: the reports that wait to be sent, and what program and agent tell each other.
 *
 *   spool/config     where reports go: delivery_config.h; the program writes it
 *   spool/consent    whether they may: the same
 *   spool/off        switches delivery off; a person makes it
 *   spool/agent      locked while an agent lives; its pid and version in text
 *   spool/agent.log
 *   spool/nudge      "wait" or "tool": somebody waits; what is due later is tried now
 *   spool/requests/UUID  text of a request for a report of a living run
 *   spool/tally      runs that gave way unreported
 *   spool/tmp new sent held dead   PRIORITY-ORDINAL-UUID.lgreport
 *
 * A report is written below tmp, and moves by rename. Only the agent writes reports. */
#ifndef LG_STORE_SPOOL_H
#define LG_STORE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/delivery.h"
#include "store/format_report.h"
#include "store/problem.h"

/* "P-" + ordinal with 20 digits + "-" + uuid + ".lgreport" + NUL */
#define LG__REPORT_NAME_BYTES 69

/* First of a streak; a launch crash; any other. The newest launch crash goes first of its kind. */
enum lg__priority { LG__PRIORITY_FIRST = 0, LG__PRIORITY_LAUNCH = 1, LG__PRIORITY_OTHER = 2 };

struct lg__report_name {
    enum lg__priority priority;
    uint64_t ordinal;
    uint8_t uuid[16];
};

void lg__report_name(const struct lg__report_name *name, char ret_text[LG__REPORT_NAME_BYTES]);
bool lg__report_parse_name(const char *text, struct lg__report_name *ret_name);

/* Name of the folder of a state: "new", "sent", "held", "dead". */
const char *lg__spool_folder(lg_delivery_state state);

/* Open the spool of a state directory, and make it with all its folders (0700) where `make` says
 * so. Returns a descriptor; −1 with the problem noted. */
int lg__spool_open(int state_directory, const char *path, bool make, struct lg__problem *problem);

/* Read and check the header of a report in `folder` (a descriptor). LG_ERR_DAMAGED; LG_ERR_NEWER;
 * LG_ERR_NOT_FOUND; LG_ERR_SYSTEM. */
lg_status lg__report_read(int folder, const char *name, struct lg__report_header *ret_header);

/* The header with its checksum, as it is to be written. */
void lg__report_seal(struct lg__report_header *header);

/* Whether an agent lives. */
bool lg__spool_agent_lives(int spool);

/* Whether a person switched delivery off. */
bool lg__spool_is_off(int spool);

/* Replace a small file as a whole: write, fsync, rename, fsync of the folder. */
lg_status lg__spool_write(int spool, const char *name, const void *bytes, size_t size);

/* Read a small file: at most `room` − 1 bytes, and a NUL. −1: there is none, or no plain file. */
long lg__spool_read(int spool, const char *name, char *buffer, size_t room);

/* ---- consent ---- */

struct lg__consent {
    bool given;
    uint64_t from_ordinal; /* runs before this one are never sent */
};

/* Without the file, or with a damaged one: not given. */
struct lg__consent lg__consent_read(int spool);
lg_status lg__consent_write(int spool, const struct lg__consent *consent);

#endif
