#include "store/ledger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/ledger_payload.h"
#include "store/crc32c.h"
#include "store/header.h"

#define NAME "ledger.lg"
#define HOT_AT 4096u
#define MACHINE_AT 4608u
#define SLOT_A_AT 8192u
#define SLOT_B_AT 57344u
#define SLOT_BYTES 49152u
#define LEDGER_BYTES 106496u

static_assert(sizeof(struct lg__slot) <= SLOT_BYTES, "the slot fits");
static_assert(HOT_AT + sizeof(struct lg__hot) <= MACHINE_AT && MACHINE_AT + sizeof(struct lg__found_machine) == LG__HINT_AT && LG__HINT_AT + sizeof(struct lg__hint) <= SLOT_A_AT, "FORMAT.md, ledger");
static_assert(SLOT_A_AT + SLOT_BYTES == SLOT_B_AT && SLOT_B_AT + SLOT_BYTES == LEDGER_BYTES, "FORMAT.md, ledger");

static const struct lg__section sections[] = {
    { LG__SECTION_HOT, 0, HOT_AT, sizeof(struct lg__hot) },
    { LG__SECTION_SLOT_A, 0, SLOT_A_AT, SLOT_BYTES },
    { LG__SECTION_SLOT_B, 0, SLOT_B_AT, SLOT_BYTES },
};

static void attach(struct lg__ledger *ledger)
{
    uint8_t *base = ledger->map.base;
    ledger->hot = (struct lg__hot *)(void *)(base + HOT_AT);
    ledger->machine = (struct lg__found_machine *)(void *)(base + MACHINE_AT);
    ledger->slots[0] = (struct lg__slot *)(void *)(base + SLOT_A_AT);
    ledger->slots[1] = (struct lg__slot *)(void *)(base + SLOT_B_AT);
}

/* Lay out a fresh ledger in zeroed memory; `payload` may hold the saved parts of an old one. */
static void lay_out(struct lg__ledger *ledger, uint64_t next_ordinal)
{
    static const struct lg__version version = { LG__LEDGER_MAJOR, LG__LEDGER_MINOR };
    struct lg__header *header = ledger->map.base;
    attach(ledger);
    atomic_store(&ledger->hot->next_ordinal, next_ordinal);
    ledger->current = 1;
    lg__ledger_store(ledger);
    lg__header_write(header, LG__MAGIC_LEDGER, version, sections, sizeof sections / sizeof sections[0], LEDGER_BYTES);
}

uint64_t lg__ledger_process(pid_t pid, uint64_t start_ticks, const uint8_t boot_id[16])
{
    uint32_t hash = lg__crc32c(lg__crc32c(0, &start_ticks, sizeof start_ticks), boot_id, 16);
    return (uint64_t)(uint32_t)pid << 32 | hash;
}

bool lg__ledger_process_alive(uint64_t process, const uint8_t boot_id[16])
{
    pid_t pid = (pid_t)(process >> 32);
    uint64_t start_ticks;
    return pid > 0 && lg__os_start_ticks(pid, &start_ticks) && lg__ledger_process(pid, start_ticks, boot_id) == process;
}

/* Become the primary unless a living process is. The lock alone does not decide: a child that the
 * dead primary forked may still hold it. The word in the hot page decides. It is changed by
 * compare-and-swap, so that of two processes only one succeeds. */
static bool claim_primary(struct lg__hot *hot, uint64_t self, const uint8_t boot_id[16])
{
    uint64_t now_primary = atomic_load(&hot->primary);
    do {
        /* The same word is this very process: it executed a new program over itself. */
        if (now_primary != self && lg__ledger_process_alive(now_primary, boot_id))
            return false;
    } while (!atomic_compare_exchange_weak(&hot->primary, &now_primary, self));
    return true;
}

/* Two programs may share a directory by mistake: a service and its ExecStartPre have the same
 * $STATE_DIRECTORY. Their counters have nothing to do with each other. */
static bool is_of_another(const struct lg__ledger_payload *payload, const char *app_id)
{
    return strncmp(payload->app_id, app_id, sizeof payload->app_id) != 0;
}

/* Use an existing file. */
static lg_status judge_file(int file, const struct stat *info, struct lg__header *ret_header)
{
    if (!S_ISREG(info->st_mode) || info->st_size < (off_t)sizeof *ret_header)
        return LG_ERR_DAMAGED;
    if (pread(file, ret_header, sizeof *ret_header, 0) != (ssize_t)sizeof *ret_header)
        return LG_ERR_DAMAGED;
    lg_status status = lg__header_check(ret_header, LG__MAGIC_LEDGER, LG__LEDGER_MAJOR);
    if (status != LG_OK)
        return status;
    if (info->st_size != LEDGER_BYTES || ret_header->total_bytes != LEDGER_BYTES ||
        memcmp(ret_header->sections, sections, sizeof sections) != 0)
        return LG_ERR_DAMAGED;
    return LG_OK;
}

/* Read one slot of a damaged file. Returns its generation; 0: it is not whole. */
static uint64_t salvage_slot(int file, off_t at, struct lg__ledger_payload *ret_book)
{
    struct lg__slot slot;
    return pread(file, &slot, sizeof slot, at) == (ssize_t)sizeof slot ? lg__ledger_payload_load(&slot, ret_book) : 0;
}

/* Read the newest whole payload of a damaged file. Returns its generation; 0: there is none, and
 * the payload is empty. */
static uint64_t salvage(int file, struct lg__ledger_payload *ret_book)
{
    uint64_t first = salvage_slot(file, SLOT_A_AT, ret_book), generation = salvage_slot(file, SLOT_B_AT, ret_book);
    if (first >= generation)
        generation = salvage_slot(file, SLOT_A_AT, ret_book);
    if (!generation)
        memset(ret_book, 0, sizeof *ret_book);
    return generation;
}

/* Names of run files must not repeat. */
static uint64_t usable_ordinal(uint64_t next)
{
    return next > 0 && next < UINT32_MAX ? next : 1;
}

/* So many unusable ledgers are kept aside; the oldest give way. */
#define ASIDE_MAX 2
#define ASIDE_NAME_BYTES 80

/* The time in the name of a ledger that is kept aside; 0: another file. */
static uint64_t aside_time(const char *name)
{
    static const char *const kinds[] = { NAME ".damaged-", NAME ".newer-" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            return strtoull(name + strlen(kinds[i]), NULL, 10);
    return 0;
}

/* Delete the oldest one beyond ASIDE_MAX. */
static void delete_aside(int directory)
{
    char oldest[ASIDE_NAME_BYTES] = "";
    int count = 0, copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        uint64_t time = strlen(entry->d_name) < sizeof oldest ? aside_time(entry->d_name) : 0;
        if (time && (!count++ || time < aside_time(oldest)))
            memcpy(oldest, entry->d_name, strlen(entry->d_name) + 1);
    }
    closedir(stream);
    if (count > ASIDE_MAX)
        unlinkat(directory, oldest, 0);
}

/* Give an unusable file another name. It keeps its lock, which is harmless there. */
static bool move_aside(int directory, const char *path, lg_status why, char ret_name[ASIDE_NAME_BYTES], struct lg__problem *problem)
{
    const char *how = why == LG_ERR_NEWER ? "newer" : "damaged";
    snprintf(ret_name, ASIDE_NAME_BYTES, NAME ".%s-%llu", how, (unsigned long long)lg__os_clock_ns(CLOCK_REALTIME));
    if (renameat(directory, NAME, directory, ret_name) == 0)
        return true;
    lg__problem_set(problem, lg__problem_from_errno(errno), path, errno);
    return false;
}

/* There is no new ledger. The next try, or the next start, finds the old one as it was. */
static void move_back(int directory, const char *name)
{
    if (linkat(directory, name, directory, NAME, 0) == 0)
        unlinkat(directory, name, 0);
}

static void say_aside(const char *path, const char *name, lg_status why, bool kept, struct lg__problem *problem)
{
    lg__problem_say(problem, why, "%s: %s; it is kept as %s, and %s. Nothing needs to be done; send the kept file with a report.", path,
                    why == LG_ERR_NEWER ? "the ledger was written by a newer, incompatible version of LaunchGuard" : "the ledger was damaged",
                    name, kept ? "its counters were taken over" : "counting starts anew");
}

static lg_status create_ledger(int directory, const char *path, const char *app_id, struct lg__ledger *ledger, uint64_t next_ordinal,
                               uint64_t process, struct lg__problem *problem)
{
    /* The file has another name until it is whole: a death in between leaves no half ledger. */
    char name[64];
    snprintf(name, sizeof name, NAME ".new-%d", (int)lg__os_pid());
    unlinkat(directory, name, 0);
    lg_status status = lg__map_create(directory, name, path, LEDGER_BYTES, &ledger->map, problem);
    if (status != LG_OK)
        return status;
    ledger->primary = true;
    snprintf(ledger->payload.app_id, sizeof ledger->payload.app_id, "%s", app_id);
    lay_out(ledger, next_ordinal);
    atomic_store(&ledger->hot->primary, process);
    /* link() and not rename(): it does not replace a ledger that another process made meanwhile. */
    int failed = linkat(directory, name, directory, NAME, 0) == 0 ? 0 : errno;
    unlinkat(directory, name, 0);
    if (failed) {
        lg__map_abandon(&ledger->map);
        *ledger = (struct lg__ledger){ .map.file = -1 };
        return failed == EEXIST ? LG_ERR_ALREADY : lg__problem_set(problem, lg__problem_from_errno(failed), path, failed);
    }
    return LG_OK;
}

/* A new ledger in place of an unusable one. Returns `why` where that succeeds. */
static lg_status replace_ledger(int directory, const char *path, const char *app_id, struct lg__ledger *ledger, lg_status why,
                                uint64_t next_ordinal, uint64_t process, struct lg__problem *problem)
{
    char name[ASIDE_NAME_BYTES];
    const bool kept = ledger->generation != 0;
    if (!move_aside(directory, path, why, name, problem))
        return problem->status;
    lg_status made = create_ledger(directory, path, app_id, ledger, next_ordinal, process, problem);
    if (made != LG_OK && made != LG_ERR_ALREADY) {
        move_back(directory, name);
        return made;
    }
    say_aside(path, name, why, kept, problem);
    lg__map_trim_ended(directory, name);
    delete_aside(directory);
    return made == LG_OK ? why : made;
}

static void load_slot(struct lg__ledger *ledger)
{
    const unsigned newer = *(volatile uint64_t *)&ledger->slots[1]->generation > *(volatile uint64_t *)&ledger->slots[0]->generation;
    ledger->current = newer;
    ledger->generation = lg__ledger_payload_load(ledger->slots[newer], &ledger->payload);
    if (ledger->generation)
        return;
    ledger->current = 1 - newer;
    /* 0 again: the caller keeps the file aside */
    ledger->generation = lg__ledger_payload_load(ledger->slots[1 - newer], &ledger->payload);
}

/* Another process, the primary of then, stored after load_slot(). */
static bool is_stale(const struct lg__ledger *ledger)
{
    return *(volatile uint64_t *)&ledger->slots[ledger->current]->generation != ledger->generation ||
           *(volatile uint64_t *)&ledger->slots[1 - ledger->current]->generation > ledger->generation;
}

void lg__ledger_refresh(struct lg__ledger *ledger)
{
    if (is_stale(ledger))
        load_slot(ledger);
}

bool lg__ledger_claim(struct lg__ledger *ledger, uint64_t process, const uint8_t boot_id[16])
{
    if (!claim_primary(ledger->hot, process, boot_id))
        return false;
    lg__ledger_refresh(ledger);
    ledger->primary = ledger->generation;
    if (!ledger->primary)
        atomic_store(&ledger->hot->primary, 0);
    return ledger->primary;
}

static lg_status let_go(struct lg__ledger *ledger, lg_status status)
{
    lg__map_abandon(&ledger->map);
    *ledger = (struct lg__ledger){ .map.file = -1 };
    return status;
}

/* One try; LG_ERR_ALREADY: another process changed the directory meanwhile, try again. */
static lg_status open_once(int directory, const char *path, const char *app_id, uint64_t process, const uint8_t boot_id[16],
                           struct lg__ledger *ledger, struct lg__problem *problem)
{
    int file = lg__os_file_beyond(openat(directory, NAME, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file < 0 && errno == ENOENT)
        return create_ledger(directory, path, app_id, ledger, 1, process, problem);
    if (file < 0 && (errno == EISDIR || errno == ENXIO))
        return replace_ledger(directory, path, app_id, ledger, LG_ERR_DAMAGED, 1, process, problem);
    if (file < 0)
        return lg__problem_set(problem, lg__problem_from_errno(errno), path, errno);

    struct stat info;
    struct lg__header header;
    lg_status status;
    if (fstat(file, &info) != 0)
        status = lg__problem_set(problem, LG_ERR_SYSTEM, path, errno);
    else if (info.st_uid != geteuid())
        status = lg__problem_set(problem, LG_ERR_OWNER, path, 0);
    else
        status = judge_file(file, &info, &header);

    if (status == LG_OK && (status = lg__map_file(file, lg__os_identity(info.st_dev, info.st_ino), path, LEDGER_BYTES, &ledger->map, problem)) == LG_OK) {
        attach(ledger);
        load_slot(ledger);
        if (ledger->generation && is_of_another(&ledger->payload, app_id))
            return let_go(ledger, LG_ERR_STATE);
        lg__map_lock(file); /* for tools and people that look; claim_primary() decides */
        if (!process || !claim_primary(ledger->hot, process, boot_id))
            return LG_ERR_SECONDARY;
        ledger->primary = true;
        lg__ledger_refresh(ledger);
        if (ledger->generation)
            return LG_OK;
        /* Both slots are damaged. The ordinal in the hot page is worth keeping. */
        uint64_t next = usable_ordinal(atomic_load(&ledger->hot->next_ordinal));
        let_go(ledger, LG_OK);
        return replace_ledger(directory, path, app_id, ledger, LG_ERR_DAMAGED, next, process, problem);
    }
    if (status == LG_ERR_DAMAGED || status == LG_ERR_NEWER) {
        uint64_t next = 1;
        if (status == LG_ERR_DAMAGED && (ledger->generation = salvage(file, &ledger->payload)) != 0)
            next = usable_ordinal(ledger->payload.last_ordinal + 1);
        close(file);
        if (ledger->generation && is_of_another(&ledger->payload, app_id)) {
            *ledger = (struct lg__ledger){ .map.file = -1 };
            return LG_ERR_STATE;
        }
        return replace_ledger(directory, path, app_id, ledger, status, next, process, problem);
    }
    close(file);
    return status;
}

lg_status lg__ledger_open(int directory, const char *path, const char *app_id, uint64_t process, const uint8_t boot_id[16],
                          struct lg__ledger *ret_ledger, struct lg__problem *problem)
{
    lg_status status = LG_ERR_ALREADY;
    ret_ledger->map.file = -1;
    for (int tries = 0; status == LG_ERR_ALREADY && tries < 8; tries++)
        status = open_once(directory, path, app_id, process, boot_id, ret_ledger, problem);
    /* A tool of its own kind put aside is worth the status although the retry succeeded. */
    return status == LG_OK && problem->status != LG_OK ? problem->status : status;
}

bool lg__ledger_anonymous(struct lg__ledger *ret_ledger)
{
    *ret_ledger = (struct lg__ledger){ .map.file = -1 };
    if (!lg__map_anonymous(LEDGER_BYTES, &ret_ledger->map))
        return false;
    lay_out(ret_ledger, 1);
    return true;
}

void lg__ledger_store(struct lg__ledger *ledger)
{
    struct lg__slot *slot = ledger->slots[1 - ledger->current];
    LG_FAULT_POINT("ledger: before store");
    /* Void the slot first: a death in the middle then leaves it invalid beyond its checksum too. */
    slot->generation = 0;
    atomic_thread_fence(memory_order_release);
    uint64_t generation = ledger->generation + 1;
    uint32_t size = lg__ledger_payload_used(&ledger->payload);
    slot->size = size;
    LG_FAULT_POINT("ledger: void");
    memcpy(&slot->payload, &ledger->payload, size);
    LG_FAULT_POINT("ledger: book");
    atomic_thread_fence(memory_order_release);
    slot->crc = lg__ledger_payload_crc(generation, size, &ledger->payload);
    atomic_thread_fence(memory_order_release);
    *(volatile uint64_t *)&slot->generation = generation;
    LG_FAULT_POINT("ledger: stored");
    ledger->generation = generation;
    ledger->current = 1 - ledger->current;
}

struct lg__ledger_context *lg__ledger_find_context(struct lg__ledger_payload *payload, const char *name)
{
    for (uint32_t i = 0; i < payload->context_count; i++)
        if (strncmp(payload->contexts[i].name, name, sizeof payload->contexts[i].name) == 0)
            return &payload->contexts[i];
    if (payload->context_count == LG__CONTEXTS)
        return NULL;
    struct lg__ledger_context *context = &payload->contexts[payload->context_count++];
    memset(context, 0, sizeof *context);
    snprintf(context->name, sizeof context->name, "%s", name);
    return context;
}
