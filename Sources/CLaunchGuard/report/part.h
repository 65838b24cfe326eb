/* Layer 3: the values of the reader as JSON. Shared by the files of report/. */
#ifndef LG_REPORT_PART_H
#define LG_REPORT_PART_H

#include "report/json.h"
#include "report/secrets.h"

#define LG__PROBLEMS_MAX 256u

/* A report while it is written. */
struct lg__report {
    struct lg__json json;
    lg_reader *reader;
    const lg_report_options *options;
    lg_run_info run;
    bool has_run;

    /* parts that could not be read */
    struct lg__problem {
        char part[96];
        lg_status status;
    } *problems;
    unsigned problem_count;
    const char *prefix;  /* of the parts that a problem names */
    bool is_complete;    /* a stage that was not committed was left out on purpose */

    lg_module *modules;  /* in which frames are looked up */
    uint32_t module_count;
    uint64_t frames_left;

    lg_log_info log; /* of the snapshot */
    lg_status log_status;

    struct lg__secrets *secrets; /* NULL: not of a run */
};

/* Whether the part is there. A part that cannot be read becomes a problem. */
bool lg__report_has(struct lg__report *report, lg_status status, const char *part);
/* Whether the caller wants a part, LG_REPORT_… */
bool lg__report_wants(const struct lg__report *report, uint32_t part);

#endif
