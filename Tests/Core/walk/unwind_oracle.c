/* Our reader of unwind tables against libunwind's reader, on every entry of every loaded module:
 * one step from invented registers over an invented stack must give the same caller. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "walk/cfi.h"

#if defined(__x86_64__)
#include <libunwind-x86_64.h>
#elif defined(__aarch64__)
#include <libunwind-aarch64.h>
#endif

extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info, unw_proc_info_t *procedure,
                                              int need_unwind_info, void *argument);
int test_against_libunwind(char *ret_message, size_t size);

/* The stack, as both readers see it. */
static uint64_t stack[131072]; /* also for a frame of 514 KiB, which ld.so of glibc 2.43 has */

static int find_proc_info(unw_addr_space_t in, unw_word_t ip, unw_proc_info_t *procedure, int need_unwind_info, void *argument)
{
    const struct lg__module_range *module = lg__modules_search(lg__modules_published(), ip);
    if (!module || !module->table)
        return -UNW_ENOINFO;
    unw_dyn_info_t info;
    memset(&info, 0, sizeof info);
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.start_ip = module->start;
    info.end_ip = module->end;
    info.u.rti.segbase = module->frame_header;
    info.u.rti.table_data = module->table;
    info.u.rti.table_len = module->table_count * 8 / sizeof(unw_word_t);
    return UNW_OBJ(dwarf_search_unwind_table)(in, ip, &info, procedure, need_unwind_info, argument);
}

static void put_unwind_info(unw_addr_space_t in, unw_proc_info_t *procedure, void *argument)
{
    (void)in, (void)procedure, (void)argument;
}

static int get_dyn_info_list_addr(unw_addr_space_t in, unw_word_t *address, void *argument)
{
    (void)in, (void)address, (void)argument;
    return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t in, unw_word_t address, unw_word_t *word, int write, void *argument)
{
    uint64_t value;
    (void)in, (void)argument;
    if (write || !lg__memory_word(address, &value))
        return -UNW_EINVAL;
    *word = value;
    return 0;
}

static int access_reg(unw_addr_space_t in, unw_regnum_t number, unw_word_t *value, int write, void *argument)
{
    (void)in;
    if (write || number < 0 || (uint32_t)number > lg__arch_pc)
        return -UNW_EBADREG;
    *value = ((const uint64_t *)argument)[number];
    return 0;
}

static int access_fpreg(unw_addr_space_t in, unw_regnum_t number, unw_fpreg_t *value, int write, void *argument)
{
    (void)in, (void)number, (void)value, (void)write, (void)argument;
    return -UNW_EBADREG;
}

static int resume(unw_addr_space_t in, unw_cursor_t *cursor, void *argument)
{
    (void)in, (void)cursor, (void)argument;
    return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t in, unw_word_t address, char *name, size_t size, unw_word_t *offset, void *argument)
{
    (void)in, (void)address, (void)name, (void)size, (void)offset, (void)argument;
    return -UNW_ENOINFO;
}

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state >> 16;
}

static void make_registers(uint64_t registers[LG__REGISTERS_MAX], uint64_t pc)
{
    for (uint32_t i = 0; i < LG__REGISTERS_MAX; i++)
        registers[i] = (uint64_t)(uintptr_t)&stack[2048 + next_random() % 4096];
    registers[lg__arch_pc] = pc;
}

/* One step by libunwind: −1 it cannot, 0 outermost, 1 done. */
static int step_by_libunwind(unw_addr_space_t space, uint64_t registers[LG__REGISTERS_MAX])
{
    unw_cursor_t cursor;
    uint64_t next[LG__REGISTERS_MAX];
    if (unw_init_remote(&cursor, space, registers) < 0)
        return -1;
    int result = unw_step(&cursor);
    if (result <= 0) /* the error of a stack that is too small differs from version to version */
        return result < 0 ? -1 : 0;
    for (uint32_t i = 0; i <= lg__arch_pc; i++) {
        unw_word_t value = 0;
        unw_get_reg(&cursor, (unw_regnum_t)(i == lg__arch_pc ? UNW_REG_IP : i), &value);
        next[i] = value;
    }
    memcpy(registers, next, sizeof next);
    return 1;
}

/* Callee-saved registers, sp and pc: what a walk needs. On AArch64 libunwind has the pc of a caller
 * in the place of x30. */
static bool matters(uint32_t column)
{
    if (lg__arch == LG__ARCH_X86_64)
        return column == 3 || column == 6 || column == 7 || (column >= 12 && column <= 16);
    return column >= 19 && column != UNW_REG_IP;
}

/* libunwind uses the CFA as the stack pointer, whatever the row says. */
static bool has_rule(uint64_t pc, uint32_t column)
{
    static struct lg__cfi_row row;
    if (lg__cfi_find(lg__modules_search(lg__modules_published(), pc), pc, &row))
        for (uint32_t i = 0; i < row.count; i++)
            if (row.rules[i].column == column)
                return true;
    return false;
}

/* For a message: the module of an address, and the place in it. */
static const char *place_of(uint64_t pc)
{
    static char text[300];
    Dl_info info;
    if (dladdr((void *)(uintptr_t)pc, &info))
        snprintf(text, sizeof text, "%s+%llx", info.dli_fname, (unsigned long long)(pc - (uint64_t)(uintptr_t)info.dli_fbase));
    else
        snprintf(text, sizeof text, "%llx", (unsigned long long)pc);
    return text;
}

static int compare(unw_addr_space_t space, uint64_t pc, char *message, size_t size)
{
    uint64_t theirs[LG__REGISTERS_MAX], ours[LG__REGISTERS_MAX];
    unw_proc_info_t procedure;
    make_registers(theirs, pc);
    memcpy(ours, theirs, sizeof ours);
    /* Without a row libunwind guesses. */
    bool known = find_proc_info(space, pc, &procedure, 0, theirs) == 0;
    int they = known ? step_by_libunwind(space, theirs) : -1;
    int we = lg__unwind_dwarf_step(ours);
    if (they != we) {
        snprintf(message, size, "at %s libunwind says %d and we say %d", place_of(pc), they, we);
        return -1;
    }
    for (uint32_t i = 0; we == 1 && i <= lg__arch_pc; i++)
        if (matters(i) && !(i == lg__arch_sp && has_rule(pc, i)) && theirs[i] != ours[i]) {
            snprintf(message, size, "at %s libunwind has %llx in register %u, and we have %llx", place_of(pc),
                     (unsigned long long)theirs[i], i, (unsigned long long)ours[i]);
            return -1;
        }
    return 1;
}

/* Where the compiler signs return addresses, rows of this program say so, by an operation that
 * libunwind 1.6 takes for another one. */
static bool is_known_to_libunwind(const struct lg__module_range *module)
{
#ifdef __ARM_FEATURE_PAC_DEFAULT
    return module != lg__modules_search(lg__modules_published(), (uint64_t)(uintptr_t)is_known_to_libunwind);
#else
    return module;
#endif
}

int test_against_libunwind(char *ret_message, size_t size)
{
    static unw_accessors_t accessors = { .find_proc_info = find_proc_info,
                                         .put_unwind_info = put_unwind_info,
                                         .get_dyn_info_list_addr = get_dyn_info_list_addr,
                                         .access_mem = access_mem,
                                         .access_reg = access_reg,
                                         .access_fpreg = access_fpreg,
                                         .resume = resume,
                                         .get_proc_name = get_proc_name };
    unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
    unw_set_caching_policy(space, UNW_CACHE_NONE);
    for (size_t i = 0; i < sizeof stack / sizeof stack[0]; i++)
        stack[i] = (uint64_t)(uintptr_t)&stack[2048 + next_random() % 4096];
    lg__capture_refresh_modules();
    lg__memory_forget(false);
    const struct lg__modules *table = lg__modules_published();
    int places = 0, modules = 0, differing = 0;
    for (uint32_t m = 0; m < table->count; m++) {
        const struct lg__module_range *module = &table->modules[m];
        if (!is_known_to_libunwind(module))
            continue;
        modules += module->table_count != 0;
        for (uint64_t e = 0; e < module->table_count; e++) {
            int32_t pair[4] = { 0, 0, 0, 0 };
            memcpy(pair, (const void *)(uintptr_t)(module->table + e * 8), e + 1 < module->table_count ? 16 : 8);
            uint64_t begin = module->frame_header + (uint64_t)(int64_t)pair[0];
            uint64_t bytes = e + 1 < module->table_count ? (uint64_t)(pair[2] - pair[0]) : 64;
            const uint64_t offsets[] = { 0, 1, 4, 9, bytes / 4, bytes / 2, bytes - 1, bytes - 2 };
            for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
                if (offsets[i] >= bytes)
                    continue;
                if (compare(space, begin + offsets[i], ret_message, size) < 0 && ++differing >= 1)
                    return -1;
                places++;
            }
        }
    }
    snprintf(ret_message, size, "%d places in %d modules", places, modules);
    return places;
}
