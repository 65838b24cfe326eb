/* Uncaught C++ exceptions: a terminate handler keeps type and what() for the record of the abort
 * that follows.
 *
 * The core is C and needs no C++ runtime; where a program brings one, its entry points are weak
 * references here. The layout of an exception's type is that of the Itanium C++ ABI (2.9.5,
 * run-time type information), and so the same for libstdc++ and libc++abi. */
#include "capture/internal.h"

#include <stdlib.h>

typedef void (*terminate_function)(void);

extern terminate_function set_terminate(terminate_function) __asm__("_ZSt13set_terminatePFvvE") __attribute__((weak));
extern const void *current_exception_type(void) __asm__("__cxa_current_exception_type") __attribute__((weak));
extern void *current_primary_exception(void) __asm__("__cxa_current_primary_exception") __attribute__((weak));
extern struct globals *get_globals(void) __asm__("__cxa_get_globals") __attribute__((weak));
extern void pure_virtual(void) __asm__("__cxa_pure_virtual") __attribute__((weak));
/* Tables of virtual functions of the two kinds of type_info that have base classes. */
extern const char single_base_table[] __asm__("_ZTVN10__cxxabiv120__si_class_type_infoE") __attribute__((weak));
extern const char multiple_base_table[] __asm__("_ZTVN10__cxxabiv121__vmi_class_type_infoE") __attribute__((weak));

/* offset to top and type_info come before what an object points at (2.5.2) */
#define TABLE_TO_POINTER (2 * sizeof(void *))
#define BASES_MAX 32
#define DEPTH_MAX 16
#define WHAT_SLOT 2 /* of std::exception: two destructors come first */
#define PURE_VIRTUAL_BYTES 64u
#define TERMINATE_BYTES 1024u /* more than on_terminate_cpp() has */

struct base {
    const struct type *type;
    long offset_flags; /* offset in the upper bits from 8 on; bit 0: virtual */
};

struct type {
    const char *table;
    const char *name;
    union {
        const struct type *single;
        struct {
            unsigned flags, count;
            struct base bases[BASES_MAX]; /* `count` of them */
        } multiple;
    } with;
};

/* Exception header and globals of a thread (Itanium C++ ABI, exception handling, 2.2), as libstdc++
 * has them. The object lies after the header. */
struct exception_header {
    /* of an exception that was thrown again from an exception_ptr, the object */
    void *type_or_object;
    void *pointers_0[4];
    int counts[2];
    void *pointers_1[4];
    char class_name[8]; /* of the unwinder's part, which takes four words */
    void *unwind[3];
};

struct globals {
    struct exception_header *caught;
};

static terminate_function earlier_terminate;
static uint64_t pure_virtual_at; /* 0: no C++ runtime */
static uint64_t terminate_at;    /* of our terminate handler */
static struct lg__exception pending;
static _Atomic int32_t pending_tid LG__SMALL; /* thread that terminates; 0: none */

static const char *name_of(const struct type *type)
{
    /* a mark of gcc: unique by address */
    return type->name[0] == '*' ? type->name + 1 : type->name;
}

/* The std::exception within an object; NULL: it has none. */
static const void *exception_within(const struct type *type, const char *object, int depth)
{
    if (strcmp(name_of(type), "St9exception") == 0)
        return object;
    if (depth == DEPTH_MAX)
        return NULL;
    if (single_base_table && type->table == single_base_table + TABLE_TO_POINTER)
        return exception_within(type->with.single, object, depth + 1);
    if (!multiple_base_table || type->table != multiple_base_table + TABLE_TO_POINTER)
        return NULL;
    for (unsigned i = 0; i < type->with.multiple.count && i < BASES_MAX; i++) {
        const struct base *base = &type->with.multiple.bases[i];
        long offset = base->offset_flags >> 8;
        /* the offset of a virtual base is in the object's table, at that place */
        if (base->offset_flags & 1)
            offset = *(const long *)(const void *)(*(const char *const *)(const void *)object + offset);
        const void *found = exception_within(base->type, object + offset, depth + 1);
        if (found)
            return found;
    }
    return NULL;
}

/* The object that was thrown and for which std::terminate() was called: the runtime counts it as
 * caught. */
static const char *thrown_object(void)
{
    if (current_primary_exception)
        return current_primary_exception();
    struct globals *globals = get_globals ? get_globals() : NULL;
    const struct exception_header *header = globals ? globals->caught : NULL;
    /* "GNUCC++" and a byte, as a number */
    if (!header || memcmp(header->class_name + 1, "++CCUNG", 7) != 0)
        return NULL;
    return header->class_name[0] ? header->type_or_object : (const char *)(header + 1);
}

static void keep_what(const struct type *type)
{
    typedef const char *(*what_function)(const void *);
    const char *object = thrown_object();
    const void *exception = object ? exception_within(type, object, 0) : NULL;
    if (!exception)
        return;
    const what_function *table = *(const what_function *const *)exception;
    const char *what = table[WHAT_SLOT](exception);
    if (!what)
        return;
    size_t size = strnlen(what, sizeof pending.what - 1);
    memcpy(pending.what, what, size);
    pending.what[size] = 0;
    pending.has_what = true;
}

static __attribute__((noinline)) void on_terminate_cpp(void)
{
    int32_t nobody = 0, self = lg__os_tid();
    bool own = lg__os_pid() == lg__fixed.pid;
    /* One thread at a time, as with crashes; what() may itself terminate. */
    if (own && !atomic_compare_exchange_strong(&pending_tid, &nobody, self) && nobody != self)
        lg__os_futex_wait((const uint32_t *)&pending_tid, (uint32_t)nobody, (uint64_t)lg__fixed.options.deadline_ms * 1000000u);
    if (own && nobody == 0) {
        /* NULL: terminate() was called without an exception, so there is none to ask for. */
        const struct type *type = current_exception_type ? current_exception_type() : NULL;
        pending.type = type ? name_of(type) : NULL;
        if (type)
            keep_what(type);
    }
    if (earlier_terminate)
        earlier_terminate();
    abort();
}

void lg__exception_prepare(void)
{
    pure_virtual_at = (uint64_t)(uintptr_t)pure_virtual;
    terminate_at = (uint64_t)(uintptr_t)on_terminate_cpp;
    if (lg__memory_has_code((void (*)(void))set_terminate) && earlier_terminate == NULL) {
        terminate_function was = set_terminate(on_terminate_cpp);
        if (was != on_terminate_cpp)
            earlier_terminate = was;
    }
}

/* Whether the crashed thread's stack leads through a function that begins at `place` and is no
 * longer than `size`. */
static bool leads_through(uint64_t place, uint64_t size, uint32_t depth)
{
    const struct lg__crash_frames *frames = lg__run_stage(&lg__fixed.options.run, 0, LG_STAGE_DWARF);
    for (uint32_t i = 0; place && i < frames->head.stored && i < depth; i++)
        if (frames->pcs[i] > place && frames->pcs[i] <= place + size)
            return true;
    return false;
}

const struct lg__exception *lg__exception_pending(void)
{
    /* A terminate handler of the program may have left by longjmp: only calls on the stack are
     * under way. */
    if (atomic_load(&pending_tid) != lg__os_tid() || !leads_through(terminate_at, TERMINATE_BYTES, 64))
        return NULL;
    /* A call of a pure virtual function terminates without an exception, from a function of its
     * own. */
    pending.pure_virtual = !pending.type && leads_through(pure_virtual_at, PURE_VIRTUAL_BYTES, 16);
    return &pending;
}

void lg__exception_forget(void)
{
    atomic_store(&pending_tid, 0);
}
