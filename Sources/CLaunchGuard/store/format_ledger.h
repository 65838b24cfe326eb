/* Layer 1: the ledger. */
#ifndef LG_STORE_FORMAT_LEDGER_H
#define LG_STORE_FORMAT_LEDGER_H

#include "launchguard/ledger.h"
#include "store/format_run.h"

/* ---- Ledger: hot page ---- */

#define LG__OLDEST 16

struct lg__hot_run {
    uint64_t ordinal;
    uint8_t uuid[16];
};
static_assert(offsetof(struct lg__hot_run, uuid) == 8, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__hot_run) == 24, "FORMAT.md, ledger");

/* A clean end, so that the next start does not read the run file. It says nothing where the run
 * crashed (`crash_ordinal`). A process that stores a wait status for the run makes `ordinal` 0
 * first. */
#define LG__END_DEGRADED UINT32_C(0x80000000)
struct lg__hot_end {
    _Atomic uint64_t ordinal;   /* of the run; 0: none; written last */
    uint64_t wall_ns;           /* of its start */
    uint64_t begun_ns;          /* CLOCK_MONOTONIC of its start */
    uint64_t ended_ns;          /* CLOCK_MONOTONIC of its end */
    /* bit i: the launch of contexts[i] of the payload was finished; LG__END_DEGRADED */
    uint32_t finished;
    uint32_t crc;               /* CRC-32C of `ordinal` and of wall_ns to finished, in this order */
};
static_assert(offsetof(struct lg__hot_end, wall_ns) == 8, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot_end, begun_ns) == 16, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot_end, ended_ns) == 24, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot_end, finished) == 32, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot_end, crc) == 36, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__hot_end) == 40, "FORMAT.md, ledger");

/* The protection of the program against LaunchGuard: faults inside lg_start() itself, in a row. The
 * handler adds one; a start that completes makes all zero. */
struct lg__hot_faults {
    _Atomic uint64_t wall_ns; /* of the last one; 0: none */
    uint32_t program;         /* CRC-32C of version and build id: other programs begin anew */
    _Atomic uint16_t count;   /* 65535 stays */
    _Atomic uint16_t left;    /* starts without protection until the next try */
};
static_assert(offsetof(struct lg__hot_faults, program) == 8, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot_faults, count) == 12, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot_faults, left) == 14, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__hot_faults) == 16, "FORMAT.md, ledger");

#define LG__PASSED_RUN(ordinal) ((uint32_t)(ordinal) << 16)

struct lg__hot {
    /* the process that is the primary: pid in the upper half, a hash of start time and boot id in
     * the lower */
    _Atomic uint64_t primary;
    _Atomic uint64_t next_ordinal; /* of the next run, from 1 */
    _Atomic uint32_t starting;     /* lg_start() calls begun since one last completed */
    /* Launches that time has finished: a bit per context. For the run whose ordinal has the upper
     * half as its lowest 16 bits. */
    _Atomic uint32_t passed;
    _Atomic uint64_t crash_ordinal; /* last run that crashed */
    _Atomic uint64_t crash_ns;      /* CLOCK_MONOTONIC of it */
    /* The oldest ended runs, as the primary found them at its start: each later start takes the
     * next one's file. Valid for these limits. */
    _Atomic uint64_t oldest_from; /* ordinal of the start that takes the first one */
    /* ordinal of the first start that lists the runs anew; 0: the next one */
    _Atomic uint64_t oldest_until;
    uint64_t keep_bytes;
    uint32_t keep_runs;
    uint32_t reserved1;
    struct lg__hot_run oldest[LG__OLDEST];
    struct lg__hot_end clean_end;
    struct lg__hot_faults faults;
};
static_assert(offsetof(struct lg__hot, next_ordinal) == 8, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, starting) == 16, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, passed) == 20, "FORMAT.md, ledger");
static_assert(LG__CONTEXTS <= 16, "a bit each, beside the ordinal and LG__END_DEGRADED");
static_assert(offsetof(struct lg__hot, crash_ordinal) == 24, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, oldest_from) == 40, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, keep_bytes) == 56, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, keep_runs) == 64, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, oldest) == 72, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, clean_end) == 456, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, faults) == 496, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__hot) == 512, "FORMAT.md, ledger");

/* ---- Ledger: after the hot page's section, in the same page, for starts alone ---- */

/* Facts that a start found in files of the machine, so that the next starts need not open them.
 * They count while the machine runs and os-release(5) stays the same. */
struct lg__found_machine {
    uint32_t crc; /* CRC-32C of boot_id to machine */
    uint32_t reserved;
    uint8_t boot_id[16];
    uint64_t release_inode;      /* of /etc/os-release */
    uint64_t release_changed_ns; /* its time of status change */
    struct lg__machine machine;
};
static_assert(offsetof(struct lg__found_machine, boot_id) == 8, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__found_machine, release_inode) == 24, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__found_machine, release_changed_ns) == 32, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__found_machine, machine) == 40, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__found_machine) == 184, "FORMAT.md, ledger");

/* The last hint of the vendor. The agent writes it as one piece; one that is half written has a
 * wrong checksum, and is none. */
#define LG__HINT_AT 4792u /* of the file: after lg__found_machine */
struct lg__hint {
    uint32_t crc; /* CRC-32C of all bytes after it */
    uint32_t reserved;
    uint64_t expires_on_ns; /* by the clock of the spool (lg__server.on_ns); for the agent */
    uint8_t key[16];        /* digest of the key that it was signed with; for the agent */
    lg_hint said;           /* its serial is 0: none has come */
};
static_assert(offsetof(struct lg__hint, expires_on_ns) == 8, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hint, key) == 16, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hint, said.serial) == 32, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hint, said.kind) == 36, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hint, said.expires_ns) == 40, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hint, said.context) == 48, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hint, said.name) == 112, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__hint) == 176, "FORMAT.md, ledger");

/* ---- Ledger: the payload, in two slots written alternately ---- */

#define LG__CONTEXT_DUE 1u       /* a repair is needed whatever the streak */
#define LG__CONTEXT_REPORTING 2u /* on_report is being called */
/* a suspect task may be left out: the built-in rung can be tried */
#define LG__CONTEXT_SKIPPABLE 4u
#define LG__CONTEXT_SHADOW 8u    /* the last launch decided and did nothing */
#define LG__CONTEXT_TOLD 16u     /* the unexplained deaths that are counted were reported */
#define LG__CONTEXT_OWES 32u     /* a call of on_report has had no turn yet */
#define LG__CONTEXT_AGAIN 64u    /* nor had it at the start before: this one is the last try */
#define LG__CONTEXT_ASKING 128u  /* on_decide is being called */
/* an end came while no launch was under way, and on_report was not called since */
#define LG__CONTEXT_LATE 256u
/* unexplained ends alone are the reason for the repair that is due or was the last */
#define LG__CONTEXT_UNEXPLAINED 512u
/* the last life that began a launch at all began one of this context */
#define LG__CONTEXT_BEGAN 1024u
/* the announced end came in a launch under way, and not in its hold */
#define LG__CONTEXT_LEAVING 2048u
#define LG__CONTEXT_GIVING_UP 4096u /* on_give_up is being called */
#define LG__CONTEXT_BY_HAND 8192u   /* no repair runs before the program asks for it */
/* A hint of the vendor, and not the rule: the launch is held for a repair; safe mode goes on; the
 * launch is held until another version. */
#define LG__CONTEXT_HINT_REPAIR 16384u
#define LG__CONTEXT_HINT_SAFE 32768u
#define LG__CONTEXT_HINT_HOLD 65536u

#define LG__RUNG_BUILT_IN 0x80000000u

/* What became of a rung since the last good launch that was whole: not a safe one, and with every
 * task. A refusal counts until the next safe launch. */
enum lg__rung_fate {
    LG__RUNG_UNTRIED = 0,
    LG__RUNG_TRIED = 1, /* a repair succeeded, and did not help */
    LG__RUNG_REFUSED = 2,
    LG__RUNG_FAILED = 3 /* no attempt succeeded */
};

#define LG__RUNGS 17 /* the built-in one and LG_REPAIRS_MAX of the program */
#define LG__SUSPECTS 8
#define LG__REASON_BYTES 32

struct lg__ledger_rung {
    char name[LG__NAME_BYTES];
    uint64_t series_wall_ns; /* when the last attempt of the last series began; 0: never */
    uint32_t impact;
    uint32_t attempts; /* allowed in a series */
    uint32_t timeout_ms;
    uint32_t flags; /* LG_REPAIR_*, LG__RUNG_BUILT_IN */
    uint32_t fate;  /* enum lg__rung_fate; any other as TRIED */
    uint32_t reserved;
};
static_assert(offsetof(struct lg__ledger_rung, series_wall_ns) == 64, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_rung, impact) == 72, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_rung, flags) == 84, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_rung, fate) == 88, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__ledger_rung) == 96, "FORMAT.md, ledger");

struct lg__ledger_suspect {
    char key[LG__NAME_BYTES];
    uint32_t crashes;
    uint32_t left_out; /* 1: the last launch left it out */
};
static_assert(offsetof(struct lg__ledger_suspect, crashes) == 64, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__ledger_suspect) == 72, "FORMAT.md, ledger");

struct lg__ledger_context {
    char name[LG__NAME_BYTES];
    uint32_t phase; /* lg_phase: where the launch of the last run is or was; docs/LAUNCH.md */
    uint32_t mode;  /* lg_launch_mode */
    uint32_t flags; /* LG__CONTEXT_* */
    uint32_t streak, unknown, reported, report_strikes;
    uint32_t rung, rung_count, attempts, interruptions;
    uint32_t skips, held_deaths;
    uint32_t good_runs, safe_crashes, retry_runs;
    uint32_t quiet;
    uint32_t report_after, repair_after, unknown_after;
    uint32_t count; /* LG_COUNT_* */
    uint32_t safe_retry_runs, safe_retry_max, safe_crash_limit;
    uint32_t deescalate_runs;
    uint32_t events; /* LG_EVENT_*, of the last launch */
    uint32_t suspect_count;
    uint32_t decide_strikes;
    uint64_t deescalate_ms, steady_ms;
    uint64_t launches, crashes, repairs;
    uint64_t first_ordinal;    /* first run of the streak; 0 = no streak */
    uint64_t reported_ordinal; /* last run that was reported */
    uint64_t repair_boottime_ns; /* CLOCK_BOOTTIME of the last repair that succeeded; 0 = never */
    uint8_t repair_boot_id[16];
    uint32_t ends;     /* counted ones since the last good launch; no repair resets them */
    uint32_t quits;    /* clean ends of launches under way, in a row */
    uint32_t unsteady; /* counted ends soon after a launch, in a row */
    uint32_t stops;    /* terminated while `last_task` ran, in a row */
    uint32_t give_up_strikes;
    uint32_t hint_serial; /* of the last hint that was followed once: a repair, or safe mode */
    /* task that the last end came in which counted, was unexplained, or was a stop; "" for none */
    char last_task[LG__NAME_BYTES];
    uint32_t window_ms;
    uint32_t finish; /* lg_finish */
    /* beginning of the words with which a repair of the last launch failed; "": none did */
    char reason[LG__REASON_BYTES];
    struct lg__ledger_suspect suspects[LG__SUSPECTS];
    struct lg__ledger_rung rungs[LG__RUNGS];
};
static_assert(offsetof(struct lg__ledger_context, phase) == 64, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, streak) == 76, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, rung) == 92, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, skips) == 108, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, good_runs) == 116, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, quiet) == 128, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, count) == 144, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, deescalate_runs) == 160, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, decide_strikes) == 172, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, deescalate_ms) == 176, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, launches) == 192, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, first_ordinal) == 216, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, repair_boottime_ns) == 232, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, ends) == 256, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, last_task) == 280, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, window_ms) == 344, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, reason) == 352, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, suspects) == 384, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_context, rungs) == 960, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__ledger_context) == 2592, "FORMAT.md, ledger");

struct lg__ledger_run {
    uint8_t uuid[16];
    uint64_t ordinal;
    uint64_t wall_ns;
    uint64_t duration_ns;
    uint32_t end;      /* lg_end */
    uint32_t evidence; /* lg_evidence */
    int32_t signal;
    int32_t code;
    uint32_t kind; /* lg_crash_kind */
    uint32_t launching, repairing, counted; /* bit i: contexts[i] */
    char app_version[LG__NAME_BYTES];
    uint64_t monotonic_ns; /* of the end, 0 = unknown */
    /* bit i: the crash was in a module or a task of contexts[i]; 0 for all: in none */
    uint32_t attributed;
    uint32_t events[LG__CONTEXTS]; /* LG_EVENT_*, of contexts[i] */
    /* bit i: the end would have counted in a launch of contexts[i], and was in none */
    uint32_t late;
    uint32_t told; /* 1: the program has learned of the run */
    char reason[LG__REASON_BYTES]; /* of the first context that has one */
    uint32_t degraded; /* 1: guards survived faults in it */
};
static_assert(offsetof(struct lg__ledger_run, end) == 40, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, launching) == 60, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, app_version) == 72, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, monotonic_ns) == 136, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, attributed) == 144, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, events) == 148, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, late) == 212, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, reason) == 220, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_run, degraded) == 252, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__ledger_run) == 256, "FORMAT.md, ledger");

#define LG__TIMELINE 16

#define LG__CRASHED_PROGRAMS 14

struct lg__ledger_payload {
    char app_id[LG__NAME_BYTES];
    char app_version[LG__NAME_BYTES];
    uint8_t build_id[LG__BUILD_ID_BYTES];
    uint32_t build_id_size;
    uint32_t context_count;
    uint32_t timeline_count;
    uint32_t reserved0;
    uint64_t last_ordinal; /* the primary run that made the last store; 0 = none */
    uint8_t last_uuid[16];
    /* versions whose runs counted, the last one first: lg__ledger_payload_program(); 0: none */
    uint32_t crashed_programs[LG__CRASHED_PROGRAMS];
    struct lg__ledger_run timeline[LG__TIMELINE]; /* oldest first */
    struct lg__ledger_context contexts[LG__CONTEXTS];
};
static_assert(offsetof(struct lg__ledger_payload, build_id) == 128, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_payload, build_id_size) == 160, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_payload, last_ordinal) == 176, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_payload, last_uuid) == 184, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_payload, crashed_programs) == 200, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_payload, timeline) == 256, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__ledger_payload, contexts) == 4352, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__ledger_payload) == 45824, "FORMAT.md, ledger");

struct lg__slot {
    uint64_t generation; /* the larger of the two whole slots counts */
    uint32_t size;       /* bytes of the payload that are used: up to the end of the last context */
    /* CRC-32C of generation, size, the used bytes of the payload, in this order */
    uint32_t crc;
    struct lg__ledger_payload payload;
};
static_assert(offsetof(struct lg__slot, payload) == 16, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__slot) == 45840, "FORMAT.md, ledger");

#endif
