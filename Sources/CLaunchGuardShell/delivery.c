/* Nothing is delivered where nothing is recorded. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "launchguard/launchguard.h"

lg_status lg_delivery_start(lg_session *session, const lg_delivery_options *options)
{
    return session && options ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_consent(lg_session *session, lg_consent consent)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_wait(lg_session *session, uint32_t ms, lg_delivery_pump pump, void *user, lg_delivery_result *ret_result)
{
    return session && ret_result ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_report_now(lg_session *session, const char *reason, char *ret_uuid)
{
    return session && reason ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_entries(const char *state_directory, lg_delivery_info *ret_entries, uint32_t room, uint32_t *ret_count)
{
    return state_directory && *state_directory && ret_count && (ret_entries || !room) ? LG_ERR_UNSUPPORTED : LG_ERR_ARGUMENT;
}
#endif
