/* The file of a loaded module was cut while the module was mapped: a start, a refresh of the
 * modules and a crash go on without its bytes. */
#include "harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define MODULES_MAX 64u

/* The child itself runs in these. */
static const char *const needed[] = { "/libc.so", "/ld-linux", "/libc.musl", "/ld-musl", "liblaunchguard", "san.so", "vdso" };

static bool is_needed(const char *name)
{
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (strstr(name, needed[i]))
            return true;
    return false;
}

/* ---- a cut module ---- */

enum size { EMPTY, ONE_PAGE, HALF, SIZES };

struct cut {
    unsigned module; /* by the loader's list */
    enum size size;
    bool started; /* before */
    bool last;    /* there is no such module */
    bool runs;    /* what is to be cut is what the child runs in */
};

static void cut_file(const char *path, enum size size)
{
    FILE *file = fopen(path, "r");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        _exit(96);
    const long bytes = ftell(file);
    fclose(file);
    if (truncate(path, size == EMPTY ? 0 : size == ONE_PAGE ? PAGE : bytes / 2 / PAGE * PAGE) != 0)
        _exit(96);
}

/* A segment that no one writes becomes one of another file, with the same bytes. In the
 * executable only the first does: it has headers and tables, and not what runs. */
static void remap(const ElfW(Phdr) *header, uint64_t bias, int file)
{
    const uint64_t start = (bias + header->p_vaddr) & ~(uint64_t)(PAGE - 1), end = (bias + header->p_vaddr + header->p_filesz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    const int protection = PROT_READ | (header->p_flags & PF_X ? PROT_EXEC : 0);
    const off_t at = (off_t)(header->p_offset & ~(uint64_t)(PAGE - 1));
    if (mmap((void *)(uintptr_t)start, end - start, protection, MAP_PRIVATE | MAP_FIXED, file, at) == MAP_FAILED)
        _exit(95);
}

static void copy_to(int file, const char *path)
{
    char bytes[PAGE];
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t size; from >= 0 && (size = read(from, bytes, sizeof bytes)) > 0;)
        if (write(file, bytes, (size_t)size) != size)
            _exit(94);
    if (from < 0)
        _exit(94);
    close(from);
}

struct search {
    struct cut *cut;
    unsigned seen;
};

static bool is_code(const struct dl_phdr_info *info, uint64_t offset)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_offset == offset)
            return info->dlpi_phdr[i].p_flags & PF_X;
    return false;
}

static int cut_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    const bool executable = search->seen == 0;
    (void)size;
    if (search->seen++ != search->cut->module)
        return 0;
    search->cut->last = false;
    if (!executable && is_needed(info->dlpi_name))
        return 1;
    /* Some linkers put the code of a program after its headers. */
    search->cut->runs = executable && is_code(info, 0);
    if (search->cut->runs)
        return 1;
    const char *path = state_path("copy");
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    copy_to(file, executable ? "/proc/self/exe" : info->dlpi_name);
    ElfW(Phdr) headers[32];
    const size_t count = info->dlpi_phnum < 32 ? info->dlpi_phnum : 32;
    memcpy(headers, info->dlpi_phdr, count * sizeof headers[0]);
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && !(headers[i].p_flags & PF_W) && (!executable || headers[i].p_offset == 0))
            remap(&headers[i], info->dlpi_addr, file);
    cut_file(path, executable ? EMPTY : search->cut->size);
    return 1;
}

/* ---- the child ---- */

static void load(const char *path)
{
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        _exit(97);
}

/* Loads a library in any case: the copy of one, whose file is cut itself, writable segments and
 * all. */
static void start_refresh_crash(void *argument)
{
    struct cut *cut = argument;
    struct search search = { cut, 0 };
    cut->last = true;
    const char *own = state_path("own.so");
    const int file = open(own, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    copy_to(file, PLUGIN_A);
    close(file);
    load(own);
    lg_session *session = cut->started ? start_session() : NULL;
    load(PLUGIN_B);
    dl_iterate_phdr(cut_module, &search);
    cut_file(own, cut->size);
    if (!cut->started)
        session = start_session();
    if (lg_modules_refresh(session) != LG_OK)
        _exit(93);
    crash();
}

static struct cut *cut;

static void test_each_module(void **state)
{
    (void)state;
    unsigned tried = 0;
    for (unsigned module = 0; module < MODULES_MAX; module++) {
        for (unsigned way = 0; way < 2 * SIZES; way++) {
            *cut = (struct cut){ .module = module, .size = way % SIZES, .started = way >= SIZES };
            state_make();
            expect_signal(start_refresh_crash, cut, SIGSEGV);
            lg_crash_info crash = newest_crash(LG_STAGE_DONE);
            assert_int_equal(crash.kind, LG_CRASH_NULL_WRITE);
            assert_int_equal(crash.skipped, 0);
            assert_int_equal(crash.recrash_count, 0);
            state_remove();
        }
        if (cut->runs)
            print_message("the executable is not cut: its headers and its code are one segment\n");
        tried = module;
        if (cut->last)
            break;
    }
    assert_true(tried > 4); /* the executable, cmocka, two plugins, and what they need */
    assert_true(cut->last);
}

int main(void)
{
    cut = shared_memory(sizeof *cut);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_module) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
