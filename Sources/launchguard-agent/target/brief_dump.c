#include "target/brief_dump.h"

#include <stdlib.h>
#include <string.h>

#include "report/dump_streams.h"
#include "target/brief_json.h"
#include "target/otlp_values.h"

#define PAGE 4096u

static struct lg__dump_text text_of(const char *text)
{
    return (struct lg__dump_text){ text, strlen(text) };
}

/* ---- modules ---- */

/* As far as a frame shows a module: from its start to the end of the page of the frame. */
static bool module_of(const json_t *frame, struct lg__dump_module *ret)
{
    const uint64_t address = brief_address(frame, "address"), start = brief_address(frame, "start");
    ret->path = text_of(brief_text(frame, "module"));
    ret->build_id = brief_text(frame, "buildID");
    ret->start = start ? start : address - brief_address(frame, "offset");
    ret->end = (address | (PAGE - 1)) + 1;
    return ret->path.size && ret->start <= address && address < ret->end;
}

static bool overlap(const struct lg__dump_module *one, const struct lg__dump_module *other)
{
    return one->start < other->end && other->start < one->end;
}

/* A frame of a module that is there makes it longer; one that would make it overlap another one
 * does not count. */
static size_t take(struct lg__dump_module *modules, size_t count, struct lg__dump_module module)
{
    size_t place = count;
    for (size_t i = 0; i < count; i++)
        if (modules[i].start == module.start)
            place = i;
    if (place < count && module.end < modules[place].end)
        module.end = modules[place].end;
    for (size_t i = 0; i < count; i++)
        if (i != place && overlap(&modules[i], &module))
            return count;
    modules[place] = module;
    return place == count ? count + 1 : count;
}

static void add_modules(struct lg__dump_file *file, const json_t *frames)
{
    struct lg__dump_module *modules = calloc(json_array_size(frames) + 1, sizeof *modules), module;
    size_t count = 0;
    for (size_t i = 0; modules && i < json_array_size(frames); i++)
        if (module_of(json_array_get(frames, i), &module))
            count = take(modules, count, module);
    if (modules)
        lg__dump_streams_modules(file, modules, count);
    file->part.failed |= !modules;
    free(modules);
}

/* ---- the thread ---- */

static void add_thread(struct lg__dump_file *file, const json_t *report, enum lg__dump_processor processor)
{
    const json_t *thread = json_object_get(report, "thread"), *signal = json_object_get(report, "signalNumber");
    struct lg__dump_registers registers;
    struct lg__dump_part no_memory = { .bytes = NULL };
    struct lg__dump_thread row = { .tid = (int32_t)json_integer_value(json_object_get(thread, "id")) };
    const struct lg__dump_text name = text_of(brief_text(thread, "name"));
    lg__dump_streams_guess(&registers, processor, brief_address(json_array_get(json_object_get(report, "frames"), 0), "address"), 0, 0);
    row.name = name.size ? lg__dump_file_text(file, name.bytes, name.size) : 0;
    row.context = lg__dump_streams_context(file, processor, &registers);
    if (thread && signal)
        lg__dump_streams_exception(file, row.tid, (int32_t)json_integer_value(signal), (int32_t)json_integer_value(json_object_get(report, "signalCode")),
                                   brief_address(report, "faultAddress"), row.context);
    lg__dump_streams_threads(file, &row, thread ? 1 : 0);
    lg__dump_part_u32(&no_memory, 0);
    lg__dump_file_add(file, LG__DUMP_MEMORY_LIST, &no_memory);
    if (thread && !signal)
        lg__dump_streams_request(file, row.tid);
}

/* ---- annotations ---- */

static void add_annotations(struct lg__dump_file *file, const json_t *report)
{
    static const char *const own[][2] = { { "launchguard.app", "appID" }, { "launchguard.version", "appVersion" }, { "launchguard.message", "message" } };
    struct lg__dump_annotation rows[32];
    size_t count = 0;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (brief_text(report, own[i][1])[0])
            rows[count++] = (struct lg__dump_annotation){ text_of(own[i][0]), text_of(brief_text(report, own[i][1])) };
    for (size_t i = 0; brief_texts[i][0] && count < sizeof rows / sizeof rows[0]; i++)
        if (brief_text(report, brief_texts[i][1])[0])
            rows[count++] = (struct lg__dump_annotation){ text_of(brief_texts[i][0]), text_of(brief_text(report, brief_texts[i][1])) };
    lg__dump_streams_annotations(file, rows, count, brief_text(report, "runUUID"));
}

bool brief_dump(const json_t *report, struct lg__dump_part *ret_dump)
{
    const json_t *system = json_object_get(report, "system");
    const enum lg__dump_processor processor = lg__dump_streams_processor(brief_text(system, "hardware"));
    const uint64_t ended = otlp_values_time(brief_text(report, "ended")), made = otlp_values_time(brief_text(report, "made"));
    struct lg__dump_file file;
    lg__dump_file_begin(&file);
    lg__dump_streams_system(&file, processor, brief_text(system, "kernel"), brief_text(system, "hardware"));
    add_thread(&file, report, processor);
    add_modules(&file, json_object_get(report, "frames"));
    add_annotations(&file, report);
    const bool whole = lg__dump_file_finish(&file, (ended ? ended : made) / 1000000000);
    *ret_dump = file.part;
    return whole;
}
