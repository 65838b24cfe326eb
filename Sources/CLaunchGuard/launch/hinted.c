/* The hint of the vendor as a launch sees it. It names tasks and repairs that the program
 * registered, and a version: nothing else of it is ever used. */
#include "launch/internal.h"
#include "os/os.h"
#include "store/hint.h"

/* false: none has come, or it is not in force for this launch. */
static bool read_hint(const lg_launch *launch, lg_hint *ret_said)
{
    struct lg__hint hint = *(const struct lg__hint *)(const void *)(launch->host->ledger.machine + 1);
    *ret_said = hint.said;
    return lg__hint_is_whole(&hint) && hint.said.expires_ns > lg__host_now(launch->host).wall_ns && strcmp(hint.said.context, launch->name) == 0;
}

static uint32_t rung_named(const lg_launch *launch, const char *name)
{
    for (uint32_t i = 0; i < launch->rung_count; i++)
        if (strcmp(launch->rungs[i].name, name) == 0)
            return i + 1;
    return 0;
}

static bool is_meant(lg_launch *launch, const struct lg__ledger_context *context, const lg_hint *said)
{
    switch (said->kind) {
    case LG_HINT_LEAVE_OUT: return strcmp(context->last_task, said->name) == 0 && lg__tasks_find(launch, said->name);
    case LG_HINT_REPAIR: return rung_named(launch, said->name);
    case LG_HINT_HOLD_BELOW: return strverscmp(launch->host->ledger.payload.app_version, said->name) < 0;
    default: return true;
    }
}

struct lg__hinted lg__hinted_find(lg_launch *launch, const struct lg__ledger_context *context)
{
    lg_hint said;
    if (launch->options.shadow || !read_hint(launch, &said))
        return (struct lg__hinted){ .kind = LG_HINT_WITHDRAWN };
    if (said.kind == LG_HINT_LEAVE_OUT)
        memcpy(launch->hinted, said.name, sizeof launch->hinted);
    return (struct lg__hinted){ is_meant(launch, context, &said) ? said.kind : LG_HINT_WITHDRAWN, said.serial, rung_named(launch, said.name) };
}

bool lg__hinted_holds(lg_launch *launch, const struct lg__ledger_context *context)
{
    return context->flags & LG__CONTEXT_HINT_HOLD && lg__hinted_find(launch, context).kind == LG_HINT_HOLD_BELOW;
}
