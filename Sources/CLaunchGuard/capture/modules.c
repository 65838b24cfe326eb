/* The module table: made on an ordinary thread, published whole, read in the handler without a lock. */
#include <elf.h>
#include <link.h>
#include <pthread.h>

#include "capture/internal.h"
#include "store/crc32c.h"

struct table {
    uint32_t count;
    uint64_t adds, subs; /* dlpi_adds and dlpi_subs when it was made */
    struct lg__module_range modules[LG__MODULES_MAX]; /* sorted by start */
};

/* Two tables in turn. The handler reads the published one; a refresh writes the other. */
static struct table tables[2];
static _Atomic(const struct table *) published;
static uint32_t generation;
static pthread_mutex_t refreshing = PTHREAD_MUTEX_INITIALIZER;

struct scan {
    struct table *table;
    struct lg__module_table *file; /* may be NULL */
};

uint32_t lg__capture_build_id(const void *headers, size_t count, uint64_t bias, uint8_t ret_id[LG__BUILD_ID_BYTES])
{
    const ElfW(Phdr) *header = headers;
    for (size_t i = 0; i < count; i++) {
        if (header[i].p_type != PT_NOTE)
            continue;
        const uint8_t *at = (const uint8_t *)(uintptr_t)(bias + header[i].p_vaddr);
        const uint8_t *end = at + header[i].p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            size_t name = (note.n_namesz + 3u) & ~3u, size = (note.n_descsz + 3u) & ~3u;
            if (name + size > (size_t)(end - at) - sizeof note)
                break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at + sizeof note, "GNU", 4) == 0) {
                uint32_t bytes = note.n_descsz < LG__BUILD_ID_BYTES ? note.n_descsz : LG__BUILD_ID_BYTES;
                memcpy(ret_id, at + sizeof note + name, bytes);
                return bytes;
            }
            at += sizeof note + name + size;
        }
    }
    return 0;
}

/* The search table behind a PT_GNU_EH_FRAME, where it has the one encoding that linkers write (LSB core, 10.6.2): version 1, pointer
 * to .eh_frame as 32 bits relative to its place, count as 32 bits, table as sorted pairs of 32 bits relative to the header. */
static void find_search_table(struct lg__module_range *module, uint64_t at)
{
    const uint8_t *header = (const uint8_t *)(uintptr_t)at;
    uint32_t count;
    if (header[0] != 1 || header[1] != 0x1b || header[2] != 0x03 || header[3] != 0x3b)
        return;
    memcpy(&count, header + 8, sizeof count);
    module->frame_header = at;
    module->table = at + 12;
    module->table_count = count;
}

static void write_entry(struct lg__module_table *file, const struct lg__module_range *module, const struct dl_phdr_info *info)
{
    char executable[1024];
    const char *path = info->dlpi_name;
    if (!path || !*path) {
        executable[0] = 0;
        if (file->count == 0)
            lg__os_executable(executable, sizeof executable);
        path = executable;
    }
    size_t size = strlen(path);
    if (file->count == LG__MODULES_MAX || size >= 1024 || file->text_size + size > sizeof file->text) {
        file->omitted++;
        return;
    }
    struct lg__module_entry *entry = &file->entries[file->count++];
    memset(entry, 0, sizeof *entry);
    entry->start = module->start;
    entry->end = module->end;
    entry->bias = module->bias;
    entry->path_offset = file->text_size;
    entry->path_size = (uint16_t)size;
    memcpy(file->text + file->text_size, path, size);
    file->text_size += (uint32_t)size;
    entry->build_id_size = (uint8_t)lg__capture_build_id(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, entry->build_id);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct scan *scan = argument;
    struct table *table = scan->table;
    (void)size;
    table->adds = info->dlpi_adds;
    table->subs = info->dlpi_subs;
    if (table->count == LG__MODULES_MAX)
        return 1;
    struct lg__module_range module = { .start = UINT64_MAX, .bias = info->dlpi_addr };
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            if (start < module.start)
                module.start = start;
            if (start + header->p_memsz > module.end)
                module.end = start + header->p_memsz;
        } else if (header->p_type == PT_GNU_EH_FRAME) {
            find_search_table(&module, start);
        }
    }
    if (module.end == 0)
        return 0;
    uint32_t at = table->count++;
    for (; at > 0 && table->modules[at - 1].start > module.start; at--)
        table->modules[at] = table->modules[at - 1];
    table->modules[at] = module;
    if (scan->file)
        write_entry(scan->file, &module, info);
    return 0;
}

static void commit(struct lg__module_table *file)
{
    uint32_t crc = lg__crc32c(0, &file->generation, 3 * sizeof(uint32_t));
    crc = lg__crc32c(crc, file->entries, file->count * sizeof file->entries[0]);
    file->crc = lg__crc32c(crc, file->text, file->text_size);
    atomic_store_explicit(&file->commit, LG__COMMIT_MODULES, memory_order_release);
}

static int counts_only(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct table *counts = argument;
    (void)size;
    counts->adds = info->dlpi_adds;
    counts->subs = info->dlpi_subs;
    return 1;
}

void lg__modules_refresh(void)
{
    pthread_mutex_lock(&refreshing);
    const struct table *now = atomic_load(&published);
    static struct table counts; /* large; guarded by the mutex */
    if (now)
        dl_iterate_phdr(counts_only, &counts);
    if (!now || counts.adds != now->adds || counts.subs != now->subs) {
        struct table *next = now == &tables[0] ? &tables[1] : &tables[0];
        struct lg__module_table *files = lg__capture.options.run.modules;
        struct lg__module_table *file = files ? &files[++generation & 1] : NULL;
        next->count = 0;
        if (file) {
            atomic_store_explicit(&file->commit, 0, memory_order_relaxed);
            atomic_thread_fence(memory_order_release);
            file->generation = generation;
            file->count = file->text_size = file->omitted = 0;
        }
        struct scan scan = { next, file };
        dl_iterate_phdr(add_module, &scan);
        if (file)
            commit(file);
        atomic_store(&published, next);
    }
    pthread_mutex_unlock(&refreshing);
}

const struct lg__module_range *lg__modules_find(uint64_t address)
{
    const struct table *table = atomic_load(&published);
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
