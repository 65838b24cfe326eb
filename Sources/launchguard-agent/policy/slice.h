/* The second part in slices, for a plain server: one slice is what a slow link carries in a
 * request, and what is lost when the link goes. Pure over the header. */
#ifndef AGENT_SLICE_H
#define AGENT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format_report.h"

#define SLICE_BYTES (UINT32_C(128) * 1024)

/* Whether the second part has more than one. */
bool slice_is_one_of_many(const struct lg__report_header *report);

/* Bytes of the next one; it begins at `full_taken`. */
uint32_t slice_bytes(const struct lg__report_header *report);

/* It had its positive answer. Returns whether it was the last. */
bool slice_take(struct lg__report_header *report);

#endif
