/* Programs with more modules than the run file has room for, with long paths, in namespaces of
 * their own, and with a damaged list of the loader: the modules in which frames lie are in the
 * file. */
#include "sections.h"
#include "start_guards.h"

#include "store/crc32c.h"
#include "walk/walk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARIES 1500
#define PATH_BYTES 4000

typedef int (*plugin_call)(void (*)(void));

struct program {
    unsigned libraries;
    unsigned folder_bytes; /* of the folder that they are in */
    bool refreshed;        /* the table was published, after the libraries were loaded */
    bool damaged;          /* the loader's list ends after the first node */
    bool apart;            /* the outer library is in a namespace of its own */
    bool waits;            /* another thread waits in a library */
    bool claims;           /* a guard event before, in that library */
    bool has_altstack;     /* of 8 KiB, with a guard page */
    unsigned inner, outer, waiting;
};

/* ---- in the child ---- */

static plugin_call calls[LIBRARIES];

/* A folder of folders, with a path of so many bytes. */
static const char *folder_of(const struct program *program)
{
    static char path[PATH_BYTES];
    size_t size = (size_t)snprintf(path, sizeof path, "%s", state_path("libraries"));
    mkdir(path, 0700);
    while (size + 2 < program->folder_bytes) {
        const size_t left = program->folder_bytes - size - 1, part = left < 200 ? left : 200;
        path[size] = '/';
        memset(path + size + 1, 'd', part);
        size += part + 1;
        path[size] = 0;
        if (mkdir(path, 0700) != 0)
            _exit(96);
    }
    return path;
}

static void copy_plugin(const char *path)
{
    static char bytes[1 << 20];
    static ssize_t size;
    if (!size) {
        const int from = open(PLUGIN_A, O_RDONLY | O_CLOEXEC);
        size = from < 0 ? 0 : read(from, bytes, sizeof bytes);
        if (size <= 0 || size == sizeof bytes)
            _exit(95);
        close(from);
    }
    const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (to < 0 || write(to, bytes, (size_t)size) != size)
        _exit(94);
    close(to);
}

static void load_all(const struct program *program)
{
    char path[PATH_BYTES + 32];
    const char *folder = folder_of(program);
    for (unsigned i = 0; i < program->libraries; i++) {
        snprintf(path, sizeof path, "%s/lib%u.so", folder, i);
        copy_plugin(path);
        void *library = program->apart && i == program->outer ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            _exit(93);
        *(void **)&calls[i] = dlsym(library, "plugin_call");
    }
}

static const struct program *now;
static int is_waiting[2];

static void wait_for_end(void)
{
    if (write(is_waiting[1], "", 1) != 1)
        _exit(92);
    for (;;)
        pause();
}

static void *wait_inside(void *argument)
{
    calls[now->waiting](wait_for_end);
    return argument;
}

static void claim(void)
{
    lg_guard_claim(LG_GUARD_HANDLE, NULL, "a handle is released twice", NULL, 0);
}

static void fault(void)
{
    *(volatile int *)(uintptr_t)0 = 1;
}

static void call_inner(void)
{
    calls[now->inner](fault);
}

static void damage_list(void)
{
    struct link_map *first = dlopen(NULL, RTLD_NOW);
    if (!first)
        _exit(91);
    first->l_next = (struct link_map *)(uintptr_t)0x1234560;
}

static void take_altstack(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), least = (size_t)sysconf(_SC_MINSIGSTKSZ);
    const size_t size = (2 * (least > 4096 ? least : 4096) + page - 1) & ~(page - 1);
    char *base = mmap(NULL, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t small = { .ss_sp = base + page, .ss_size = size };
    if (base == MAP_FAILED || mprotect(small.ss_sp, small.ss_size, PROT_READ | PROT_WRITE) != 0 || sigaltstack(&small, NULL) != 0)
        _exit(87);
}

static void body(void *argument)
{
    pthread_t thread;
    char byte;
    now = argument;
    lg_session *session = now->claims ? start_guards(LG_GUARD_SURVIVE, 0) : start_session();
    load_all(now);
    if (now->refreshed && lg_modules_refresh(session) != LG_OK)
        _exit(90);
    if (now->waits && (pipe(is_waiting) != 0 || pthread_create(&thread, NULL, wait_inside, NULL) != 0 || read(is_waiting[0], &byte, 1) != 1))
        _exit(89);
    if (now->claims)
        calls[now->waiting](claim);
    if (now->damaged)
        damage_list();
    if (now->has_altstack)
        take_altstack();
    calls[now->outer](call_inner);
    _exit(88);
}

/* ---- in the test ---- */

/* The module of frame `index` has this number in its name. */
static void assert_frame_in(lg_reader *reader, uint64_t pc, unsigned number)
{
    static lg_module module;
    char name[64];
    snprintf(name, sizeof name, "/lib%u.so", number);
    for (uint32_t i = 0; lg_reader_module(reader, i, &module) == LG_OK; i++) {
        if (pc - 1 < module.start || pc - 1 >= module.end)
            continue;
        const size_t size = strlen(module.path), end = strlen(name);
        assert_true(size > end);
        assert_string_equal(module.path + size - end, name);
        assert_int_equal(strlen(module.build_id), 40);
        return;
    }
    fail_msg("no module of the file has the frame in %s", name);
}

static uint64_t pc_of(lg_reader *reader, uint32_t index)
{
    uint64_t pc;
    assert_int_equal(lg_reader_frame(reader, LG_STAGE_DWARF, index, &pc), LG_OK);
    return pc;
}

static uint32_t count_of(lg_reader *reader)
{
    static lg_module module;
    uint32_t count = 0;
    while (lg_reader_module(reader, count, &module) == LG_OK)
        count++;
    return count;
}

/* The frames: fault, the inner library, call_inner, the outer library, body. */
static lg_reader *crash_in(struct program program)
{
    lg_stack_info stack;
    expect_signal(body, &program, SIGSEGV);
    const lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.skipped, 0);
    assert_int_equal(crash.recrash_count, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    assert_int_equal(lg_reader_stack(reader, LG_STAGE_DWARF, &stack), LG_OK);
    assert_int_equal(stack.truncated, 0);
    assert_frame_in(reader, pc_of(reader, 1), program.inner);
    assert_frame_in(reader, pc_of(reader, 3), program.outer);
    return reader;
}

static uint32_t omitted_of(lg_reader *reader)
{
    uint32_t omitted = 0;
    assert_int_equal(lg_reader_modules_omitted(reader, &omitted), LG_OK);
    return omitted;
}

static bool is_omission_said;

static void see(const char *block, lg_status status, const char *detail, void *user)
{
    (void)status, (void)user;
    is_omission_said |= strcmp(block, "modules") == 0 && strstr(detail, "more had no room");
}

static int collect(const char *bytes, size_t size, void *user)
{
    FILE *text = user;
    return fwrite(bytes, 1, size, text) == size ? 0 : 1;
}

/* The whole report; the caller frees it. */
static char *report_of(lg_reader *reader)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(lg_reader_report(reader, NULL, collect, file), LG_OK);
    fclose(file);
    return text;
}

static void body_clean(void *argument)
{
    (void)argument;
    lg_stop(start_session());
    exit(0);
}

/* The modules are written when a stack needs them: a run without one lacks nothing. */
static void test_clean(void **state)
{
    (void)state;
    expect_exit(body_clean, NULL, 0);
    lg_reader *reader = newest_run();
    char *report = report_of(reader);
    assert_non_null(strstr(report, "\"problems\":[]"));
    free(report);
    lg_reader_close(reader);
}

static void test_many(void **state)
{
    (void)state;
    for (int refreshed = 0; refreshed < 2; refreshed++) {
        state_make();
        lg_reader *reader = crash_in((struct program){ .libraries = LIBRARIES, .refreshed = refreshed, .inner = 3, .outer = 700 });
        const uint32_t omitted = omitted_of(reader);
        assert_within(count_of(reader) + omitted, LIBRARIES, LIBRARIES + 64);
        is_omission_said = false;
        lg_reader_verify(reader, see, NULL);
        assert_true(is_omission_said);
        char *report = report_of(reader), said[64];
        snprintf(said, sizeof said, "\"modulesOmitted\":%u,", omitted);
        assert_non_null(strstr(report, said));
        free(report);
        lg_reader_close(reader);
        state_remove();
    }
}

static void test_another_thread(void **state)
{
    lg_thread_info thread;
    bool found = false;
    uint64_t pc;
    (void)state;
    lg_reader *reader = crash_in((struct program){ .libraries = 400, .refreshed = true, .waits = true, .has_altstack = true, .inner = 398, .outer = 399, .waiting = 3 });
    for (uint32_t i = 0; lg_reader_thread(reader, i, &thread) == LG_OK; i++)
        /* below the frames of a call that waits, whose number differs from libc to libc */
        for (uint32_t k = 1; k < 16 && lg_reader_thread_frame(reader, i, k, &pc) == LG_OK; k++) {
            static lg_module module;
            for (uint32_t m = 0; lg_reader_module(reader, m, &module) == LG_OK; m++)
                found |= pc >= module.start && pc < module.end && strstr(module.path, "/lib3.so");
        }
    assert_true(found);
    lg_reader_close(reader);
}

/* The frames of an event keep their modules when a crash writes its own. */
static void test_event_before(void **state)
{
    lg_guard_info site;
    bool found = false;
    uint64_t pc;
    (void)state;
    lg_reader *reader = crash_in((struct program){ .libraries = 400, .claims = true, .inner = 398, .outer = 399, .waiting = 3 });
    assert_true(omitted_of(reader) > 0);
    for (uint32_t i = 1; lg_reader_guard(reader, i, &site) == LG_OK; i++)
        if (lg_reader_guard_frame(reader, i, 0, &pc) == LG_OK && pc == site.site && lg_reader_guard_frame(reader, i, 1, &pc) == LG_OK) {
            assert_frame_in(reader, pc, 3);
            found = true;
        }
    assert_true(found);
    lg_reader_close(reader);
}

static void test_few(void **state)
{
    (void)state;
    lg_reader *reader = crash_in((struct program){ .libraries = 20, .inner = 19, .outer = 0 });
    assert_int_equal(omitted_of(reader), 0);
    lg_reader_close(reader);
}

/* ---- a module within another ---- */

/* The last module of the newest table, which has no frames, moves to the page of this address,
 * which is in a module of an earlier row. */
static void move_last_module(uint64_t address)
{
    struct stat info;
    int descriptor = open(newest_run_path(), O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(descriptor, &info), 0);
    uint8_t *file = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_true(file != MAP_FAILED);
    close(descriptor);
    struct lg__module_table *tables = section_of(file, LG__SECTION_MODULES), *table = &tables[tables[1].generation > tables[0].generation];
    struct lg__module_entry *last = &table->entries[table->count - 1];
    assert_int_equal(table->commit, LG__COMMIT_MODULES);
    assert_int_equal(last->has_frames, 0);
    last->start = last->bias = address & ~UINT64_C(4095);
    last->end = last->start + 4096;
    uint32_t crc = lg__crc32c(0, &table->generation, 4 * sizeof(uint32_t));
    crc = lg__crc32c(crc, table->entries, table->count * sizeof table->entries[0]);
    table->crc = lg__crc32c(crc, table->text, table->text_size);
    munmap(file, (size_t)info.st_size);
}

/* A module may lie in a hole of another one, as the kernel's own does in that of a program. */
static void test_nested(void **state)
{
    static lg_module module;
    char said[PATH_BYTES], before[33], after[33];
    (void)state;
    lg_reader *reader = crash_in((struct program){ .libraries = 20, .inner = 19, .outer = 0 });
    const uint64_t pc = pc_of(reader, 1);
    assert_int_equal(lg_reader_fingerprint(reader, before), LG_OK);
    lg_reader_close(reader);
    move_last_module(pc - 1);
    reader = newest_run();
    assert_int_equal(lg_reader_fingerprint(reader, after), LG_OK);
    assert_string_not_equal(before, after); /* another module has the frame */
    assert_int_equal(lg_reader_module(reader, count_of(reader) - 1, &module), LG_OK);
    snprintf(said, sizeof said, "\"lookup\":\"0x%016llx\",\"module\":\"%s\",\"fileAddress\":\"0x%016llx\"", (unsigned long long)pc - 1, module.path,
             (unsigned long long)(pc - 1 - module.bias));
    char *report = report_of(reader);
    assert_non_null(strstr(report, said));
    free(report);
    lg_reader_close(reader);
}

/* Paths take more room than modules. */
static void test_long_paths(void **state)
{
    static lg_module module;
    (void)state;
    lg_reader *reader = crash_in((struct program){ .libraries = 150, .folder_bytes = 210, .inner = 1, .outer = 140 });
    assert_true(omitted_of(reader) > 0);
    lg_reader_close(reader);
    state_remove();
    state_make();
    reader = crash_in((struct program){ .libraries = 2, .folder_bytes = 1100, .inner = 0, .outer = 1 });
    assert_int_equal(omitted_of(reader), 0);
    uint32_t cut = 0;
    for (uint32_t i = 0; lg_reader_module(reader, i, &module) == LG_OK; i++)
        cut += strncmp(module.path, "…", strlen("…")) == 0;
    assert_int_equal(cut, 2);
    lg_reader_close(reader);
}

static void test_namespace(void **state)
{
    (void)state;
    for (int refreshed = 0; refreshed < 2; refreshed++) {
        state_make();
        lg_reader_close(crash_in((struct program){ .libraries = 4, .refreshed = refreshed, .apart = true, .inner = 1, .outer = 3 }));
        state_remove();
    }
}

/* The table that was made before stays; without one the map has the modules. */
static void test_damaged_list(void **state)
{
    (void)state;
    for (int refreshed = 0; refreshed < 2; refreshed++) {
        state_make();
        lg_reader *reader = crash_in((struct program){ .libraries = 40, .refreshed = refreshed, .damaged = true, .has_altstack = true, .inner = 20, .outer = 39 });
        if (refreshed)
            assert_true(count_of(reader) > 40);
        lg_reader_close(reader);
        state_remove();
    }
}

/* ---- tables ---- */

/* A library of several segments, and others in its holes: for each page the one that has it. */
static void test_holes(void **state)
{
    static struct lg__modules table;
    static uint8_t owner[256];
    uint32_t draw = 1;
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        memset(owner, 0, sizeof owner);
        lg__modules_begin(&table);
        for (uint8_t number = 1; number < 12; number++) {
            ElfW(Phdr) headers[4] = { 0 };
            struct lg__image_room room;
            struct lg__module_range module;
            uint32_t page = 0, count = 0;
            for (; count < 4 && page < 240; count++) {
                draw = draw * 1664525 + 1013904223;
                page += draw >> 26;
                const uint32_t first = page, most = 1 + (draw >> 16) % 12;
                while (page < 256 && page - first < most && !owner[page])
                    owner[page++] = number;
                if (page == first)
                    break;
                /* a segment begins and ends anywhere in its pages */
                headers[count] = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = first * 4096 + draw % 4096, .p_memsz = (page - first) * 4096 - draw % 4096 };
            }
            if (count && lg__image_describe(&room, (uintptr_t)headers, count, 0, lg__memory_copy, &module)) {
                module.name = number;
                lg__modules_add(&table, &module);
            }
        }
        lg__modules_sort(&table);
        for (uint64_t page = 0; page < 256; page++) {
            const struct lg__module_range *found = lg__modules_search(&table, page * 4096 + 4095);
            assert_int_equal(found ? found->name : 0, owner[page]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_nested),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_many), WITH_STATE(test_clean), WITH_STATE(test_another_thread), WITH_STATE(test_event_before), WITH_STATE(test_few), WITH_STATE(test_long_paths),
        cmocka_unit_test(test_namespace), cmocka_unit_test(test_damaged_list),
    };
    return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
