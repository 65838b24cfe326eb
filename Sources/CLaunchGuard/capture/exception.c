/* Uncaught C++ exceptions: at an abort that std::terminate() led to, the runtime is asked which
 * exception the thread has, of which type, and what it says.
 *
 * The core is C and needs no C++ runtime. The runtime is found at the crash, not at the start: a
 * library may bring it later, and programs set terminate handlers of their own. All its data is
 * read as memory that may be gone. Code is called twice: the runtime's function for the thread's
 * data, and what(), which is code of the program, after the record has all that needs no call. The
 * layouts are those of the Itanium C++ ABI (exception handling, 2.2; 2.9.5, run-time type
 * information), the same for libstdc++ and libc++abi where they are used. */
#include "capture/internal.h"

enum { GLOBALS, TERMINATE, INNER_TERMINATE, THROW, RETHROW, PERSONALITY, PURE_VIRTUAL, SINGLE_BASE, MULTIPLE_BASES, SYMBOLS };
static const char *const names[SYMBOLS] = {
    [GLOBALS] = "__cxa_get_globals_fast",
    [TERMINATE] = "_ZSt9terminatev",
    [INNER_TERMINATE] = "_ZN10__cxxabiv111__terminateEPFvvE", /* not exported */
    [THROW] = "__cxa_throw",
    [RETHROW] = "__cxa_rethrow",
    [PERSONALITY] = "__gxx_personality_v0",
    [PURE_VIRTUAL] = "__cxa_pure_virtual",
    /* tables of virtual functions of the two kinds of type_info that have base classes */
    [SINGLE_BASE] = "_ZTVN10__cxxabiv120__si_class_type_infoE",
    [MULTIPLE_BASES] = "_ZTVN10__cxxabiv121__vmi_class_type_infoE",
};

/* A runtime that is linked into this module or that this module needs; weak, as most programs have
 * none. */
extern void get_globals_here(void) __asm__("__cxa_get_globals_fast") __attribute__((weak));
extern void terminate_here(void) __asm__("_ZSt9terminatev") __attribute__((weak));
extern void throw_here(void *, void *, void (*)(void *)) __asm__("__cxa_throw") __attribute__((weak));
extern void rethrow_here(void) __asm__("__cxa_rethrow") __attribute__((weak));
extern unsigned personality_here(void) __asm__("__gxx_personality_v0") __attribute__((weak));
extern void pure_virtual_here(void) __asm__("__cxa_pure_virtual") __attribute__((weak));
extern const char single_base_here[] __asm__("_ZTVN10__cxxabiv120__si_class_type_infoE") __attribute__((weak));
extern const char multiple_bases_here[] __asm__("_ZTVN10__cxxabiv121__vmi_class_type_infoE") __attribute__((weak));

struct runtime {
    uint64_t at[SYMBOLS], size[SYMBOLS];
};

/* Sizes of the functions where only their addresses are known. */
static const uint64_t usual_size[SYMBOLS] = { [TERMINATE] = 64, [INNER_TERMINATE] = 64, [THROW] = 256, [RETHROW] = 256, [PERSONALITY] = 2048, [PURE_VIRTUAL] = 64 };

/* offset to top and type_info come before what an object points at (2.5.2) */
#define TABLE_TO_POINTER (2 * sizeof(void *))
#define BASES_MAX 32u
#define DEPTH_MAX 16
#define WHAT_SLOT 2 /* of std::exception: two destructors come first */
#define WORD sizeof(uint64_t)

/* The part of the unwinder in an exception's header begins with the class of the exception, 32
 * bytes before the object, and the type 112 bytes before the object. libc++abi has two words more
 * in front. */
#define CLASS_BEFORE_OBJECT 32u
#define TYPE_BEFORE_OBJECT 112u
#define WORDS_IN_FRONT 16u
/* of an exception that was thrown again from an exception_ptr */
#define IS_DEPENDENT 1u

static struct runtime linked LG__SMALL; /* the one of the start */
static struct runtime runtime LG__SMALL;

/* ---- the runtime ---- */

/* Whether the crashed thread's stack leads through a function of the runtime. */
static bool is_within(uint64_t pc, unsigned symbol)
{
    const uint64_t at = runtime.at[symbol], size = runtime.size[symbol] ? runtime.size[symbol] : usual_size[symbol];
    return at && pc > at && pc <= at + size;
}

static const struct lg__crash_frames *crashed_frames(void)
{
    const struct lg__run *run = &lg__fixed.options.run;
    return lg__run_stage(run, 0, lg__run_is_committed(run, 0, LG_STAGE_DWARF) ? LG_STAGE_DWARF : LG_STAGE_FRAMES);
}

static bool leads_through(unsigned symbol, uint32_t depth)
{
    const struct lg__crash_frames *frames = crashed_frames();
    for (uint32_t i = 0; i < frames->head.stored && i < depth; i++)
        if (is_within(frames->pcs[i], symbol))
            return true;
    return false;
}

/* So deep a terminate handler of the program may abort. */
#define TERMINATE_DEPTH 64u
#define TERMINATE_WORDS 2048u

/* A static program may have no tables for a walk. Words of its stack then show std::terminate(),
 * which never returns: no such word is left over from an earlier call. */
static bool terminates_by_stack(void)
{
    const struct lg__crash_header *header = lg__run_stage(&lg__fixed.options.run, 0, LG_STAGE_HEADER);
    uint64_t word = 0;
    for (uint64_t at = header->sp; at < header->sp + TERMINATE_WORDS * WORD && lg__memory_word(at, &word); at += WORD)
        if (is_within(word, TERMINATE) || is_within(word, INNER_TERMINATE))
            return true;
    return false;
}

/* std::terminate() is under way: nothing else stays on the stack after these begin to unwind. */
static bool terminates(void)
{
    static const uint8_t evidence[] = { TERMINATE, INNER_TERMINATE, THROW, RETHROW, PERSONALITY };
    for (size_t i = 0; i < sizeof evidence; i++)
        if (leads_through(evidence[i], TERMINATE_DEPTH))
            return true;
    return crashed_frames()->head.reason != LG__WALK_COMPLETE && terminates_by_stack();
}

void lg__exception_prepare(void)
{
    const uintptr_t here[SYMBOLS] = {
        [GLOBALS] = (uintptr_t)get_globals_here,      [TERMINATE] = (uintptr_t)terminate_here,
        [THROW] = (uintptr_t)throw_here,              [RETHROW] = (uintptr_t)rethrow_here,
        [PERSONALITY] = (uintptr_t)personality_here,  [PURE_VIRTUAL] = (uintptr_t)pure_virtual_here,
        [SINGLE_BASE] = (uintptr_t)single_base_here,  [MULTIPLE_BASES] = (uintptr_t)multiple_bases_here,
    };
    for (unsigned i = 0; i < SYMBOLS; i++)
        linked.at[i] = here[i];
}

static void take_exported(const struct lg__module_range *module)
{
    memset(&runtime, 0, sizeof runtime);
    for (unsigned i = 0; i < SYMBOLS && (i == 0 || runtime.at[GLOBALS]); i++)
        runtime.at[i] = lg__image_symbol(module, names[i], lg__memory_read, &runtime.size[i]);
}

/* The runtime by which the thread terminates; a program may have several. */
static bool find_runtime(bool exported)
{
    const struct lg__module_range *module;
    if (!exported) {
        lg__symtab_find(names, SYMBOLS, runtime.at, runtime.size);
        return runtime.at[GLOBALS] && terminates();
    }
    runtime = linked;
    if (runtime.at[GLOBALS] && terminates())
        return true;
    for (uint32_t i = 0; (module = lg__loader_module(i)); i++) {
        take_exported(module);
        if (runtime.at[GLOBALS] && terminates())
            return true;
    }
    return false;
}

/* ---- the exception ---- */

static uint64_t word_at(uint64_t address)
{
    uint64_t word = 0;
    return address && lg__memory_word(address, &word) ? word : 0;
}

static uint64_t class_before(uint64_t object)
{
    return word_at(object - CLASS_BEFORE_OBJECT);
}

/* "GNUCC++" or "CLNGC++" and a byte, as a number */
static bool is_cplusplus(uint64_t class)
{
    return class >> 8 == UINT64_C(0x474e5543432b2b) || class >> 8 == UINT64_C(0x434c4e47432b2b);
}

/* The object that was thrown and for which std::terminate() was called: the runtime counts it as
 * caught. 0: there is none. */
static uint64_t thrown_object(void)
{
    typedef uint64_t (*globals_function)(void);
    const globals_function globals = (globals_function)(uintptr_t)runtime.at[GLOBALS];
    if (!lg__loader_has_code(runtime.at[GLOBALS]))
        return 0;
    const uint64_t header = word_at(globals());
    for (unsigned front = 0; header && front <= WORDS_IN_FRONT; front += WORDS_IN_FRONT) {
        const uint64_t object = header + front + TYPE_BEFORE_OBJECT, class = class_before(object);
        if (!is_cplusplus(class))
            continue;
        /* the object of a dependent exception is in its first word, or after a reserved one */
        return (class & 0xff) == IS_DEPENDENT ? word_at(front ? header + WORD : header) : object;
    }
    return 0;
}

static uint64_t name_of(uint64_t type)
{
    const uint64_t name = word_at(type + WORD);
    char mark = 0;
    /* a mark of gcc: unique by address */
    return name && lg__memory_read(&mark, name, 1) == 1 ? name + (mark == '*') : 0;
}

static bool is_named(uint64_t type, const char *name)
{
    char text[80];
    const size_t size = strlen(name) + 1;
    return size <= sizeof text && lg__memory_read(text, name_of(type), size) == size && memcmp(text, name, size) == 0;
}

/* Types that one question may look at: damaged ones may be bases of themselves. */
#define TYPES_MAX 256u

static uint64_t look_for_base(uint64_t type, uint64_t object, const char *name, int depth, unsigned *left)
{
    const uint64_t table = *left ? word_at(type) : 0;
    *left -= *left > 0;
    if (!type || !object || is_named(type, name))
        return type ? object : 0;
    if (depth == DEPTH_MAX || !table)
        return 0;
    if (runtime.at[SINGLE_BASE] && table == runtime.at[SINGLE_BASE] + TABLE_TO_POINTER)
        return look_for_base(word_at(type + 2 * WORD), object, name, depth + 1, left);
    if (!runtime.at[MULTIPLE_BASES] || table != runtime.at[MULTIPLE_BASES] + TABLE_TO_POINTER)
        return 0;
    /* flags, count, and pairs of a type and an offset from bit 8 on; bit 0: virtual */
    const uint64_t count = word_at(type + 2 * WORD) >> 32;
    for (uint64_t i = 0; i < count && i < BASES_MAX && *left; i++) {
        const uint64_t base = type + (3 + 2 * i) * WORD, flags = word_at(base + WORD);
        int64_t offset = (int64_t)flags >> 8;
        /* the offset of a virtual base is in the object's table, at that place */
        if (flags & 1)
            offset = (int64_t)word_at(word_at(object) + (uint64_t)offset);
        const uint64_t found = look_for_base(word_at(base), object + (uint64_t)offset, name, depth + 1, left);
        if (found)
            return found;
    }
    return 0;
}

/* The base of this name within an object; 0: it has none. */
static uint64_t base_within(uint64_t type, uint64_t object, const char *name)
{
    unsigned left = TYPES_MAX;
    return look_for_base(type, object, name, 0, &left);
}

bool lg__exception_find(bool exported, struct lg__exception *ret_exception)
{
    struct lg__exception exception = { .object = 0 };
    if (!find_runtime(exported))
        return false;
    exception.object = thrown_object();
    exception.type = exception.object ? word_at(exception.object - TYPE_BEFORE_OBJECT) : 0;
    exception.name = exception.type ? name_of(exception.type) : 0;
    /* A call of a pure virtual function terminates without an exception, from a function of its
     * own. */
    exception.pure_virtual = !exception.name && leads_through(PURE_VIRTUAL, 16);
    *ret_exception = exception;
    return true;
}

bool lg__exception_cause(struct lg__exception *exception)
{
    /* std::nested_exception has its table and an exception_ptr, which is a pointer to the object */
    const uint64_t nested = base_within(exception->type, exception->object, "St16nested_exception"), object = nested ? word_at(nested + WORD) : 0;
    const uint64_t type = object && is_cplusplus(class_before(object)) ? word_at(object - TYPE_BEFORE_OBJECT) : 0;
    if (!type || object == exception->object)
        return false;
    *exception = (struct lg__exception){ .object = object, .type = type, .name = name_of(type) };
    return exception->name != 0;
}

/* ---- what it says ---- */

/* A value of a type of its own: its name in the ABI is one letter. */
static bool put_number(char letter, uint64_t object, char *ret_text)
{
    static const char sizes[] = { ['a'] = 1, ['b'] = 1, ['c'] = 1, ['h'] = 1, ['s'] = 2, ['t'] = 2, ['i'] = 4, ['j'] = 4, ['l'] = 8, ['m'] = 8, ['x'] = 8, ['y'] = 8 };
    const size_t size = letter > 0 && (size_t)letter < sizeof sizes ? (size_t)sizes[(size_t)letter] : 0;
    const bool is_signed = letter == 'a' || letter == 'c' || letter == 's' || letter == 'i' || letter == 'l' || letter == 'x';
    uint64_t value = 0;
    char digits[24];
    unsigned count = 0;
    if (!size || lg__memory_read(&value, object, size) != size)
        return false;
    const bool is_negative = is_signed && value >> (8 * size - 1) & 1;
    if (is_negative)
        value = ~(value | (size < 8 ? UINT64_MAX << 8 * size : 0)) + 1;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    if (is_negative)
        *ret_text++ = '-';
    while (count)
        *ret_text++ = digits[--count];
    *ret_text = 0;
    return true;
}

/* std::string: of libstdc++ a pointer first; of libc++ a size in the first byte, where bit 0 says
 * that the text is elsewhere. */
static uint64_t text_of_string(const struct lg__exception *exception)
{
    uint8_t first = 0;
    if (is_named(exception->type, "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE") || is_named(exception->type, "Ss"))
        return word_at(exception->object);
    if (!is_named(exception->type, "NSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE") ||
        lg__memory_read(&first, exception->object, sizeof first) != sizeof first)
        return 0;
    return first & 1 ? word_at(exception->object + 2 * WORD) : exception->object + 1;
}

uint64_t lg__exception_value(const struct lg__exception *exception, char number[LG__NUMBER_BYTES])
{
    char name[4] = "";
    lg__memory_read(name, exception->name, sizeof name);
    if (name[0] && !name[1])
        return put_number(name[0], exception->object, number) ? (uint64_t)(uintptr_t)number : 0;
    if (memcmp(name, "PKc", 4) == 0 || memcmp(name, "Pc", 3) == 0)
        return word_at(exception->object);
    return text_of_string(exception);
}

uint64_t lg__exception_what(const struct lg__exception *exception)
{
    typedef uint64_t (*what_function)(uint64_t);
    const uint64_t object = base_within(exception->type, exception->object, "St9exception"), what = object ? word_at(word_at(object) + WHAT_SLOT * WORD) : 0;
    return lg__loader_has_code(what) ? ((what_function)(uintptr_t)what)(object) : 0;
}
