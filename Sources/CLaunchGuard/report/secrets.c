#include "report/secrets.h"

#include "launchguard/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/guard_record.h"
#include "report/json.h"

#define GUARDS_MAX 65536u

/* ---- gathering ---- */

static bool add(struct lg__secrets *secrets, const char *bytes, size_t size, bool is_cut)
{
    if (size < LG__SECRET_LEAST)
        return true;
    if (secrets->count == secrets->room) {
        const uint32_t room = secrets->room ? 2 * secrets->room : 16;
        struct lg__secret *more = realloc(secrets->values, room * sizeof *more);
        if (!more)
            return false;
        secrets->values = more;
        secrets->room = room;
    }
    char *copy = malloc(size);
    if (copy)
        secrets->values[secrets->count++] = (struct lg__secret){ memcpy(copy, bytes, size), (uint32_t)size, 0, is_cut };
    return copy;
}

/* What JSON makes of the longest value. */
struct escaped {
    char bytes[6 * sizeof ((lg_log_field *)NULL)->value];
    size_t size;
};

static int take(const char *bytes, size_t size, void *user)
{
    struct escaped *escaped = user;
    if (size > sizeof escaped->bytes - escaped->size)
        return 1;
    memcpy(escaped->bytes + escaped->size, bytes, size);
    escaped->size += size;
    return 0;
}

/* The value, and its form in JSON where that is another one: texts have JSON in them. */
static bool add_value(struct lg__secrets *secrets, const char *bytes, size_t size, bool is_cut)
{
    struct escaped escaped = { .size = 0 };
    struct lg__json json = { .sink = take, .user = &escaped };
    bool has = false;
    for (size_t i = 0; i < size; i++)
        has |= (unsigned char)bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\';
    if (has) {
        lg__json_text(&json, bytes, size);
        lg__json_flush(&json);
        if (!json.failed && !add(secrets, escaped.bytes + 1, escaped.size - 2, is_cut))
            return false;
    }
    return add(secrets, bytes, size, is_cut);
}

static bool is_key(const struct lg__secrets *secrets, const char *key)
{
    for (uint32_t i = 0; i < secrets->key_count; i++)
        if (strcmp(secrets->keys[i], key) == 0)
            return true;
    return false;
}

static void add_key(struct lg__secrets *secrets, const char *key)
{
    static const char cases[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *letter = key[0] ? strchr(cases, key[0]) : NULL;
    const unsigned char first = (unsigned char)key[0], other = (unsigned char)(letter ? first ^ 0x20 : first);
    snprintf(secrets->keys[secrets->key_count++], sizeof secrets->keys[0], "%s", key);
    secrets->begins_key[first / 8] |= (uint8_t)(1u << first % 8);
    secrets->begins_key[other / 8] |= (uint8_t)(1u << other % 8);
}

static bool add_annotations(struct lg__secrets *secrets, lg_reader *reader)
{
    uint64_t used;
    lg_annotation annotation;
    if (lg_reader_annotations_used(reader, &used) != LG_OK)
        used = UINT64_MAX;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        if (!(used >> i & 1) || lg_reader_annotation(reader, i, &annotation) != LG_OK || !annotation.redacted)
            continue;
        add_key(secrets, annotation.key);
        if (!add_value(secrets, annotation.value, annotation.size, annotation.cut))
            return false;
    }
    return true;
}

static bool add_fields(struct lg__secrets *secrets, lg_reader *reader, const lg_log_info *log)
{
    lg_log_info own;
    lg_log_entry *entry = malloc(sizeof *entry);
    lg_log_field *field = malloc(sizeof *field);
    bool done = entry && field;
    const bool has = done && (log || lg_reader_log(reader, &own) == LG_OK);
    const uint64_t count = has ? (log ? log : &own)->entries : 0;
    for (uint64_t i = 0; done && i < count; i++) {
        if (lg_reader_log_entry(reader, i, entry) != LG_OK)
            continue;
        for (uint32_t j = 0; done && j < entry->field_count; j++)
            if (lg_reader_log_field(reader, i, j, field) == LG_OK && is_key(secrets, field->key))
                done = add_value(secrets, field->value, field->value_size, false);
    }
    free(entry);
    free(field);
    return done;
}

static bool add_guards(struct lg__secrets *secrets, lg_reader *reader)
{
    lg_guard_info guard;
    lg_guard_field field;
    lg_status status;
    for (uint32_t i = 0; i < GUARDS_MAX && (status = lg_reader_guard(reader, i, &guard)) != LG_ERR_NOT_FOUND; i++)
        for (uint32_t j = 0; status == LG_OK && guard.described && j < guard.field_count; j++)
            if (lg_reader_guard_field(reader, i, j, &field) == LG_OK && is_key(secrets, field.key) &&
                !add_value(secrets, field.value, strlen(field.value), false))
                return false;
    return true;
}

/* ---- in order ---- */

static int by_bytes(const void *a, const void *b)
{
    const struct lg__secret *one = a, *other = b;
    const int order = memcmp(one->bytes, other->bytes, one->size < other->size ? one->size : other->size);
    return order ? order : one->size != other->size ? (one->size > other->size) - (one->size < other->size) : other->is_cut - one->is_cut;
}

static bool begins_with(const struct lg__secret *value, const struct lg__secret *begin)
{
    return value->size >= begin->size && memcmp(value->bytes, begin->bytes, begin->size) == 0;
}

static void sort(struct lg__secrets *secrets)
{
    struct lg__secret *values = secrets->values;
    uint32_t count = 0;
    if (secrets->count)
        qsort(values, secrets->count, sizeof *values, by_bytes);
    for (uint32_t i = 0; i < secrets->count; i++) {
        if (count && values[count - 1].size == values[i].size && begins_with(&values[count - 1], &values[i])) {
            free(values[i].bytes);
            continue;
        }
        uint32_t shorter = count;
        while (shorter && !begins_with(&values[i], &values[shorter - 1]))
            shorter = values[shorter - 1].shorter;
        const unsigned begin = (unsigned)(uint8_t)values[i].bytes[0] << 8 | (uint8_t)values[i].bytes[1];
        secrets->begins[begin / 8] |= (uint8_t)(1u << begin % 8);
        values[count] = values[i];
        values[count++].shorter = shorter;
    }
    secrets->count = count;
}

struct lg__secrets *lg__secrets_read(lg_reader *reader, const lg_log_info *log)
{
    struct lg__secrets *secrets = calloc(1, sizeof *secrets);
    if (!secrets)
        return NULL;
    bool done = add_annotations(secrets, reader);
    /* no key is empty: this one is not found exactly where the redacted keys are known */
    secrets->is_known = lg_reader_redacted(reader, "") == LG_ERR_NOT_FOUND;
    if (secrets->key_count)
        done = done && add_fields(secrets, reader, log) && add_guards(secrets, reader);
    sort(secrets);
    if (done)
        return secrets;
    lg__secrets_free(secrets);
    return NULL;
}

void lg__secrets_free(struct lg__secrets *secrets)
{
    for (uint32_t i = 0; secrets && i < secrets->count; i++)
        free(secrets->values[i].bytes);
    if (secrets)
        free(secrets->values);
    free(secrets);
}

bool lg__secrets_hides(const struct lg__secrets *secrets, const char *key)
{
    return !secrets->is_known || is_key(secrets, key);
}

/* ---- for other readers ---- */

lg_status lg_reader_secrets(lg_reader *reader, const lg_log_info *log, lg_secrets **ret_secrets)
{
    if (!reader || !ret_secrets)
        return LG_ERR_ARGUMENT;
    *ret_secrets = lg__secrets_read(reader, log);
    return *ret_secrets ? LG_OK : LG_ERR_SYSTEM;
}

int lg_secrets_hide_key(const lg_secrets *secrets, const char *key)
{
    return lg__secrets_hides(secrets, key);
}

size_t lg_secrets_hide(const lg_secrets *secrets, char *text, size_t size)
{
    return lg__secrets_text_hide(secrets, text, size, false);
}

void lg_secrets_free(lg_secrets *secrets)
{
    lg__secrets_free(secrets);
}
