/* lg_reader_fingerprint(): equal for the same crash, different for another one. */
#undef NDEBUG
#include "ending_program.h"

#include <assert.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs of one test have one directory: the newest is asked. */
static void newest_fingerprint(char ret_hex[33])
{
    lg_reader *reader = newest_run();
    memset(ret_hex, 0, 33);
    assert_int_equal(lg_reader_fingerprint(reader, ret_hex), LG_OK);
    assert_int_equal(strspn(ret_hex, "0123456789abcdef"), 32);
    lg_reader_close(reader);
}

static char first[33], other[33];

/* Both children are started by one line: this program is among their callers. */
static void compare(void (*const ways[2])(void *), const uintptr_t arguments[2], bool equal, int line)
{
    for (volatile int i = 0; i < 2; i++) {
        struct death death = run_child(ways[i], (void *)arguments[i]);
        assert_false(death.late);
        newest_fingerprint(i ? other : first);
    }
    if ((strcmp(first, other) == 0) != equal)
        fail_msg("line %d: %s, %s", line, first, other);
}

#define expect_equal(a, a_argument, b, b_argument)                                                  \
    compare((void (*const[])(void *)){ a, b }, (const uintptr_t[]){ a_argument, b_argument }, true, __LINE__)
#define expect_different(a, a_argument, b, b_argument)                                              \
    compare((void (*const[])(void *)){ a, b }, (const uintptr_t[]){ a_argument, b_argument }, false, __LINE__)

/* ---- ways to crash ---- */

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

static volatile int *volatile nowhere;

KEPT static void crash_here(void) { *nowhere = 1; __asm__ volatile(""); }
KEPT static void crash_there(void) { *nowhere = 2; __asm__ volatile("nop"); }

static void body_here(void *argument)
{
    (void)argument;
    begin();
    crash_here();
}

static void body_there(void *argument)
{
    (void)argument;
    begin();
    crash_there();
}

KEPT static void recurse(uintptr_t depth)
{
    if (depth)
        recurse(depth - 1);
    else
        crash_here();
    __asm__ volatile("");
}

static void body_recursion(void *depth)
{
    begin();
    recurse((uintptr_t)depth);
}

/* Callers of which only the outer ones differ, or the nearest one. */
KEPT static void inner_0(void) { crash_here(); __asm__ volatile(""); }
KEPT static void inner_1(void) { inner_0(); __asm__ volatile(""); }
KEPT static void inner_2(void) { inner_1(); __asm__ volatile(""); }
KEPT static void inner_3(void) { inner_2(); __asm__ volatile(""); }
KEPT static void inner_4(void) { inner_3(); __asm__ volatile(""); }
KEPT static void inner_5(void) { inner_4(); __asm__ volatile(""); }
KEPT static void outer_1(void) { inner_5(); __asm__ volatile(""); }
KEPT static void outer_2(void) { inner_5(); __asm__ volatile("nop"); }
/* No leaf: a walk by frame pointers leaves out the caller of one. */
KEPT static void touch(void) { __asm__ volatile(""); }
KEPT static void crash_with_frame(void) { touch(); *nowhere = 1; __asm__ volatile(""); }
KEPT static void near_1(void) { crash_with_frame(); __asm__ volatile(""); }
KEPT static void near_2(void) { crash_with_frame(); __asm__ volatile("nop"); }

static void body_callers(void *argument)
{
    void (*const callers[])(void) = { outer_1, outer_2, near_1, near_2 };
    begin();
    callers[(uintptr_t)argument]();
}

static volatile int zero;

static void body_says(void *text)
{
    begin();
    close(STDERR_FILENO);
    if (text)
        __assert_fail("zero == 1", text, 17, "body_says");
    assert(zero == 1);
}

static void test_crashes(void **state)
{
    (void)state;
    expect_equal(body_here, 0, body_here, 0);
    expect_different(body_here, 0, body_there, 0);
    expect_equal(body_recursion, 2, body_recursion, 200);
    expect_different(body_here, 0, body_recursion, 3);
    expect_equal(body_callers, 0, body_callers, 1);
    expect_different(body_callers, 2, body_callers, 3);
    /* the signal and the kind */
    expect_different(body, CRASH, body, ABORT);
}

static void test_messages(void **state)
{
    (void)state;
    static char one[] = "player.c:12 at 0x7ffe1234abcd", same[] = "player.c:99 at 0x55d0", another[] = "decoder.c:12 at 0x7ffe1234abcd";
    expect_equal(body_says, (uintptr_t)one, body_says, (uintptr_t)same);
    expect_different(body_says, (uintptr_t)one, body_says, (uintptr_t)another);
    static char word[] = "cafe babe", number[] = "object 00cafe12 died", number_too[] = "object 7f00cafe1234 died";
    expect_different(body_says, (uintptr_t)word, body_says, (uintptr_t)number);
    expect_equal(body_says, (uintptr_t)number, body_says, (uintptr_t)number_too);
}

struct said {
    const char *expression, *file;
    unsigned line;
    const char *function;
};

static void body_asserts(void *argument)
{
    const struct said *said = argument;
    begin();
    close(STDERR_FILENO);
    __assert_fail(said->expression, said->file, said->line, said->function);
}

KEPT static void assert_elsewhere(const struct said *said)
{
    __assert_fail(said->expression, said->file, said->line, said->function);
}

static void body_asserts_elsewhere(void *said)
{
    begin();
    close(STDERR_FILENO);
    assert_elsewhere(said);
}

/* One assertion is one place with one text, at any line. */
static void test_assertions(void **state)
{
    (void)state;
    static const struct said one = { "rows > 0", "player.c", 17, "resize" }, same = { "rows > 0", "player.c", 21, "resize" },
                             other = { "rows > none", "player.c", 17, "resize" }, elsewhere = { "rows > 0", "decoder.c", 17, "resize" };
    expect_equal(body_asserts, (uintptr_t)&one, body_asserts, (uintptr_t)&same);
    expect_different(body_asserts, (uintptr_t)&one, body_asserts_elsewhere, (uintptr_t)&one);
    expect_different(body_asserts, (uintptr_t)&one, body_asserts, (uintptr_t)&other);
    expect_different(body_asserts, (uintptr_t)&one, body_asserts, (uintptr_t)&elsewhere);
}

/* Functions of one size and shape, as getters have: only their addresses differ. */
#define GETTER(name, number) KEPT static int name(const volatile int *of) { return of[0] + number; }
GETTER(get_title, 11) GETTER(get_artist, 12) GETTER(get_label, 13) GETTER(get_year, 14)
GETTER(get_genre, 15) GETTER(get_length, 16) GETTER(get_rating, 17) GETTER(get_number, 18)

static void body_gets(void *which)
{
    int (*const getters[])(const volatile int *) = { get_title, get_artist, get_label, get_year, get_genre, get_length, get_rating, get_number };
    begin();
    getters[(uintptr_t)which](nowhere);
    __asm__ volatile("");
}

static void test_functions_of_one_shape(void **state)
{
    (void)state;
    for (uintptr_t one = 0; one < 8; one++)
        for (uintptr_t two = 0; two < one; two++)
            expect_different(body_gets, one, body_gets, two);
}

/* Two applications share no end. */
static void end_of_app(const char *app_id, char ret_hex[33])
{
    lg_options options = LG_OPTIONS_INIT;
    char directory[4096];
    glob_t files;
    lg_reader *reader;
    snprintf(directory, sizeof directory, "%s/%s", state_path(""), app_id);
    options.app_id = app_id;
    options.state_directory = directory;
    pid_t child = fork();
    if (child == 0) {
        lg_session *begun;
        exit(lg_start(&options, &begun) == LG_OK ? 3 : 97);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_true(strlen(directory) + strlen("/runs/*.lgrun") < sizeof directory);
    strcat(directory, "/runs/*.lgrun");
    assert_int_equal(glob(directory, 0, NULL, &files), 0);
    assert_int_equal(lg_reader_open(files.gl_pathv[0], &reader), LG_OK);
    assert_int_equal(lg_reader_fingerprint(reader, ret_hex), LG_OK);
    lg_reader_close(reader);
    globfree(&files);
}

static void test_applications(void **state)
{
    (void)state;
    end_of_app("org.example.one", first);
    end_of_app("org.example.other", other);
    assert_string_not_equal(first, other);
}

KEPT static void crash_at(volatile int *at) { *at = 3; __asm__ volatile(""); }

static void body_crash_at(void *at)
{
    begin();
    crash_at(at);
}

/* It is chance where a bad pointer leads; that it is null is none. */
static void test_pointers(void **state)
{
    (void)state;
    expect_equal(body_crash_at, 0x414141414000, body_crash_at, (uintptr_t)body_here);
    expect_equal(body_crash_at, 0, body_crash_at, 24);
    expect_different(body_crash_at, 0, body_crash_at, 0x414141414000);
}

/* The program is loaded elsewhere at each start. */
static void body_afresh(void *argument)
{
    (void)argument;
    setenv("FINGERPRINT_STATE", state_path(""), 1);
    execl("/proc/self/exe", "fingerprint", (char *)NULL);
    _exit(98);
}

static int crash_afresh(const char *directory)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *begun;
    options.app_id = "org.example.fingerprint";
    options.state_directory = directory;
    if (lg_start(&options, &begun) != LG_OK)
        return 97;
    crash_here();
    return 96;
}

static void test_addresses(void **state)
{
    (void)state;
    lg_module module;
    uint64_t bias[2];
    for (volatile int i = 0; i < 2; i++) {
        expect_signal(body_afresh, NULL, SIGSEGV);
        newest_fingerprint(i ? other : first);
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_module(reader, 0, &module), LG_OK);
        lg_reader_close(reader);
        bias[i] = module.bias;
    }
    assert_string_equal(first, other);
    if (bias[0] == bias[1])
        skip_because("the program was loaded at one address both times");
}

static lg_status die_in_task(void *user)
{
    (void)user;
    raise(SIGKILL);
    return LG_OK;
}

static void body_task(void *key)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_task task = LG_TASK_INIT;
    session = start_session();
    task.key = key;
    task.run = die_in_task;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_add_task(launch, &task) != LG_OK)
        _exit(97);
    lg_launch_begin(launch);
    _exit(98);
}

static void *kill_when_hanging(void *argument)
{
    (void)argument;
    wait_until(newest_info().hang_ns && said("it hangs"));
    kill(getpid(), SIGKILL);
    return NULL;
}

/* At any place of its loop. */
KEPT static void spin(uint32_t turns)
{
    for (volatile uint32_t i = 0;; i = (i + 1) % turns)
        if (i % 3 == 0)
            i *= 1;
}
KEPT static void spin_here(void) { spin(1000); __asm__ volatile(""); }
KEPT static void spin_there(void) { __asm__ volatile("nop"); spin(77); __asm__ volatile(""); }

static void body_hangs(void *there)
{
    lg_options options = LG_OPTIONS_INIT;
    options.hang_running_ms = 150;
    session = start_with(options);
    lg_heartbeat(session);
    in_thread(kill_when_hanging, NULL);
    (there ? spin_there : spin_here)();
}

/* The file of the same end, read with a witness and without; any other end goes by its evidence,
 * the task and the place of the hang. */
static void test_other_ends(void **state)
{
    (void)state;
    struct death death = run_child(body_here, NULL);
    newest_fingerprint(first);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    assert_int_equal(newest_verdict().evidence, LG_EVIDENCE_WITNESS);
    newest_fingerprint(other);
    assert_string_equal(first, other);
    expect_equal(body, KILL, body, KILL);
    expect_different(body, KILL, body, EXIT_7);
    expect_different(body, TERMINATE, body, INTERRUPT);
    static char one[] = "open database", another[] = "load map";
    expect_equal(body_task, (uintptr_t)one, body_task, (uintptr_t)one);
    expect_different(body_task, (uintptr_t)one, body_task, (uintptr_t)another);
    expect_equal(body_hangs, 0, body_hangs, 0);
    assert_int_equal(newest_verdict().end, LG_END_HANG);
    expect_different(body_hangs, 0, body_hangs, 1);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    lg_reader *reader;
    run_child(body, WAY(CRASH));
    assert_int_equal(lg_reader_fingerprint(NULL, first), LG_ERR_ARGUMENT);
    reader = newest_run();
    assert_int_equal(lg_reader_fingerprint(reader, NULL), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
    memset(first, 'x', sizeof first);
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_fingerprint(reader, first), LG_ERR_STATE);
    assert_int_equal(first[0], 'x');
    lg_reader_close(reader);
}

/* A reader on another machine, which takes the run for one that a reboot ended, computes the same
 * with what the ledger says. */
static void test_end_from_elsewhere(void **state)
{
    (void)state;
    const struct death death = run_child(body_hangs, NULL);
    assert_false(death.late);
    lg_reader *reader = newest_run();
    lg_verdict verdict;
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_HANG);
    assert_int_equal(lg_reader_fingerprint(reader, first), LG_OK);
    assert_int_equal(lg_reader_fingerprint_of(reader, NULL, other), LG_OK);
    assert_string_equal(first, other);
    assert_int_equal(lg_reader_fingerprint_of(reader, &verdict, other), LG_OK);
    assert_string_equal(first, other);
    verdict = (lg_verdict){ .end = LG_END_REBOOT, .evidence = LG_EVIDENCE_BOOT_DIFFERS };
    assert_int_equal(lg_reader_fingerprint_of(reader, &verdict, other), LG_OK);
    assert_string_not_equal(first, other);
    assert_int_equal(lg_reader_fingerprint_of(reader, &verdict, NULL), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
}

/* Every golden file has a fingerprint. */
static void test_golden_files(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(GOLDEN "/*.lgrun", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 20);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        lg_reader *reader;
        assert_int_equal(lg_reader_open(files.gl_pathv[i], &reader), LG_OK);
        memset(first, 0, sizeof first);
        assert_int_equal(lg_reader_fingerprint(reader, first), LG_OK);
        assert_int_equal(strlen(first), 32);
        /* the selected crash stays selected */
        lg_crash_info before, after;
        uint32_t crashes = 0;
        lg_reader_crash_count(reader, &crashes);
        for (uint32_t crash = 0; crash < crashes; crash++) {
            assert_int_equal(lg_reader_select_crash(reader, crash), LG_OK);
            lg_status status = lg_reader_crash(reader, &before);
            assert_int_equal(lg_reader_fingerprint(reader, other), LG_OK);
            assert_string_equal(first, other);
            assert_int_equal(lg_reader_crash(reader, &after), status);
            if (status == LG_OK)
                assert_int_equal(before.sequence, after.sequence);
        }
        lg_reader_close(reader);
    }
    globfree(&files);
}

int main(void)
{
    const char *directory = getenv("FINGERPRINT_STATE");
    if (directory)
        return crash_afresh(directory);
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_crashes),
        WITH_STATE(test_messages),
        WITH_STATE(test_assertions),
        WITH_STATE(test_functions_of_one_shape),
        WITH_STATE(test_applications),
        WITH_STATE(test_pointers),
        WITH_STATE(test_addresses),
        WITH_STATE(test_other_ends),
        WITH_STATE(test_wrong_calls),
        WITH_STATE(test_end_from_elsewhere),
        cmocka_unit_test(test_golden_files),
    };
    return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
