/* Guard events by site: counts that are always current, and the first event of each site. */
#include "read/reader.h"
#include "store/crc32c.h"

static_assert(LG_GUARD_TEXT_MAX + 1 == LG__GUARD_TEXT_BYTES && LG_GUARD_FIELD_MAX + 1 == LG__GUARD_FIELD_BYTES &&
              LG_GUARD_FIELDS_MAX == LG__GUARD_FIELDS && LG_GUARD_FRAMES_MAX == LG__GUARD_FRAMES && LG_GUARD_SITES_MAX + 1 == LG__GUARD_SITES,
              "guard.h says how much of an event is kept");

#define ADDRESS UINT64_C(0xffffffffffffff)

/* The part of the section before its sites. */
struct head {
    uint64_t events, survived;
    uint32_t site_bytes, site_count;
    uint8_t reserved[40];
};
static_assert(sizeof(struct head) == offsetof(struct lg__guards, sites), "the part before the sites");

static lg_status read_head(const lg_reader *reader, struct head *ret_head)
{
    struct lg__section section;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    if (!lg__reader_has_section(reader, LG__SECTION_GUARDS))
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_section(reader, LG__SECTION_GUARDS, &section) || !lg__reader_stable(reader, LG__SECTION_GUARDS, 0, ret_head, sizeof *ret_head))
        return LG_ERR_DAMAGED;
    if (ret_head->site_bytes == 0)
        return LG_ERR_NOT_FOUND;
    const uint64_t places = (section.size - sizeof *ret_head) / ret_head->site_bytes;
    return ret_head->site_bytes >= sizeof(struct lg__guard_site) && ret_head->site_count <= LG__GUARD_SITES && ret_head->site_count <= places
               ? LG_OK : LG_ERR_DAMAGED;
}

static bool is_used(uint32_t index, const struct lg__guard_site *site)
{
    return atomic_load(index ? &site->key : &site->count) != 0;
}

static lg_status read_site(const lg_reader *reader, const struct head *head, uint32_t index, struct lg__guard_site *ret_site)
{
    const uint64_t at = sizeof *head + (uint64_t)index * head->site_bytes;
    if (index >= head->site_count)
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_stable(reader, LG__SECTION_GUARDS, at, ret_site, sizeof *ret_site))
        return LG_ERR_DAMAGED;
    return is_used(index, ret_site) ? LG_OK : LG_ERR_NOT_FOUND;
}

enum description { DESCRIPTION_NONE, DESCRIPTION_WHOLE, DESCRIPTION_DAMAGED };

static enum description check_description(const struct lg__guard_site *site)
{
    const size_t from = offsetof(struct lg__guard_site, guard_class);
    const uint32_t commit = atomic_load(&site->commit);
    if (commit == 0)
        return DESCRIPTION_NONE;
    const bool is_right = commit == LG__COMMIT_GUARD && site->crc == lg__crc32c(0, &site->guard_class, sizeof *site - from) &&
                          site->guard_class == atomic_load(&site->key) >> 56 && site->field_count <= LG__GUARD_FIELDS &&
                          site->frame_count <= LG__GUARD_FRAMES;
    return is_right ? DESCRIPTION_WHOLE : DESCRIPTION_DAMAGED;
}

lg_status lg_reader_guards(lg_reader *reader, lg_guards_info *ret_guards)
{
    struct head head;
    if (!reader || !ret_guards)
        return LG_ERR_ARGUMENT;
    lg_status status = read_head(reader, &head);
    if (status != LG_OK)
        return status;
    lg_guards_info info = { .events = head.events, .survived = head.survived };
    for (uint32_t i = 0; i < head.site_count; i++) {
        struct lg__guard_site site;
        status = read_site(reader, &head, i, &site);
        if (status == LG_ERR_DAMAGED)
            return status;
        info.sites += status == LG_OK;
    }
    *ret_guards = info;
    return LG_OK;
}

static void describe(const struct lg__guard_site *site, lg_guard_info *info)
{
    info->first_ns = site->first_ns;
    info->tid = site->tid;
    lg__reader_text(info->thread_name, sizeof info->thread_name, site->thread_name, sizeof site->thread_name);
    lg__reader_text(info->text, sizeof info->text, site->text, sizeof site->text);
    info->field_count = site->field_count;
    info->frame_count = site->frame_count;
}

/* One site in use. */
static lg_status read_one(lg_reader *reader, uint32_t index, struct lg__guard_site *ret_site)
{
    struct head head;
    lg_status status = read_head(reader, &head);
    return status == LG_OK ? read_site(reader, &head, index, ret_site) : status;
}

lg_status lg_reader_guard(lg_reader *reader, uint32_t index, lg_guard_info *ret_guard)
{
    struct lg__guard_site site;
    if (!reader || !ret_guard)
        return LG_ERR_ARGUMENT;
    lg_status status = read_one(reader, index, &site);
    if (status != LG_OK)
        return status;
    const enum description description = check_description(&site);
    memset(ret_guard, 0, sizeof *ret_guard);
    ret_guard->guard_class = (lg_guard_class)(atomic_load(&site.key) >> 56);
    ret_guard->site = atomic_load(&site.key) & ADDRESS;
    ret_guard->action = (lg_guard_action)atomic_load(&site.action);
    ret_guard->count = atomic_load(&site.count);
    ret_guard->survived = atomic_load(&site.survived);
    ret_guard->last_ns = atomic_load(&site.last_ns);
    ret_guard->described = description == DESCRIPTION_WHOLE;
    ret_guard->damaged = description == DESCRIPTION_DAMAGED;
    if (ret_guard->described)
        describe(&site, ret_guard);
    return LG_OK;
}

/* A site that has a description; LG_ERR_NOT_FOUND: it has none. */
static lg_status read_described(lg_reader *reader, uint32_t index, struct lg__guard_site *ret_site)
{
    lg_status status = read_one(reader, index, ret_site);
    if (status != LG_OK)
        return status;
    switch (check_description(ret_site)) {
    case DESCRIPTION_NONE: return LG_ERR_NOT_FOUND;
    case DESCRIPTION_DAMAGED: return LG_ERR_DAMAGED;
    case DESCRIPTION_WHOLE: break;
    }
    return LG_OK;
}

lg_status lg_reader_guard_field(lg_reader *reader, uint32_t index, uint32_t field, lg_guard_field *ret_field)
{
    struct lg__guard_site site;
    if (!reader || !ret_field)
        return LG_ERR_ARGUMENT;
    lg_status status = read_described(reader, index, &site);
    if (status != LG_OK)
        return status;
    if (field >= site.field_count)
        return LG_ERR_NOT_FOUND;
    memset(ret_field, 0, sizeof *ret_field);
    lg__reader_text(ret_field->key, sizeof ret_field->key, site.fields[field].key, sizeof site.fields[field].key);
    lg__reader_text(ret_field->value, sizeof ret_field->value, site.fields[field].value, sizeof site.fields[field].value);
    return LG_OK;
}

lg_status lg_reader_guard_frame(lg_reader *reader, uint32_t index, uint32_t frame, uint64_t *ret_pc)
{
    struct lg__guard_site site;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = read_described(reader, index, &site);
    if (status != LG_OK)
        return status;
    if (frame >= site.frame_count)
        return LG_ERR_NOT_FOUND;
    *ret_pc = site.frames[frame];
    return LG_OK;
}
