/* What the program said: annotations, breadcrumbs, hearts and deadlines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/annotate.h"
#include "report/full.h"

#define BREADCRUMBS_MAX 200u

static bool is_used(uint64_t used, uint32_t place)
{
    return used >> place & 1;
}

static uint64_t used_places(lg_reader *reader)
{
    uint64_t used;
    return lg_reader_annotations_used(reader, &used) == LG_OK ? used : UINT64_MAX;
}

static json_t *redacted_mark(const char *key)
{
    json_t *object = json_object();
    put(object, "key", words_text(key, strlen(key)));
    put(object, "isCut", json_false());
    put(object, "isRedacted", json_true());
    return object;
}

static const char *key_of(const json_t *annotation)
{
    const char *key = json_string_value(json_object_get(annotation, "key"));
    return key ? key : "";
}

static int by_key(const void *a, const void *b)
{
    return strcmp(key_of(*(json_t *const *)a), key_of(*(json_t *const *)b));
}

json_t *full_add_annotations(struct full *full)
{
    json_t *redacted = json_object(), *list = json_array();
    json_t *found[LG_ANNOTATIONS_MAX];
    size_t count = 0;
    lg_annotation annotation;
    uint64_t used = used_places(full->reader);
    for (uint32_t place = 0; place < LG_ANNOTATIONS_MAX; place++) {
        if (!is_used(used, place) || !full_has(full, lg_reader_annotation(full->reader, place, &annotation), "annotations"))
            continue;
        json_t *object = redacted_mark(annotation.key);
        if (annotation.redacted) {
            put(redacted, key_of(object), json_true());
        } else {
            put(object, "isRedacted", json_false());
            put(object, "value", full_text(full, annotation.value, annotation.size));
            put(object, "time", full_time(full, annotation.monotonic_ns));
            put(object, "monotonicNanoseconds", words_number(annotation.monotonic_ns));
            put(object, "isCut", json_boolean(annotation.cut));
        }
        found[count++] = object;
    }
    qsort(found, count, sizeof found[0], by_key);
    for (size_t i = 0; i < count; i++) {
        /* a file made by hand may have a key twice */
        bool is_secret = json_object_get(redacted, key_of(found[i]));
        json_array_append_new(list, is_secret ? redacted_mark(key_of(found[i])) : json_incref(found[i]));
        json_decref(found[i]);
    }
    put_list(full->report, "annotations", list);
    return redacted;
}

static void add_fields(struct full *full, json_t *breadcrumb, uint64_t index, uint32_t count, const json_t *redacted)
{
    json_t *list = json_array();
    lg_log_field *field = malloc(sizeof *field);
    for (uint32_t i = 0; field && i < count && i < 1024; i++) {
        if (lg_reader_log_field(full->reader, index, i, field) != LG_OK)
            continue;
        json_t *object = json_object(), *key = words_text(field->key, field->key_size);
        put(object, "key", key);
        if (redacted && key && !json_object_get(redacted, json_string_value(key)))
            put(object, "value", full_text(full, field->value, field->value_size));
        json_array_append_new(list, object);
    }
    free(field);
    put_list(breadcrumb, "fields", list);
}

static json_t *level(uint32_t level)
{
    static const char *const names[] = { "trace", "debug", "info", "notice", "warning", "error", "critical" };
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)level);
    return json_string(level % 10 == 0 && level >= 10 && level <= 70 ? names[level / 10 - 1] : text);
}

/* `redacted` NULL: no field's value may leave the machine. */
static json_t *breadcrumb_json(struct full *full, const lg_log_entry *entry, uint64_t index, const json_t *redacted)
{
    json_t *object = json_object();
    put(object, "lane", json_integer(entry->lane));
    put(object, "sequence", words_number(entry->sequence));
    put(object, "monotonicNanoseconds", words_number(entry->monotonic_ns));
    put(object, "time", full_time(full, entry->monotonic_ns));
    put(object, "threadID", json_integer(entry->tid));
    put(object, "level", level(entry->level));
    put(object, "text", full_text(full, entry->text, entry->size));
    put(object, "category", words_string(entry->category));
    add_fields(full, object, index, entry->field_count, redacted);
    put(object, "isCut", json_boolean(entry->cut));
    put(object, "isDamaged", entry->damaged ? json_true() : NULL);
    return object;
}

void full_add_breadcrumbs(struct full *full, const lg_log_info *info, const json_t *redacted)
{
    json_t *breadcrumbs = json_object(), *list = json_array();
    lg_log_entry *entry = malloc(sizeof *entry);
    put(breadcrumbs, "torn", words_number(info->torn));
    put(breadcrumbs, "overwrittenBytes", words_number(info->overwritten_bytes));
    put(breadcrumbs, "overwrittenEntries", words_number(info->overwritten_entries));
    put(breadcrumbs, "unknown", words_nonzero(info->unknown));
    for (uint64_t i = info->entries > BREADCRUMBS_MAX ? info->entries - BREADCRUMBS_MAX : 0; entry && i < info->entries; i++) {
        if (lg_reader_log_entry(full->reader, i, entry) != LG_OK)
            continue;
        json_array_append_new(list, breadcrumb_json(full, entry, i, redacted));
        if (entry->damaged)
            full_has(full, LG_ERR_DAMAGED, "ring log");
    }
    free(entry);
    put(breadcrumbs, "entries", list);
    put(full->report, "breadcrumbs", breadcrumbs);
}

void full_add_pulse(struct full *full)
{
    json_t *hearts = json_array(), *deadlines = json_array();
    lg_heart_info heart;
    lg_deadline_info deadline;
    for (uint32_t i = 0; i < 256 && full_has(full, lg_reader_heart(full->reader, i, &heart), "pulse"); i++) {
        json_t *object = json_object();
        put(object, "threadID", json_integer(heart.tid));
        put(object, "name", words_string(heart.name));
        put(object, "isPaused", json_boolean(heart.paused));
        put(object, "lastBeatNanoseconds", words_number(heart.beat_ns));
        put(object, "hangSinceNanoseconds", words_nonzero(heart.hang_ns));
        json_array_append_new(hearts, object);
    }
    for (uint32_t i = 0; i < 256 && full_has(full, lg_reader_deadline(full->reader, i, &deadline), "pulse"); i++) {
        json_t *object = json_object();
        put(object, "name", words_text(deadline.name, strlen(deadline.name)));
        put(object, "threadID", json_integer(deadline.tid));
        put(object, "limitMilliseconds", json_integer(deadline.limit_ms));
        put(object, "begunNanoseconds", words_number(deadline.begun_ns));
        put(object, "nearNanoseconds", words_nonzero(deadline.near_ns));
        json_array_append_new(deadlines, object);
    }
    put_list(full->report, "hearts", hearts);
    put_list(full->report, "deadlines", deadlines);
}
