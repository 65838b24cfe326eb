/* A report in the spool: its name and its header. */
#ifndef LG_STORE_REPORT_H
#define LG_STORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "launchguard/delivery.h"
#include "store/format_report.h"

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

/* Read and check the header of a report in `folder` (a descriptor). LG_ERR_DAMAGED; LG_ERR_NEWER;
 * LG_ERR_NOT_FOUND; LG_ERR_SYSTEM. */
lg_status lg__report_read(int folder, const char *name, struct lg__report_header *ret_header);

/* The header with its checksum, as it is to be written. */
void lg__report_seal(struct lg__report_header *header);

static inline bool lg__report_waits(lg_delivery_state state)
{
    return state == LG_DELIVERY_PENDING || state == LG_DELIVERY_HELD;
}

/* Else the program has asked for it, while the run lived. */
static inline bool lg__report_is_of_end(const struct lg__report_header *header)
{
    return memcmp(header->uuid, header->run_uuid, sizeof header->uuid) == 0;
}

/* Whether the report waits for `other`, which has the same fingerprint, has left, and has no
 * positive answer. It stands for further runs meanwhile: so a crash whose reports a server cannot
 * take fills no spool. */
static inline bool lg__report_is_behind(const struct lg__report_header *header, const struct lg__report_header *other, lg_delivery_state state_of_other)
{
    return !(header->flags & LG__REPORT_LEFT) && other->flags & LG__REPORT_LEFT && lg__report_waits(state_of_other) && lg__report_is_of_end(header) &&
           lg__report_is_of_end(other) && memcmp(header->fingerprint, other->fingerprint, sizeof header->fingerprint) == 0;
}

#endif
