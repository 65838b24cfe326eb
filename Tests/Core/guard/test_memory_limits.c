/* The limits of a registered mapping, and calls with bad arguments. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define PAGES 4
#define BOTH (PROT_READ | PROT_WRITE)

/* A mapped file of pages of 'x', with nothing left of it but the mapping when it is cut. */
static volatile uint8_t *map_file(int protection, int *ret_file)
{
    uint8_t page[PAGE];
    memset(page, 'x', sizeof page);
    *ret_file = open(state_path("data"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t i = 0; i < PAGES; i++)
        if (write(*ret_file, page, sizeof page) != (ssize_t)sizeof page)
            _exit(80);
    uint8_t *base = mmap(NULL, PAGES * PAGE, protection, MAP_SHARED, *ret_file, 0);
    if (base == MAP_FAILED)
        _exit(81);
    return base;
}

static lg_session *start_guards(void)
{
    lg_session *session = start_session();
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = LG_GUARD_SURVIVE;
    options.quiet = 1;
    if (lg_guard_start(session, &options) != LG_OK)
        _exit(84);
    return session;
}

static volatile uint8_t *map_cut(lg_session *session, int protection)
{
    int file;
    volatile uint8_t *base = map_file(protection, &file);
    if (lg_guard_map(session, (void *)base, PAGES * PAGE, protection & BOTH) != LG_OK || ftruncate(file, 0) != 0)
        _exit(82);
    return base;
}

static lg_crash_info assert_bus(void)
{
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGBUS);
    assert_int_equal(crash.kind, LG_CRASH_BUS_FILE);
    return crash;
}

/* ---- a system call that meets the page first fails, and nothing is replaced ---- */

static void body_system_call(void *argument)
{
    int ends[2];
    (void)argument;
    lg_session *session = start_guards();
    volatile uint8_t *base = map_cut(session, BOTH);
    if (pipe(ends) != 0 || write(ends[1], "text", 4) != 4)
        _exit(90);
    if (read(ends[0], (void *)base, 4) != -1 || errno != EFAULT || write(ends[1], (void *)(base + PAGE), 4) != -1 || errno != EFAULT)
        _exit(91);
    _exit(lg_guard_map_lost((void *)base) == 0 ? 0 : 92);
}

static void test_system_call(void **state)
{
    (void)state;
    expect_exit(body_system_call, NULL, 0);
    assert_false(said("of a mapping is not there"));
}

/* ---- instructions ---- */

static void body_code(void *argument)
{
    (void)argument;
    lg_session *session = start_guards();
    volatile uint8_t *base = map_cut(session, PROT_READ | PROT_EXEC);
    ((void (*)(void))(uintptr_t)base)();
    _exit(90);
}

static void test_code(void **state)
{
    (void)state;
    expect_signal(body_code, NULL, SIGBUS);
    lg_crash_info crash = assert_bus();
    assert_int_equal(crash.pc, crash.address);
    assert_false(said("of a mapping is not there"));
}

/* ---- a thread that blocks the signal: the kernel ends the process, without a record ---- */

static void body_blocked(void *argument)
{
    sigset_t set;
    (void)argument;
    volatile uint8_t *base = map_cut(start_guards(), BOTH);
    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8); /* no function of LaunchGuard sees it */
    base[0] = 1;
}

static void test_blocked(void **state)
{
    (void)state;
    expect_signal(body_blocked, NULL, SIGBUS);
    assert_false(said("of a mapping is not there"));
}

/* ---- the kernel has no page to give: the crash follows, with its record ---- */

static void body_refused(void *argument)
{
    const struct rlimit none = { 0, 0 };
    (void)argument;
    volatile uint8_t *base = map_cut(start_guards(), BOTH);
    if (setrlimit(RLIMIT_DATA, &none) != 0)
        _exit(85);
    base[2 * PAGE + 9] = 1;
}

static void test_refused(void **state)
{
    (void)state;
    expect_signal(body_refused, NULL, SIGBUS);
    assert_bus();
    assert_true(said("page 3 of 4 of a mapping is not there"));
}

/* ---- the protection is that of the registration ---- */

static void body_protection(void *argument)
{
    volatile uint8_t *base = map_cut(start_guards(), PROT_READ);
    if (base[5] != 0)
        _exit(90);
    (void)argument;
    base[5] = 1;
}

static void test_protection(void **state)
{
    (void)state;
    expect_signal(body_protection, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).kind, LG_CRASH_READONLY_WRITE);
}

/* ---- the site of a copy is in libc: a list of allowed modules has to name it ---- */

static void body_lists(void *argument)
{
    static uint8_t to[PAGES * PAGE];
    const char *modules[] = { program_invocation_short_name, "libc.so.6" };
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    lists.allowed_modules = modules;
    lists.allowed_module_count = argument ? 2 : 1;
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    lg_session *session = start_guards();
    volatile uint8_t *base = map_cut(session, BOTH);
    if (lg_guard_set_lists(session, &lists) != LG_OK)
        _exit(90);
    if (base[PAGE] != 0) /* by the program itself */
        _exit(91);
    base = map_cut(session, BOTH);
    copy(to, (const void *)base, sizeof to);
}

static void test_lists(void **state)
{
    (void)state;
    expect_signal(body_lists, NULL, SIGBUS);
    assert_bus();
#ifdef __GLIBC__
    state_make();
    expect_exit(body_lists, state, 0);
#endif
}

/* ---- bad arguments ---- */

static void body_arguments(void *argument)
{
    (void)argument;
    lg_session *session = start_guards();
    int file;
    uint8_t *base = (uint8_t *)(uintptr_t)map_file(BOTH, &file);
    static const struct {
        size_t offset, size;
        int protection;
        lg_status status;
    } calls[] = {
        { 0, 0, BOTH, LG_ERR_ARGUMENT },           { 1, PAGE, BOTH, LG_ERR_OPTION },       { 0, PAGE, PROT_WRITE, LG_ERR_OPTION },
        { 0, PAGE, PROT_NONE, LG_ERR_OPTION },     { 0, PAGE, BOTH | PROT_EXEC, LG_ERR_OPTION }, { 0, SIZE_MAX, BOTH, LG_ERR_OPTION },
        { 0, SIZE_MAX - PAGE, BOTH, LG_ERR_OPTION }, { PAGE, 2 * PAGE, BOTH, LG_OK },        { PAGE, PAGE, BOTH, LG_ERR_ALREADY },
        { 0, 2 * PAGE, BOTH, LG_ERR_ALREADY },     { 2 * PAGE, 2 * PAGE, BOTH, LG_ERR_ALREADY }, { 0, PAGES * PAGE, BOTH, LG_ERR_ALREADY },
        { 0, 1, PROT_READ, LG_OK },                { 0, PAGE, PROT_READ, LG_ERR_ALREADY },   { 3 * PAGE, PAGE, PROT_READ, LG_OK },
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (lg_guard_map(session, base + calls[i].offset, calls[i].size, calls[i].protection) != calls[i].status)
            _exit(10 + (int)i);
    if (lg_guard_map(NULL, base, PAGE, BOTH) != LG_ERR_ARGUMENT || lg_guard_map(session, NULL, PAGE, BOTH) != LG_ERR_ARGUMENT)
        _exit(90);
    if (lg_guard_unmap(NULL, base) != LG_ERR_ARGUMENT || lg_guard_unmap(session, NULL) != LG_ERR_ARGUMENT || lg_guard_unmap(session, base + 2 * PAGE) != LG_ERR_NOT_FOUND)
        _exit(91);
    if (lg_guard_map_lost(NULL) != 0 || lg_guard_map_lost(base + 2 * PAGE) != 0)
        _exit(92);
    if (lg_guard_unmap(session, base) != LG_OK || lg_guard_unmap(session, base) != LG_ERR_NOT_FOUND)
        _exit(93);
    /* as many as there is room for, and again after one was taken back */
    uint8_t *many = mmap(NULL, (LG_GUARD_MAPS_MAX + 1) * PAGE, BOTH, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 2; i < LG_GUARD_MAPS_MAX; i++)
        if (lg_guard_map(session, many + i * PAGE, PAGE, BOTH) != LG_OK)
            _exit(94);
    if (lg_guard_map(session, many, PAGE, BOTH) != LG_ERR_LIMIT || lg_guard_unmap(session, many + 5 * PAGE) != LG_OK || lg_guard_map(session, many, PAGE, BOTH) != LG_OK)
        _exit(95);
    lg_stop(session);
    _exit(lg_guard_map(session, many + 5 * PAGE, PAGE, BOTH) == LG_ERR_CLOSED && lg_guard_unmap(session, many) == LG_ERR_CLOSED ? 0 : 96);
}

static void test_arguments(void **state)
{
    (void)state;
    expect_exit(body_arguments, NULL, 0);
}

/* ---- a session without handlers ---- */

static void body_unprotected(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session = NULL;
    int file;
    options.app_id = "org.example.test";
    options.state_directory = argument ? "/proc/none" : state_path("state");
    options.capture = argument ? 0 : LG_CAPTURE_NONE;
    lg_start(&options, &session);
    lg_guard_start(session, NULL);
    volatile uint8_t *base = map_file(BOTH, &file);
    if (lg_guard_map(session, (void *)base, PAGE, BOTH) != LG_ERR_UNPROTECTED || lg_guard_unmap(session, (void *)base) != LG_ERR_UNPROTECTED)
        _exit(90);
    if (ftruncate(file, 0) == 0)
        base[0] = 1;
}

static void test_unprotected(void **state)
{
    (void)state;
    expect_signal(body_unprotected, NULL, SIGBUS);
    expect_signal(body_unprotected, state, SIGBUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_system_call), WITH_STATE(test_code),  WITH_STATE(test_blocked),   WITH_STATE(test_refused),
        WITH_STATE(test_protection),  WITH_STATE(test_lists), WITH_STATE(test_arguments), WITH_STATE(test_unprotected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
