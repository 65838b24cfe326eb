/* Code that is loaded: modules and functions. On an ordinary thread. */
#include "os/os.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct walk {
    void (*each)(const char *path, uint64_t start, uint64_t end, void *argument);
    void *argument;
};

/* The name of the program is empty; musl gives that of a static program as this link. */
static const char *name_of(const struct dl_phdr_info *info)
{
    return info->dlpi_name && strcmp(info->dlpi_name, "/proc/self/exe") != 0 ? info->dlpi_name : "";
}

static int walk_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    const struct walk *walk = argument;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && header->p_flags & PF_X)
            walk->each(name_of(info), start, start + header->p_memsz, walk->argument);
    }
    return 0;
}

void lg__os_each_code(void (*each)(const char *path, uint64_t start, uint64_t end, void *argument), void *argument)
{
    struct walk walk = { each, argument };
    dl_iterate_phdr(walk_module, &walk);
}

uint64_t lg__os_function_bytes(const void *function)
{
#ifdef __GLIBC__ /* musl has no dladdr1() */
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (dladdr1(function, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) && symbol && info.dli_saddr == function && symbol->st_size)
        return symbol->st_size;
#else
    (void)function;
#endif
    return 1;
}
