/* The fingerprint of a run: docs/FINGERPRINT.md. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "read/crashes.h"
#include "read/internal.h"
#include "read/verdict.h"
#include "store/digest.h"

#define FRAMES 5u
#define REASON_BYTES 512u

/* Changes with what goes into the digest. */
static const uint8_t version_1[16] = { 'L', 'G', ' ', 'f', 'i', 'n', 'g', 'e', 'r', 'p', 'r', 'i', 'n', 't', ' ', '1' };

/* What goes into the digest: lines of text. What has no room is left out. */
struct inputs {
    size_t size;
    char text[8192];
};

static void add(struct inputs *inputs, const char *what, const char *format, ...) LG_PRINTF(3, 4);

static void add(struct inputs *inputs, const char *what, const char *format, ...)
{
    char value[1100], *line = inputs->text + inputs->size;
    size_t room = sizeof inputs->text - inputs->size;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    int size = snprintf(line, room, "%s %s\n", what, value);
    if (size > 0 && (size_t)size < room)
        inputs->size += (size_t)size;
}

/* ---- the reason ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The bytes of a number at the start of `text`: an address as "0x" and hex digits or as eight hex
 * digits and more with a digit among them, else decimal digits. 0: there is none. */
static size_t number(const char *text, bool starts_word)
{
    size_t prefix = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && is_hex(text[2]) ? 2 : 0, size = prefix, digits = 0;
    while (is_hex(text[size]))
        digits += is_digit(text[size++]);
    if (prefix || (starts_word && size >= 8 && digits))
        return size;
    for (size = 0; is_digit(text[size]);)
        size++;
    return size;
}

/* The first line of a message, with "#" in the place of each number. */
static void normalise(const char *text, char ret_line[REASON_BYTES])
{
    size_t size = 0;
    while (*text == '\n')
        text++;
    for (bool starts_word = true; *text && *text != '\n' && size + 1 < REASON_BYTES;) {
        size_t skip = number(text, starts_word);
        ret_line[size++] = skip ? '#' : *text;
        starts_word = !skip && !is_hex(*text) && !(*text >= 'g' && *text <= 'z') && !(*text >= 'G' && *text <= 'Z') && *text != '_';
        text += skip ? skip : 1;
    }
    ret_line[size] = 0;
}

static void add_messages(struct inputs *inputs, lg_reader *reader)
{
    lg_message message;
    char line[REASON_BYTES];
    for (uint32_t i = 0; lg_reader_message(reader, i, &message) == LG_OK; i++) {
        if (message.source == LG_MESSAGE_CPP_TYPE)
            snprintf(line, sizeof line, "%.*s", (int)sizeof line - 1, message.text);
        else
            normalise(message.text, line);
        add(inputs, "message", "%d %s", (int)message.source, line);
    }
}

/* ---- the frames ---- */

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Modules that are the same for every program. */
static bool is_common(const char *name)
{
    static const char *const common[] = {
        "ld-linux", "ld-musl", "ld.so", "ld64.so", "linux-vdso", "[vdso]", "libc.so", "libc-", "libm.so", "libm-", "libdl", "librt", "libpthread",
        "libgcc_s", "libstdc++", "libc++", "libunwind", "liblaunchguard", "libswift", "libFoundation", "lib_Foundation", "libdispatch",
        "libBlocksRuntime", "libasan", "libtsan", "libubsan",
    };
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (begins_with(name, common[i]))
            return true;
    return false;
}

struct place {
    char module[256]; /* file name; "": in no module */
    uint64_t offset;  /* address in the file of the module */
};

static struct place place_of(lg_reader *reader, uint64_t at)
{
    lg_module module;
    struct place place = { .offset = 0 };
    for (uint32_t i = 0; lg_reader_module(reader, i, &module) == LG_OK; i++) {
        if (at < module.start || at >= module.end)
            continue;
        const char *slash = strrchr(module.path, '/');
        snprintf(place.module, sizeof place.module, "%.*s", (int)sizeof place.module - 1, slash ? slash + 1 : module.path);
        place.offset = at - module.bias;
        break;
    }
    return place;
}

/* A walk: of the crashed thread, or of the thread of a snapshot of the hang. */
struct walk {
    lg_reader *reader;
    bool of_hang;
    lg_stage stage;
    uint32_t thread;
};

static bool frame_of(const struct walk *walk, uint32_t index, uint64_t *ret_pc)
{
    return (walk->of_hang ? lg_reader_snapshot_frame(walk->reader, LG_SNAPSHOT_HANG, walk->thread, index, ret_pc)
                          : lg_reader_frame(walk->reader, walk->stage, index, ret_pc)) == LG_OK;
}

/* The innermost frames, each of them once where it is several times in a row. Returns how many. */
static uint32_t add_frames(struct inputs *inputs, const struct walk *walk, bool common_too)
{
    struct place last = { .offset = 0 };
    uint64_t pc;
    uint32_t count = 0;
    for (uint32_t i = 0; count < FRAMES && frame_of(walk, i, &pc); i++) {
        /* a return address may be the first byte behind its function, and its module */
        struct place place = place_of(walk->reader, i ? pc - 1 : pc);
        if (!place.module[0] || (!common_too && is_common(place.module)))
            continue;
        /* a thread that hangs may be anywhere in its loop */
        if (walk->of_hang && i == 0)
            place.offset = 0;
        if (count && place.offset == last.offset && strcmp(place.module, last.module) == 0)
            continue;
        add(inputs, "frame", "%s+%llx", place.module, (unsigned long long)place.offset);
        last = place;
        count++;
    }
    return count;
}

static void add_walk(struct inputs *inputs, const struct walk *walk)
{
    if (!add_frames(inputs, walk, false))
        add_frames(inputs, walk, true);
}

static void add_hang(struct inputs *inputs, lg_reader *reader)
{
    lg_snapshot_info snapshot;
    lg_thread_info thread;
    struct walk walk = { .reader = reader, .of_hang = true };
    if (lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot) != LG_OK || snapshot.resolved_ns)
        return;
    for (; walk.thread < snapshot.stored; walk.thread++)
        if (lg_reader_snapshot_thread(reader, LG_SNAPSHOT_HANG, walk.thread, &thread) == LG_OK && thread.tid == snapshot.tid) {
            add_walk(inputs, &walk);
            return;
        }
}

/* ---- all of it ---- */

static void add_tasks(struct inputs *inputs, lg_reader *reader, uint32_t count)
{
    lg_run_context context;
    for (uint32_t i = 0; i < count; i++)
        if (lg_reader_run_context(reader, i, &context) == LG_OK && context.task[0])
            add(inputs, "task", "%s %s", context.name, context.task);
}

/* A witness or a record: the crash is the same. */
static void add_crash(struct inputs *inputs, const struct lg__case *file)
{
    struct walk walk = { .reader = file->reader };
    lg_stack_choice choice;
    add(inputs, "signal", "%d", file->verdict.signal);
    if (file->run.crash_noted_ns)
        add(inputs, "noted", "%s", file->run.crash_type);
    if (!file->died)
        return;
    add(inputs, "kind", "%s", lg_crash_kind_name(file->crash.kind));
    add_messages(inputs, file->reader);
    if (lg_reader_stack_choice(file->reader, &choice) != LG_OK)
        return;
    walk.stage = choice.stage;
    add_walk(inputs, &walk);
}

static void collect(struct inputs *inputs, const struct lg__case *file)
{
    const lg_verdict *verdict = &file->verdict;
    add(inputs, "end", "%s", lg_end_name(verdict->end));
    if (verdict->end == LG_END_CRASH) {
        add_crash(inputs, file);
        return;
    }
    add(inputs, "evidence", "%d", (int)verdict->evidence);
    if (verdict->end == LG_END_EXIT)
        add(inputs, "code", "%d", verdict->code);
    if (verdict->end == LG_END_TERMINATED)
        add(inputs, "signal", "%d", verdict->signal);
    add_tasks(inputs, file->reader, file->run.context_count);
    add_hang(inputs, file->reader);
}

lg_status lg_reader_fingerprint(lg_reader *reader, char ret_hex[33])
{
    struct lg__case file;
    uint8_t digest[16];
    if (!reader || !ret_hex)
        return LG_ERR_ARGUMENT;
    uint32_t selected = lg__crashes_select_end(reader);
    lg_status status = lg__reader_case(reader, false, &file);
    if (status == LG_OK) {
        struct inputs inputs = { .size = 0 };
        collect(&inputs, &file);
        lg__digest_keyed(version_1, inputs.text, inputs.size, digest);
        lg__reader_hex(ret_hex, digest, sizeof digest);
    }
    lg__crashes_select(reader, selected);
    return status;
}
