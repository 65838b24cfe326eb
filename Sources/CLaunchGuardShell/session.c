/* A session that protects nothing, and says so. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <string.h>

#include "launchguard/launchguard.h"

struct lg_session {
    const char *message;
};

static struct lg_session the_session = { "" };

/* The result of every call with a session. */
static lg_status nothing(const lg_session *session)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

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

lg_protection lg_session_protection(const lg_session *session)
{
    return LG_PROTECTION_NONE;
}

const char *lg_session_message(const lg_session *session)
{
    return session ? session->message : "";
}

const char *lg_session_run_path(const lg_session *session)
{
    return "";
}

const char *lg_session_state_directory(const lg_session *session)
{
    return "";
}

lg_status lg_will_terminate(lg_session *session)
{
    return nothing(session);
}

lg_status lg_will_restart(lg_session *session)
{
    return nothing(session);
}

lg_status lg_crash_note(lg_session *session, const char *type)
{
    return nothing(session);
}

lg_status lg_modules_refresh(lg_session *session)
{
    return nothing(session);
}

lg_status lg_thread_register(void)
{
    return LG_OK;
}

lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_state_directory(const char *app_id, char *buffer, size_t size)
{
    return LG_ERR_UNSUPPORTED;
}

/* ---- breadcrumbs and annotations ---- */

lg_status lg_log_write(lg_session *session, lg_level level, const char *text, size_t size)
{
    return nothing(session);
}

lg_status lg_log(lg_session *session, lg_level level, const char *format, ...)
{
    return nothing(session);
}

lg_status lg_logv(lg_session *session, lg_level level, const char *format, va_list arguments)
{
    return nothing(session);
}

lg_status lg_log_fields(lg_session *session, lg_level level, const char *category, const char *text, size_t size, const lg_field *fields,
                        size_t count)
{
    return nothing(session);
}

lg_status lg_log_slices(lg_session *session, lg_level level, lg_slice category, lg_slice text, const lg_slice *keys_and_values, size_t count)
{
    return nothing(session);
}

lg_status lg_annotate(lg_session *session, const char *key, const char *value)
{
    return nothing(session);
}

lg_status lg_redact(lg_session *session, const char *key)
{
    return nothing(session);
}

/* ---- watches ---- */

lg_status lg_heartbeat(lg_session *session)
{
    return nothing(session);
}

lg_status lg_heartbeat_pause(lg_session *session)
{
    return nothing(session);
}

lg_status lg_deadline_begin(lg_session *session, const char *name, uint32_t milliseconds, uint64_t *ret_deadline)
{
    return nothing(session);
}

lg_status lg_deadline_end(lg_session *session, uint64_t deadline)
{
    return nothing(session);
}

lg_status lg_memory_watch(lg_session *session, uint32_t percent, lg_memory_callback callback, void *user)
{
    return session ? LG_OK : LG_ERR_ARGUMENT;
}

lg_status lg_memory_unwatch(lg_session *session)
{
    return session ? LG_OK : LG_ERR_ARGUMENT;
}

/* ---- other programs, reports, simulated sessions ---- */

lg_status lg_launch_query(const char *state_directory, const char *context, const lg_launch_options *options, lg_launch_info *ret_info)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_launch_reset(const char *state_directory, const char *context)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_reports_untold(lg_session *session, lg_report_visitor visit, void *user)
{
    return nothing(session);
}

lg_status lg_report_told(lg_session *session, uint64_t ordinal)
{
    return nothing(session);
}

lg_status lg_simulate_start(lg_session **ret_session)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_simulate(lg_session *session, lg_end end)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_simulate_pass(lg_session *session, int64_t milliseconds)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

void lg_simulate_close(lg_session *session)
{
}
#endif
