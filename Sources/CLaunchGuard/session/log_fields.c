/* A breadcrumb with a category and fields: put together on the stack, then one entry like any
 * other. */
#include <string.h>

#include "launchguard/log.h"
#include "session/session.h"

struct entry {
    struct lg__fields head;
    size_t size;
    bool cut;
    uint8_t bytes[LG_LOG_TEXT_MAX];
};

/* A text up to its NUL, or up to one byte more than any entry takes; NULL has none. */
static lg_slice slice_of(const char *text)
{
    size_t limit = LG_LOG_TEXT_MAX + 1;
    const char *end = text ? memchr(text, 0, limit) : NULL;
    return (lg_slice){ text, end ? (size_t)(end - text) : text ? limit : 0 };
}

static bool is_text(lg_slice text)
{
    return text.bytes || !text.size;
}

static void put_bytes(struct entry *entry, const void *from, size_t size)
{
    if (size)
        memcpy(entry->bytes + entry->size, from, size);
    entry->size += size;
}

static void begin_entry(struct entry *entry, lg_slice category, lg_slice text)
{
    entry->size = sizeof entry->head;
    entry->head.field_count = 0;
    entry->head.category_size = (uint8_t)(category.size < LG_NAME_MAX ? category.size : LG_NAME_MAX);
    put_bytes(entry, category.bytes, entry->head.category_size);
    size_t room = sizeof entry->bytes - entry->size;
    entry->head.text_size = (uint16_t)(text.size < room ? text.size : room);
    entry->cut = text.size > room;
    put_bytes(entry, text.bytes, entry->head.text_size);
}

/* Whole or not at all: half a value may look like another one. */
static void put_entry_field(struct entry *entry, lg_slice key, lg_slice value)
{
    struct lg__field sizes = { (uint16_t)key.size, (uint16_t)value.size };
    size_t room = sizeof entry->bytes - entry->size;
    if (entry->head.field_count == UINT8_MAX || room < sizeof sizes || key.size > room - sizeof sizes || value.size > room - sizeof sizes - key.size) {
        entry->cut = true;
        return;
    }
    put_bytes(entry, &sizes, sizeof sizes);
    put_bytes(entry, key.bytes, key.size);
    put_bytes(entry, value.bytes, value.size);
    entry->head.field_count++;
}

static lg_status write_entry(lg_session *session, lg_level level, struct entry *entry)
{
    unsigned kind = LG__ENTRY_FIELDS | (entry->cut ? LG__ENTRY_CUT : 0);
    memcpy(entry->bytes, &entry->head, sizeof entry->head);
    return lg__ring_write(&session->host.run.ring, (unsigned)level, kind, (const char *)entry->bytes, entry->size) ? LG_OK : LG_ERR_LIMIT;
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
    struct entry entry;
    begin_entry(&entry, category, text);
    for (size_t i = 0; i < count; i++)
        put_entry_field(&entry, keys_and_values[2 * i], keys_and_values[2 * i + 1]);
    return write_entry(session, level, &entry);
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
    struct entry entry;
    begin_entry(&entry, slice_of(category), (lg_slice){ text, size });
    for (size_t i = 0; i < count; i++)
        put_entry_field(&entry, slice_of(fields[i].key), slice_of(fields[i].value));
    return write_entry(session, level, &entry);
}
