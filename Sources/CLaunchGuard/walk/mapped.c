/* A module that no list has, by the kernel's map of this process: the loader's list is damaged, or
 * the module is of another namespace (dlmopen). */
#include <elf.h>
#include <link.h>

#include "walk/walk.h"

/* The map is read from its begin for each question. A walk through code of a just-in-time compiler
 * would ask once a frame: each answer is kept, and there is an end to the questions. */
#define QUESTIONS_MAX 32u
#define QUESTIONS_NS UINT64_C(200000000)
#define NAMES_BYTES 8192u

static struct work {
    uint32_t age; /* lg__memory_age of what follows */
    uint32_t questions;
    uint64_t spent_ns;
    uint32_t empty_count;
    struct {
        uint64_t low, high;
    } empty[QUESTIONS_MAX]; /* without a module */
    uint32_t names_size;
    char names[NAMES_BYTES];
    struct lg__os_mapping mapping;
    struct lg__image_room room;
} works[LG__WALKERS];

static bool is_empty(const struct work *work, uint64_t address)
{
    for (uint32_t i = 0; i < work->empty_count; i++)
        if (address >= work->empty[i].low && address < work->empty[i].high)
            return true;
    return false;
}

static bool ask(struct work *work, uint64_t address)
{
    if (work->questions == QUESTIONS_MAX || work->spent_ns > QUESTIONS_NS)
        return false;
    const uint64_t before = lg__os_clock_ns(CLOCK_MONOTONIC);
    const bool answered = lg__os_mapping_at(address, &work->mapping);
    work->questions++;
    work->spent_ns += lg__os_clock_ns(CLOCK_MONOTONIC) - before;
    return answered;
}

/* The headers of a file whose begin is mapped at an address. */
static bool describe_file(struct work *work, uint64_t at, struct lg__module_range *module)
{
    ElfW(Ehdr) elf;
    if (lg__memory_read(&elf, at, sizeof elf) != sizeof elf || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    for (unsigned i = 0; i < elf.e_phnum && i < LG__IMAGE_HEADERS; i++) {
        ElfW(Phdr) header;
        if (lg__memory_read(&header, at + elf.e_phoff + i * sizeof header, sizeof header) != sizeof header)
            return false;
        if (header.p_type == PT_LOAD && header.p_offset < LG__PAGE)
            return lg__image_describe(&work->room, at + elf.e_phoff, elf.e_phnum, at + header.p_offset - header.p_vaddr, lg__memory_read, module);
    }
    return false;
}

/* The name lives as long as the answers. */
static uint64_t keep_name(struct work *work, uint32_t *ret_crc)
{
    const size_t size = strlen(work->mapping.name) + 1;
    char *to = work->names + work->names_size;
    *ret_crc = lg__image_crc(NULL, 0);
    if (size > sizeof work->names - work->names_size)
        return 0;
    memcpy(to, work->mapping.name, size);
    work->names_size += (uint32_t)size;
    *ret_crc = lg__image_crc(to, size - 1);
    return (uint64_t)(uintptr_t)to;
}

bool lg__mapped_describe(uint64_t address, struct lg__module_range *ret_module)
{
    struct work *work = &works[lg__memory_walker];
    struct lg__module_range module;
    if (work->age != lg__memory_age[lg__memory_walker]) {
        work->age = lg__memory_age[lg__memory_walker];
        work->questions = work->empty_count = work->names_size = 0;
        work->spent_ns = 0;
    }
    if (is_empty(work, address) || !ask(work, address))
        return false;
    if (!work->mapping.file_low || !describe_file(work, work->mapping.file_low, &module) || !lg__image_holds(&module, address)) {
        work->empty[work->empty_count].low = work->mapping.low;
        work->empty[work->empty_count++].high = work->mapping.high;
        return false;
    }
    module.name = keep_name(work, &module.name_crc);
    *ret_module = module;
    return true;
}
