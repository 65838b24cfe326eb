/* The objects that Swift's tools write: rows for the schema and the page of fields, which
 * SchemaTests compares with what the tools print. The library needs none of them. */
#include "report/table.h"

#ifdef LG_REPORT_TABLE

#define HAS(name_, type_, sentence_) VALUE(name_, NULL, type_, "", sentence_)
#define MAY_HAVE(name_, type_, sentence_) MAY_BE(name_, NULL, type_, "", sentence_)
/* Members of each object that is a line of its own. */
#define LINE(type_) \
    HAS("schema", "integer", "Version of this shape."), HAS("type", "string", "Always " type_ ".")

#define SHAPE(identifier, name_, sentence_) \
    const struct lg__shape lg__shape_##identifier = { name_, sentence_, identifier##_fields };
#define NAMES(identifier, name_, sentence_, ...)                           \
    static const char *const identifier##_names[] = { __VA_ARGS__ };       \
    const struct lg__names lg__names_##identifier = {                      \
        name_, sentence_, identifier##_names, sizeof identifier##_names / sizeof identifier##_names[0], "" };

const struct lg__kind lg__kinds_finer[] = {
    { "trap.swift.overflow", "The result of an arithmetic operation or of a conversion does not fit." },
    { "trap.swift.div0", "A division by zero." },
    { "trap.swift.bounds", "An index out of range." },
    { "trap.swift.nil", NULL },
    { "trap.swift.cast", "A forced cast (as!) to a type that the value does not have." },
    { "trap.swift.range", "A range whose upper bound is below its lower bound." },
    { "trap.swift.shift", "A shift by a count that is out of range." },
    { "trap.swift.precondition", "A failed precondition()." },
    { "trap.swift.fatal_error", NULL },
    { "trap.swift", NULL },
    { "trap.dispatch",
      "A check of libdispatch: a wrong queue, an object released in a wrong state, or a wait for the own queue." },
    { NULL, NULL },
};

NAMES(delivery_entry_state, "delivery-entry-state", "The state of a report, or of a run without one.",
      "pending", "sent", "held", "dead", "told", "owed", "counted", "never")
NAMES(delivery_entry_pause, "delivery-entry-pause", "Why a pending report does not go now.", "paced", "away", "busy", "asked", "spent",
      "behind", "metered")
NAMES(simulated_callback_kind, "simulated-callback-kind", "Which callback ran.",
      "status", "decide", "report", "repair", "protect", "task", "built-in", "give-up", "ineffective", "begin")
NAMES(simulated_callback_outcome, "simulated-callback-outcome", "The outcome of a callback.",
      "begins", "ok", "failed", "no answer in time", "run", "left out", "left out by configuration", "restart")
NAMES(finding_severity, "finding-severity", "How bad a finding is.", "note", "warning", "error")

static const struct lg__field symbol_fields[] = {
    HAS("name", "string", "The name as a person writes it."),
    MAY_HAVE("mangledName", "string", "The name as the linker knows it, when it is another one."),
    MAY_HAVE("offset", "number", "Bytes from the start of the function; left out for inlined functions."),
    MAY_HAVE("file", "string", "The file."),
    MAY_HAVE("line", "integer", "The line."),
    MAY_HAVE("column", "integer", "The column."),
    HAS("isInlined", "boolean", "The function was inlined into the next one."),
    LAST,
};
SHAPE(symbol, "symbol", "A function, and where in its source.")

static const struct lg__field uncounted_run_fields[] = {
    HAS("path", "string", "The path."),
    HAS("uuid", "string", "The UUID."),
    HAS("ordinal", "number", "The ordinal."),
    MAY_HAVE("appVersion", "string", "The app version."),
    MAY_HAVE("started", "time", "When it started."),
    MAY_HAVE("durationNanoseconds", "number", "Its duration in nanoseconds."),
    HAS("isSecondary", "boolean", "Secondary runs are never counted."),
    MAY_HAVE("verdict", "verdict", "The verdict."),
    MAY_HAVE("isDegraded", "boolean", "Guards survived faults in it."),
    LAST,
};
SHAPE(uncounted_run, "uncounted-run", "A run that has a file and is not in the timeline yet.")

static const struct lg__field listed_run_fields[] = {
    LINE("listed-run"),
    HAS("path", "string", "The path."),
    MAY_HAVE("uuid", "string", "The UUID."),
    MAY_HAVE("ordinal", "number", "The ordinal."),
    MAY_HAVE("app", "string", "The app."),
    MAY_HAVE("version", "string", "Its version."),
    MAY_HAVE("started", "time", "When it started."),
    MAY_HAVE("durationNanoseconds", "number", "Its duration in nanoseconds."),
    MAY_HAVE("verdict", "verdict", "The verdict."),
    MAY_HAVE("counted", "[string]", "Contexts to whose streak or unknown count the run added; left out: not in the timeline."),
    MAY_HAVE("fingerprint", "fingerprint", "The same for equal ends; left out: the run goes on, or its identity is damaged."),
    HAS("headline", "string", "The cause in one sentence."),
    MAY_HAVE("reason", "crash-reason", "The reason."),
    MAY_HAVE("message", "string", "What the program said before the crash."),
    MAY_HAVE("place", "string", "The program's own function nearest to the crash or the hang."),
    MAY_HAVE("delivery", "[delivery-entry]", "Its reports in the spool, or why it has none; left out: no program asks for reports."),
    MAY_HAVE("isDegraded", "boolean", "Guards survived faults in it."),
    HAS("problems", "[problem]", "The problems."),
    LAST,
};
SHAPE(listed_run, "listed-run", "One line of the list.")

NAMES(kept_kind, "kept-kind", "What was at a path when it was kept.", "file", "directory", "absent")
static const struct lg__field kept_path_fields[] = {
    HAS("context", "string", "The context whose repair kept it."),
    HAS("path", "string", "The path, absolute."),
    HAS("kind", "kept-kind", "What was there."),
    HAS("bytes", "number", "The size of a file."),
    HAS("copied", "time", "When."),
    LAST,
};
SHAPE(kept_path, "kept-path", "A path of which a copy is kept, since a repair was going to change what is there.")

static const struct lg__field delivery_entry_fields[] = {
    HAS("uuid", "string", "Identity of the report: that of the run, but for a report of a living run, which has one of its own."),
    MAY_HAVE("runUUID", "string", "Left out, as all that is not in the name of its file: the report is damaged."),
    HAS("ordinal", "number", "Number of the run in its state directory."),
    HAS("state", "delivery-entry-state", "The state."),
    MAY_HAVE("end", "run-end", "The end of the run; running for a report of a living run."),
    MAY_HAVE("fingerprint", "string", "The same for equal crashes, in hexadecimal digits."),
    MAY_HAVE("made", "time", "When the report was made."),
    HAS("attempts", "number", "Requests made so far."),
    MAY_HAVE("httpStatus", "integer", "Status of the last answer; left out: there was none."),
    MAY_HAVE("attempted", "time", "When the last attempt was; left out: there was none."),
    MAY_HAVE("next", "time", "Earliest next attempt; left out: now, or never."),
    MAY_HAVE("pause", "delivery-entry-pause", "Why a pending report waits."),
    MAY_HAVE("settled", "time", "When it was sent or given up."),
    MAY_HAVE("told", "time", "When the program learned of it."),
    HAS("more", "number", "Runs with the same fingerprint that have no report of their own, and for which this report stands."),
    MAY_HAVE("error", "string", "Why the last attempt failed, for a person; left out: it did not."),
    MAY_HAVE("countedIn", "number", "The run whose report counts this one."),
    MAY_HAVE("reason", "string", "Why a run has no report, for a person."),
    LAST,
};
SHAPE(delivery_entry, "delivery-entry",
      "A report in the spool, or a run without one: whether it has reached its server, and why not.")

static const struct lg__field verified_file_fields[] = {
    LINE("verified-file"),
    HAS("path", "string", "The path."),
    HAS("isWhole", "boolean", "It is whole."),
    HAS("blocks", "[verified-block]", "The blocks."),
    MAY_HAVE("error", "string", "Why it cannot be read; left out: it can."),
    LAST,
};
SHAPE(verified_file, "verified-file", "A file of a state directory, verified.")

static const struct lg__field verified_block_fields[] = {
    HAS("name", "string", "Its name."),
    HAS("status", "string", "One of \"ok\", \"incomplete\" or \"damaged\"."),
    HAS("detail", "string", "One line for a person."),
    LAST,
};
SHAPE(verified_block, "verified-block", "One block of a file, checked.")

static const struct lg__field simulation_fields[] = {
    LINE("simulation"),
    HAS("policy", "simulation-policy", "The policy."),
    HAS("steps", "[simulation-step]", "The steps."),
    MAY_HAVE("context", "ledger-context", "The context at the end, as a ledger would store it."),
    LAST,
};
SHAPE(simulation, "simulation", "The result of a simulation.")

static const struct lg__field simulation_policy_fields[] = {
    HAS("context", "string", "The context."),
    HAS("reportAfter", "integer", "Launch crashes in a row from which they are reported."),
    HAS("repairAfter", "integer", "Launch crashes in a row from which repairs are tried."),
    HAS("unknownAfter", "integer", "Unexplained early deaths from which repairs are tried; 0: never."),
    HAS("repairs", "[simulated-repair]", "In the order of the ladder, whose rung 0 is built in."),
    HAS("tasks", "[simulated-task]", "The tasks."),
    HAS("isAutomatic", "boolean", "Repairs wait for no consent."),
    HAS("isSupervised", "boolean", "A supervisor starts the program, and a halted launch waits."),
    HAS("safeRetryRuns", "integer", "Finished launches in safe mode before the normal launch is tried again."),
    HAS("safeCrashLimit", "integer", "Crashes in a row in safe mode from which the launch is halted; 0: never."),
    HAS("deescalateRuns", "integer", "Finished launches after a repair until the ladder starts at its lowest rung again; 0: never."),
    HAS("isShadow", "boolean", "Nothing is held or repaired."),
    LAST,
};
SHAPE(simulation_policy, "simulation-policy", "What was simulated.")

static const struct lg__field simulated_repair_fields[] = {
    HAS("name", "string", "The name."),
    HAS("impact", "integer", "From 0 to 100; the ladder begins with the least."),
    HAS("attempts", "integer", "The attempts."),
    HAS("isDestructive", "boolean", "The repair loses something."),
    HAS("needsConsent", "boolean", "The repair waits for the user also where repairs are automatic."),
    HAS("needsRestart", "boolean", "A successful repair needs a new start of the program."),
    LAST,
};
SHAPE(simulated_repair, "simulated-repair", "A repair of the simulated launch: NAME[:IMPACT[:FLAG,…]].")

static const struct lg__field simulated_task_fields[] = {
    HAS("key", "string", "The key."),
    HAS("isEssential", "boolean", "LaunchGuard leaves it out in no launch; the tasks after it do not run where it fails."),
    HAS("isSuspect", "boolean", "One crash makes it suspect."),
    HAS("isUnsafe", "boolean", "Safe mode leaves it out."),
    HAS("isLeftOut", "boolean", "By the configuration of the program."),
    HAS("isByKey", "boolean", "After a hold it waits for the event replay:KEY."),
    LAST,
};
SHAPE(simulated_task, "simulated-task", "A task of the simulated launch: KEY[:FLAG,…].")

static const struct lg__field simulation_step_fields[] = {
    HAS("number", "integer", "From 0, which is the start of the first run."),
    HAS("event", "string", "The event."),
    MAY_HAVE("remark", "string", "What happens, in the default scenario."),
    HAS("before", "simulation-standing", "Before."),
    HAS("after", "simulation-standing", "After."),
    HAS("callbacks", "[simulated-callback]", "In the order in which they ran."),
    LAST,
};
SHAPE(simulation_step, "simulation-step", "One event and its effect.")

static const struct lg__field simulation_standing_fields[] = {
    HAS("status", "string", "The status."),
    HAS("mode", "string", "The mode."),
    HAS("isHalted", "boolean", "It is halted."),
    HAS("streak", "integer", "The streak."),
    HAS("unknown", "integer", "Unexplained early deaths since the last finished launch."),
    HAS("rung", "integer", "The next rung, or the rung of the repair under way."),
    HAS("attempts", "integer", "The attempts."),
    MAY_HAVE("attemptsAllowed", "integer", "Allowed on the rung; left out: there is no such rung."),
    HAS("goodRuns", "integer", "Finished launches in safe mode in a row."),
    HAS("retryRuns", "integer", "So many good runs lead to a trial of the normal launch."),
    HAS("safeCrashes", "integer", "Crashes in a row in safe mode."),
    LAST,
};
SHAPE(simulation_standing, "simulation-standing", "The state of the launch.")

static const struct lg__field simulated_callback_fields[] = {
    HAS("kind", "simulated-callback-kind", "The kind."),
    MAY_HAVE("name", "string", "The name."),
    MAY_HAVE("attempt", "integer", "The attempt."),
    MAY_HAVE("streak", "integer", "The streak."),
    MAY_HAVE("status", "string", "The status."),
    MAY_HAVE("isHalted", "boolean", "It is halted."),
    MAY_HAVE("outcome", "simulated-callback-outcome", "The outcome."),
    LAST,
};
SHAPE(simulated_callback, "simulated-callback", "A callback of the program that ran, with its outcome.")

static const struct lg__field spool_fields[] = {
    HAS("path", "string", "The folder."),
    HAS("userID", "number", "The user that it belongs to."),
    HAS("hasConsent", "boolean", "The user of the program has consented that reports leave the machine."),
    HAS("isOff", "boolean", "The file \"off\" switches delivery off."),
    MAY_HAVE("agentProcessID", "integer", "Process of the agent, 0 when it is not known; left out: none lives."),
    MAY_HAVE("target", "string", "One of \"http\", \"sentry\", \"otlp\" or \"minidump\"; left out: no program has said where reports go."),
    MAY_HAVE("host", "string",
        "The server's, and no more of the address, which may hold a secret; left out: not known, or in the credential file."),
    HAS("pending", "integer", "Reports that wait."),
    HAS("sent", "integer", "Reports that arrived."),
    HAS("told", "integer", "The same, and the program learned of them."),
    HAS("held", "integer", "Reports that the server refused, and that are tried again."),
    HAS("dead", "integer", "Reports that are given up."),
    LAST,
};
SHAPE(spool, "spool",
      "The spool of a state directory: where its reports go, whether they may, and how many there are.")

static const struct lg__field last_end_fields[] = {
    LINE("last-end"),
    HAS("directory", "string", "The directory."),
    HAS("ordinal", "number", "The ordinal."),
    HAS("uuid", "string", "The UUID."),
    MAY_HAVE("started", "time", "When it started."),
    MAY_HAVE("durationNanoseconds", "number", "Its duration in nanoseconds."),
    HAS("verdict", "verdict", "The verdict."),
    MAY_HAVE("headline", "string", "The cause in one sentence; left out, as the place: the file of the run is gone."),
    MAY_HAVE("place", "string", "The program's own function nearest to the crash or the hang."),
    HAS("contexts", "[last-end-context]", "The contexts."),
    HAS("exitStatus", "integer", "The exit status of launchguard verdict."),
    LAST,
};
SHAPE(last_end, "last-end", "How the last run of an application ended, and what its next launch will be.")

static const struct lg__field last_end_context_fields[] = {
    HAS("name", "string", "The name."),
    HAS("status", "string", "The status."),
    HAS("mode", "string", "The mode."),
    HAS("isHalted", "boolean", "It is halted."),
    HAS("streak", "number", "The streak."),
    LAST,
};
SHAPE(last_end_context, "last-end-context", "A launch, as it would be if it began now.")

static const struct lg__field finding_fields[] = {
    LINE("finding"),
    HAS("severity", "finding-severity", "The severity."),
    HAS("code", "string", "Short and stable, for example \"directory.owner\"."),
    HAS("problem", "string", "The problem."),
    HAS("remedy", "string", "The remedy."),
    LAST,
};
SHAPE(finding, "finding", "One thing that weakens what LaunchGuard promises, and its remedy.")

static const struct lg__field collected_fields[] = {
    LINE("collected"),
    HAS("database", "string", "The database."),
    HAS("directories", "number", "State directories."),
    HAS("runs", "number", "The runs."),
    HAS("newRuns", "number", "The new runs."),
    HAS("devices", "number", "All devices of the database."),
    HAS("clonedMachines", "number", "Machine ids that several devices seem to have."),
    LAST,
};
SHAPE(collected, "collected", "What launchguard collect read, and what the database holds now.")

#endif
