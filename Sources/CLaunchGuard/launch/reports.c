/* What a program is told of runs that have ended. */
#include <stdio.h>
#include <string.h>

#include "launch/evidence.h"
#include "launch/launch.h"

void lg__reports_path(const char *directory, uint64_t ordinal, const uint8_t uuid[16], char ret_path[LG__REPORT_PATH_BYTES])
{
    char name[LG__RUN_NAME_BYTES];
    lg__run_name(ordinal, uuid, name);
    snprintf(ret_path, LG__REPORT_PATH_BYTES, "%s/runs/%s", directory, name);
}

static bool is_bad(const struct lg__ledger_run *run)
{
    return lg_end_is_bad((lg_end)run->end) && !lg__evidence_is_no_fault(run->evidence);
}

bool lg__reports_is_untold(const struct lg__ledger_run *run)
{
    return !run->told && is_bad(run);
}

bool lg__reports_tell(struct lg__host *host, uint64_t ordinal)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    for (uint32_t i = 0; i < payload->timeline_count; i++)
        if (payload->timeline[i].ordinal == ordinal) {
            payload->timeline[i].told = 1;
            return true;
        }
    return false;
}

void lg__reports_copy(const struct lg__host *host, struct lg__reports *ret_reports)
{
    const struct lg__ledger_payload *payload = &host->ledger.payload;
    ret_reports->directory = host->directory;
    ret_reports->count = payload->timeline_count;
    memcpy(ret_reports->runs, payload->timeline, sizeof ret_reports->runs);
}

bool lg__reports_last(const struct lg__reports *reports, uint32_t *ret_index)
{
    for (*ret_index = reports->count; (*ret_index)-- > 0;)
        if (is_bad(&reports->runs[*ret_index]))
            return true;
    return false;
}

/* The ledger knows ends that the file alone does not show. `ret_place` may be NULL. */
static void read_file(const struct lg__ledger_run *run, const char *path, char ret_fingerprint[33], char ret_place[LG_PLACE_BYTES])
{
    const lg_verdict end = { .end = (lg_end)run->end, .evidence = (lg_evidence)run->evidence, .signal = run->signal, .code = run->code,
                             .kind = (lg_crash_kind)run->kind, .monotonic_ns = run->monotonic_ns };
    lg_reader *reader;
    ret_fingerprint[0] = 0;
    if (lg_reader_open(path, &reader) != LG_OK)
        return;
    if (lg_reader_fingerprint_of(reader, &end, ret_fingerprint) != LG_OK)
        ret_fingerprint[0] = 0;
    if (ret_place && lg_reader_place(reader, ret_place) != LG_OK)
        ret_place[0] = 0;
    lg_reader_close(reader);
}

static bool is_same_as_before(const struct lg__reports *reports, uint32_t index, const char *fingerprint)
{
    struct lg__reports before = *reports;
    char path[LG__REPORT_PATH_BYTES], other[33];
    before.count = index;
    if (!fingerprint[0] || !lg__reports_last(&before, &index))
        return false;
    lg__reports_path(before.directory, before.runs[index].ordinal, before.runs[index].uuid, path);
    read_file(&before.runs[index], path, other, NULL);
    return strcmp(fingerprint, other) == 0;
}

lg_report lg__reports_make(const struct lg__reports *reports, uint32_t index, uint32_t contexts, struct lg__report_names *ret_names)
{
    const struct lg__ledger_run *run = &reports->runs[index];
    lg__reports_path(reports->directory, run->ordinal, run->uuid, ret_names->path);
    lg__run_uuid_text(run->uuid, ret_names->uuid);
    lg_report report = { .size = sizeof(lg_report),
                         .path = ret_names->path,
                         .uuid = ret_names->uuid,
                         .ordinal = run->ordinal,
                         .end = (lg_end)run->end,
                         .signal = run->signal,
                         .in_launch = (run->launching & contexts) != 0,
                         .kind = (lg_crash_kind)run->kind };
    read_file(run, ret_names->path, report.fingerprint, report.place);
    report.same_as_before = is_same_as_before(reports, index, report.fingerprint);
    return report;
}
