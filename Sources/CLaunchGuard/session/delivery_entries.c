/* lg_delivery_entries(): the reports in the spool of any state directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/os.h"
#include "session/delivery.h"
#include "store/crc32c.h"
#include "store/delivery_config.h"
#include "store/server.h"

struct entry {
    lg_delivery_info info;
    struct lg__report_header header;
};

struct list {
    struct entry *entries;
    uint32_t count, room;
    lg_delivery_state state; /* of the folder that is being read */
    bool failed; /* no memory */
};

void lg__delivery_entries_info(const struct lg__report_header *header, lg_delivery_state state, lg_delivery_info *ret_info)
{
    lg_delivery_info info = {
        .ordinal = header->ordinal,
        .state = state == LG_DELIVERY_SENT && header->told_ns ? LG_DELIVERY_TOLD : state,
        .end = (lg_end)header->end,
        .made_ns = header->made_ns,
        .attempts = header->attempts,
        .http_status = header->http_status,
        .attempted_ns = header->attempted_ns,
        .next_ns = header->next.wall_ns,
        .settled_ns = header->settled_ns,
        .told_ns = header->told_ns,
        .more = header->more,
    };
    lg__run_uuid_text(header->uuid, info.uuid);
    lg__run_uuid_text(header->run_uuid, info.run_uuid);
    for (int i = 0; i < 16; i++)
        snprintf(info.fingerprint + 2 * i, 3, "%02x", header->fingerprint[i]);
    memcpy(info.error, header->error, sizeof info.error);
    *ret_info = info;
}

/* The room for a report; NULL: no memory. A report that was moved meanwhile has one entry. */
static struct entry *entry_for(struct list *list, const char *uuid)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].info.uuid, uuid) == 0)
            return &list->entries[i];
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 64;
        struct entry *entries = realloc(list->entries, room * sizeof *entries);
        if (!entries)
            return NULL;
        list->entries = entries;
        list->room = room;
    }
    return &list->entries[list->count++];
}

static bool take_one(int folder, const char *text, void *argument)
{
    struct list *list = argument;
    struct lg__report_name name;
    struct entry found = { .info.state = LG_DELIVERY_DEAD };
    if (!lg__report_parse_name(text, &name))
        return true;
    lg_status status = lg__report_read(folder, text, &found.header);
    if (status == LG_ERR_NOT_FOUND || (status == LG_OK && found.header.flags & LG__REPORT_HEALTH))
        return true; /* moved since; no report */
    if (status == LG_OK) {
        lg__delivery_entries_info(&found.header, list->state, &found.info);
    } else {
        found.info.ordinal = name.ordinal;
        lg__run_uuid_text(name.uuid, found.info.uuid);
        snprintf(found.info.error, sizeof found.info.error, "%s", lg_status_name(status));
    }
    struct entry *entry = entry_for(list, found.info.uuid);
    list->failed = !entry;
    if (entry)
        *entry = found;
    return entry != NULL;
}

static int by_ordinal(const void *a, const void *b)
{
    const lg_delivery_info *one = &((const struct entry *)a)->info, *other = &((const struct entry *)b)->info;
    if (one->ordinal != other->ordinal)
        return one->ordinal < other->ordinal ? -1 : 1;
    return strcmp(one->uuid, other->uuid);
}

static int open_spool(const char *path, struct lg__problem *problem)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        lg__problem_set(problem, lg__problem_from_errno(errno), path, errno);
        return -1;
    }
    int spool = lg__spool_open(directory, path, false, problem);
    close(directory);
    return spool;
}

/* ---- why a report waits ---- */

static bool is_behind(const struct list *list, const struct entry *entry)
{
    for (const struct entry *other = list->entries; other < list->entries + list->count; other++)
        if (lg__report_is_behind(&entry->header, &other->header, other->info.state))
            return true;
    return false;
}

/* The target, while each byte costs; 0: not known, or bytes cost nothing. */
static lg_delivery_target metered_target(int spool)
{
    char text[LG__CONFIG_MAX], wrong[128];
    struct lg__delivery_config config;
    const bool is_known = lg__spool_is_metered(spool) && lg__spool_read(spool, "config", text, sizeof text) >= 0 &&
                          lg__delivery_config_parse(text, &config, wrong);
    return is_known ? config.options.target : 0;
}

/* No pending report goes before the server takes requests again. */
static void find_pauses(struct list *list, int spool)
{
    const lg_delivery_target metered = metered_target(spool);
    struct lg__server server;
    const uint64_t now = lg__os_clock_ns(CLOCK_REALTIME);
    const bool is_known = lg__server_read(spool, &server);
    for (struct entry *entry = list->entries; entry < list->entries + list->count; entry++) {
        lg_delivery_info *info = &entry->info;
        if (info->state != LG_DELIVERY_PENDING)
            continue;
        lg_delivery_pause pause = info->attempts ? LG_PAUSE_BUSY : LG_PAUSE_PACED;
        if (is_known && info->next_ns < server.next.wall_ns) {
            info->next_ns = server.next.wall_ns;
            pause = (lg_delivery_pause)server.pause;
        }
        const bool is_metered = metered && !lg__delivery_config_first_next(metered, entry->header.flags);
        info->pause = is_behind(list, entry) ? LG_PAUSE_BEHIND : is_metered ? LG_PAUSE_METERED : info->next_ns > now ? pause : LG_PAUSE_NONE;
    }
}

lg_status lg_delivery_entries(const char *state_directory, lg_delivery_info *ret_entries, uint32_t room, uint32_t *ret_count)
{
    static const lg_delivery_state states[] = { LG_DELIVERY_HELD, LG_DELIVERY_PENDING, LG_DELIVERY_SENT, LG_DELIVERY_DEAD };
    struct lg__problem problem = { .status = LG_OK };
    struct list list = { .entries = NULL };
    if (!state_directory || !*state_directory || !ret_count || (room && !ret_entries))
        return LG_ERR_ARGUMENT;
    lg__crc32c_init();
    int spool = open_spool(state_directory, &problem);
    if (spool < 0)
        return problem.status;
    for (size_t i = 0; i < sizeof states / sizeof states[0] && !list.failed; i++) {
        list.state = states[i];
        lg__delivery_each(spool, lg__spool_folder(states[i]), take_one, &list);
    }
    find_pauses(&list, spool);
    close(spool);
    if (!list.failed) {
        if (list.count)
            qsort(list.entries, list.count, sizeof *list.entries, by_ordinal);
        for (uint32_t i = 0; i < list.count && i < room; i++)
            ret_entries[i] = list.entries[i].info;
        *ret_count = list.count;
    }
    free(list.entries);
    errno = ENOMEM;
    return list.failed ? LG_ERR_SYSTEM : LG_OK;
}
