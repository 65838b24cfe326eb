/* Makes ledgers by hand, in states that many runs would lead to:
 *
 * ledgers DIR story|safe|halted|full|empty    DIR/ledger.lg; prints its path
 *
 * - story: two contexts, one after a repair that helped, with every kind of event in its timeline;
 *   every field has a value of its own
 * - safe: safe mode on the way to its trial; a trial; probation; shadow
 * - halted: safe mode that crashed too, with no rung left; a repair that is due
 * - full: as many contexts, rungs, suspects and runs as possible, with names of the greatest length
 * - empty: no context, no run */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "launchguard/reader.h"
#include "launchguard/repair.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/hint.h"
#include "store/ledger.h"
#include "store/problem.h"

#define DAY UINT64_C(86400000000000)
#define NEW_YEAR UINT64_C(1767225600000000000) /* 2026-01-01 00:00:00 UTC */

static struct lg__ledger ledger;

static struct lg__ledger_context *add_context(const char *name, uint32_t mode)
{
    struct lg__ledger_context *context = lg__ledger_find_context(&ledger.payload, name);
    context->phase = LG_PHASE_FINISHED;
    context->mode = mode;
    context->report_after = 1;
    context->repair_after = 2;
    context->unknown_after = 4;
    context->count = LG_COUNT_DEFAULT;
    context->safe_retry_runs = context->retry_runs = 2;
    context->safe_retry_max = 64;
    context->safe_crash_limit = 2;
    context->deescalate_runs = 3;
    context->deescalate_ms = 86400000;
    context->steady_ms = 60000;
    return context;
}

static void add_rung(struct lg__ledger_context *context, const char *name, uint32_t impact, uint32_t attempts, uint32_t flags, uint64_t series)
{
    struct lg__ledger_rung *rung = &context->rungs[context->rung_count++];
    snprintf(rung->name, sizeof rung->name, "%s", name);
    rung->impact = impact;
    rung->attempts = attempts;
    rung->timeout_ms = 30000;
    rung->flags = flags;
    rung->series_wall_ns = series;
}

static void add_ladder(struct lg__ledger_context *context)
{
    add_rung(context, "leave out the suspect task", 0, 1, LG__RUNG_BUILT_IN, NEW_YEAR);
    add_rung(context, "clear-cache", 10, 2, 0, NEW_YEAR + DAY / 2);
    add_rung(context, "reset-settings", 50, 3, LG_REPAIR_CONSENT | LG_REPAIR_NEEDS_RESTART, NEW_YEAR + DAY);
    add_rung(context, "delete-database", 90, 1, LG_REPAIR_DESTRUCTIVE | LG_REPAIR_CONSENT, NEW_YEAR + 2 * DAY);
}

static void add_suspect(struct lg__ledger_context *context, const char *key, uint32_t crashes, uint32_t left_out)
{
    struct lg__ledger_suspect *suspect = &context->suspects[context->suspect_count++];
    snprintf(suspect->key, sizeof suspect->key, "%s", key);
    suspect->crashes = crashes;
    suspect->left_out = left_out;
}

static struct lg__ledger_run *add_run(uint32_t end, uint32_t evidence, uint32_t launching, uint32_t counted, uint32_t first, uint32_t second)
{
    struct lg__ledger_payload *book = &ledger.payload;
    uint64_t number = book->last_ordinal + 1;
    struct lg__ledger_run run = {
        .uuid = { (uint8_t)number }, .ordinal = number, .wall_ns = NEW_YEAR + number * DAY / 8, .duration_ns = number * 1234567890u,
        .end = end, .evidence = evidence, .launching = launching, .counted = counted, .monotonic_ns = number * 10000000000u,
        .events = { first, second }
    };
    snprintf(run.app_version, sizeof run.app_version, "%s", number < 9 ? "1.0" : "1.1");
    if (end == LG_END_CRASH)
        run.signal = SIGSEGV, run.code = 1, run.kind = LG_CRASH_NULL_WRITE;
    if (book->timeline_count == LG__TIMELINE)
        memmove(book->timeline, book->timeline + 1, --book->timeline_count * sizeof run);
    book->timeline[book->timeline_count] = run;
    book->last_ordinal = number;
    return &book->timeline[book->timeline_count++];
}

static void make_story(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_NORMAL);
    context->flags = LG__CONTEXT_SKIPPABLE;
    context->streak = 1, context->unknown = 2, context->reported = 3, context->report_strikes = 4;
    context->rung = 2, context->attempts = 1, context->interruptions = 5;
    context->skips = 6, context->held_deaths = 7, context->good_runs = 8, context->safe_crashes = 9, context->retry_runs = 10;
    context->quiet = 11;
    context->events = LG_EVENT_HELD | LG_EVENT_REPAIRED;
    context->launches = 15, context->crashes = 12, context->repairs = 13;
    context->first_ordinal = 14, context->reported_ordinal = 14;
    context->repair_boottime_ns = 18;
    context->ends = 17, context->quits = 19, context->unsteady = 1, context->stops = 21;
    memset(context->repair_boot_id, 0xb1, 16);
    snprintf(context->last_task, sizeof context->last_task, "open-documents");
    add_ladder(context);
    add_suspect(context, "open-documents", 2, 1);
    add_suspect(context, "check \x1b[31m for updates", 1, 0);
    add_context("sync", LG_LAUNCH_MODE_PROBATION)->launches = 15;

    add_run(LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, 0, 0);
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 1, 0, 0)->attributed = 1;
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 3, 3, LG_EVENT_REPORTED, 0);
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 1, LG_EVENT_REPORTED | LG_EVENT_HELD | LG_EVENT_REPAIR_FAILED | LG_EVENT_LEFT_OUT, 0)->repairing = 1;
    add_run(LG_END_CLEAN, LG_EVIDENCE_STOP_MARK, 0, 0, LG_EVENT_HELD | LG_EVENT_REPAIRED, 0);
    add_run(LG_END_HANG, LG_EVIDENCE_HANG_MARK, 1, 1, LG_EVENT_PROTECTED | LG_EVENT_HELD | LG_EVENT_EXPIRED | LG_EVENT_SAFE, 0);
    add_run(LG_END_OOM, LG_EVIDENCE_OOM_COUNTER, 1, 1, LG_EVENT_SAFE, 0);
    add_run(LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, LG_EVENT_SAFE | LG_EVENT_HALTED, 0);
    add_run(LG_END_DEBUGGER, LG_EVIDENCE_TRACER, 0, 0, 0, 0)->duration_ns = 0;
    add_run(LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, 2, 2, LG_EVENT_TRIAL, LG_EVENT_THROTTLED | LG_EVENT_REFUSED);
    add_run(LG_END_TERMINATED, LG_EVIDENCE_RESTART_ANNOUNCED, 0, 0, LG_EVENT_RESTART | LG_EVENT_REPAIRED | LG_EVENT_HELD, LG_EVENT_SKIPPED | LG_EVENT_HELD)->signal = SIGTERM;
    add_run(LG_END_KILLED, LG_EVIDENCE_WITNESS, 1, 0, 0, 0)->signal = SIGKILL;
    /* a value that only a later version may write */
    add_run(77, 78, 0, 0, 0x80000000u, 0)->code = -5;
    add_run(LG_END_EXIT, LG_EVIDENCE_EXIT_MARK, 3, 0, 0, 0)->code = 3;
}

static void make_safe(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_SAFE);
    context->good_runs = 1, context->retry_runs = 4, context->safe_crashes = 1, context->launches = 9, context->crashes = 5, context->repairs = 2;
    add_ladder(context);
    context = add_context("second", LG_LAUNCH_MODE_TRIAL);
    context->streak = context->reported = 1, context->rung = context->rung_count;
    context = add_context("third", LG_LAUNCH_MODE_PROBATION);
    add_ladder(context);
    context->rung = 1;
    context = add_context("fourth", LG_LAUNCH_MODE_NORMAL);
    context->flags = LG__CONTEXT_SHADOW;
    context->phase = LG_PHASE_LAUNCHING;
    add_run(LG_END_CLEAN, LG_EVIDENCE_STOP_MARK, 0, 0, LG_EVENT_SAFE, LG_EVENT_TRIAL);
}

static void make_halted(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_SAFE);
    context->phase = LG_PHASE_NONE;
    context->safe_crashes = 2, context->streak = 6, context->reported = 6;
    add_ladder(context);
    for (uint32_t i = 0; i < context->rung_count; i++)
        context->rungs[i].fate = i % 2 ? LG__RUNG_REFUSED : LG__RUNG_TRIED;
    context = add_context("second", LG_LAUNCH_MODE_NORMAL);
    context->phase = LG_PHASE_HELD;
    context->flags = LG__CONTEXT_DUE;
    context->streak = 2, context->rung = 3, context->attempts = 0;
    add_ladder(context);
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 3, 3, LG_EVENT_SAFE, 0);
}

static void make_full(void)
{
    char name[LG__NAME_BYTES];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < LG__CONTEXTS; i++) {
        name[0] = (char)('a' + i);
        struct lg__ledger_context *context = add_context(name, (uint32_t)i % 4);
        context->streak = context->launches = UINT32_MAX;
        memcpy(context->last_task, name, sizeof name);
        for (int rung = 0; rung < LG__RUNGS; rung++)
            add_rung(context, name, 100, 100, UINT32_MAX, UINT64_MAX);
        for (int suspect = 0; suspect < LG__SUSPECTS; suspect++)
            add_suspect(context, name, UINT32_MAX, 2);
        context->rung = LG__RUNGS;
    }
    memcpy(ledger.payload.app_id, name, sizeof name);
    memcpy(ledger.payload.app_version, name, sizeof name);
    ledger.payload.build_id_size = LG__BUILD_ID_BYTES;
    for (int i = 0; i < LG__TIMELINE + 3; i++) {
        struct lg__ledger_run *run = add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
        run->wall_ns = run->duration_ns = UINT64_MAX;
        memcpy(run->app_version, name, sizeof name);
    }
}

static void make_faults(void)
{
    struct lg__hot_faults *faults = &ledger.hot->faults;
    faults->wall_ns = 1700000000000000001;
    faults->program = 0x01020304;
    faults->count = 300;
    faults->left = 63;
}

/* Data after the hot page that starts keep for one another, and that no reader shows. */
static void make_machine(void)
{
    static const struct lg__machine machine = { { 1, 2, 3 }, "Kiosk 4", "debian", "12" };
    struct lg__found_machine *found = ledger.machine;
    memset(found->boot_id, 0xb0, sizeof found->boot_id);
    found->release_inode = 4711;
    found->release_changed_ns = 1700000000000000001;
    found->machine = machine;
    found->crc = lg__crc32c(0, found->boot_id, sizeof *found - offsetof(struct lg__found_machine, boot_id));
}

static void make_upgraded(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_NORMAL);
    context->phase = LG_PHASE_HELD;
    context->flags = LG__CONTEXT_DUE | LG__CONTEXT_TOLD;
    context->unknown = 4;
    add_ladder(context);
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 0, LG_EVENT_REPORTED | LG_EVENT_UPGRADED, 0);
    add_run(LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, 1, 1, LG_EVENT_REPORTED | LG_EVENT_HELD, 0);
}

static void make_late(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_NORMAL);
    context->phase = LG_PHASE_LAUNCHING;
    context->flags = LG__CONTEXT_ASKING | LG__CONTEXT_LATE;
    context->decide_strikes = 1;
    context->window_ms = 70;
    context->finish = LG_FINISH_BOTH;
    add_ladder(context);
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 1, LG_EVENT_DECIDED | LG_EVENT_HELD, 0)->told = 1;
    snprintf(ledger.payload.timeline[0].reason, LG__REASON_BYTES, "settings.db: no space");
    snprintf(context->reason, sizeof context->reason, "settings.db: locked");
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 0, 0, LG_EVENT_REPORTED, 0)->late = 1;
}

static void make_omitted(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_NORMAL);
    context->phase = LG_PHASE_FINISHED;
    context->events = LG_EVENT_OMITTED;
    add_ladder(context);
    add_suspect(context, "check for updates", 1, 1);
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 1, 0, 0);
    add_run(LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, LG_EVENT_REPORTED | LG_EVENT_OMITTED, 0);
}

static void make_hint(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_NORMAL);
    context->phase = LG_PHASE_HELD;
    context->flags = LG__CONTEXT_HINT_HOLD;
    context->hint_serial = 7;
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 1, LG_EVENT_HINT_LEAVE_OUT | LG_EVENT_HINT_REPAIR, 0);
    add_run(LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, LG_EVENT_HINT_SAFE_MODE | LG_EVENT_HINT_HOLD_BELOW, 0);
    struct lg__hint *hint = (struct lg__hint *)(void *)(ledger.machine + 1);
    hint->expires_on_ns = 1000000000;
    memset(hint->key, 0xc0, sizeof hint->key);
    hint->said = (lg_hint){ 8, LG_HINT_HOLD_BELOW, NEW_YEAR, "main", "2.4" };
    hint->crc = lg__hint_crc(hint);
}

static void make_degraded(void)
{
    struct lg__ledger_context *context = add_context("main", LG_LAUNCH_MODE_NORMAL);
    context->phase = LG_PHASE_FINISHED;
    add_run(LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, 0, 0)->degraded = 1;
    add_run(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, 1, 1, 0, 0)->degraded = 1;
    add_run(LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, 0, 0)->degraded = 2; /* says nothing */
    struct lg__hot_end *end = &ledger.hot->clean_end;
    end->wall_ns = NEW_YEAR;
    end->begun_ns = 1000000000;
    end->ended_ns = 2000000000;
    end->finished = LG__END_DEGRADED | 1;
}

int main(int count, char **arguments)
{
    static const struct { const char *name; void (*make)(void); } states[] = {
        { "story", make_story }, { "safe", make_safe }, { "halted", make_halted }, { "full", make_full }, { "faults", make_faults },
        { "upgraded", make_upgraded }, { "late", make_late }, { "omitted", make_omitted }, { "machine", make_machine }, { "hint", make_hint },
        { "degraded", make_degraded }, { "empty", NULL },
    };
    char path[4096];
    uint8_t boot_id[16] = { 0 };
    struct lg__problem problem = { 0 };
    if (count != 3)
        return 2;
    snprintf(path, sizeof path, "%s/ledger.lg", arguments[1]);
    lg__crc32c_init();
    int directory = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || lg__ledger_open(directory, path, "org.example.ledgers", 0, boot_id, &ledger, &problem) != LG_OK) {
        fprintf(stderr, "ledgers: %s: %s\n", path, problem.message);
        return 1;
    }
    snprintf(ledger.payload.app_id, sizeof ledger.payload.app_id, "org.example.ledgers");
    snprintf(ledger.payload.app_version, sizeof ledger.payload.app_version, "1.1");
    ledger.payload.build_id_size = 4;
    memcpy(ledger.payload.build_id, (const uint8_t[]){ 1, 2, 3, 4 }, 4);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(arguments[2], states[i].name) != 0)
            continue;
        if (states[i].make)
            states[i].make();
        atomic_store(&ledger.hot->next_ordinal, ledger.payload.last_ordinal + 1);
        lg__ledger_store(&ledger); /* into both slots */
        lg__ledger_store(&ledger);
        printf("%s\n", path);
        return 0;
    }
    return 2;
}
