/* A minidump of a run while it is written: what the run has for it. */
#ifndef LG_REPORT_DUMP_FACTS_H
#define LG_REPORT_DUMP_FACTS_H

#include "report/dump_streams.h"
#include "report/part.h"

/* What is left out of a minidump that would be too large. */
struct lg__dump_limits {
    size_t memory;  /* bytes of stacks */
    bool has_map;
    uint32_t threads, modules;
};

struct lg__dump {
    struct lg__report *report;
    lg_reader *reader;
    const lg_minidump_options *options;
    const struct lg__dump_limits *limits;
    struct lg__dump_file file;
    enum lg__dump_processor processor;
    lg_verdict verdict;
    bool has_verdict;
    /* the crash that counts; and the crash with the surroundings in its record: a brief one has
     * none */
    lg_crash_info crash, recorded;
    uint32_t crash_index, recorded_index;
    bool has_crash, has_recorded;
    lg_snapshot_info snapshot; /* the stacks that were taken last */
    bool has_snapshot;
    uint64_t figures[LG_RESOURCE_TRACER + 1]; /* UINT64_MAX: not known */
};


/* Find the crashes and the stacks that were taken last, and read the figures. */
void lg__dump_facts_crashes(struct lg__dump *dump);
void lg__dump_facts_figures(struct lg__dump *dump);

/* Select one of the two crashes; they may be one. */
void lg__dump_facts_select(struct lg__dump *dump, bool recorded);
bool lg__dump_facts_has_other(const struct lg__dump *dump);

/* A text that may be in the file, of malloc(); `size`: in and out. Without memory the file
 * fails. */
char *lg__dump_facts_text(struct lg__dump *dump, const char *text, size_t *size);

/* ---- streams of these facts; one file each ---- */

void lg__dump_process_system(struct lg__dump *dump);
void lg__dump_process_misc(struct lg__dump *dump);
void lg__dump_process_map(struct lg__dump *dump);
void lg__dump_process_status(struct lg__dump *dump);

/* By the names of registers, or by what uname() said. */
void lg__dump_threads_processor(struct lg__dump *dump);
/* The memory, the threads with their names, and the exception. */
void lg__dump_threads_add(struct lg__dump *dump);

/* The modules, the program first. */
void lg__dump_modules_add(struct lg__dump *dump);
/* Path of the program's own module; "": not known. */
const char *lg__dump_modules_program(const struct lg__report *report);
/* The last part of a path. Borrowed. */
const char *lg__dump_modules_name(const char *path);

void lg__dump_annotations_add(struct lg__dump *dump);

#endif
