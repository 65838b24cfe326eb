/* A session that protects nothing, and says so. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <string.h>

#include "launchguard/launchguard.h"

struct lg_session {
    const char *message;
};

static struct lg_session the_session = { "" };

lg_status lg_start(const lg_options *options, lg_session **ret_session)
{
    lg_options known = LG_OPTIONS_INIT;
    if (!ret_session)
        return LG_ERR_ARGUMENT;
    *ret_session = &the_session;
    if (!options)
        return LG_ERR_ARGUMENT;
    memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    the_session.message = lg_status_message(LG_ERR_UNSUPPORTED);
    if (known.on_log)
        known.on_log(LG_LEVEL_WARNING, "launchguard", the_session.message, known.log_user);
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_stop(lg_session *session)
{
    return session ? LG_OK : LG_ERR_ARGUMENT;
}

const char *lg_session_message(const lg_session *session)
{
    return session ? session->message : "";
}

lg_status lg_thread_register(void)
{
    return LG_OK;
}

lg_status lg_memory_watch(lg_session *session, uint32_t percent, lg_memory_callback callback, void *user)
{
    return session ? LG_OK : LG_ERR_ARGUMENT;
}

lg_status lg_memory_unwatch(lg_session *session)
{
    return session ? LG_OK : LG_ERR_ARGUMENT;
}
#endif
