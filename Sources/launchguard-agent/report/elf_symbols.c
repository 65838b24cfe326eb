#include "report/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 65536u
#define SEGMENTS_MAX 256u
#define NOTES_MAX 65536u
#define BUILD_ID_MAX 32u
#define CHUNK 2048u /* symbols */
#define NAME_MAX_BYTES 1024u

#define STT_GNU_FUNCTION 10 /* STT_GNU_IFUNC: the function that chooses one */

static bool read_at(int file, uint64_t offset, void *to, size_t size)
{
    return offset <= INT64_MAX && pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

/* ---- the right file ---- */

static bool is_elf(int file, Elf64_Ehdr *ret_header)
{
    return read_at(file, 0, ret_header, sizeof *ret_header) && memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 &&
           ret_header->e_ident[EI_CLASS] == ELFCLASS64 && ret_header->e_ident[EI_DATA] == ELFDATA2LSB;
}

static bool is_id(const uint8_t *bytes, size_t size, const char *digits)
{
    char text[2 * BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < size && i < BUILD_ID_MAX; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return size <= BUILD_ID_MAX && strcmp(text, digits) == 0;
}

/* A note: three numbers, then its name and its contents, each up to a multiple of four. */
static bool notes_have_id(const uint8_t *notes, size_t size, const char *digits)
{
    for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        const size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3, contents = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > size - at || contents > size - at - name)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + at, "GNU", 4) == 0)
            return is_id(notes + at + name, note.n_descsz, digits);
        at += name + contents;
    }
    return false;
}

static bool has_build_id(int file, const Elf64_Ehdr *header, const char *digits)
{
    Elf64_Phdr segment;
    if (header->e_phentsize != sizeof segment)
        return false;
    for (uint32_t i = 0; i < header->e_phnum && i < SEGMENTS_MAX; i++) {
        if (!read_at(file, header->e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (segment.p_type != PT_NOTE || segment.p_filesz > NOTES_MAX)
            continue;
        uint8_t *notes = malloc(segment.p_filesz + 1);
        const bool has = notes && read_at(file, segment.p_offset, notes, segment.p_filesz) && notes_have_id(notes, segment.p_filesz, digits);
        free(notes);
        if (has)
            return true;
    }
    return false;
}

/* ---- one table ---- */

/* The first address that is not below `start`. */
static size_t first_from(const struct elf_symbol *symbols, size_t count, uint64_t start)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (symbols[middle].address < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of functions that overlap, the one that begins last; of several names, the best known. */
static void take(struct elf_symbol *symbols, size_t count, const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_FUNCTION) || symbol->st_shndx == SHN_UNDEF || !symbol->st_size || !symbol->st_name)
        return;
    const uint32_t rank = binding == STB_GLOBAL ? 3 : binding == STB_WEAK ? 2 : 1;
    for (size_t i = first_from(symbols, count, symbol->st_value); i < count && symbols[i].address - symbol->st_value < symbol->st_size; i++) {
        struct elf_symbol *one = &symbols[i];
        if (one->name || (one->rank && (symbol->st_value < one->start || (symbol->st_value == one->start && rank <= one->rank))))
            continue;
        one->start = symbol->st_value;
        one->string = symbol->st_name;
        one->rank = rank;
    }
}

static bool is_plain(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F)
            return false;
    return name[0];
}

static void take_name(int file, const Elf64_Shdr *strings, struct elf_symbol *symbol)
{
    char name[NAME_MAX_BYTES + 1] = "";
    const uint64_t left = symbol->string < strings->sh_size ? strings->sh_size - symbol->string : 0;
    const size_t most = left < NAME_MAX_BYTES ? (size_t)left : NAME_MAX_BYTES;
    const uint64_t at = strings->sh_offset + symbol->string;
    if (most && at >= strings->sh_offset && at <= INT64_MAX && pread(file, name, most, (off_t)at) > 0 && strnlen(name, sizeof name) < NAME_MAX_BYTES && is_plain(name))
        symbol->name = strdup(name);
    symbol->rank = 0;
}

static void look_in(int file, const Elf64_Shdr *table, const Elf64_Shdr *strings, struct elf_symbol *symbols, size_t count, uint64_t *budget)
{
    Elf64_Sym *chunk = malloc(CHUNK * sizeof *chunk);
    if (!chunk || table->sh_size > *budget || table->sh_offset > INT64_MAX - table->sh_size) {
        free(chunk);
        return;
    }
    *budget -= table->sh_size;
    for (uint64_t at = 0; at + sizeof *chunk <= table->sh_size;) {
        const uint64_t left = table->sh_size - at;
        const size_t wanted = left < CHUNK * sizeof *chunk ? (size_t)left : CHUNK * sizeof *chunk;
        const ssize_t size = pread(file, chunk, wanted, (off_t)(table->sh_offset + at));
        if (size < (ssize_t)sizeof *chunk)
            break;
        for (size_t i = 0; i < (size_t)size / sizeof *chunk; i++)
            take(symbols, count, &chunk[i]);
        at += (uint64_t)size - (uint64_t)size % sizeof *chunk;
    }
    free(chunk);
    for (size_t i = 0; i < count; i++)
        if (symbols[i].rank)
            take_name(file, strings, &symbols[i]);
}

/* The whole table of symbols, where the file has one, and the exported ones. */
static void look_in_all(int file, const Elf64_Ehdr *header, struct elf_symbol *symbols, size_t count, uint64_t *budget)
{
    static const uint32_t kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
    Elf64_Shdr table, strings;
    if (header->e_shentsize != sizeof table)
        return;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (uint32_t i = 0; i < header->e_shnum && i < SECTIONS_MAX; i++) {
            if (!read_at(file, header->e_shoff + i * sizeof table, &table, sizeof table))
                return;
            if (table.sh_type != kinds[kind])
                continue;
            if (table.sh_link < header->e_shnum && read_at(file, header->e_shoff + table.sh_link * sizeof strings, &strings, sizeof strings))
                look_in(file, &table, &strings, symbols, count, budget);
            break;
        }
}

void elf_symbols_find(const char *path, const char *build_id, struct elf_symbol *symbols, size_t count, uint64_t *budget)
{
    struct stat about;
    Elf64_Ehdr header;
    if (!build_id[0] || path[0] != '/')
        return;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && is_elf(file, &header) && has_build_id(file, &header, build_id))
        look_in_all(file, &header, symbols, count, budget);
    close(file);
}
