/* The verdict on a run: the facts by which judge.c finds its row, and the details of the end. */
#include "read/verdict.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "read/crashes.h"
#include "read/reader.h"
#include "read/judge.h"
#include "store/format.h"

static enum boot { BOOT_SAME, BOOT_OTHER, BOOT_NOT_KNOWN } boot_of(const struct lg__case *file)
{
    uint8_t now[LG__UUID_BYTES];
    if (!lg__os_boot_id(now) || !file->has_boot_id)
        return BOOT_NOT_KNOWN;
    return memcmp(now, file->boot_id, sizeof now) == 0 ? BOOT_SAME : BOOT_OTHER;
}

/* Whether the kernel ended a process in the run's own cgroup after the run was last seen alive.
 * Only a process in that group can see the count. */
static enum kills { KILLS_NONE, KILLS_SOME, KILLS_NOT_KNOWN } kills_since(const struct lg__case *file)
{
    const lg_run_info *run = &file->run;
    uint64_t cgroup, kills;
    if (boot_of(file) != BOOT_SAME)
        return KILLS_NONE;
    if (!run->oom_known || !lg__os_oom_kills(NULL, &cgroup, &kills) || cgroup != run->oom_cgroup)
        return KILLS_NOT_KNOWN;
    return kills > run->oom_kills ? KILLS_SOME : KILLS_NONE;
}

static bool traced(const struct lg__case *file)
{
    lg_resource tracer;
    return lg_reader_resource(file->reader, LG_RESOURCE_TRACER, &tracer) == LG_OK && tracer.known && tracer.value != 0;
}

/* The program noted a signal that asks to end, and was seen alive later. */
static bool lived_on(const lg_run_info *run)
{
    return run->term_signal && run->term_alive_ns > run->term_ns;
}

/* A loop that stands still since the program was asked to end, announced its end, or passed through
 * exit(), is busy with the end. A loop that stood still before that may be the reason for the
 * end. */
#define HUNG_BEFORE_NS UINT64_C(1000000000)
/* A program that went on for longer than this after a signal did not end because of it: supervisors
 * wait no longer than 90 s. */
#define ENDING_NS UINT64_C(100000000000)

/* A signal asked the program to end, unless the program went on after it: a SIGHUP then meant "read
 * your configuration again", a SIGINT "stop the current work". A SIGTERM is a request, however long
 * the end takes. */
static bool asked(const lg_run_info *run)
{
    bool went_on = lived_on(run) && (run->term_signal == SIGHUP || (run->term_signal == SIGINT && run->term_alive_ns - run->term_ns > ENDING_NS));
    return run->term_signal && !went_on;
}

/* The time of the mark of an end, by exit(), lg_stop() or exec; 0: there is none. */
static uint64_t marked_end(const lg_run_info *run)
{
    return run->exit_marked || run->stop_marked || run->exec_marked ? run->end_ns : 0;
}

static bool hung(const lg_run_info *run)
{
    bool may_end = asked(run) && (run->hang_ns < run->term_ns || run->hang_ns - run->term_ns <= ENDING_NS);
    const uint64_t leaving[] = { may_end ? run->term_ns : 0, run->end_announced ? run->announced_ns : 0, marked_end(run) };
    for (size_t i = 0; i < sizeof leaving / sizeof leaving[0]; i++)
        if (leaving[i] && (leaving[i] < run->hang_ns || leaving[i] - run->hang_ns <= HUNG_BEFORE_NS))
            return false;
    return run->hang_ns != 0;
}

/* The time when a job was first seen about to overrun its deadline; 0: none was. */
static uint64_t overran(const struct lg__case *file)
{
    uint64_t first = 0;
    lg_deadline_info deadline;
    for (uint32_t i = 0; lg_reader_deadline(file->reader, i, &deadline) == LG_OK; i++)
        if (deadline.near_ns && (!first || deadline.near_ns < first))
            first = deadline.near_ns;
    return first;
}

/* The signal that ended the process, as a witness saw; 0: none. */
static int seen_signal(const lg_run_info *run)
{
    return run->witnessed && WIFSIGNALED(run->wait_status) ? WTERMSIG(run->wait_status) : 0;
}

static bool seen_exit(const lg_run_info *run)
{
    return run->witnessed && WIFEXITED(run->wait_status);
}

/* Somebody meant the end: the system sends none of these for a fault or a limit, and no timer does
 * unless it was told to. A program with the default action for SIGPIPE noted it like a terminating
 * signal. */
static bool asks_to_end(const lg_run_info *run, int signal)
{
    switch (signal) {
    case SIGTERM: case SIGINT: case SIGHUP: case SIGQUIT: case SIGUSR1: case SIGUSR2: case SIGSTKFLT: case SIGPWR: return true;
    case SIGPIPE: return run->term_signal == SIGPIPE;
    default: return signal >= 32 /* real-time ones, libc's own included */;
    }
}


/* A fact is looked for once, and only if a row asks for it. */
struct facts {
    const struct lg__case *file;
    uint32_t known, found;
};

static bool holds(void *of, enum lg__fact fact);

static bool find(struct facts *facts, enum lg__fact fact)
{
    const struct lg__case *file = facts->file;
    const lg_run_info *run = &file->run;
    const int signal = seen_signal(run);
    switch (fact) {
    case LG__FACT_EXECUTED: return run->exec_marked;
    case LG__FACT_ALIVE: return run->alive;
    case LG__FACT_CRASHED: return file->died && file->crash.signal != SIGQUIT;
    case LG__FACT_DUMPED: return file->died && file->crash.signal == SIGQUIT;
    case LG__FACT_SURVIVED: return file->crashed && !file->died;
    case LG__FACT_NOTED: return run->crash_noted_ns != 0;
    case LG__FACT_SEEN_RECORD: return signal && file->died && signal == file->crash.signal;
    case LG__FACT_SEEN_EXIT_0: return seen_exit(run) && WEXITSTATUS(run->wait_status) == 0;
    case LG__FACT_SEEN_EXIT_N: return seen_exit(run) && WEXITSTATUS(run->wait_status) != 0;
    case LG__FACT_SEEN_REQUEST: return asks_to_end(run, signal);
    case LG__FACT_SEEN_DEADLY: return signal && signal != SIGKILL && !asks_to_end(run, signal);
    case LG__FACT_SEEN_KILL: return signal == SIGKILL;
    case LG__FACT_STOPPED: return run->stop_marked;
    case LG__FACT_EXIT_0: return run->exit_marked && run->exit_code == 0;
    case LG__FACT_EXIT_N: return run->exit_marked && run->exit_code != 0;
    case LG__FACT_ASKED: return asked(run);
    case LG__FACT_LIVED_ON: return lived_on(run);
    case LG__FACT_WILL_END: return run->end_announced == LG__ANNOUNCED_TERMINATION;
    case LG__FACT_WILL_RESTART: return run->end_announced == LG__ANNOUNCED_RESTART;
    case LG__FACT_HUNG: return hung(run);
    case LG__FACT_CPU_NEAR: return run->cpu_near_ns != 0;
    case LG__FACT_FORKED: return run->forked_ns != 0;
    case LG__FACT_MEMORY_NEAR: return run->memory_near_ns != 0;
    case LG__FACT_TRACED: return traced(file);
    case LG__FACT_JOB_NEAR: return overran(file) != 0;
    case LG__FACT_REBOOTED: return boot_of(file) == BOOT_OTHER;
    /* The kernel ends the largest process: in a group that lost one, it is a process that had more
     * than all others together. */
    case LG__FACT_OOM_LARGEST: return holds(facts, LG__FACT_OOM_GROUP) && run->memory_own > run->memory_limit / 2;
    case LG__FACT_OOM_GROUP: return kills_since(file) == KILLS_SOME;
    case LG__FACT_OOM_NAMED: return kills_since(file) != KILLS_NONE && lg__os_kernel_log_killed("/dev/kmsg", run->pid, run->monotonic_ns);
    case LG__FACTS: break;
    }
    return false;
}

static bool holds(void *of, enum lg__fact fact)
{
    struct facts *facts = of;
    const uint32_t bit = UINT32_C(1) << fact;
    if (!(facts->known & bit)) {
        facts->known |= bit;
        facts->found |= find(facts, fact) ? bit : 0;
    }
    return (facts->found & bit) != 0;
}

static void add_signal(const struct lg__case *file, enum lg__judge_with with, lg_verdict *verdict)
{
    const lg_run_info *run = &file->run;
    switch (with) {
    case LG__WITH_RECORD:
        verdict->signal = file->crash.signal;
        if (verdict->end == LG_END_CRASH || verdict->end == LG_END_DEBUGGER) {
            verdict->code = file->crash.code;
            verdict->kind = file->crash.kind;
        }
        break;
    case LG__WITH_STATUS:
        verdict->signal = seen_signal(run);
        verdict->code = seen_exit(run) ? WEXITSTATUS(run->wait_status) : 0;
        break;
    case LG__WITH_EXIT: verdict->code = run->exit_code; break;
    case LG__WITH_REQUEST: verdict->signal = run->term_signal; break;
    case LG__WITH_KILL: verdict->signal = SIGKILL; break;
    case LG__WITH_NOTHING: break;
    }
}

static uint64_t time_of(const struct lg__case *file, enum lg__judge_at at, int signal)
{
    const lg_run_info *run = &file->run;
    switch (at) {
    case LG__AT_END: return marked_end(run);
    case LG__AT_RECORD: return file->crash.monotonic_ns;
    case LG__AT_NOTE: return run->crash_noted_ns;
    case LG__AT_REQUEST: return run->term_signal == signal ? run->term_ns : 0;
    case LG__AT_ALIVE: return run->term_alive_ns;
    case LG__AT_ANNOUNCEMENT: return run->announced_ns;
    case LG__AT_HANG: return run->hung_alive_ns > run->hang_ns ? run->hung_alive_ns : run->hang_ns;
    case LG__AT_CPU: return run->cpu_near_ns;
    case LG__AT_MEMORY: return run->memory_near_ns;
    case LG__AT_JOB: return overran(file);
    case LG__AT_FORK: return run->forked_ns;
    case LG__AT_NOTHING: break;
    }
    return 0;
}

/* Other evidence than a record and the program's own mark is older than the end, which a witness
 * saw. */
static uint64_t end_of(const struct lg__case *file, enum lg__judge_at at, int signal)
{
    const uint64_t time = time_of(file, at, signal), seen = file->run.witnessed_ns;
    const bool exact = at == LG__AT_RECORD || (at == LG__AT_END && time);
    return exact || seen < file->run.monotonic_ns || seen < time ? time : seen;
}

static lg_verdict verdict_of(const struct lg__case *file, bool replaced)
{
    struct facts facts = { .file = file };
    const struct lg__judge_row *row = lg__judge(holds, &facts, replaced);
    lg_verdict verdict = { .end = (lg_end)row->end, .evidence = (lg_evidence)row->evidence };
    add_signal(file, (enum lg__judge_with)row->with, &verdict);
    verdict.monotonic_ns = end_of(file, (enum lg__judge_at)row->at, verdict.signal);
    return verdict;
}

lg_status lg__reader_case(lg_reader *reader, bool replaced, struct lg__case *ret_case)
{
    memset(ret_case, 0, sizeof *ret_case);
    ret_case->reader = reader;
    lg_status status = lg_reader_run(reader, &ret_case->run);
    if (status != LG_OK)
        return status;
    status = lg_reader_crash(reader, &ret_case->crash);
    if (status != LG_OK && status != LG_ERR_NOT_FOUND && status != LG_ERR_DAMAGED)
        return status;
    ret_case->crashed = status == LG_OK;
    ret_case->died = ret_case->crashed && !ret_case->crash.handled;
    ret_case->has_boot_id = lg__os_uuid(ret_case->run.boot_id, ret_case->boot_id);
    replaced = replaced && ret_case->run.alive;
    if (replaced)
        ret_case->run.alive = 0;
    ret_case->verdict = verdict_of(ret_case, replaced);
    return LG_OK;
}

lg_status lg_reader_verdict(lg_reader *reader, lg_verdict *ret_verdict)
{
    struct lg__case file;
    if (!reader || !ret_verdict)
        return LG_ERR_ARGUMENT;
    bool was_alive = lg__reader_alive(reader);
    uint32_t selected = lg__crashes_select_end(reader);
    lg_status status = lg__reader_case(reader, false, &file);
    /* its crash may be newer than the selection */
    if (status == LG_OK && was_alive && !file.run.alive) {
        lg__crashes_select_end(reader);
        status = lg__reader_case(reader, false, &file);
    }
    if (status == LG_OK)
        *ret_verdict = file.verdict;
    lg__crashes_select(reader, selected);
    return status;
}
