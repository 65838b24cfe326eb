/* The record of guards in the run file, read by the public reader: after a death at any moment, of
 * a living process, of a program that a guard ended, and where there is nothing to read. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADDRESS(number) ((const void *)(uintptr_t)(0x10000 + 16 * (number)))

static lg_session *session;

static void start_guards(lg_guard_policy policy, uint32_t budget)
{
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = policy;
    options.budget = budget;
    options.quiet = 1;
    session = start_session();
    if (lg_guard_start(session, &options) != LG_OK)
        _exit(97);
}

static int claim_at(const void *site)
{
    const lg_field fields[] = { { "index", "9" }, { "token", "swordfish" } };
    return lg_guard_claim(LG_GUARD_CONTAINER, site, "index 9 of 3", fields, 2);
}

static void die_at_once(void)
{
    kill(getpid(), SIGKILL);
}

/* ---- one event ---- */

static const void *volatile *claimed_at;

static __attribute__((noinline)) int index_9_of_3(void)
{
    *claimed_at = __builtin_return_address(0);
    return claim_at(__builtin_return_address(0));
}

static void claim_and_die(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_redact(session, "token");
    if (index_9_of_3() != 1)
        _exit(96);
    die_at_once();
}

static void test_survives_the_process(void **state)
{
    (void)state;
    lg_guards_info guards;
    lg_guard_info site;
    lg_guard_field field;
    uint64_t pc;
    expect_signal(claim_and_die, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
    assert_true(guards.events == 1 && guards.survived == 1 && guards.sites == 1);
    assert_int_equal(lg_reader_guard(reader, 0, &site), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard(reader, 2, &site), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard(reader, LG_GUARD_SITES_MAX + 1, &site), LG_ERR_NOT_FOUND);

    assert_int_equal(lg_reader_guard(reader, 1, &site), LG_OK);
    assert_int_equal(site.guard_class, LG_GUARD_CONTAINER);
    assert_int_equal(site.action, LG_GUARD_SURVIVED);
    assert_true(site.site == (uint64_t)(uintptr_t)*claimed_at);
    assert_true(site.count == 1 && site.survived == 1 && site.described && !site.damaged);
    const lg_run_info run = newest_info();
    assert_true(site.first_ns > run.monotonic_ns && site.last_ns == site.first_ns && site.tid == run.pid);
    assert_string_equal(site.text, "index 9 of 3");
    assert_true(strlen(site.thread_name) > 0);

    assert_int_equal(site.field_count, 2);
    assert_int_equal(lg_reader_guard_field(reader, 1, 0, &field), LG_OK);
    assert_string_equal(field.key, "index");
    assert_string_equal(field.value, "9");
    assert_int_equal(lg_reader_redacted(reader, field.key), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard_field(reader, 1, 1, &field), LG_OK);
    assert_int_equal(lg_reader_redacted(reader, field.key), LG_OK);
    assert_int_equal(lg_reader_guard_field(reader, 1, 2, &field), LG_ERR_NOT_FOUND);

    /* the test keeps frame pointers: the caller of the guard, and its callers */
    assert_true(site.frame_count >= 2);
    assert_int_equal(lg_reader_guard_frame(reader, 1, 0, &pc), LG_OK);
    assert_true(pc == site.site);
    assert_int_equal(lg_reader_guard_frame(reader, 1, site.frame_count - 1, &pc), LG_OK);
    assert_int_equal(lg_reader_guard_frame(reader, 1, site.frame_count, &pc), LG_ERR_NOT_FOUND);
    assert_true(log_says(reader, "index 9 of 3"));
    /* and the table that says in which module they are, which a killed program else lacks */
    static lg_module module;
    assert_int_equal(lg_reader_module(reader, 0, &module), LG_OK);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
}

/* ---- counts ---- */

static lg_guard_info only_site(lg_guards_info *ret_guards)
{
    lg_guard_info site;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_guards(reader, ret_guards), LG_OK);
    assert_int_equal(ret_guards->sites, 1);
    assert_int_equal(lg_reader_guard(reader, 1, &site), LG_OK);
    lg_reader_close(reader);
    return site;
}

static void claim_five(void *argument)
{
    start_guards((lg_guard_policy)(uintptr_t)argument, 3);
    for (int i = 0; i < 5; i++)
        claim_at(ADDRESS(1));
    die_at_once();
}

static void test_counts(void **state)
{
    (void)state;
    lg_guards_info guards;
    expect_signal(claim_five, (void *)LG_GUARD_SURVIVE, SIGKILL);
    lg_guard_info site = only_site(&guards);
    assert_true(guards.events == 5 && site.count == 5);
    /* a minute may end between two of them, and with it the budget of that minute */
    assert_true(site.survived == guards.survived && site.survived >= 3);
    assert_int_equal(site.action, site.survived == 5 ? LG_GUARD_SURVIVED : LG_GUARD_EXHAUSTED);
    expect_signal(claim_five, (void *)LG_GUARD_REPORT, SIGKILL);
    site = only_site(&guards);
    assert_true(guards.events == 5 && site.count == 5 && guards.survived == 0 && site.survived == 0);
    assert_int_equal(site.action, LG_GUARD_REPORTED);
    expect_signal(claim_five, (void *)LG_GUARD_FATAL, SIGABRT);
    site = only_site(&guards);
    assert_true(guards.events == 1 && site.count == 1 && guards.survived == 0 && site.described);
    assert_int_equal(site.action, LG_GUARD_ENDED);
}

static void claim_at_40_places(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    for (int i = 0; i < 40; i++)
        claim_at(ADDRESS(i));
    die_at_once();
}

static void test_more_sites_than_places(void **state)
{
    (void)state;
    lg_guards_info guards;
    lg_guard_info site;
    lg_guard_field field;
    uint64_t pc;
    expect_signal(claim_at_40_places, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
    assert_true(guards.events == 40 && guards.survived == 40 && guards.sites == LG_GUARD_SITES_MAX + 1);
    assert_int_equal(lg_reader_guard(reader, 0, &site), LG_OK);
    assert_true(site.count == 40 - LG_GUARD_SITES_MAX && site.survived == site.count && site.guard_class == LG_GUARD_CLASS_NONE && site.site == 0);
    assert_true(!site.described && !site.damaged);
    assert_int_equal(lg_reader_guard_field(reader, 0, 0, &field), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard_frame(reader, 0, 0, &pc), LG_ERR_NOT_FOUND);
    for (uint32_t i = 1; i <= LG_GUARD_SITES_MAX; i++) {
        assert_int_equal(lg_reader_guard(reader, i, &site), LG_OK);
        assert_true(site.site == (uint64_t)(uintptr_t)ADDRESS(i - 1) && site.count == 1 && site.described);
    }
    lg_reader_close(reader);
}

/* ---- the message of a program that a guard ended ---- */

static sigjmp_buf past_fault;

static void leave(int signal)
{
    (void)signal;
    siglongjmp(past_fault, 1);
}

/* The program's own handler comes back from the first fault; the second is another one. */
static void survive_and_crash(void *argument)
{
    (void)argument;
    struct sigaction action = { .sa_handler = leave };
    sigaction(SIGABRT, &action, NULL);
    start_guards(LG_GUARD_FATAL, 0);
    if (sigsetjmp(past_fault, 1) == 0)
        claim_at(ADDRESS(1));
    lg_log(session, LG_LEVEL_INFO, "the program lives on");
    crash();
}

static void *claim_here(void *argument)
{
    claim_at(argument);
    return NULL;
}

static void claim_on_a_thread(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_FATAL, 0);
    in_thread(claim_here, (void *)(uintptr_t)ADDRESS(1));
    wait_for_ever(NULL);
}

/* Here a signal reports the fault, and the crash is the natural one. */
static void call_null(void *argument)
{
    void (*volatile nothing)(void) = argument;
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.classes = LG_GUARDS(LG_GUARD_NULL_CALL);
    options.policy = LG_GUARD_FATAL;
    options.quiet = 1;
    session = start_session();
    if (lg_guard_start(session, &options) != LG_OK)
        _exit(97);
    nothing();
}

/* Messages of the crash that counts: the first one, and their number. */
static unsigned messages_of_newest(lg_message *ret_first)
{
    static lg_message message;
    unsigned count = 0;
    lg_reader *reader = newest_run();
    while (lg_reader_message(reader, count, &message) == LG_OK)
        if (count++ == 0)
            *ret_first = message;
    lg_reader_close(reader);
    return count;
}

static void test_says_why_it_ended(void **state)
{
    (void)state;
    static lg_message message;
    void (*const bodies[])(void *) = { claim_five, claim_on_a_thread };
    for (unsigned i = 0; i < 2; i++) {
        expect_signal(bodies[i], (void *)LG_GUARD_FATAL, SIGABRT);
        assert_int_equal(messages_of_newest(&message), 1);
        assert_int_equal(message.source, LG_MESSAGE_GUARD);
        assert_string_equal(message.text, "launchguard: guard container: index 9 of 3");
        assert_int_equal(message.size, strlen(message.text));
        assert_false(message.cut);
    }
    expect_signal(call_null, NULL, SIGSEGV);
    assert_int_equal(messages_of_newest(&message), 1);
    assert_int_equal(message.source, LG_MESSAGE_GUARD);
    static const char begin[] = "launchguard: guard null-call: ";
    assert_memory_equal(message.text, begin, sizeof begin - 1);
    expect_signal(survive_and_crash, NULL, SIGSEGV);
    assert_int_equal(messages_of_newest(&message), 0);
}

/* ---- killed at any moment, and read before ---- */

static void claim_for_ever(void *argument)
{
    volatile uint32_t *begun = argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    *begun = 1;
    for (int i = 0;; i++)
        claim_at(ADDRESS(i / 64));
}

/* Counts of all sites; asserts that each one in use is as it should be. */
static lg_guards_info sum_of_sites(lg_reader *reader, bool is_dead)
{
    lg_guards_info sum = { .events = 0 };
    unsigned under_way = 0;
    lg_guard_info site;
    for (uint32_t i = 0; i <= LG_GUARD_SITES_MAX; i++) {
        if (lg_reader_guard(reader, i, &site) != LG_OK)
            continue;
        assert_false(site.damaged);
        if (site.count && i)
            assert_true(site.described);
        under_way += site.count == 0;
        sum.events += site.count;
        sum.survived += site.survived;
    }
    assert_true(!is_dead || under_way <= 1);
    return sum;
}

static void test_killed_at_any_moment(void **state)
{
    (void)state;
    volatile uint32_t *begun = shared_memory(sizeof *begun);
    for (unsigned round = 0; round < 20; round++) {
        lg_guards_info guards;
        *begun = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            plain_signals();
            alarm(LIMIT_MS / 1000);
            claim_for_ever((void *)(uintptr_t)begun);
        }
        wait_until(*begun);
        lg_reader *reader = newest_run();
        for (unsigned i = 0; i < 20; i++)
            sum_of_sites(reader, false);
        pass_us(round * 137, "the child is killed at another moment in each round");
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
        const lg_guards_info sum = sum_of_sites(reader, true);
        /* one thread: one event at most was under way */
        assert_true(guards.events - sum.events <= 1 && guards.survived - sum.survived <= 1 && guards.survived <= guards.events);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
    }
}

/* ---- what is not counted, and what is not there ---- */

static void claim_in_a_fork(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    claim_at(ADDRESS(1));
    const pid_t child = fork();
    if (child == 0)
        _exit(claim_at(ADDRESS(2)));
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(96);
    die_at_once();
}

static void test_a_forked_child_counts_nothing(void **state)
{
    (void)state;
    lg_guards_info guards;
    expect_signal(claim_in_a_fork, NULL, SIGKILL);
    only_site(&guards);
    assert_int_equal(guards.events, 1);
}

static void live_without(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.keep_runs = 1;
    session = start_with(options);
    if (claim_at(ADDRESS(1)))
        _exit(96);
    die_at_once();
}

static void test_nothing_to_read(void **state)
{
    (void)state;
    lg_guards_info guards;
    lg_guard_info site;
    lg_guard_field field;
    uint64_t pc;
    lg_reader *reader;
    /* a later one takes the file of a run with events */
    struct stat with_events, now = { .st_ino = 0 };
    expect_signal(claim_and_die, NULL, SIGKILL);
    assert_int_equal(stat(newest_run_path(), &with_events), 0);
    for (int i = 0; i < 4 && now.st_ino != with_events.st_ino; i++) {
        expect_signal(live_without, NULL, SIGKILL);
        assert_int_equal(stat(newest_run_path(), &now), 0);
    }
    assert_true(now.st_ino == with_events.st_ino);
    reader = newest_run();
    assert_int_equal(lg_reader_guards(reader, &guards), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard(reader, 0, &site), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard(reader, 1, &site), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard_field(reader, 1, 0, &field), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guard_frame(reader, 1, 0, &pc), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_guards(reader, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_guard(NULL, 1, &site), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_guard_field(reader, 1, 0, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_guard_frame(NULL, 1, 0, &pc), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_guards(reader, &guards), LG_ERR_STATE);
    assert_int_equal(lg_reader_guard(reader, 1, &site), LG_ERR_STATE);
    lg_reader_close(reader);
}

int main(void)
{
    claimed_at = shared_memory(sizeof *claimed_at);
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_survives_the_process),
        WITH_STATE(test_counts),
        WITH_STATE(test_more_sites_than_places),
        WITH_STATE(test_says_why_it_ended),
        WITH_STATE(test_killed_at_any_moment),
        WITH_STATE(test_a_forked_child_counts_nothing),
        WITH_STATE(test_nothing_to_read),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
