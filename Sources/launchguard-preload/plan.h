/* A supervisor's settings for the launches of a program: the variable LAUNCHGUARD_LAUNCH. */
#ifndef LG_PRELOAD_PLAN_H
#define LG_PRELOAD_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launchguard/repair.h"

/* Arguments that safe mode adds, at most. */
#define LG__SAFE_MAX 32

struct lg__plan {
    pid_t supervisor;        /* the plan is for the children of this process */
    uint32_t window_ms, report_after, repair_after, repair_ms;
    bool mark;               /* only a mark finishes the launch */
    bool quiet;              /* no messages on standard error */
    bool supervised;         /* where the launch is halted, the process ends with status 0 */
    const char *preload;     /* LD_PRELOAD of the commands; NULL: none */
    const char *report;      /* command; NULL: none */
    struct {
        const char *name, *command;
    } repairs[LG_REPAIRS_MAX];
    uint32_t repair_count;
    const char *safe[LG__SAFE_MAX];
    uint32_t safe_count;
};

/* Lines "key=value", of which each key is a member above ("safe", "repair" several times, a repair
 * as "repair=NAME=COMMAND"). In a value \n is a newline and \\ a backslash. `text` is cut into
 * pieces that the plan names. false: it is no plan. */
bool lg__plan_parse(char *text, struct lg__plan *ret_plan);

#endif
