/* The parts of the report of a run. Each writes the members that it has into the object that is
 * open. */
#ifndef LG_REPORT_PARTS_H
#define LG_REPORT_PARTS_H

#include "report/table.h"

extern const struct lg__shape lg__shape_verdict, lg__shape_register;

/* ---- problems.c ---- */

/* Members of each file's object. */
#define LG__FIELDS_OF_A_FILE(type_) \
    VALUE("schema", lg__report_schema, "integer", "", \
          "Version of this shape. It grows when a field changes its meaning or goes away, not when a field is added."), \
    VALUE("type", lg__report_type, "string", "", "Always " type_ "."), \
    VALUE("path", lg__report_path, "string", "", "The file.")

void lg__report_schema(struct lg__report *report, const void *of);
void lg__report_type(struct lg__report *report, const void *of);
void lg__report_path(struct lg__report *report, const void *of);
void lg__report_problems(struct lg__report *report, const void *of);

/* ---- whole.c ---- */

/* A report of a reader, of malloc(); NULL: no memory. `options`: borrowed. */
struct lg__report *lg__report_new(lg_reader *reader, const lg_report_options *options);
void lg__report_free(struct lg__report *report);

/* ---- part_run.c ---- */

/* Read the identity, and so many modules, which the other parts need. */
void lg__report_read_run(struct lg__report *report);
void lg__report_read_modules(struct lg__report *report, bool has_stacks, uint32_t most);
void lg__report_identity(struct lg__report *report, const void *of);
void lg__report_contexts(struct lg__report *report, const void *of);
void lg__report_system(struct lg__report *report, const void *of);
void lg__report_verdict(struct lg__report *report, const void *of);
/* The verdict that counts: the caller's, or the reader's own. */
bool lg__report_final_verdict(struct lg__report *report, lg_verdict *ret_verdict);
void lg__report_fingerprint(struct lg__report *report, const void *of);
void lg__report_modules(struct lg__report *report, const void *of);
void lg__report_modules_omitted(struct lg__report *report, const void *of);

/* ---- part_crash.c ---- */

void lg__report_crash(struct lg__report *report, const void *of);
void lg__report_other_crashes(struct lg__report *report, const void *of);
/* The number of crashes, and the one that counts. Another one is selected afterwards. */
uint32_t lg__report_crash_count(struct lg__report *report, uint32_t *ret_end);

/* ---- part_stack.c ---- */

/* The address is a return address: the byte before it is looked up; or exactly that of an
 * instruction. */
void lg__report_frame(struct lg__report *report, uint64_t pc, bool exact);
/* Whether a breakpoint instruction of x86 has left the program counter of the selected crash after
 * itself. */
bool lg__report_is_past_breakpoint(lg_reader *reader, const lg_crash_info *crash);
/* Whether a frame is the kernel's call of a signal handler. */
bool lg__report_is_signal(const lg_stack_info *stack, uint64_t pc);
/* Whether the modules have code there. */
bool lg__report_is_in_module(const struct lg__report *report, uint64_t address);

/* A walk, and how its pcs are read. */
struct lg__walk {
    lg_stack_info info;
    bool is_top_exact;
    const char *part; /* that a problem names */
    lg_status (*pc)(struct lg__report *report, const void *of, uint32_t index, uint64_t *ret_pc);
    const void *of;
};
void lg__report_stack(struct lg__report *report, const struct lg__walk *walk);

/* ---- part_async.c ---- */

/* Chains of asynchronous callers, and how they are read. */
struct lg__chains {
    const char *part;  /* that a problem names */
    bool is_top_exact; /* the innermost frame is where it stopped */
    lg_status (*chain)(struct lg__report *report, const void *of, uint32_t index, lg_async_chain *ret_chain);
    lg_status (*caller)(struct lg__report *report, const void *of, uint32_t chain, uint32_t index, uint64_t *ret_pc);
    const void *of;
};
void lg__report_chains(struct lg__report *report, const struct lg__chains *chains);

/* ---- part_threads.c ---- */

/* The threads of the selected crash. */
void lg__report_threads(struct lg__report *report, const void *of);
void lg__report_thread_counts(struct lg__report *report, const void *of);
void lg__report_cpu_time(struct lg__report *report, const void *of);
void lg__report_snapshots(struct lg__report *report, const void *of);

/* ---- part_memory.c: of the selected crash ---- */

void lg__report_memory_map(struct lg__report *report, const void *crash);
void lg__report_address_mapping(struct lg__report *report, const void *crash);
void lg__report_address_place(struct lg__report *report, const void *crash);
void lg__report_stack_memory(struct lg__report *report, const void *crash);
void lg__report_code_memory(struct lg__report *report, const void *crash);
void lg__report_stack_stretches(struct lg__report *report, const void *crash);
void lg__report_possible_frames(struct lg__report *report, const void *crash);
/* The mappings, one after the other. False: there is no map. */
typedef void (*lg__report_map_taker)(uint64_t start, uint64_t end, const char *permissions, uint64_t offset, const char *path, void *user);
bool lg__report_map_each(struct lg__report *report, lg__report_map_taker take, void *user);

/* ---- part_words.c ---- */

/* Take the snapshot of the log, and then ask what is redacted. */
void lg__report_read_log(struct lg__report *report);
void lg__report_annotations(struct lg__report *report, const void *of);
void lg__report_breadcrumbs(struct lg__report *report, const void *of);
void lg__report_heartbeats(struct lg__report *report, const void *of);
void lg__report_deadlines(struct lg__report *report, const void *of);
void lg__report_standard_error(struct lg__report *report, const void *of);
void lg__report_last_words(struct lg__report *report, const void *of);

/* ---- part_guards.c ---- */

void lg__report_guards(struct lg__report *report, const void *of);

/* ---- part_ledger.c ---- */

void lg__report_ledger(struct lg__report *report);

#endif
