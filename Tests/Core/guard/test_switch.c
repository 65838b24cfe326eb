/* The switchboard: which guards are on, the policy for a fault, the budget, and the receiver of
 * events. */
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "guard/guard.h"
#include "os/fault_point.h"
#include "os/os.h"

static struct seen *seen;

#define STRING LG_GUARDS(LG_GUARD_STRING)
#define SITE(number) ((const void *)(uintptr_t)(0x10000 + (number)))

static int claim(unsigned number)
{
    return lg_guard_claim(LG_GUARD_STRING, SITE(number), "a string is odd", NULL, 0);
}

static lg_guard_options options_of(lg_guard_policy policy)
{
    return (lg_guard_options){ .size = sizeof(lg_guard_options), .classes = STRING, .policy = policy, .quiet = 1, .on_event = see, .user = seen };
}

/* ---- options and states ---- */

static void start_twice(void *argument)
{
    (void)argument;
    lg_session *session = guard_with(STRING, LG_GUARD_REPORT, 0, seen);
    const char *const names[] = { "no-such-module.so" };
    const lg_guard_lists lists = { .size = sizeof lists, .allowed_module_count = 1, .allowed_modules = names };
    const lg_guard_options others = { .size = sizeof others, .classes = LG_GUARDS(LG_GUARD_HANDLE), .policy = LG_GUARD_SURVIVE, .quiet = 1 };
    require(lg_guard_start(session, &others) == LG_ERR_ALREADY);
    require(lg_guard_is_working(LG_GUARD_STRING) && !lg_guard_is_working(LG_GUARD_HANDLE));
    require(claim(1) == 0); /* the policy is what it was */
    wait_events(seen, 1);   /* and on_event */
    require(seen->last.action == LG_GUARD_REPORTED);
    require(lg_guard_set_policy(session, STRING, LG_GUARD_SURVIVE) == LG_OK && claim(1) == 1);
    require(lg_guard_set_lists(session, &lists) == LG_OK && claim(1) == 0);
    /* and the lists */
    require(lg_guard_start(session, &others) == LG_ERR_ALREADY && claim(1) == 0);
}

static void meet_bad_input(void *argument)
{
    lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    (void)argument;
    lg_session *session = start_session();
    require(lg_guard_start(NULL, &options) == LG_ERR_ARGUMENT);
    require(lg_guard_set_classes(session, STRING) == LG_ERR_STATE);
    require(lg_guard_set_policy(session, STRING, LG_GUARD_SURVIVE) == LG_ERR_STATE);
    require(lg_guard_set_lists(session, NULL) == LG_ERR_STATE);
    require(lg_guard_stop(session) == LG_OK && lg_guard_stop(NULL) == LG_ERR_ARGUMENT);
    static const lg_guard_options bad[] = {
        { .size = 4 },
        { .size = sizeof bad[0], .classes = 1 },
        { .size = sizeof bad[0], .classes = LG_GUARDS_ALL + 1 },
        { .size = sizeof bad[0], .classes = UINT32_C(1) << 11 },
        { .size = sizeof bad[0], .policy = (lg_guard_policy)4 },
        { .size = sizeof bad[0], .budget = 1000001 },
        { .size = sizeof bad[0], .quiet = 2 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        require(lg_guard_start(session, &bad[i]) == LG_ERR_OPTION && lg_guard_working == 0);
    require(lg_guard_start(session, &options) == LG_OK);
    require(lg_guard_set_classes(session, 1) == LG_ERR_OPTION && lg_guard_set_classes(NULL, STRING) == LG_ERR_ARGUMENT);
    require(lg_guard_set_policy(session, STRING, (lg_guard_policy)0) == LG_ERR_OPTION);
    require(lg_guard_set_policy(session, STRING, (lg_guard_policy)4) == LG_ERR_OPTION);
    require(lg_guard_set_policy(session, 1, LG_GUARD_SURVIVE) == LG_ERR_OPTION);
    const char *const names[] = { "a/b.so", "", NULL, "fine.so" };
    const void *const functions[] = { NULL };
    lg_guard_lists lists = { .size = 3 };
    require(lg_guard_set_lists(session, &lists) == LG_ERR_OPTION);
    lists.size = sizeof lists;
    lists.denied_module_count = 1;
    require(lg_guard_set_lists(session, &lists) == LG_ERR_OPTION);
    for (int i = 0; i < 3; i++) {
        lists.denied_modules = names + i;
        require(lg_guard_set_lists(session, &lists) == LG_ERR_OPTION);
    }
    lists.denied_modules = names + 3;
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    lists.denied_module_count = 257;
    require(lg_guard_set_lists(session, &lists) == LG_ERR_LIMIT);
    lists.denied_module_count = 0;
    lists.allowed_function_count = 1;
    lists.allowed_functions = functions;
    require(lg_guard_set_lists(session, &lists) == LG_ERR_OPTION);
    /* classes that there are not */
    require(lg_guard_set_classes(session, LG_GUARDS_ALL) == LG_OK);
    for (int i = 0; i < 3; i++)
        require(lg_guard_claim((lg_guard_class)((const int[]){ 0, 11, 32 + LG_GUARD_STRING })[i], NULL, "x", NULL, 0) == 0);
    require(lg_guard_claim(LG_GUARD_STRING, NULL, NULL, NULL, 3) == 1); /* no text, no fields */
    require(lg_stop(session) == LG_OK && lg_guard_working == 0 && claim(1) == 0);
    require(lg_guard_start(session, &options) == LG_ERR_CLOSED && lg_guard_set_classes(session, STRING) == LG_ERR_CLOSED);
}

static void test_options(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(start_twice, NULL, 0);
    state_make();
    expect_exit(meet_bad_input, NULL, 0);
}

#if !LG__KEEPS_THREAD
static void take_defaults(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    require(lg_guard_start(session, NULL) == LG_OK);
    require(lg_guard_working == LG_GUARDS_DEFAULT && !lg_guard_is_working(LG_GUARD_NULL_CALL));
    claim(1); /* LG_GUARD_FATAL */
}

static void test_defaults(void **state)
{
    (void)state;
    const struct crashed crashed = crashed_by(take_defaults, NULL, SIGABRT);
    assert_true(crashed.frame_count > 3);
    expect_site(LG_GUARD_STRING, "a string is odd", LG_GUARD_ENDED, 1, 0);
}
#endif

/* ---- stop and start ---- */

static void stop_here(const lg_guard_event *event, void *user)
{
    require(lg_guard_stop(user) == LG_OK);
    see(event, seen);
}

static void stop_in_event(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    options.on_event = stop_here;
    options.user = session;
    const unsigned threads = count_threads();
    for (uint64_t i = 1; i <= 3; i++) {
        require(lg_guard_start(session, &options) == LG_OK);
        require(claim((unsigned)i) == 1);
        wait_events(seen, i);
        require(lg_guard_working == 0 && claim(1) == 0);
    }
    wait_until(count_threads() <= threads);
}

/* The threads of two starts may call at once. */
static void count(const lg_guard_event *event, void *user)
{
    (void)user;
    atomic_fetch_add(&seen->events, event->skipped + 1);
}

static void start_and_stop(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    options.on_event = count;
    const unsigned threads = count_threads();
    for (unsigned i = 0; i < 300; i++) {
        require(lg_guard_start(session, &options) == LG_OK && claim(1 + i % 5) == 1);
        require(lg_guard_stop(session) == LG_OK && claim(1 + i % 5) == 0);
    }
    wait_until(count_threads() <= threads);
    require(lg_stop(session) == LG_OK);
    require(seen->events == 300);
}

/* A thread of an earlier start is in its call, and has passed the site of the next event. */
static atomic_int in_call, may_return;

static void return_late(const lg_guard_event *event, void *user)
{
    if (atomic_fetch_add(&in_call, 1) == 0)
        wait_until(atomic_load(&may_return));
    see(event, user);
}

static void stop_while_another_reports(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    options.on_event = return_late;
    require(lg_guard_start(session, &options) == LG_OK && claim(1) == 1);
    wait_until(atomic_load(&in_call));
    const unsigned threads = count_threads();
    require(lg_guard_stop(session) == LG_OK);
    require(lg_guard_start(session, &options) == LG_OK && claim(1) == 1);
    require(lg_guard_stop(session) == LG_OK);
    wait_until(count_threads() <= threads);
    atomic_store(&may_return, 1);
    wait_events(seen, 2);
}

static void test_stop(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(stop_in_event, NULL, 0);
    memset(seen, 0, sizeof *seen);
    state_make();
    expect_exit(stop_while_another_reports, NULL, 0);
    memset(seen, 0, sizeof *seen);
    state_make();
    expect_exit(start_and_stop, NULL, 0);
}

/* ---- changes from several threads ---- */

#define CLAIMS 20000
static atomic_int running;
static lg_session *changed;

static void *claim_often(void *argument)
{
    for (unsigned i = 0; i < CLAIMS; i++)
        claim((unsigned)(uintptr_t)argument);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *change_often(void *argument)
{
    const char *const names[] = { "libc.so.6", "none.so" };
    lg_guard_lists lists = { .size = sizeof lists, .denied_modules = names };
    for (unsigned i = 0; atomic_load(&running) > 0; i++) {
        lists.denied_module_count = i % 3;
        require(lg_guard_set_lists(changed, i % 5 ? &lists : NULL) == LG_OK);
        require(lg_guard_set_policy(changed, LG_GUARDS_ALL, i % 2 ? LG_GUARD_SURVIVE : LG_GUARD_REPORT) == LG_OK);
        require(lg_guard_set_classes(changed, argument && i % 7 == 0 ? 0 : LG_GUARDS_ALL) == LG_OK);
    }
    return NULL;
}

/* on_event is slower than the events: its counts add up all the same. */
static void see_slowly(const lg_guard_event *event, void *user)
{
    see(event, user);
    pass_time(5, "other events come while one is reported");
}

static void change_live(void *argument)
{
    pthread_t threads[4];
    changed = start_session();
    lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    options.budget = 1000000;
    options.on_event = see_slowly;
    require(lg_guard_start(changed, &options) == LG_OK);
    running = 2;
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? claim_often : change_often, i < 2 ? (void *)(i + 1) : argument);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    require(lg_guard_stop(changed) == LG_OK);
    if (argument) /* some were not claimed */
        return;
    wait_events(seen, 2 * CLAIMS);
    require(lg_stop(changed) == LG_OK);
}

static void test_live_changes(void **state)
{
    (void)state;
    expect_exit(change_live, (void *)1, 0);
    memset(seen, 0, sizeof *seen);
    state_make();
    expect_exit(change_live, NULL, 0);
    assert_int_equal(seen->events, 2 * CLAIMS);
    assert_true(seen->calls < 1000); /* at most once a second of each site */
    lg_reader *reader = newest_run();
    lg_guards_info guards;
    assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
    assert_int_equal(guards.events, 2 * CLAIMS);
    assert_int_equal(guards.sites, 2);
    lg_reader_close(reader);
}

/* ---- budgets and sites ---- */

/* The budget is that of a site and a minute, whose beginnings are multiples of a minute. */
static void test_budget(void **state)
{
    static struct lg__guards file;
    const uint64_t minute = UINT64_C(60000000000), begin = 1000 * minute;
    (void)state;
    lg__site_open(&file, 3);
    for (unsigned m = 0; m < 3; m++)
        for (unsigned i = 0; i < 6; i++)
            for (uint32_t site = 1; site < 4; site++)
                assert_int_equal(lg__site_spend(site, begin + m * minute + i), i < 3);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(lg__site_spend(5, begin + minute - 1), i < 3);
    assert_true(lg__site_spend(5, begin + minute));
}

static void spend(void *argument)
{
    (void)argument;
    guard_with(STRING, LG_GUARD_SURVIVE, 3, seen);
    const uint64_t begin = now_ns() / 60000000000u;
    unsigned survived = 0, other = 0;
    for (unsigned i = 0; i < 10; i++)
        survived += (unsigned)claim(1);
    for (unsigned i = 0; i < 3; i++)
        other += (unsigned)claim(2);
    require(now_ns() / 60000000000u != begin || survived == 3);
    require(survived >= 3 && survived <= 6 && other == 3);
    wait_events(seen, 13);
}

static void use_many_sites(void *argument)
{
    (void)argument;
    guard_with(STRING, LG_GUARD_SURVIVE, 0, seen);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < LG_GUARD_SITES_MAX + 9; i++)
            require(claim(i) == 1);
    wait_events(seen, 2 * (LG_GUARD_SITES_MAX + 9));
}

static void test_sites(void **state)
{
    lg_guard_info guard;
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(spend, NULL, 0);
    memset(seen, 0, sizeof *seen);
    state_make();
    expect_exit(use_many_sites, NULL, 0);
    lg_reader *reader = newest_run();
    for (uint32_t i = 0; i <= LG_GUARD_SITES_MAX; i++) {
        assert_int_equal(lg_reader_guard(reader, i, &guard), LG_OK);
        assert_int_equal(guard.count, i ? 2 : 18);
        assert_int_equal(guard.site, i ? (uint64_t)(uintptr_t)SITE(i - 1) : 0);
        assert_int_equal(guard.survived, guard.count);
    }
    assert_int_equal(lg_reader_guard(reader, LG_GUARD_SITES_MAX + 1, &guard), LG_ERR_NOT_FOUND);
    lg_reader_close(reader);
}

/* ---- the receiver of events ---- */

/* The thread that calls on_event finds no event whose breadcrumb is still to come: on_event may end
 * the process. */
static void take_events(const char *point)
{
    static struct lg__site_event event;
    if (strcmp(point, "guard: breadcrumb") != 0)
        return;
    seen->calls++;
    for (uint32_t site = 0; site < LG__GUARD_SITES; site++)
        require(!lg__site_take(site, true, &event));
}

static void leave_breadcrumb_first(void *argument)
{
    (void)argument;
    guard_with(STRING, LG_GUARD_SURVIVE, 0, NULL);
    lg__fault_hook = take_events;
    require(claim(1) == 1 && seen->calls == 1);
}

static void test_breadcrumb_first(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(leave_breadcrumb_first, NULL, 0);
    expect_site(LG_GUARD_STRING, "a string is odd", LG_GUARD_SURVIVED, 1, 1);
}

#if !LG__KEEPS_THREAD
static void crash_here(const lg_guard_event *event, void *user)
{
    (void)event, (void)user;
    crash();
}

static void crash_in_event(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    options.on_event = crash_here;
    require(lg_guard_start(session, &options) == LG_OK && claim(1) == 1);
    wait_for_ever(NULL);
}

static void test_crash_in_event(void **state)
{
    (void)state;
    const struct crashed crashed = crashed_by(crash_in_event, NULL, SIGSEGV);
    assert_int_equal(crashed.info.kind, LG_CRASH_NULL_WRITE);
    assert_int_equal(crashed.info.recrash_count, 0);
    expect_site(LG_GUARD_STRING, "a string is odd", LG_GUARD_SURVIVED, 1, 1);
}
#endif

static void say_on_stderr(void *argument)
{
    lg_guard_options options = { .size = sizeof options, .classes = STRING, .policy = LG_GUARD_SURVIVE, .quiet = argument != NULL };
    const int file = open(state_path("stderr"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    lg_session *session = start_session();
    dup2(file, STDERR_FILENO);
    require(lg_guard_start(session, &options) == LG_OK && claim(1) == 1);
    require(lg_stop(session) == LG_OK); /* reports the rest */
    if (!options.quiet)
        wait_until(lseek(file, 0, SEEK_END) > 0); /* the other thread is in the middle of it */
}

static void test_stderr(void **state)
{
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        char line[512] = "";
        state_make();
        expect_exit(say_on_stderr, quiet ? seen : NULL, 0);
        FILE *file = fopen(state_path("stderr"), "r");
        assert_non_null(file);
        const bool any = fgets(line, sizeof line, file);
        fclose(file);
        assert_int_equal(any, !quiet);
        if (any)
            assert_string_equal(line, "launchguard: guard string: a string is odd (survived, event 1 at 0x10001)\n");
    }
}

static void leave_breadcrumb(void *argument)
{
    (void)argument;
    guard_with(STRING, LG_GUARD_SURVIVE, 0, NULL);
    const lg_field fields[] = { { "offset", "7" }, { "length", "5" } };
    require(lg_guard_claim(LG_GUARD_STRING, SITE(1), "an offset is beyond its string", fields, 2) == 1);
    raise(SIGKILL);
}

static void claim_at_length(void *argument)
{
    static char text[5000];
    (void)argument;
    memset(text, 'x', sizeof text - 1);
    guard_with(STRING, LG_GUARD_SURVIVE, 0, NULL);
    require(lg_guard_claim(LG_GUARD_STRING, SITE(1), text, NULL, 0) == 1);
    raise(SIGKILL);
}

static void test_long_text(void **state)
{
    static lg_log_entry entry;
    lg_log_info info;
    size_t length = 0;
    (void)state;
    expect_signal(claim_at_length, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; lg_reader_log_entry(reader, i, &entry) == LG_OK; i++)
        if (strcmp(entry.category, "guard") == 0)
            length = strlen(entry.text);
    lg_reader_close(reader);
    assert_int_equal(length, LG_GUARD_TEXT_MAX);
}

static void test_breadcrumb(void **state)
{
    static lg_log_entry entry;
    lg_log_field field;
    lg_guard_field stored;
    bool found = false;
    (void)state;
    expect_signal(leave_breadcrumb, NULL, SIGKILL);
    expect_site(LG_GUARD_STRING, "an offset is beyond its string", LG_GUARD_SURVIVED, 1, 1);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_guard_field(reader, 1, 1, &stored), LG_OK);
    assert_string_equal(stored.key, "length");
    assert_string_equal(stored.value, "5");
    lg_log_info info;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; !found && lg_reader_log_entry(reader, i, &entry) == LG_OK; i++) {
        if (strcmp(entry.text, "an offset is beyond its string") != 0)
            continue;
        found = true;
        assert_string_equal(entry.category, "guard");
        assert_int_equal(entry.level, LG_LEVEL_WARNING);
        assert_int_equal(entry.field_count, 2);
        assert_int_equal(lg_reader_log_field(reader, i, 0, &field), LG_OK);
        assert_string_equal(field.key, "offset");
    }
    assert_true(found);
    lg_reader_close(reader);
}

/* ---- other processes, and no files ---- */

static void fork_child(void *argument)
{
    (void)argument;
    int status;
    lg_session *session = guard_with(STRING, LG_GUARD_SURVIVE, 0, seen);
    const lg_guard_options options = options_of(LG_GUARD_SURVIVE);
    require(claim(1) == 1);
    const pid_t child = fork();
    if (child == 0) {
        require(lg_guard_working == 0 && claim(1) == 0);
        require(lg_guard_start(session, &options) == LG_ERR_FORKED && lg_guard_stop(session) == LG_ERR_FORKED);
        require(lg_guard_set_classes(session, LG_GUARDS_ALL) == LG_ERR_FORKED);
        require(lg_guard_set_policy(session, STRING, LG_GUARD_SURVIVE) == LG_ERR_FORKED);
        require(lg_guard_set_lists(session, NULL) == LG_ERR_FORKED);
        require(claim(1) == 0);
        _exit(0);
    }
    require(waitpid(child, &status, 0) == child && status == 0);
    require(claim(1) == 1);
    wait_events(seen, 2);
}

static void test_forked_child(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(fork_child, NULL, 0);
    expect_site(LG_GUARD_STRING, "a string is odd", LG_GUARD_SURVIVED, 2, 2);
}

static void guard_without_files(void *argument)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    lg_guard_options guards = options_of(LG_GUARD_SURVIVE);
    (void)argument;
    options.app_id = "org.example.test";
    options.state_directory = "/dev/null/impossible";
    lg_start(&options, &session);
    require(lg_session_protection(session) == LG_PROTECTION_NONE);
    guards.classes = LG_GUARDS_ALL;
    require(lg_guard_start(session, &guards) == LG_ERR_UNPROTECTED);
    require(lg_guard_start(session, &guards) == LG_ERR_ALREADY);
    require(!lg_guard_is_working(LG_GUARD_NULL_CALL) && !lg_guard_is_working(LG_GUARD_MEMORY) && lg_guard_is_working(LG_GUARD_STRING));
    require(lg_guard_set_classes(session, LG_GUARDS(LG_GUARD_NULL_CALL)) == LG_ERR_UNPROTECTED && lg_guard_working == 0);
    require(lg_guard_set_classes(session, STRING) == LG_OK);
    require(claim(1) == 1);
    wait_events(seen, 1);
    require(lg_guard_set_policy(session, STRING, LG_GUARD_REPORT) == LG_OK && claim(1) == 0);
    require(lg_guard_set_lists(session, NULL) == LG_OK);
    require(lg_guard_stop(session) == LG_OK && lg_guard_working == 0);
    guards.classes = STRING;
    require(lg_guard_start(session, &guards) == LG_OK && claim(1) == 1);
    require(lg_stop(session) == LG_OK && lg_guard_working == 0);
}

static void test_without_files(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(guard_without_files, NULL, 0);
    assert_int_equal(seen->events, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if !LG__KEEPS_THREAD /* ThreadSanitizer has no stack for the handler of a crash */
        WITH_STATE(test_defaults),
        WITH_STATE(test_crash_in_event),
#endif
        WITH_STATE(test_breadcrumb_first),
        WITH_STATE(test_options),
        WITH_STATE(test_stop),
        WITH_STATE(test_live_changes),
        WITH_STATE(test_budget),
        WITH_STATE(test_sites),
        WITH_STATE(test_stderr),
        WITH_STATE(test_breadcrumb),
        WITH_STATE(test_long_text),
        WITH_STATE(test_forked_child),
        WITH_STATE(test_without_files),
    };
    seen = shared_memory(sizeof *seen);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
