/* The account of the last run: read its evidence, apply it, store the outcome. */
#include <string.h>

#include "launch/launch.h"
#include "store/ledger_payload.h"

void lg__account_run_read(const char *directory, const struct lg__ledger_payload *payload, const struct lg__hot *hot, bool replaced, struct lg__last_run *ret_last)
{
    char path[LG__REPORT_PATH_BYTES];
    lg__reports_path(directory, payload->last_ordinal, payload->last_uuid, path);
    lg__evidence_read(path, atomic_load(&hot->crash_ordinal) == payload->last_ordinal, replaced, ret_last);
    uint32_t passed = atomic_load(&hot->passed);
    if (!ret_last->readable && (passed & LG__PASSED_RUN(UINT32_MAX)) == LG__PASSED_RUN(payload->last_ordinal))
        lg__evidence_finished(ret_last, payload, passed);
}

static void account(struct lg__host *host, const struct lg__identity *self)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    struct lg__last_run last;
    /* While the primary lives, no other process becomes primary. So a process of that name that
     * lives is this one, before an exec. */
    if (!lg__clean_end_read(host->ledger.hot, payload, &last))
        lg__account_run_read(host->directory, payload, host->ledger.hot, true, &last);
    uint32_t before = lg__ledger_payload_program(payload->app_version, payload->build_id, payload->build_id_size);
    lg__account_end(payload, &last, before, lg__ledger_payload_program(self->app_version, self->build_id, self->build_id_size));
}

void lg__account_run_last(struct lg__host *host, const struct lg__identity *self)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    if (payload->last_ordinal)
        account(host, self);
    memcpy(payload->app_id, self->app_id, sizeof payload->app_id);
    memcpy(payload->app_version, self->app_version, sizeof payload->app_version);
    memcpy(payload->build_id, self->build_id, sizeof payload->build_id);
    payload->build_id_size = self->build_id_size;
    payload->last_ordinal = self->ordinal;
    memcpy(payload->last_uuid, self->uuid, sizeof payload->last_uuid);
    /* One store for the account and for the new run. After a kill before the store, the next
     * start accounts the same run again; after a later kill, no start does. */
    lg__ledger_store(&host->ledger);
}
