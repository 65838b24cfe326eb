#include "target/otlp_fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_words.h"
#include "target/brief_json.h"
#include "target/full_json.h"
#include "target/otlp_values.h"

/* ---- stacks ---- */

static void write_function(FILE *out, const json_t *symbol)
{
    if (brief_text(symbol, "name")[0])
        fprintf(out, " in %s + %" JSON_INTEGER_FORMAT, brief_text(symbol, "name"), json_integer_value(json_object_get(symbol, "offset")));
}

/* One line a frame, innermost first, as in the record of the brief part. NULL: there is none. */
static json_t *stack_text(const json_t *frames, const struct modules *modules)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = json_array_size(frames) ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    for (size_t i = 0; i < json_array_size(frames); i++) {
        const json_t *frame = json_array_get(frames, i);
        const uint64_t address = brief_address(frame, "lookup");
        const long at = full_json_module_at(modules, address);
        const char *path = at < 0 ? "" : brief_text(modules->list[at].json, "path"), *slash = strrchr(path, '/');
        fprintf(out, "#%zu 0x%" PRIx64, i, address);
        if (path[0])
            fprintf(out, " %s+0x%" PRIx64, slash ? slash + 1 : path, brief_address(frame, "fileAddress"));
        write_function(out, json_array_get(json_object_get(frame, "symbols"), 0));
        fputc('\n', out);
    }
    json_t *value = fclose(out) == 0 ? words_text(text, size) : NULL;
    free(text);
    return value;
}

static void replace_stack(json_t *attributes, json_t *text)
{
    json_t *attribute;
    size_t index;
    json_array_foreach(attributes, index, attribute)
        if (text && strcmp(brief_text(attribute, "key"), "exception.stacktrace") == 0)
            json_object_set(json_object_get(attribute, "value"), "stringValue", text);
    json_decref(text);
}

static void add_registers(json_t *attributes, const json_t *registers)
{
    json_t *values = json_array(), *cell;
    size_t index;
    json_array_foreach((json_t *)registers, index, cell)
        otlp_values_add(values, brief_text(cell, "name"), "stringValue", words_short_address(brief_address(cell, "value")));
    if (json_array_size(values)) {
        json_t *set = otlp_values_set(json_incref(values));
        otlp_values_add(attributes, "launchguard.registers", "kvlistValue", json_incref(json_object_get(set, "kvlistValue")));
        json_decref(set);
    }
    json_decref(values);
}

static void add_threads(json_t *attributes, const json_t *brief, const json_t *moment, const struct modules *modules)
{
    json_t *list = json_array();
    const json_t *thread;
    for (size_t index = 0; (thread = full_json_other_thread(moment, brief, &index));) {
        json_t *values = json_array();
        otlp_values_add_number(values, "thread.id", (uint64_t)json_integer_value(json_object_get(thread, "threadID")));
        otlp_values_add_text(values, "thread.name", brief_text(thread, "name"));
        otlp_values_add(values, "stacktrace", "stringValue", stack_text(json_object_get(json_object_get(thread, "stack"), "frames"), modules));
        json_array_append_new(list, otlp_values_set(values));
    }
    otlp_values_add_list(attributes, "launchguard.threads", list);
}

static void add_modules(json_t *attributes, const struct modules *modules)
{
    static const char *const texts[][2] = { { "path", "path" }, { "build_id", "buildID" }, { "start", "start" }, { "end", "end" } };
    json_t *list = json_array();
    for (size_t i = 0; i < modules->count; i++) {
        json_t *values = json_array();
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            otlp_values_add_text(values, texts[k][0], brief_text(modules->list[i].json, texts[k][1]));
        json_array_append_new(list, otlp_values_set(values));
    }
    otlp_values_add_list(attributes, "launchguard.modules", list);
}

/* ---- annotations and breadcrumbs ---- */

/* Where a key comes twice, the first value becomes the attribute. */
static void add_once(json_t *attributes, json_t *seen, const char *prefix, const char *key, json_t *value)
{
    char name[256];
    snprintf(name, sizeof name, "%s%s", prefix, key);
    if (!json_is_string(value) || json_object_get(seen, name))
        return;
    json_object_set(seen, name, value);
    otlp_values_add(attributes, name, "stringValue", json_incref(value));
}

static void add_annotations(json_t *attributes, const json_t *full)
{
    json_t *seen = json_object(), *value;
    const json_t *annotation;
    const char *key;
    size_t index;
    json_array_foreach(json_object_get(full, "annotations"), index, annotation)
        if (full_json_annotation(annotation, &key, &value))
            add_once(attributes, seen, "launchguard.annotation.", key, value);
    json_decref(seen);
}

static json_int_t severity(const char *level)
{
    static const char *const names[] = { "trace", "debug", "info", "notice", "warning", "error", "critical" };
    static const json_int_t numbers[] = { 1, 5, 9, 10, 13, 17, 21 };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(level, names[i]) == 0)
            return numbers[i];
    return 0;
}

static json_t *breadcrumb(const json_t *entry)
{
    json_t *record = json_object(), *body = json_object(), *attributes = json_array(), *seen = json_object();
    const json_t *field;
    const json_int_t number = severity(brief_text(entry, "level"));
    size_t index;
    put(record, "timeUnixNano", otlp_values_number(otlp_values_time(brief_text(entry, "time"))));
    put(record, "severityNumber", number ? json_integer(number) : NULL);
    brief_copy(record, "severityText", entry, "level");
    put(record, "eventName", json_string("launchguard.breadcrumb"));
    brief_copy(body, "stringValue", entry, "text");
    put(record, "body", body);
    otlp_values_add_number(attributes, "thread.id", (uint64_t)json_integer_value(json_object_get(entry, "threadID")));
    otlp_values_add_text(attributes, "launchguard.category", brief_text(entry, "category"));
    json_array_foreach(json_object_get(entry, "fields"), index, field)
        add_once(attributes, seen, "launchguard.field.", brief_text(field, "key"), json_object_get(field, "value"));
    put(record, "attributes", attributes);
    json_decref(seen);
    return record;
}

void otlp_fill(json_t *records, json_t *record, const json_t *brief, const json_t *full)
{
    json_t *attributes = json_object_get(record, "attributes"), *entry;
    const json_t *moment = full_json_moment(full, brief);
    const json_t *entries = json_object_get(json_object_get(full, "breadcrumbs"), "entries");
    struct modules modules;
    size_t index;
    full_json_modules(full, &modules);
    replace_stack(attributes, stack_text(full_json_frames(moment, brief), &modules));
    add_registers(attributes, full_json_registers(moment, brief));
    add_threads(attributes, brief, moment, &modules);
    add_modules(attributes, &modules);
    add_annotations(attributes, full);
    json_array_foreach((json_t *)entries, index, entry)
        json_array_insert_new(records, index, breadcrumb(entry));
    full_json_free(&modules);
}
