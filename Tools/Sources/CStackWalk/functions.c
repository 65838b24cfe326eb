#include "internal.h"

enum { FUNCTIONS_MAX = 32, DEPTH_MAX = 128, ENTRIES_MAX = 1 << 22 };

struct search {
    uint64_t address;
    uint32_t entries; /* seen: a damaged file may have rings of them */
    struct stack_walk_functions found;
};

/* What may have functions in it and has no code of its own. */
static bool is_scope(int tag)
{
    return tag == LIBDW_TAG_NAMESPACE || tag == LIBDW_TAG_MODULE || tag == LIBDW_TAG_STRUCTURE || tag == LIBDW_TAG_CLASS || tag == LIBDW_TAG_ENUMERATION;
}

/* The functions in an entry that have the address, the innermost first. dwarf_getscopes() leaves
 * out namespaces. */
static void search_in(libdw_die *entry, struct search *search, unsigned depth)
{
    libdw_die child;
    if (depth == DEPTH_MAX || libdw.dwarf_child(entry, &child) != 0)
        return;
    do {
        int tag = libdw.dwarf_tag(&child);
        bool is_there = !is_scope(tag) && libdw.dwarf_haspc(&child, search->address) == 1;
        if (!is_there && !is_scope(tag))
            continue;
        search_in(&child, search, depth + 1);
        if (is_there && (tag == LIBDW_TAG_SUBPROGRAM || tag == LIBDW_TAG_INLINED) && search->found.count < FUNCTIONS_MAX) {
            if (libdw.dwarf_hasattr_integrate(&child, LIBDW_AT_NORETURN) == 1)
                search->found.noreturn |= UINT32_C(1) << search->found.count;
            search->found.count++;
        }
        if (search->found.count > 0)
            return;
    } while (++search->entries < ENTRIES_MAX && libdw.dwarf_siblingof(&child, &child) == 0);
}

/* gcc writes a table of the units' addresses, and clang does not. */
static struct stack_walk_functions functions_at(void *dwarf, uint64_t address)
{
    struct search search = { .address = address };
    uint64_t offset = 0, next;
    size_t header;
    libdw_die unit;
    for (; libdw.dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0 && next > offset; offset = next) {
        if (!libdw.dwarf_offdie(dwarf, offset + header, &unit) || libdw.dwarf_haspc(&unit, address) != 1)
            continue;
        search_in(&unit, &search, 0);
        break;
    }
    return search.found;
}

bool stack_walk_find_functions(const char *path, const uint64_t *addresses, size_t count, struct stack_walk_functions *ret_functions)
{
    struct module_file file;
    if (!libdw_load() || !module_file_open(&file, path))
        return false;
    for (size_t i = 0; i < count; i++)
        ret_functions[i] = file.dwarf ? functions_at(file.dwarf, addresses[i]) : (struct stack_walk_functions){ 0 };
    module_file_close(&file);
    return true;
}
