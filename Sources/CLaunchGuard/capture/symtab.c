/* Symbols that the executable does not export, by the symbol table of its file: of a runtime that
 * is linked statically. In the handler, once for a crash whose reason nothing else says. */
#include <elf.h>
#include <link.h>

#include "capture/internal.h"

#define SECTIONS_MAX 4096u
#define TABLE_BYTES_MAX (UINT64_C(64) << 20)
#define PLACES_MAX 4u /* strings of the table that end with one name */

static struct {
    uint64_t words[2048];
    uint32_t places[LG__SYMTAB_NAMES_MAX][PLACES_MAX];
    uint32_t counts[LG__SYMTAB_NAMES_MAX];
} work;

static bool read_whole(int file, void *to, size_t size, uint64_t at)
{
    return lg__os_read_at(file, to, size, at) == (long)size;
}

static bool find_tables(int file, ElfW(Shdr) *ret_symbols, ElfW(Shdr) *ret_names)
{
    ElfW(Ehdr) elf;
    if (!read_whole(file, &elf, sizeof elf, 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_shentsize != sizeof *ret_symbols)
        return false;
    for (uint32_t i = 0; i < elf.e_shnum && i < SECTIONS_MAX; i++)
        if (!read_whole(file, ret_symbols, sizeof *ret_symbols, elf.e_shoff + i * sizeof *ret_symbols))
            return false;
        else if (ret_symbols->sh_type == SHT_SYMTAB)
            return ret_symbols->sh_link < elf.e_shnum && read_whole(file, ret_names, sizeof *ret_names, elf.e_shoff + ret_symbols->sh_link * sizeof *ret_names) &&
                   ret_symbols->sh_size <= TABLE_BYTES_MAX && ret_names->sh_size <= TABLE_BYTES_MAX;
    return false;
}

/* A string that ends at `end`: note each name that it ends with, as linkers let strings share their
 * ends. */
static void note_string(const char *const *names, unsigned count, const char *begin, const char *end, uint64_t at)
{
    for (unsigned i = 0; i < count; i++) {
        const size_t size = strlen(names[i]);
        if ((size_t)(end - begin) >= size && memcmp(end - size, names[i], size) == 0 && work.counts[i] < PLACES_MAX)
            work.places[i][work.counts[i]++] = (uint32_t)(at + (uint64_t)(end - begin) - size);
    }
}

static void find_names(int file, const ElfW(Shdr) *table, const char *const *names, unsigned count)
{
    char *const text = (char *)work.words;
    for (uint64_t at = 0; at < table->sh_size;) {
        const uint64_t left = table->sh_size - at;
        const size_t wanted = left < sizeof work.words ? (size_t)left : sizeof work.words;
        const long size = lg__os_read_at(file, text, wanted, table->sh_offset + at);
        const char *end = size > 0 ? memchr(text, 0, (size_t)size) : NULL, *last = NULL;
        for (; end; end = memchr(end + 1, 0, (size_t)(text + size - end - 1)))
            note_string(names, count, text, last = end, at);
        if (last)
            at += (uint64_t)(last - text) + 1;
        else if (size == (long)sizeof work.words)
            at += sizeof work.words; /* within a string that is longer than any name */
        else
            return; /* the end of the file */
    }
}

static void take_symbol(const ElfW(Sym) *symbol, unsigned count, uint64_t *ret_at, uint64_t *ret_size)
{
    for (unsigned i = 0; i < count; i++)
        for (uint32_t k = 0; k < work.counts[i]; k++)
            if (symbol->st_name == work.places[i][k] && symbol->st_shndx != SHN_UNDEF) {
                ret_at[i] = lg__modules_executable.bias + symbol->st_value;
                ret_size[i] = symbol->st_size;
            }
}

void lg__symtab_find(const char *const *names, unsigned count, uint64_t *ret_at, uint64_t *ret_size)
{
    ElfW(Shdr) symbols, strings;
    const ElfW(Sym) *const part = (const ElfW(Sym) *)work.words;
    const size_t most = sizeof work.words - sizeof work.words % sizeof *part;
    const int file = count <= LG__SYMTAB_NAMES_MAX ? lg__files_open("../exe") : -1;
    memset(ret_at, 0, count * sizeof *ret_at);
    memset(ret_size, 0, count * sizeof *ret_size);
    if (file < 0)
        return;
    if (find_tables(file, &symbols, &strings)) {
        memset(work.counts, 0, sizeof work.counts);
        find_names(file, &strings, names, count);
        for (uint64_t at = 0; at < symbols.sh_size; at += most) {
            const long size = lg__os_read_at(file, work.words, symbols.sh_size - at < most ? (size_t)(symbols.sh_size - at) : most, symbols.sh_offset + at);
            for (long i = 0; i < size / (long)sizeof *part; i++)
                take_symbol(&part[i], count, ret_at, ret_size);
            if (size <= 0)
                break;
        }
    }
    lg__os_close(file);
}
