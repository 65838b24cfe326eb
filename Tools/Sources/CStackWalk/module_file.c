#include "internal.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 65536u

static bool read_at(int descriptor, uint64_t offset, void *to, size_t size)
{
    return offset <= INT64_MAX && pread(descriptor, to, size, (off_t)offset) == (ssize_t)size;
}

static bool has_code(int descriptor, const Elf64_Ehdr *header)
{
    Elf64_Shdr section;
    if (!header->e_shoff || header->e_shentsize != sizeof section)
        return true; /* a debug file has sections */
    for (uint32_t i = 0; i < header->e_shnum && read_at(descriptor, header->e_shoff + i * sizeof section, &section, sizeof section); i++)
        if (section.sh_flags & SHF_EXECINSTR && section.sh_type == SHT_PROGBITS)
            return true;
    return false;
}

static bool read_segments(struct module_file *file)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (!read_at(file->descriptor, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof segment)
        return false;
    file->machine = header.e_machine;
    file->has_code = has_code(file->descriptor, &header);
    for (uint32_t i = 0; i < header.e_phnum && file->segment_count < SEGMENTS_MAX; i++) {
        if (!read_at(file->descriptor, header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (segment.p_type == PT_LOAD)
            file->segments[file->segment_count++] = (struct segment){ segment.p_vaddr, segment.p_offset, segment.p_memsz,
                                                                      segment.p_flags & PF_X, !(segment.p_flags & PF_W) };
    }
    return true;
}

bool module_file_open(struct module_file *ret_file, const char *path)
{
    struct module_file file = { .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
    struct stat about;
    if (file.descriptor < 0)
        return false;
    if (fstat(file.descriptor, &about) != 0 || !S_ISREG(about.st_mode) || !read_segments(&file)) {
        close(file.descriptor);
        return false;
    }
    file.elf = libdw.elf_begin(file.descriptor, LIBDW_ELF_READ, NULL);
    file.eh_frame = file.elf && file.has_code ? libdw.dwarf_getcfi_elf(file.elf) : NULL;
    file.dwarf = file.elf ? libdw.dwarf_begin_elf(file.elf, LIBDW_DWARF_READ, NULL) : NULL;
    file.debug_frame = file.dwarf ? libdw.dwarf_getcfi(file.dwarf) : NULL;
    *ret_file = file;
    return true;
}

void module_file_close(struct module_file *file)
{
    if (file->eh_frame)
        libdw.dwarf_cfi_end(file->eh_frame);
    if (file->dwarf)
        libdw.dwarf_end(file->dwarf);
    if (file->elf)
        libdw.elf_end(file->elf);
    close(file->descriptor);
}

static const struct segment *segment_at(const struct module_file *file, uint64_t address)
{
    for (uint32_t i = 0; i < file->segment_count; i++)
        if (address >= file->segments[i].address && address - file->segments[i].address < file->segments[i].size)
            return &file->segments[i];
    return NULL;
}

bool module_file_read(const struct module_file *file, uint64_t address, void *to, size_t size)
{
    const struct segment *segment = file->has_code ? segment_at(file, address) : NULL;
    return segment && segment->is_constant && segment->size - (address - segment->address) >= size &&
           read_at(file->descriptor, segment->offset + (address - segment->address), to, size);
}

bool module_file_is_code(const struct module_file *file, uint64_t address)
{
    const struct segment *segment = segment_at(file, address);
    return segment && segment->is_code;
}
