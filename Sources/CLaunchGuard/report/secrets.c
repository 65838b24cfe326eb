#include "report/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "launchguard/annotate.h"
#include "report/parts.h"

#define LEAST 4u
#define WINDOW 8u

/* The bytes, and marks of those to be overwritten. */
struct looked_at {
    const uint8_t *bytes;
    size_t size;
    uint8_t *marks;
    /* bit of each two bytes that stand side by side: most of a long log is nowhere in the memory */
    uint8_t pairs[65536 / 8];
};

static unsigned pair_at(const uint8_t *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

/* Mark the bytes that are also in the value. */
static void mark(struct looked_at *in, const char *value, size_t value_size)
{
    const size_t window = value_size < WINDOW ? value_size : WINDOW;
    if (value_size < LEAST)
        return;
    for (size_t from = 0; from + window <= value_size; from++) {
        const uint8_t *part = (const uint8_t *)value + from;
        if (!(in->pairs[pair_at(part) / 8] >> pair_at(part) % 8 & 1))
            continue;
        for (size_t at = 0; at + window <= in->size; at++)
            if (memcmp(in->bytes + at, part, window) == 0)
                memset(in->marks + at, 1, window);
    }
}

static void mark_annotations(struct lg__report *report, struct looked_at *in)
{
    lg_annotation annotation;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++)
        if (lg_reader_annotation(report->reader, i, &annotation) == LG_OK && annotation.redacted)
            mark(in, annotation.value, annotation.size);
}

static void mark_fields(struct lg__report *report, struct looked_at *in)
{
    lg_log_info log = report->log;
    lg_log_entry *entry = malloc(sizeof *entry);
    lg_log_field *field = malloc(sizeof *field);
    /* the snapshot that the report is of, where it has one */
    const bool is_read = lg__report_wants(report, LG_REPORT_BREADCRUMBS);
    const bool has = entry && field && (is_read ? report->log_status : lg_reader_log(report->reader, &log)) == LG_OK;
    for (uint64_t i = 0; has && i < log.entries; i++) {
        if (lg_reader_log_entry(report->reader, i, entry) != LG_OK)
            continue;
        for (uint32_t j = 0; j < entry->field_count; j++)
            if (lg_reader_log_field(report->reader, i, j, field) == LG_OK && lg__report_hides(report, field->key))
                mark(in, field->value, field->value_size);
    }
    free(entry);
    free(field);
}

bool lg__secrets_blank(struct lg__report *report, uint8_t *bytes, size_t size)
{
    if (!report->redacted_known)
        return false;
    if (!report->redacted_count)
        return true;
    struct looked_at *in = calloc(1, sizeof *in);
    uint8_t *marks = calloc(size, 1);
    if (in && marks) {
        *in = (struct looked_at){ .bytes = bytes, .size = size, .marks = marks };
        for (size_t i = 0; i + 1 < size; i++)
            in->pairs[pair_at(bytes + i) / 8] |= (uint8_t)(1u << pair_at(bytes + i) % 8);
        mark_annotations(report, in);
        mark_fields(report, in);
        for (size_t i = 0; i < size; i++)
            if (marks[i])
                bytes[i] = '*';
    }
    const bool done = in && marks;
    free(marks);
    free(in);
    return done;
}
