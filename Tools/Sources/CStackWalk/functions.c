#include "internal.h"

#include <stdlib.h>

enum { FUNCTIONS_MAX = 32 };

/* The unit that covers an address: gcc writes a table of them, and clang does not. */
static bool find_unit(void *dwarf, uint64_t address, libdw_die *ret_unit)
{
    uint64_t offset = 0, next;
    size_t header;
    for (; libdw.dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0 && next > offset; offset = next)
        if (libdw.dwarf_offdie(dwarf, offset + header, ret_unit) && libdw.dwarf_haspc(ret_unit, address) == 1)
            return true;
    return false;
}

static struct stack_walk_functions functions_at(void *dwarf, uint64_t address)
{
    struct stack_walk_functions functions = { 0 };
    libdw_die unit, *scopes = NULL, *outer = NULL;
    if (!find_unit(dwarf, address, &unit) || libdw.dwarf_getscopes(&unit, address, &scopes) <= 0)
        return functions;
    /* After an inlined function the first list has the place of its text, the second its caller. */
    int count = libdw.dwarf_getscopes_die(scopes, &outer);
    for (int i = 0; i < count && functions.count < FUNCTIONS_MAX; i++) {
        int tag = libdw.dwarf_tag(&outer[i]);
        if (tag != LIBDW_TAG_SUBPROGRAM && tag != LIBDW_TAG_INLINED)
            continue;
        if (libdw.dwarf_hasattr_integrate(&outer[i], LIBDW_AT_NORETURN) == 1)
            functions.noreturn |= UINT32_C(1) << functions.count;
        functions.count++;
    }
    free(outer);
    free(scopes);
    return functions;
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
