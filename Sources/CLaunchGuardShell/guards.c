/* Each guarded operation is the unguarded one. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "launchguard/launchguard.h"

uint32_t lg_guard_working;

lg_status lg_guard_start(lg_session *session, const lg_guard_options *options)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_guard_stop(lg_session *session)
{
    return session ? LG_OK : LG_ERR_ARGUMENT;
}

lg_status lg_guard_set_classes(lg_session *session, uint32_t classes)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_guard_set_policy(lg_session *session, uint32_t classes, lg_guard_policy policy)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_guard_set_lists(lg_session *session, const lg_guard_lists *lists)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

int lg_guard_claim(lg_guard_class guard_class, const void *site, const char *text, const lg_field *fields, size_t count)
{
    return 0;
}
#endif
