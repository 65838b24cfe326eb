/* The suspect tasks of a context. */
#include "launch/suspects.h"

#include <string.h>

#include "launchguard/task.h"

uint32_t lg__suspects_crashes(const struct lg__ledger_context *context, const char *key)
{
    for (uint32_t i = 0; i < context->suspect_count; i++)
        if (strncmp(context->suspects[i].key, key, LG__NAME_BYTES) == 0)
            return context->suspects[i].crashes;
    return 0;
}

bool lg__suspects_has(const struct lg__ledger_context *context, const char *key, uint32_t flags)
{
    return !(flags & LG_TASK_ESSENTIAL) && lg__suspects_crashes(context, key) >= (flags & LG_TASK_SUSPECT ? 1u : 2u);
}

void lg__suspects_leave_out(struct lg__ledger_context *context, const char *key)
{
    for (uint32_t i = 0; i < context->suspect_count; i++)
        if (strncmp(context->suspects[i].key, key, LG__NAME_BYTES) == 0)
            context->suspects[i].left_out = 1;
}
