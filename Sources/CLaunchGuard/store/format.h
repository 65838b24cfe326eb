/* Layer 1: every persisted structure. docs/FORMAT.md is the specification; the assertions in these
 * headers keep the two together.
 *
 * All numbers are little-endian and of fixed width, padding is explicit, strings are NUL-terminated
 * within their arrays. New fields come at the end of a structure or in bytes that are reserved
 * (zero) today. */
#ifndef LG_STORE_FORMAT_H
#define LG_STORE_FORMAT_H

#include "store/format_guard.h"
#include "store/format_header.h"
#include "store/format_ledger.h"
#include "store/format_live.h"
#include "store/format_record.h"
#include "store/format_run.h"

#endif
