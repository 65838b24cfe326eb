/* Events by site, in the run file. The table of sites is also the mailbox of the reporting thread:
 * a site with unreported events is reported again, with its count. So no event is lost, however
 * slow on_event is. */
#include "guard/guard.h"

#include <string.h>

#include "os/os.h"
#include "store/crc32c.h"

#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

static struct lg__guards *file LG__SMALL;
static _Atomic uint32_t budget;
/* State that the file does not need. */
static struct {
    _Atomic uint64_t spent;      /* minute in the upper half, faults survived in it */
    _Atomic uint64_t said_ns;    /* of the last breadcrumb */
    _Atomic uint64_t told;       /* events that on_event was called for */
    _Atomic uint64_t told_ns;
} memory[LG__GUARD_SITES];

void lg__site_open(struct lg__guards *in, uint32_t faults_a_minute)
{
    atomic_store(&budget, faults_a_minute);
    if (file == in)
        return; /* a thread of an earlier start may read it */
    file = in;
    file->site_count = LG__GUARD_SITES;
    atomic_store_explicit(&file->site_bytes, sizeof(struct lg__guard_site), memory_order_release);
}

bool lg__site_has_survived(const struct lg__guards *in)
{
    return file == in && atomic_load(&in->survived);
}

uint32_t lg__site_find(lg_guard_class guard_class, uint64_t address, bool *ret_new)
{
    const uint64_t key = (uint64_t)guard_class << 56 | (address & UINT64_C(0xffffffffffffff));
    *ret_new = false;
    for (uint32_t i = 1; i < LG__GUARD_SITES; i++) {
        uint64_t is = atomic_load_explicit(&file->sites[i].key, memory_order_relaxed);
        if (is == 0 && atomic_compare_exchange_strong(&file->sites[i].key, &is, key))
            *ret_new = true;
        if (*ret_new || is == key)
            return i;
    }
    return 0;
}

bool lg__site_spend(uint32_t site, uint64_t now)
{
    const uint64_t minute = now / MINUTE_NS << 32;
    uint64_t is = atomic_load(&memory[site].spent), next;
    do {
        next = (is >> 32 << 32 == minute ? is : minute) + 1;
        if ((uint32_t)next > atomic_load(&budget))
            return false;
    } while (!atomic_compare_exchange_weak(&memory[site].spent, &is, next));
    return true;
}

static void copy_text(char *to, size_t room, const char *from)
{
    size_t at = 0;
    for (; from && at < room - 1 && from[at]; at++)
        to[at] = from[at];
    memset(to + at, 0, room - at);
}

void lg__site_describe(uint32_t index, const struct lg__guard_fault *fault, const uint64_t *frames, uint32_t frame_count, uint64_t now)
{
    struct lg__guard_site *site = &file->sites[index];
    site->guard_class = fault->guard_class;
    site->first_ns = now;
    site->tid = lg__os_tid();
    lg__os_thread_name(site->thread_name);
    copy_text(site->text, sizeof site->text, fault->text);
    site->field_count = (uint32_t)(fault->field_count < LG__GUARD_FIELDS ? fault->field_count : LG__GUARD_FIELDS);
    for (uint32_t i = 0; i < site->field_count; i++) {
        copy_text(site->fields[i].key, sizeof site->fields[i].key, fault->fields[i].key);
        copy_text(site->fields[i].value, sizeof site->fields[i].value, fault->fields[i].value);
    }
    site->frame_count = frame_count < LG__GUARD_FRAMES ? frame_count : LG__GUARD_FRAMES;
    memcpy(site->frames, frames, site->frame_count * sizeof *frames);
    site->crc = lg__crc32c(0, &site->guard_class, sizeof *site - offsetof(struct lg__guard_site, guard_class));
    atomic_store_explicit(&site->commit, LG__COMMIT_GUARD, memory_order_release);
}

bool lg__site_is_due(uint32_t index, lg_guard_action action, uint64_t now)
{
    const bool is_other = atomic_exchange(&file->sites[index].action, (uint32_t)action) != (uint32_t)action;
    uint64_t said = atomic_load(&memory[index].said_ns);
    return (is_other || now - said >= SECOND_NS) && atomic_compare_exchange_strong(&memory[index].said_ns, &said, now);
}

void lg__site_count(uint32_t index, lg_guard_action action, uint64_t now)
{
    struct lg__guard_site *site = &file->sites[index];
    const bool is_survived = action == LG_GUARD_SURVIVED;
    atomic_fetch_add_explicit(&file->events, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->survived, is_survived, memory_order_relaxed);
    atomic_fetch_add_explicit(&site->survived, is_survived, memory_order_relaxed);
    atomic_store_explicit(&site->last_ns, now, memory_order_relaxed);
    atomic_fetch_add(&site->count, 1);
}

bool lg__site_take(uint32_t index, bool at_once, struct lg__site_event *ret)
{
    if (!file)
        return false; /* guards were never started */
    struct lg__guard_site *site = &file->sites[index];
    const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), count = atomic_load(&site->count);
    uint64_t told = atomic_load(&memory[index].told);
    const bool is_described = atomic_load_explicit(&site->commit, memory_order_acquire) == LG__COMMIT_GUARD;
    if (count <= told || (index && !is_described))
        return false;
    if (told && !at_once && now - atomic_load(&memory[index].told_ns) < SECOND_NS)
        return false;
    if (!atomic_compare_exchange_strong(&memory[index].told, &told, count))
        return false; /* another thread reports it */
    atomic_store(&memory[index].told_ns, now);
    memset(ret, 0, sizeof *ret);
    ret->event = (lg_guard_event){
        .size = sizeof ret->event,
        .guard_class = (lg_guard_class)site->guard_class,
        .action = (lg_guard_action)atomic_load(&site->action),
        .tid = site->tid,
        .time_ns = atomic_load(&site->last_ns),
        .site = atomic_load(&site->key) & UINT64_C(0xffffffffffffff),
        .count = count,
        .skipped = count - told - 1,
        .text = index ? site->text : "events at sites beyond those that are counted separately",
        .fields = ret->fields,
        .field_count = site->field_count,
        .frames = site->frames,
        .frame_count = site->frame_count,
    };
    memcpy(ret->event.thread_name, site->thread_name, sizeof ret->event.thread_name);
    for (uint32_t i = 0; i < site->field_count; i++)
        ret->fields[i] = (lg_field){ site->fields[i].key, site->fields[i].value };
    return true;
}
