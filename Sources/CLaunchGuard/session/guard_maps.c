/* Mappings are registered where the session has handlers. */
#include "guard/guard.h"
#include "launchguard/guard_memory.h"
#include "session/session.h"

static lg_status check_maps(const lg_session *session, const void *base)
{
    if (!session || !base)
        return LG_ERR_ARGUMENT;
    const lg_status status = lg__session_check(session);
    return status == LG_OK && session->capture == LG_CAPTURE_NONE ? LG_ERR_UNPROTECTED : status;
}

lg_status lg_guard_map(lg_session *session, void *base, size_t size, int protection)
{
    const lg_status status = size ? check_maps(session, base) : LG_ERR_ARGUMENT;
    return status != LG_OK || session->host.simulated ? status : lg__mapping_add(base, size, protection);
}

lg_status lg_guard_unmap(lg_session *session, void *base)
{
    const lg_status status = check_maps(session, base);
    return status != LG_OK || session->host.simulated ? status : lg__mapping_remove(base);
}
