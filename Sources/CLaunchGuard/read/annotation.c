/* Annotations: the slots that are in use, each with its value. */
#include "read/internal.h"
#include "store/crc32c.h"

static_assert(sizeof((lg_annotation){ 0 }.key) == LG__NAME_BYTES && sizeof((lg_annotation){ 0 }.value) == LG__ANNOTATION_VALUE_BYTES, "both fit");

/* A living writer may free a value while it is read: so often it is read again. */
#define TRIES 1000

static uint32_t value_of(uint64_t current)
{
    return (uint32_t)(current & LG__ANNOTATION_VALUE_MASK);
}

static bool is_right(const struct lg__annotation *value, uint64_t current)
{
    const size_t from = offsetof(struct lg__annotation, monotonic_ns);
    if (value->size >= sizeof value->value || value->sequence != current >> LG__ANNOTATION_SEQUENCE_SHIFT || !value->key[0] ||
        !memchr(value->key, 0, sizeof value->key))
        return false;
    uint32_t crc = lg__crc32c(0, (const uint8_t *)value + from, offsetof(struct lg__annotation, value) + value->size - from);
    return value->crc == lg__crc32c(crc, &value->sequence, sizeof value->sequence);
}

/* The slot that is the index-th in use; LG__ANNOTATIONS: there is none. */
static uint32_t slot_in_use(const struct lg__annotation_slot slots[LG__ANNOTATIONS], uint32_t index)
{
    uint32_t at = 0;
    for (; at < LG__ANNOTATIONS; at++)
        if (value_of(atomic_load(&slots[at].current)) != 0 && index-- == 0)
            break;
    return at;
}

/* As lg_reader_annotation(); `redacted` is right also where the rest is damaged. */
static lg_status read_annotation(const lg_reader *reader, uint32_t index, lg_annotation *ret_annotation)
{
    struct lg__annotation_slot slots[LG__ANNOTATIONS], after;
    struct lg__annotation value;
    memset(ret_annotation, 0, sizeof *ret_annotation);
    if (!lg__reader_has_section(reader, LG__SECTION_ANNOTATIONS))
        return LG_ERR_NOT_FOUND; /* a file of an older version */
    for (unsigned tries = 0; tries < TRIES; tries++) {
        if (!lg__reader_block(reader, LG__SECTION_ANNOTATIONS, 0, slots, sizeof slots)) {
            ret_annotation->redacted = 1; /* who knows */
            return index ? LG_ERR_NOT_FOUND : LG_ERR_DAMAGED;
        }
        uint32_t at = slot_in_use(slots, index);
        if (at == LG__ANNOTATIONS)
            return LG_ERR_NOT_FOUND;
        uint64_t current = atomic_load(&slots[at].current);
        uint64_t place = offsetof(struct lg__annotations, values) + (value_of(current) - 1) * (uint64_t)sizeof value;
        bool there = value_of(current) <= LG__ANNOTATION_VALUES &&
                     lg__reader_block(reader, LG__SECTION_ANNOTATIONS, place, &value, sizeof value);
        /* A value does not change while a slot names it: so nothing of what was read is of another one. */
        if (!lg__reader_block(reader, LG__SECTION_ANNOTATIONS, at * (uint64_t)sizeof after, &after, sizeof after) ||
            atomic_load(&after.current) != current)
            continue;
        ret_annotation->redacted = atomic_load(&after.redacted) != 0;
        if (!there || !is_right(&value, current))
            return LG_ERR_DAMAGED;
        memcpy(ret_annotation->key, value.key, strlen(value.key));
        ret_annotation->monotonic_ns = value.monotonic_ns;
        ret_annotation->has_value = !(value.flags & LG__ANNOTATION_NO_VALUE);
        if (ret_annotation->has_value) {
            ret_annotation->cut = (value.flags & LG__ANNOTATION_CUT) != 0;
            ret_annotation->size = value.size;
            memcpy(ret_annotation->value, value.value, value.size);
        }
        return LG_OK;
    }
    ret_annotation->redacted = 1;
    return LG_ERR_INCOMPLETE;
}

lg_status lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret_annotation)
{
    lg_annotation annotation;
    if (!reader || !ret_annotation)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    lg_status status = read_annotation(reader, index, &annotation);
    if (status == LG_OK)
        *ret_annotation = annotation;
    return status;
}

lg_status lg_reader_redacted(lg_reader *reader, const char *key)
{
    lg_annotation annotation;
    lg_status status, result = LG_ERR_NOT_FOUND;
    if (!reader || !key)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    for (uint32_t index = 0; (status = read_annotation(reader, index, &annotation)) != LG_ERR_NOT_FOUND; index++) {
        if (status == LG_OK && annotation.redacted && strcmp(annotation.key, key) == 0)
            return LG_OK;
        if (status != LG_OK && annotation.redacted)
            result = status; /* it may be this one */
    }
    return result;
}
