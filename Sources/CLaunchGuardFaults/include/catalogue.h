/* The catalogue of ways to die: what an entry is, and what the program around the entries offers.
 *
 * An entry is data: a name, a function that does it, and what must be known afterwards. The program runs one entry; whoever wants to
 * prove a whole chain runs all of them and compares with what `--list --json` says is right. */
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

/* A function that is called by nobody but the catalogue, with its own frame in every build. */
#define LGF_WAY __attribute__((noinline)) static void

/* Somebody else may look at this memory: it is not optimised away, nor made smaller. */
#define LGF_KEEP(memory) __asm__ volatile("" : : "r"(memory) : "memory")

#define LGF_NORETURN __attribute__((noreturn))

/* Exit status of an entry that cannot run on this machine. */
#define LGF_SKIPPED 77

/* ---- what must be seen afterwards ---- */

/* How the process ends, as its parent sees it. */
enum lgf_status { LGF_SIGNAL, LGF_EXIT, LGF_ANY };

/* How much of a crash record there is. LGF_HEADER: at least the header. */
enum lgf_record { LGF_RECORD_NONE, LGF_RECORD_HEADER, LGF_RECORD_FULL, LGF_RECORD_ANY };

/* Whether the record has a faulting address. Never one that is a pid. */
enum lgf_address { LGF_ADDRESS_ANY, LGF_ADDRESS_YES, LGF_ADDRESS_NO };

/* What the entry needs of the machine. */
enum lgf_need {
    LGF_NEEDS_ROOT = 1,
    LGF_NEEDS_CGROUP = 2,
    LGF_NEEDS_NAMESPACE = 4,
    LGF_NEEDS_SECCOMP = 8,
    LGF_NEEDS_X86_64 = 16
};

/* How the modifiers and the entry agree. */
enum lgf_trait {
    LGF_CORE = 1,         /* one of the kinds that make sense with every modifier */
    LGF_OWN_THREADS = 2,  /* it chooses its threads or processes itself */
    LGF_PREPARES = 4,     /* it does something before LaunchGuard starts */
    LGF_OWN_STATE = 8     /* it chooses a state directory of its own */
};

/* The ends of a run as a set. LGF_END_ANYTHING: whatever; LGF_END_NO_RUN: there is no run file. */
#define LGF_END(name) (1u << LG_END_##name)
#define LGF_END_ANYTHING 0u
#define LGF_END_NO_RUN (1u << 31)
/* Nobody noted anything: told apart only by what is known about the machine. */
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
    lg_crash_kind kinds[LGF_KINDS_MAX]; /* right ones, up to the first 0; none: any */
    enum lgf_record record;
    enum lgf_address address;
    uint32_t ends;           /* LGF_END() */
    char launch;             /* counted when it happens during a launch: 'Y', 'W' (an option decides), 'N' */
    const char *message;     /* part of the message of the record; NULL: none is expected */

    uint32_t needs;          /* enum lgf_need */
    uint32_t traits;         /* enum lgf_trait */
    const char *phase;       /* of the launch, when it makes sense in one only; else NULL */
    uint32_t lasts_ms;       /* how long it takes to die without a handler's doing */
};

/* Rows of the tables. The expectation of a crash that is recorded; of a death that nothing inside the process sees; of an exit. */
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

/* Add an entry at run time, for tables in other languages; copied, but for its texts. */
void lgf_add(const struct lgf_entry *entry);

/* Entry by index, in the order of the catalogue; NULL after the last. */
const struct lgf_entry *lgf_entry_at(size_t index);
const struct lgf_entry *lgf_find(const char *name);

/* Print the catalogue. */
void lgf_list(bool json);
/* Print names that look like this one. */
void lgf_suggest(const char *name);

/* ---- the run, for entries ---- */

/* Always 0, but the compiler does not know. */
extern volatile int lgf_zero;
static inline int lgf_read_zero(void) { return lgf_zero; }

/* What the command line asked for; an entry that prepares may change the state directory. */
struct lgf_options {
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
extern lg_status lgf_start_status;
extern lg_launch *lgf_launch;   /* NULL without a launch */

/* Cannot run here: say why, exit with LGF_SKIPPED. */
LGF_NORETURN void lgf_skip(const char *reason);
/* It ran, and something it looked at was wrong: say what, exit with 1. */
LGF_NORETURN void lgf_wrong(const char *what);

/* A child that runs `helper(parent)` and is gone at the latest when its parent is. Call it before or after the start. */
pid_t lgf_helper(void (*helper)(pid_t parent));
/* Let the process continue in a child; this process waits, passes signals of the child's end on, and ends as the child did. `flags`
 * are for unshare() before the fork. `watch`: called in the parent with the child's pid once it runs; may be NULL. */
void lgf_continue_in_child(int flags, void (*watch)(pid_t child));
/* A sign that one process gives and another waits for: made before the fork, given once, also in a signal handler. The wait ends as well when nobody
 * is left who could give it. Entries wait for what has happened and not for a time in which it should: a busy machine takes any time. */
struct lgf_sign {
    int ends[2];
};
void lgf_sign_make(struct lgf_sign *ret_sign);
void lgf_sign_give(const struct lgf_sign *sign);
void lgf_sign_wait(const struct lgf_sign *sign);
/* Wait for ever. */
LGF_NORETURN void lgf_wait(void);
void lgf_sleep_ms(unsigned ms);

/* Threads of other kinds than main and pthread. `start` runs body(argument) on such a thread. The name is not copied. */
typedef void (*lgf_body)(void *argument);
void lgf_add_thread_kind(const char *name, void (*start)(lgf_body body, void *argument));
/* Run body on one thread of that kind. */
void lgf_start_thread(const char *kind, lgf_body body, void *argument);

/* The whole program; tables of other languages are added before. */
int lgf_main(int count, char **arguments);

/* ---- in C++ ---- */

void lgf_pure_virtual(void);
void lgf_uncaught_exception(void);
void lgf_uncaught_int(void);
void lgf_exception_on_thread(void);
void lgf_throw_through_noexcept(void);
void lgf_terminate(void);
void lgf_out_of_memory(void);
void lgf_throw_at_exit(void);

#ifdef __cplusplus
}
#endif

#endif
