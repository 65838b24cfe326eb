/* The runs that the program has not learned of, for a program that asks by itself. */
#include <stdlib.h>
#include <string.h>

#include "launchguard/query.h"
#include "session/session.h"

lg_status lg_reports_untold(lg_session *session, lg_report_visitor visit, void *user)
{
    lg_status status = visit ? lg__take_over_check(session) : LG_ERR_ARGUMENT;
    if (status != LG_OK)
        return status;
    struct untold {
        struct lg__ledger_run runs[LG__TIMELINE];
        char path[4096 + 96], uuid[37];
    } *untold = malloc(sizeof *untold);
    if (!untold)
        return LG_ERR_SYSTEM;
    struct lg__host *host = &session->host;
    uint32_t count = 0;
    pthread_mutex_lock(&host->lock);
    const struct lg__ledger_payload *payload = &host->ledger.payload;
    for (uint32_t i = 0; i < payload->timeline_count; i++)
        if (lg__account_is_untold(&payload->timeline[i]))
            untold->runs[count++] = payload->timeline[i];
    pthread_mutex_unlock(&host->lock);
    for (uint32_t i = 0; i < count; i++) {
        lg_report report = lg__account_report(host, &untold->runs[i], UINT32_MAX, untold->path, untold->uuid);
        visit(&report, user);
    }
    free(untold);
    return LG_OK;
}

lg_status lg_report_told(lg_session *session, uint64_t ordinal)
{
    lg_status status = lg__take_over_check(session);
    if (status != LG_OK)
        return status;
    struct lg__host *host = &session->host;
    pthread_mutex_lock(&host->lock);
    bool found = lg__account_tell(host, ordinal);
    if (found)
        lg__ledger_store(&host->ledger);
    pthread_mutex_unlock(&host->lock);
    return found ? LG_OK : LG_ERR_NOT_FOUND;
}
