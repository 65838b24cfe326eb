/* The contents of a ledger. */
#include "report/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/repair.h"
#include "report/items.h"
#include "report/values.h"

/* A context, and where it stands in the ledger. */
struct context {
    lg_launch_info info;
    uint32_t index;
};

/* Contexts are named in the timeline by their numbers. */
struct entry {
    lg_timeline_entry entry;
    char (*names)[64];
    uint32_t name_count;
};

/* ---- rungs and suspects ---- */

#define OF lg_ledger_rung

#define RUNG_FLAG(name, flag)                                                                \
    static void name(struct lg__report *report, const void *of)                              \
    {                                                                                        \
        lg__json_bool(&report->json, ((const lg_ledger_rung *)of)->flags & (flag));          \
    }
RUNG_FLAG(is_destructive, LG_REPAIR_DESTRUCTIVE)
RUNG_FLAG(needs_consent, LG_REPAIR_CONSENT)
RUNG_FLAG(needs_restart, LG_REPAIR_NEEDS_RESTART)

static const char *const fates[] = { [1] = "did-not-help", "refused", "failed" };
const struct lg__names lg__names_fate = { "ledger-rung-fate", LG__SENTENCE("What became of a rung."), fates, sizeof fates / sizeof fates[0], "did-not-help" };

static const struct lg__field rung_fields[] = {
    FIELD(TEXT, "name", name, "", "Its name."),
    FIELD(NUMBER, "impact", impact, "", "The disruption that the repair causes, 0 to 100."),
    FIELD(NUMBER, "attempts", attempts, "", "Attempts allowed in a series."),
    FIELD(NUMBER_IF, "timeoutMilliseconds", timeout_ms, "ms", "Time for one attempt; left out: it needs none."),
    FIELD(BOOL, "isBuiltIn", built_in, "", "Whether it is the one that leaves out a suspect task."),
    VALUE("isDestructive", is_destructive, "boolean", "", "Whether it loses something: a new series begins at most once a day."),
    VALUE("needsConsent", needs_consent, "boolean", "", "Whether it waits for consent."),
    VALUE("needsRestart", needs_restart, "boolean", "", "Whether the program has to be started again after it."),
    FIELD(TIME_IF, "lastSeries", series_wall_ns, "", "When the last attempt began; left out: never."),
    NAMED_IF("fate", fate, &lg__names_fate, "What became of it since the last good launch with every task; left out: not tried."),
    LAST,
};
const struct lg__shape lg__shape_rung = { "ledger-rung", LG__SENTENCE("One rung of a ladder."), rung_fields };

#undef OF
#define OF lg_ledger_suspect

static const struct lg__field suspect_fields[] = {
    FIELD(TEXT, "key", key, "", "Key of the task."),
    FIELD(NUMBER, "crashes", crashes, "", "Crashes that came in it."),
    FIELD(BOOL, "isLeftOut", left_out, "", "Whether the last launch left it out."),
    LAST,
};
const struct lg__shape lg__shape_suspect = { "ledger-suspect", LG__SENTENCE("A task that crashes came in."), suspect_fields };

#undef OF

/* ---- contexts ---- */

static void status_name(struct lg__report *report, const void *of)
{
    lg__json_string(&report->json, lg_launch_status_name(((const struct context *)of)->info.status));
}

static void mode_name(struct lg__report *report, const void *of)
{
    lg__json_string(&report->json, lg_launch_mode_name(((const struct context *)of)->info.mode));
}

static lg_status read_rung(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    return lg_reader_ledger_rung(report->reader, ((const struct context *)of)->index, index, ret_item);
}

static lg_status read_suspect(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    return lg_reader_ledger_suspect(report->reader, ((const struct context *)of)->index, index, ret_item);
}

static void ladder(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_rung, "ladder", true, read_rung };
    lg_ledger_rung rung;
    lg__items_write(report, &items, of, 64, &rung);
}

static void suspects(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_suspect, "suspects", true, read_suspect };
    lg_ledger_suspect suspect;
    lg__items_write(report, &items, of, 64, &suspect);
}

static void finish(struct lg__report *report, const void *of)
{
    const lg_finish finish = ((const struct context *)of)->info.finish;
    const char *name = finish == LG_FINISH_MARK ? "mark" : finish == LG_FINISH_TIME ? "time" : finish == LG_FINISH_BOTH ? "both" : NULL;
    if (name)
        lg__json_string(&report->json, name);
}

#define OF struct context

static const struct lg__field context_fields[] = {
    FIELD(TEXT, "name", info.name, "", "Name of the context."),
    VALUE("status", status_name, "string", "",
          "Status of the launch under way, or of the one in the last run: normal, checking, needs-repair or repairing."),
    VALUE("mode", mode_name, "string", "", "The kind of the next launch: normal, probation, safe or trial."),
    FIELD(BOOL, "isHalted", info.halted, "", "Whether safe mode crashed too: the launch waits, or makes one more try."),
    FIELD(BOOL, "isDue", info.due, "", "Whether a repair is needed whatever the streak."),
    FIELD(BOOL, "isShadow", info.shadow, "", "Whether the last launch only decided, and did nothing."),
    FIELD(NUMBER, "streak", info.streak, "", "Consecutive launch crashes."),
    FIELD(NUMBER, "unknown", info.unknown, "", "Unexplained early deaths since the last finished launch."),
    FIELD(NUMBER, "reported", info.reported, "", "The number of ends at the last report."),
    FIELD(NUMBER, "reportAfter", info.report_after, "", "Threshold of the last launch; 0: never."),
    FIELD(NUMBER, "repairAfter", info.repair_after, "", "Threshold of the last launch; 0: never."),
    FIELD(NUMBER, "unknownAfter", info.unknown_after, "", "Threshold of the last launch; 0: never."),
    FIELD(NUMBER, "safeCrashLimit", info.safe_crash_limit, "", "Threshold of the last launch; 0: never."),
    FIELD(NUMBER, "rung", info.rung, "",
          "The next rung, an index of the ladder, or their number when none is left. In safe mode and in a trial no repair is tried, and "
          "the rung is 0."),
    FIELD(NUMBER, "attempts", info.attempts, "", "Attempts that were used on that rung."),
    FIELD(NUMBER, "interruptions", info.interruptions, "", "Number of these that the user or the machine ended."),
    FIELD(NUMBER, "skips", info.skips, "", "The number of times that the repair was put off."),
    FIELD(NUMBER, "goodRuns", info.good_runs, "", "Finished launches of this time in safe mode."),
    FIELD(NUMBER_IF, "retryRuns", info.retry_runs, "",
          "How many of them it takes until the normal launch is tried again; left out: not yet known."),
    FIELD(NUMBER, "safeCrashes", info.safe_crashes, "", "Crashes in safe mode in a row."),
    FIELD(TEXT_IF, "lastTask", info.last_task, "", "Key of the task that the last end came in which counted, was unexplained or was a stop."),
    VALUE("ladder", ladder, "[ledger-rung]", "", "Rung 0, the least disruptive, first."),
    VALUE("suspects", suspects, "[ledger-suspect]", "", "Tasks that crashes came in."),
    FIELD(NUMBER, "launches", info.launches, "", "Since the ledger was made."),
    FIELD(NUMBER, "crashes", info.crashes, "", "Since the ledger was made."),
    FIELD(NUMBER, "repairs", info.repairs, "", "Since the ledger was made."),
    FIELD(NUMBER_IF, "windowMilliseconds", info.window_ms, "ms",
          "The window of the last launch; left out: only the mark finishes it, or not known."),
    FIELD(NUMBER_IF, "ends", info.ends, "", "Counted ends since the last good launch, whatever was repaired; left out: none."),
    FIELD(NUMBER_IF, "quits", info.quits, "", "Clean ends of launches under way, in a row: three are a good launch; left out: none."),
    FIELD(NUMBER_IF, "unsteady", info.unsteady, "", "Counted ends soon after a finished launch, in a row; left out: none."),
    FIELD(NUMBER_IF, "stops", info.stops, "", "Times in a row that the program was terminated in lastTask; from the third on they count; left out: none."),
    MAY_BE("finish", finish, "string", "", "What finishes the launch: mark, time or both; left out: mark or window."),
    LAST,
};
const struct lg__shape lg__shape_ledger_context = { "ledger-context", LG__SENTENCE("One context: its counters, its mode, and its place on the ladder."),
                                                    context_fields };

#undef OF

/* ---- the timeline ---- */

static void context_name(struct lg__report *report, const struct entry *entry, unsigned index)
{
    char text[24];
    snprintf(text, sizeof text, "context %u", index);
    lg__json_string(&report->json, index < entry->name_count ? entry->names[index] : text);
}

/* The contexts of these bits. */
static void names(struct lg__report *report, const struct entry *entry, uint32_t bits, bool is_always)
{
    struct lg__json_list list = lg__json_list(&report->json);
    if (is_always)
        lg__json_list_begin(&report->json, &list);
    for (unsigned i = 0; i < 32; i++)
        if (bits >> i & 1) {
            lg__json_item(&report->json, &list);
            context_name(report, entry, i);
        }
    lg__json_list_end(&report->json, &list);
}

#define NAMES(name, always)                                                                \
    static void name(struct lg__report *report, const void *of)                            \
    {                                                                                      \
        names(report, of, ((const struct entry *)of)->entry.name, always);                 \
    }
NAMES(launching, true)
NAMES(repairing, true)
NAMES(counted, true)
NAMES(attributed, true)
NAMES(late, false)

static void verdict(struct lg__report *report, const void *of)
{
    lg__table_object(report, &lg__shape_verdict, &((const struct entry *)of)->entry.verdict);
}

static const char *const event_names[] = {
    "reported", "held", "repaired", "repair-failed", "throttled", "refused", "skipped", "expired", "protected", "left-out", "safe", "trial",
    "halted", "restart", "upgraded", "omitted", "decided", "hint-leave-out", "hint-repair", "hint-safe-mode", "hint-hold-below",
};
const struct lg__names lg__names_event = { "launch-event", LG__SENTENCE("What happened in a launch beside its end; one of a later version is a bit in hexadecimal digits."), event_names, sizeof event_names / sizeof event_names[0], NULL };

struct events {
    const struct entry *entry;
    unsigned index; /* of the context */
};

static void events_context(struct lg__report *report, const void *of)
{
    const struct events *events = of;
    context_name(report, events->entry, events->index);
}

static void events_list(struct lg__report *report, const void *of)
{
    const struct events *of_context = of;
    const uint32_t bits = of_context->entry->entry.events[of_context->index];
    struct lg__json_list list = lg__json_list(&report->json);
    for (unsigned i = 0; i < 32; i++) {
        char text[16];
        if (!(bits >> i & 1))
            continue;
        snprintf(text, sizeof text, "0x%x", 1u << i);
        lg__json_item(&report->json, &list);
        lg__json_string(&report->json, i < lg__names_event.count ? event_names[i] : text);
    }
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field events_fields[] = {
    VALUE("context", events_context, "string", "", "Name of the context."),
    VALUE("events", events_list, "[launch-event]", "", "What happened beside the end; one of a later version is a bit in hexadecimal digits."),
    LAST,
};
const struct lg__shape lg__shape_events = { "timeline-entry-context-events", LG__SENTENCE("The events of the launch of one context."), events_fields };

static void entry_events(struct lg__report *report, const void *of)
{
    struct events events = { .entry = of };
    struct lg__json_list list = lg__json_list(&report->json);
    lg__json_list_begin(&report->json, &list);
    for (; events.index < 16; events.index++) {
        if (!events.entry->entry.events[events.index])
            continue;
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_events, &events);
    }
    lg__json_list_end(&report->json, &list);
}

#define OF struct entry

static const struct lg__field entry_fields[] = {
    FIELD(TEXT, "uuid", entry.uuid, "", "Identity of the run."),
    FIELD(NUMBER, "ordinal", entry.ordinal, "", "Its number in the state directory."),
    FIELD(TEXT_IF, "appVersion", entry.app_version, "", "Version of the program."),
    FIELD(TIME_IF, "started", entry.wall_ns, "", "When it started."),
    FIELD(NUMBER_IF, "durationNanoseconds", entry.duration_ns, "ns", "How long it lived; left out: not known."),
    VALUE("verdict", verdict, "verdict", "", "How it ended."),
    VALUE("launching", launching, "[string]", "", "Contexts that were launching and not finished."),
    VALUE("repairing", repairing, "[string]", "", "Contexts that were under repair."),
    VALUE("counted", counted, "[string]", "", "Contexts against which it counted."),
    VALUE("attributed", attributed, "[string]", "",
          "Contexts in whose module or task the crash was; empty: of no particular context."),
    MAY_BE("late", late, "[string]", "", "Contexts of which no launch was under way, and against which it would have counted in one."),
    FIELD(TRUE_IF, "isTold", entry.told, "", "True: the program has learned of the run."),
    FIELD(TEXT_IF, "repairFailure", entry.reason, "", "Beginning of the words with which a repair failed last."),
    VALUE("events", entry_events, "[timeline-entry-context-events]", "",
          "The events of the launches beside their end; contexts without any are left out."),
    FIELD(TRUE_IF, "isDegraded", entry.degraded, "", "True: guards survived faults in the run, which counts for nothing."),
    ADDED("finished", "[string]", "Contexts whose launch was finished, by the file of the run; left out: the file is not there."),
    LAST,
};
const struct lg__shape lg__shape_entry = { "timeline-entry", LG__SENTENCE("One ended run in the timeline."), entry_fields };

#undef OF

/* ---- the ledger ---- */

struct ledger {
    lg_ledger_info info; /* all zero where it cannot be read */
    bool is_readable;
    char (*names)[64]; /* of the contexts, for the timeline; NULL: there is no memory */
};

#define OF struct ledger

static void last_fault(struct lg__report *report, const void *of)
{
    lg__values_time(report, ((const struct ledger *)of)->info.start_fault_wall_ns);
}

static const struct lg__field fault_fields[] = {
    FIELD(NUMBER, "count", info.start_faults, "", "In a row."),
    VALUE("last", last_fault, "time", "", "The last one."),
    FIELD(NUMBER, "startsLeft", info.starts_left, "",
          "Starts that protect nothing before LaunchGuard tries again; a day after the last fault, or with a new program version, it tries "
          "at once."),
    LAST,
};
const struct lg__shape lg__shape_start_faults = {
    "start-faults", LG__SENTENCE("Faults inside LaunchGuard's own start. After two in a row some starts protect nothing."), fault_fields
};

static const char *const hint_kinds[] = { "withdrawn", "leave-out", "repair", "safe-mode", "hold-below" };
const struct lg__names lg__names_hint_kind = { "hint-kind", LG__SENTENCE("What a hint of the vendor asks for."), hint_kinds, sizeof hint_kinds / sizeof hint_kinds[0], NULL };

static void hint_expires(struct lg__report *report, const void *of)
{
    lg__values_time(report, ((const struct ledger *)of)->info.hint.expires_ns);
}

static const struct lg__field hint_fields[] = {
    FIELD(NUMBER, "serial", info.hint.serial, "", "Grows with each hint."),
    NAMED("kind", info.hint.kind, &lg__names_hint_kind, "What it asks for."),
    FIELD(TEXT, "context", info.hint.context, "", "The launch that it is for."),
    FIELD(TEXT_IF, "name", info.hint.name, "", "The task, the repair or the version."),
    VALUE("expires", hint_expires, "time", "", "It has no effect from then on."),
    LAST,
};
const struct lg__shape lg__shape_hint = { "hint", LG__SENTENCE("The last hint of the vendor, in force or not."), hint_fields };

static void hint(struct lg__report *report, const void *of)
{
    if (((const struct ledger *)of)->info.hint.serial)
        lg__table_object(report, &lg__shape_hint, of);
}

static void generation(struct lg__report *report, const void *of)
{
    const struct ledger *ledger = of;
    if (ledger->is_readable)
        lg__values_number(report, ledger->info.generation);
}

static void last_ordinal(struct lg__report *report, const void *of)
{
    const struct ledger *ledger = of;
    if (ledger->is_readable)
        lg__values_number(report, ledger->info.last_ordinal);
}

static void start_faults(struct lg__report *report, const void *of)
{
    if (((const struct ledger *)of)->info.start_fault_wall_ns)
        lg__table_object(report, &lg__shape_start_faults, of);
}

static lg_status read_context(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    const struct ledger *ledger = of;
    struct context *context = ret_item;
    context->index = index;
    context->info.size = sizeof context->info;
    const lg_status status = lg_reader_ledger_context(report->reader, index, &context->info);
    if (status == LG_OK && ledger->names)
        memcpy(ledger->names[index], context->info.name, sizeof *ledger->names);
    return status;
}

static lg_status read_entry(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    (void)of;
    return lg_reader_timeline(report->reader, index, &((struct entry *)ret_item)->entry);
}

static void contexts(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_ledger_context, "contexts", true, read_context };
    struct context context;
    lg__items_write(report, &items, of, ((const struct ledger *)of)->info.context_count, &context);
}

static void timeline(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_entry, "timeline", true, read_entry };
    const struct ledger *ledger = of;
    struct entry entry = { .names = ledger->names, .name_count = ledger->names ? ledger->info.context_count : 0 };
    lg__items_write(report, &items, of, ledger->info.timeline_count, &entry);
}

static void uncounted(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    (void)of;
    lg__json_list_begin(&report->json, &list);
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field ledger_fields[] = {
    LG__FIELDS_OF_A_FILE("ledger"),
    FIELD(TEXT_IF, "appID", info.app_id, "", "The application."),
    FIELD(TEXT_IF, "appVersion", info.app_version, "", "Version of the last primary run."),
    FIELD(TEXT_IF, "buildID", info.build_id, "", "Build id of the last primary run."),
    MAY_BE("generation", generation, "number", "", "Grows with every store."),
    MAY_BE("lastOrdinal", last_ordinal, "number", "", "Number of the last primary run."),
    MAY_BE("startFaults", start_faults, "start-faults", "", "Faults of LaunchGuard's own starts; left out: none since the last complete start."),
    MAY_BE("hint", hint, "hint", "", "The last hint of the vendor; left out: none has come."),
    VALUE("contexts", contexts, "[ledger-context]", "", "In the order in which they were made."),
    VALUE("timeline", timeline, "[timeline-entry]", "", "Ended runs, oldest first."),
    VALUE("uncounted", uncounted, "[uncounted-run]", "", "Runs that have a file and are not in the timeline yet; the tool adds them."),
    VALUE("problems", lg__report_problems, "[problem]", "", "Parts that could not be read."),
    ADDED("delivery", "spool", "What waits to be sent."),
    ADDED("kept", "[kept-path]", "Paths of which copies are kept, that `launchguard undo` puts back."),
    LAST,
};
const struct lg__shape lg__shape_ledger = { "ledger", LG__SENTENCE("The contents of the ledger of an application."), ledger_fields };

#undef OF

void lg__report_ledger(struct lg__report *report)
{
    struct ledger ledger = { .is_readable = false };
    ledger.is_readable = lg__report_has(report, lg_reader_ledger(report->reader, &ledger.info), "ledger");
    ledger.names = calloc(ledger.info.context_count + 1, sizeof *ledger.names);
    lg__table_members(report, &lg__shape_ledger, &ledger);
    free(ledger.names);
}
