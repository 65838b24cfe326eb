/* Identity of a run, its end, and its modules. */
#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

#include "report/items.h"
#include "report/values.h"

#define MODULES_MAX 65536u
/* Rows of the table, of which one that is damaged does not hide the next. */
#define MODULE_ROWS 256u

/* ---- identity ---- */

#define OF lg_run_info

static void sender(struct lg__report *report, const void *of)
{
    const lg_run_info *run = of;
    if (run->term_pid)
        lg__json_signed(&report->json, run->term_pid);
}

static void sender_user(struct lg__report *report, const void *of)
{
    const lg_run_info *run = of;
    if (run->term_pid)
        lg__json_unsigned(&report->json, run->term_uid);
}

static void alive_after(struct lg__report *report, const void *of)
{
    const lg_run_info *run = of;
    if (run->term_alive_ns > run->term_ns)
        lg__values_number(report, run->term_alive_ns);
}

static const struct lg__field termination_fields[] = {
    FIELD(SIGNAL, "signal", term_signal, "", "The signal."),
    MAY_BE("senderProcessID", sender, "integer", "", "Its sender; left out: the kernel, or unknown."),
    MAY_BE_THAT(LEAVES_ON_WISH, "senderUserID", sender_user, "number", "", "The sender's user."),
    FIELD(NUMBER, "monotonicNanoseconds", term_ns, "ns", "When it came."),
    FIELD(TRUE_IF, "isKept", term_kept, "", "True: the program has a handler of its own for it, and may have lived on."),
    MAY_BE("aliveNanoseconds", alive_after, "number", "ns",
           "When the program was last seen alive, a second or more after the signal; left out: it was not."),
    LAST,
};
const struct lg__shape lg__shape_run_termination = { "run-identity-termination", LG__SENTENCE("A terminating signal and its sender."), termination_fields };

static const char *const announcements[] = { NULL, "termination", "restart" };
const struct lg__names lg__names_announcement = { "run-identity-announcement-kind", LG__SENTENCE("What was announced."), announcements, 3, "termination" };
static const struct lg__field announcement_fields[] = {
    NAMED("kind", end_announced, &lg__names_announcement, "What was announced."),
    FIELD(NUMBER, "monotonicNanoseconds", announced_ns, "ns", "When."),
    LAST,
};
const struct lg__shape lg__shape_run_announcement = { "run-identity-announcement",
                                                     LG__SENTENCE("The program's own word that it would end, or be started again."), announcement_fields };

static void exit_code(struct lg__report *report, const void *of)
{
    const int32_t status = ((const lg_run_info *)of)->wait_status;
    if (!(status & 0x7F))
        lg__json_signed(&report->json, status >> 8 & 0xFF);
}

static void wait_signal(struct lg__report *report, const void *of)
{
    const int32_t number = ((const lg_run_info *)of)->wait_status & 0x7F;
    if (number && number != 0x7F)
        lg__table_signal(report, number);
}

static const struct lg__field witness_fields[] = {
    FIELD(SIGNED, "waitStatus", wait_status, "", "As of waitpid(2)."),
    FIELD(NUMBER_IF, "monotonicNanoseconds", witnessed_ns, "ns", "When it was stored."),
    MAY_BE("exitCode", exit_code, "integer", "", "The exit code, where the status has one."),
    MAY_BE("signal", wait_signal, "signal", "", "The signal, where the status has one."),
    LAST,
};
const struct lg__shape lg__shape_run_witness = { "run-identity-witness", LG__SENTENCE("The wait status that another process stored."), witness_fields };

static const struct lg__field kills_fields[] = {
    FIELD(NUMBER, "count", oom_kills, "", "Their number."),
    FIELD(NUMBER, "cgroup", oom_cgroup, "", "Inode of the cgroup's directory."),
    LAST,
};
const struct lg__shape lg__shape_run_kills = { "run-identity-memory-kills",
                                              LG__SENTENCE("Processes of its cgroup that the kernel had ended for lack of memory."), kills_fields };

static const struct lg__field cpu_fields[] = {
    FIELD(NUMBER, "usedNanoseconds", cpu_used_ns, "ns", "CPU time that was used."),
    FIELD(NUMBER, "limitSeconds", cpu_limit_s, "s", "The hard limit."),
    FIELD(NUMBER, "monotonicNanoseconds", cpu_near_ns, "ns", "When."),
    LAST,
};
const struct lg__shape lg__shape_run_cpu = { "run-identity-cpulimit", LG__SENTENCE("CPU time near its hard limit."), cpu_fields };

static const struct lg__field pressure_fields[] = {
    FIELD(NUMBER, "usedBytes", memory_used, "bytes", "Memory that was used."),
    FIELD(NUMBER, "limitBytes", memory_limit, "bytes", "The limit."),
    FIELD(NUMBER, "monotonicNanoseconds", memory_near_ns, "ns", "When."),
    LAST,
};
const struct lg__shape lg__shape_run_pressure = { "run-identity-memory-pressure", LG__SENTENCE("Memory near its limit."), pressure_fields };

static const struct lg__field note_fields[] = {
    FIELD(TEXT_IF, "type", crash_type, "", "The kind of crash, in the program's words."),
    FIELD(NUMBER, "monotonicNanoseconds", crash_noted_ns, "ns", "When."),
    LAST,
};
const struct lg__shape lg__shape_run_note = { "run-identity-crash-note",
                                             LG__SENTENCE("The word of the program, or of a crash reporter in it, that it had crashed."), note_fields };

static void termination(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->term_signal)
        lg__table_object(report, &lg__shape_run_termination, of);
}

static void announcement(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->end_announced)
        lg__table_object(report, &lg__shape_run_announcement, of);
}

static void witness(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->witnessed)
        lg__table_object(report, &lg__shape_run_witness, of);
}

static void memory_kills(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->oom_known)
        lg__table_object(report, &lg__shape_run_kills, of);
}

static void cpu_limit(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->cpu_near_ns)
        lg__table_object(report, &lg__shape_run_cpu, of);
}

static void memory_pressure(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->memory_near_ns)
        lg__table_object(report, &lg__shape_run_pressure, of);
}

static void crash_note(struct lg__report *report, const void *of)
{
    if (((const lg_run_info *)of)->crash_noted_ns)
        lg__table_object(report, &lg__shape_run_note, of);
}

static const struct lg__field identity_fields[] = {
    FIELD(TEXT, "uuid", uuid, "", "Identity of the run."),
    FIELD(NUMBER, "ordinal", ordinal, "", "Number of the run in its state directory, from 1."),
    FIELD(TEXT, "appID", app_id, "", "The application."),
    FIELD(TEXT_IF, "appVersion", app_version, "", "Its version."),
    FIELD(PATH_IF, "executable", executable, "", "Path of the executable; of a long one \"…\" and its end."),
    FIELD(TEXT_IF, "buildID", build_id, "", "Build id of the executable."),
    FIELD_THAT(LEAVES_ON_WISH, TEXT_IF, "bootID", boot_id, "", "The boot of the kernel."),
    FIELD(SIGNED, "processID", pid, "", "In the pid namespace of the process."),
    FIELD_THAT(LEAVES_ON_WISH, NUMBER, "userID", uid, "", "The effective user."),
    FIELD(TIME_IF, "started", wall_ns, "", "When it began; left out: the clock was not known."),
    FIELD(NUMBER, "monotonicNanoseconds", monotonic_ns, "ns", "The same moment."),
    FIELD(BOOL, "isStartComplete", started, "", "Whether lg_start() completed."),
    FIELD(BOOL, "isAlive", alive, "", "Whether the process is alive now."),
    FIELD(BOOL, "isSecondary", secondary, "", "Whether another process held the ledger."),
    FIELD(NUMBER, "healedPages", healed_pages, "", "Pages of the file that memory replaced after the file was cut."),
    MAY_BE("termination", termination, "run-identity-termination", "", "The last terminating signal that the run noted."),
    MAY_BE("announcement", announcement, "run-identity-announcement", "", "The program's own word that it would end."),
    MAY_BE("witness", witness, "run-identity-witness", "", "The wait status that another process stored."),
    FIELD(NUMBER_IF, "hangSinceNanoseconds", hang_ns, "ns", "The begin of the hang."),
    FIELD(NUMBER_IF, "hungAliveNanoseconds", hung_alive_ns, "ns", "When the process was last seen alive while it hung."),
    MAY_BE("memoryKills", memory_kills, "run-identity-memory-kills", "",
           "Processes that the kernel had ended for lack of memory before the start; left out: not known."),
    MAY_BE("cpuLimit", cpu_limit, "run-identity-cpulimit", "", "CPU time when it was about to reach the hard limit; left out: it was not."),
    MAY_BE("memoryPressure", memory_pressure, "run-identity-memory-pressure", "",
           "Memory when it was last seen near the limit; left out: it is not."),
    MAY_BE("crashNote", crash_note, "run-identity-crash-note", "", "The program's own word that it had crashed."),
    LAST,
};
const struct lg__shape lg__shape_identity = { "run-identity", LG__SENTENCE("The process of a run."), identity_fields };

#undef OF

void lg__report_identity(struct lg__report *report, const void *of)
{
    (void)of;
    if (report->has_run)
        lg__table_object(report, &lg__shape_identity, &report->run);
}

/* ---- contexts ---- */

#define OF lg_run_context

static const char *const phases[] = { "none", "deciding", "repairing", "launching", "finished", "held", "halted", "terminating" };
const struct lg__names lg__names_phase = { "run-context-phase", LG__SENTENCE("Phase of a context within a run."), phases, 8, "invalid" };

static const char *const finishes[] = { [LG_FINISH_EITHER] = "either", [LG_FINISH_MARK] = "mark", [LG_FINISH_TIME] = "time", [LG_FINISH_BOTH] = "both" };
const struct lg__names lg__names_finish = { "run-context-finish", LG__SENTENCE("The condition that finishes a launch."), finishes,
                                            sizeof finishes / sizeof finishes[0], "invalid" };

static void rung(struct lg__report *report, const void *of)
{
    const lg_run_context *context = of;
    if (context->phase == LG_PHASE_REPAIRING)
        lg__json_unsigned(&report->json, context->rung);
}

static void attempt(struct lg__report *report, const void *of)
{
    const lg_run_context *context = of;
    if (context->phase == LG_PHASE_REPAIRING)
        lg__json_unsigned(&report->json, context->attempt);
}

static void own_modules(struct lg__report *report, const void *of)
{
    const lg_run_context *context = of;
    const char *name = context->modules, *const stop = name + sizeof context->modules;
    struct lg__json_list list = lg__json_list(&report->json);
    for (size_t length; name < stop && (length = strnlen(name, (size_t)(stop - name))); name += length + 1) {
        lg__json_item(&report->json, &list);
        lg__values_text(report, name, length);
    }
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field context_fields[] = {
    FIELD(TEXT, "name", name, "", "Name of the context."),
    NAMED("phase", phase, &lg__names_phase, "How far its launch had come."),
    FIELD(NUMBER_IF, "begunNanoseconds", begun_ns, "ns", "Begin of the launch."),
    FIELD(NUMBER_IF, "launchingNanoseconds", launching_ns, "ns", "End of the hold, from which the window runs."),
    FIELD(NUMBER_IF, "finishedNanoseconds", finished_ns, "ns", "When the launch was finished; left out: it was not."),
    FIELD(SIGNED, "windowMilliseconds", window_ms, "ms", "The window of the launch."),
    NAMED("finish", finish, &lg__names_finish, "The condition that finishes the launch."),
    MAY_BE("rung", rung, "number", "", "The rung under repair, where 0 is the built-in one; left out unless a repair runs."),
    MAY_BE("attempt", attempt, "number", "", "The attempt, from 1; left out unless a repair runs."),
    FIELD(TEXT_IF, "task", task, "", "Key of the launch task that ran."),
    FIELD(SIGNED_IF, "taskThreadID", task_tid, "", "The thread that ran it."),
    MAY_BE("modules", own_modules, "[string]", "", "File names of the context's own modules."),
    LAST,
};
const struct lg__shape lg__shape_context = { "run-context", LG__SENTENCE("One context of a run."), context_fields };

#undef OF

LG__READ(read_context, lg_reader_run_context, lg_run_context)

void lg__report_contexts(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_context, "contexts", true, read_context };
    lg_run_context context;
    if (report->has_run)
        lg__items_write(report, &items, of, report->run.context_count, &context);
}

/* ---- system ---- */

#define OF lg_system_info

static void command_line(struct lg__report *report, const void *of)
{
    const lg_system_info *info = of;
    const char *word = info->command_line, *const stop = word + info->command_line_size;
    struct lg__json_list list = lg__json_list(&report->json);
    for (size_t length; word < stop; word += length + 1) {
        length = strnlen(word, (size_t)(stop - word));
        lg__json_item(&report->json, &list);
        lg__values_text(report, word, length);
    }
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field system_fields[] = {
    FIELD(TEXT_IF, "kernel", kernel, "", "Release of the kernel."),
    FIELD(TEXT_IF, "hardware", hardware, "", "As of uname(2), for example aarch64."),
    FIELD(TEXT_IF, "model", model, "", "The model of the machine, in the words of its maker."),
    FIELD(TEXT_IF, "distribution", os_id, "", "ID of os-release(5), for example debian."),
    FIELD(TEXT_IF, "distributionVersion", os_version, "", "VERSION_ID of os-release(5), for example 12."),
    FIELD(TEXT_IF, "machineID", machine, "", "The same for each run of an application on a machine; another application has another one."),
    FIELD(TEXT_IF, "container", container, "", "What made the container, by its own mark; left out: there was no mark."),
    FIELD(TEXT_IF, "unit", unit, "", "The systemd unit."),
    FIELD(TEXT_IF, "invocationID", invocation, "", "The id of its invocation."),
    FIELD(SIGNED_IF, "parentProcessID", parent_pid, "", "The parent process; left out: it is in another pid namespace."),
    FIELD_THAT(LEAVES_ON_WISH, TEXT_IF, "parentName", parent_name, "", "Its name, where there is no unit."),
    MAY_BE("commandLine", command_line, "[string]", "", "Arguments of the program; left out: it did not ask for them."),
    FIELD(TRUE_IF, "isCommandLineCut", command_line_cut, "", "True: there were more arguments."),
    LAST,
};
const struct lg__shape lg__shape_system = {
    "run-system",
    LG__SENTENCE("The system that a run began on, as the start found it. The texts are those of the system and of the program's environment: nobody "
    "has checked them."),
    system_fields
};

#undef OF

void lg__report_system(struct lg__report *report, const void *of)
{
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    (void)of;
    if (lg__report_has(report, lg_reader_system(report->reader, &system), "system"))
        lg__table_object(report, &lg__shape_system, &system);
}

/* ---- verdict ---- */

#define OF lg_verdict

#define END(identifier, value, name) [value] = name,
static const char *const ends[] = { LG_END_TABLE(END) };
#undef END
const struct lg__names lg__names_end = { "run-end", LG__SENTENCE("The end of a run."), ends, sizeof ends / sizeof ends[0], "unknown" };

static void evidence(struct lg__report *report, const void *of)
{
    lg__json_string(&report->json, lg_evidence_sentence(((const lg_verdict *)of)->evidence));
}

#define EVIDENCE(identifier, value, name, sentence) [value] = name,
static const char *const evidences[] = { LG_EVIDENCE_TABLE(EVIDENCE) };
#undef EVIDENCE
const struct lg__names lg__names_evidence = { "evidence", LG__SENTENCE("The evidence for an end."), evidences, sizeof evidences / sizeof evidences[0], "" };

static void evidence_kind(struct lg__report *report, const void *of)
{
    const unsigned kind = (unsigned)((const lg_verdict *)of)->evidence;
    if (kind < lg__names_evidence.count)
        lg__json_string(&report->json, evidences[kind]);
}

static void verdict_exit_code(struct lg__report *report, const void *of)
{
    const lg_verdict *verdict = of;
    if (verdict->end == LG_END_EXIT || verdict->end == LG_END_CLEAN)
        lg__json_signed(&report->json, verdict->code);
}

static void signal_code(struct lg__report *report, const void *of)
{
    const lg_verdict *verdict = of;
    if (verdict->end == LG_END_CRASH)
        lg__json_signed(&report->json, verdict->code);
}

static void kind(struct lg__report *report, const void *of)
{
    const lg_verdict *verdict = of;
    if (verdict->end == LG_END_CRASH)
        lg__values_kind(report, verdict->kind);
}

static const struct lg__field verdict_fields[] = {
    NAMED("end", end, &lg__names_end, "How the run ended."),
    VALUE("evidence", evidence, "string", "", "A sentence without a full stop; its subject is the run."),
    MAY_BE("evidenceKind", evidence_kind, "evidence", "", "The same as a word; left out: of a later version."),
    FIELD(SIGNAL_IF, "signal", signal, "", "For a crash or a termination."),
    MAY_BE("exitCode", verdict_exit_code, "integer", "", "The status that the program gave to exit()."),
    MAY_BE("signalCode", signal_code, "integer", "", "The si_code of a crash."),
    MAY_BE("kind", kind, "crash-kind", "", "Kind of a crash."),
    FIELD(NUMBER_IF, "monotonicNanoseconds", monotonic_ns, "ns", "When."),
    LAST,
};
const struct lg__shape lg__shape_verdict = { "verdict", LG__SENTENCE("The end of a run, and the evidence for it."), verdict_fields };

#undef OF

bool lg__report_final_verdict(struct lg__report *report, lg_verdict *ret_verdict)
{
    if (report->options->verdict) {
        *ret_verdict = *report->options->verdict;
        return true;
    }
    return lg__report_has(report, lg_reader_verdict(report->reader, ret_verdict), "verdict");
}

void lg__report_verdict(struct lg__report *report, const void *of)
{
    lg_verdict verdict;
    (void)of;
    if (lg__report_final_verdict(report, &verdict))
        lg__table_object(report, &lg__shape_verdict, &verdict);
}

void lg__report_fingerprint(struct lg__report *report, const void *of)
{
    lg_verdict verdict;
    char digits[33];
    (void)of;
    if (!lg__report_wants(report, LG_REPORT_FINGERPRINT) || !lg__report_final_verdict(report, &verdict) || verdict.end == LG_END_RUNNING)
        return;
    if (lg_reader_fingerprint_of(report->reader, &verdict, digits) == LG_OK)
        lg__json_string(&report->json, digits);
}

/* ---- modules ---- */

#define OF lg_module

static void module_path(struct lg__report *report, const void *of)
{
    lg__values_path(report, ((const lg_module *)of)->path);
}

static const struct lg__field module_fields[] = {
    VALUE("path", module_path, "string", "", "Path of the file; of a long one \"…\" and its end."),
    FIELD(TEXT_IF, "buildID", build_id, "", "Build id, in hexadecimal digits."),
    FIELD(ADDRESS, "start", start, "", "First address of its segments."),
    FIELD(ADDRESS, "end", end, "", "The address after the last one."),
    FIELD(ADDRESS, "bias", bias, "", "Address minus address in the file."),
    LAST,
};
const struct lg__shape lg__shape_module = { "run-module", LG__SENTENCE("A program or library that was loaded."), module_fields };

#undef OF

void lg__report_read_run(struct lg__report *report)
{
    report->has_run = lg__report_has(report, lg_reader_run(report->reader, &report->run), "identity");
}

void lg__report_read_modules(struct lg__report *report, bool has_stacks, uint32_t most)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < MODULES_MAX && i < most; i++) {
        if (report->module_count == room) {
            room = room ? room * 2 : 64;
            lg_module *more = realloc(report->modules, room * sizeof *more);
            if (!more)
                return;
            report->modules = more;
        }
        lg_status status = lg_reader_module(report->reader, i, &report->modules[report->module_count]);
        if (status == LG_ERR_INCOMPLETE && !has_stacks)
            return; /* they come with the first stack */
        if (lg__report_has(report, status, "modules"))
            report->module_count++;
        else if (status != LG_ERR_DAMAGED || i + 1 >= MODULE_ROWS)
            return;
    }
}

void lg__report_modules_omitted(struct lg__report *report, const void *of)
{
    uint32_t omitted = 0;
    (void)of;
    if (lg__report_wants(report, LG_REPORT_MODULES) && lg_reader_modules_omitted(report->reader, &omitted) == LG_OK && omitted)
        lg__json_unsigned(&report->json, omitted);
}

void lg__report_modules(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    (void)of;
    for (uint32_t i = 0; lg__report_wants(report, LG_REPORT_MODULES) && i < report->module_count; i++) {
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_module, &report->modules[i]);
    }
    lg__json_list_end(&report->json, &list);
}
