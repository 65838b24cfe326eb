/* Annotations: the slots that are in use, each with its value. */
#include "os/fault_point.h"
#include "read/reader.h"
#include "store/crc32c.h"

static_assert(sizeof((lg_annotation){ 0 }.key) == LG__NAME_BYTES && sizeof((lg_annotation){ 0 }.value) == LG__ANNOTATION_VALUE_BYTES, "both fit");

/* A living writer may free a value while it is read: the most times that a value is read again. */
#define TRIES 1000

static uint32_t slot_value(uint64_t current)
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

static bool read_annotation_slot(const lg_reader *reader, uint32_t at, struct lg__annotation_slot *ret_slot)
{
    return lg__reader_block(reader, LG__SECTION_ANNOTATIONS, at * (uint64_t)sizeof *ret_slot, ret_slot, sizeof *ret_slot);
}

/* Bit i: place i is in use, or may be; clear: it was empty. One read instead of one each. */
static uint64_t places_used(const lg_reader *reader)
{
    static_assert(LG__ANNOTATIONS == 64, "a bit each");
    struct lg__annotation_slot slots[LG__ANNOTATIONS];
    uint64_t used = 0;
    if (!lg__reader_has_section(reader, LG__SECTION_ANNOTATIONS))
        return 0; /* there was no space for it */
    if (!lg__reader_block(reader, LG__SECTION_ANNOTATIONS, offsetof(struct lg__annotations, slots), slots, sizeof slots))
        return UINT64_MAX;
    for (uint32_t i = 0; i < LG__ANNOTATIONS; i++)
        used |= (uint64_t)(slot_value(atomic_load(&slots[i].current)) != 0) << i;
    return used;
}

static void convert(const struct lg__annotation *value, lg_annotation *to)
{
    memcpy(to->key, value->key, strlen(value->key));
    to->monotonic_ns = value->monotonic_ns;
    to->has_value = !(value->flags & LG__ANNOTATION_NO_VALUE);
    if (!to->has_value)
        return;
    to->cut = (value->flags & LG__ANNOTATION_CUT) != 0;
    to->size = value->size;
    memcpy(to->value, value->value, value->size);
}

/* As lg_reader_annotation(); `redacted` is right also where the rest is damaged, and 1 where it
 * cannot be known. */
static lg_status read_annotation(const lg_reader *reader, uint32_t at, lg_annotation *ret_annotation)
{
    struct lg__annotation_slot before, slot, after;
    struct lg__annotation value;
    memset(ret_annotation, 0, sizeof *ret_annotation);
    if (at >= LG__ANNOTATIONS || !lg__reader_has_section(reader, LG__SECTION_ANNOTATIONS))
        return LG_ERR_NOT_FOUND; /* there was no space for it */
    ret_annotation->redacted = 1;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        /* The redaction mark is read before the value and after it. Before: a redacted slot keeps
         * its key, so that the mark is of this key. After: a key may be redacted, and then get the
         * value that is read here. */
        if (!read_annotation_slot(reader, at, &before) || !read_annotation_slot(reader, at, &slot))
            return LG_ERR_DAMAGED;
        uint64_t current = atomic_load(&slot.current);
        if (!slot_value(current))
            return LG_ERR_NOT_FOUND;
        LG_FAULT_POINT("annotations: slot read");
        uint64_t place = offsetof(struct lg__annotations, values) + (slot_value(current) - 1) * (uint64_t)sizeof value;
        bool right = slot_value(current) <= LG__ANNOTATION_VALUES &&
                     lg__reader_block(reader, LG__SECTION_ANNOTATIONS, place, &value, sizeof value) && is_right(&value, current);
        LG_FAULT_POINT("annotations: value read");
        if (!read_annotation_slot(reader, at, &after))
            return LG_ERR_DAMAGED;
        if (atomic_load(&after.redacted) != atomic_load(&before.redacted))
            continue;
        /* A value with the slot's number is the one that the slot named. Any other was used for
         * another slot meanwhile, unless the slot still names it. */
        if (!right && atomic_load(&after.current) != current)
            continue;
        ret_annotation->redacted = atomic_load(&after.redacted) != 0;
        if (!right)
            return LG_ERR_DAMAGED;
        convert(&value, ret_annotation);
        return LG_OK;
    }
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

lg_status lg_reader_annotations_used(lg_reader *reader, uint64_t *ret_used)
{
    if (!reader || !ret_used)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    *ret_used = places_used(reader);
    return LG_OK;
}

lg_status lg_reader_redacted(lg_reader *reader, const char *key)
{
    lg_annotation annotation;
    lg_status result = LG_ERR_NOT_FOUND;
    if (!reader || !key)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    const uint64_t used = places_used(reader);
    for (uint32_t at = 0; at < LG__ANNOTATIONS; at++) {
        if (!(used >> at & 1))
            continue;
        lg_status status = read_annotation(reader, at, &annotation);
        if (status == LG_OK && annotation.redacted && strcmp(annotation.key, key) == 0)
            return LG_OK;
        if (status != LG_OK && status != LG_ERR_NOT_FOUND && annotation.redacted)
            result = status; /* it may be this one */
    }
    return result;
}
