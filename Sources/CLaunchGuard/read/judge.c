#include "read/judge.h"

#include <stddef.h>

enum {
    NO = 0,
#define BIT(name) name = 1 << LG__FACT_##name,
    LG__FACT_TABLE(BIT)
#undef BIT
};

#define ROW(all, none, end, evidence, with, at, stays) \
    { all, none, LG_END_##end, LG_EVIDENCE_##evidence, LG__WITH_##with, LG__AT_##at, stays }

/* The rows of docs/ENDS.md. */
static const struct lg__judge_row rows[] = {
    ROW(EXECUTED, CRASHED | DUMPED | NOTED, CLEAN, EXEC, NOTHING, END, true),
    ROW(ALIVE, NO, RUNNING, PROCESS_ALIVE, NOTHING, NOTHING, false),
    ROW(CRASHED | TRACED, NO, DEBUGGER, TRACER, RECORD, RECORD, true),
    ROW(NOTED, CRASHED, CRASH, CRASH_NOTE, NOTHING, NOTE, true),
    ROW(DUMPED | SEEN_RECORD, NO, TERMINATED, WITNESS, RECORD, RECORD, false),
    ROW(DUMPED, NO, TERMINATED, DUMP_RECORD, RECORD, RECORD, false),
    ROW(CRASHED | SEEN_RECORD, NO, CRASH, WITNESS, RECORD, RECORD, false),
    ROW(CRASHED, NO, CRASH, CRASH_RECORD, RECORD, RECORD, true),
    ROW(SEEN_EXIT_0, NO, CLEAN, WITNESS, STATUS, END, false),
    ROW(SEEN_EXIT_N, NO, EXIT, WITNESS, STATUS, END, false),
    ROW(SEEN_REQUEST, NO, TERMINATED, WITNESS, STATUS, REQUEST, false),
    ROW(SEEN_DEADLY, NO, CRASH, WITNESS, STATUS, NOTHING, false),
    ROW(STOPPED, SEEN_KILL, CLEAN, STOP_MARK, NOTHING, END, true),
    ROW(EXIT_0, SEEN_KILL, CLEAN, EXIT_MARK, EXIT, END, false),
    ROW(EXIT_N, SEEN_KILL, EXIT, EXIT_MARK, EXIT, END, false),
    ROW(ASKED, LIVED_ON | SEEN_KILL, TERMINATED, TERMINATE_MARK, REQUEST, REQUEST, false),
    ROW(WILL_END | ASKED, SEEN_KILL, TERMINATED, STOP_TIMEOUT, REQUEST, ALIVE, false),
    ROW(WILL_END, SEEN_KILL, TERMINATED, TERMINATION_ANNOUNCED, NOTHING, ANNOUNCEMENT, false),
    ROW(WILL_RESTART, SEEN_KILL, CLEAN, RESTART_ANNOUNCED, NOTHING, ANNOUNCEMENT, true),
    ROW(REBOOTED, SEEN_KILL, REBOOT, BOOT_DIFFERS, NOTHING, NOTHING, false),
    ROW(OOM_NAMED, NO, OOM, KERNEL_LOG, KILL, MEMORY, false),
    ROW(OOM_LARGEST, NO, OOM, MEMORY_SHARE, KILL, MEMORY, false),
    ROW(HUNG, NO, HANG, HANG_MARK, STATUS, HANG, false),
    ROW(CPU_NEAR | SEEN_KILL, NO, KILLED, CPU_LIMIT, STATUS, CPU, false),
    ROW(ASKED | LIVED_ON, NO, TERMINATED, STOP_TIMEOUT, REQUEST, ALIVE, false),
    ROW(ASKED, NO, TERMINATED, STOP_TIMEOUT, REQUEST, REQUEST, false),
    ROW(JOB_NEAR | SEEN_KILL, NO, KILLED, DEADLINE, STATUS, JOB, false),
    ROW(SEEN_KILL | OOM_GROUP, NO, KILLED, OOM_COUNTER, STATUS, NOTHING, false),
    ROW(SEEN_KILL, NO, KILLED, WITNESS, STATUS, NOTHING, false),
    ROW(CPU_NEAR, NO, UNKNOWN, CPU_LIMIT, NOTHING, CPU, false),
    ROW(JOB_NEAR, NO, UNKNOWN, DEADLINE, NOTHING, JOB, false),
    ROW(FORKED, NO, UNKNOWN, FORK, NOTHING, FORK, false),
    ROW(OOM_GROUP, NO, UNKNOWN, OOM_COUNTER, NOTHING, NOTHING, false),
    ROW(MEMORY_NEAR, NO, UNKNOWN, NEAR_MEMORY_LIMIT, NOTHING, MEMORY, false),
    ROW(SURVIVED, NO, UNKNOWN, HANDLED, NOTHING, NOTHING, false),
    ROW(NO, NO, UNKNOWN, NO_MARK, NOTHING, NOTHING, false),
};
/* The result for a process that executed its program again, in place of a row that does not apply
 * to it. */
static const struct lg__judge_row again = ROW(NO, NO, EXIT, EXEC, NOTHING, NOTHING, true);

static bool applies(const struct lg__judge_row *row, bool (*holds)(void *of, enum lg__fact fact), void *of)
{
    const uint32_t asked = row->all | row->none;
    for (unsigned i = 0; asked >> i; i++)
        if (asked >> i & 1 && holds(of, (enum lg__fact)i) != (row->all >> i & 1))
            return false;
    return true;
}

const struct lg__judge_row *lg__judge(bool (*holds)(void *of, enum lg__fact fact), void *of, bool replaced)
{
    size_t i = 0;
    while (i + 1 < sizeof rows / sizeof rows[0] && !applies(&rows[i], holds, of))
        i++;
    return replaced && !rows[i].stays ? &again : &rows[i];
}
