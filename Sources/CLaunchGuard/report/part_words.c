/* Data of the program: annotations, breadcrumbs, heartbeats, deadlines, standard error. */
#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

#include "launchguard/annotate.h"
#include "report/items.h"
#include "report/values.h"

void lg__report_read_log(struct lg__report *report)
{
    const bool wants = lg__report_wants(report, LG_REPORT_BREADCRUMBS);
    report->log_status = wants ? lg_reader_log(report->reader, &report->log) : lg_reader_log_check(report->reader);
    report->secrets = lg__secrets_read(report->reader, wants && report->log_status == LG_OK ? &report->log : NULL);
    report->json.failed |= !report->secrets;
}

/* ---- annotations ---- */

static bool annotation_at(struct lg__report *report, uint64_t used, uint32_t place, lg_status *ret_status, lg_annotation *ret)
{
    if (!(used >> place & 1))
        return false;
    *ret_status = lg_reader_annotation(report->reader, place, ret);
    return true;
}

static uint64_t used_places(lg_reader *reader)
{
    uint64_t used;
    return lg_reader_annotations_used(reader, &used) == LG_OK ? used : UINT64_MAX;
}

#define OF lg_annotation

static void annotation_value(struct lg__report *report, const void *of)
{
    const lg_annotation *annotation = of;
    if (!annotation->redacted)
        lg__values_text(report, annotation->value, annotation->size);
}

static void annotation_time(struct lg__report *report, const void *of)
{
    const lg_annotation *annotation = of;
    if (!annotation->redacted)
        lg__values_moment(report, annotation->monotonic_ns);
}

static void annotation_moment(struct lg__report *report, const void *of)
{
    const lg_annotation *annotation = of;
    if (!annotation->redacted)
        lg__values_number(report, annotation->monotonic_ns);
}

static void annotation_cut(struct lg__report *report, const void *of)
{
    const lg_annotation *annotation = of;
    lg__json_bool(&report->json, annotation->cut && !annotation->redacted);
}

static const struct lg__field annotation_fields[] = {
    FIELD(TEXT, "key", key, "", "Its key."),
    MAY_BE("value", annotation_value, "string", "", "Its value; left out where it is redacted."),
    MAY_BE("time", annotation_time, "time", "", "When it was set; left out where it is redacted."),
    MAY_BE("monotonicNanoseconds", annotation_moment, "number", "ns", "The same moment."),
    VALUE("isCut", annotation_cut, "boolean", "", "Whether the value was longer than it may be."),
    FIELD(BOOL, "isRedacted", redacted, "", "Whether the program said that the value must not leave the machine."),
    LAST,
};
const struct lg__shape lg__shape_annotation = {
    "annotation", LG__SENTENCE("A named value that says what the program was about. A redacted annotation has its key alone."), annotation_fields
};

#undef OF

static int by_key(const void *a, const void *b)
{
    return strcmp(((const lg_annotation *)a)->key, ((const lg_annotation *)b)->key);
}

void lg__report_annotations(struct lg__report *report, const void *of)
{
    const uint64_t used = used_places(report->reader);
    struct lg__json_list list = lg__json_list(&report->json);
    lg_annotation *found = calloc(LG_ANNOTATIONS_MAX, sizeof *found);
    size_t count = 0;
    lg_status status;
    (void)of;
    for (uint32_t i = 0; found && i < LG_ANNOTATIONS_MAX; i++)
        if (annotation_at(report, used, i, &status, &found[count]) && lg__report_has(report, status, "annotations"))
            count++;
    for (size_t i = 0; i < count; i++) /* a file made by hand may have a key twice */
        for (size_t j = 0; j < count; j++)
            found[i].redacted |= found[j].redacted && strcmp(found[i].key, found[j].key) == 0;
    if (count)
        qsort(found, count, sizeof *found, by_key);
    for (size_t i = 0; lg__report_wants(report, LG_REPORT_ANNOTATIONS) && i < count; i++) {
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_annotation, &found[i]);
    }
    lg__json_list_end(&report->json, &list);
    free(found);
}

/* ---- breadcrumbs ---- */

struct breadcrumb {
    lg_log_entry entry;
    lg_log_field field;
    uint64_t index;
};

#define OF lg_log_field

static void field_key(struct lg__report *report, const void *of)
{
    const lg_log_field *field = of;
    lg__values_text(report, field->key, field->key_size);
}

static void field_value(struct lg__report *report, const void *of)
{
    const lg_log_field *field = of;
    if (!lg__secrets_hides(report->secrets, field->key))
        lg__values_text(report, field->value, field->value_size);
}

static const struct lg__field field_fields[] = {
    VALUE("key", field_key, "string", "", "Its key."),
    MAY_BE("value", field_value, "string", "", "Its value; left out where it is redacted."),
    LAST,
};
const struct lg__shape lg__shape_field = { "breadcrumb-field", LG__SENTENCE("A key and its value."), field_fields };

#undef OF
#define OF struct breadcrumb

static void entry_fields(struct lg__report *report, const void *of)
{
    struct breadcrumb *breadcrumb = (struct breadcrumb *)of;
    struct lg__json_list list = lg__json_list(&report->json);
    for (uint32_t i = 0; i < breadcrumb->entry.field_count; i++) {
        if (lg_reader_log_field(report->reader, breadcrumb->index, i, &breadcrumb->field) != LG_OK)
            continue;
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_field, &breadcrumb->field);
    }
    lg__json_list_end(&report->json, &list);
}

static const char *const levels[] = {
    [10] = "trace", [20] = "debug", [30] = "info", [40] = "notice", [50] = "warning", [60] = "error", [70] = "critical",
};
const struct lg__names lg__names_level = { "level", LG__SENTENCE("Importance of a breadcrumb: a name, or a number between or beyond the named ones."),
                                           levels, sizeof levels / sizeof levels[0], NULL };

static void entry_text(struct lg__report *report, const void *of)
{
    const struct breadcrumb *breadcrumb = of;
    lg__values_text(report, breadcrumb->entry.text, breadcrumb->entry.size);
}

static const struct lg__field breadcrumb_fields[] = {
    FIELD(NUMBER, "lane", entry.lane, "", "The lane of the log that holds it."),
    FIELD(NUMBER, "sequence", entry.sequence, "", "Grows within its lane."),
    FIELD(NUMBER, "monotonicNanoseconds", entry.monotonic_ns, "ns", "When it was written."),
    FIELD(MOMENT_IF, "time", entry.monotonic_ns, "", "The same moment by the wall clock."),
    FIELD(SIGNED, "threadID", entry.tid, "", "The thread that wrote it."),
    NAMED("level", entry.level, &lg__names_level, "Its importance."),
    VALUE("text", entry_text, "string", "", "What it says."),
    FIELD(TEXT_IF, "category", entry.category, "", "The part of the program that wrote it, for example network."),
    MAY_BE("fields", entry_fields, "[breadcrumb-field]", "", "In the order in which they were given."),
    FIELD(BOOL, "isCut", entry.cut, "",
          "Whether the text was longer than an entry may be, or a field was left out because it did not fit."),
    FIELD(TRUE_IF, "isDamaged", entry.damaged, "", "True: what it holds contradicts itself, and is not shown."),
    LAST,
};
const struct lg__shape lg__shape_breadcrumb = { "breadcrumb", LG__SENTENCE("One entry of the ring log."), breadcrumb_fields };

#undef OF
#define OF lg_log_info

static void entries(struct lg__report *report, const void *of)
{
    const lg_log_info *log = of;
    const uint64_t most = report->options->breadcrumbs ? report->options->breadcrumbs : UINT64_MAX;
    struct lg__json_list list = lg__json_list(&report->json);
    struct breadcrumb *breadcrumb = malloc(sizeof *breadcrumb);
    lg__json_list_begin(&report->json, &list);
    for (uint64_t i = log->entries > most ? log->entries - most : 0; breadcrumb && i < log->entries; i++) {
        if (lg_reader_log_entry(report->reader, i, &breadcrumb->entry) != LG_OK)
            continue;
        breadcrumb->index = i;
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_breadcrumb, breadcrumb);
        if (breadcrumb->entry.damaged)
            lg__report_has(report, LG_ERR_DAMAGED, "ring log");
    }
    lg__json_list_end(&report->json, &list);
    free(breadcrumb);
}

static const struct lg__field log_fields[] = {
    VALUE("entries", entries, "[breadcrumb]", "", "Oldest first."),
    FIELD(NUMBER, "torn", torn, "", "Entries that were begun and not committed, or are damaged."),
    FIELD(NUMBER, "overwrittenBytes", overwritten_bytes, "bytes", "Bytes that were written and overwritten since."),
    FIELD(NUMBER, "overwrittenEntries", overwritten_entries, "", "The number of entries in those bytes."),
    FIELD(NUMBER_IF, "unknown", unknown, "", "Whole entries of a kind that this version does not know."),
    FIELD(NUMBER_IF, "refused", refused, "", "Entries that found no room, as other threads stood still in the middle of theirs."),
    LAST,
};
const struct lg__shape lg__shape_log = { "breadcrumbs", LG__SENTENCE("The ring log of a run."), log_fields };

#undef OF

void lg__report_breadcrumbs(struct lg__report *report, const void *of)
{
    (void)of;
    if (lg__report_has(report, report->log_status, "ring log") && lg__report_wants(report, LG_REPORT_BREADCRUMBS))
        lg__table_object(report, &lg__shape_log, &report->log);
}

/* ---- heartbeats and deadlines ---- */

#define OF lg_heartbeat_info

static const struct lg__field heartbeat_fields[] = {
    FIELD(SIGNED, "threadID", tid, "", "The thread."),
    FIELD(TEXT_IF, "name", name, "", "Its name, at its first heartbeat."),
    FIELD(BOOL, "isPaused", paused, "", "Whether the thread was waiting, and not watched."),
    FIELD(NUMBER, "lastBeatNanoseconds", beat_ns, "ns", "Its last heartbeat."),
    FIELD(NUMBER_IF, "hangSinceNanoseconds", hang_ns, "ns", "Its last heartbeat before the hang; left out: no hang."),
    LAST,
};
const struct lg__shape lg__shape_heartbeat = { "heartbeat", LG__SENTENCE("A thread with a heartbeat."), heartbeat_fields };

#undef OF
#define OF lg_deadline_info

static const struct lg__field deadline_fields[] = {
    FIELD(TEXT, "name", name, "", "Name of the job."),
    FIELD(SIGNED, "threadID", tid, "", "The thread that began it."),
    FIELD(NUMBER, "limitMilliseconds", limit_ms, "ms", "The time that it may take."),
    FIELD(NUMBER, "begunNanoseconds", begun_ns, "ns", "Its begin."),
    FIELD(NUMBER_IF, "nearNanoseconds", near_ns, "ns", "When it was found about to overrun; left out: it was not."),
    LAST,
};
const struct lg__shape lg__shape_deadline = { "deadline", LG__SENTENCE("A job with a deadline that had not ended."), deadline_fields };

#undef OF

LG__READ(read_heartbeat, lg_reader_heartbeat, lg_heartbeat_info)
LG__READ(read_deadline, lg_reader_deadline, lg_deadline_info)

void lg__report_heartbeats(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_heartbeat, "pulse", false, read_heartbeat };
    lg_heartbeat_info heartbeat;
    if (lg__report_wants(report, LG_REPORT_PULSE))
        lg__items_write(report, &items, of, 256, &heartbeat);
    else
        lg__report_has(report, lg_reader_heartbeat(report->reader, 0, &heartbeat), "pulse");
}

void lg__report_deadlines(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_deadline, "pulse", false, read_deadline };
    lg_deadline_info deadline;
    if (lg__report_wants(report, LG_REPORT_PULSE))
        lg__items_write(report, &items, of, 256, &deadline);
}

/* ---- standard error ---- */

struct last_words {
    uint8_t bytes[LG_STDERR_MAX];
    size_t size;
    uint64_t total;
};

#define OF struct last_words

static void last_text(struct lg__report *report, const void *of)
{
    const struct last_words *words = of;
    lg__values_late_text(report, (const char *)words->bytes, words->size);
}

static void last_omitted(struct lg__report *report, const void *of)
{
    const struct last_words *words = of;
    lg__values_number(report, words->total > words->size ? words->total - words->size : 0);
}

static const struct lg__field stderr_fields[] = {
    VALUE("text", last_text, "string", "", "The last bytes."),
    FIELD(NUMBER, "totalBytes", total, "bytes", "Bytes written in all."),
    VALUE("omittedBytes", last_omitted, "number", "bytes", "The number of earlier bytes that are lost."),
    LAST,
};
const struct lg__shape lg__shape_stderr = { "standard-error", LG__SENTENCE("The last words of the process on standard error."), stderr_fields };

#undef OF

void lg__report_standard_error(struct lg__report *report, const void *of)
{
    struct last_words words;
    (void)of;
    if (lg__report_has(report, lg_reader_stderr(report->reader, words.bytes, &words.size, &words.total), "standard error") &&
        lg__report_wants(report, LG_REPORT_STANDARD_ERROR))
        lg__table_object(report, &lg__shape_stderr, &words);
}
