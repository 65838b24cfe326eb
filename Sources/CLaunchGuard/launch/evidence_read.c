/* The last run of a ledger, read from its file. */
#include <string.h>

#include "launch/evidence.h"
#include "read/verdict.h"

static bool read_run(lg_reader *reader, bool replaced, struct lg__last_run *last)
{
    struct lg__case file;
    if (lg__reader_case(reader, replaced, &file) != LG_OK)
        return false;
    last->info = file.run;
    last->verdict = file.verdict;
    for (uint32_t i = 0; i < last->info.context_count; i++)
        if (lg_reader_run_context(reader, i, &last->contexts[last->context_count]) == LG_OK)
            last->context_count++;
    lg_guards_info guards;
    last->is_degraded = lg_reader_guards(reader, &guards) == LG_OK && guards.survived;
    if (file.died && last->verdict.monotonic_ns == file.crash.monotonic_ns) {
        last->has_tid = true;
        last->tid = file.crash.tid;
    }
    if (last->verdict.end == LG_END_CRASH && last->has_tid)
        last->attributed = lg__attribution_of(reader, &file.crash, last->contexts, last->context_count);
    return true;
}

void lg__evidence_read(const char *path, bool crash_marked, bool replaced, struct lg__last_run *ret_last)
{
    lg_reader *reader;
    memset(ret_last, 0, sizeof *ret_last);
    if (lg_reader_open(path, &reader) == LG_OK) {
        ret_last->readable = read_run(reader, replaced, ret_last);
        lg_reader_close(reader);
    }
    if (ret_last->readable)
        return;
    /* Only the ledger still says whether the handler ran. */
    memset(ret_last, 0, sizeof *ret_last);
    ret_last->verdict.end = crash_marked ? LG_END_CRASH : LG_END_UNKNOWN;
    ret_last->verdict.evidence = crash_marked ? LG_EVIDENCE_CRASH_MARK : LG_EVIDENCE_FILE_UNREADABLE;
}
