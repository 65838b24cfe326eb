/* The phase of a launch in which the program dies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogue.h"
#include "threads.h"

enum { NOT_REACHED = 78 };

static const struct lgf_entry *entry;
static const char *phase;

const char *const lgf_phases[] = { "none", "launching", "finished", "task", "reporting", "protecting", "held", "repairing",
                                   "probation", "safe", "giving-up", "trial", NULL };

static bool at(const char *name)
{
    return strcmp(phase, name) == 0;
}

/* Run the entry if this is the place. Some ways to die leave the program alive. */
static void die_at(const char *name)
{
    if (at(name))
        lgf_run(entry);
}

static void on_report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)batch, (void)user;
    die_at("reporting");
    lg_complete(done, LG_OK);
}

static void on_give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)hold, (void)user;
    die_at("giving-up");
    lg_complete(done, LG_OK);
}

static void repair(lg_completion *done, void *user)
{
    (void)user;
    die_at("repairing");
    /* repairs that all fail lead to safe mode */
    lg_complete(done, at("safe") ? LG_ERR_FAILED : LG_OK);
}

static lg_status first_task(void *user)
{
    (void)user;
    die_at("task");
    if (at("protecting")) /* the second task has not run yet, and so gets its protect action */
        lg_launch_protect(lgf_launch, "to die in a protect action");
    return LG_OK;
}

static lg_status second_task(void *user)
{
    (void)user;
    return LG_OK;
}

static void protect(void *user)
{
    (void)user;
    die_at("protecting");
}

static void must_be(bool reached)
{
    if (reached)
        return;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_launch_get_info(lgf_launch, &info);
    fprintf(stderr, "launchguard-faults: the launch is not at \"%s\" but %s, mode %s, streak %u: the earlier runs did not lead there\n", phase,
            lg_launch_status_name(lg_launch_get_status(lgf_launch)), lg_launch_mode_name(info.mode), info.streak);
    exit(NOT_REACHED);
}

static bool in_mode(lg_launch_mode mode)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    return lg_launch_get_info(lgf_launch, &info) == LG_OK && info.mode == mode && lg_launch_get_status(lgf_launch) == LG_LAUNCH_CHECKING;
}

static void prepare(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.finish = LG_FINISH_MARK;
    options.auto_repair = !at("held");
    options.hold = at("held") ? LG_HOLD_CUSTODY : LG_HOLD_BLOCK;
    options.report_wait_ms = 5000;
    options.on_report = on_report;
    options.on_give_up = on_give_up;
    lg_launch_prepare(lgf_session, "main", &options, &lgf_launch);
    static const char *const repairs[] = { "small repair", "large repair" };
    for (uint32_t i = 0; i < 2; i++) {
        lg_repair rung = LG_REPAIR_INIT;
        rung.name = repairs[i];
        rung.impact = 10 + 40 * i;
        rung.run = repair;
        lg_launch_add_repair(lgf_launch, &rung);
    }
    lg_task first = LG_TASK_INIT;
    first.key = "first task";
    first.run = first_task;
    lg_launch_add_task(lgf_launch, &first);
    lg_task second = LG_TASK_INIT;
    second.key = "second task";
    second.run = second_task;
    second.protect = protect;
    lg_launch_add_task(lgf_launch, &second);
}

/* Earlier runs may have held the launch already; else the program asks for the hold. */
static void hold(void)
{
    if (lg_launch_get_status(lgf_launch) != LG_LAUNCH_NEEDS_REPAIR)
        lg_launch_protect(lgf_launch, "to die at another place");
}

void lgf_run_at(const struct lgf_entry *what, const char *where)
{
    entry = what;
    phase = where;
    if (!lgf_session || at("none")) {
        lgf_run(entry);
        return;
    }
    prepare();
    lg_launch_begin(lgf_launch);
    if (at("held") || at("repairing") || at("probation") || at("safe"))
        hold();
    if (at("held")) {
        must_be(lg_launch_get_status(lgf_launch) == LG_LAUNCH_NEEDS_REPAIR);
        lgf_run(entry);
        return;
    }
    lg_launch_wait(lgf_launch, UINT32_MAX);
    if (at("finished"))
        lg_launch_finished(lgf_launch);
    if (at("probation"))
        must_be(in_mode(LG_LAUNCH_MODE_PROBATION));
    if (at("safe"))
        must_be(in_mode(LG_LAUNCH_MODE_SAFE));
    if (at("trial"))
        must_be(in_mode(LG_LAUNCH_MODE_TRIAL));
    if (at("launching") || at("finished") || at("probation") || at("safe") || at("trial"))
        lgf_run(entry);
}
