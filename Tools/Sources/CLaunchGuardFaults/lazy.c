/* A library that lacks a function, made in memory: an ELF file of one page, with one function that
 * calls the missing function through its procedure linkage table. A real library would have to be
 * installed beside the program. */
#include "lazy.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "catalogue.h"
#include "files.h"

#if defined(__x86_64__)

enum { DYNAMIC = 0x100, SYMBOLS = 0x200, STRINGS = 0x280, HASH = 0x300, RELOCATIONS = 0x340, GOT = 0x380, CODE = 0x400, SIZE = 0x480 };

static const char strings[] = "\0launchguard_missing\0launchguard_caller";
static const uint8_t code[] = {
    /* 400: launchguard_caller */ 0x48, 0x83, 0xec, 0x08, 0xe8, 0x17, 0x00, 0x00, 0x00, 0x48, 0x83, 0xc4, 0x08, 0xc3,
    /* 40e: filling */ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    /* 420: jmp *GOT[3] */ 0xff, 0x25, 0x72, 0xff, 0xff, 0xff,
    /* 426: push 0; jmp 440 */ 0x68, 0x00, 0x00, 0x00, 0x00, 0xe9, 0x10, 0x00, 0x00, 0x00,
    /* 430: filling */ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    /* 440: push GOT[1]; jmp *GOT[2] */ 0xff, 0x35, 0x42, 0xff, 0xff, 0xff, 0xff, 0x25, 0x44, 0xff, 0xff, 0xff,
};

static void make_library(uint8_t image[SIZE])
{
    const Elf64_Ehdr head = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
        .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof head, .e_ehsize = sizeof head,
        .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
    };
    const Elf64_Phdr segments[] = {
        { .p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_filesz = SIZE, .p_memsz = SIZE, .p_align = 4096 },
        { .p_type = PT_DYNAMIC, .p_flags = PF_R | PF_W, .p_offset = DYNAMIC, .p_vaddr = DYNAMIC, .p_filesz = 160, .p_memsz = 160 },
    };
    const Elf64_Dyn dynamic[] = {
        { DT_HASH, { HASH } },  { DT_SYMTAB, { SYMBOLS } }, { DT_STRTAB, { STRINGS } },    { DT_STRSZ, { sizeof strings } },
        { DT_SYMENT, { 24 } },  { DT_PLTGOT, { GOT } },     { DT_PLTRELSZ, { 24 } },       { DT_PLTREL, { DT_RELA } },
        { DT_JMPREL, { RELOCATIONS } }, { DT_NULL, { 0 } },
    };
    const Elf64_Sym symbols[] = {
        { 0, 0, 0, 0, 0, 0 },
        { .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) },
        { .st_name = 21, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = CODE, .st_size = 14 },
    };
    const uint32_t hash[] = { 1, 3, 2, 0, 0, 1 }; /* one bucket: symbol 2, then 1 */
    const Elf64_Rela relocation = { GOT + 24, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 };
    const uint64_t got[] = { DYNAMIC, 0, 0, CODE + 0x26 };
    memset(image, 0, SIZE);
    memcpy(image, &head, sizeof head);
    memcpy(image + sizeof head, segments, sizeof segments);
    memcpy(image + DYNAMIC, dynamic, sizeof dynamic);
    memcpy(image + SYMBOLS, symbols, sizeof symbols);
    memcpy(image + STRINGS, strings, sizeof strings);
    memcpy(image + HASH, hash, sizeof hash);
    memcpy(image + RELOCATIONS, &relocation, sizeof relocation);
    memcpy(image + GOT, got, sizeof got);
    memcpy(image + CODE, code, sizeof code);
}

void lgf_call_missing_function(void)
{
    uint8_t image[SIZE];
    char path[32];
    void (*caller)(void);
    int file = lgf_nameless_file(0);
    make_library(image);
    if (write(file, image, SIZE) != SIZE)
        lgf_skip("no memory for a library");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *found = library ? dlsym(library, "launchguard_caller") : NULL;
    if (!found)
        lgf_skip("this system does not load a library that lacks a function");
    memcpy(&caller, &found, sizeof caller);
    caller();
    lgf_wrong("a function that does not exist was called");
}

#else

void lgf_call_missing_function(void) { lgf_skip("written for x86-64 only"); }

#endif
