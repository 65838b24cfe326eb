/* The report of a file: its contents, and the problems of reading it. */
#include <errno.h>
#include <stdlib.h>

#include "report/parts.h"
#include "store/given.h"

static const struct lg__field run_fields[] = {
    LG__FIELDS_OF_A_FILE("run"),
    MAY_BE("identity", lg__report_identity, "run-identity", "", "The process of the run."),
    MAY_BE("system", lg__report_system, "run-system", "", "What the run began on."),
    MAY_BE("verdict", lg__report_verdict, "verdict", "", "How it ended."),
    MAY_BE("fingerprint", lg__report_fingerprint, "fingerprint", "",
           "The same for equal ends of one build of a program, in hexadecimal digits; left out: the run goes on, or its identity is damaged."),
    MAY_BE("contexts", lg__report_contexts, "[run-context]", "", "The launches of the run."),
    MAY_BE("modules", lg__report_modules, "[run-module]", "", "What was loaded, the executable first."),
    MAY_BE("modulesOmitted", lg__report_modules_omitted, "number", "",
           "Modules that had no room in the file; left out: none."),
    MAY_BE("crash", lg__report_crash, "crash", "",
           "The crash that counts: the last crash that the program is not known to have survived, or the crash in whose handler that one "
           "came."),
    MAY_BE("otherCrashes", lg__report_other_crashes, "[crash]", "", "All other crashes that the file holds, in the order in which they came."),
    MAY_BE("annotations", lg__report_annotations, "[annotation]", "", "Named values that the program set, by key."),
    MAY_BE("heartbeats", lg__report_heartbeats, "[heartbeat]", "", "Threads with a heartbeat."),
    MAY_BE("deadlines", lg__report_deadlines, "[deadline]", "", "Jobs that had not ended."),
    MAY_BE("snapshots", lg__report_snapshots, "[snapshot]", "",
           "Stacks taken while the program lived: of the last hang, of the last job that was about to overrun its deadline, and of the first "
           "shortage of memory."),
    MAY_BE("guards", lg__report_guards, "guard-record", "", "What guards found; left out: the program did not start them."),
    MAY_BE("lastWords", lg__report_last_words, "message", "",
           "The reason that the program gave on standard error before it ended by its own will; left out: it is not known, or a crash has a message."),
    MAY_BE_THAT(LEAVES_NEVER, "standardError", lg__report_standard_error, "standard-error", "",
                "The last bytes of standard error, where the program kept them."),
    MAY_BE("breadcrumbs", lg__report_breadcrumbs, "breadcrumbs", "", "The ring log."),
    VALUE("problems", lg__report_problems, "[problem]", "", "Parts that could not be read."),
    ADDED("delivery", "[delivery-entry]", "The reports of the run in the spool, or why it has none."),
    LAST,
};
const struct lg__shape lg__shape_run = { "run",
                                         LG__SENTENCE("A run file: one process life. Every part is optional, because the process may have "
                                         "ended before it wrote the part, or the file may be damaged; the problems say which part is missing "
                                         "and why."),
                                         run_fields };

static bool has_stacks(struct lg__report *report)
{
    uint32_t crashes = 0;
    lg_snapshot_info info;
    if (lg_reader_crash_count(report->reader, &crashes) != LG_OK || crashes)
        return true;
    for (lg_snapshot_kind kind = LG_SNAPSHOT_HANG; kind <= LG_SNAPSHOT_MEMORY; kind++)
        if (lg_reader_snapshot(report->reader, kind, &info) != LG_ERR_NOT_FOUND)
            return true;
    return false;
}

static void write_run(struct lg__report *report)
{
    lg__report_read_run(report);
    const bool stacks = has_stacks(report);
    /* Modules are large, and a report without them needs them only where a stack is there. */
    const bool needs = stacks || (lg__report_wants(report, LG_REPORT_MODULES) && lg__report_wants(report, LG_REPORT_SPARE_MODULES));
    lg__report_read_modules(report, stacks, needs ? UINT32_MAX : 1);
    if (!needs)
        report->module_count = 0;
    lg__report_read_log(report);
    lg__table_members(report, &lg__shape_run, NULL);
}

struct lg__report *lg__report_new(lg_reader *reader, const lg_report_options *options)
{
    struct lg__report *report = calloc(1, sizeof *report);
    struct lg__problem *problems = calloc(LG__PROBLEMS_MAX, sizeof *problems);
    if (!report || !problems) {
        free(report);
        free(problems);
        errno = ENOMEM;
        return NULL;
    }
    report->reader = reader;
    report->options = options;
    report->problems = problems;
    report->prefix = "";
    report->frames_left = options->frames ? options->frames : UINT64_MAX;
    return report;
}

void lg__report_free(struct lg__report *report)
{
    free(report->modules);
    lg__secrets_free(report->secrets);
    free(report->problems);
    free(report);
}

lg_status lg_reader_report(lg_reader *reader, const lg_report_options *options, lg_report_sink sink, void *user)
{
    lg_report_options own = LG_REPORT_OPTIONS_INIT;
    if (!reader || !sink)
        return LG_ERR_ARGUMENT;
    if (options && !lg__given_take(&lg__given_report_options, &own, options, NULL))
        return LG_ERR_OPTION;
    struct lg__report *report = lg__report_new(reader, &own);
    if (!report)
        return LG_ERR_SYSTEM;
    report->json.sink = sink;
    report->json.user = user;
    lg__json_open(&report->json);
    if (lg_reader_kind(reader) == LG_FILE_LEDGER)
        lg__report_ledger(report);
    else
        write_run(report);
    if (own.members)
        lg__json_members(&report->json, own.members);
    lg__json_close(&report->json);
    lg__json_flush(&report->json);
    const bool failed = report->json.failed;
    lg__report_free(report);
    return failed ? LG_ERR_SYSTEM : LG_OK;
}
