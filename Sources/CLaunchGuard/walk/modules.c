/* Tables of modules. One is made on an ordinary thread, published whole, and read in the handler
 * without a lock; the handler makes its own. */
#include <link.h>
#include <pthread.h>

#include "walk/walk.h"
#include "store/crc32c.h"

/* Two tables in turn. The handler reads the published one; a refresh writes the other. */
static struct lg__modules tables[2];
static _Atomic(const struct lg__modules *) published;
static _Atomic uint32_t generation; /* of the run file's newest table */
/* The two tables of the run file; NULL: it has none. */
static struct lg__module_table *files LG__SMALL;
static _Atomic uint32_t writing; /* the table that a writer that is not urgent writes, plus one */
static _Atomic bool are_omitted LG__SMALL;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct lg__image_name executable;
struct lg__executable lg__modules_executable LG__SMALL;

/* ---- tables ---- */

void lg__modules_begin(struct lg__modules *table)
{
    table->count = table->added = table->omitted = 0;
}

/* The memory of the smaller table stays: another thread may read it. All of them together are as
 * large as the last one. */
static bool grow(struct lg__modules *table)
{
    const uint32_t room = table->room ? 2 * table->room : LG__MODULES_FEW;
    struct lg__module_range *modules = table->room ? lg__os_pages_new(room * sizeof *modules) : table->few;
    if (!modules)
        return false;
    if (table->room)
        memcpy(modules, table->modules, table->room * sizeof *modules);
    table->modules = modules;
    table->room = room;
    return true;
}

void lg__modules_add(struct lg__modules *table, const struct lg__module_range *module)
{
    if (table->added < table->room || grow(table))
        table->modules[table->added++] = *module;
    else
        table->omitted++;
}

/* By Shell's method: most rows are in order already, in one direction or the other. */
void lg__modules_sort(struct lg__modules *table)
{
    struct lg__module_range *rows = table->modules;
    uint32_t gap = 1;
    while (gap < table->added / 3)
        gap = 3 * gap + 1;
    for (; gap; gap /= 3)
        for (uint32_t i = gap; i < table->added; i++) {
            const struct lg__module_range row = rows[i];
            uint32_t at = i;
            for (; at >= gap && rows[at - gap].start > row.start; at -= gap)
                rows[at] = rows[at - gap];
            rows[at] = row;
        }
    for (uint32_t i = 0; i < table->added; i++)
        rows[i].reach = i && rows[i - 1].reach > rows[i].end ? rows[i - 1].reach : rows[i].end;
    table->count = table->added;
}

/* Modules may lie in the holes of others: from the last one that starts below the address back, as
 * long as an earlier one reaches it. */
const struct lg__module_range *lg__modules_search(const struct lg__modules *table, uint64_t address)
{
    uint32_t low = 0, high = table ? table->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (address < table->modules[middle].start)
            high = middle;
        else
            low = middle + 1;
    }
    for (; low && table->modules[low - 1].reach > address; low--)
        if (lg__image_holds(&table->modules[low - 1], address))
            return &table->modules[low - 1];
    return NULL;
}

const struct lg__modules *lg__modules_published(void)
{
    return atomic_load(&published);
}

/* ---- the run file ---- */

/* The urgent writer takes the table that the other one does not write. That one may hold the newest
 * whole table: the urgent one will be newer. */
static struct lg__module_table *begin_file(bool urgent)
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
    return file;
}

/* What is written. These numbers are not read back from the file: a wild pointer of the program may
 * hit it. */
struct output {
    struct lg__module_table *file;
    lg__image_read read;
    uint32_t count, text_size, omitted;
};

static bool is_executable(const struct lg__module_range *module)
{
    return lg__image_holds(module, lg__modules_executable.headers);
}

static void add_to_file(struct output *output, const struct lg__module_range *module, uint32_t path_most, bool has_frames)
{
    struct lg__image_name read_name;
    const struct lg__image_name *name = &executable;
    if (!is_executable(module)) {
        name = &read_name;
        lg__image_name(&read_name, module->name, output->read);
        /* the loader's list is damaged, or the module is gone */
        if (read_name.crc != module->name_crc)
            read_name.size = 0;
    }
    if (output->count == LG__MODULES_MAX || (!has_frames && name->size > path_most)) {
        output->omitted++;
        return;
    }
    const uint32_t size = name->size < path_most ? name->size : path_most;
    const size_t mark = name->is_cut || size < name->size ? strlen(LG__CUT) : 0;
    struct lg__module_entry *entry = &output->file->entries[output->count++];
    memset(entry, 0, sizeof *entry);
    entry->start = module->start;
    entry->end = module->end;
    entry->bias = module->bias;
    entry->path_offset = output->text_size;
    entry->path_size = (uint16_t)size;
    entry->has_frames = has_frames;
    entry->build_id_size = (uint8_t)output->read(entry->build_id, module->id_address, module->id_size);
    char *to = output->file->text + output->text_size;
    memcpy(to, name->text + name->size - size, size);
    memcpy(to, LG__CUT, mark);
    output->text_size += size;
}

static uint32_t text_room(const struct output *output)
{
    const uint32_t room = LG__MODULES_TEXT_BYTES - output->text_size;
    return room < LG__IMAGE_NAME_BYTES ? room : LG__IMAGE_NAME_BYTES - 1;
}

static void commit_file(const struct output *output, bool urgent)
{
    struct lg__module_table *file = output->file;
    file->count = output->count;
    file->text_size = output->text_size;
    file->omitted = output->omitted;
    uint32_t crc = lg__crc32c(0, &file->generation, 4 * sizeof(uint32_t));
    crc = lg__crc32c(crc, file->entries, output->count * sizeof file->entries[0]);
    file->crc = lg__crc32c(crc, file->text, output->text_size);
    atomic_store_explicit(&file->commit, LG__COMMIT_MODULES, memory_order_release);
    atomic_store(&are_omitted, output->omitted);
    if (!urgent)
        atomic_store(&writing, 0);
}

static bool is_in_file(const struct output *output, const struct lg__module_range *module)
{
    for (uint32_t i = 0; i < output->count; i++)
        if (output->file->entries[i].start == module->start)
            return true;
    return false;
}

/* The modules of earlier frames: those of a snapshot, where a crash writes now. Of the table before
 * only the places are used, and looked up: a wild pointer of the program may have hit it. */
static void add_earlier(struct output *output, const struct lg__modules *table)
{
    const struct lg__module_table *before = output->file == &files[0] ? &files[1] : &files[0];
    for (uint32_t i = 0; i < LG__MODULES_MAX && i < before->count; i++) {
        const struct lg__module_range *module = before->entries[i].has_frames ? lg__modules_search(table, before->entries[i].start) : NULL;
        if (module && !is_in_file(output, module))
            add_to_file(output, module, text_room(output), true);
    }
}

void lg__modules_write(const struct lg__modules *table, const struct lg__module_range *first, uint32_t count, bool urgent, lg__image_read read)
{
    struct output output = { .file = begin_file(urgent), .read = read, .omitted = table->omitted };
    const struct lg__module_range *program = lg__modules_search(table, lg__modules_executable.headers);
    if (!output.file)
        return;
    if (program)
        add_to_file(&output, program, text_room(&output), true);
    for (uint32_t i = 0; i < count; i++) {
        /* each of them has its share of the text */
        const uint32_t share = (LG__MODULES_TEXT_BYTES - output.text_size) / (count - i), room = text_room(&output);
        if (!is_executable(&first[i]))
            add_to_file(&output, &first[i], share < room ? share : room, true);
    }
    add_earlier(&output, table);
    for (uint32_t i = 0; i < table->count; i++)
        if (!is_in_file(&output, &table->modules[i]))
            add_to_file(&output, &table->modules[i], text_room(&output), false);
    commit_file(&output, urgent);
}

bool lg__modules_are_omitted(void)
{
    return atomic_load(&are_omitted);
}

/* ---- refresh ---- */

static int add_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct lg__modules *table = argument;
    struct lg__image_room room;
    struct lg__image_name name;
    struct lg__module_range module;
    (void)size;
    table->adds = info->dlpi_adds;
    table->subs = info->dlpi_subs;
    if (!lg__image_describe(&room, (uint64_t)(uintptr_t)info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, lg__memory_copy, &module))
        return 0;
    module.name = (uint64_t)(uintptr_t)info->dlpi_name;
    lg__image_name(&name, module.name, lg__memory_copy);
    module.name_crc = name.crc;
    lg__modules_add(table, &module);
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
    lg__modules_begin(next);
    dl_iterate_phdr(add_module, next);
    lg__modules_sort(next);
    if (!is_in_use())
        lg__modules_write(next, NULL, 0, false, lg__memory_copy);
    atomic_store(&published, next);
}

void lg__modules_prepare(struct lg__module_table *of_run)
{
    files = of_run;
    atomic_store(&are_omitted, false);
}

void lg__modules_find_executable(void)
{
    if (executable.size)
        return; /* a forked child has that of its parent */
    lg__os_executable(executable.text, sizeof executable.text);
    executable.size = (uint32_t)strlen(executable.text);
    struct lg__executable *found = &lg__modules_executable;
    found->path = executable.text;
    found->headers = (uint64_t)(uintptr_t)lg__os_program_headers(&found->count, &found->bias);
    if (found->headers)
        found->build_id_size = lg__image_build_id(found->headers, found->count, found->bias, found->build_id);
}

void lg__modules_refresh(bool (*is_in_use)(void))
{
    pthread_mutex_lock(&mutex);
    if (!is_in_use())
        refresh(is_in_use);
    pthread_mutex_unlock(&mutex);
}
