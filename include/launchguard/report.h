/** Reader: the contents of a file as JSON, one object of docs/schema in one line.
 *
 *  The rules of reader.h hold here as well. Texts of the program are escaped as JSON requires, and
 *  must be escaped once more before a terminal shows them.
 *
 *  The static library (liblaunchguard.a) and the Swift package have this call; the shared library
 *  does not, since the table of fields would cost each process some pages.
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
     *  values in them are not blanked. */
    uint32_t stack_bytes;
    /** 1: home directories become "~" in paths and texts; a number above INT64_MAX, which only a
     *  damaged file has, is left out */
    uint32_t for_sending;
    uint32_t keep_home;       /**< 1: home directories stay also with for_sending */
    uint32_t breadcrumbs;     /**< most of them, the newest; 0: all */
    uint32_t frames;          /**< most of them in all stacks; 0: all */
    const char *path;         /**< of the file, for the reader of the report; NULL: "" */
    /** how the run ended, where the caller knows more; NULL: the reader's own verdict */
    const lg_verdict *verdict;
    /** members to add at the end, as JSON without the braces; NULL: none */
    const char *members;
} lg_report_options;

#ifdef __cplusplus
#define LG_REPORT_OPTIONS_INIT lg_report_options { (uint32_t)sizeof(lg_report_options), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }
#else
#define LG_REPORT_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_report_options) }
#endif

/** Takes the next bytes of the text, in order, and returns 0; anything else ends the report. Called
 *  on the thread that asked. */
typedef int (*lg_report_sink)(const char *bytes, size_t size, void *user);

LG_BEGIN

/** Write the report of a run file or the contents of a ledger. Redacted values are not in it,
 *  except those in stack memory where `stack_bytes` is 1.
 *
 *  @param options  borrowed; NULL: all defaults. For a ledger only `path` and `members` count.
 *  @return LG_OK, also where parts of the file are damaged: the report says which; LG_ERR_SYSTEM:
 *          the sink refused, or there is no memory; LG_ERR_OPTION: `options` has no right size, or
 *          has a field that this library does not know; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_report(lg_reader *reader, const lg_report_options *options, lg_report_sink sink, void *user);

LG_END

#endif
