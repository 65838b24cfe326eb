#include "launchguard/annotate.h"

#include "session/session.h"

/* The reason why a call does nothing; else the key. */
static lg_status check_key(const lg_session *session, const char *key, struct lg__annotation_key *ret_key)
{
    if (!session || !key || !lg__annotation_key(key, ret_key))
        return LG_ERR_ARGUMENT;
    return lg__session_check(session);
}

lg_status lg_annotate(lg_session *session, const char *key, const char *value)
{
    struct lg__annotation_key checked;
    lg_status status = check_key(session, key, &checked);
    return status == LG_OK ? lg__annotation_put(&session->host.run.annotations, &checked, value) : status;
}

lg_status lg_redact(lg_session *session, const char *key)
{
    struct lg__annotation_key checked;
    lg_status status = check_key(session, key, &checked);
    return status == LG_OK ? lg__annotation_redact(&session->host.run.annotations, &checked) : status;
}
