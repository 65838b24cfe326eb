/* Section A: faults of the hardware. */
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "catalogue.h"
#include "files.h"

/* ---- bad pointers ---- */

LGF_WAY null_read(void) { lgf_zero = *(volatile int *)(uintptr_t)lgf_zero; }
LGF_WAY null_write(void) { *(volatile int *)(uintptr_t)lgf_zero = 1; }
LGF_WAY null_offset(void) { *(volatile int *)(uintptr_t)(lgf_zero + 0x18) = 1; }

static char *pages(size_t size, int protection)
{
    char *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        lgf_skip("no memory for a mapping");
    return at;
}

/* Not a constant of the program: a linker may put constants into writable memory, as it does beside
 * a static Swift library. */
LGF_WAY readonly_write(void)
{
    volatile char *at = pages(4096, PROT_READ);
    lgf_zero = *at; /* the page is there */
    *at = 1;
}

LGF_WAY protected_write(void) { *(volatile char *)pages(4096, PROT_NONE) = 1; }

LGF_WAY non_canonical(void) { *(volatile int *)(uintptr_t)(UINT64_C(0x8000000000000000) + (uint64_t)lgf_zero) = 1; }

LGF_WAY use_after_unmap(void)
{
    char *page = pages(4096, PROT_READ | PROT_WRITE);
    munmap(page, 4096);
    *(volatile char *)page = 1;
}

struct node {
    struct node *volatile next;
    char rest[56];
};

/* free() leaves its own words in the block, in the place of the pointer. */
LGF_WAY use_after_free(void)
{
    struct node *volatile first = malloc(sizeof *first);
    struct node *volatile second = malloc(sizeof *second);
    if (!first || !second)
        lgf_skip("no memory");
    first->next = second;
    second->next = NULL;
    struct node *volatile dangling = first;
    free(second);
    free(first);
    struct node *volatile poison = dangling->next;
    /* With an allocator that keeps the word, the pointer still leads to freed memory, which may be
     * readable. */
    poison->next->next->next->next = NULL;
}

/* ---- bad jumps ---- */

static void call(uintptr_t address)
{
    void (*function)(void);
    memcpy(&function, &address, sizeof function);
    function();
    /* the call is not the last statement, so that its return address lies in this function */
    lgf_zero = 0;
}

LGF_WAY jump_null(void) { call((uintptr_t)lgf_zero); }
LGF_WAY jump_garbage(void) { call((uintptr_t)(lgf_zero + 0x41414141)); }
LGF_WAY execute_data(void)
{
    char *page = pages(4096, PROT_READ | PROT_WRITE);
    *(volatile unsigned char *)page = 0xc3; /* ret */
    call((uintptr_t)page);
}

/* ---- arithmetic ---- */

LGF_WAY int_div0(void) { lgf_zero = 7 / lgf_zero; }
LGF_WAY int_div_overflow(void)
{
    volatile int least = INT32_MIN, minus_one = lgf_zero - 1;
    lgf_zero = least / minus_one;
}
LGF_WAY float_trap(void)
{
    volatile double one = 1.0, none = (double)lgf_zero;
    feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(FE_DIVBYZERO) == -1)
        lgf_skip("this CPU does not trap on floating point");
    one = one / none;
    lgf_zero = one > 1;
}
LGF_WAY float_div0(void)
{
    volatile double one = 1.0, none = (double)lgf_zero;
    one = one / none;
}

/* ---- instructions ---- */

LGF_WAY illegal(void)
{
#if defined(__x86_64__)
    __asm__ volatile("ud2");
#else
    __asm__ volatile("udf #0");
#endif
}
LGF_WAY breakpoint(void)
{
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    __asm__ volatile("brk #1");
#endif
}

/* ---- files under mappings ---- */

static char *map_file(int file, size_t size)
{
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        lgf_skip("a file cannot be mapped");
    return at;
}

LGF_WAY bus_file(void) { *(volatile char *)map_file(lgf_nameless_file(0), 8192) = 1; }
LGF_WAY bus_truncated(void)
{
    int file = lgf_nameless_file(8192);
    volatile char *at = map_file(file, 8192);
    *at = 1;
    if (ftruncate(file, 0) != 0)
        lgf_skip("a file cannot be cut");
    at[4096] = 1;
}
LGF_WAY bus_disk_full(void)
{
    int file = lgf_small_disk_file(65536);
    if (ftruncate(file, 1 << 20) != 0)
        lgf_skip("no sparse file");
    volatile char *at = map_file(file, 1 << 20);
    for (size_t i = 0; i < 1 << 20; i += 4096)
        at[i] = 1;
}

/* ---- faults that most machines lack ---- */

LGF_WAY protection_key(void)
{
    int key = pkey_alloc(0, PKEY_DISABLE_WRITE);
    if (key < 0)
        lgf_skip("this CPU or kernel has no memory protection keys");
    char *page = pages(4096, PROT_READ | PROT_WRITE);
    if (pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, key) != 0)
        lgf_skip("a page cannot be given a protection key");
    *(volatile char *)page = 1;
}
LGF_WAY machine_check(void)
{
#ifndef MADV_HWPOISON
#define MADV_HWPOISON 100
#endif
    const char *allowed = getenv("LAUNCHGUARD_FAULTS_MACHINE_CHECK");
    if (!allowed || strcmp(allowed, "1") != 0)
        lgf_skip("the entry takes a page of memory from the machine until the next boot; LAUNCHGUARD_FAULTS_MACHINE_CHECK=1 allows it");
    volatile char *page = pages(4096, PROT_READ | PROT_WRITE);
    *page = 1;
    if (madvise((void *)(uintptr_t)page, 4096, MADV_HWPOISON) != 0)
        lgf_skip("the kernel does not poison memory, or not for this user");
    *page = 2;
}
#if defined(__aarch64__)
#define PROTECT_BY_TAGS 0x20 /* PROT_MTE */
LGF_WAY memory_tag(void)
{
    const unsigned long at_once = 1ul << 1, any_tag = 0xfffful << 3;
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROTECT_BY_TAGS, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE | at_once | any_tag, 0, 0, 0) != 0)
        lgf_skip("this CPU or kernel has no memory tags");
    *(volatile char *)((uintptr_t)page | UINT64_C(1) << 56) = 1;
}
#else
LGF_WAY memory_tag(void) { lgf_skip("memory tags need an arm64 CPU with MTE"); }
#endif

/* x86-64 has gone on by the time of the trap, and the kernel has no address of it. */
#if defined(__x86_64__)
#define LGF_TRAP(...) LGF_CRASH(SIGTRAP, NO, __VA_ARGS__)
#else
#define LGF_TRAP(...) LGF_CRASH(SIGTRAP, YES, __VA_ARGS__)
#endif

const struct lgf_entry lgf_hardware[] = {
    { LGF_NAMED("null-read", 'A', "reads through a NULL pointer", null_read),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ), .traits = LGF_CORE, .sentence = "read through a NULL pointer in null_read (hardware.c:" },
    { LGF_NAMED("null-write", 'A', "writes through a NULL pointer", null_write),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_CORE },
    { LGF_NAMED("null-offset", 'A', "writes a field of a NULL object", null_offset),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_OFFSET), .sentence = "access through a NULL pointer at address 0x" },
    { LGF_NAMED("readonly-write", 'A', "writes to memory that can only be read", readonly_write),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_READONLY_WRITE) },
    { LGF_NAMED("protected-write", 'A', "writes to a guard page", protected_write),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_PROTECTED) },
    { LGF_NAMED("non-canonical", 'A', "writes to an address that no process can have", non_canonical),
      LGF_CRASH(SIGSEGV, NO, LG_CRASH_NON_CANONICAL), .needs = LGF_NEEDS_X86_64 },
    { LGF_NAMED("execute-data", 'A', "calls into memory that is not executable", execute_data),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_EXEC_NX) },
    { LGF_NAMED("jump-null", 'A', "calls a NULL function pointer", jump_null),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_JUMP_NULL), .traits = LGF_CORE },
    { LGF_NAMED("jump-garbage", 'A', "calls address 0x41414141", jump_garbage),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_JUMP_BAD) },
    { LGF_NAMED("use-after-unmap", 'A', "writes to memory that it gave back", use_after_unmap),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_UNMAPPED) },
    { LGF_NAMED("use-after-free", 'A', "follows a pointer in a freed block", use_after_free),
      LGF_CRASH(SIGSEGV, ANY, LG_CRASH_UNMAPPED, LG_CRASH_NON_CANONICAL, LG_CRASH_NULL_READ, LG_CRASH_NULL_WRITE,
                LG_CRASH_NULL_OFFSET, LG_CRASH_PROTECTED) },
    { LGF_NAMED("int-div0", 'A', "divides an integer by zero", int_div0),
      LGF_CRASH(SIGFPE, YES, LG_CRASH_INT_DIVIDE), .traits = LGF_CORE, .needs = LGF_NEEDS_X86_64 },
    { LGF_NAMED("int-div-overflow", 'A', "divides the least integer by -1", int_div_overflow),
      LGF_CRASH(SIGFPE, YES, LG_CRASH_INT_OVERFLOW), .needs = LGF_NEEDS_X86_64,
      .sentence = "integer division whose result does not fit in int_div_overflow (hardware.c:" },
    { LGF_NAMED("float-trap", 'A', "divides 1.0 by 0 with traps enabled", float_trap), LGF_CRASH(SIGFPE, YES, LG_CRASH_FLOAT) },
    { LGF_NAMED("float-div0", 'A', "divides 1.0 by 0, which is no crash", float_div0), LGF_EXITS(0, LGF_END(CLEAN), 'N') },
    { LGF_NAMED("illegal", 'A', "executes the undefined instruction", illegal),
      LGF_CRASH(SIGILL, YES, LG_CRASH_ILLEGAL), .traits = LGF_CORE },
    { LGF_NAMED("breakpoint", 'A', "executes a breakpoint without a debugger", breakpoint),
      LGF_TRAP(LG_CRASH_BREAKPOINT) },
    { LGF_NAMED("bus-file", 'A', "writes to a mapping beyond the end of its file", bus_file),
      LGF_CRASH(SIGBUS, YES, LG_CRASH_BUS_FILE), .traits = LGF_CORE },
    { LGF_NAMED("bus-truncated", 'A', "writes to a mapping whose file was cut", bus_truncated),
      LGF_CRASH(SIGBUS, YES, LG_CRASH_BUS_FILE) },
    { LGF_NAMED("bus-disk-full", 'A', "writes to a sparse mapping on a full tmpfs", bus_disk_full),
      LGF_CRASH(SIGBUS, YES, LG_CRASH_BUS_FILE), .needs = LGF_NEEDS_ROOT },
    { LGF_NAMED("protection-key", 'A', "writes to a page whose protection key forbids it", protection_key),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_PKEY) },
    { LGF_NAMED("machine-check", 'A', "reads a page that the memory controller reports as bad", machine_check),
      LGF_CRASH(SIGBUS, YES, LG_CRASH_HWPOISON), .needs = LGF_NEEDS_ROOT },
    { LGF_NAMED("memory-tag", 'A', "uses a pointer with a wrong memory tag", memory_tag), LGF_CRASH(SIGSEGV, ANY, LG_CRASH_TAG) },
    { .name = NULL },
};
