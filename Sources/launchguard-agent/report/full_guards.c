/* What guards found: counts, and the first event of each site. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/full.h"

static json_t *name_or_number(const char *name, unsigned number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    return json_string(strcmp(name, "unknown") == 0 ? text : name);
}

static void add_guard_fields(struct full *full, json_t *site, uint32_t place, uint32_t count, const json_t *redacted)
{
    json_t *list = json_array();
    lg_guard_field field;
    for (uint32_t i = 0; i < count; i++) {
        if (lg_reader_guard_field(full->reader, place, i, &field) != LG_OK)
            continue;
        json_t *object = json_object(), *key = words_text(field.key, strlen(field.key));
        put(object, "key", key);
        if (redacted && key && !json_object_get(redacted, json_string_value(key)))
            put(object, "value", full_text(full, field.value, strlen(field.value)));
        json_array_append_new(list, object);
    }
    put_list(site, "fields", list);
}

static void add_description(struct full *full, json_t *site, uint32_t place, const lg_guard_info *info, const json_t *redacted)
{
    json_t *frames = json_array();
    uint64_t pc;
    put(site, "firstNanoseconds", words_number(info->first_ns));
    put(site, "threadID", json_integer(info->tid));
    put(site, "threadName", words_string(info->thread_name));
    put(site, "text", full_text(full, info->text, strlen(info->text)));
    add_guard_fields(full, site, place, info->field_count, redacted);
    for (uint32_t i = 0; i < info->frame_count && full->frames_left; i++)
        if (lg_reader_guard_frame(full->reader, place, i, &pc) == LG_OK)
            json_array_append_new(frames, full_frame(full, pc, false));
    put(site, "frames", json_array_size(frames) ? json_incref(frames) : NULL);
    json_decref(frames);
}

static json_t *site_json(struct full *full, uint32_t place, const lg_guard_info *info, const json_t *redacted)
{
    json_t *site = json_object();
    if (info->guard_class != LG_GUARD_CLASS_NONE)
        put(site, "guardClass", name_or_number(lg_guard_class_name(info->guard_class), (unsigned)info->guard_class));
    if (info->action)
        put(site, "action", name_or_number(lg_guard_action_name(info->action), (unsigned)info->action));
    put(site, "place", info->site ? full_frame(full, info->site, false) : NULL);
    put(site, "events", words_number(info->count));
    put(site, "survived", words_number(info->survived));
    put(site, "lastNanoseconds", words_nonzero(info->last_ns));
    put(site, "isDamaged", info->damaged ? json_true() : NULL);
    if (info->damaged)
        full_has(full, LG_ERR_DAMAGED, "guards");
    if (info->described)
        add_description(full, site, place, info, redacted);
    return site;
}

void full_add_guards(struct full *full, const json_t *redacted)
{
    lg_guards_info info;
    lg_guard_info site;
    if (!full_has(full, lg_reader_guards(full->reader, &info), "guards"))
        return;
    json_t *guards = json_object(), *sites = json_array();
    put(guards, "events", words_number(info.events));
    put(guards, "survived", words_number(info.survived));
    /* last the events of all sites beyond those that are told apart */
    for (uint32_t i = 1; i <= LG_GUARD_SITES_MAX + 1; i++) {
        const uint32_t place = i % (LG_GUARD_SITES_MAX + 1);
        if (full_has(full, lg_reader_guard(full->reader, place, &site), "guards"))
            json_array_append_new(sites, site_json(full, place, &site, redacted));
    }
    put(guards, "sites", sites);
    put(full->report, "guards", guards);
}
