/* Stage 5: the last words of the program and its runtimes. */
#include "capture/internal.h"

#include "os/fault_point.h"
#include "store/crc32c.h"

/* Longest text of lg__capture_say(), with its NUL. */
/* What tells where a runtime keeps its text. */
enum { ABORT_MESSAGE, SWIFT_MESSAGE, GLIB_MESSAGE, PLACES };
static const char *const place_names[PLACES] = { "__abort_msg", "swift_getFatalErrorMessageBuffer", "__glib_assert_msg" };

#define SAID_BYTES 1024
/* More threads than abort at once. */
#define TEXTS_MAX 64u

/* Address of the Swift runtime's pointer to the text of a fatal error; NULL: no Swift. */
static const void *swift_message LG__SMALL;

/* A function of the Swift runtime, from 6.0 on: address of its pointer to the text. Only programs
 * that link the runtime have it. */
extern const void *swift_getFatalErrorMessageBuffer(void) __attribute__((weak));

void lg__messages_prepare(void)
{
    swift_message = lg__memory_has_code((void (*)(void))swift_getFatalErrorMessageBuffer) ? swift_getFatalErrorMessageBuffer() : NULL;
    lg__exception_prepare();
}

/* ---- runtimes that came later, or are linked statically ---- */

static bool is_libc(const struct lg__module_range *module)
{
    static const char libc[] = "/libc.so.6";
    static struct lg__image_name name; /* too large for small alternate stacks */
    lg__image_name(&name, module->name, lg__memory_read);
    return name.size >= sizeof libc - 1 && memcmp(name.text + name.size - (sizeof libc - 1), libc, sizeof libc - 1) == 0;
}

/* glibc's pointer to the text of an abort, which begins after a length; NULL: another libc. */
static const void *abort_message(void)
{
    const struct lg__module_range *module;
    uint32_t i = 0;
    while ((module = lg__loader_module(i)) && !is_libc(module))
        i++;
    return module ? (const void *)(uintptr_t)lg__image_symbol(module, place_names[ABORT_MESSAGE], lg__memory_read, NULL) : NULL;
}

/* Of the modules that export it, the first. */
static uint64_t exported(const char *name)
{
    const struct lg__module_range *module;
    uint64_t found = 0;
    for (uint32_t i = 0; !found && (module = lg__loader_module(i)); i++)
        found = lg__image_symbol(module, name, lg__memory_read, NULL);
    return found;
}

/* ---- the kind of crash that a text names ---- */

struct known_text {
    const char *text;
    bool at_begin; /* else anywhere */
    lg_crash_kind kind;
};

static bool starts_with(const char *text, size_t size, const char *begin)
{
    size_t length = strlen(begin);
    return size >= length && memcmp(text, begin, length) == 0;
}

static uint32_t kind_of(const char *text, size_t size, const struct known_text *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < size && (at == 0 || !known[i].at_begin); at++)
            if (starts_with(text + at, size - at, known[i].text))
                return known[i].kind;
    return LG_CRASH_OTHER;
}

/* Texts of glibc 2.36: debug/, malloc/malloc.c, assert/assert.c, sysdeps/posix/libc_fatal.c. */
static const struct known_text libc_texts[] = {
    { "*** stack smashing detected", true, LG_CRASH_ABORT_STACK_SMASH },
    { "*** longjmp causes uninitialized", true, LG_CRASH_ABORT_LONGJMP },
    { "*** ", true, LG_CRASH_ABORT_FORTIFY },
    { "Fatal glibc error: malloc", true, LG_CRASH_ABORT_HEAP },
    { "Fatal glibc error", true, LG_CRASH_ABORT_LIBC },
    { "Assertion `", false, LG_CRASH_ABORT_ASSERT },
    { "free(): ", true, LG_CRASH_ABORT_HEAP },
    { "malloc(): ", true, LG_CRASH_ABORT_HEAP },
    { "malloc_consolidate(): ", true, LG_CRASH_ABORT_HEAP },
    { "malloc_check_get_size: ", true, LG_CRASH_ABORT_HEAP },
    { "munmap_chunk(): ", true, LG_CRASH_ABORT_HEAP },
    { "mremap_chunk(): ", true, LG_CRASH_ABORT_HEAP },
    { "realloc(): ", true, LG_CRASH_ABORT_HEAP },
    { "double free or corruption", true, LG_CRASH_ABORT_HEAP },
    { "corrupted ", true, LG_CRASH_ABORT_HEAP },
    { "tcache_thread_shutdown(): ", true, LG_CRASH_ABORT_HEAP },
    { "", true, LG_CRASH_ABORT_LIBC },
};

/* Texts of the Swift 6.3 runtime: stdlib/public/runtime. */
static const struct known_text swift_abort_texts[] = {
    { "Could not cast value of type", false, LG_CRASH_ABORT_SWIFT_CAST },
    { "Fatal access conflict detected", false, LG_CRASH_ABORT_SWIFT_EXCLUSIVITY },
    { "unowned reference", false, LG_CRASH_ABORT_SWIFT_UNOWNED },
    { "failed to allocate", false, LG_CRASH_ABORT_ALLOC },
    { "", true, LG_CRASH_ABORT_SWIFT },
};

static const struct known_text swift_trap_texts[] = {
    { "Unexpectedly found nil", false, LG_CRASH_TRAP_SWIFT_NIL },
    { "'try!' expression unexpectedly raised", false, LG_CRASH_TRAP_SWIFT_ERROR },
    { "Error raised at top level", false, LG_CRASH_TRAP_SWIFT_TOP_LEVEL },
    { "Swift/", true, LG_CRASH_TRAP_SWIFT }, /* a check of the standard library in a debug build */
    { "Fatal error: ", false, LG_CRASH_TRAP_SWIFT_FATAL_ERROR },
    { "", true, LG_CRASH_TRAP_SWIFT },
};
#define KIND_OF(message, table) kind_of((message)->text, (message)->size, table, sizeof table / sizeof table[0])

/* ---- what a guard or a function that we stand in for says before it ends the program ---- */

/* The message of the first thread that says something. That thread is the only writer, and its own
 * crash the only reader. */
static struct {
    _Atomic int32_t tid; /* 0: nobody */
    lg_message_source source;
    char text[SAID_BYTES];
} said_before LG__SMALL;

void lg__capture_say(lg_message_source source, const char *text)
{
    const int32_t mine = lg__os_tid();
    int32_t is = 0;
    if (!atomic_compare_exchange_strong(&said_before.tid, &is, mine) && is != mine)
        return;
    said_before.source = source;
    size_t size = 0;
    for (; size < sizeof said_before.text - 1 && text[size]; size++)
        said_before.text[size] = text[size];
    said_before.text[size] = 0;
}

/* ---- the stage ---- */

static struct lg__crash_messages *messages_block LG__SMALL;

struct said {
    const char *text;
    size_t size;
};

/* Append the text at an address, up to its NUL. */
static struct said add(lg_message_source source, uint64_t address)
{
    char *to = messages_block->text + messages_block->text_size;
    size_t room = sizeof messages_block->text - messages_block->text_size;
    if (messages_block->count == LG__MESSAGES_MAX || room == 0)
        return (struct said){ to, 0 };
    size_t size = lg__memory_read(to, address, room);
    const char *end = memchr(to, 0, size);
    bool cut = !end;
    if (end)
        size = (size_t)(end - to);
    while (size && (to[size - 1] == '\n' || to[size - 1] == '\r'))
        size--;
    if (size) {
        messages_block->messages[messages_block->count++] = (struct lg__message){ source, messages_block->text_size, (uint32_t)size, cut };
        messages_block->text_size += (uint32_t)size;
    }
    return (struct said){ to, size };
}

static bool is_trap(uint32_t kind)
{
    return kind == LG_CRASH_ILLEGAL || kind == LG_CRASH_BREAKPOINT;
}

/* Append the text that a pointer of a runtime library leads to, `offset` bytes after the address in
 * the pointer. Another thread that aborts puts its own text in place and frees this thread's
 * memory, and a third may be writing a new text at that address: only a text that is read twice the
 * same is believed. */
static struct said add_current(lg_message_source source, const void *pointer, size_t offset)
{
    const uint32_t count = messages_block->count, text_size = messages_block->text_size;
    uint64_t message, seen = 0;
    uint32_t crc = 0;
    struct said said = { NULL, 0 };
    for (unsigned tries = 0; pointer && tries < TEXTS_MAX; tries++) {
        if (!lg__memory_word((uint64_t)(uintptr_t)pointer, &message) || !message)
            break;
        LG_FAULT_POINT("messages: found");
        messages_block->count = count;
        messages_block->text_size = text_size;
        said = add(source, message + offset);
        uint32_t before = crc;
        crc = lg__crc32c(0, said.text, said.size);
        if (said.size && message == seen && crc == before)
            break;
        seen = message;
    }
    return said;
}

static void add_said(int32_t tid)
{
    if (atomic_load(&said_before.tid) != tid)
        return;
    add(said_before.source, (uint64_t)(uintptr_t)said_before.text);
    if (said_before.source == LG_MESSAGE_LIBC)
        messages_block->kind = LG_CRASH_ABORT_ASSERT;
    atomic_store(&said_before.tid, 0); /* a survived crash leaves nothing for the next one */
}

static void add_libc(uint32_t kind, const void *pointer)
{
    /* unsigned size; char text[] */
    struct said said = add_current(LG_MESSAGE_LIBC, pointer, sizeof(unsigned));
    if (said.size && kind == LG_CRASH_ABORT)
        messages_block->kind = KIND_OF(&said, libc_texts);
}

static void add_swift(uint32_t kind, const void *pointer)
{
    struct said said = add_current(LG_MESSAGE_SWIFT, pointer, 0);
    if (said.size && kind == LG_CRASH_ABORT)
        messages_block->kind = KIND_OF(&said, swift_abort_texts);
    else if (said.size && is_trap(kind))
        messages_block->kind = KIND_OF(&said, swift_trap_texts);
}

/* ---- overlapping accesses ---- */

/* What the runtime tells a debugger (swift/Runtime/Debug.h, RuntimeErrorDetails): it lies in the
 * frame of the function that found the conflict, and begins with a version and the type of the
 * error. The other access is that of its one other thread. */
struct access_details {
    uint64_t version, type, current, skip, address, thread_count, threads;
};
struct access_thread {
    uint64_t description, id, frame_count, frames;
};

#define ACCESS_WORDS 1024u

static bool find_accesses(struct access_details *ret_details, struct access_thread *ret_other, uint64_t *ret_pc)
{
    static const char type[] = "exclusivity-violation";
    const struct lg__crash_header *header = lg__run_stage(&lg__fixed.options.run, 0, LG_STAGE_HEADER);
    const uint64_t word = sizeof(uint64_t);
    char text[sizeof type];
    for (uint64_t at = header->sp; at < header->sp + ACCESS_WORDS * word; at += word) {
        if (lg__memory_read(ret_details, at, sizeof *ret_details) != sizeof *ret_details)
            return false;
        if (ret_details->thread_count == 1 && lg__loader_find(ret_details->type) && lg__memory_read(text, ret_details->type, sizeof text) == sizeof text &&
            memcmp(text, type, sizeof type) == 0)
            return lg__memory_read(ret_other, ret_details->threads, sizeof *ret_other) == sizeof *ret_other && ret_other->frame_count &&
                   lg__memory_word(ret_other->frames, ret_pc);
    }
    return false;
}

/* Append to the text of the last message. */
static void append(const char *text, size_t size)
{
    struct lg__message *last = &messages_block->messages[messages_block->count - 1];
    if (size > sizeof messages_block->text - messages_block->text_size)
        return;
    memcpy(messages_block->text + messages_block->text_size, text, size);
    messages_block->text_size += (uint32_t)size;
    last->size += (uint32_t)size;
}

static void append_address(uint64_t address)
{
    static const char digits[] = "0123456789abcdef";
    char text[18] = "0x";
    for (unsigned i = 0; i < 16; i++)
        text[2 + i] = digits[address >> (60 - 4 * i) & 15];
    append(text, sizeof text);
}

/* The runtime writes the place after its description. */
static size_t without_place(const char *description, size_t size)
{
    static const char place[] = " started at";
    const size_t length = sizeof place - 1;
    return size >= length && memcmp(description + size - length, place, length) == 0 ? size - length : size;
}

/* "Current access (a read); Previous access (a modification) started at 0x…" */
static void add_accesses(void)
{
    struct access_details details;
    struct access_thread other;
    uint64_t pc;
    char description[64];
    if (!find_accesses(&details, &other, &pc) || !add(LG_MESSAGE_SWIFT, details.current).size)
        return;
    const size_t read = lg__memory_read(description, other.description, sizeof description);
    const char *end = memchr(description, 0, read);
    if (!end)
        return;
    struct lg__message *last = &messages_block->messages[messages_block->count - 1];
    const size_t current = without_place(messages_block->text + last->offset, last->size);
    messages_block->text_size -= last->size - (uint32_t)current;
    last->size = (uint32_t)current;
    append("; ", 2);
    append(description, without_place(description, (size_t)(end - description)));
    append(" started at ", 12);
    append_address(pc);
}

/* The runtime's function for the address of its pointer, where the runtime is none of the start. */
static const void *swift_pointer(uint64_t function)
{
    typedef const void *(*buffer_function)(void);
    return lg__loader_has_code(function) ? ((buffer_function)(uintptr_t)function)() : NULL;
}

static void add_glib(uint32_t kind, uint64_t pointer)
{
    if (add_current(LG_MESSAGE_GLIB, (const void *)(uintptr_t)pointer, 0).size && kind == LG_CRASH_ABORT)
        messages_block->kind = LG_CRASH_ABORT_ASSERT;
}

static void commit(void)
{
    lg__run_commit(&lg__fixed.options.run, 0, LG_STAGE_MESSAGES, offsetof(struct lg__crash_messages, text) + messages_block->text_size);
}

#define CAUSES_MAX 3u

static void put_exceptions(const struct lg__exception *exceptions, const uint64_t *said, uint32_t count)
{
    char number[LG__NUMBER_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t text = said && said[i] ? said[i] : lg__exception_value(&exceptions[i], number);
        add(LG_MESSAGE_CPP_TYPE, exceptions[i].name);
        if (text)
            add(LG_MESSAGE_CPP_WHAT, text);
    }
}

static void add_exceptions(uint32_t kind, bool is_exported)
{
    struct lg__exception exceptions[CAUSES_MAX], *const first = &exceptions[0];
    uint64_t said[CAUSES_MAX];
    uint32_t count = 1;
    if (!lg__exception_find(is_exported, first))
        return;
    if (kind == LG_CRASH_ABORT)
        messages_block->kind = first->name           ? LG_CRASH_ABORT_CPP_EXCEPTION
                               : first->pure_virtual ? LG_CRASH_ABORT_PURE_VIRTUAL
                                                     : LG_CRASH_ABORT_CPP_TERMINATE;
    for (; first->name && count < CAUSES_MAX; count++) {
        exceptions[count] = exceptions[count - 1];
        if (!lg__exception_cause(&exceptions[count]))
            break;
    }
    if (!first->name)
        return;
    const uint32_t messages = messages_block->count, text_size = messages_block->text_size;
    put_exceptions(exceptions, NULL, count);
    /* what() is code of the program: all that needs no call is in the record before. */
    commit();
    LG_FAULT_POINT("messages: before what");
    for (uint32_t i = 0; i < count; i++)
        said[i] = lg__exception_what(&exceptions[i]);
    lg__run_uncommit_stage(&lg__fixed.options.run, 0, LG_STAGE_MESSAGES);
    messages_block->count = messages;
    messages_block->text_size = text_size;
    put_exceptions(exceptions, said, count);
}

static void name_division(void)
{
    const struct lg__run *run = &lg__fixed.options.run;
    const struct lg__crash_context *context = lg__run_stage(run, 0, LG_STAGE_CONTEXT);
    if (lg__run_is_committed(run, 0, LG_STAGE_CONTEXT) && lg__arch_divides_by_other_than_zero(context->registers, lg__memory_read))
        messages_block->kind = LG_CRASH_INT_OVERFLOW;
}

/* The symbol table of the executable is large: it is read where the program ended itself and
 * nothing says why. */
static void add_static(uint32_t kind)
{
    uint64_t at[PLACES], size[PLACES];
    lg__symtab_find(place_names, PLACES, at, size);
    add_libc(kind, (const void *)(uintptr_t)at[ABORT_MESSAGE]);
    add_swift(kind, swift_pointer(at[SWIFT_MESSAGE]));
    add_glib(kind, at[GLIB_MESSAGE]);
    if (!messages_block->count)
        add_exceptions(kind, false);
}

void lg__messages_stage(void)
{
    const struct lg__crash_header *header = lg__run_stage(&lg__fixed.options.run, 0, LG_STAGE_HEADER);
    const uint32_t kind = header->kind;
    const bool is_own = kind == LG_CRASH_ABORT || is_trap(kind);
    messages_block = lg__run_stage(&lg__fixed.options.run, 0, LG_STAGE_MESSAGES);
    memset(messages_block, 0, offsetof(struct lg__crash_messages, text));
    if (kind == LG_CRASH_INT_DIVIDE)
        name_division();
    add_said(header->tid);
    add_libc(kind, abort_message());
    add_swift(kind, swift_message || !is_own ? swift_message : swift_pointer(exported(place_names[SWIFT_MESSAGE])));
    if (messages_block->kind == LG_CRASH_ABORT_SWIFT_EXCLUSIVITY)
        add_accesses();
    if (is_own && !messages_block->count)
        add_glib(kind, exported(place_names[GLIB_MESSAGE]));
    if (is_own && !messages_block->count)
        add_exceptions(kind, true);
    if (is_own && !messages_block->count && !messages_block->kind)
        add_static(kind);
    commit();
}
