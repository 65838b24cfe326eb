/* Delta debugging: starts are taken out in ever smaller pieces, then what is left is made plain,
 * field by field, as long as the same invariant breaks. */
#include <string.h>

#include "life.h"
#include "launchguard/task.h"

static bool still(const struct life *life, enum broken broken)
{
    return live(life, NULL, NULL, NULL) == broken;
}

static bool take_out(struct life *life, enum broken broken, unsigned from, unsigned count)
{
    static struct life less;
    less = *life;
    memmove(&less.starts[from], &less.starts[from + count], (less.start_count - from - count) * sizeof less.starts[0]);
    less.start_count -= count;
    if (!still(&less, broken))
        return false;
    *life = less;
    return true;
}

static bool fewer_starts(struct life *life, enum broken broken)
{
    bool any = false;
    for (unsigned piece = life->start_count / 2; piece > 0; piece /= 2)
        for (unsigned from = 0; from + piece <= life->start_count;)
            if (take_out(life, broken, from, piece))
                any = true;
            else
                from += piece;
    return any;
}

/* Try the change; take it back where the life is whole then. */
#define TRY(field, plain)                         \
    do {                                          \
        const struct life before = *life;         \
        (field) = (plain);                        \
        if (memcmp(&before, life, sizeof before) != 0) { \
            if (still(life, broken))              \
                any = true;                       \
            else                                  \
                *life = before;                   \
        }                                         \
    } while (0)

static bool plainer_starts(struct life *life, enum broken broken)
{
    bool any = false;
    for (unsigned i = 0; i < life->start_count; i++) {
        struct start *start = &life->starts[i];
        TRY(start->onset, 0);
        TRY(start->hint, 0);
        TRY(start->meddles, NOTHING);
        TRY(start->repair_ends, NOTHING);
        TRY(start->repair_fails, false);
        TRY(start->answer, CONSENTS);
        TRY(start->ends, NOTHING);
        TRY(start->jump_h, 0);
        TRY(start->reboots, false);
        TRY(start->offline, false);
        TRY(start->disk, DISK_WELL);
        TRY(start->version, i ? life->starts[i - 1].version : 1);
        TRY(start->gap_s, 1);
        TRY(start->uptime_s, 0);
        TRY(start->meddles_in, 0);
    }
    return any;
}

static bool plainer_program(struct life *life, enum broken broken)
{
    struct program *program = &life->program;
    bool any = false;
    TRY(program->report_after, 1);
    TRY(program->repair_after, 2);
    TRY(program->unknown_after, 4);
    TRY(program->safe_retry_runs, 2);
    TRY(program->safe_crash_limit, 2);
    TRY(program->deescalate_runs, 3);
    TRY(program->asks, false);
    TRY(program->by_hand, false);
    TRY(program->supervised, false);
    TRY(program->leaves_out, true);
    TRY(program->neighbour, false);
    TRY(program->delivers, false);
    TRY(program->limits.runs, 32);
    TRY(program->limits.bytes, UINT64_MAX);
    if (program->repair_count)
        TRY(program->repair_count, program->repair_count - 1);
    for (unsigned i = 0; i < program->repair_count; i++) {
        TRY(program->repairs[i].attempts, 1);
        TRY(program->repairs[i].destructive, false);
        TRY(program->repairs[i].consent, false);
        TRY(program->repairs[i].restart, false);
    }
    for (unsigned i = 0; i < TASKS; i++)
        TRY(program->tasks[i], 0);
    return any;
}

static bool plainer_bugs(struct life *life, enum broken broken)
{
    bool any = false;
    for (unsigned i = 0; i < life->bug_count; i++) {
        struct bug *bug = &life->bugs[i];
        TRY(bug->every, 1);
        TRY(bug->only_offline, false);
        TRY(bug->only_full, false);
        TRY(bug->end, LG_END_CRASH);
        TRY(bug->task, 0);
        for (unsigned cure = CURE_LEFT_OUT; cure < CURE_REPAIR << REPAIRS; cure *= 2)
            TRY(bug->cures, bug->cures & ~cure);
    }
    return any;
}

void shrink(struct life *life, enum broken broken)
{
    unsigned starts;
    live(life, NULL, NULL, &starts);
    life->start_count = starts;
    for (unsigned round = 0; round < 20; round++) {
        bool any = fewer_starts(life, broken);
        any = plainer_starts(life, broken) || any;
        any = plainer_program(life, broken) || any;
        any = plainer_bugs(life, broken) || any;
        if (!any)
            break;
    }
}
