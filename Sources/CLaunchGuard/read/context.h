/* A context of the ledger as programs see it; shared by the reader and by launch/. */
#ifndef LG_READ_CONTEXT_H
#define LG_READ_CONTEXT_H

#include "launchguard/launch.h"
#include "launchguard/reader.h"
#include "store/format.h"

/* The stored values of a context; `status` is that of its stored phase. */
void lg__reader_context_info(const struct lg__ledger_context *stored, lg_launch_info *ret_info);

/* A copy for the program, whose lg_launch_info may be of another version. LG_ERR_ARGUMENT: its size
 * is not set. */
lg_status lg__reader_context_give(const lg_launch_info *info, lg_launch_info *ret_info);

/* Hot page and newest whole payload of a ledger. LG_OK; LG_ERR_DAMAGED; LG_ERR_STATE: another kind
 * of file. */
lg_status lg__reader_copy_ledger(const lg_reader *reader, struct lg__hot *ret_hot, struct lg__hint *ret_hint, struct lg__slot *ret_slot);

/* The reader shows this payload instead, until the ledger has a newer one. Takes the slot, which
 * is from malloc(). */
void lg__reader_amend(lg_reader *reader, struct lg__slot *slot);

#endif
