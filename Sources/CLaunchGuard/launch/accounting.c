#include <stdio.h>

#include "launch/evidence.h"
#include "launch/launch.h"
#include "os/os.h"

/* What the last run left. */
struct last_run {
    lg_verdict verdict;
    lg_run_info info;
    lg_run_context contexts[LG__CONTEXTS];
    uint32_t context_count;
    bool readable;
};

static void run_path(const struct lg__host *host, uint64_t ordinal, const uint8_t uuid[16], char path[4096 + 96])
{
    char name[LG__RUN_NAME_BYTES];
    lg__run_name(ordinal, uuid, name);
    snprintf(path, 4096 + 96, "%s/runs/%s", host->directory, name);
}

static void read_last_run(const struct lg__host *host, struct last_run *last)
{
    const struct lg__book *book = &host->ledger.book;
    char path[4096 + 96];
    lg_reader *reader;
    memset(last, 0, sizeof *last);
    run_path(host, book->last_ordinal, book->last_uuid, path);
    if (lg_reader_open(path, &reader) == LG_OK) {
        last->readable = lg_reader_run(reader, &last->info) == LG_OK &&
                         lg__evidence_verdict(reader, &last->info, &last->verdict) == LG_OK;
        for (uint32_t i = 0; last->readable && i < last->info.context_count; i++)
            if (lg_reader_run_context(reader, i, &last->contexts[last->context_count]) == LG_OK)
                last->context_count++;
        lg_reader_close(reader);
    }
    if (last->readable)
        return;
    /* The ledger alone still tells whether the handler ran. */
    bool marked = atomic_load(&host->ledger.hot->crash_ordinal) == book->last_ordinal;
    last->verdict.end = marked ? LG_END_CRASH : LG_END_UNKNOWN;
    last->verdict.evidence = marked ? LG_EVIDENCE_CRASH_MARK : LG_EVIDENCE_FILE_UNREADABLE;
}

static const lg_run_context *context_in(const struct last_run *last, const char *name)
{
    for (uint32_t i = 0; i < last->context_count; i++)
        if (strncmp(last->contexts[i].name, name, LG__NAME_BYTES) == 0)
            return &last->contexts[i];
    return NULL;
}

static bool same_program(const struct lg__book *book, const struct lg__identity *self)
{
    return strncmp(book->app_version, self->app_version, LG__NAME_BYTES) == 0 && book->build_id_size == self->build_id_size &&
           memcmp(book->build_id, self->build_id, self->build_id_size) == 0;
}

static void account(struct lg__host *host, const struct lg__identity *self)
{
    struct lg__book *book = &host->ledger.book;
    struct last_run last;
    read_last_run(host, &last);
    struct lg__book_run entry;
    memset(&entry, 0, sizeof entry);
    memcpy(entry.uuid, book->last_uuid, sizeof entry.uuid);
    memcpy(entry.app_version, book->app_version, sizeof entry.app_version);
    entry.ordinal = book->last_ordinal;
    entry.wall_ns = last.info.wall_ns;
    if (last.verdict.monotonic_ns > last.info.monotonic_ns)
        entry.duration_ns = last.verdict.monotonic_ns - last.info.monotonic_ns;

    if (last.verdict.end == LG_END_RUNNING) {
        /* A living primary would not have let this process become one: it is this process, before an exec. */
        last.verdict.end = LG_END_EXIT;
        last.verdict.evidence = LG_EVIDENCE_EXEC;
    }
    bool upgraded = !same_program(book, self);
    for (uint32_t i = 0; i < book->context_count; i++) {
        struct lg__book_context *context = &book->contexts[i];
        const lg_run_context *of_run = context_in(&last, context->name);
        bool finished = of_run && lg__evidence_finished(of_run, last.verdict.monotonic_ns);
        if (of_run && of_run->repaired)
            entry.repaired |= 1u << i;
        if ((context->flags & LG__CONTEXT_LAUNCHING) && !finished)
            entry.launching |= 1u << i;
        if (context->flags & LG__CONTEXT_REPAIRING)
            entry.repairing |= 1u << i;
        if (upgraded)
            lg__decide_reset(context);
        else if (lg__decide_account(context, last.verdict.end, finished, book->last_ordinal))
            entry.counted |= 1u << i;
    }
    /* First match wins: whatever ended the old version's run, it is not held against the new one. */
    if (upgraded) {
        last.verdict.end = LG_END_UPGRADE;
        last.verdict.evidence = LG_EVIDENCE_VERSION_DIFFERS;
    }
    entry.end = last.verdict.end;
    entry.evidence = last.verdict.evidence;
    entry.signal = last.verdict.signal;
    entry.code = last.verdict.code;
    entry.kind = last.verdict.kind;
    entry.monotonic_ns = last.verdict.monotonic_ns;
    lg__ledger_append(book, &entry);
}

void lg__account_last_run(struct lg__host *host, const struct lg__identity *self)
{
    struct lg__book *book = &host->ledger.book;
    if (book->last_ordinal)
        account(host, self);
    memcpy(book->app_id, self->app_id, sizeof book->app_id);
    memcpy(book->app_version, self->app_version, sizeof book->app_version);
    memcpy(book->build_id, self->build_id, sizeof book->build_id);
    book->build_id_size = self->build_id_size;
    book->last_ordinal = self->ordinal;
    memcpy(book->last_uuid, self->uuid, sizeof book->last_uuid);
    /* One store for the account and for the new run: killed before it, the next start does the same again; killed
     * after it, never again. */
    lg__ledger_store(&host->ledger);
}

uint32_t lg__account_reports(const struct lg__host *host, uint32_t context, lg_report reports[LG__TIMELINE],
                             char paths[LG__TIMELINE][4096 + 96], char uuids[LG__TIMELINE][37])
{
    const struct lg__book *book = &host->ledger.book;
    uint32_t count = 0;
    for (uint32_t i = 0; i < book->timeline_count; i++) {
        const struct lg__book_run *run = &book->timeline[i];
        if (!(run->counted & 1u << context) || run->ordinal <= book->contexts[context].reported_ordinal)
            continue;
        run_path(host, run->ordinal, run->uuid, paths[count]);
        lg__run_uuid_text(run->uuid, uuids[count]);
        reports[count] = (lg_report){ .path = paths[count],
                                      .uuid = uuids[count],
                                      .ordinal = run->ordinal,
                                      .end = (lg_end)run->end,
                                      .signal = run->signal };
        count++;
    }
    return count;
}
