#include "plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* In place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at == '\\' && at[1]) {
            at++;
            *to++ = *at == 'n' ? '\n' : *at;
        } else {
            *to++ = *at;
        }
    }
    *to = 0;
}

static bool parse_number(const char *text, uint32_t least, uint32_t most, uint32_t *ret_number)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end || errno || *text == '-' || number < least || number > most)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

static bool add_repair(struct lg__plan *plan, char *value)
{
    char *command = strchr(value, '=');
    if (!command || command == value || !command[1] || plan->repair_count == LG_REPAIRS_MAX)
        return false;
    *command++ = 0;
    plan->repairs[plan->repair_count].name = value;
    plan->repairs[plan->repair_count++].command = command;
    return true;
}

static bool add_safe(struct lg__plan *plan, const char *value)
{
    if (plan->safe_count == LG__SAFE_MAX)
        return false;
    plan->safe[plan->safe_count++] = value;
    return true;
}

static bool take_line(struct lg__plan *plan, char *line)
{
    char *value = strchr(line, '=');
    uint32_t number = 0;
    bool good = value != NULL;
    if (!good)
        return false;
    *value++ = 0;
    unescape(value);
    if (strcmp(line, "supervisor") == 0) {
        good = parse_number(value, 1, INT_MAX, &number);
        plan->supervisor = (pid_t)number;
    } else if (strcmp(line, "window_ms") == 0) {
        good = parse_number(value, 0, 86400000, &plan->window_ms);
    } else if (strcmp(line, "report_after") == 0) {
        good = parse_number(value, 1, 1000000, &plan->report_after);
    } else if (strcmp(line, "repair_after") == 0) {
        good = parse_number(value, 1, 1000000, &plan->repair_after);
    } else if (strcmp(line, "repair_ms") == 0) {
        good = parse_number(value, 1, 86400000, &plan->repair_ms);
    } else if (strcmp(line, "mark") == 0) {
        good = parse_number(value, 0, 1, &number);
        plan->mark = number;
    } else if (strcmp(line, "quiet") == 0) {
        good = parse_number(value, 0, 1, &number);
        plan->quiet = number;
    } else if (strcmp(line, "supervised") == 0) {
        good = parse_number(value, 0, 1, &number);
        plan->supervised = number;
    } else if (strcmp(line, "preload") == 0) {
        plan->preload = value;
    } else if (strcmp(line, "report") == 0) {
        plan->report = value;
    } else if (strcmp(line, "repair") == 0) {
        good = add_repair(plan, value);
    } else if (strcmp(line, "safe") == 0) {
        good = add_safe(plan, value);
    }
    return good; /* a key of a newer supervisor is ignored */
}

bool lg__plan_parse(char *text, struct lg__plan *ret_plan)
{
    const lg_launch_options usual = LG_LAUNCH_OPTIONS_INIT;
    struct lg__plan plan = { .window_ms = (uint32_t)usual.window_ms, .report_after = usual.report_after, .repair_after = usual.repair_after,
                             .repair_ms = 30000 };
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (!take_line(&plan, line))
            return false;
    *ret_plan = plan;
    return plan.supervisor > 0 && (plan.mark || plan.window_ms);
}
