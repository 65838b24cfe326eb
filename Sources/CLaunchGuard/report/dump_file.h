/* The layout of a minidump: a header, a directory of streams, and data at places that the streams
 * name. Structures and numbers are those of Microsoft's minidumpapiset.h; what is there for Linux
 * comes from Breakpad (src/google_breakpad/common/minidump_format.h) and Crashpad
 * (minidump/minidump_extensions.h). */
#ifndef LG_REPORT_DUMP_FILE_H
#define LG_REPORT_DUMP_FILE_H

#include "report/dump_part.h"

/* Kinds of streams: MINIDUMP_STREAM_TYPE; the numbers of Breakpad ("Gg") and Crashpad ("CP"). */
enum lg__dump_stream {
    LG__DUMP_THREAD_LIST = 3,
    LG__DUMP_MODULE_LIST = 4,
    LG__DUMP_MEMORY_LIST = 5,
    LG__DUMP_EXCEPTION = 6,
    LG__DUMP_SYSTEM_INFO = 7,
    LG__DUMP_MISC_INFO = 15,
    LG__DUMP_THREAD_NAMES = 24,
    LG__DUMP_BREAKPAD_INFO = 0x47670001,
    LG__DUMP_LINUX_STATUS = 0x47670004,
    LG__DUMP_LINUX_MAPS = 0x47670009,
    LG__DUMP_CRASHPAD_INFO = 0x43500001,
};
#define LG__DUMP_STREAMS_MAX 16u

/* MINIDUMP_LOCATION_DESCRIPTOR. All zero: nothing is there. */
struct lg__dump_place {
    uint32_t size, offset;
};

/* A minidump that grows: first what a stream points to, then the stream. */
struct lg__dump_file {
    struct lg__dump_part part;
    uint32_t count;
    struct {
        uint32_t kind;
        struct lg__dump_place place;
    } streams[LG__DUMP_STREAMS_MAX];
};

void lg__dump_file_begin(struct lg__dump_file *file);
void lg__dump_file_free(struct lg__dump_file *file);

/* Append data at a multiple of eight; an offset that is too large for the format shows in
 * lg__dump_file_finish(). Frees the part. */
struct lg__dump_place lg__dump_file_append(struct lg__dump_file *file, struct lg__dump_part *part);
void lg__dump_file_place(struct lg__dump_part *part, struct lg__dump_place place);

/* The place of a MINIDUMP_STRING: its size in bytes, UTF-16, and a NUL that does not count; and
 * that of a MinidumpUTF8String of Crashpad. */
uint32_t lg__dump_file_text(struct lg__dump_file *file, const char *text, size_t size);
uint32_t lg__dump_file_utf8(struct lg__dump_file *file, const char *text, size_t size);

/* Append a stream. Frees the part. */
void lg__dump_file_add(struct lg__dump_file *file, enum lg__dump_stream kind, struct lg__dump_part *part);

/* Write the directory and the header, with a time since 1970. False: there was no memory, or the
 * file is larger than offsets of 32 bits can name. */
bool lg__dump_file_finish(struct lg__dump_file *file, uint64_t seconds);

#endif
