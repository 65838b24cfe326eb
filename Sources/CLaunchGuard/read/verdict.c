/* The verdict on a run: the rows of the table in ARCHITECTURE.md. */
#include "read/verdict.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "read/crashes.h"
#include "read/internal.h"
#include "store/format.h"

static bool parse_uuid(const char text[37], uint8_t ret_uuid[16])
{
    int digits = 0;
    for (const char *at = text; *at; at++) {
        int value = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;
        if (value < 0)
            continue;
        if (digits == 32)
            return false;
        ret_uuid[digits / 2] = (uint8_t)(digits % 2 ? ret_uuid[digits / 2] | value : value << 4);
        digits++;
    }
    return digits == 32;
}

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
    if (!run->oom_known || !lg__os_oom_kills(NULL, &cgroup, &kills) || cgroup != run->oom_cgroup)
        return KILLS_NOT_KNOWN;
    return kills > run->oom_kills ? KILLS_SOME : KILLS_NONE;
}

/* The kernel ended this very process for lack of memory: its log says so, or it ended one of the
 * group while this one had more than all others together. The kernel ends the largest. The count
 * alone does not say which process it was. */
static lg_evidence oom_of_this_process(const struct lg__case *file)
{
    const lg_run_info *run = &file->run;
    enum kills kills = boot_of(file) == BOOT_SAME ? kills_since(file) : KILLS_NONE;
    if (kills != KILLS_NONE && lg__os_kernel_log_killed("/dev/kmsg", run->pid, run->monotonic_ns))
        return LG_EVIDENCE_KERNEL_LOG;
    return kills == KILLS_SOME && run->memory_own > run->memory_limit / 2 ? LG_EVIDENCE_MEMORY_SHARE : LG_EVIDENCE_NONE;
}

/* The kernel ended this process, or another one of its group. */
static bool oom_of_the_group(const struct lg__case *file)
{
    return boot_of(file) == BOOT_SAME && kills_since(file) == KILLS_SOME;
}

static lg_verdict of_record(const struct lg__case *file, lg_end end, lg_evidence evidence)
{
    const lg_crash_info *crash = &file->crash;
    lg_verdict verdict = { .end = end, .evidence = evidence, .signal = crash->signal, .monotonic_ns = crash->monotonic_ns };
    if (end == LG_END_CRASH || end == LG_END_DEBUGGER) {
        verdict.code = crash->code;
        verdict.kind = crash->kind;
    }
    return verdict;
}

static bool traced(const struct lg__case *file)
{
    lg_resource tracer;
    return file->died && file->crash.signal != SIGQUIT &&
           lg_reader_resource(file->reader, LG_RESOURCE_TRACER, &tracer) == LG_OK && tracer.known && tracer.value != 0;
}

static bool asks_to_end(int signal)
{
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* The program noted a signal that asks to end, and was seen alive later. */
static bool lived_on(const lg_run_info *run)
{
    return run->term_signal && run->term_alive_ns > run->term_ns;
}

/* A loop that stands still since the program was asked to end, announced its end, or passed through
 * exit(), is busy with the end. A loop that had stood still for a while before that may be the
 * reason of the end. */
#define HUNG_BEFORE_NS UINT64_C(1000000000)
/* A program that went on for longer than this after a signal was not about to end for it:
 * supervisors wait no longer than 90 s. */
#define ENDING_NS UINT64_C(100000000000)

/* The program went on after the signal, and so was not asked to end: a SIGHUP means "read your
 * configuration again", a SIGINT the end of what the program was doing. A SIGTERM is a request,
 * however long the end takes. */
static bool meant_something_else(const lg_run_info *run)
{
    return lived_on(run) && (run->term_signal == SIGHUP || (run->term_signal == SIGINT && run->term_alive_ns - run->term_ns > ENDING_NS));
}

static bool hung(const lg_run_info *run)
{
    bool asked = run->term_signal && !meant_something_else(run) && (run->hang_ns < run->term_ns || run->hang_ns - run->term_ns <= ENDING_NS);
    const uint64_t leaving[] = { asked ? run->term_ns : 0, run->end_announced ? run->announced_ns : 0, run->end_ns };
    for (size_t i = 0; i < sizeof leaving / sizeof leaving[0]; i++)
        if (leaving[i] && (leaving[i] < run->hang_ns || leaving[i] - run->hang_ns <= HUNG_BEFORE_NS))
            return false;
    return run->hang_ns != 0;
}

/* A job was about to overrun its deadline. Returns when that was seen first; 0: none was. */
static uint64_t overran(const struct lg__case *file)
{
    uint64_t first = 0;
    lg_deadline_info deadline;
    for (uint32_t i = 0; lg_reader_deadline(file->reader, i, &deadline) == LG_OK; i++)
        if (deadline.near_ns && (!first || deadline.near_ns < first))
            first = deadline.near_ns;
    return first;
}

/* The reason why the process was ended from outside without a mark of its own: the marks that it
 * had when it was last seen. `killed`: it is known that SIGKILL ended it. false: no reason is
 * known. */
static bool cause_of_kill(const struct lg__case *file, bool killed, lg_verdict *ret_verdict)
{
    const lg_run_info *run = &file->run;
    int signal = killed ? SIGKILL : 0;
    lg_evidence oom = oom_of_this_process(file);
    if (oom)
        *ret_verdict = (lg_verdict){ .end = LG_END_OOM, .evidence = oom, .signal = SIGKILL, .monotonic_ns = run->memory_near_ns };
    else if (hung(run))
        *ret_verdict = (lg_verdict){ .end = LG_END_HANG, .evidence = LG_EVIDENCE_HANG_MARK, .signal = signal, .monotonic_ns = run->hang_ns };
    else if (run->cpu_near_ns)
        *ret_verdict = (lg_verdict){ .end = LG_END_KILLED, .evidence = LG_EVIDENCE_CPU_LIMIT, .signal = SIGKILL, .monotonic_ns = run->cpu_near_ns };
    else if (!meant_something_else(run) && (lived_on(run) || (killed && run->term_signal)))
        *ret_verdict = (lg_verdict){ .end = LG_END_TERMINATED, .evidence = LG_EVIDENCE_STOP_TIMEOUT, .signal = run->term_signal,
                                     .monotonic_ns = lived_on(run) ? run->term_alive_ns : run->term_ns };
    else if (overran(file))
        *ret_verdict = (lg_verdict){ .end = LG_END_KILLED, .evidence = LG_EVIDENCE_DEADLINE, .signal = SIGKILL, .monotonic_ns = overran(file) };
    else
        return false;
    return true;
}

/* The program, or a crash reporter in it, said that it had crashed: no later mark takes that back,
 * and no status says more. The program's own record of the crash does. */
static bool by_note(const struct lg__case *file)
{
    return file->run.crash_noted_ns && (!file->died || file->crash.signal == SIGQUIT);
}

/* The knowledge of a parent that waited for the process. false: the rows below know more.
 *
 * A record that the program is not known to have survived stays a crash. Where the status is not
 * that of the record's signal, a handler of the program ended the process by exit(), or another
 * process killed it while that handler ran. A SIGKILL shows how the process ended; the marks of the
 * program show why. */
static bool by_witness(const struct lg__case *file, lg_verdict *ret_verdict)
{
    const lg_run_info *run = &file->run;
    int status = run->wait_status;
    lg_verdict verdict = { .evidence = LG_EVIDENCE_WITNESS };
    if (!run->witnessed || (!WIFEXITED(status) && !WIFSIGNALED(status)))
        return false;
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (file->died) {
        if (signal != file->crash.signal)
            return false;
        *ret_verdict = of_record(file, signal == SIGQUIT ? LG_END_TERMINATED : LG_END_CRASH, LG_EVIDENCE_WITNESS);
        return true;
    }
    if (!signal) {
        verdict.code = WEXITSTATUS(status);
        verdict.end = verdict.code == 0 ? LG_END_CLEAN : LG_END_EXIT;
        verdict.monotonic_ns = run->exit_marked || run->stop_marked ? run->end_ns : 0;
    } else if (asks_to_end(signal) || signal == SIGQUIT || (signal == SIGPIPE && run->term_signal == SIGPIPE)) {
        verdict.end = LG_END_TERMINATED;
        verdict.monotonic_ns = run->term_signal == signal ? run->term_ns : 0;
    } else if (signal != SIGKILL) {
        verdict.end = LG_END_CRASH;
    } else if (cause_of_kill(file, true, ret_verdict)) {
        return true;
    } else {
        verdict.end = LG_END_KILLED;
        verdict.evidence = oom_of_the_group(file) ? LG_EVIDENCE_OOM_COUNTER : LG_EVIDENCE_WITNESS;
    }
    verdict.signal = signal;
    *ret_verdict = verdict;
    return true;
}

/* The first match wins. */
static lg_verdict judge(const struct lg__case *file)
{
    const lg_run_info *run = &file->run;
    lg_verdict verdict;
    /* Whatever the process lives for or has died of since is of the program that it executed. */
    if (run->exec_marked && !file->died && !run->crash_noted_ns)
        return (lg_verdict){ .end = LG_END_CLEAN, .evidence = LG_EVIDENCE_EXEC, .monotonic_ns = run->end_ns };
    if (run->alive)
        return (lg_verdict){ .end = LG_END_RUNNING, .evidence = LG_EVIDENCE_PROCESS_ALIVE };
    /* Under a debugger people stop, change and kill programs: such an end never counts. */
    if (traced(file))
        return of_record(file, LG_END_DEBUGGER, LG_EVIDENCE_TRACER);
    if (by_note(file))
        return (lg_verdict){ .end = LG_END_CRASH, .evidence = LG_EVIDENCE_CRASH_NOTE, .monotonic_ns = run->crash_noted_ns };
    if (by_witness(file, &verdict))
        return verdict;
    if (file->died && file->crash.signal == SIGQUIT)
        return of_record(file, LG_END_TERMINATED, LG_EVIDENCE_DUMP_RECORD);
    if (file->died)
        return of_record(file, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    if (run->stop_marked)
        return (lg_verdict){ .end = LG_END_CLEAN, .evidence = LG_EVIDENCE_STOP_MARK, .monotonic_ns = run->end_ns };
    if (run->exit_marked)
        return (lg_verdict){ .end = run->exit_code == 0 ? LG_END_CLEAN : LG_END_EXIT, .evidence = LG_EVIDENCE_EXIT_MARK,
                             .code = run->exit_code, .monotonic_ns = run->end_ns };
    /* Where the program lived on and did not announce its end, the signal may have meant something
     * else to it: later marks decide. */
    if (run->term_signal && !lived_on(run))
        return (lg_verdict){ .end = LG_END_TERMINATED, .evidence = LG_EVIDENCE_TERMINATE_MARK, .signal = run->term_signal,
                             .monotonic_ns = run->term_ns };
    if (run->end_announced == LG__ANNOUNCED_TERMINATION && lived_on(run) && !meant_something_else(run))
        return (lg_verdict){ .end = LG_END_TERMINATED, .evidence = LG_EVIDENCE_STOP_TIMEOUT, .signal = run->term_signal,
                             .monotonic_ns = run->term_alive_ns };
    if (run->end_announced == LG__ANNOUNCED_TERMINATION)
        return (lg_verdict){ .end = LG_END_TERMINATED, .evidence = LG_EVIDENCE_TERMINATION_ANNOUNCED, .monotonic_ns = run->announced_ns };
    if (run->end_announced == LG__ANNOUNCED_RESTART)
        return (lg_verdict){ .end = LG_END_CLEAN, .evidence = LG_EVIDENCE_RESTART_ANNOUNCED, .monotonic_ns = run->announced_ns };
    if (boot_of(file) == BOOT_OTHER)
        return (lg_verdict){ .end = LG_END_REBOOT, .evidence = LG_EVIDENCE_BOOT_DIFFERS };
    if (cause_of_kill(file, false, &verdict))
        return verdict;
    if (run->forked_ns)
        return (lg_verdict){ .end = LG_END_UNKNOWN, .evidence = LG_EVIDENCE_FORK, .monotonic_ns = run->forked_ns };
    if (oom_of_the_group(file))
        return (lg_verdict){ .end = LG_END_UNKNOWN, .evidence = LG_EVIDENCE_OOM_COUNTER };
    if (run->memory_near_ns)
        return (lg_verdict){ .end = LG_END_UNKNOWN, .evidence = LG_EVIDENCE_NEAR_MEMORY_LIMIT, .monotonic_ns = run->memory_near_ns };
    return (lg_verdict){ .end = LG_END_UNKNOWN, .evidence = file->crashed ? LG_EVIDENCE_HANDLED : LG_EVIDENCE_NO_MARK };
}

/* The process lives, under another program: only marks from before that are about an end. */
static lg_verdict judge_replaced(struct lg__case *file)
{
    file->run.alive = 0;
    lg_verdict verdict = judge(file);
    if (file->run.exec_marked)
        return verdict;
    switch (verdict.evidence) {
    case LG_EVIDENCE_CRASH_RECORD: /* a handler of the program executed it again */
    case LG_EVIDENCE_CRASH_NOTE:
    case LG_EVIDENCE_TRACER:
    case LG_EVIDENCE_STOP_MARK:
    case LG_EVIDENCE_RESTART_ANNOUNCED: return verdict;
    default: return (lg_verdict){ .end = LG_END_EXIT, .evidence = LG_EVIDENCE_EXEC };
    }
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
    ret_case->has_boot_id = parse_uuid(ret_case->run.boot_id, ret_case->boot_id);
    ret_case->verdict = replaced && ret_case->run.alive ? judge_replaced(ret_case) : judge(ret_case);
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
