/* The full part: what `launchguard inspect --json --no-symbols` writes, with these differences.
 * - Left out: the memory map and what follows from it, memory around the crash, standard error.
 * - `path` is empty, and `report` holds what the brief part says of the report itself, the
 *   fingerprint among it.
 * - Home directories are "~". Of the breadcrumbs there are the newest 200.
 * - A number above INT64_MAX is left out; only a damaged file has one. */
#include <stdlib.h>
#include <string.h>

#include "report/full.h"
#include "store/format_report.h"

#define FRAMES_MAX 20000u

static json_t *report_json(const struct full *full)
{
    const struct facts *facts = full->facts;
    json_t *object = json_object();
    put(object, "uuid", json_string(facts->uuid));
    put(object, "fingerprint", json_string(facts->fingerprint));
    put(object, "made", words_time(facts->made_ns));
    put(object, "launching", json_boolean(facts->launching));
    put(object, "context", words_string(facts->context));
    put(object, "task", words_string(facts->task));
    put(object, "streak", words_nonzero(facts->streak));
    put(object, "reason", facts->reason ? full_text(full, facts->reason, strlen(facts->reason)) : NULL);
    return object;
}

/* ---- at most LG__REPORT_FULL_MAX bytes ---- */

/* Leave something out. Returns whether there was something to leave out. */
static bool shrink(json_t *report)
{
    const struct { json_t *of; const char *key; } parts[] = {
        { report, "snapshots" }, { report, "otherCrashes" }, { report, "annotations" }, { json_object_get(report, "guards"), "sites" }, { report, "modules" },
    };
    json_t *entries = json_object_get(json_object_get(report, "breadcrumbs"), "entries");
    json_t *threads = json_object_get(json_object_get(report, "crash"), "threads");
    size_t count = json_array_size(entries);
    if (count) {
        for (size_t i = 0; i < (count + 1) / 2; i++)
            json_array_remove(entries, 0);
        return true;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (json_object_del(parts[i].of, parts[i].key) == 0)
            return true;
    count = json_array_size(threads);
    for (size_t i = 0; i < (count + 1) / 2; i++)
        json_array_remove(threads, json_array_size(threads) - 1);
    return count || json_object_del(report, "crash") == 0;
}

static char *dump(json_t *report, size_t *ret_bytes)
{
    for (;;) {
        char *text = json_dumps(report, JSON_COMPACT);
        if (!text || strlen(text) <= LG__REPORT_FULL_MAX) {
            *ret_bytes = text ? strlen(text) : 0;
            return text;
        }
        free(text);
        if (!shrink(report))
            return NULL;
    }
}

char *compose_full(lg_reader *reader, const struct facts *facts, size_t *ret_bytes)
{
    struct full full = { .reader = reader, .facts = facts, .report = json_object(), .problems = json_array(), .prefix = "",
                         .frames_left = FRAMES_MAX };
    lg_log_info log;
    put(full.report, "schema", json_integer(1));
    put(full.report, "type", json_string("run"));
    put(full.report, "path", json_string(""));
    put(full.report, "report", report_json(&full));
    full_add_run(&full);
    full_add_modules(&full);
    full_add_crashes(&full);
    full_add_snapshots(&full);
    full_add_pulse(&full);
    /* Which keys are redacted is asked behind the snapshot of the log: a key of a living program
     * may be redacted, and used, in between. */
    bool has_log = full_has(&full, lg_reader_log(reader, &log), "ring log");
    json_t *redacted = full_add_annotations(&full);
    const json_t *const known = lg_reader_redacted(reader, "") == LG_ERR_NOT_FOUND ? redacted : NULL;
    full_add_guards(&full, known);
    if (has_log)
        full_add_breadcrumbs(&full, &log, known);
    put(full.report, "problems", json_incref(full.problems));
    char *text = full.report ? dump(full.report, ret_bytes) : NULL;
    json_decref(redacted);
    json_decref(full.problems);
    json_decref(full.report);
    free(full.areas);
    return text;
}
