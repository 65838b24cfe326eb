/* A ledger together with the file of its last run. */
#include <stdlib.h>

#include "launch/launch.h"
#include "launchguard/ledger.h"
#include "read/context.h"

lg_status lg_reader_ledger_last_run(lg_reader *reader, const char *state_directory)
{
    struct lg__hot hot;
    struct lg__last_run last;
    if (!reader || !state_directory || !*state_directory)
        return LG_ERR_ARGUMENT;
    struct lg__slot *slot = malloc(sizeof *slot); /* too large for the stack of any thread */
    if (!slot)
        return LG_ERR_SYSTEM;
    struct lg__hint ignored;
    const lg_status status = lg__reader_copy_ledger(reader, &hot, &ignored, slot);
    if (status != LG_OK) {
        free(slot);
        return status;
    }
    lg__account_run_read(state_directory, &slot->payload, &hot, false, &last);
    for (uint32_t i = 0; i < slot->payload.context_count; i++)
        lg__account_finish(&slot->payload.contexts[i], &last);
    lg__reader_amend(reader, slot);
    return LG_OK;
}
