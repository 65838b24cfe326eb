/* What a desk knows of a fleet: runs of many devices that have one bug. The rows stand in the
 * order of their names, as in every line of the tools. */
#include <errno.h>
#include <stdlib.h>

#include "report/parts.h"

static void row_type(struct lg__report *report, const void *of)
{
    (void)of;
    lg__json_string(&report->json, "fleet-bug");
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
    FIELD(NUMBER, "newCount", new_count, "", "Runs of the newer version, or device-days of the later week."),
    FIELD(NUMBER, "newTotal", new_total, "", "All of them."),
    FIELD(NUMBER, "oldCount", old_count, "", "Runs of the older version, or device-days of the earlier week."),
    FIELD(NUMBER, "oldTotal", old_total, "", "All of them."),
    FIELD(NUMBER, "ratioHigh", ratio_high, "percent", "How many times as often at most; 0: no bound."),
    FIELD(NUMBER, "ratioLow", ratio_low, "percent", "How many times as often at least."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_change = {
    "fleet-change", LG__SENTENCE("How often two versions, or two weeks, died of the same, with an interval of 99 %."), change_fields
};

static void change(struct lg__report *report, const void *of)
{
    const lg_fleet_row *row = of;
    if (row->change)
        lg__table_object(report, &lg__shape_change, row->change);
}

static void recent(struct lg__report *report, const void *of)
{
    const lg_fleet_row *row = of;
    if (row->recent)
        lg__table_object(report, &lg__shape_change, row->recent);
}

/* ---- parts ---- */

#define OF lg_fleet_part
static const struct lg__field part_fields[] = {
    FIELD(NUMBER, "devices", devices, "", "The devices."),
    STRING_IF("firstStarted", first_started, "time", "When the first started."),
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
    const lg_fleet_row *row = of;
    parts(report, row->versions, row->version_count);
}

static void devices(struct lg__report *report, const void *of)
{
    const lg_fleet_example *example = of;
    parts(report, example->devices, example->device_count);
}

/* ---- a row ---- */

static void fingerprints(struct lg__report *report, const void *of)
{
    const lg_fleet_row *row = of;
    struct lg__json_list list = lg__json_list(&report->json);
    lg__json_list_begin(&report->json, &list);
    for (const char *const *one = row->fingerprints; one && *one; one++) {
        lg__json_item(&report->json, &list);
        lg__json_string(&report->json, *one);
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
    STRING_IF("againIn", again_in, "string", "Version of the first run that had it after it was resolved."),
    STRING("app", app, "string", "The app."),
    STRING("bug", bug, "fingerprint", "Key of the bug in the fleet."),
    MAY_BE("change", change, "fleet-change", "", "The two versions that are compared."),
    FIELD(NUMBER, "devices", devices, "", "The devices."),
    STRING("ending", ending, "run-end", "The ending."),
    VALUE("fingerprints", fingerprints, "[fingerprint]", "", "Those of its runs, the most frequent first."),
    STRING_IF("firstStarted", first_started, "time", "When the first started."),
    STRING("headline", headline, "string", "The headline."),
    STRING_IF("kind", kind, "string", "Kind of the crash."),
    STRING_IF("lastStarted", last_started, "time", "When the last started."),
    STRING_IF("place", place, "string", "The place."),
    MAY_BE("recent", recent, "fleet-change", "", "The last seven days of the trend, and the seven before."),
    STRING_IF("resolvedIn", resolved_in, "string", "Version in which it was resolved."),
    FIELD(NUMBER, "runs", runs, "", "The runs."),
    VALUE("schema", lg__report_schema, "integer", "", "Version of this shape."),
    STRING_IF("state", state, "string", "One of `muted`, `resolved` and `again`, which is resolved and seen again; left out: it is open."),
    FIELD(NUMBER, "total", total, "", "All runs of the versions that have it."),
    VALUE("trend", trend, "[number]", "", "Runs a day; the last one is trendEnd."),
    STRING_IF("trendEnd", trend_end, "day", "The trend end."),
    VALUE("type", row_type, "string", "", "Always fleet-bug."),
    VALUE("versions", versions, "[fleet-part]", "", "The versions, the oldest first."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_fleet_row = { "fleet-bug", LG__SENTENCE("The runs of a fleet that have one bug."), row_fields };

/* ---- an example ---- */

#define OF lg_fleet_trait
static const struct lg__field trait_fields[] = {
    STRING("name", name, "string", "The name."),
    FIELD(NUMBER, "otherRuns", other_runs, "", "Runs without the bug that have it."),
    FIELD(NUMBER, "otherTotal", other_total, "", "Runs without the bug whose value is known."),
    FIELD(NUMBER, "runs", runs, "", "Runs of the bug that have it."),
    FIELD(NUMBER, "total", total, "", "Runs of the bug whose value is known."),
    STRING("value", value, "string", "The value."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_fleet_trait = { "fleet-trait", LG__SENTENCE("What most runs of a bug have, and the other runs of the application do not."),
                                                 trait_fields };

static void traits(struct lg__report *report, const void *of)
{
    const lg_fleet_example *example = of;
    struct lg__json_list list = lg__json_list(&report->json);
    lg__json_list_begin(&report->json, &list);
    for (size_t i = 0; i < example->trait_count; i++) {
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_fleet_trait, &example->traits[i]);
    }
    lg__json_list_end(&report->json, &list);
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
    VALUE("group", group, "fleet-bug", "", "The group."),
    VALUE("schema", lg__report_schema, "integer", "", "Version of this shape."),
    VALUE("traits", traits, "[fleet-trait]", "", "The traits."),
    VALUE("type", example_type, "string", "", "Always fleet-example."),
    LAST,
};
#undef OF
const struct lg__shape lg__shape_fleet_example = { "fleet-example", LG__SENTENCE("A bug with its best example."), example_fields };

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
