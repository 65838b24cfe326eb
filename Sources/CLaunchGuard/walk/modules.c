/* The module table: made on an ordinary thread, published whole, read in the handler without a
 * lock. */
#include <link.h>
#include <pthread.h>

#include "walk/walk.h"
#include "store/crc32c.h"

#define PATH_MAX_BYTES 1024u

/* Two tables in turn. The handler reads the published one; a refresh writes the other. */
static struct lg__modules tables[2];
static _Atomic(const struct lg__modules *) published;
static _Atomic uint32_t generation; /* of the run file's newest table */
/* The two tables of the run file; NULL: it has none. */
static struct lg__module_table *files;
static _Atomic uint32_t writing; /* the table that a writer that is not urgent writes, plus one */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char executable[PATH_MAX_BYTES];

const struct lg__modules *lg__modules_published(void)
{
    return atomic_load(&published);
}

const struct lg__module_range *lg__modules_search(const struct lg__modules *table, uint64_t address)
{
    uint32_t low = 0, high = table ? table->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (address < table->modules[middle].start)
            high = middle;
        else if (address >= table->modules[middle].end)
            low = middle + 1;
        else
            return &table->modules[middle];
    }
    return NULL;
}

bool lg__modules_insert(struct lg__modules *table, const struct lg__module_range *module)
{
    if (table->count == LG__MODULES_MAX)
        return false;
    uint32_t at = table->count++;
    for (; at > 0 && table->modules[at - 1].start > module->start; at--)
        table->modules[at] = table->modules[at - 1];
    table->modules[at] = *module;
    return true;
}

/* ---- the run file ---- */

/* The urgent writer takes the table that the other one does not write. That one may hold the newest
 * whole table: the urgent one will be newer. */
struct lg__module_table *lg__modules_file_begin(bool urgent)
{
    uint32_t free = 0, number = atomic_fetch_add(&generation, 1) + 1, index = number & 1;
    if (!files)
        return NULL;
    if (urgent)
        index = atomic_load(&writing) == index + 1 ? index ^ 1 : index;
    else if (!atomic_compare_exchange_strong(&writing, &free, index + 1))
        return NULL;
    struct lg__module_table *file = &files[index];
    atomic_store_explicit(&file->commit, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    file->generation = number;
    file->count = file->text_size = file->omitted = 0;
    return file;
}

void lg__modules_file_add(struct lg__module_table *file, const struct lg__module_range *module, const char *path, lg__image_read read)
{
    if (!*path && file->count == 0)
        path = executable;
    size_t size = strlen(path);
    /* Do not trust the numbers in the file: a wild pointer of the program may have hit the map. */
    uint32_t count = file->count, text_size = file->text_size;
    if (count >= LG__MODULES_MAX || size >= PATH_MAX_BYTES || text_size > sizeof file->text || size > sizeof file->text - text_size) {
        file->omitted++;
        return;
    }
    struct lg__module_entry *entry = &file->entries[count];
    memset(entry, 0, sizeof *entry);
    entry->start = module->start;
    entry->end = module->end;
    entry->bias = module->bias;
    entry->path_offset = text_size;
    entry->path_size = (uint16_t)size;
    entry->build_id_size = (uint8_t)read(entry->build_id, module->id_address, module->id_size);
    memcpy(file->text + text_size, path, size);
    file->text_size = text_size + (uint32_t)size;
    file->count = count + 1;
}

void lg__modules_file_commit(struct lg__module_table *file, bool urgent)
{
    uint32_t count = file->count <= LG__MODULES_MAX ? file->count : LG__MODULES_MAX;
    uint32_t text_size = file->text_size <= sizeof file->text ? file->text_size : (uint32_t)sizeof file->text;
    uint32_t crc = lg__crc32c(0, &file->generation, 3 * sizeof(uint32_t));
    crc = lg__crc32c(crc, file->entries, count * sizeof file->entries[0]);
    file->crc = lg__crc32c(crc, file->text, text_size);
    atomic_store_explicit(&file->commit, LG__COMMIT_MODULES, memory_order_release);
    if (!urgent)
        atomic_store(&writing, 0);
}

/* ---- refresh ---- */

struct scan {
    struct lg__modules *table;
    struct lg__module_table *file; /* may be NULL */
};

static int add_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct scan *scan = argument;
    struct lg__image_room room;
    struct lg__module_range module;
    char name[LG__IMAGE_NAME_BYTES];
    (void)size;
    scan->table->adds = info->dlpi_adds;
    scan->table->subs = info->dlpi_subs;
    if (!lg__image_describe(&room, (uint64_t)(uintptr_t)info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, lg__memory_copy, &module))
        return 0;
    module.name_crc = lg__image_crc(name, lg__image_name(name, (uint64_t)(uintptr_t)info->dlpi_name, lg__memory_copy));
    if (!lg__modules_insert(scan->table, &module))
        return 1;
    if (scan->file)
        lg__modules_file_add(scan->file, &module, name, lg__memory_copy);
    return 0;
}

struct counts {
    uint64_t adds, subs;
};

static int counts_only(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct counts *counts = argument;
    (void)size;
    counts->adds = info->dlpi_adds;
    counts->subs = info->dlpi_subs;
    return 1;
}

static void refresh(bool (*is_in_use)(void))
{
    const struct lg__modules *now = atomic_load(&published);
    struct counts counts = { 0, 0 };
    if (now)
        dl_iterate_phdr(counts_only, &counts);
    if (now && counts.adds == now->adds && counts.subs == now->subs)
        return;
    struct lg__modules *next = now == &tables[0] ? &tables[1] : &tables[0];
    struct scan scan = { next, is_in_use() ? NULL : lg__modules_file_begin(false) };
    next->count = 0;
    dl_iterate_phdr(add_module, &scan);
    if (scan.file)
        lg__modules_file_commit(scan.file, false);
    atomic_store(&published, next);
}

void lg__modules_prepare(struct lg__module_table *of_run)
{
    files = of_run;
    lg__os_executable(executable, sizeof executable);
}

void lg__modules_refresh(bool (*is_in_use)(void))
{
    pthread_mutex_lock(&mutex);
    if (!is_in_use())
        refresh(is_in_use);
    pthread_mutex_unlock(&mutex);
}
