/** Reader: the contents of a file as JSON, one object of docs/schema in one line, and the same for
 *  what a desk knows of a fleet.
 *
 *  The rules of reader.h hold here as well, and its library has the functions. Texts of the program
 *  are escaped as JSON requires, and must be escaped once more before a terminal shows them.
 */
#ifndef LAUNCHGUARD_REPORT_H
#define LAUNCHGUARD_REPORT_H

#include <launchguard/reader.h>

/** Parts of the report of a run that can be left out. The reader still checks that they are there
 *  and within bounds. */
#define LG_REPORT_BREADCRUMBS 1u
#define LG_REPORT_ANNOTATIONS 2u
#define LG_REPORT_PULSE 4u           /**< heartbeats and deadlines */
#define LG_REPORT_STANDARD_ERROR 8u
#define LG_REPORT_GUARD_SITES 16u
#define LG_REPORT_SNAPSHOTS 32u
#define LG_REPORT_OTHER_CRASHES 64u
#define LG_REPORT_CRASH 128u
#define LG_REPORT_THREADS 256u       /**< the other threads of a crash */
#define LG_REPORT_MODULES 512u       /**< the list; frames have their modules all the same */
#define LG_REPORT_FINGERPRINT 1024u
#define LG_REPORT_SPARE_MODULES 4096u /**< the same where the file has no stack */
/** the memory map of a crash and what follows from it, and bytes of the program's memory */
#define LG_REPORT_MEMORY 2048u

/** Choices for a report. Zero is the default: all parts. */
typedef struct lg_report_options {
    uint32_t size;            /**< sizeof(lg_report_options); LG_REPORT_OPTIONS_INIT sets it */
    uint32_t left_out;        /**< LG_REPORT_*: parts that are left out */
    /** 1: include the bytes of the stacks, which are many and hold the program's data. Redacted
     *  values in them are not blanked. 2: they are, and where it is not known what is redacted, the
     *  bytes are left out. */
    uint32_t stack_bytes;
    /** 1: home directories become "~" in paths and texts, and fields that docs/FIELDS.md marks are
     *  left out, as is a number above INT64_MAX, which only a damaged file has */
    uint32_t for_sending;
    /** 1: home directories stay also with for_sending, and so do the fields with a double dagger */
    uint32_t keep_home;
    uint32_t breadcrumbs;     /**< most of them, the newest; 0: all */
    uint32_t frames;          /**< most of them in all stacks; 0: all */
    const char *path;         /**< of the file, for the reader of the report; NULL: "" */
    /** how the run ended, where the caller knows more; NULL: the reader's own verdict */
    const lg_verdict *verdict;
    /** members to add at the end, as JSON without the braces; NULL: none */
    const char *members;
} lg_report_options;

#ifdef __cplusplus
#define LG_REPORT_OPTIONS_INIT lg_sized<lg_report_options>()
#else
#define LG_REPORT_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_report_options) }
#endif

/** Choices for a minidump. Zero is the default. */
typedef struct lg_minidump_options {
    uint32_t size;            /**< sizeof(lg_minidump_options); LG_MINIDUMP_OPTIONS_INIT sets it */
    /** 1: also of a run without stacks, and of an unknown processor; home directories become "~" in
     *  paths and texts, and in memory their names, the arguments and the environment are blanked */
    uint32_t for_sending;
    /** 1: home directories stay also with for_sending */
    uint32_t keep_home;
    uint32_t reserved;        /**< 0 */
    /** Most bytes; 0 = 4294967295, the most of the format; at least 4096. Beyond it stacks are left
     *  out, those of the last threads first, then the memory map, then all but the first modules
     *  and threads. */
    uint64_t most_bytes;
    /** asynchronous callers in words, which only symbols tell; NULL: not known. Borrowed. */
    const char *async_callers;
    /** how the run ended, where the caller knows more; NULL: the reader's own verdict. Borrowed. */
    const lg_verdict *verdict;
} lg_minidump_options;

#ifdef __cplusplus
#define LG_MINIDUMP_OPTIONS_INIT lg_sized<lg_minidump_options>()
#else
#define LG_MINIDUMP_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_minidump_options) }
#endif

/** Takes the next bytes of the text, in order, and returns 0; anything else ends the report. Called
 *  on the thread that asked. */
typedef int (*lg_report_sink)(const char *bytes, size_t size, void *user);

/** How a version of a program compares with an older one. */
typedef enum lg_fleet_change_kind {
    LG_FLEET_CHANGE_NEW = 0,  /**< no run of the older version died of the same */
    LG_FLEET_CHANGE_MORE = 1, /**< more than chance explains */
    LG_FLEET_CHANGE_GONE = 2, /**< no run of the newer version died of the same */
    LG_FLEET_CHANGE_LESS = 3, /**< fewer than chance explains */
    LG_FLEET_CHANGE_SAME = 4
} lg_fleet_change_kind;

/** Runs of an older and of a newer version, or of an earlier and a later week, that died of the
 *  same. */
typedef struct lg_fleet_change {
    uint32_t kind;                /**< LG_FLEET_CHANGE_* */
    uint64_t old_count, new_count; /**< of versions runs; of weeks device-days */
    uint64_t old_total, new_total; /**< all of them, whatever the ends */
    /** how many times as often: the bounds of an interval, in percent; `ratio_high` 0: no bound */
    uint64_t ratio_low, ratio_high;
} lg_fleet_change;

/** Runs of one version, or of one device. */
typedef struct lg_fleet_part {
    const char *name;
    const char *source;           /**< where an unnamed device was collected from; NULL: left out */
    uint64_t runs, devices;
    const char *first_started, *last_started; /**< NULL: not known */
} lg_fleet_part;

/** The runs of a fleet that have one bug. Texts are UTF-8 with a NUL; times are as in
 *  docs/FIELDS.md. Everything is borrowed. */
typedef struct lg_fleet_row {
    const char *bug;              /**< its key, 32 hexadecimal digits */
    const char *app;
    const char *ending;           /**< lg_end_name() */
    const char *kind;             /**< of the crash; NULL: none */
    const char *headline;
    const char *place;            /**< NULL: not known */
    uint64_t runs, total, devices; /**< total: all runs of the versions that have it */
    const char *first_started, *last_started; /**< NULL: not known */
    const char *const *fingerprints; /**< with NULL at the end */
    const lg_fleet_part *versions; /**< may be NULL where there are none */
    size_t version_count;
    const char *state;            /**< "muted", "resolved", "again"; NULL: open */
    const char *resolved_in;      /**< version; NULL: none was said */
    const char *again_in;         /**< version of the first run after that; NULL: none */
    const uint64_t *trend;        /**< runs a day; may be NULL where `trend_days` is 0 */
    size_t trend_days;
    const char *trend_end;        /**< the last of these days; NULL: not known */
    const lg_fleet_change *recent; /**< the last week and the one before; NULL: not known */
    const lg_fleet_change *change; /**< NULL: nothing is compared */
} lg_fleet_row;

/** What most runs of a bug have, and the other runs of the application do not. */
typedef struct lg_fleet_trait {
    const char *name, *value;
    uint64_t runs, total;         /**< runs of the bug that have it, and all whose value is known */
    uint64_t other_runs, other_total; /**< the same of the other runs */
} lg_fleet_trait;

/** A bug with its best example. Everything is borrowed. */
typedef struct lg_fleet_example {
    const lg_fleet_row *group;
    const lg_fleet_part *devices; /**< may be NULL where there are none */
    size_t device_count;
    const lg_fleet_trait *traits; /**< may be NULL where there are none */
    size_t trait_count;
    const char *device;           /**< of the example */
    const char *run;              /**< its report: members, as JSON without the braces */
} lg_fleet_example;

LG_BEGIN

/** Write a row of a fleet, the object fleet-bug.
 *
 *  @param row  borrowed.
 *  @return LG_OK; LG_ERR_SYSTEM: the sink refused, or there is no memory; LG_ERR_ARGUMENT: a
 *          parameter is NULL; LG_ERR_UNSUPPORTED: there is no core on this system.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_fleet_row_report(const lg_fleet_row *row, lg_report_sink sink, void *user);

/** Write a bug with its example, the object fleet-example.
 *
 *  @param example  borrowed.
 *  @return As lg_fleet_row_report(): LG_OK, LG_ERR_SYSTEM, LG_ERR_ARGUMENT, also where `group` is
 *          NULL, or LG_ERR_UNSUPPORTED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_fleet_example_report(const lg_fleet_example *example, lg_report_sink sink, void *user);

/** Write the report of a run file or the contents of a ledger. Redacted values are not in it, nor
 *  in its texts, except those in stack memory where `stack_bytes` is 1.
 *
 *  @param options  borrowed; NULL: all defaults. For a ledger only `path` and `members` count.
 *  @return LG_OK, also where parts of the file are damaged: the report says which; LG_ERR_SYSTEM:
 *          the sink refused, or there is no memory; LG_ERR_OPTION: `options` has no right size, or
 *          a value that this library does not know; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_report(lg_reader *reader, const lg_report_options *options, lg_report_sink sink, void *user);

/** Write a run as a minidump: of its crash, or else of the stacks that were taken last while it
 *  lived. docs/EXPORT.md lists its contents. Redacted values are not in it, also where they stand
 *  in memory; registers stay. Where it is not known which values are redacted, there is no memory.
 *
 *  @param options  borrowed; NULL: all defaults.
 *  @return LG_OK, also where parts of the file are damaged; LG_ERR_NOT_FOUND: there is no stack;
 *          LG_ERR_UNSUPPORTED: neither registers nor the system's words say which processor it was,
 *          or minidumps have no form for it here, or this is not Linux; LG_ERR_LIMIT: larger than
 *          `most_bytes`, whatever is left out; LG_ERR_STATE: not a run file; LG_ERR_SYSTEM: the
 *          sink refused, or there is no memory; LG_ERR_OPTION; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_minidump(lg_reader *reader, const lg_minidump_options *options, lg_report_sink sink, void *user);

/** A path as reports that leave the machine have it: "~" for a home directory at its start.
 *
 *  @param buffer  for the result, which is there or is `path` itself.
 *  @param room    in bytes; a longer result is cut.
 *
 *  Threads: one at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes, once.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_path_without_home(const char *path, char *buffer, size_t room);

/** What of a run must not be shown: its redacted keys, and their values in annotations, breadcrumbs
 *  and guard events. lg_reader_report() hides the same. */
typedef struct lg__secrets lg_secrets;

/** Read the secrets of a run. Read them after what they are applied to: a key of a living program
 *  may be redacted, and used, in between.
 *
 *  @param log          the snapshot of the log that `reader` holds, borrowed; NULL: a new one is
 *                      taken where a key is redacted.
 *  @param ret_secrets  the caller frees them with lg_secrets_free().
 *  @return LG_OK; LG_ERR_SYSTEM: there is no memory; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_secrets(lg_reader *reader, const lg_log_info *log, lg_secrets **ret_secrets);

/** Whether the value of a key must not be shown: 1, also where a damaged part of the file may say
 *  so; else 0.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API int lg_secrets_hide_key(const lg_secrets *secrets, const char *key);

/** Replace each redacted value in a text, and what follows a redacted key, by three asterisks, in
 *  place.
 *
 *  @param size  in bytes; the text needs no NUL.
 *  @return the new size, which is not larger; 0 where there is no memory.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API size_t lg_secrets_hide(const lg_secrets *secrets, char *text, size_t size);

/** Free the secrets; NULL is allowed.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: no.  Durable: nothing is stored.
 */
LG_API void lg_secrets_free(lg_secrets *secrets);

LG_END

#endif
