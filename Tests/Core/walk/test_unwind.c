/* Walks over damaged or unusual stacks: code without tables, modules that were loaded and unloaded,
 * loops, garbage. Our reader of unwind tables is compared with libunwind. Each test kills a child
 * and reads the file that the child left. */
#include "harness.h"
#include "wild.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "walk/cfi.h"

#define FUNCTION static __attribute__((noinline)) void
#define FUNCTION_BYTES 600u

static volatile int zero;
static char *shared; /* one page that the child fills for the parent */

/* ---- reading the record ---- */

static lg_stack_info stack_of(lg_reader *reader, lg_stage stage)
{
    lg_stack_info stack;
    assert_int_equal(lg_reader_stack(reader, stage, &stack), LG_OK);
    return stack;
}

static uint64_t frame(lg_reader *reader, uint32_t index)
{
    uint64_t pc;
    assert_int_equal(lg_reader_frame(reader, LG_STAGE_DWARF, index, &pc), LG_OK);
    return pc;
}

/* Index of the first frame in a range, −1: none. */
static int frame_within(lg_reader *reader, uint64_t start, uint64_t size)
{
    lg_stack_info stack = stack_of(reader, LG_STAGE_DWARF);
    for (uint32_t i = 0; i < stack.stored; i++)
        if (frame(reader, i) - start < size)
            return (int)i;
    return -1;
}

static int frame_of(lg_reader *reader, void (*function)(void *))
{
    return frame_within(reader, (uint64_t)(uintptr_t)function, FUNCTION_BYTES);
}

/* The walk reached the begin of the child, and the record says so. */
static void assert_whole(lg_reader *reader, void (*body)(void *))
{
    lg_stack_info stack = stack_of(reader, LG_STAGE_DWARF);
    if (stack.truncated)
        fail_msg("the walk ended after %u frames: %s", stack.stored, stack.reason);
    assert_true(frame_of(reader, body) >= 0);
}

static void assert_ends(lg_reader *reader, const char *reason, uint32_t at_most)
{
    lg_stack_info stack = stack_of(reader, LG_STAGE_DWARF);
    assert_int_equal(stack.truncated, 1);
    assert_non_null(strstr(stack.reason, reason));
    assert_true(stack.stored <= at_most);
}

/* The number of frames that were found by frame pointer in the middle of the walk: not in the
 * reader's interface yet. */
static uint32_t assumed(void)
{
    static struct lg__header header;
    struct lg__stage stage;
    struct lg__frames_head head;
    int file = open(newest_run_path(), O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    uint64_t record = 0;
    for (uint32_t i = 0; i < header.section_count; i++)
        if (header.sections[i].kind == LG__SECTION_RECORD)
            record = header.sections[i].offset;
    off_t entry = (off_t)(record + LG_STAGE_DWARF * sizeof stage);
    assert_int_equal(pread(file, &stage, sizeof stage, entry), sizeof stage);
    assert_int_equal(pread(file, &head, sizeof head, (off_t)(record + stage.offset)), sizeof head);
    close(file);
    return head.assumed;
}

static bool has_module(lg_reader *reader, const char *path, lg_module *ret_module)
{
    for (uint32_t i = 0; lg_reader_module(reader, i, ret_module) == LG_OK; i++)
        if (strcmp(ret_module->path, path) == 0)
            return true;
    return false;
}

/* ---- in the child ---- */

static void begin(void)
{
    start_session();
}

/* A function that calls another has a frame of its own. */
FUNCTION nothing(void) { __asm__ volatile(""); }

FUNCTION crash_here(void)
{
    nothing();
    *(volatile int *)(uintptr_t)zero = 1;
}

/* ---- modules that came and went ---- */

struct plugin {
    const char *path;
    const char *then; /* the first is unloaded, and this one is loaded instead */
    bool refresh;     /* the address is between the two */
};

static int build_id(struct dl_phdr_info *info, size_t size, void *path)
{
    uint8_t id[LG__BUILD_ID_BYTES];
    (void)size;
    if (strcmp(info->dlpi_name, path) != 0)
        return 0;
    shared[0] = 0;
    uint32_t bytes = lg__image_build_id((uint64_t)(uintptr_t)info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, id);
    for (uint32_t i = 0; i < bytes; i++)
        sprintf(shared + 2 * i, "%02x", id[i]);
    return 1;
}

typedef int (*plugin_call)(void (*)(void));

static plugin_call load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "plugin_call") : NULL;
    plugin_call call;
    if (!symbol)
        _exit(97);
    dl_iterate_phdr(build_id, (void *)(uintptr_t)path);
    memcpy(&call, &symbol, sizeof call);
    return call;
}

static void unload(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    dlclose(library);
    dlclose(library);
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
        _exit(96);
}

static void body_plugin(void *argument)
{
    const struct plugin *plugin = argument;
    begin();
    plugin_call call = load(plugin->path);
    if (plugin->refresh)
        lg__capture_refresh_modules();
    if (plugin->then) {
        unload(plugin->path);
        call = load(plugin->then);
    }
    call(crash_here);
}

static void check_plugin(const char *path, const char *gone)
{
    lg_reader *reader = newest_run();
    lg_module module;
    crash_of(reader, LG_STAGE_DONE);
    assert_whole(reader, body_plugin);
    assert_int_equal(assumed(), 0);
    assert_true(has_module(reader, path, &module));
    assert_true(strlen(shared) >= 16 || strcmp(path, PLUGIN_D) == 0);
    assert_string_equal(module.build_id, shared);
    assert_int_equal(frame_within(reader, module.start, module.end - module.start), 1);
    if (gone)
        assert_false(has_module(reader, gone, &module));
    /* The other modules are still in the list: the executable first, by its path. */
    char self[1024] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    assert_int_equal(lg_reader_module(reader, 0, &module), LG_OK);
    assert_string_equal(module.path, self);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
}

static void test_loaded_since(void **state)
{
    (void)state;
    struct plugin plugin = { .path = PLUGIN_A };
    expect_signal(body_plugin, &plugin, SIGSEGV);
    check_plugin(PLUGIN_A, NULL);
}

static void test_exchanged_since(void **state)
{
    (void)state;
    for (int refresh = 0; refresh < 2; refresh++) {
        struct plugin plugin = { .path = PLUGIN_A, .then = PLUGIN_B, .refresh = refresh };
        state_make();
        expect_signal(body_plugin, &plugin, SIGSEGV);
        check_plugin(PLUGIN_B, PLUGIN_A);
        /* Without build ids the names separate the two libraries. */
        plugin = (struct plugin){ .path = PLUGIN_C, .then = PLUGIN_D, .refresh = refresh };
        state_make();
        expect_signal(body_plugin, &plugin, SIGSEGV);
        check_plugin(PLUGIN_D, PLUGIN_C);
    }
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    for (ssize_t count; (count = read(in, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, (size_t)count) != count)
            abort();
    close(in);
    close(out);
}

/* An upgrade: a library of the same name, usually at the same address. */
static void body_upgraded(void *argument)
{
    const char *path = argument;
    begin();
    load(path);
    lg__capture_refresh_modules();
    unload(path);
    unlink(path);
    copy_file(PLUGIN_B, path);
    load(path)(crash_here);
}

static void test_upgraded_since(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", state_path("plugin.so"));
    copy_file(PLUGIN_A, path);
    expect_signal(body_upgraded, path, SIGSEGV);
    lg_reader *reader = newest_run();
    lg_module module;
    assert_whole(reader, body_upgraded);
    assert_true(has_module(reader, path, &module));
    assert_string_equal(module.build_id, shared);
    lg_reader_close(reader);
}

/* The file of a module is cut while it is mapped: reads of the mapping fail. */
static char cut[1024];

static void crash_after_cut(void)
{
    if (truncate(cut, 0) != 0)
        _exit(95);
    crash_here();
}

static void body_cut(void *argument)
{
    begin();
    plugin_call call = load(cut);
    if (argument)
        lg__capture_refresh_modules();
    call(crash_after_cut);
}

static void test_cut_module(void **state)
{
    (void)state;
    for (uintptr_t refresh = 0; refresh < 2; refresh++) {
        state_make();
        snprintf(cut, sizeof cut, "%s", state_path("plugin.so"));
        copy_file(PLUGIN_A, cut);
        expect_signal(body_cut, (void *)refresh, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        assert_true(stack_of(reader, LG_STAGE_DWARF).stored >= 2);
        lg_reader_close(reader);
    }
}

/* A crash right after the start, before the table exists. */
static void body_early(void *argument)
{
    (void)argument;
    start_session();
    crash_here();
}

static void test_early(void **state)
{
    (void)state;
    char self[1024] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    for (int round = 0; round < 30; round++) {
        state_make();
        expect_signal(body_early, NULL, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_module module;
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        assert_whole(reader, body_early);
        assert_int_equal(lg_reader_module(reader, 0, &module), LG_OK);
        assert_string_equal(module.path, self);
        lg_reader_close(reader);
    }
}

/* Another thread loads, unloads and refreshes all the time. */
static atomic_uint loads;

static void *load_and_unload(void *argument)
{
    lg_session *session = argument;
    for (;; atomic_fetch_add(&loads, 1)) {
        void *a = dlopen(PLUGIN_A, RTLD_NOW | RTLD_LOCAL), *b = dlopen(PLUGIN_B, RTLD_NOW | RTLD_LOCAL);
        lg_modules_refresh(session);
        dlclose(a);
        lg_modules_refresh(session);
        dlclose(b);
    }
    return NULL;
}

static void body_busy(void *argument)
{
    pthread_t thread;
    lg_session *session = start_session();
    pthread_create(&thread, NULL, load_and_unload, session);
    wait_until(atomic_load(&loads) > (uintptr_t)argument % 4);
    /* at another moment each time */
    for (volatile uintptr_t turn = 0; turn < (uintptr_t)argument * 10000; turn++) {}
    crash_here();
}

static void test_busy_loader(void **state)
{
    (void)state;
    for (uintptr_t round = 0; round < 100; round++) {
        state_make();
        expect_signal(body_busy, (void *)round, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_module module;
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        assert_whole(reader, body_busy);
        /* any version of the table, but a whole one */
        assert_int_equal(lg_reader_module(reader, 0, &module), LG_OK);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
    }
}

/* The loader's list is damaged: another thread is changing the list, or the heap is corrupt. */
enum list { LIST_WILD, LIST_LOOP, LIST_NAME, LIST_ADDRESS };

static void body_list(void *argument)
{
    begin();
    plugin_call call = load(PLUGIN_A);
    lg__capture_refresh_modules();
    struct link_map *map = _r_debug.r_map->l_next;
    switch ((enum list)(intptr_t)argument) {
    case LIST_WILD: map->l_next = (struct link_map *)(uintptr_t)0x4141414141414141; break;
    case LIST_LOOP: map->l_next = map; break;
    case LIST_NAME: map->l_name = (char *)(uintptr_t)8; break;
    case LIST_ADDRESS:
        for (; map; map = map->l_next)
            map->l_addr += 4096;
        break;
    }
    call(crash_here);
}

static void test_damaged_list(void **state)
{
    (void)state;
    for (int kind = LIST_WILD; kind <= LIST_ADDRESS; kind++) {
        state_make();
        expect_signal(body_list, (void *)(intptr_t)kind, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        assert_true(stack_of(reader, LG_STAGE_DWARF).stored >= 1);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
    }
}

/* ---- code without tables ---- */

#if defined(__x86_64__)
/* push rbp; mov rbp, rsp; call *rdi; pop rbp; ret */
static const uint8_t jit_call[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
/* the same with ud2 */
static const uint8_t jit_crash[] = { 0x55, 0x48, 0x89, 0xe5, 0x0f, 0x0b, 0x5d, 0xc3 };
/* no frame pointer of its own */
static const uint8_t jit_plain[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
#elif defined(__aarch64__)
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret */
static const uint32_t jit_call[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
/* the same with udf #0 */
static const uint32_t jit_crash[] = { 0xa9bf7bfd, 0x910003fd, 0, 0xa8c17bfd, 0xd65f03c0 };
/* str x30, [sp, #-16]!; blr x0; ldr x30, [sp], #16; ret */
static const uint32_t jit_plain[] = { 0xf81f0ffe, 0xd63f0000, 0xf84107fe, 0xd65f03c0 };
#endif

typedef void (*jit)(void (*)(void));

static jit compile_at(void *place, const void *code, size_t size)
{
    jit made;
    void *page = mmap(place, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
    memcpy(page, code, size);
    memcpy(&made, &page, sizeof made);
    __builtin___clear_cache(page, (char *)page + size);
    memcpy(shared, &page, sizeof page);
    return made;
}
#define COMPILE_AT(place, code) compile_at(place, code, sizeof(code))
#define COMPILE(code) COMPILE_AT(NULL, code)

/* The last page of the first hole between the segments of the library, where its begin is. */
static int find_hole(struct dl_phdr_info *info, size_t size, void *argument)
{
    const ElfW(Phdr) *before = NULL;
    (void)size;
    if (!strstr(info->dlpi_name, "plugin-holed"))
        return 0;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        if (before && header->p_vaddr / 65536 > (before->p_vaddr + before->p_memsz) / 65536 + 1) {
            *(uintptr_t *)argument = info->dlpi_addr + header->p_vaddr / 65536 * 65536 - 65536;
            return 1;
        }
        before = header;
    }
    return 0;
}

static void *hole_of_plugin(void)
{
    uintptr_t place = 0;
    if (!dlopen(PLUGIN_HOLED, RTLD_NOW) || !dl_iterate_phdr(find_hole, &place))
        _exit(85);
    return (void *)place;
}

static jit second;
FUNCTION call_second(void) { second(crash_here); }

/* The caller's frame holds no return address any more. */
FUNCTION smash_caller(void)
{
    uint64_t *mine = __builtin_frame_address(0), *callers = (uint64_t *)(uintptr_t)mine[0];
    callers[1] = 0x41414141;
    crash_here();
}

enum jit_kind { JIT_MIDDLE, JIT_FIRST, JIT_TWICE, JIT_IN_HOLE, JIT_PLAIN };

static void body_jit(void *argument)
{
    begin();
    switch ((enum jit_kind)(intptr_t)argument) {
    case JIT_MIDDLE: COMPILE(jit_call)(crash_here); break;
    case JIT_FIRST: COMPILE(jit_crash)(NULL); break;
    case JIT_TWICE:
        second = COMPILE(jit_call);
        COMPILE(jit_call)(call_second);
        break;
    case JIT_IN_HOLE: COMPILE_AT(hole_of_plugin(), jit_call)(crash_here); break;
    case JIT_PLAIN: COMPILE(jit_plain)(crash_here); break;
    }
    abort();
}

static void body_jit_smashed(void *argument)
{
    (void)argument;
    begin();
    COMPILE(jit_call)(smash_caller);
    abort();
}

static void test_jit_smashed(void **state)
{
    (void)state;
    expect_signal(body_jit_smashed, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_ends(reader, "no unwind information", 3); /* crash_here(), smash_caller(), the code */
    assert_int_equal(assumed(), 0);
    lg_reader_close(reader);
}

static void test_jit(void **state)
{
    (void)state;
    for (int kind = JIT_MIDDLE; kind <= JIT_PLAIN; kind++) {
        state_make();
        expect_signal(body_jit, (void *)(intptr_t)kind, kind == JIT_FIRST ? SIGILL : SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        uint64_t page;
        memcpy(&page, shared, sizeof page);
        assert_int_equal(frame_within(reader, page, 4096), kind == JIT_FIRST ? 0 : kind == JIT_TWICE ? 3 : 1);
        assert_int_equal(assumed(), kind == JIT_TWICE ? 2 : 1);
        if (kind == JIT_PLAIN)
            /* body_jit's own frame pointer is used up: its frame is lost */
            assert_true(stack_of(reader, LG_STAGE_DWARF).stored >= 3);
        else
            assert_whole(reader, body_jit);
        lg_reader_close(reader);
    }
}

/* ---- frames that were overwritten ---- */

#if defined(__x86_64__)
/* Crash with this frame pointer. The unwind row of the function is relative to the frame pointer,
 * as it is on x86-64; the rows of AArch64 are relative to the stack pointer. */
static __attribute__((noinline)) void crash_with(void *frame_pointer)
{
    nothing();
    CRASH_WITH_FRAME(frame_pointer);
}

enum smash { SMASH_RETURN, SMASH_SELF, SMASH_RING, SMASH_GARBAGE, SMASH_DATA, SMASH_NULL, SMASH_UNREADABLE, SMASH_MISALIGNED };

static void body_smash(void *argument)
{
    static uint64_t frames[64];
    uint64_t here = (uint64_t)(uintptr_t)crash_with + 20;
    void *fp = frames;
    begin();
    switch ((enum smash)(intptr_t)argument) {
    case SMASH_RETURN: /* the frame pointer is good, the return address is not */
        frames[0] = (uint64_t)(uintptr_t)&frames[8];
        frames[1] = 0x41414141;
        frames[9] = here;
        break;
    case SMASH_SELF:
        frames[0] = (uint64_t)(uintptr_t)frames;
        frames[1] = here;
        break;
    case SMASH_RING:
        frames[0] = (uint64_t)(uintptr_t)&frames[8];
        frames[1] = here;
        frames[8] = (uint64_t)(uintptr_t)frames;
        frames[9] = here;
        break;
    case SMASH_GARBAGE: memset(frames, 0x41, sizeof frames); break;
    case SMASH_DATA:
        for (int i = 0; i < 64; i++)
            frames[i] = (uint64_t)(uintptr_t)&frames[i + 2 < 64 ? i + 2 : 0];
        break;
    case SMASH_NULL: break;
    case SMASH_UNREADABLE: fp = (void *)(uintptr_t)0x123456780; break;
    case SMASH_MISALIGNED: fp = (void *)(uintptr_t)0x4141414141414141; break;
    }
    crash_with(fp);
}

static void test_smashed(void **state)
{
    (void)state;
    static const struct {
        enum smash kind;
        const char *reason; /* NULL: whole */
        uint32_t at_most;
    } cases[] = {
        { SMASH_RETURN, "no unwind information", 2 }, { SMASH_SELF, "loops", 3 }, { SMASH_RING, "loops", 24 },           { SMASH_GARBAGE, "no unwind information", 2 },
        { SMASH_DATA, "no unwind information", 2 }, { SMASH_NULL, NULL, 1 },     { SMASH_UNREADABLE, "cannot be read", 1 },
        { SMASH_MISALIGNED, "cannot be read", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        state_make();
        expect_signal(body_smash, (void *)(intptr_t)cases[i].kind, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        if (cases[i].reason)
            assert_ends(reader, cases[i].reason, cases[i].at_most);
        else
            assert_int_equal(stack_of(reader, LG_STAGE_DWARF).stored, cases[i].at_most);
        assert_int_equal(assumed(), 0);
        /* the value in the place of the return address is shown, once */
        if (cases[i].kind == SMASH_GARBAGE)
            assert_true(frame(reader, 1) == 0x4141414141414141);
        lg_reader_close(reader);
    }
}

#endif

/* A buffer overflow: the frames above the buffer are lost, those below are shown. */
static void __attribute__((noinline)) overrun(volatile char *from)
{
    for (int i = 0; i < 512; i++)
        from[i] = 'A';
    crash_here();
}

static void body_overrun(void *argument)
{
    (void)argument;
    volatile char buffer[16];
    begin();
    overrun(buffer);
}

static void test_overrun(void **state)
{
    (void)state;
    expect_signal(body_overrun, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
    assert_ends(reader, "no unwind information", 5);
    assert_true(stack_of(reader, LG_STAGE_DWARF).stored >= 3);
    lg_reader_close(reader);
}

#if defined(__x86_64__)
FUNCTION bad_stack_pointer(void)
{
    nothing();
    CRASH_WITH_STACK(0x1000);
}

static void body_bad_sp(void *argument)
{
    (void)argument;
    begin();
    bad_stack_pointer();
}

static void test_bad_sp(void **state)
{
    (void)state;
    expect_signal(body_bad_sp, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_whole(reader, body_bad_sp); /* the function's row needs the frame pointer only */
    lg_reader_close(reader);
}
#endif

/* ---- signal handlers of the program, calls through bad pointers ---- */

static void crash_in_handler(int signal)
{
    (void)signal;
    crash_here();
}

#if defined(__x86_64__)
/* A libc may return from a handler by code without unwind tables. On the other CPUs that is the
 * vDSO of the kernel. */
__asm__(".text\n.type return_from_handler, @function\nreturn_from_handler:\n    movq $15, %rax\n    syscall\n"
        ".size return_from_handler, . - return_from_handler\n");
void return_from_handler(void);

static void body_handler_of_other_libc(void *argument)
{
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = { crash_in_handler, 0x04000000 /* SA_RESTORER */, return_from_handler, 0 };
    (void)argument;
    begin();
    if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, sizeof action.mask) != 0)
        _exit(84);
    raise(SIGUSR1);
}

static void test_through_handler_of_other_libc(void **state)
{
    (void)state;
    expect_signal(body_handler_of_other_libc, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_whole(reader, body_handler_of_other_libc);
    assert_int_equal(assumed(), 0);
    const int handler = frame_within(reader, (uint64_t)(uintptr_t)crash_in_handler, FUNCTION_BYTES);
    assert_true(handler >= 0);
    assert_int_equal(frame(reader, (uint32_t)handler + 1), (uint64_t)(uintptr_t)return_from_handler);
    assert_int_equal(stack_of(reader, LG_STAGE_DWARF).signal_pc, (uint64_t)(uintptr_t)return_from_handler);
    lg_reader_close(reader);
}
#endif

static void body_handler(void *argument)
{
    stack_t stack = { .ss_sp = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = 65536 };
    struct sigaction action = { .sa_handler = crash_in_handler, .sa_flags = argument ? SA_ONSTACK : 0 };
    begin();
    if (argument)
        sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void test_through_handler(void **state)
{
    (void)state;
    for (uintptr_t own_stack = 0; own_stack < 2; own_stack++) {
        state_make();
        expect_signal(body_handler, (void *)own_stack, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_whole(reader, body_handler);
        assert_int_equal(assumed(), 0);
        const int handler = frame_within(reader, (uint64_t)(uintptr_t)crash_in_handler, FUNCTION_BYTES);
        assert_true(handler >= 0);
        /* its caller is the kernel, and the record says which frame that is */
        const uint64_t signal_pc = stack_of(reader, LG_STAGE_DWARF).signal_pc;
        assert_int_not_equal(signal_pc, 0);
        assert_int_equal(frame(reader, (uint32_t)handler + 1), signal_pc);
        /* both stacks are stored: the handler's own, and that which the signal interrupted */
        const lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        lg_memory_info memory;
        uint32_t own = 0;
        for (uint32_t i = 0; lg_reader_memory(reader, i, &memory) == LG_OK; i++)
            own += memory.tid == crash.tid && memory.start >= crash.stack_low && memory.start < crash.stack_high;
        assert_int_equal(own, 1);
        lg_reader_close(reader);
    }
}

static void end_in_abort(int signal)
{
    (void)signal;
    abort();
}

/* A program with its own handler for faults, which calls abort(): the interrupted instruction is a
 * call through a bad pointer. */
static void body_wild_below_handler(void *argument)
{
    void (*call)(void);
    memcpy(&call, &argument, sizeof call);
    begin();
    signal(SIGSEGV, end_in_abort);
    call();
    abort();
}

static void body_wild(void *argument)
{
    void (*call)(void);
    memcpy(&call, &argument, sizeof call);
    begin();
    call();
    abort();
}

static void test_wild_call(void **state)
{
    (void)state;
    static const uintptr_t targets[] = { 0, 0x41414141 };
    for (size_t i = 0; i < 2; i++) {
        state_make();
        expect_signal(body_wild, (void *)targets[i], SIGSEGV);
        lg_reader *reader = newest_run();
        assert_whole(reader, body_wild);
        assert_int_equal(frame(reader, 0), targets[i]);
        assert_int_equal(frame_of(reader, body_wild), 1);
        assert_int_equal(assumed(), 0);
        lg_reader_close(reader);
        expect_signal(body_wild_below_handler, (void *)targets[i], SIGABRT);
        reader = newest_run();
        assert_whole(reader, body_wild_below_handler);
        assert_int_equal(assumed(), 1);
        lg_reader_close(reader);
    }
}

/* ---- programs without a dynamic linker ---- */

static void body_lone(void *argument)
{
    execl(argument, argument, state_path("."), NULL);
    _exit(94);
}

static void test_without_loader(void **state)
{
    (void)state;
    static const char *const programs[] = {
        NULL,
#ifdef LONE_STATIC
        LONE_STATIC,
#endif
#ifdef LONE_STATIC_PIE
        LONE_STATIC_PIE,
#endif
    };
    for (size_t i = 1; i < sizeof programs / sizeof programs[0]; i++) {
        state_make();
        expect_signal(body_lone, (void *)(uintptr_t)programs[i], SIGSEGV);
        lg_reader *reader = newest_run();
        lg_module module;
        crash_of(reader, LG_STAGE_DONE);
        assert_true(has_module(reader, programs[i], &module));
        lg_stack_info stack = stack_of(reader, LG_STAGE_DWARF);
        assert_int_equal(stack.truncated, 0);
        assert_true(stack.stored >= 4); /* crash_here(), main(), two of libc */
        for (uint32_t k = 0; k < stack.stored; k++)
            assert_true(frame(reader, k) - module.start < module.end - module.start);
        lg_reader_close(reader);
    }
}

/* ---- faults inside the walk ---- */

static const char *fault_at;
static int faults_left;

static void hook(const char *point)
{
    if (strcmp(point, fault_at) == 0 && faults_left-- > 0)
        *(volatile int *)(uintptr_t)(zero + 4) = 1;
}

static void body_fault(void *argument)
{
    begin();
    sigset_t all;
    sigfillset(&all);
    if (argument)
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    fault_at = argument ? "" : "walk: tables";
    faults_left = 3;
    lg__fault_hook = hook;
    if (argument)
        abort();
    crash_here();
}

static void test_fault_in_tables(void **state)
{
    (void)state;
    expect_signal(body_fault, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    /* only that one read failed */
    assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
    assert_true(frame_of(reader, body_fault) >= 0);
    assert_int_equal(assumed(), 3);
    lg_reader_close(reader);
}

/* All signals are blocked, as in many worker threads: a fault would kill the process at once, so
 * the walk must not need one. */
static void test_all_blocked(void **state)
{
    (void)state;
    expect_signal(body_fault, (void *)1, SIGABRT);
    lg_reader *reader = newest_run();
    crash_of(reader, LG_STAGE_DONE);
    assert_whole(reader, body_fault);
    lg_reader_close(reader);
}

/* A sandbox that permits only known operations of rt_sigprocmask. */
static void body_sandbox(void *argument)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };
    void (*call)(void);
    memcpy(&call, &argument, sizeof call);
    begin();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(98);
    call();
    abort();
}

static void test_sandbox(void **state)
{
    (void)state;
    void *targets[2] = { NULL, (void *)(uintptr_t)0x41414141 }; /* the code there cannot be read */
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_signal(body_sandbox, targets[i], SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
        assert_whole(reader, body_sandbox);
        lg_reader_close(reader);
    }
}

/* ---- a deep stack, and many walks ---- */

static __attribute__((noinline)) int deep(int depth)
{
    volatile int here = depth;
    if (depth == 0) {
        crash_here();
        return 0;
    }
    return deep(depth - 1) + here;
}

static void body_deep(void *argument)
{
    (void)argument;
    begin();
    deep(20000);
}

static void test_deep(void **state)
{
    (void)state;
    expect_signal(body_deep, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    lg_stack_info stack = stack_of(reader, LG_STAGE_DWARF);
    assert_whole(reader, body_deep);
    assert_true(stack.total > 20000);
    assert_int_equal(stack.stored, 512);
    lg_reader_close(reader);
}

#ifdef HAVE_LIBUNWIND
int test_against_libunwind(char *ret_message, size_t size);

static void test_rows(void **state)
{
    (void)state;
    char message[512];
    if (test_against_libunwind(message, sizeof message) < 1000)
        fail_msg("%s", message);
    print_message("             %s\n", message);
}
#else
static void test_rows(void **state)
{
    (void)state;
    skip_because("there is no libunwind to compare with: package libunwind-dev");
}
#endif

/* Tables with random bytes: whatever their contents, no read leaves the segment. */
static void test_damaged_tables(void **state)
{
    (void)state;
    lg__capture_refresh_modules();
    const struct lg__module_range *module = lg__modules_search(lg__modules_published(), (uint64_t)(uintptr_t)test_damaged_tables);
    assert_non_null(module);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = module->tables_end - module->tables_start, room = (size + page - 1) & ~(page - 1);
    uint8_t *pages = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(pages + page, room, PROT_READ | PROT_WRITE), 0);
    uint8_t *copy = pages + page + room - size;
    uint64_t moved = (uint64_t)(uintptr_t)copy - module->tables_start, random = 7, found = 0;
    const struct lg__module_range here = { .start = module->start + moved, .end = module->end + moved,
        .tables_start = (uint64_t)(uintptr_t)copy, .tables_end = (uint64_t)(uintptr_t)copy + size,
        .frame_header = module->frame_header + moved, .table = module->table + moved, .table_count = module->table_count };
    const uint8_t *from = (const uint8_t *)(uintptr_t)module->tables_start;
    size_t begin = module->frame_header - module->tables_start;
    for (int round = 0; round < 200000; round++) {
        static struct lg__cfi_row row;
        if (round % 16 == 0)
            memcpy(copy, from, size);
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        copy[begin + (random >> 20) % (size - begin)] = (uint8_t)(random >> 56);
        found += lg__cfi_find(&here, here.start + (random >> 33) % (here.end - here.start), &row);
    }
    assert_true(found > 1000);
    munmap(pages, room + 2 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_loaded_since),   WITH_STATE(test_exchanged_since), WITH_STATE(test_upgraded_since),
        WITH_STATE(test_cut_module),     WITH_STATE(test_damaged_list),   WITH_STATE(test_busy_loader),
        WITH_STATE(test_early),
        WITH_STATE(test_jit),            WITH_STATE(test_overrun),         WITH_STATE(test_jit_smashed),
#if defined(__x86_64__)
        WITH_STATE(test_smashed),        WITH_STATE(test_bad_sp),          WITH_STATE(test_through_handler_of_other_libc),
#endif
        WITH_STATE(test_through_handler), WITH_STATE(test_wild_call),      WITH_STATE(test_fault_in_tables),
        WITH_STATE(test_without_loader),
        WITH_STATE(test_all_blocked),    WITH_STATE(test_sandbox),         WITH_STATE(test_deep),
        WITH_STATE(test_rows),           WITH_STATE(test_damaged_tables),
    };
    shared = shared_memory(4096);
    return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
