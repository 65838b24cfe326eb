/* Modules that came or went since the last refresh, by the dynamic linker's list of them: the list
 * that debuggers read. The handler takes no lock for the list; another thread may be changing it.
 * So every pointer in the list may lead anywhere, every count has a bound, and a module of the list
 * is believed only as far as its own headers confirm it. */
#include <elf.h>
#include <link.h>

#include "walk/walk.h"

/* More than programs load. */
#define NODES_MAX 16384u
/* Modules in which the frames of a crash or of a snapshot lie: more than stacks have. */
#define FOUND_MAX 128u
static_assert(FOUND_MAX < LG__MODULES_MAX, "all of them have a place in the run file");

struct node {
    uint64_t address;
    struct link_map map;
    struct lg__image_name name;
};

/* State of each walker. */
static struct work {
    const struct lg__modules *in_use;
    uint32_t settled; /* lg__memory_age for which `in_use` was chosen */
    bool unwritten;   /* the table that was made is not in the run file */
    bool found_more;  /* since the last writing */
    uint64_t debug;   /* address of the loader's struct r_debug; 0: none, as in a static program */
    uint32_t found_count;
    struct node node;
    struct lg__modules *fresh;    /* made by this crash or snapshot, or by an earlier one */
    struct lg__modules tables[2]; /* `fresh`, and the one before */
    struct lg__module_range found[FOUND_MAX];
    struct lg__module_range other; /* found, when all places were taken */
} works[LG__WALKERS];

static bool worked LG__SMALL; /* any of them, so that there is something to forget */

void lg__loader_forget(void)
{
    if (!worked)
        return;
    worked = false;
    for (unsigned walker = 0; walker < LG__WALKERS; walker++) {
        works[walker].in_use = works[walker].fresh = NULL;
        works[walker].unwritten = false;
    }
}

/* ---- the list ---- */

static bool read_node(struct node *node, uint64_t at)
{
    node->address = at;
    if (lg__memory_read(&node->map, at, sizeof node->map) != sizeof node->map)
        return false;
    lg__image_name(&node->name, (uint64_t)(uintptr_t)node->map.l_name, lg__memory_read);
    return true;
}

static bool first_node(struct node *node)
{
    struct r_debug list;
    const uint64_t debug = works[lg__memory_walker].debug;
    return debug && lg__memory_read(&list, debug, sizeof list) == sizeof list && list.r_version >= 1 &&
           read_node(node, (uint64_t)(uintptr_t)list.r_map);
}

/* Each node names the one before it: a list that is damaged does not, and ends here. */
static bool next_node(struct node *node)
{
    const uint64_t before = node->address;
    return node->map.l_next && read_node(node, (uint64_t)(uintptr_t)node->map.l_next) && (uint64_t)(uintptr_t)node->map.l_prev == before;
}

/* ---- comparison ---- */

/* The build id of a module is in memory as it was. */
static bool has_its_id(const struct lg__module_range *module)
{
    uint8_t id[LG__BUILD_ID_BYTES];
    return lg__memory_read(id, module->id_address, module->id_size) == module->id_size && lg__image_crc(id, module->id_size) == module->id_crc;
}

/* The same module as the node's: address, place of the dynamic section, name, and build id. */
static const struct lg__module_range *known(const struct node *node, const struct lg__modules *table)
{
    const struct lg__module_range *module = lg__modules_search(table, (uint64_t)(uintptr_t)node->map.l_ld);
    const bool same = module && module->bias == node->map.l_addr && module->dynamic == (uint64_t)(uintptr_t)node->map.l_ld &&
                      module->name_crc == node->name.crc && has_its_id(module);
    return same ? module : NULL;
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
    const struct lg__executable *executable = &lg__modules_executable;
    return describe_by(executable->headers, executable->count, executable->bias, module);
}

static void find_list(struct work *work)
{
    struct lg__module_range program;
    if (!work->debug && describe_executable(&program))
        work->debug = lg__image_dynamic(program.dynamic, DT_DEBUG, lg__memory_read);
}

/* Describe a module by the program headers after the ELF header at its first page. */
static bool describe(const struct node *node, struct lg__module_range *module)
{
    ElfW(Ehdr) elf;
    uint64_t bias = node->map.l_addr, dynamic = (uint64_t)(uintptr_t)node->map.l_ld;
    if (bias == lg__modules_executable.bias && node->name.size == 0)
        return describe_executable(module);
    return lg__memory_read(&elf, bias, sizeof elf) == sizeof elf && memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
           elf.e_phentsize == sizeof(ElfW(Phdr)) && describe_by(bias + elf.e_phoff, elf.e_phnum, bias, module) && module->dynamic == dynamic;
}

static void add_listed(struct work *work, const struct lg__modules *before)
{
    struct node *node = &work->node;
    struct lg__module_range made;
    uint32_t count = 0;
    if (first_node(node)) {
        do {
            const struct lg__module_range *module = known(node, before);
            if (!module && describe(node, &made)) {
                made.name_crc = node->name.crc;
                made.name = (uint64_t)(uintptr_t)node->map.l_name;
                module = &made;
            }
            if (module)
                lg__modules_add(work->fresh, module);
        } while (++count < NODES_MAX && next_node(node));
    } else if (describe_executable(&made)) { /* a static program, or a list that is gone */
        lg__modules_add(work->fresh, &made);
    }
    lg__modules_sort(work->fresh);
}

/* A module that was unloaded is not in memory any more. One that the list lacks for another reason,
 * because the list is damaged, stays. */
static void add_unlisted(struct work *work, const struct lg__modules *before)
{
    for (uint32_t i = 0; before && i < before->count; i++) {
        const struct lg__module_range *module = &before->modules[i];
        const bool is_free = !lg__modules_search(work->fresh, module->start) && !lg__modules_search(work->fresh, module->end - 1);
        if (is_free && module->id_size && has_its_id(module))
            lg__modules_add(work->fresh, module);
    }
    lg__modules_sort(work->fresh);
}

static const struct lg__modules *make_fresh(struct work *work, const struct lg__modules *before)
{
    work->fresh = work->fresh == &work->tables[0] ? &work->tables[1] : &work->tables[0];
    work->unwritten = true;
    lg__modules_begin(work->fresh);
    add_listed(work, before);
    add_unlisted(work, before);
    return work->fresh;
}

/* A crash keeps refreshes away; a snapshot does not, and a table that was published before lives
 * only until the refresh after the next. */
static const struct lg__modules *keep(struct work *work, const struct lg__modules *table)
{
    if (lg__memory_walker == LG__WALKER_CRASH || table == work->fresh)
        return table;
    work->fresh = &work->tables[0];
    lg__modules_begin(work->fresh);
    for (uint32_t i = 0; i < table->count; i++)
        lg__modules_add(work->fresh, &table->modules[i]);
    lg__modules_sort(work->fresh);
    return work->fresh;
}

void lg__loader_settle(void)
{
    struct work *work = &works[lg__memory_walker];
    if (work->in_use && work->settled == lg__memory_age[lg__memory_walker])
        return;
    const struct lg__modules *table = lg__modules_published();
    if (!table)
        table = work->fresh;
    worked = true;
    find_list(work);
    work->settled = lg__memory_age[lg__memory_walker];
    work->in_use = NULL;
    work->found_count = 0;
    work->found_more = false;
    if (table && unchanged(&work->node, table)) {
        work->unwritten &= table == work->fresh;
        work->in_use = keep(work, table);
    } else {
        work->in_use = make_fresh(work, table);
    }
}

/* ---- questions ---- */

static const struct lg__module_range *among_found(const struct work *work, uint64_t address)
{
    for (uint32_t i = 0; i < work->found_count; i++)
        if (lg__image_holds(&work->found[i], address))
            return &work->found[i];
    return NULL;
}

static const struct lg__module_range *keep_found(struct work *work, const struct lg__module_range *module)
{
    struct lg__module_range *place = work->found_count < FOUND_MAX ? &work->found[work->found_count++] : &work->other;
    *place = *module;
    work->found_more = true;
    return place;
}

static bool is_settled(const struct work *work)
{
    return work->settled == lg__memory_age[lg__memory_walker] && work->in_use;
}

static const struct lg__module_range *listed(const struct work *work, uint64_t address)
{
    if (!is_settled(work))
        return lg__modules_search(lg__modules_published(), address);
    const struct lg__module_range *module = among_found(work, address);
    return module ? module : lg__modules_search(work->in_use, address);
}

const struct lg__module_range *lg__loader_find(uint64_t address)
{
    struct work *work = &works[lg__memory_walker];
    struct lg__module_range made;
    const struct lg__module_range *module = listed(work, address);
    if (!is_settled(work) || among_found(work, address))
        return module;
    if (!module && lg__mapped_describe(address, &made)) {
        module = &made;
        work->unwritten = true;
    }
    return module ? keep_found(work, module) : NULL;
}

void lg__loader_write(bool urgent)
{
    struct work *work = &works[lg__memory_walker];
    if (work->in_use && (work->unwritten || (work->found_more && lg__modules_are_omitted())))
        lg__modules_write(work->in_use, work->found, work->found_count, urgent, lg__memory_read);
    work->unwritten = work->found_more = false;
}

static bool is_code_of(const struct lg__module_range *module, uint64_t address)
{
    return module && address >= module->code_start && address < module->code_end;
}

bool lg__loader_has_code(uint64_t address)
{
    return address && is_code_of(lg__loader_find(address), address);
}

bool lg__loader_lists_code(uint64_t address)
{
    return is_code_of(listed(&works[lg__memory_walker], address), address);
}

const struct lg__module_range *lg__loader_module(uint32_t index)
{
    const struct work *work = &works[lg__memory_walker];
    const struct lg__modules *table = is_settled(work) ? work->in_use : lg__modules_published();
    return table && index < table->count ? &table->modules[index] : NULL;
}
