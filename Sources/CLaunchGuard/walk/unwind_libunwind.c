/* The spare walk: libunwind's remote interface on this very process, for a crash of our own reader
 * of unwind tables. Only a program that asks for the walk loads libunwind.
 *
 * The walk is not used where our own walk ends early: libunwind would go on by guesses. The local
 * interface of libunwind asks the dynamic linker for the modules, and hangs when another thread
 * holds the loader's lock; the remote one asks our accessors. */
#include "walk/walk.h"

/* The SDK for static programs (musl) has no such library. */
#if defined(LG_LIBUNWIND) && __has_include(<libunwind-common.h>)
#include <dlfcn.h>
#if defined(__x86_64__)
#include <libunwind-x86_64.h>
#elif defined(__aarch64__)
#include <libunwind-aarch64.h>
#endif

#define FRAMES_LIMIT 4096u

#if defined(__x86_64__)
#define LIBRARY "libunwind-x86_64.so.8"
#elif defined(__aarch64__)
#define LIBRARY "libunwind-aarch64.so.8"
#endif

/* Exported by libunwind, declared in none of its headers; the way Linux perf unwinds. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info, unw_proc_info_t *procedure,
                                              int need_unwind_info, void *argument);

/* libunwind, once it is loaded. */
static struct {
    __typeof__(unw_create_addr_space) *create;
    __typeof__(unw_init_remote) *init;
    __typeof__(unw_get_reg) *get;
    __typeof__(unw_step) *step;
    __typeof__(UNW_OBJ(dwarf_search_unwind_table)) *search;
} library;

static _Atomic(unw_addr_space_t) space;

static int find_proc_info(unw_addr_space_t in, unw_word_t ip, unw_proc_info_t *procedure, int need_unwind_info, void *argument)
{
    const struct lg__module_range *module = lg__loader_find(ip);
    if (!module || !module->frame_header)
        return -UNW_ENOINFO;
    unw_dyn_info_t info;
    memset(&info, 0, sizeof info);
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.start_ip = module->start;
    info.end_ip = module->end;
    info.u.rti.segbase = module->frame_header;
    info.u.rti.table_data = module->table;
    /* two 32-bit offsets an entry, counted in words */
    info.u.rti.table_len = module->table_count * 8 / sizeof(unw_word_t);
    return library.search(in, ip, &info, procedure, need_unwind_info, argument);
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
    (void)in, (void)argument;
    uint64_t value;
    if (write || !lg__memory_word(address, &value))
        return -UNW_EINVAL;
    *word = value;
    return 0;
}

static int access_reg(unw_addr_space_t in, unw_regnum_t number, unw_word_t *value, int write, void *argument)
{
    (void)in;
    const uint64_t *registers = argument;
    /* Both count as DWARF does, up to and with the instruction pointer. */
    if (write || number < 0 || (uint32_t)number > lg__arch_pc)
        return -UNW_EBADREG;
    *value = registers[number];
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

static enum lg__walk walk(unw_addr_space_t in, uint64_t *registers, const struct lg__frames *frames)
{
    /* 1 KiB that small alternate stacks need not have; one crash at a time uses the buffer */
    static unw_cursor_t cursor;
    unw_word_t pc, sp, last_pc = 0, last_sp = 0;
    if (library.init(&cursor, in, registers) < 0)
        return LG__WALK_FAILED;
    for (uint32_t count = 0; count < FRAMES_LIMIT; count++) {
        if (library.get(&cursor, UNW_REG_IP, &pc) < 0 || library.get(&cursor, UNW_REG_SP, &sp) < 0)
            return LG__WALK_FAILED;
        if (count > 0 && pc == 0)
            return LG__WALK_COMPLETE;
        if (count > 0 && pc == last_pc && sp == last_sp)
            return LG__WALK_LOOP;
        lg__frames_add(frames, pc);
        last_pc = pc;
        last_sp = sp;
        int result = library.step(&cursor);
        if (result == 0)
            return LG__WALK_COMPLETE;
        if (result < 0)
            return result == -UNW_ENOINFO ? LG__WALK_NO_INFO : LG__WALK_FAILED;
    }
    return LG__WALK_LIMIT;
}

void lg__unwind_libunwind(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames)
{
    unw_addr_space_t ready = atomic_load(&space);
    if (!ready) {
        lg__frames_finish(frames, LG__WALK_NOT_READY);
        return;
    }
    lg__loader_settle();
    /* There is no unwind information at a wild pc: go back to the caller first. */
    uint64_t start[LG__REGISTERS_MAX], word;
    memcpy(start, registers, sizeof start);
    if (wild && lg__memory_word(registers[lg__arch_sp], &word)) {
        lg__frames_add(frames, registers[lg__arch_pc]);
        /* within the call: a return address may be past its function's end */
        lg__arch_return_to_caller(start, word - 1);
    }
    enum lg__walk reason = walk(ready, start, frames);
    lg__frames_finish(frames, reason);
}

static bool find(void *from, const char *name, void *ret_function)
{
    void *function = dlsym(from, name);
    memcpy(ret_function, &function, sizeof function);
    return function;
}

/* The name of a function, with the CPU as its prefix. */
#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define FIND(from, function, member) find(from, NAME(UNW_OBJ(function)), &library.member)

/* Load it privately: libunwind exports functions that would take over C++ exceptions. */
static bool load(void)
{
    void *loaded = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return loaded && FIND(loaded, create_addr_space, create) && FIND(loaded, init_remote, init) && FIND(loaded, get_reg, get) &&
           FIND(loaded, step, step) && FIND(loaded, dwarf_search_unwind_table, search);
}

bool lg__unwind_libunwind_prepare(void)
{
    static unw_accessors_t accessors = {
        .find_proc_info = find_proc_info,
        .put_unwind_info = put_unwind_info,
        .get_dyn_info_list_addr = get_dyn_info_list_addr,
        .access_mem = access_mem,
        .access_reg = access_reg,
        .access_fpreg = access_fpreg,
        .resume = resume,
        .get_proc_name = get_proc_name,
    };
    unw_addr_space_t made = load() ? library.create(&accessors, 0) : NULL;
    if (made)
        atomic_store(&space, made);
    return made;
}

#else
/* The static library needs libc alone, so that programs can be linked without any shared
 * library. */
void lg__unwind_libunwind(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames)
{
    (void)registers, (void)wild;
    lg__frames_finish(frames, LG__WALK_NOT_READY);
}

bool lg__unwind_libunwind_prepare(void)
{
    return false;
}
#endif
