/* A loaded module, described by its program headers in memory. */
#include <elf.h>
#include <link.h>

#include "walk/walk.h"
#include "store/crc32c.h"

#define NOTES_MAX 64u
#define ADDRESS_END (UINT64_C(1) << 56) /* of user space, on every CPU */
#define DYNAMIC_PARTS 64u /* of 16 entries */
#define CHAIN_MAX 1024u   /* symbols with one hash */
static_assert(sizeof(struct lg__image_room) == LG__IMAGE_HEADERS * sizeof(ElfW(Phdr)), "a program header has seven words");

uint32_t lg__image_crc(const void *bytes, size_t size)
{
    return lg__crc32c(0, bytes, size);
}

/* The build id among the notes of one segment. */
static bool find_build_id(uint64_t at, uint64_t end, lg__image_read read, struct lg__module_range *module)
{
    for (unsigned i = 0; i < NOTES_MAX && end - at >= sizeof(ElfW(Nhdr)); i++) {
        struct {
            ElfW(Nhdr) head;
            char owner[4];
            uint8_t id[LG__BUILD_ID_BYTES];
        } note;
        const size_t wanted = end - at < sizeof note ? (size_t)(end - at) : sizeof note, got = read(&note, at, wanted);
        if (got < sizeof note.head)
            return false;
        at += sizeof note.head;
        uint64_t name = ((uint64_t)note.head.n_namesz + 3) & ~UINT64_C(3), size = ((uint64_t)note.head.n_descsz + 3) & ~UINT64_C(3);
        if (name + size > end - at)
            return false;
        if (note.head.n_type == NT_GNU_BUILD_ID && note.head.n_namesz == 4 && got >= sizeof note.head + 4 && memcmp(note.owner, "GNU", 4) == 0) {
            uint32_t bytes = note.head.n_descsz < sizeof note.id ? note.head.n_descsz : (uint32_t)sizeof note.id;
            if (got < sizeof note.head + 4 + bytes)
                return false;
            module->id_address = at + name;
            module->id_size = bytes;
            module->id_crc = lg__image_crc(note.id, bytes);
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

/* Whole pages of 4 KiB between the segments so far and the next one. Larger pages reach into the
 * hole with bytes of the file, which are no code. */
static void add_hole(uint64_t next, struct lg__module_range *module)
{
    const uint64_t first = module->start / LG__PAGE, from = (module->end + LG__PAGE - 1) / LG__PAGE - first, to = next / LG__PAGE - first;
    if (module->end == 0 || next <= module->end || from >= to || to > UINT32_MAX)
        return;
    for (unsigned i = 0; i < LG__MODULE_HOLES; i++)
        if (module->holes[i].to == 0) {
            module->holes[i] = (struct lg__module_hole){ (uint32_t)from, (uint32_t)to };
            return;
        }
}

/* Segments are in the order of their addresses (ELF, program header). */
static void add_segment(const ElfW(Phdr) *header, uint64_t start, struct lg__module_range *module)
{
    uint64_t end = start + header->p_memsz;
    add_hole(start, module);
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

bool lg__image_describe(struct lg__image_room *room, uint64_t headers, size_t count, uint64_t bias, lg__image_read read,
                        struct lg__module_range *ret_module)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)room;
    const size_t size = count * sizeof *header;
    if (count > LG__IMAGE_HEADERS || read(room, headers, size) != size)
        return false;
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

uint32_t lg__image_build_id(uint64_t headers, size_t count, uint64_t bias, uint8_t ret_id[LG__BUILD_ID_BYTES])
{
    struct lg__module_range module = { .id_size = 0 };
    struct lg__image_room room;
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)&room;
    const size_t size = count * sizeof *header;
    if (count > LG__IMAGE_HEADERS || lg__memory_copy(&room, headers, size) != size)
        return 0;
    for (size_t i = 0; i < count && !module.id_size; i++) {
        const uint64_t start = bias + header[i].p_vaddr;
        if (header[i].p_type == PT_NOTE && start < ADDRESS_END && header[i].p_memsz < ADDRESS_END)
            find_build_id(start, start + header[i].p_memsz, lg__memory_copy, &module);
    }
    return (uint32_t)lg__memory_copy(ret_id, module.id_address, module.id_size);
}

#define NAME_MAX_BYTES 8192u

void lg__image_name(struct lg__image_name *ret_name, uint64_t at, lg__image_read read)
{
    const uint32_t step = 64, half = LG__IMAGE_NAME_BYTES / 2;
    ret_name->size = ret_name->crc = 0;
    ret_name->is_cut = false;
    for (uint64_t done = 0; done < NAME_MAX_BYTES; done += step) {
        if (ret_name->size + step > LG__IMAGE_NAME_BYTES) {
            memmove(ret_name->text, ret_name->text + half, half);
            ret_name->size = half;
            ret_name->is_cut = true;
        }
        char *to = ret_name->text + ret_name->size;
        const size_t size = read(to, at + done, step);
        const char *end = memchr(to, 0, size);
        const size_t used = end ? (size_t)(end - to) : size;
        ret_name->crc = lg__crc32c(ret_name->crc, to, used);
        ret_name->size += (uint32_t)used;
        if (end)
            return;
        if (size < step)
            break;
    }
    *ret_name = (struct lg__image_name){ .text = "" };
}

uint64_t lg__image_dynamic(uint64_t at, int64_t tag, lg__image_read read)
{
    ElfW(Dyn) entries[16];
    for (unsigned part = 0; at && part < DYNAMIC_PARTS; part++, at += sizeof entries) {
        const size_t size = read(entries, at, sizeof entries), count = size / sizeof entries[0];
        for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
            if (entries[i].d_tag == tag)
                return entries[i].d_un.d_ptr;
        if (size < sizeof entries)
            break;
    }
    return 0;
}

/* Find a symbol by the hash table of DT_GNU_HASH. The loader has made addresses of the offsets in
 * `dynamic`. */
uint64_t lg__image_symbol(const struct lg__module_range *module, const char *name, lg__image_read read, uint64_t *ret_size)
{
    struct {
        uint32_t buckets, first, bloom, shift;
    } head;
    const uint64_t table = lg__image_dynamic(module->dynamic, DT_GNU_HASH, read), symbols = lg__image_dynamic(module->dynamic, DT_SYMTAB, read),
                   names = lg__image_dynamic(module->dynamic, DT_STRTAB, read);
    char found[LG__SYMBOL_BYTES];
    const size_t size = strlen(name) + 1;
    uint32_t hash = 5381, index, other = 0;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (uint8_t)*at;
    if (size > sizeof found || !table || !symbols || !names || read(&head, table, sizeof head) != sizeof head || head.buckets == 0)
        return 0;
    const uint64_t buckets = table + sizeof head + (uint64_t)head.bloom * sizeof(uint64_t), chain = buckets + (uint64_t)head.buckets * sizeof index;
    if (read(&index, buckets + hash % head.buckets * sizeof index, sizeof index) != sizeof index || index < head.first)
        return 0;
    for (unsigned i = 0; i < CHAIN_MAX && !(other & 1); i++, index++) {
        ElfW(Sym) symbol;
        if (read(&other, chain + (uint64_t)(index - head.first) * sizeof other, sizeof other) != sizeof other)
            return 0;
        if ((other | 1) == (hash | 1) && read(&symbol, symbols + (uint64_t)index * sizeof symbol, sizeof symbol) == sizeof symbol &&
            symbol.st_shndx != SHN_UNDEF && read(found, names + symbol.st_name, size) == size && memcmp(found, name, size) == 0) {
            if (ret_size)
                *ret_size = symbol.st_size;
            return module->bias + symbol.st_value;
        }
    }
    return 0;
}
