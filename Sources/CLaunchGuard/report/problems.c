/* The begin and the end of each file's object: the file, and the problems of reading it. */
#include "report/parts.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA 1

bool lg__report_wants(const struct lg__report *report, uint32_t part)
{
    return !(report->options->left_out & part);
}

/* ---- problems ---- */

bool lg__report_has(struct lg__report *report, lg_status status, const char *part)
{
    char name[sizeof report->problems->part];
    if (status == LG_OK || status == LG_ERR_NOT_FOUND || (status == LG_ERR_INCOMPLETE && report->is_complete))
        return status == LG_OK;
    snprintf(name, sizeof name, "%s%s", report->prefix, part);
    for (unsigned i = 0; i < report->problem_count; i++)
        if (report->problems[i].status == status && strcmp(report->problems[i].part, name) == 0)
            return false;
    if (report->problem_count < LG__PROBLEMS_MAX) {
        struct lg__problem *problem = &report->problems[report->problem_count++];
        memcpy(problem->part, name, sizeof name);
        problem->status = status;
    }
    return false;
}

static void problem_code(struct lg__report *report, const void *of)
{
    lg__json_string(&report->json, lg_status_name(((const struct lg__problem *)of)->status));
}

static void problem_message(struct lg__report *report, const void *of)
{
    lg__json_string(&report->json, lg_status_message(((const struct lg__problem *)of)->status));
}

#define OF struct lg__problem

static const struct lg__field problem_fields[] = {
    FIELD(TEXT, "part", part, "", "The part of the file."),
    VALUE("code", problem_code, "string", "", "For example damaged."),
    VALUE("message", problem_message, "string", "", "A sentence for people."),
    LAST,
};
const struct lg__shape lg__shape_problem = { "problem", LG__SENTENCE("A part of the file that could not be read."), problem_fields };

#undef OF

void lg__report_problems(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    (void)of;
    lg__json_list_begin(&report->json, &list);
    for (unsigned i = 0; i < report->problem_count; i++) {
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_problem, &report->problems[i]);
    }
    lg__json_list_end(&report->json, &list);
}

/* ---- the file ---- */

void lg__report_schema(struct lg__report *report, const void *of)
{
    (void)of;
    lg__json_signed(&report->json, SCHEMA);
}

void lg__report_type(struct lg__report *report, const void *of)
{
    (void)of;
    lg__json_string(&report->json, lg_reader_kind(report->reader) == LG_FILE_LEDGER ? "ledger" : "run");
}

void lg__report_path(struct lg__report *report, const void *of)
{
    (void)of;
    lg__json_string(&report->json, report->options->path ? report->options->path : "");
}
