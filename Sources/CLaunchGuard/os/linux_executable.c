/* The operating system: the file of the program, and its program headers. */
#include "os/os.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The program was given to the loader as an argument: /proc/self/exe is the loader then. */
static bool is_started_by_loader(void)
{
    size_t count;
    uint64_t bias;
    const ElfW(Phdr) *headers = getauxval(AT_BASE) ? NULL : lg__os_program_headers(&count, &bias);
    for (size_t i = 0; headers && i < count; i++)
        if (headers[i].p_type == PT_INTERP)
            return true;
    return false;
}

__attribute__((noinline)) static void find_executable(char *path, size_t size)
{
    struct lg__os_mapping mapping;
    if (!is_started_by_loader() || !lg__os_mapping_at(getauxval(AT_PHDR), &mapping) || !mapping.file_low) {
        const ssize_t count = readlink("/proc/self/exe", mapping.name, sizeof mapping.name - 1);
        mapping.name[count < 0 ? 0 : count] = 0;
    }
    lg__os_path_end(path, size, mapping.name);
}

void lg__os_executable(char *path, size_t size)
{
    /* most paths fit, and need no other room */
    const ssize_t count = is_started_by_loader() ? -1 : readlink("/proc/self/exe", path, size);
    if (count >= 0 && (size_t)count < size)
        path[count] = 0;
    else
        find_executable(path, size);
}

const void *lg__os_program_headers(size_t *ret_count, uint64_t *ret_bias)
{
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = getauxval(AT_PHNUM);
    /* the file may have been cut */
    const uint64_t first = (uint64_t)(uintptr_t)headers, last = (uint64_t)(uintptr_t)(headers + count) - 8;
    if (!headers || lg__os_readable(first) == 0 || (first / LG__PAGE != last / LG__PAGE && lg__os_readable(last) == 0))
        return NULL;
    *ret_bias = 0;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_PHDR) {
            *ret_bias = (uint64_t)(uintptr_t)headers - headers[i].p_vaddr;
            break;
        } else if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0) {
            /* A static position-independent program has no PT_PHDR. There the headers follow the
             * file's, as linkers lay them out. */
            *ret_bias = (uint64_t)(uintptr_t)headers - sizeof(ElfW(Ehdr)) - headers[i].p_vaddr;
        }
    *ret_count = count;
    return headers;
}
