/* Every object of a report, in the order of the page of fields. */
#include "report/table.h"

#define SHAPES(X)                                                                                                       \
    X(run) X(identity) X(run_termination) X(run_announcement) X(run_witness) X(run_kills) X(run_cpu) X(run_pressure)    \
    X(run_note) X(system) X(verdict) X(context) X(module) X(crash) X(message) X(register) X(stack) X(frame) X(async) X(thread)  \
    X(thread_counts) X(note) X(resource) X(bytes) X(stretch) X(map) X(mapping) X(annotation) X(log) X(breadcrumb)       \
    X(field) X(heartbeat) X(deadline) X(snapshot) X(guards) X(site) X(stderr) X(signal) X(problem) X(ledger)            \
    X(start_faults) X(hint) X(ledger_context) X(rung) X(suspect) X(entry) X(events)                              \
    X(fleet_row) X(change) X(fleet_example) X(fleet_part) X(fleet_trait)

#ifdef LG_REPORT_TABLE
#define TOOL_SHAPES(X)                                                                                                  \
    X(symbol) X(uncounted_run) X(listed_run) X(delivery_entry) X(kept_path) X(verified_file) X(verified_block) X(simulation) \
    X(simulation_policy) X(simulated_repair) X(simulated_task) X(simulation_step) X(simulation_standing)                \
    X(simulated_callback) X(spool) X(last_end) X(last_end_context) X(finding) X(collected)
#else
#define TOOL_SHAPES(X)
#endif

#define DECLARE(name) extern const struct lg__shape lg__shape_##name;
SHAPES(DECLARE)
TOOL_SHAPES(DECLARE)

#define ROW(name) &lg__shape_##name,
const struct lg__shape *const lg__shapes_all[] = { SHAPES(ROW) TOOL_SHAPES(ROW) NULL };

/* Those that are lines of their own. */
#define LINES(X)                                                                                                        \
    X(run) X(ledger) X(listed_run) X(verified_file) X(verified_block) X(breadcrumb) X(delivery_entry) X(simulation)     \
    X(last_end) X(finding) X(collected) X(fleet_row) X(fleet_example)
#ifdef LG_REPORT_TABLE
const struct lg__shape *const lg__shapes_lines[] = { LINES(ROW) NULL };
#endif

#define NAMES(X)                                                                                                                      \
    X(end) X(evidence) X(announcement) X(phase) X(finish) X(stage) X(source) X(method) X(how) X(note_kind) X(kind) X(guard_class)        \
    X(guard_action) X(event) X(hint_kind) X(fate) X(level) X(change)

#ifdef LG_REPORT_TABLE
#define TOOL_NAMES(X)                                                                                                                 \
    X(delivery_entry_state) X(delivery_entry_pause) X(kept_kind) X(simulated_callback_kind) X(simulated_callback_outcome) X(finding_severity)
#else
#define TOOL_NAMES(X)
#endif

#define DECLARE_NAMES(name) extern const struct lg__names lg__names_##name;
NAMES(DECLARE_NAMES)
TOOL_NAMES(DECLARE_NAMES)

#define NAMES_ROW(name) &lg__names_##name,
const struct lg__names *const lg__shapes_names[] = { NAMES(NAMES_ROW) TOOL_NAMES(NAMES_ROW) NULL };
