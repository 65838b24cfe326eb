/* The streams of a minidump, of plain values: nothing here knows where these come from. Texts are
 * what may stand in the file. */
#ifndef LG_REPORT_DUMP_STREAMS_H
#define LG_REPORT_DUMP_STREAMS_H

#include "launchguard/reader.h"
#include "report/dump_file.h"

/* The processors that minidumps have a form for here. */
enum lg__dump_processor { LG__DUMP_UNKNOWN, LG__DUMP_X86_64, LG__DUMP_ARM64 };

/* "x86_64" or "aarch64", as of uname(2). */
enum lg__dump_processor lg__dump_streams_processor(const char *hardware);

/* A text with its size. */
struct lg__dump_text {
    const char *bytes;
    size_t size;
};

#define LG__DUMP_REGISTERS_MAX 64u
struct lg__dump_registers {
    uint32_t count;
    lg_register list[LG__DUMP_REGISTERS_MAX];
};

/* The registers say which processor they are of. */
enum lg__dump_processor lg__dump_streams_processor_of(const struct lg__dump_registers *registers);
/* For a thread whose registers are not known: what is. 0: not known. */
void lg__dump_streams_guess(struct lg__dump_registers *registers, enum lg__dump_processor processor, uint64_t pc, uint64_t sp, uint64_t fp);
/* Append the context of a thread; all zero: nothing is known. */
struct lg__dump_place lg__dump_streams_context(struct lg__dump_file *file, enum lg__dump_processor processor, const struct lg__dump_registers *registers);

/* MINIDUMP_SYSTEM_INFO. `kernel`: its release; `hardware`: as of uname(2); "": not known. */
void lg__dump_streams_system(struct lg__dump_file *file, enum lg__dump_processor processor, const char *kernel, const char *hardware);

/* MINIDUMP_MISC_INFO: the process and its times, in seconds. `started` 0: no time is known. */
void lg__dump_streams_misc(struct lg__dump_file *file, int32_t pid, uint64_t started, uint64_t user, uint64_t kernel);

/* MINIDUMP_EXCEPTION_STREAM. `address` 0: there is none. */
void lg__dump_streams_exception(struct lg__dump_file *file, int32_t tid, int32_t signal, int32_t code, uint64_t address, struct lg__dump_place context);

/* MDRawBreakpadInfo: which thread the dump is about, where there is no exception to say so. */
void lg__dump_streams_request(struct lg__dump_file *file, int32_t tid);

struct lg__dump_thread {
    int32_t tid;
    uint32_t name;  /* the place of a text in the file; 0: it has none */
    uint64_t stack; /* where its memory begins, or its stack pointer */
    struct lg__dump_place memory, context;
};
void lg__dump_streams_threads(struct lg__dump_file *file, const struct lg__dump_thread *threads, size_t count);

struct lg__dump_module {
    uint64_t start, end;
    struct lg__dump_text path;
    const char *build_id; /* hexadecimal digits; "": none */
};
/* Of modules that do not overlap: readers refuse a list in which two do. */
void lg__dump_streams_modules(struct lg__dump_file *file, const struct lg__dump_module *modules, size_t count);

struct lg__dump_annotation {
    struct lg__dump_text key, value;
};
/* MinidumpCrashpadInfo: the identity of the report, and names with values. */
void lg__dump_streams_annotations(struct lg__dump_file *file, const struct lg__dump_annotation *annotations, size_t count, const char *uuid);

#endif
