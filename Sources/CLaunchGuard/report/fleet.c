/* What a desk knows of a fleet: runs of many devices that have one fingerprint. The rows stand in
 * the order of their names, as in every line of the tools. */
#include <errno.h>
#include <stdlib.h>

#include "report/parts.h"

static void row_type(struct lg__report *report, const void *of)
{
    (void)of;
    lg__json_string(&report->json, "fleet-fingerprint");
}

static void example_type(struct lg__report *report, const void *of)
{
    (void)of;
    lg__json_string(&report->json, "fleet-example");
}

/* ---- a comparison ---- */

static const char *const change_names[] = {
    [LG_FLEET_CHANGE_NEW] = "new",   [LG_FLEET_CHANGE_MORE] = "more", [LG_FLEET_CHANGE_GONE] = "gone",
    [LG_FLEET_CHANGE_LESS] = "less", [LG_FLEET_CHANGE_SAME] = "same",
};
const struct lg__names lg__names_change = { "version-change-kind", LG__SENTENCE("How a version compares with an older one."),
                                            change_names, sizeof change_names / sizeof change_names[0], "" };

#define OF lg_fleet_change
static const struct lg__field change_fields[] = {
    NAMED("kind", kind, &lg__names_change, "The kind."),
    FIELD(NUMBER, "newRuns", new_runs, "", "The new runs."),
    FIELD(NUMBER, "newTotal", new_total, "", "All runs of the newer version."),
    STRING_IF("oldFingerprint", old_fingerprint, "fingerprint",
              "That of the older version, where it was another one: the code has moved since."),
    FIELD(NUMBER, "oldRuns", old_runs, "", "The old runs."),
    FIELD(NUMBER, "oldTotal", old_total, "", "All runs of the older version."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_change = {
    "version-change", LG__SENTENCE("How often two versions died of the same; the totals are all their runs."), change_fields
};

static void change(struct lg__report *report, const void *of)
{
    const lg_fleet_row *row = of;
    if (row->change)
        lg__table_object(report, &lg__shape_change, row->change);
}

/* ---- a row ---- */

static void same_place(struct lg__report *report, const void *of)
{
    const lg_fleet_row *row = of;
    struct lg__json_list list = lg__json_list(&report->json);
    for (const char *const *other = row->same_place; other && *other; other++) {
        lg__json_item(&report->json, &list);
        lg__json_string(&report->json, *other);
    }
    lg__json_list_end(&report->json, &list);
}

static void trend(struct lg__report *report, const void *of)
{
    const lg_fleet_row *row = of;
    struct lg__json_list list = lg__json_list(&report->json);
    lg__json_list_begin(&report->json, &list);
    for (size_t i = 0; i < row->trend_days; i++) {
        lg__json_item(&report->json, &list);
        lg__json_unsigned(&report->json, row->trend[i]);
    }
    lg__json_list_end(&report->json, &list);
}

#define OF lg_fleet_row
static const struct lg__field row_fields[] = {
    STRING("app", app, "string", "The app."),
    MAY_BE("change", change, "version-change", "", "The change."),
    FIELD(NUMBER, "devices", devices, "", "The devices."),
    STRING("ending", ending, "run-end", "The ending."),
    STRING("fingerprint", fingerprint, "fingerprint", "The fingerprint."),
    STRING_IF("firstStarted", first_started, "time", "When the first started."),
    STRING_IF("firstVersion", first_version, "string", "Version of the first run."),
    STRING("headline", headline, "string", "The headline."),
    STRING_IF("lastStarted", last_started, "time", "When the last started."),
    STRING_IF("lastVersion", last_version, "string", "Version of the last run."),
    STRING_IF("place", place, "string", "The place."),
    FIELD(NUMBER, "runs", runs, "", "The runs."),
    MAY_BE("samePlace", same_place, "[fingerprint]", "",
           "Other fingerprints with the same end, signal, kind and place, the newest first: mostly the same crash in other builds."),
    VALUE("schema", lg__report_schema, "integer", "", "Version of this shape."),
    VALUE("trend", trend, "[number]", "", "Runs a day; the last one is trendEnd."),
    STRING_IF("trendEnd", trend_end, "day", "The trend end."),
    VALUE("type", row_type, "string", "", "Always fleet-fingerprint."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_fleet_row = { "fleet-fingerprint", LG__SENTENCE("The runs of a fleet that have one fingerprint."),
                                               row_fields };

/* ---- an example ---- */

#define OF lg_fleet_part
static const struct lg__field part_fields[] = {
    STRING_IF("lastStarted", last_started, "time", "When the last started."),
    STRING("name", name, "string", "The name."),
    FIELD(NUMBER, "runs", runs, "", "The runs."),
    STRING_IF("source", source, "string", "The argument that a device without a given name was collected from last, where no other one was."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_fleet_part = { "fleet-part", LG__SENTENCE("Runs of one version, or of one device."), part_fields };

static void parts(struct lg__report *report, const lg_fleet_part *all, size_t count)
{
    struct lg__json_list list = lg__json_list(&report->json);
    lg__json_list_begin(&report->json, &list);
    for (size_t i = 0; i < count; i++) {
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_fleet_part, &all[i]);
    }
    lg__json_list_end(&report->json, &list);
}

static void versions(struct lg__report *report, const void *of)
{
    const lg_fleet_example *example = of;
    parts(report, example->versions, example->version_count);
}

static void devices(struct lg__report *report, const void *of)
{
    const lg_fleet_example *example = of;
    parts(report, example->devices, example->device_count);
}

static void group(struct lg__report *report, const void *of)
{
    lg__table_object(report, &lg__shape_fleet_row, ((const lg_fleet_example *)of)->group);
}

static void run(struct lg__report *report, const void *of)
{
    const lg_fleet_example *example = of;
    lg__json_open(&report->json);
    if (example->run)
        lg__json_members(&report->json, example->run);
    lg__json_close(&report->json);
}

#define OF lg_fleet_example
static const struct lg__field example_fields[] = {
    STRING("device", device, "string", "The device that the example is of."),
    VALUE("devices", devices, "[fleet-part]", "", "The devices."),
    VALUE("example", run, "run", "", "The example."),
    VALUE("group", group, "fleet-fingerprint", "", "The group."),
    VALUE("schema", lg__report_schema, "integer", "", "Version of this shape."),
    VALUE("type", example_type, "string", "", "Always fleet-example."),
    VALUE("versions", versions, "[fleet-part]", "", "The versions."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_fleet_example = { "fleet-example", LG__SENTENCE("A fingerprint with its best example."), example_fields };

static lg_status write_line(const struct lg__shape *shape, const void *of, lg_report_sink sink, void *user)
{
    lg_report_options none = LG_REPORT_OPTIONS_INIT;
    struct lg__report *report = calloc(1, sizeof *report);
    if (!report) {
        errno = ENOMEM;
        return LG_ERR_SYSTEM;
    }
    report->options = &none;
    report->json.sink = sink;
    report->json.user = user;
    lg__table_object(report, shape, of);
    lg__json_flush(&report->json);
    const bool failed = report->json.failed;
    free(report);
    return failed ? LG_ERR_SYSTEM : LG_OK;
}

lg_status lg_fleet_row_report(const lg_fleet_row *row, lg_report_sink sink, void *user)
{
    return row && sink ? write_line(&lg__shape_fleet_row, row, sink, user) : LG_ERR_ARGUMENT;
}

lg_status lg_fleet_example_report(const lg_fleet_example *example, lg_report_sink sink, void *user)
{
    return example && example->group && sink ? write_line(&lg__shape_fleet_example, example, sink, user) : LG_ERR_ARGUMENT;
}
