#include "report/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "launchguard/annotate.h"
#include "report/parts.h"

#define LEAST 4u
#define WINDOW 8u

/* Mark what stands in the value. */
static void mark(const uint8_t *bytes, size_t size, const char *value, size_t value_size, uint8_t *marks)
{
    const size_t window = value_size < WINDOW ? value_size : WINDOW;
    if (value_size < LEAST)
        return;
    for (size_t from = 0; from + window <= value_size; from++)
        for (size_t at = 0; at + window <= size; at++)
            if (memcmp(bytes + at, value + from, window) == 0)
                memset(marks + at, 1, window);
}

static void mark_annotations(struct lg__report *report, const uint8_t *bytes, size_t size, uint8_t *marks)
{
    lg_annotation annotation;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++)
        if (lg_reader_annotation(report->reader, i, &annotation) == LG_OK && annotation.redacted)
            mark(bytes, size, annotation.value, annotation.size, marks);
}

static void mark_fields(struct lg__report *report, const uint8_t *bytes, size_t size, uint8_t *marks)
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
                mark(bytes, size, field->value, field->value_size, marks);
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
    uint8_t *marks = calloc(size, 1);
    if (!marks)
        return false;
    mark_annotations(report, bytes, size, marks);
    mark_fields(report, bytes, size, marks);
    for (size_t i = 0; i < size; i++)
        if (marks[i])
            bytes[i] = '*';
    free(marks);
    return true;
}
