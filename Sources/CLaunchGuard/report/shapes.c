/* Every object of a report, in the order of the page of fields. */
#include "report/table.h"

#define SHAPES(X)                                                                                                       \
    X(run) X(identity) X(run_termination) X(run_announcement) X(run_witness) X(run_kills) X(run_cpu) X(run_pressure)    \
    X(run_note) X(system) X(verdict) X(context) X(module) X(crash) X(message) X(register) X(stack) X(frame) X(thread)   \
    X(thread_counts) X(note) X(resource) X(bytes) X(stretch) X(map) X(mapping) X(annotation) X(log) X(breadcrumb)       \
    X(field) X(heartbeat) X(deadline) X(snapshot) X(guards) X(site) X(stderr) X(signal) X(problem) X(ledger)            \
    X(start_faults) X(ledger_context) X(rung) X(suspect) X(entry) X(events)

#define DECLARE(name) extern const struct lg__shape lg__shape_##name;
SHAPES(DECLARE)

#define ROW(name) &lg__shape_##name,
const struct lg__shape *const lg__shapes_all[] = { SHAPES(ROW) NULL };

#define NAMES(X)                                                                                                                      \
    X(end) X(evidence) X(announcement) X(phase) X(finish) X(stage) X(source) X(method) X(how) X(note_kind) X(kind) X(guard_class)        \
    X(guard_action) X(event) X(level)

#define DECLARE_NAMES(name) extern const struct lg__names lg__names_##name;
NAMES(DECLARE_NAMES)

#define NAMES_ROW(name) &lg__names_##name,
const struct lg__names *const lg__shapes_names[] = { NAMES(NAMES_ROW) NULL };
