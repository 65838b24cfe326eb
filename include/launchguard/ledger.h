/** Reader: the ledger of an application.
 *
 *  The rules of reader.h hold here as well, and its library has the functions. The reader returns
 *  no data whose checksum or bounds are wrong. Strings must be escaped before a terminal shows
 *  them.
 */
#ifndef LAUNCHGUARD_LEDGER_H
#define LAUNCHGUARD_LEDGER_H

#include <launchguard/launch.h>
#include <launchguard/reader.h>

/** What a hint of the vendor asks for. */
typedef enum lg_hint_kind {
    LG_HINT_WITHDRAWN = 0,  /**< nothing any more */
    LG_HINT_LEAVE_OUT = 1,  /**< leave out the task `name` */
    LG_HINT_REPAIR = 2,     /**< run the repair `name` once */
    LG_HINT_SAFE_MODE = 3,  /**< go into safe mode once, and stay there */
    LG_HINT_HOLD_BELOW = 4  /**< hold the launch while the version is below `name` */
} lg_hint_kind;

/** Ledger: the last hint of the vendor that came with the answer to a report. */
typedef struct lg_hint {
    uint32_t serial;       /**< grows with each hint */
    lg_hint_kind kind;
    uint64_t expires_ns;   /**< CLOCK_REALTIME; it has no effect from then on */
    char context[64];      /**< the launch that it is for */
    char name[64];         /**< "" for LG_HINT_WITHDRAWN and LG_HINT_SAFE_MODE */
} lg_hint;

/** Ledger: the head. */
typedef struct lg_ledger_info {
    char app_id[64];
    char app_version[64];     /**< of the last primary run */
    char build_id[65];
    uint64_t generation;      /**< grows with every write */
    uint64_t last_ordinal;    /**< of the last primary run */
    uint32_t context_count;
    uint32_t timeline_count;
    uint32_t slots_valid;     /**< of the two slots: bit 0 A, bit 1 B */
    uint32_t start_faults;    /**< faults inside lg_start() itself, in a row */
    /** starts of the program that protect nothing, before LaunchGuard tries again; a day after the
     *  last fault, or with a new program version, it tries at once */
    uint32_t starts_left;
    uint64_t start_fault_wall_ns; /**< of the last such fault; 0: none */
    lg_hint hint;             /**< in force or not; its serial is 0: none has come */
} lg_ledger_info;

/** Ledger: one rung of a context's ladder. */
typedef struct lg_ledger_rung {
    char name[64];
    uint32_t impact;          /**< 0 to 100 */
    uint32_t attempts;        /**< allowed in a series */
    uint32_t timeout_ms;
    uint32_t flags;           /**< LG_REPAIR_* */
    uint32_t built_in;        /**< 1: it leaves out the suspect task */
    uint64_t series_wall_ns;  /**< begin of the last series of attempts; 0: never */
    /** since the last good launch with every task: 0 not tried, 1 a repair succeeded and did not
     *  help, 2 refused, 3 no attempt succeeded */
    uint32_t fate;
    uint32_t reserved;
} lg_ledger_rung;

/** Ledger: a task in which crashes happened. */
typedef struct lg_ledger_suspect {
    char key[64];
    uint32_t crashes;
    uint32_t left_out; /**< 1: the last launch left the task out */
} lg_ledger_suspect;

/** Events of a launch beyond its end, bits of lg_timeline_entry.events. */
#define LG_EVENT_REPORTED 1u
#define LG_EVENT_HELD 2u
#define LG_EVENT_REPAIRED 4u
#define LG_EVENT_REPAIR_FAILED 8u
#define LG_EVENT_THROTTLED 16u  /**< a destructive repair was passed over */
#define LG_EVENT_REFUSED 32u    /**< the user refused a repair */
#define LG_EVENT_SKIPPED 64u    /**< the user put the repair off */
#define LG_EVENT_EXPIRED 128u   /**< the hold's deadline passed */
#define LG_EVENT_PROTECTED 256u /**< the program asked for protection */
#define LG_EVENT_LEFT_OUT 512u  /**< a suspect task was left out */
#define LG_EVENT_SAFE 1024u     /**< the launch ran in safe mode */
/** the launch was the trial of the normal launch, to leave safe mode */
#define LG_EVENT_TRIAL 2048u
#define LG_EVENT_HALTED 4096u
#define LG_EVENT_RESTART 8192u  /**< a repair needs a restart */
/** another version of the program started after the run, and all counters were reset */
#define LG_EVENT_UPGRADED 16384u
#define LG_EVENT_OMITTED 32768u /**< the program left out a task: lg_launch_leave_out() */
/** on_decide or an early lg_launch_protect() decided, and not the rule */
#define LG_EVENT_DECIDED 65536u
#define LG_EVENT_HINT_LEAVE_OUT 131072u  /**< a hint of the vendor left out a task */
#define LG_EVENT_HINT_REPAIR 262144u     /**< a hint of the vendor asked for the repair */
#define LG_EVENT_HINT_SAFE_MODE 524288u  /**< a hint of the vendor asked for safe mode */
/** a hint of the vendor held the launch until another version */
#define LG_EVENT_HINT_HOLD_BELOW 1048576u

/** Ledger: one ended run. */
typedef struct lg_timeline_entry {
    char uuid[37];
    char app_version[64];
    uint64_t ordinal;
    uint64_t wall_ns;         /**< start */
    uint64_t duration_ns;     /**< 0 when unknown */
    lg_verdict verdict;
    uint32_t launching;       /**< bit i: context i of the ledger was launching and not finished */
    uint32_t repairing;       /**< bit i: context i was under repair */
    uint32_t counted;         /**< bit i: the end counted against context i */
    /** bit i: the crash was in a module or a task of context i; 0: of no context in particular */
    uint32_t attributed;
    uint32_t events[16];      /**< LG_EVENT_*, by context */
    /** bit i: the end was in no launch of context i, and would have counted in one */
    uint32_t late;
    uint32_t told;            /**< 1: the program has learned of the run */
    /** beginning of the text of lg_complete_text() with which a repair failed last; "": none */
    char reason[32];
    /** 1: guards survived faults in the run, as far as is known. That counts against no context. */
    uint32_t degraded;
} lg_timeline_entry;

LG_BEGIN

/** Head of the ledger.
 *
 *  @return LG_OK; LG_ERR_DAMAGED: no slot is valid; LG_ERR_STATE: not a ledger.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_ledger(lg_reader *reader, lg_ledger_info *ret_info);

/** Take in what the file of the last run says: a launch that it shows as finished is finished in
 *  the contexts that this reader returns from now on. The ledger itself has that only with the
 *  next call of the program about the launch, or with its next start. Until then the mark of a
 *  supervisor (lg_witness_finished()) and the end of the window are in the run file alone. When
 *  the ledger has changed, call it again.
 *
 *  @param state_directory  that the ledger is from; its runs/ has the file.
 *  @return LG_OK, also without the file; LG_ERR_DAMAGED; LG_ERR_STATE: not a ledger; LG_ERR_SYSTEM:
 *          no memory; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored; opens a file for reading only.
 */
LG_API lg_status lg_reader_ledger_last_run(lg_reader *reader, const char *state_directory);

/** One context of the ledger, 0 ≤ index < context_count.
 *
 *  @param ret_info  with its size set: LG_LAUNCH_INFO_INIT.
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_ledger_context(lg_reader *reader, uint32_t index, lg_launch_info *ret_info);

/** One rung of a context, rung 0 first.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_DAMAGED; LG_ERR_STATE: not a ledger.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_ledger_rung(lg_reader *reader, uint32_t context, uint32_t index, lg_ledger_rung *ret_rung);

/** One suspect task of a context.
 *
 *  @return as lg_reader_ledger_rung().
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_ledger_suspect(lg_reader *reader, uint32_t context, uint32_t index, lg_ledger_suspect *ret_suspect);

/** One run of the timeline, oldest first.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_timeline(lg_reader *reader, uint32_t index, lg_timeline_entry *ret_entry);

LG_END

#endif
