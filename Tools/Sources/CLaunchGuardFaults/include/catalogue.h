/* The catalogue of ways to die: the entries, and the program around them.
 *
 * An entry is data: a name, a function that dies, and the right record. The program runs one entry.
 * The test of a whole chain runs all of them and compares the results with the output of
 * `--list --json`. */
#ifndef LAUNCHGUARD_FAULTS_CATALOGUE_H
#define LAUNCHGUARD_FAULTS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <launchguard/launchguard.h>
#include <launchguard/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that only the catalogue calls, with its own frame in every build. */
#define LGF_WAY __attribute__((noinline)) static void

/* Other code may look at this memory: the compiler neither removes it nor makes it smaller. */
#define LGF_KEEP(memory) __asm__ volatile("" : : "r"(memory) : "memory")

#define LGF_NORETURN __attribute__((noreturn))

/* Exit status of an entry that cannot run on this machine. */
#define LGF_SKIPPED 77

/* ---- the right outcome ---- */

/* How the process ends, as its parent sees the end. */
enum lgf_status { LGF_SIGNAL, LGF_EXIT, LGF_ANY };

/* Extent of the crash record. LGF_HEADER: at least the header. */
enum lgf_record { LGF_RECORD_NONE, LGF_RECORD_HEADER, LGF_RECORD_FULL, LGF_RECORD_ANY };

/* Whether the record has a faulting address, which is never a pid. */
enum lgf_address { LGF_ADDRESS_ANY, LGF_ADDRESS_YES, LGF_ADDRESS_NO };

/* Needs of the entry. */
enum lgf_need {
    LGF_NEEDS_ROOT = 1,
    LGF_NEEDS_CGROUP = 2,
    LGF_NEEDS_NAMESPACE = 4,
    LGF_NEEDS_SECCOMP = 8,
    LGF_NEEDS_X86_64 = 16
};

/* Rules for the combination of modifiers and the entry. */
enum lgf_trait {
    LGF_CORE = 1,         /* one of the kinds that make sense with every modifier */
    LGF_OWN_THREADS = 2,  /* the entry chooses its threads or processes itself */
    LGF_PREPARES = 4,     /* the entry does something before LaunchGuard starts */
    LGF_OWN_STATE = 8     /* the entry chooses a state directory of its own */
};

/* The ends of a run as a set. LGF_END_ANYTHING: any end; LGF_END_NO_RUN: there is no run file. */
#define LGF_END(name) (1u << LG_END_##name)
#define LGF_END_ANYTHING 0u
#define LGF_END_NO_RUN (1u << 31)
/* The ends of a process that left no mark: only the state of the machine distinguishes them. */
#define LGF_END_SILENT (LGF_END(UNKNOWN) | LGF_END(KILLED))

#define LGF_KINDS_MAX 6

struct lgf_entry {
    const char *name;
    char section;            /* of the catalogue, 'A' to 'G' */
    const char *language;
    const char *summary;
    void (*run)(void);       /* on the thread that dies */
    void (*prepare)(void);   /* before LaunchGuard starts; may be NULL */

    enum lgf_status status;
    int number;              /* signal or exit status */
    int other_number;        /* also right; 0: none */
    lg_crash_kind kinds[LGF_KINDS_MAX]; /* right kinds, up to the first 0; none: any */
    enum lgf_record record;
    enum lgf_address address;
    uint32_t ends;           /* LGF_END() */
    /* counted when the end comes during a launch: 'Y', 'W' (an option decides), 'N' */
    char launch;
    const char *message;     /* part of the message of the record; NULL: none is expected */
    /* begin of the sentence that a report begins with; NULL: any */
    const char *sentence;

    uint32_t needs;          /* enum lgf_need */
    uint32_t traits;         /* enum lgf_trait */
    /* phase of the launch, when the entry makes sense in one only; else NULL */
    const char *phase;
    uint32_t lasts_ms;       /* time to die without any handler */
};

/* Rows of the tables: the expectation of a crash that is recorded, of a death that nothing inside
 * the process sees, of an exit. */
#define LGF_NAMED(name_, section_, summary_, run_) \
    .name = (name_), .section = (section_), .language = "C", .summary = (summary_), .run = (run_)
#define LGF_CRASH(signal_, address_, ...)                                                                            \
    .status = LGF_SIGNAL, .number = (signal_), .address = LGF_ADDRESS_##address_, .record = LGF_RECORD_FULL,          \
    .ends = LGF_END(CRASH), .launch = 'Y', .kinds = { __VA_ARGS__ }
#define LGF_CRASH_WEAK(signal_, ...)                                                                                 \
    .status = LGF_SIGNAL, .number = (signal_), .address = LGF_ADDRESS_NO, .record = LGF_RECORD_FULL,                  \
    .ends = LGF_END(CRASH), .launch = 'W', .kinds = { __VA_ARGS__ }
#define LGF_UNSEEN(signal_, launch_)                                                                                 \
    .status = LGF_SIGNAL, .number = (signal_), .record = LGF_RECORD_NONE, .ends = LGF_END_SILENT, .launch = (launch_)
#define LGF_EXITS(code_, ends_, launch_)                                                                             \
    .status = LGF_EXIT, .number = (code_), .record = LGF_RECORD_NONE, .ends = (ends_), .launch = (launch_)

/* ---- the tables ---- */

extern const struct lgf_entry lgf_hardware[], lgf_stack[], lgf_aborts[], lgf_signals[], lgf_limits[], lgf_processes[], lgf_handlers[],
    lgf_pid_one[], lgf_others[];

/* Add an entry at run time, for tables in other languages. The entry is copied, its texts are
 * not. */
void lgf_add(const struct lgf_entry *entry);

/* Entry by index, in the order of the catalogue; NULL after the last. */
const struct lgf_entry *lgf_entry_at(size_t index);
const struct lgf_entry *lgf_find(const char *name);

/* Print the catalogue. */
void lgf_list(bool json);
/* Print the names that resemble this one. */
void lgf_suggest(const char *name);

/* ---- the run, for entries ---- */

/* Always 0, which the compiler does not know. */
extern volatile int lgf_zero;
static inline int lgf_read_zero(void) { return lgf_zero; }

/* The options of the command line. An entry that prepares may change the state directory. */
struct lgf_options {
    const char *app_id, *app_version; /* version NULL: that of LaunchGuard */
    const char *state;       /* NULL: the ordinary default */
    bool guard;
    const char *thread;
    const char *own_handler;
    const char *altstack;
    const char *phase;
    unsigned depth, threads, idle_threads;
    uint32_t deadline_ms, handler_ms;
};
extern struct lgf_options lgf_options;
extern lg_session *lgf_session; /* NULL with --no-guard */
/* For Swift, which reads no variable that may change. */
static inline lg_session *lgf_read_session(void) { return lgf_session; }
extern lg_status lgf_start_status;
extern lg_launch *lgf_launch;   /* NULL without a launch */

/* Skip the entry on this machine: print the reason, exit with LGF_SKIPPED. */
LGF_NORETURN void lgf_skip(const char *reason);
/* Fail the entry after it found an error: print the error, exit with 1. */
LGF_NORETURN void lgf_wrong(const char *what);

/* Make a child that runs `helper(parent)` and ends at the latest with its parent. Call it before or
 * after the start. */
pid_t lgf_helper(void (*helper)(pid_t parent));
/* Let the process continue in a child. This process waits, passes the signals of the child's end
 * on, and ends as the child did. `flags` are for unshare() before the fork. `watch` is called in
 * the parent with the child's pid once the child runs; may be NULL. */
void lgf_continue_in_child(int flags, void (*watch)(pid_t child));
/* A sign that one process gives and another waits for. It is made before the fork and given once,
 * also in a signal handler. The wait also ends when no process is left that could give the sign.
 * Entries wait for an event and not for a time in which the event should come: a busy machine takes
 * any time. */
struct lgf_sign {
    int ends[2];
};
void lgf_sign_make(struct lgf_sign *ret_sign);
void lgf_sign_give(const struct lgf_sign *sign);
void lgf_sign_wait(const struct lgf_sign *sign);
/* The same where another thread of this process gives the sign, which lgf_sign_wait() would keep it
 * from. */
void lgf_sign_wait_for_thread(const struct lgf_sign *sign);
/* Wait for ever. */
LGF_NORETURN void lgf_wait(void);
void lgf_sleep_ms(unsigned ms);

/* Kinds of threads besides main and pthread. `start` runs body(argument) on such a thread. The name
 * is not copied. */
typedef void (*lgf_body)(void *argument);
void lgf_add_thread_kind(const char *name, void (*start)(lgf_body body, void *argument));
/* Run body on one thread of that kind. */
void lgf_start_thread(const char *kind, lgf_body body, void *argument);

/* The whole program; tables of other languages are added before the call. */
int lgf_main(int count, char **arguments);

/* ---- in C++ ---- */

void lgf_pure_virtual(void);
void lgf_uncaught_exception(void);
void lgf_uncaught_int(void);
void lgf_out_of_range(void);
void lgf_optional_empty(void);
void lgf_variant_wrong(void);
void lgf_number_of_text(void);
void lgf_function_empty(void);
void lgf_cast_wrong(void);
void lgf_thread_not_joined(void);
void lgf_join_itself(void);
void lgf_throw_in_destructor(void);
void lgf_exception_on_thread(void);
void lgf_throw_through_noexcept(void);
void lgf_terminate(void);
void lgf_out_of_memory(void);
void lgf_throw_at_exit(void);
void lgf_thrown_text(void);
void lgf_thrown_string(void);
void lgf_nested_exception(void);
void lgf_own_terminate_handler(void);
void lgf_abort_while_catching(void);
void lgf_checked_index(void);

#ifdef __cplusplus
}
#endif

#endif
