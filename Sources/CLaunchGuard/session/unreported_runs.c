/* The runs that the program has not learned of, for a program that asks by itself. */
#include "launchguard/query.h"
#include "session/session.h"

lg_status lg_reports_untold(lg_session *session, lg_report_visitor visit, void *user)
{
    lg_status status = visit ? lg__take_over_check(session) : LG_ERR_ARGUMENT;
    if (status != LG_OK)
        return status;
    struct lg__report_names names;
    struct lg__reports reports;
    struct lg__host *host = &session->host;
    pthread_mutex_lock(&host->lock);
    lg__reports_copy(host, &reports);
    pthread_mutex_unlock(&host->lock);
    for (uint32_t i = 0; i < reports.count; i++) {
        if (!lg__reports_is_untold(&reports.runs[i]))
            continue;
        lg_report report = lg__reports_make(&reports, i, UINT32_MAX, &names);
        visit(&report, user);
    }
    return LG_OK;
}

lg_status lg_report_told(lg_session *session, uint64_t ordinal)
{
    lg_status status = lg__take_over_check(session);
    if (status != LG_OK)
        return status;
    struct lg__host *host = &session->host;
    pthread_mutex_lock(&host->lock);
    bool found = lg__reports_tell(host, ordinal);
    if (found)
        lg__ledger_store(&host->ledger);
    pthread_mutex_unlock(&host->lock);
    return found ? LG_OK : LG_ERR_NOT_FOUND;
}
