/* Findings of guards: counts, and the first event of each site. */
#include "report/parts.h"

#include <string.h>

#include "report/values.h"

struct site {
    lg_guard_info info;
    uint32_t place;
};

#define GUARD_CLASS(identifier, value, name, message) [value] = name,
static const char *const guard_classes[] = { LG_GUARD_CLASS_TABLE(GUARD_CLASS) };
#undef GUARD_CLASS
const struct lg__names lg__names_guard_class = { "guard-record-guard-class",
                                                 LG__SENTENCE("The kind of faults that a guard finds; one of a later version is its number."),
                                                 guard_classes, sizeof guard_classes / sizeof guard_classes[0], NULL };

#define GUARD_ACTION(identifier, value, name) [value] = name,
static const char *const guard_actions[] = { LG_GUARD_ACTION_TABLE(GUARD_ACTION) };
#undef GUARD_ACTION
const struct lg__names lg__names_guard_action = { "guard-record-action", LG__SENTENCE("What a guard did; one of a later version is its number."),
                                                  guard_actions, sizeof guard_actions / sizeof guard_actions[0], NULL };

static void place(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    if (site->info.site) /* where a guard is a call, its site is a return address */
        lg__report_frame(report, site->info.site, false);
}

static void first(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    if (site->info.described)
        lg__values_number(report, site->info.first_ns);
}

static void thread(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    if (site->info.described)
        lg__json_signed(&report->json, site->info.tid);
}

static void thread_name(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    if (site->info.described && site->info.thread_name[0])
        lg__values_text(report, site->info.thread_name, strlen(site->info.thread_name));
}

static void text(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    if (site->info.described)
        lg__values_text(report, site->info.text, strlen(site->info.text));
}

#define OF lg_guard_field

static void field_value(struct lg__report *report, const void *of)
{
    const lg_guard_field *field = of;
    /* asked after the event was read: a key may be redacted, and used, in between */
    if (lg_reader_redacted(report->reader, field->key) == LG_ERR_NOT_FOUND)
        lg__values_text(report, field->value, strlen(field->value));
}

static const struct lg__field field_fields[] = {
    FIELD(TEXT, "key", key, "", "Its key."),
    MAY_BE("value", field_value, "string", "", "Its value; left out where it is redacted."),
    LAST,
};
static const struct lg__shape field_shape = { "breadcrumb-field", LG__SENTENCE("A key and its value."), field_fields };

#undef OF

static void fields(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    struct lg__json_list list = lg__json_list(&report->json);
    lg_guard_field field;
    for (uint32_t i = 0; site->info.described && i < site->info.field_count; i++) {
        if (lg_reader_guard_field(report->reader, site->place, i, &field) != LG_OK)
            continue;
        lg__json_item(&report->json, &list);
        lg__table_object(report, &field_shape, &field);
    }
    lg__json_list_end(&report->json, &list);
}

static void frames(struct lg__report *report, const void *of)
{
    const struct site *site = of;
    struct lg__json_list list = lg__json_list(&report->json);
    uint64_t pc;
    for (uint32_t i = 0; site->info.described && i < site->info.frame_count && report->frames_left; i++) {
        if (lg_reader_guard_frame(report->reader, site->place, i, &pc) != LG_OK)
            continue;
        report->frames_left--;
        lg__json_item(&report->json, &list);
        lg__report_frame(report, pc, false);
    }
    lg__json_list_end(&report->json, &list);
}

#define OF struct site

static const struct lg__field site_fields[] = {
    NAMED_IF("guardClass", info.guard_class, &lg__names_guard_class, "The kind of faults; left out: of several, where there was no room for a site of its own."),
    NAMED_IF("action", info.action, &lg__names_guard_action, "What was done at the last event; left out: the first one was under way."),
    MAY_BE("place", place, "frame", "", "The code that met the fault; left out as above."),
    FIELD(NUMBER, "events", info.count, "", "The number of events."),
    FIELD(NUMBER, "survived", info.survived, "", "Number of these that the program survived."),
    MAY_BE("firstNanoseconds", first, "number", "ns", "The first event."),
    FIELD(NUMBER_IF, "lastNanoseconds", info.last_ns, "ns", "The last event."),
    MAY_BE("threadID", thread, "integer", "", "The thread of the first event."),
    MAY_BE("threadName", thread_name, "string", "", "Its name."),
    MAY_BE("text", text, "string", "", "One line for people."),
    MAY_BE("fields", fields, "[breadcrumb-field]", "", "Fields of the first event."),
    MAY_BE("frames", frames, "[frame]", "", "The stack of the first event, the innermost first."),
    FIELD(TRUE_IF, "isDamaged", info.damaged, "", "True: what it holds beside the counts contradicts itself, and is not shown."),
    LAST,
};
const struct lg__shape lg__shape_site = { "guard-record-site", LG__SENTENCE("The events of one site."), site_fields };

#undef OF
#define OF lg_guards_info

static void sites(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    struct site site;
    (void)of;
    if (!lg__report_wants(report, LG_REPORT_GUARD_SITES))
        return;
    lg__json_list_begin(&report->json, &list);
    /* last the events of all sites for which there was no place */
    for (uint32_t i = 1; i <= LG_GUARD_SITES_MAX + 1; i++) {
        site.place = i % (LG_GUARD_SITES_MAX + 1);
        if (!lg__report_has(report, lg_reader_guard(report->reader, site.place, &site.info), "guards"))
            continue;
        if (site.info.damaged)
            lg__report_has(report, LG_ERR_DAMAGED, "guards");
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_site, &site);
    }
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field guards_fields[] = {
    FIELD(NUMBER, "events", events, "", "Number at all sites."),
    FIELD(NUMBER, "survived", survived, "", "Number of these that the program survived; not 0: the run is degraded."),
    MAY_BE("sites", sites, "[guard-record-site]", "", "By site, in the order of their first events."),
    LAST,
};
const struct lg__shape lg__shape_guards = { "guard-record", LG__SENTENCE("What guards found."), guards_fields };

#undef OF

void lg__report_guards(struct lg__report *report, const void *of)
{
    lg_guards_info info;
    (void)of;
    if (lg__report_has(report, lg_reader_guards(report->reader, &info), "guards"))
        lg__table_object(report, &lg__shape_guards, &info);
}
