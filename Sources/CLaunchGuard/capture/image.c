/* A loaded module, described by its program headers in memory. */
#include <elf.h>
#include <link.h>

#include "capture/internal.h"
#include "store/crc32c.h"

#define NOTES_MAX 64u
#define ADDRESS_END (UINT64_C(1) << 56) /* of user space, on every CPU */

size_t lg__image_copy(void *to, uint64_t from, size_t size)
{
    memcpy(to, (const void *)(uintptr_t)from, size);
    return size;
}

uint32_t lg__image_crc(const void *bytes, size_t size)
{
    return lg__crc32c(0, bytes, size);
}

/* The build id among the notes of one segment. */
static bool find_build_id(uint64_t at, uint64_t end, lg__image_read read, struct lg__module_range *module)
{
    for (unsigned i = 0; i < NOTES_MAX && end - at >= sizeof(ElfW(Nhdr)); i++) {
        ElfW(Nhdr) note;
        char owner[4];
        uint8_t id[LG__BUILD_ID_BYTES];
        if (read(&note, at, sizeof note) != sizeof note)
            return false;
        at += sizeof note;
        uint64_t name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3), size = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name + size > end - at)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && read(owner, at, 4) == 4 && memcmp(owner, "GNU", 4) == 0) {
            uint32_t bytes = note.n_descsz < sizeof id ? note.n_descsz : (uint32_t)sizeof id;
            if (read(id, at + name, bytes) != bytes)
                return false;
            module->id_address = at + name;
            module->id_size = bytes;
            module->id_crc = lg__image_crc(id, bytes);
            return true;
        }
        at += name + size;
    }
    return false;
}

/* The search table of a PT_GNU_EH_FRAME in the one encoding that linkers write (LSB core, 10.6.2):
 * version 1, pointer to .eh_frame as 32 bits relative to its place, count as 32 bits, table as
 * sorted pairs of 32 bits relative to the header. */
static void find_search_table(uint64_t at, lg__image_read read, struct lg__module_range *module)
{
    uint8_t header[12];
    uint32_t count;
    if (at < module->tables_start || at >= module->tables_end || module->tables_end - at < sizeof header ||
        read(header, at, sizeof header) != sizeof header)
        return;
    if (header[0] != 1 || header[1] != 0x1b || header[2] != 0x03 || header[3] != 0x3b)
        return;
    memcpy(&count, header + 8, sizeof count);
    if (count > (module->tables_end - at - sizeof header) / 8)
        return;
    module->frame_header = at;
    module->table = at + sizeof header;
    module->table_count = count;
}

static void add_segment(const ElfW(Phdr) *header, uint64_t start, struct lg__module_range *module)
{
    uint64_t end = start + header->p_memsz;
    if (start < module->start)
        module->start = start;
    if (end > module->end)
        module->end = end;
    if (header->p_flags & PF_X) {
        if (module->code_end == 0 || start < module->code_start)
            module->code_start = start;
        if (end > module->code_end)
            module->code_end = end;
    }
}

bool lg__image_describe(const void *headers, size_t count, uint64_t bias, lg__image_read read, struct lg__module_range *ret_module)
{
    const ElfW(Phdr) *header = headers;
    struct lg__module_range module = { .start = UINT64_MAX, .bias = bias };
    uint64_t tables = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t start = bias + header[i].p_vaddr;
        if (start >= ADDRESS_END || header[i].p_memsz >= ADDRESS_END)
            continue;
        if (header[i].p_type == PT_LOAD)
            add_segment(&header[i], start, &module);
        else if (header[i].p_type == PT_GNU_EH_FRAME)
            tables = start;
        else if (header[i].p_type == PT_DYNAMIC)
            module.dynamic = start;
    }
    if (module.end == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t start = bias + header[i].p_vaddr, end = start + header[i].p_memsz;
        if (start < module.start || end > module.end || end < start)
            continue;
        if (header[i].p_type == PT_NOTE && module.id_size == 0)
            find_build_id(start, end, read, &module);
        else if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_R && tables >= start && tables < start + header[i].p_filesz) {
            module.tables_start = start;
            module.tables_end = start + header[i].p_filesz;
        }
    }
    if (tables)
        find_search_table(tables, read, &module);
    *ret_module = module;
    return true;
}

uint32_t lg__capture_build_id(const void *headers, size_t count, uint64_t bias, uint8_t ret_id[LG__BUILD_ID_BYTES])
{
    struct lg__module_range module;
    if (!lg__image_describe(headers, count, bias, lg__image_copy, &module))
        return 0;
    memcpy(ret_id, (const void *)(uintptr_t)module.id_address, module.id_size);
    return module.id_size;
}
