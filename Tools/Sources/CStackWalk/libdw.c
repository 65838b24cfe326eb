#include "libdw.h"

#include <dlfcn.h>
#include <string.h>

struct libdw libdw;

static bool find(void *library, const char *name, void *ret_function)
{
    void *function = dlsym(library, name);
    memcpy(ret_function, &function, sizeof function);
    return function;
}

bool libdw_load(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name) find(library, #name, &libdw.name)
    return library && FIND(elf_version) && FIND(elf_begin) && FIND(elf_end) && FIND(dwarf_begin_elf) && FIND(dwarf_end) && FIND(dwarf_getcfi) &&
           FIND(dwarf_getcfi_elf) && FIND(dwarf_cfi_end) && FIND(dwarf_cfi_addrframe) && FIND(dwarf_frame_info) && FIND(dwarf_frame_cfa) &&
           FIND(dwarf_frame_register) && FIND(dwarf_nextcu) && FIND(dwarf_offdie) && FIND(dwarf_haspc) && FIND(dwarf_child) &&
           FIND(dwarf_siblingof) && FIND(dwarf_tag) && FIND(dwarf_hasattr_integrate) && libdw.elf_version(LIBDW_EV_CURRENT) != 0;
}
