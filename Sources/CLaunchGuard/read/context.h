/* A context of the ledger as programs see it; shared by the reader and by launch/. */
#ifndef LG_READ_CONTEXT_H
#define LG_READ_CONTEXT_H

#include "launchguard/launch.h"
#include "store/format.h"

/* What is stored of a context; `status` is that of its stored phase. */
void lg__reader_context_info(const struct lg__book_context *stored, lg_launch_info *ret_info);

#endif
