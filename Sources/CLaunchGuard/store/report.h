/* A report in the spool: its name and its header. */
#ifndef LG_STORE_REPORT_H
#define LG_STORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/status.h"
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

#endif
