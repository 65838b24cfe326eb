/* The launch of a program that a supervisor starts again and again: the launch machine decides in
 * the process of the program, before main(), so that each start is a run like any other. The
 * supervisor's commands are its report and its repairs. */
#include "preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "plan.h"
#include "session/preloaded.h"

/* The name of the context, which the supervisor knows. */
#define CONTEXT "main"
/* The longest time that a launch can wait for its report. */
#define REPORT_MS 5000

static struct lg__plan plan;
static lg_launch *launch;

/* Report in the log, or without one on standard error: the operator asked for repairs. */
static void say(const char *what, const char *why)
{
    char line[1024];
    snprintf(line, sizeof line, "%s: %s", what, why);
    if (!lg__settings_say(line) && !plan.quiet)
        dprintf(STDERR_FILENO, "launchguard: %s\n", line);
}

static bool run(const char *command, const char *const *arguments, uint32_t limit_ms, const char *name, char *why, size_t size)
{
    const bool done = lg__command_run(command, arguments, plan.preload, limit_ms, why, size);
    if (!done)
        say(name, why);
    return done;
}

static void report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    const char *paths[LG__COMMAND_ARGUMENTS + 1] = { NULL };
    char why[128], streak[16];
    (void)user;
    /* the last bytes are the most useful */
    const uint32_t first = batch->report_count > LG__COMMAND_ARGUMENTS ? batch->report_count - LG__COMMAND_ARGUMENTS : 0;
    for (uint32_t i = first; i < batch->report_count; i++)
        paths[i - first] = batch->reports[i]->path;
    snprintf(streak, sizeof streak, "%u", batch->streak);
    setenv("LAUNCHGUARD_STREAK", streak, 1);
    const bool said = run(plan.report, paths, REPORT_MS, "report", why, sizeof why);
    unsetenv("LAUNCHGUARD_STREAK");
    lg_complete(done, said ? LG_OK : LG_ERR_FAILED);
}

static void repair(lg_completion *done, void *user)
{
    const size_t index = (size_t)(uintptr_t)user;
    const char *arguments[] = { plan.repairs[index].name, NULL };
    char why[128] = "", name[LG_NAME_MAX + 16];
    snprintf(name, sizeof name, "repair %s", plan.repairs[index].name);
    say(name, "it runs");
    const bool repaired = run(plan.repairs[index].command, arguments, plan.repair_ms, name, why, sizeof why);
    if (repaired)
        say(name, "it succeeded");
    lg_complete_text(done, repaired ? LG_OK : LG_ERR_FAILED, why);
}

/* Without a supervisor's patience, the launch makes one more try in safe mode. */
static void give_up(lg_launch *halted, uint32_t hold, lg_completion *done, void *user)
{
    (void)halted, (void)hold, (void)user;
    if (!plan.supervised) {
        lg_complete(done, LG_OK);
        return;
    }
    lg__preloaded_leaves(0);
    _exit(0);
}

/* The plan of this process's supervisor. A program that the supervisor's child executes has it as
 * well, and other descendants have another parent. */
static bool take_plan(void)
{
    const char *text = secure_getenv("LAUNCHGUARD_LAUNCH");
    char *copy = text && *text ? strdup(text) : NULL; /* the plan points into it */
    if (!copy)
        return false;
    if (!lg__plan_parse(copy, &plan)) {
        lg__settings_say("LAUNCHGUARD_LAUNCH makes no sense: the launch is not protected");
        return false;
    }
    return plan.supervisor == getppid();
}

static bool prepare(lg_session *session)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.window_ms = plan.window_ms;
    options.finish = plan.mark ? LG_FINISH_MARK : LG_FINISH_EITHER;
    options.report_after = plan.report_after;
    options.repair_after = plan.repair_after;
    options.count = LG_COUNT_DEFAULT | LG_COUNT_EXIT;
    options.report_wait_ms = REPORT_MS;
    options.supervised = plan.supervised;
    options.callbacks = LG_CALLBACKS_CALLER; /* no thread in a program that did not ask for one */
    options.on_report = plan.report ? report : NULL;
    options.on_give_up = give_up;
    if (lg_launch_prepare(session, CONTEXT, &options, &launch) != LG_OK)
        return false;
    for (size_t i = 0; i < plan.repair_count; i++) {
        lg_repair step = LG_REPAIR_INIT;
        step.name = plan.repairs[i].name;
        step.impact = (uint32_t)(i * 100 / LG_REPAIRS_MAX); /* in the order of the supervisor */
        step.timeout_ms = plan.repair_ms + 1000;            /* its command ends sooner */
        step.run = repair;
        step.user = (void *)(uintptr_t)i;
        if (lg_launch_add_repair(launch, &step) != LG_OK)
            return false;
    }
    return true;
}

/* For the life of the process, as the arguments are. */
static void add_arguments(int *count, char ***arguments)
{
    const size_t before = (size_t)*count;
    char **copy = malloc((before + plan.safe_count + 1) * sizeof *copy);
    if (!copy)
        return;
    memcpy(copy, *arguments, before * sizeof *copy);
    for (size_t i = 0; i < plan.safe_count; i++)
        copy[before + i] = (char *)(uintptr_t)plan.safe[i];
    copy[before + plan.safe_count] = NULL;
    *arguments = copy;
    *count += (int)plan.safe_count;
}

void lg__launch_begin(lg_session *session, int *count, char ***arguments)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    if (!session || !take_plan())
        return;
    if (!prepare(session)) {
        say("the launch is not protected", lg_session_message(session));
        return;
    }
    lg_launch_begin(launch);
    if (lg_launch_get_info(launch, &info) != LG_OK || info.mode != LG_LAUNCH_MODE_SAFE)
        return;
    say("safe mode", "repairs did not help, and the program starts as LAUNCHGUARD_SAFE_MODE=1 asks it to");
    setenv("LAUNCHGUARD_SAFE_MODE", "1", 1);
    add_arguments(count, arguments);
}
