#include "target/sentry_fill.h"

#include <string.h>
#include <strings.h>

#include "report/json_words.h"
#include "target/brief_json.h"
#include "target/full_json.h"
#include "target/sentry_event.h"

#define TAG_KEY_BYTES 32u
#define ENVIRONMENT_BYTES 64u

/* ---- stacks ---- */

static void add_function(json_t *frame, const json_t *from, uint64_t address)
{
    const json_t *symbol = json_array_get(json_object_get(from, "symbols"), 0), *offset = json_object_get(symbol, "offset");
    brief_copy(frame, "function", symbol, "name");
    if (symbol && offset)
        put(frame, "symbol_addr", words_short_address(address - (uint64_t)json_integer_value(offset)));
}

static json_t *frame_json(const json_t *from, const struct modules *modules)
{
    json_t *frame = json_object();
    const uint64_t address = brief_address(from, "lookup");
    const long at = full_json_module_at(modules, address);
    put(frame, "instruction_addr", words_short_address(address));
    if (at >= 0) {
        brief_copy(frame, "package", modules->list[at].json, "path");
        put(frame, "image_addr", words_short_address(modules->list[at].start));
    }
    add_function(frame, from, address);
    return frame;
}

/* Outermost first. NULL: there is no frame. Sentry refuses registers without one; these are in the
 * attachment. */
static json_t *stack_trace(const json_t *frames, const json_t *registers, const struct modules *modules)
{
    if (!json_array_size(frames))
        return NULL;
    json_t *trace = json_object(), *list = json_array(), *values = json_object(), *cell;
    size_t index;
    for (size_t i = json_array_size(frames); i-- > 0;)
        json_array_append_new(list, frame_json(json_array_get(frames, i), modules));
    json_array_foreach((json_t *)registers, index, cell)
        put(values, brief_text(cell, "name"), words_short_address(brief_address(cell, "value")));
    put(trace, "frames", list);
    /* the addresses are those of the calls, not the return addresses after them */
    put(trace, "instruction_addr_adjustment", json_string("none"));
    put(trace, "registers", json_object_size(values) ? json_incref(values) : NULL);
    json_decref(values);
    return trace;
}

static void fill_stack(json_t *event, const json_t *brief, const json_t *moment, const struct modules *modules)
{
    const json_t *frames = full_json_frames(moment, brief);
    json_t *exception = json_array_get(json_object_get(json_object_get(event, "exception"), "values"), 0);
    if (frames)
        put(exception, "stacktrace", stack_trace(frames, full_json_registers(moment, brief), modules));
}

static void add_threads(json_t *event, const json_t *brief, const json_t *moment, const struct modules *modules, json_int_t process)
{
    json_t *threads = json_object_get(event, "threads"), *list = json_object_get(threads, "values"), *own = json_array_get(list, 0);
    const json_t *other;
    list = list ? json_incref(list) : json_array();
    put(own, "main", json_boolean(json_integer_value(json_object_get(own, "id")) == process));
    for (size_t index = 0; (other = full_json_other_thread(moment, brief, &index));) {
        json_t *thread = json_object();
        brief_copy(thread, "id", other, "threadID");
        brief_copy(thread, "name", other, "name");
        brief_copy(thread, "state", other, "state");
        put(thread, "crashed", json_false());
        put(thread, "current", json_false());
        put(thread, "main", json_boolean(json_integer_value(json_object_get(other, "threadID")) == process));
        put(thread, "stacktrace", stack_trace(json_object_get(json_object_get(other, "stack"), "frames"), json_object_get(other, "registers"), modules));
        json_array_append_new(list, thread);
    }
    if (!threads && json_array_size(list)) {
        threads = json_object();
        put(threads, "values", json_incref(list));
        put(event, "threads", threads);
    }
    json_decref(list);
}

static void fill_images(json_t *event, const struct modules *modules)
{
    json_t *images = json_array();
    for (size_t i = 0; i < modules->count; i++) {
        const json_t *module = modules->list[i].json;
        const char *build_id = brief_text(module, "buildID");
        json_t *start = words_short_address(modules->list[i].start);
        if (build_id[0] && modules->list[i].end > modules->list[i].start) {
            json_t *image = sentry_event_image(brief_text(module, "path"), build_id, json_string_value(start) ? json_string_value(start) : "");
            put(image, "image_size", words_number(modules->list[i].end - modules->list[i].start));
            json_array_append_new(images, image);
        }
        json_decref(start);
    }
    if (json_array_size(images))
        put(json_object_get(event, "debug_meta"), "images", json_incref(images));
    json_decref(images);
}

/* ---- annotations and breadcrumbs ---- */

/* Sentry refuses any other tag. */
static bool is_tag(const char *key, const json_t *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
    const char *text = json_string_value(value);
    size_t length = strlen(key);
    return length <= TAG_KEY_BYTES && strspn(key, letters) == length && !sentry_event_is_blank(text) && json_string_length(value) <= SENTRY_TEXT_MAX &&
           json_string_length(value) == strcspn(text, "\n\r");
}

static void add_annotations(json_t *event, const json_t *full)
{
    json_t *context = json_object(), *tags = json_object_get(event, "tags"), *value;
    const json_t *annotation;
    const char *key;
    size_t index;
    json_array_foreach(json_object_get(full, "annotations"), index, annotation) {
        if (!full_json_annotation(annotation, &key, &value))
            continue;
        /* a context's "type" is not for programs */
        json_object_set(context, strcmp(key, "type") == 0 ? "annotation.type" : key, value);
        if (is_tag(key, value) && !json_object_get(tags, key))
            json_object_set(tags, key, value);
        if (strcmp(key, "environment") == 0 && strcasecmp(json_string_value(value), "none") != 0)
            sentry_event_put(event, key, json_string_value(value), "/\\", ENVIRONMENT_BYTES);
    }
    if (json_object_size(context)) {
        put(context, "type", json_string("annotations"));
        put(json_object_get(event, "contexts"), "annotations", json_incref(context));
    }
    json_decref(context);
}

static const char *level(const char *name)
{
    static const char *const levels[][2] = {
        { "trace", "debug" }, { "debug", "debug" }, { "warning", "warning" }, { "error", "error" }, { "critical", "fatal" },
    };
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(name, levels[i][0]) == 0)
            return levels[i][1];
    return "info";
}

static void add_breadcrumbs(json_t *event, const json_t *full)
{
    const json_t *entry, *field;
    json_t *list = json_array(), *all = json_object();
    size_t index, at;
    json_array_foreach(json_object_get(json_object_get(full, "breadcrumbs"), "entries"), index, entry) {
        json_t *crumb = json_object(), *data = json_object();
        brief_copy(crumb, "timestamp", entry, "time");
        put(crumb, "level", json_string(level(brief_text(entry, "level"))));
        brief_copy(crumb, "category", entry, "category");
        brief_copy(crumb, "message", entry, "text");
        brief_copy(data, "thread.id", entry, "threadID");
        json_array_foreach(json_object_get(entry, "fields"), at, field)
            brief_copy(data, brief_text(field, "key"), field, "value");
        put(crumb, "data", data);
        json_array_append_new(list, crumb);
    }
    put(all, "values", list);
    put(event, "breadcrumbs", all);
}

/* ---- at most SENTRY_EVENT_MAX bytes ---- */

static json_t *frames_of(const json_t *thread)
{
    return json_object_get(json_object_get(thread, "stacktrace"), "frames");
}

static void cut(json_t *list, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_array_remove(list, from);
}

static void note_images(json_t *used, const json_t *thread)
{
    const json_t *frame;
    size_t index;
    json_array_foreach(frames_of(thread), index, frame)
        if (brief_text(frame, "image_addr")[0])
            put(used, brief_text(frame, "image_addr"), json_true());
}

/* Leave the images out to which no frame points. Returns whether there were such. */
static bool cut_images(json_t *event)
{
    json_t *images = json_object_get(json_object_get(event, "debug_meta"), "images"), *used = json_object(), *kept = json_array();
    const json_t *exceptions = json_object_get(json_object_get(event, "exception"), "values");
    const json_t *threads = json_object_get(json_object_get(event, "threads"), "values"), *thread;
    json_t *image;
    size_t index;
    json_array_foreach(exceptions, index, thread)
        note_images(used, thread);
    json_array_foreach(threads, index, thread)
        note_images(used, thread);
    json_array_foreach(images, index, image)
        if (json_object_get(used, brief_text(image, "image_addr")))
            json_array_append(kept, image);
    const bool is_less = json_array_size(kept) < json_array_size(images);
    json_array_clear(images);
    json_array_extend(images, kept);
    json_decref(kept);
    json_decref(used);
    return is_less;
}

/* Leave something out. Returns whether there was something to leave out. */
static bool shrink(json_t *event)
{
    json_t *threads = json_object_get(json_object_get(event, "threads"), "values"), *thread;
    json_t *crumbs = json_object_get(json_object_get(event, "breadcrumbs"), "values");
    size_t index, most = 0;
    if (cut_images(event))
        return true;
    json_array_foreach(threads, index, thread)
        most = json_array_size(frames_of(thread)) > most ? json_array_size(frames_of(thread)) : most;
    json_array_foreach(threads, index, thread)
        if (most > 1 && json_array_size(frames_of(thread)) > most / 2)
            cut(frames_of(thread), 0, json_array_size(frames_of(thread)) - most / 2);
    if (most > 1)
        return true;
    most = json_array_size(crumbs);
    if (most) {
        cut(crumbs, 0, most / 2 + most % 2);
        return true;
    }
    most = json_array_size(threads);
    cut(threads, most / 2 + most % 2, most / 2);
    return most > 1;
}

static size_t size_of(const json_t *event)
{
    return json_dumpb(event, NULL, 0, JSON_COMPACT);
}

void sentry_fill(json_t *event, const json_t *brief, const json_t *full)
{
    struct modules modules;
    const json_t *moment = full_json_moment(full, brief);
    const json_int_t process = json_integer_value(json_object_get(json_object_get(full, "identity"), "processID"));
    full_json_modules(full, &modules);
    fill_stack(event, brief, moment, &modules);
    add_threads(event, brief, moment, &modules, process);
    fill_images(event, &modules);
    add_annotations(event, full);
    add_breadcrumbs(event, full);
    full_json_free(&modules);
    while (size_of(event) > SENTRY_EVENT_MAX && shrink(event))
        ;
}
