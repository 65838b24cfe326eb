/* A breadcrumb with a category and fields: put together on the stack, then one entry like any other. */
#include <string.h>

#include "launchguard/log.h"
#include "session.h"

struct payload {
    size_t size;
    uint8_t bytes[LG_LOG_TEXT_MAX];
};

/* Bytes of a text up to its NUL, `limit` for one that is longer; NULL has none. */
static size_t length(const char *text, size_t limit)
{
    const char *end = text ? memchr(text, 0, limit) : text;
    return end ? (size_t)(end - text) : text ? limit : 0;
}

static void put(struct payload *payload, const void *from, size_t size)
{
    if (size)
        memcpy(payload->bytes + payload->size, from, size);
    payload->size += size;
}

/* Whole or not at all: half a value may look like another one. */
static bool put_field(struct payload *payload, const lg_field *field)
{
    size_t room = sizeof payload->bytes - payload->size;
    size_t key = length(field->key, room), value = length(field->value, room);
    struct lg__field sizes = { (uint16_t)key, (uint16_t)value };
    if (sizeof sizes + key + value > room)
        return false;
    put(payload, &sizes, sizeof sizes);
    put(payload, field->key, key);
    put(payload, field->value, value);
    return true;
}

static bool have_keys(const lg_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!fields || !fields[i].key || !*fields[i].key)
            return false;
    return true;
}

lg_status lg_log_fields(lg_session *session, lg_level level, const char *category, const char *text, size_t size, const lg_field *fields, size_t count)
{
    if (!session || (!text && size) || !have_keys(fields, count))
        return LG_ERR_ARGUMENT;
    struct lg__fields head = { .category_size = (uint8_t)length(category, LG_NAME_MAX) };
    if (head.category_size == 0 && count == 0)
        return lg_log_write(session, level, text, size);
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;

    struct payload payload;
    payload.size = sizeof head;
    put(&payload, category, head.category_size);
    size_t room = sizeof payload.bytes - payload.size;
    head.text_size = (uint16_t)(size < room ? size : room);
    put(&payload, text, head.text_size);
    bool cut = head.text_size < size;
    for (size_t i = 0; i < count; i++)
        if (head.field_count < UINT8_MAX && put_field(&payload, &fields[i]))
            head.field_count++;
        else
            cut = true;
    memcpy(payload.bytes, &head, sizeof head);
    unsigned kind = LG__ENTRY_FIELDS | (cut ? LG__ENTRY_CUT : 0);
    return lg__ring_write(&session->host.run.ring, (unsigned)level, kind, (const char *)payload.bytes, payload.size) ? LG_OK : LG_ERR_LIMIT;
}
