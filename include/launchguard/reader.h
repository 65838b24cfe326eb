/** Reader of run files and ledgers, in a library of its own (-llaunchguard-reader).
 *
 *  The reader opens files of any age, of dead and of living processes, and treats them as if an
 *  attacker had written them. It checks every offset and length before use. It copies every block
 *  out, compares the checksum, and only then looks at the contents. The reader never writes, never
 *  takes a lock and never disturbs the writer. lg_start() uses the same code to find out how the
 *  last run ended.
 *
 *  All strings are returned in fixed arrays, NUL-terminated. They hold the stored bytes, which need
 *  not be printable or UTF-8: escape them before a terminal shows them.
 *
 *  Caveat: a value that fails its check is not returned. The call then returns LG_ERR_DAMAGED, or
 *  LG_ERR_INCOMPLETE where the writer did not get that far. The other parts of the file stay
 *  readable.
 *
 *  Every call returns LG_ERR_ARGUMENT where a pointer is NULL that it needs.
 *
 *  <launchguard/record.h> reads the crash record of a run file, <launchguard/snapshot.h> the
 *  heartbeats, deadlines and stacks of the living program, <launchguard/guard_record.h> the events
 *  of guards, <launchguard/ledger.h> the ledger. This header includes them.
 */
#ifndef LAUNCHGUARD_READER_H
#define LAUNCHGUARD_READER_H

#include <launchguard/end.h>
#include <launchguard/launch.h>
#include <launchguard/record.h>
#include <launchguard/snapshot.h>
#include <launchguard/status.h>

/** The kind of a file. */
typedef enum lg_file_kind { LG_FILE_RUN = 1, LG_FILE_LEDGER = 2 } lg_file_kind;

/** Phase of a context within a run. Values are stored and never change. */
typedef enum lg_phase {
    LG_PHASE_NONE = 0,       /**< not begun */
    LG_PHASE_DECIDING = 1,   /**< begun: report callback, decision */
    LG_PHASE_REPAIRING = 2,  /**< a repair runs */
    LG_PHASE_LAUNCHING = 3,  /**< tasks run, not finished */
    LG_PHASE_FINISHED = 4,   /**< finished */
    LG_PHASE_HELD = 5,       /**< a repair is needed and has not started */
    LG_PHASE_HALTED = 6,     /**< safe mode crashed too; the launch waits */
    LG_PHASE_TERMINATING = 7 /**< the end was announced */
} lg_phase;

/** What delivery made of an ended run. Values are stored and never change. */
typedef enum lg_reported {
    LG_REPORTED_NOT = 0,        /**< nothing yet: a report is owed where the end asks for one */
    LG_REPORTED_UNWANTED = 1,   /**< no report: lg_delivery_options.ends has no such end */
    LG_REPORTED_SPOOLED = 2,    /**< a report; see lg_delivery_entries() */
    LG_REPORTED_COUNTED = 3,    /**< counted in the report of another run */
    LG_REPORTED_NO_CONSENT = 4, /**< no report: there was no consent then */
    LG_REPORTED_SENT = 5,       /**< its report was sent, and has given way to a new one since */
    LG_REPORTED_DEAD = 6        /**< its report was given up, and has given way since */
} lg_reported;

/** Identity and state of a run. */
typedef struct lg_run_info {
    char uuid[37];            /**< text form */
    char boot_id[37];         /**< of the kernel, text form */
    char app_id[64];
    char app_version[64];
    char executable[256];     /**< path; of a longer one "…" and its end */
    char build_id[65];        /**< of the executable, lower-case hex; "" when it has none */
    uint64_t ordinal;         /**< number of the run in its state directory, from 1 */
    uint64_t wall_ns;         /**< start: nanoseconds since 1970, CLOCK_REALTIME */
    uint64_t monotonic_ns;    /**< start: CLOCK_MONOTONIC */
    /** start time of the process, clock ticks since boot, as in /proc/PID/stat */
    uint64_t start_ticks;
    int32_t pid;              /**< in the pid namespace of the process */
    uint32_t uid;             /**< effective */
    uint32_t secondary;       /**< 1: another process held the ledger */
    uint32_t started;         /**< 1: lg_start() completed */
    uint32_t alive;           /**< 1: the process is alive now */
    /** 1: the process ended by exit(), or under `launchguard run` by _exit(), quick_exit() or
     *  daemon(); exit_code is valid */
    uint32_t exit_marked;
    int32_t exit_code;
    uint32_t stop_marked;     /**< 1: the program called lg_stop() */
    uint64_t end_ns;          /**< CLOCK_MONOTONIC of the mark of its end; 0 when there is none */
    /** last SIGTERM, SIGINT or SIGHUP noted, under `launchguard run` also SIGPIPE; 0 when none. A
     *  SIGHUP that the program handles does not replace an earlier SIGTERM or SIGINT. */
    int32_t term_signal;
    int32_t term_pid;         /**< sender of that signal; 0: the kernel or unknown */
    uint32_t term_uid;
    uint64_t term_ns;         /**< CLOCK_MONOTONIC */
    uint32_t healed_pages;    /**< pages of this file replaced by memory after the file was cut */
    uint32_t context_count;
    uint64_t boottime_ns;     /**< start: CLOCK_BOOTTIME */
    uint32_t end_announced;   /**< 1: lg_will_terminate() was called; 2: lg_will_restart() */
    uint64_t announced_ns;    /**< CLOCK_MONOTONIC of that call */
    uint32_t witnessed;       /**< 1: a witness stored wait_status */
    int32_t wait_status;      /**< as from waitpid() */
    /** CLOCK_MONOTONIC of the begin of a hang that goes on; 0: no hang */
    uint64_t hang_ns;
    uint32_t oom_known;       /**< 1: the two figures below are known */
    /** processes of the same cgroup that the kernel had ended for lack of memory when this one was
     *  last seen alive: at the start, or by lg_memory_watch() */
    uint64_t oom_kills;
    uint64_t oom_cgroup;      /**< inode of the cgroup's directory */
    /** 1: the program has its own handler for the terminating signal, and may have lived on */
    uint32_t term_kept;
    /** CLOCK_MONOTONIC when the process was last seen alive at least a second after that signal, or
     *  when its handler of SIGHUP returned; 0 or before term_ns: never */
    uint64_t term_alive_ns;
    /** CLOCK_MONOTONIC when the CPU time of the process was about to reach the hard limit; 0:
     *  never, or the process idles now, and the two figures below are 0 */
    uint64_t cpu_near_ns;
    uint64_t cpu_used_ns;     /**< CPU time of the process then */
    uint64_t cpu_limit_s;     /**< the limit (RLIMIT_CPU), in seconds */
    /** CLOCK_MONOTONIC when memory was last seen near the limit (lg_memory_watch()); 0: memory is
     *  not near the limit, and the three figures below are 0 */
    uint64_t memory_near_ns;
    uint64_t memory_used;     /**< bytes */
    uint64_t memory_limit;    /**< bytes */
    /** bytes that the process had for itself; 0 where the limit is not that of its cgroup */
    uint64_t memory_own;
    /** CLOCK_MONOTONIC of a fork during a launch, after which the process was not seen alive for a
     *  tenth of a second; 0: none */
    uint64_t forked_ns;
    /** CLOCK_MONOTONIC of lg_crash_note(); 0: the program did not call it */
    uint64_t crash_noted_ns;
    char crash_type[64];      /**< the type given to that call; "" when none */
    uint32_t attached;        /**< 1: an agent waits, or waited, for the process */
    lg_reported reported;     /**< what delivery made of the ended run */
    uint64_t counted_in;      /**< LG_REPORTED_COUNTED: number of the run whose report counts this
                                   one; else 0 */
    /** 1: the process executed another program, and `alive` is about that program */
    uint32_t exec_marked;
    /** CLOCK_MONOTONIC when the process was last seen alive while it hung, at most about a second
     *  before its end; 0: never */
    uint64_t hung_alive_ns;
    /** CLOCK_MONOTONIC when the witness stored wait_status; 0: there is none */
    uint64_t witnessed_ns;
} lg_run_info;

/** The system that a run began on, as the start found it. "" or 0: not known, or there is none. */
typedef struct lg_system_info {
    uint32_t size;            /**< sizeof(lg_system_info); LG_SYSTEM_INFO_INIT sets it */
    int32_t parent_pid;       /**< in the pid namespace of the process; 0: not in it */
    char kernel[65];          /**< release of the kernel */
    char hardware[17];        /**< as of uname(2), for example "aarch64" */
    char model[65];           /**< of the machine, in the words of its maker */
    char os_id[33];           /**< ID of os-release(5), for example "debian" */
    char os_version[33];      /**< VERSION_ID of os-release(5), for example "12" */
    /** digest of the id of the machine, in hex: the same for each run of an app_id on a machine,
     *  another for another app_id */
    char machine[33];
    char invocation[33];      /**< invocation id of the systemd unit, in hex */
    char unit[129];           /**< systemd unit; cut when longer */
    char parent_name[17];     /**< name of the parent process, where there is no unit */
    /** what made the container, by its own mark, for example "podman"; "": there is no mark */
    char container[33];
    uint32_t command_line_size; /**< bytes of command_line; 0 without the option */
    uint32_t command_line_cut;  /**< 1: it was longer */
    /** arguments of the program (lg_options.keep_command_line), each with a NUL, and one more */
    char command_line[969];
} lg_system_info;

#ifdef __cplusplus
#define LG_SYSTEM_INFO_INIT lg_sized<lg_system_info>()
#else
#define LG_SYSTEM_INFO_INIT { .size = (uint32_t)sizeof(lg_system_info) }
#endif

/** One context of a run. */
typedef struct lg_run_context {
    char name[64];
    lg_phase phase;
    uint64_t begun_ns;        /**< CLOCK_MONOTONIC of lg_launch_begin() */
    /** CLOCK_MONOTONIC of the end of the hold, from which the window runs; 0 = not reached */
    uint64_t launching_ns;
    uint64_t finished_ns;     /**< 0 = not finished */
    int64_t window_ms;
    lg_finish finish;
    uint32_t rung;            /**< rung under repair, 0: the built-in one; valid while repairing */
    uint32_t attempt;         /**< attempt, from 1; valid while repairing */
    char task[64];            /**< key of the task that runs; "" when none */
    uint32_t marked;          /**< 1: lg_launch_finished() was called, and counts */
    uint32_t repaired;        /**< 1: a repair succeeded in this run */
    int32_t task_tid;         /**< thread that runs the task; 0 when none */
    /** file names of the context's own modules, each with a NUL; an empty name ends the list */
    char modules[240];
} lg_run_context;

/** One loaded module. */
typedef struct lg_module {
    uint64_t start, end;      /**< addresses covered by its segments */
    uint64_t bias;            /**< address minus file address */
    char build_id[65];        /**< lower-case hex; "" when it has none */
    char path[1024];          /**< of a longer one "…" and its end */
} lg_module;

/** One annotation. */
typedef struct lg_annotation {
    char key[64];
    char value[496];          /**< NUL after `size` bytes; "" without a value */
    uint32_t size;            /**< bytes of value */
    uint32_t has_value;       /**< 0: the key is only redacted */
    uint32_t cut;             /**< 1: the value was longer than LG_ANNOTATION_VALUE_MAX */
    /** 1: lg_redact() named the key: the value must not leave this machine */
    uint32_t redacted;
    /** CLOCK_MONOTONIC of the last change: the value was set or removed, or a key without a value
     *  was redacted */
    uint64_t monotonic_ns;
} lg_annotation;

/** One breadcrumb. */
typedef struct lg_log_entry {
    uint64_t sequence;        /**< grows within its lane; not gapless */
    uint64_t monotonic_ns;
    uint32_t lane;
    int32_t tid;
    uint32_t level;           /**< LG_LEVEL_* */
    /** 1: the text was longer than LG_LOG_TEXT_MAX, or a field did not fit and was left out */
    uint32_t cut;
    uint32_t size;            /**< bytes of text */
    char text[4096];          /**< NUL after `size` bytes */
    char category[64];        /**< "" without one */
    uint32_t field_count;     /**< see lg_reader_log_field() */
    /** 1: the entry contradicts itself: text, category and fields are not returned */
    uint32_t damaged;
} lg_log_entry;

/** A field of a breadcrumb. */
typedef struct lg_log_field {
    uint32_t key_size;        /**< bytes of key */
    uint32_t value_size;      /**< bytes of value */
    char key[4096];           /**< NUL after `key_size` bytes */
    char value[4096];         /**< NUL after `value_size` bytes */
} lg_log_field;

/** Counts over a ring log. */
typedef struct lg_log_info {
    uint64_t entries;         /**< readable */
    /** entries that were begun and not committed, or are damaged: skipped */
    uint64_t torn;
    uint64_t overwritten_bytes; /**< written since the start and overwritten since */
    /** entries in those bytes; one less for each writer that was killed right after an entry */
    uint64_t overwritten_entries;
    /** whole entries of a kind that this version does not know: skipped */
    uint64_t unknown;
    /** entries that found no room, because other writers stood still in the middle of theirs */
    uint64_t refused;
} lg_log_info;

/** The verdict on a run. */
typedef struct lg_verdict {
    lg_end end;
    lg_evidence evidence;
    int32_t signal;           /**< for crash and terminated */
    int32_t code;             /**< exit code for exit and clean; si_code for crash */
    lg_crash_kind kind;       /**< for crash */
    /** time of the end, by the run's clock: exact with a record, a mark of the end or a witness;
     *  else the last moment at which the evidence shows the process alive; 0 when unknown */
    uint64_t monotonic_ns;
} lg_verdict;

/** Called by lg_reader_verify() for each block.
 *
 *  @param block   name of the block.
 *  @param status  LG_OK, LG_ERR_INCOMPLETE or LG_ERR_DAMAGED.
 *  @param detail  one line for a person. */
typedef void (*lg_verify_callback)(const char *block, lg_status status, const char *detail, void *user);

LG_BEGIN

/** Open a run file or a ledger.
 *
 *  @param path        a regular file; a link is not followed.
 *  @param ret_reader  to be closed with lg_reader_close(); untouched on failure.
 *  @return LG_OK; LG_ERR_DAMAGED: not such a file, or its header is damaged; LG_ERR_NEWER;
 *          LG_ERR_LINK; LG_ERR_NOT_FOUND;
 *          LG_ERR_PERMISSION; LG_ERR_SYSTEM (errno); LG_ERR_UNSUPPORTED: this is not Linux;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_open(const char *path, lg_reader **ret_reader);

/** Close a reader. NULL is ignored.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: frees.
 *  Durable: nothing is stored.
 */
LG_API void lg_reader_close(lg_reader *reader);

/** The kind of the open file.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_file_kind lg_reader_kind(const lg_reader *reader);

/** Identity and state of the run.
 *
 *  @return LG_OK; LG_ERR_DAMAGED; LG_ERR_STATE: not a run file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_run(lg_reader *reader, lg_run_info *ret_info);

/** The system that the run began on.
 *
 *  @param ret_system  begin with LG_SYSTEM_INFO_INIT: `size` bytes are written, and `size` stays.
 *  @return LG_OK; LG_ERR_INCOMPLETE: the run ended before its start was complete;
 *          LG_ERR_DAMAGED; LG_ERR_STATE; LG_ERR_OPTION: `size` is not that of this or an earlier
 *          version.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_system(lg_reader *reader, lg_system_info *ret_system);

/** One context of the run, 0 ≤ index < context_count.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_run_context(lg_reader *reader, uint32_t index, lg_run_context *ret_context);

/** Most bytes of standard error that a run file has. */
#define LG_STDERR_MAX 16320

/** The last bytes of standard error, where the session kept them (lg_options.keep_stderr), or its
 *  parent did (lg_witness_stderr()).
 *
 *  @param buffer     at least LG_STDERR_MAX bytes.
 *  @param ret_size   bytes, at most LG_STDERR_MAX.
 *  @param ret_total  bytes written in all.
 *  @return LG_OK; LG_ERR_NOT_FOUND: the session did not keep them; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_stderr(lg_reader *reader, uint8_t *buffer, size_t *ret_size, uint64_t *ret_total);

/** One module, from 0.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last; LG_ERR_INCOMPLETE: no table yet; LG_ERR_DAMAGED;
 *          LG_ERR_STATE; LG_ERR_SYSTEM: no memory.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: yes, 32 KiB.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_module(lg_reader *reader, uint32_t index, lg_module *ret_module);

/** The number of loaded modules that had no room in the file. The executable and the modules in
 *  which frames of the crash, of a snapshot or of a guard event lie had it first.
 *
 *  @return as lg_reader_module().
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: as lg_reader_module().
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_modules_omitted(lg_reader *reader, uint32_t *ret_count);

/** Whether code is none of the program's own: of libc, of the runtimes and standard libraries of
 *  C++, Swift and Rust, also linked statically, or of LaunchGuard. Headlines and the place of a run
 *  pass such code over; the fingerprint, which knows modules alone, such modules.
 *
 *  @param module    path or name of the module's file; NULL: not known.
 *  @param function  its name, best that of the linker; NULL: not known.
 *  @param file      its source file; NULL: not known.
 *  @return 1: one of the three says so; 0: none does.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API int lg_code_is_common(const char *module, const char *function, const char *file);

/** The annotation in one place, in no particular order. Key and value were there together at one
 *  moment. A redacted key never changes its place. The value of a redacted key is returned, too: an
 *  exporter must drop it.
 *
 *  @param index  0 ≤ index < LG_ANNOTATIONS_MAX. Ask for every place, as there may be gaps.
 *  @return LG_OK; LG_ERR_NOT_FOUND: the place is empty; LG_ERR_DAMAGED: the place cannot be read;
 *          LG_ERR_INCOMPLETE: the annotation changes faster than the reader can read it;
 *          LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret_annotation);

/** The places of lg_reader_annotation() that are in use, in one read.
 *
 *  @param ret_used  bit i: place i is in use, or cannot be read; clear: it is empty.
 *  @return LG_OK; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_annotations_used(lg_reader *reader, uint64_t *ret_used);

/** Whether lg_redact() named a key.
 *
 *  @return LG_OK: redacted; LG_ERR_NOT_FOUND: not redacted; LG_ERR_DAMAGED and LG_ERR_INCOMPLETE: a
 *          place that cannot be read may hold this key: treat the key as redacted; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_redacted(lg_reader *reader, const char *key);

/** Take a snapshot of the ring log. The snapshot is needed before lg_reader_log_entry(), and a new
 *  one shows the later entries of a living process.
 *
 *  @return LG_OK; LG_ERR_DAMAGED; LG_ERR_SYSTEM: no memory; LG_ERR_STATE: not a run file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: yes, at most the size of the ring log twice.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_log(lg_reader *reader, lg_log_info *ret_info);

/** Whether lg_reader_log() can read the ring log: its header and its bounds are right. No entry is
 *  read.
 *
 *  @return LG_OK; LG_ERR_DAMAGED; LG_ERR_STATE: not a run file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_log_check(lg_reader *reader);

/** One entry of the snapshot, oldest first, 0 ≤ index < entries.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_log_entry(lg_reader *reader, uint64_t index, lg_log_entry *ret_entry);

/** One field of an entry of the snapshot, from 0, in the order in which the program gave them.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t field, lg_log_field *ret_field);

/** The end of the run. The verdict rests on the evidence in the file, on whether the process is
 *  alive, and on the boot id of this machine. A record of SIGQUIT is the requested dump of all
 *  threads: it makes the end LG_END_TERMINATED with LG_EVIDENCE_DUMP_RECORD, never a crash. Lack of
 *  memory can be recognised only from the cgroup of the run. For a reader elsewhere such an end is
 *  unknown.
 *
 *  @return LG_OK; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_verdict(lg_reader *reader, lg_verdict *ret_verdict);

/** The fingerprint of the run: the coarse key of docs/FINGERPRINT.md, by which a device coalesces
 *  equal ends of one build. A crash goes by the application, its kind, its messages and its
 *  innermost places in modules of one build; any other end by its evidence, the task and, for a
 *  hang, the places. Two functions never share one. Missing and damaged parts of the file do not go
 *  into it.
 *
 *  @param ret_hex  32 lower-case hex digits, with a NUL.
 *  @return LG_OK; LG_ERR_DAMAGED: the identity of the run cannot be read; LG_ERR_STATE: not a run
 *          file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: as lg_reader_module().
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_fingerprint(lg_reader *reader, char ret_hex[33]);

/** The same for an end that is known from elsewhere: the fingerprint that the machine of the run
 *  computes. A reader on another machine takes a run without a mark for one that a reboot ended;
 *  the ledger says what the machine saw.
 *
 *  @param end  the verdict of the run's entry in the timeline, see lg_reader_timeline(); borrowed.
 *              NULL: that of the file, as lg_reader_fingerprint().
 *  @param ret_hex  32 lower-case hex digits, with a NUL.
 *  @return LG_OK; LG_ERR_DAMAGED: the identity of the run cannot be read; LG_ERR_STATE: not a run
 *          file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: as lg_reader_module().
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_fingerprint_of(lg_reader *reader, const lg_verdict *end, char ret_hex[33]);

/** The place of a crash or a hang: the innermost frame in the program's own code. It is a module
 *  and an address in its file, for example "libplayer.so+0x12f4", which a symboliser takes.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: the end has no stack, or no frame of it is in a known module;
 *          LG_ERR_DAMAGED: the identity of the run cannot be read; LG_ERR_STATE: not a run file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: as lg_reader_module().
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_place(lg_reader *reader, char ret_place[LG_PLACE_BYTES]);

/** Check every block of the file: bounds and checksums.
 *
 *  @return LG_OK: all is whole; LG_ERR_DAMAGED: at least one block is not.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.
 *  Allocates: as lg_reader_log().
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_verify(lg_reader *reader, lg_verify_callback callback, void *user);

/** The digest of the lines of a bug key, docs/FINGERPRINT.md, as 32 hexadecimal digits and a NUL.
 *
 *  @param lines  borrowed; NULL is allowed where `size` is 0.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API void lg_bug_key_digest(const char *lines, size_t size, char ret_hex[33]);

LG_END

#include <launchguard/guard_record.h>
#include <launchguard/ledger.h>

#endif
