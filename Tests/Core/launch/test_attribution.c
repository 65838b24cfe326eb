/* Attribution of a crash: several launches in one process, each with modules and tasks of its
 * own. */
#include "harness.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;

enum who { PLAYER, EDITOR, PLAIN, CONTEXTS };
static const char *const names[CONTEXTS] = { "player", "editor", "plain" };

/* The steps of a child with its three launches before it crashes. */
struct plan {
    const char *modules[CONTEXTS][3];
    bool finished[CONTEXTS], announced;
    void (*end)(void);
};

static lg_session *session;
static lg_launch *launches[CONTEXTS];

typedef int (*plugin_function)(void (*function)(void));

static plugin_function load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    plugin_function function = library ? (plugin_function)dlsym(library, "plugin_call") : NULL;
    if (!function)
        _exit(98);
    return function;
}

static const char *file_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

static plugin_function in_a, in_b;
/* jumps to NULL: the innermost frame has no module */
static void a_crashes(void) { in_a(NULL); }
/* the innermost frame is one of the main program */
static void a_calls_back(void) { in_a(crash); }
static void a_aborts(void) { in_a((void (*)(void))abort); } /* the innermost frame is one of libc */
static void b_calls_a(void) { in_b(a_calls_back); }
static void a_calls_b(void) { in_a(b_calls_a); }
static void b_calls_back(void) { in_b(crash); }

static void run_plan(void *argument)
{
    const struct plan *plan = argument;
    session = start_session();
    in_a = load(PLUGIN_A);
    in_b = load(PLUGIN_B);
    for (int i = 0; i < CONTEXTS; i++) {
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.window_ms = 0;
        options.modules = plan->modules[i][0] ? plan->modules[i] : NULL;
        if (lg_launch_prepare(session, names[i], &options, &launches[i]) != LG_OK || lg_launch_begin(launches[i]) != LG_OK)
            _exit(97);
        if (plan->finished[i])
            lg_launch_finished(launches[i]);
    }
    if (plan->announced)
        lg_will_terminate(session);
    plan->end();
}

static void plain_run(void *argument)
{
    (void)argument;
    start_session();
}

/* Bit i of both fields: names[i]. */
static void expect_counted(lg_timeline_entry entry, unsigned attributed, unsigned counted)
{
    assert_int_equal(entry.verdict.end, LG_END_CRASH);
    assert_int_equal(entry.attributed, attributed);
    assert_int_equal(entry.counted, counted);
    for (int i = 0; i < CONTEXTS; i++) {
        assert_int_equal(ledger_context(names[i]).streak, counted >> i & 1);
        assert_int_equal(ledger_context(names[i]).crashes, counted >> i & 1);
    }
}

static void test_modules(void **state)
{
    (void)state;
    const char *a = file_name(PLUGIN_A), *b = file_name(PLUGIN_B);
    const unsigned player = 1u << PLAYER, editor = 1u << EDITOR, plain = 1u << PLAIN, all = player | editor | plain;
    const struct {
        struct plan plan;
        unsigned attributed, counted;
        int signal;
    } rows[] = {
        { { .modules = { { a }, { b } }, .end = a_crashes }, player, player, SIGSEGV },
        /* Frames of the main program, of libc and of modules without an owner are passed over. */
        { { .modules = { { a }, { b } }, .end = a_calls_back }, player, player, SIGSEGV },
        { { .modules = { { a }, { b } }, .end = a_aborts }, player, player, SIGABRT },
        { { .modules = { { a }, { b } }, .end = b_calls_back }, editor, editor, SIGSEGV },
        /* With two owned modules on the stack the innermost one decides. */
        { { .modules = { { a }, { b } }, .end = b_calls_a }, player, player, SIGSEGV },
        { { .modules = { { "libother.so", b }, { a } }, .end = a_calls_b }, editor, editor, SIGSEGV },
        { { .modules = { { NULL }, { b } }, .end = b_calls_a }, editor, editor, SIGSEGV },
        /* A module with two owners. */
        { { .modules = { { a, b }, { a } }, .end = a_crashes }, player | editor, player | editor, SIGSEGV },
        /* A module without an owner: the crash counts for all. The name of a module is its whole
         * file name. */
        { { .modules = { { a }, { b } }, .end = crash }, 0, all, SIGSEGV },
        { { .modules = { { a } }, .end = b_calls_back }, 0, all, SIGSEGV },
        { { .modules = { { "plugin-1.so" }, { "libplugin" } }, .end = a_crashes }, 0, all, SIGSEGV },
        /* The modules of a finished launch have no owner: else no launch would be protected from
         * them. */
        { { .modules = { { a }, { b } }, .finished = { [PLAYER] = true }, .end = a_crashes }, 0, editor | plain, SIGSEGV },
        { { .modules = { { a }, { b } }, .finished = { [PLAYER] = true }, .end = b_calls_a }, editor, editor, SIGSEGV },
        { { .modules = { { a }, { b } }, .announced = true, .end = a_crashes }, 0, 0, SIGSEGV },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        expect_signal(run_plan, (void *)(uintptr_t)&rows[i].plan, rows[i].signal);
        expect_exit(plain_run, NULL, 0);
        expect_counted(last_of_timeline(), rows[i].attributed, rows[i].counted);
    }
}

/* ---- tasks ---- */

static pthread_barrier_t both_run;

static lg_status task_waits(void *user)
{
    (void)user;
    pthread_barrier_wait(&both_run);
    while (!zero)
        pause();
    return LG_OK;
}

static lg_status task_crashes(void *user)
{
    (void)user;
    pthread_barrier_wait(&both_run);
    crash();
    return LG_OK;
}

static void *begin_launch(void *launch)
{
    lg_launch_begin(launch);
    return NULL;
}

/* Two launches run a task each, on two threads; one of them crashes, or a third thread does. */
static void two_tasks(void *argument)
{
    pthread_t thread;
    bool third = argument != NULL;
    session = start_session();
    pthread_barrier_init(&both_run, NULL, third ? 3 : 2);
    for (int i = 0; i < 2; i++) {
        lg_task task = LG_TASK_INIT;
        task.key = i == PLAYER ? "open-file" : "load-fonts";
        task.run = i == PLAYER || third ? task_waits : task_crashes;
        if (lg_launch_prepare(session, names[i], NULL, &launches[i]) != LG_OK || lg_launch_add_task(launches[i], &task) != LG_OK)
            _exit(97);
        pthread_create(&thread, NULL, begin_launch, launches[i]);
    }
    if (third) {
        pthread_barrier_wait(&both_run);
        crash();
    }
    for (;;)
        pause();
}

static void test_task_on_another_thread(void **state)
{
    (void)state;
    expect_signal(two_tasks, NULL, SIGSEGV);
    expect_exit(plain_run, NULL, 0);
    lg_timeline_entry entry = last_of_timeline();
    lg_launch_info player = ledger_context("player"), editor = ledger_context("editor");
    assert_int_equal(player.streak, 0);
    assert_int_equal(editor.streak, 1);
    assert_string_equal(player.last_task, "");
    assert_string_equal(editor.last_task, "load-fonts");
    assert_int_equal(player.suspect_count, 0);
    assert_int_equal(editor.suspect_count, 1);
    assert_int_equal(entry.launching, 3);
    /* The order of the contexts is that of their preparing. */
    assert_int_equal(entry.attributed, 1u << EDITOR);
    assert_int_equal(entry.counted, 1u << EDITOR);
}

static void test_thread_without_a_task(void **state)
{
    (void)state;
    expect_signal(two_tasks, "third", SIGSEGV);
    expect_exit(plain_run, NULL, 0);
    assert_int_equal(last_of_timeline().attributed, 0);
    assert_int_equal(last_of_timeline().counted, 3);
    /* A task ran, but it was not the one that crashed. */
    assert_string_equal(ledger_context("editor").last_task, "");
    assert_int_equal(ledger_context("editor").suspect_count, 0);
}

static lg_status task_in_a(void *user)
{
    (void)user;
    in_a(crash);
    return LG_OK;
}

/* The task belongs to the editor, the module that it crashed in to the player: the module is the
 * stronger evidence. */
static void task_in_module(void *argument)
{
    const char *modules[] = { file_name(PLUGIN_A), NULL };
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_task task = LG_TASK_INIT;
    session = start_session();
    in_a = load(PLUGIN_A);
    task.key = "task";
    task.run = task_in_a;
    options.modules = argument ? modules : NULL;
    if (lg_launch_prepare(session, "player", &options, &launches[PLAYER]) != LG_OK ||
        lg_launch_prepare(session, "editor", NULL, &launches[EDITOR]) != LG_OK || lg_launch_add_task(launches[EDITOR], &task) != LG_OK)
        _exit(97);
    lg_launch_begin(launches[PLAYER]);
    lg_launch_begin(launches[EDITOR]);
}

static void test_module_before_task(void **state)
{
    (void)state;
    expect_signal(task_in_module, "owned", SIGSEGV);
    expect_exit(plain_run, NULL, 0);
    assert_int_equal(last_of_timeline().attributed, 1u << PLAYER);
    assert_int_equal(last_of_timeline().counted, 1u << PLAYER);
    assert_int_equal(ledger_context("editor").streak, 0);
    expect_signal(task_in_module, NULL, SIGSEGV);
    expect_exit(plain_run, NULL, 0);
    assert_int_equal(last_of_timeline().attributed, 1u << EDITOR);
    assert_int_equal(ledger_context("editor").streak, 1);
    assert_string_equal(ledger_context("editor").last_task, "task");
}

static lg_status task_is_killed(void *user)
{
    (void)user;
    raise(SIGALRM);
    return LG_OK;
}

static void killed_in_task(void *argument)
{
    (void)argument;
    lg_task task = LG_TASK_INIT;
    session = start_session();
    task.key = "wakes";
    task.run = task_is_killed;
    if (lg_launch_prepare(session, "plain", NULL, &launches[PLAIN]) != LG_OK || lg_launch_add_task(launches[PLAIN], &task) != LG_OK)
        _exit(97);
    lg_launch_begin(launches[PLAIN]);
}

static void test_task_of_an_end_without_a_record(void **state)
{
    (void)state;
    lg_run_info info;
    struct death death = run_child(killed_in_task, NULL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run(reader, &info), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(lg_witness(state_path(""), info.pid, death.status), LG_OK);
    expect_exit(plain_run, NULL, 0);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
    assert_int_equal(last_of_timeline().verdict.evidence, LG_EVIDENCE_WITNESS);
    assert_string_equal(ledger_context("plain").last_task, "wakes");
    assert_int_equal(ledger_context("plain").suspect_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_modules),
        WITH_STATE(test_task_on_another_thread),
        WITH_STATE(test_thread_without_a_task),
        WITH_STATE(test_module_before_task),
        WITH_STATE(test_task_of_an_end_without_a_record),
    };
    return cmocka_run_group_tests_name("attribution", tests, NULL, NULL);
}
