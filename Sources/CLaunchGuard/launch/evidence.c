/* The last run of a ledger: its contexts, and what its end says of them. */
#include "launch/evidence.h"

#include <string.h>

void lg__evidence_finished(struct lg__last_run *last, const struct lg__ledger_payload *payload, uint32_t contexts)
{
    for (uint32_t i = 0; i < payload->context_count; i++) {
        if (!(contexts & 1u << i))
            continue;
        lg_run_context *context = &last->contexts[last->context_count++];
        memcpy(context->name, payload->contexts[i].name, sizeof context->name);
        context->phase = LG_PHASE_FINISHED;
    }
}

const lg_run_context *lg__evidence_context(const struct lg__last_run *last, const char *name)
{
    for (uint32_t i = 0; i < last->context_count; i++)
        if (strncmp(last->contexts[i].name, name, LG__NAME_BYTES) == 0)
            return &last->contexts[i];
    return NULL;
}

const char *lg__evidence_task(const struct lg__last_run *last, const lg_run_context *context)
{
    if (!context || !context->task[0] || (last->has_tid && context->task_tid != last->tid))
        return NULL;
    return context->task;
}

bool lg__evidence_is_no_fault(uint32_t evidence)
{
    return evidence == LG_EVIDENCE_EXEC || evidence == LG_EVIDENCE_OOM_COUNTER || evidence == LG_EVIDENCE_FORK;
}
