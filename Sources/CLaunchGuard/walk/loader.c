/* Modules that came or went since the last refresh, by the dynamic linker's list of them: the list
 * that debuggers read. The handler takes no lock for the list; another thread may be changing it.
 * So every pointer in the list may lead anywhere, every count has a bound, and a module of the list
 * is believed only as far as its own headers confirm it. */
#include <elf.h>
#include <link.h>

#include "walk/walk.h"

#define NODES_MAX 1024u

static uint64_t debug; /* address of the loader's struct r_debug; 0: none, as in a static program */
static uint64_t executable_headers; /* address; 0: they cannot be read */
static size_t executable_count;
static uint64_t executable_bias;

struct node {
    struct link_map map;
    char name[LG__IMAGE_NAME_BYTES];
    uint32_t name_crc;
};

/* State of each walker. */
static struct work {
    const struct lg__modules *in_use;
    uint32_t settled; /* lg__memory_age for which `in_use` was chosen */
    bool unwritten;   /* `fresh` is not in the run file */
    struct node node;
    struct lg__modules fresh; /* made by the crash or the snapshot under way */
} works[LG__WALKERS];

void lg__loader_forget(void)
{
    for (unsigned walker = 0; walker < LG__WALKERS; walker++) {
        works[walker].in_use = NULL;
        works[walker].unwritten = false;
        works[walker].fresh.count = 0;
    }
}

void lg__loader_prepare(void)
{
    lg__memory_touch(&works[LG__WALKER_CRASH], offsetof(struct work, fresh.modules));
    executable_headers = (uint64_t)(uintptr_t)lg__os_program_headers(&executable_count, &executable_bias);
    struct lg__image_room room;
    struct lg__module_range executable;
    if (executable_headers &&
        lg__image_describe(&room, executable_headers, executable_count, executable_bias, lg__memory_copy, &executable))
        debug = lg__image_dynamic(executable.dynamic, DT_DEBUG, lg__memory_copy);
}

/* ---- the list ---- */

static bool read_node(struct node *node, uint64_t at)
{
    if (lg__memory_read(&node->map, at, sizeof node->map) != sizeof node->map)
        return false;
    node->name_crc = lg__image_crc(node->name, lg__image_name(node->name, (uint64_t)(uintptr_t)node->map.l_name, lg__memory_read));
    return true;
}

static bool first_node(struct node *node)
{
    struct r_debug list;
    return debug && lg__memory_read(&list, debug, sizeof list) == sizeof list && list.r_version >= 1 &&
           read_node(node, (uint64_t)(uintptr_t)list.r_map);
}

static bool next_node(struct node *node)
{
    return node->map.l_next && read_node(node, (uint64_t)(uintptr_t)node->map.l_next);
}

/* ---- comparison ---- */

/* The same module as the node's: address, place of the dynamic section, name, and build id as it is
 * in memory now. */
static const struct lg__module_range *known(const struct node *node, const struct lg__modules *table)
{
    uint8_t id[LG__BUILD_ID_BYTES];
    const struct lg__module_range *module = lg__modules_search(table, (uint64_t)(uintptr_t)node->map.l_ld);
    if (!module || module->bias != node->map.l_addr || module->dynamic != (uint64_t)(uintptr_t)node->map.l_ld ||
        module->name_crc != node->name_crc)
        return NULL;
    if (module->id_size && (lg__memory_read(id, module->id_address, module->id_size) != module->id_size ||
                            lg__image_crc(id, module->id_size) != module->id_crc))
        return NULL;
    return module;
}

/* Whether the table agrees with the list. A list that cannot be read shows nothing. */
static bool unchanged(struct node *node, const struct lg__modules *table)
{
    uint32_t count = 0;
    if (!first_node(node))
        return true;
    do {
        if (!known(node, table))
            return false;
        count++;
    } while (count < NODES_MAX && next_node(node));
    return count == table->count;
}

/* ---- a fresh table ---- */

static bool describe_by(uint64_t headers, size_t count, uint64_t bias, struct lg__module_range *module)
{
    static struct lg__image_room rooms[LG__WALKERS];
    return headers && lg__image_describe(&rooms[lg__memory_walker], headers, count, bias, lg__memory_read, module);
}

static bool describe_executable(struct lg__module_range *module)
{
    return describe_by(executable_headers, executable_count, executable_bias, module);
}

/* Describe a module by the program headers after the ELF header at its first page. */
static bool describe(const struct node *node, struct lg__module_range *module)
{
    ElfW(Ehdr) elf;
    uint64_t bias = node->map.l_addr, dynamic = (uint64_t)(uintptr_t)node->map.l_ld;
    if (bias == executable_bias && !node->name[0])
        return describe_executable(module);
    return lg__memory_read(&elf, bias, sizeof elf) == sizeof elf && memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
           elf.e_phentsize == sizeof(ElfW(Phdr)) && describe_by(bias + elf.e_phoff, elf.e_phnum, bias, module) && module->dynamic == dynamic;
}

static void make_fresh(struct work *work, const struct lg__modules *table)
{
    struct node *node = &work->node;
    struct lg__module_range made;
    uint32_t count = 0;
    /* the new table may describe its modules anew */
    const struct lg__modules *before = table == &work->fresh ? NULL : table;
    work->fresh.count = 0;
    work->unwritten = true;
    if (first_node(node)) {
        do {
            const struct lg__module_range *module = known(node, before);
            if (!module && describe(node, &made)) {
                made.name_crc = node->name_crc;
                module = &made;
            }
            if (module)
                lg__modules_insert(&work->fresh, module);
        } while (++count < NODES_MAX && next_node(node));
    } else if (describe_executable(&made)) {
        lg__modules_insert(&work->fresh, &made); /* a static program */
    }
}

static void write_module(struct lg__module_table *file, const struct lg__module_range *module, const char *name)
{
    if (module)
        lg__modules_file_add(file, module, name, lg__memory_read);
    else
        file->omitted++;
}

void lg__loader_write(bool urgent)
{
    struct work *work = &works[lg__memory_walker];
    struct node *node = &work->node;
    uint32_t count = 0;
    struct lg__module_table *file = work->unwritten ? lg__modules_file_begin(urgent) : NULL;
    work->unwritten = false;
    if (!file)
        return;
    if (first_node(node)) {
        do
            write_module(file, known(node, &work->fresh), node->name);
        while (++count < NODES_MAX && next_node(node));
    } else if (executable_headers) { /* a static program */
        write_module(file, work->fresh.count ? work->fresh.modules : NULL, "");
    }
    lg__modules_file_commit(file, urgent);
}

/* A crash keeps refreshes away; a snapshot does not, and a table that was published before lives
 * only until the refresh after the next. */
static const struct lg__modules *keep(struct work *work, const struct lg__modules *table)
{
    if (lg__memory_walker == LG__WALKER_CRASH || table == &work->fresh)
        return table;
    work->fresh.count = table->count <= LG__MODULES_MAX ? table->count : 0;
    memcpy(work->fresh.modules, table->modules, work->fresh.count * sizeof table->modules[0]);
    return &work->fresh;
}

void lg__loader_settle(void)
{
    struct work *work = &works[lg__memory_walker];
    if (work->in_use && work->settled == lg__memory_age[lg__memory_walker])
        return;
    const struct lg__modules *table = lg__modules_published();
    if (!table && work->fresh.count)
        table = &work->fresh;
    work->settled = lg__memory_age[lg__memory_walker];
    if (table && unchanged(&work->node, table)) {
        work->unwritten &= table == &work->fresh;
        work->in_use = keep(work, table);
    } else {
        make_fresh(work, table);
        work->in_use = &work->fresh;
    }
}

static const struct lg__modules *table_in_use(void)
{
    const struct work *work = &works[lg__memory_walker];
    return work->settled == lg__memory_age[lg__memory_walker] && work->in_use ? work->in_use : lg__modules_published();
}

const struct lg__module_range *lg__loader_find(uint64_t address)
{
    return lg__modules_search(table_in_use(), address);
}

bool lg__loader_has_code(uint64_t address)
{
    const struct lg__module_range *module = address ? lg__loader_find(address) : NULL;
    return module && address >= module->code_start && address < module->code_end;
}

const struct lg__module_range *lg__loader_module(uint32_t index)
{
    const struct lg__modules *table = table_in_use();
    return table && index < table->count ? &table->modules[index] : NULL;
}
