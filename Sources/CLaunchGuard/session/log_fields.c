/* A breadcrumb with a category and fields: put together on the stack, then one entry like any other. */
#include <string.h>

#include "launchguard/log.h"
#include "session/session.h"

struct payload {
    struct lg__fields head;
    size_t size;
    bool cut;
    uint8_t bytes[LG_LOG_TEXT_MAX];
};

/* A text up to its NUL, or up to one byte more than any entry takes; NULL has none. */
static lg_slice slice(const char *text)
{
    size_t limit = LG_LOG_TEXT_MAX + 1;
    const char *end = text ? memchr(text, 0, limit) : NULL;
    return (lg_slice){ text, end ? (size_t)(end - text) : text ? limit : 0 };
}

static bool is_text(lg_slice text)
{
    return text.bytes || !text.size;
}

static void put(struct payload *payload, const void *from, size_t size)
{
    if (size)
        memcpy(payload->bytes + payload->size, from, size);
    payload->size += size;
}

static void begin(struct payload *payload, lg_slice category, lg_slice text)
{
    payload->size = sizeof payload->head;
    payload->head.field_count = 0;
    payload->head.category_size = (uint8_t)(category.size < LG_NAME_MAX ? category.size : LG_NAME_MAX);
    put(payload, category.bytes, payload->head.category_size);
    size_t room = sizeof payload->bytes - payload->size;
    payload->head.text_size = (uint16_t)(text.size < room ? text.size : room);
    payload->cut = text.size > room;
    put(payload, text.bytes, payload->head.text_size);
}

/* Whole or not at all: half a value may look like another one. */
static void put_field(struct payload *payload, lg_slice key, lg_slice value)
{
    struct lg__field sizes = { (uint16_t)key.size, (uint16_t)value.size };
    size_t room = sizeof payload->bytes - payload->size;
    if (payload->head.field_count == UINT8_MAX || room < sizeof sizes || key.size > room - sizeof sizes || value.size > room - sizeof sizes - key.size) {
        payload->cut = true;
        return;
    }
    put(payload, &sizes, sizeof sizes);
    put(payload, key.bytes, key.size);
    put(payload, value.bytes, value.size);
    payload->head.field_count++;
}

static lg_status end(lg_session *session, lg_level level, struct payload *payload)
{
    unsigned kind = LG__ENTRY_FIELDS | (payload->cut ? LG__ENTRY_CUT : 0);
    memcpy(payload->bytes, &payload->head, sizeof payload->head);
    return lg__ring_write(&session->host.run.ring, (unsigned)level, kind, (const char *)payload->bytes, payload->size) ? LG_OK : LG_ERR_LIMIT;
}

lg_status lg_log_slices(lg_session *session, lg_level level, lg_slice category, lg_slice text, const lg_slice *keys_and_values, size_t count)
{
    if (!session || !is_text(category) || !is_text(text) || (!keys_and_values && count))
        return LG_ERR_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!keys_and_values[2 * i].bytes || !keys_and_values[2 * i].size || !is_text(keys_and_values[2 * i + 1]))
            return LG_ERR_ARGUMENT;
    if (category.size == 0 && count == 0)
        return lg_log_write(session, level, text.bytes, text.size);
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    struct payload payload;
    begin(&payload, category, text);
    for (size_t i = 0; i < count; i++)
        put_field(&payload, keys_and_values[2 * i], keys_and_values[2 * i + 1]);
    return end(session, level, &payload);
}

lg_status lg_log_fields(lg_session *session, lg_level level, const char *category, const char *text, size_t size, const lg_field *fields, size_t count)
{
    if (!session || (!text && size) || (!fields && count))
        return LG_ERR_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!fields[i].key || !*fields[i].key)
            return LG_ERR_ARGUMENT;
    if ((!category || !*category) && count == 0)
        return lg_log_write(session, level, text, size);
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    struct payload payload;
    begin(&payload, slice(category), (lg_slice){ text, size });
    for (size_t i = 0; i < count; i++)
        put_field(&payload, slice(fields[i].key), slice(fields[i].value));
    return end(session, level, &payload);
}
