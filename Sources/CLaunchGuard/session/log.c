#include "launchguard/log.h"

#include "os/os.h"
#include "session/session.h"
#include "store/text.h"

lg_status lg_log_write(lg_session *session, lg_level level, const char *text, size_t size)
{
    if (!session || (!text && size))
        return LG_ERR_ARGUMENT;
    return lg__session_open(session) ? lg__ring_text(&session->host.run.ring, (unsigned)level, text, size) : lg__session_check(session);
}

lg_status lg_logv(lg_session *session, lg_level level, const char *format, va_list arguments)
{
    if (!session || !format)
        return LG_ERR_ARGUMENT;
    if (!lg__session_open(session))
        return lg__session_check(session);
    char text[LG_LOG_TEXT_MAX + 1]; /* one more than fits: so that a longer text is marked as cut */
    size_t size = lg__text_format(text, sizeof text, format, arguments);
    return lg__ring_text(&session->host.run.ring, (unsigned)level, text, size < sizeof text ? size : sizeof text);
}

lg_status lg_log(lg_session *session, lg_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lg_status status = lg_logv(session, level, format, arguments);
    va_end(arguments);
    return status;
}
