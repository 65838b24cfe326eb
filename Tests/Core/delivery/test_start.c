/* lg_delivery_start(): options, the agent's program, and the reasons to start none. */
#include "spool_support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchguard/simulate.h"
#include "session/delivery.h"

/* The program's wait() sees nothing of it all. */
static void expect_no_children(void)
{
    REQUIRE(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, 70);
}

/* ---- options ---- */

struct wrong {
    const char *says; /* part of the message */
    lg_delivery_options options;
};

static void body_wrong(void *argument)
{
    const struct wrong *wrong = argument;
    lg_session *session = start_delivery(wrong->options, LG_ERR_OPTION);
    if (!strstr(lg_session_message(session), wrong->says)) {
        fprintf(stderr, "\"%s\" is not in: %s\n", wrong->says, lg_session_message(session));
        _exit(71);
    }
    lg_delivery_result result;
    REQUIRE(lg_delivery_wait(session, 1, NULL, NULL, &result) == LG_ERR_STATE, 72);
    lg_delivery_options good = good_options();
    REQUIRE(lg_delivery_start(session, &good) == LG_OK, 73);
    REQUIRE(lg_delivery_start(session, &good) == LG_ERR_ALREADY, 74);
}

static void test_wrong_options(void **state)
{
    char many[LG_ENDPOINT_MAX + 64] = "https://";
    (void)state;
    memset(many + 8, 'a', LG_ENDPOINT_MAX);
#define WRONG(text, ...)                                                                           \
    do {                                                                                           \
        lg_delivery_options o = good_options();                                                    \
        __VA_ARGS__;                                                                               \
        expect_exit(body_wrong, &(struct wrong){ text, o }, 0);                                    \
    } while (0)
    plan("leave");
    WRONG("its size is none: set it with its INIT macro", o.size = 3);
    WRONG("target is 0", o.target = 0);
    WRONG("target is 5", o.target = 5);
    WRONG("endpoint is missing", o.endpoint = NULL);
    WRONG("endpoint has 1031 bytes; at most 1023", o.endpoint = many);
    WRONG("it is no address", o.endpoint = "ftp://host/");
    WRONG("it is no address", o.endpoint = "https://");
    WRONG("without blanks", o.endpoint = "https://host/a\nb");
    WRONG("HOST[:PORT]", o.endpoint = "https://host:65536/");
    WRONG("put them into a credential_file", o.endpoint = "https://me:secret@host/");
    WRONG("it is no address", o.target = LG_TARGET_MINIDUMP, o.endpoint = "minidump");
    WRONG("no DSN", o.target = LG_TARGET_SENTRY);
    WRONG("the project is a number", o.target = LG_TARGET_SENTRY, o.endpoint = "https://key@host/project");
    WRONG("credential_file is \"key\"", o.credential_file = "key");
    WRONG("ca_file is \"ca.pem\"", o.ca_file = "ca.pem");
    WRONG("agent_path is \"agent\"", o.agent_path = "agent");
    WRONG("hint_key is \"key\"; it must be the 32 bytes", o.hint_key = "key");
    WRONG("hint_key", o.hint_key = "\x10""123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    WRONG("ends is 0x2000", o.ends = 1u << 13);
    WRONG("consent is 3", o.consent = 3);
    WRONG("keep_reports is 4097; it must be 0 or between 1 and 4096", o.keep_reports = 4097);
    WRONG("keep_bytes is 65535; it must be 0 or between 65536 and", o.keep_bytes = 65535);
    WRONG("brief is 2", o.brief = 2);
    WRONG("keep_home is 2", o.keep_home = 2);
}

/* ---- the agent ---- */

static void body_good(void *argument)
{
    (void)argument;
    start_delivery(good_options(), LG_OK);
    await_agents(1);
    expect_no_children();
}

/* A new configuration: the call itself looks for an agent. */
static void start_nothing(void *argument)
{
    lg_delivery_options options = good_options();
    (void)argument;
    options.brief = 1;
    start_delivery(options, LG_OK);
}

static void test_starts_one_agent(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_good, NULL, 0);
    await_living_agent();
    char text[4096];
    snprintf(text, sizeof text, "%s", read_text("spool/config"));
    assert_non_null(strstr(text, "target=http\nendpoint=http://127.0.0.1:9/reports\n"));
    /* it outlives the program, and the next program needs no other one */
    expect_exit(body_good, NULL, 0);
    pass_time(100, "another agent would say that it has started");
    assert_int_equal(agents_started(), 1);
}

static void lock_byte(int file, off_t byte, short type)
{
    struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    assert_int_equal(fcntl(file, F_OFD_SETLK, &range), 0);
}

/* One that is about to end, or is of another version, is not the agent of this program. */
static void test_an_agent_that_does_not_serve(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(body_good, NULL, 0);
    int lock = open(state_path("spool/agent"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    lock_byte(lock, LG__AGENT_WORKS, F_WRLCK);
    lock_byte(lock, LG__AGENT_SERVES + 1, F_WRLCK);
    await_living_agent();
    unlink(state_path("agents"));
    expect_exit(body_good, NULL, 0);
    lock_byte(lock, LG__AGENT_SERVES, F_WRLCK);
    unlink(state_path("agents"));
    expect_exit(start_nothing, NULL, 0);
    assert_int_equal(agents_started(), 0);
    close(lock);
}

/* A configuration that stays the same is not written again. */
static void test_config_is_written_once(void **state)
{
    struct stat before, after;
    (void)state;
    plan("stay");
    expect_exit(body_good, NULL, 0);
    assert_int_equal(stat(state_path("spool/config"), &before), 0);
    expect_exit(body_good, NULL, 0);
    assert_int_equal(stat(state_path("spool/config"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

static void body_crashes(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    lg_session *session = start_delivery(good_options(), LG_OK);
    options.finish = LG_FINISH_MARK;
    REQUIRE(lg_launch_prepare(session, "main", &options, &launch) == LG_OK, 72);
    REQUIRE(lg_launch_begin(launch) == LG_OK, 73);
    (void)argument;
    crash();
}

/* By the time that the call returns, a process of the agent is there. */
static void body_after_crash(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg_delivery_options options = good_options();
    REQUIRE(lg_delivery_start(session, &options) == LG_OK, 72);
    REQUIRE(lg__delivery_state.looked, 73);
    _exit(0);
}

static void test_after_a_launch_crash(void **state)
{
    (void)state;
    plan("leave");
    expect_signal(body_crashes, NULL, SIGSEGV);
    unlink(state_path("agents"));
    expect_exit(body_after_crash, NULL, 0);
    await_agents(1);
}

static void body_missing(void *argument)
{
    lg_delivery_options options = good_options();
    lg_delivery_result result;
    options.agent_path = argument;
    lg_session *session = start_delivery(options, LG_ERR_NO_AGENT);
    REQUIRE(strstr(lg_session_message(session), argument), 72);
    REQUIRE(is_there("spool/config"), 73);
    REQUIRE(lg_delivery_wait(session, 0, NULL, NULL, &result) == LG_OK && result == LG_DELIVERY_NOTHING, 74);
    char entry[128];
    snprintf(entry, sizeof entry, "spool/new/%s", put_report("new", 1, 1));
    REQUIRE(lg_delivery_wait(session, 5000, NULL, NULL, &result) == LG_OK && result == LG_DELIVERY_TIMEOUT, 75);
    unlink(state_path(entry));
    REQUIRE(lg_delivery_start(session, &options) == LG_ERR_ALREADY, 76);
}

static void test_no_agent(void **state)
{
    (void)state;
    write_text("not-a-program", "#!/bin/sh\n");
    expect_exit(body_missing, (void *)(uintptr_t)state_path("missing"), 0);
    expect_exit(body_missing, (void *)(uintptr_t)state_path("not-a-program"), 0);
    expect_exit(body_missing, (void *)(uintptr_t)"/", 0);
}

static void body_cannot_run(void *argument)
{
    lg_delivery_options options = good_options();
    options.agent_path = argument;
    lg_session *session = start_delivery(options, LG_ERR_NO_AGENT);
    REQUIRE(strstr(lg_session_message(session), "cannot be started: ") && strstr(lg_session_message(session), argument), 72);
}

/* It can be executed, and ends before it has begun, as one that lacks a library. */
static void body_ends_at_once(void *argument)
{
    lg_delivery_options options = good_options();
    options.agent_path = argument;
    lg_session *session = start_delivery(options, LG_OK);
    wait_until(strstr(lg_session_message(session), "was started, and has not begun"));
}

static void test_agent_that_cannot_run(void **state)
{
    static const char *const texts[] = { "no program", "#!/nonexistent/interpreter\n", "\177ELF of another machine" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_text("broken", texts[i]);
        chmod(state_path("broken"), 0700);
        /* As at the first start, the call itself starts the agent. */
        unlink(state_path("spool/config"));
        expect_exit(body_cannot_run, (void *)(uintptr_t)state_path("broken"), 0);
    }
    expect_exit(body_ends_at_once, "/bin/false", 0);
}

static void body_begins(void *argument)
{
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    await_living_agent();
    pass_time(2500, "an agent that has not begun would be in the message");
    REQUIRE(lg_session_message(session)[0] == 0, 72);
}

static void test_agent_that_begins(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_begins, NULL, 0);
}

static void body_by_environment(void *argument)
{
    lg_delivery_options options = good_options();
    options.agent_path = NULL;
    setenv("LAUNCHGUARD_AGENT", argument, 1);
    start_delivery(options, strcmp(argument, FAKE_AGENT) == 0 ? LG_OK : LG_ERR_NO_AGENT);
    if (strcmp(argument, FAKE_AGENT) == 0)
        await_agents(1);
}

static void test_agent_by_environment(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(body_by_environment, (void *)(uintptr_t)FAKE_AGENT, 0);
    expect_exit(body_by_environment, (void *)(uintptr_t)"fake-agent", 0);
    assert_int_equal(agents_started(), 1);
}

/* ---- reasons to start none ---- */

static void body_without_consent(void *argument)
{
    lg_delivery_options options = good_options();
    lg_delivery_result result;
    options.consent = (lg_consent)(uintptr_t)argument;
    lg_session *session = start_delivery(options, LG_OK);
    put_report("new", 1, 1);
    REQUIRE(lg_delivery_wait(session, 5000, NULL, NULL, &result) == LG_OK && result == LG_DELIVERY_NOTHING, 72);
    REQUIRE(lg_delivery_report_now(session, "x", NULL) == LG_ERR_STATE, 73);
    pass_time(100, "an agent would say that it has started");
    REQUIRE(agents_started() == 0, 74);
    /* with it, one comes */
    REQUIRE(lg_delivery_consent(session, LG_CONSENT_GIVEN) == LG_OK, 75);
    await_agents(1);
}

static void test_no_consent(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(body_without_consent, (void *)LG_CONSENT_KEPT, 0);
    unlink(state_path("agents"));
    expect_exit(body_without_consent, (void *)LG_CONSENT_WITHHELD, 0);
}

static void body_switched_off(void *argument)
{
    lg_delivery_options options = good_options();
    lg_delivery_result result;
    if (argument)
        setenv("LAUNCHGUARD_NO_DELIVERY", "", 1);
    lg_session *session = start_delivery(options, LG_ERR_DISABLED);
    REQUIRE(strstr(lg_session_message(session), "LAUNCHGUARD_NO_DELIVERY"), 72);
    REQUIRE(lg_delivery_wait(session, 0, NULL, NULL, &result) == LG_ERR_STATE, 73);
    pass_time(100, "an agent would say that it has started");
}

static void test_switched_off(void **state)
{
    (void)state;
    expect_exit(body_switched_off, "by the environment", 0);
    write_text("spool/off", "");
    expect_exit(body_switched_off, NULL, 0);
    assert_int_equal(agents_started(), 0);
}

static void body_simulated(void *argument)
{
    lg_session *session;
    lg_delivery_options options = good_options();
    lg_delivery_result result;
    char uuid[37];
    (void)argument;
    REQUIRE(lg_simulate_start(&session) == LG_OK, 72);
    REQUIRE(lg_delivery_start(session, &options) == LG_OK, 73);
    REQUIRE(lg_delivery_consent(session, LG_CONSENT_GIVEN) == LG_OK, 74);
    REQUIRE(lg_delivery_report_now(session, "x", uuid) == LG_OK && strlen(uuid) == 36, 75);
    REQUIRE(lg_delivery_wait(session, 5000, NULL, NULL, &result) == LG_OK && result == LG_DELIVERY_NOTHING, 76);
    options.target = 0;
    REQUIRE(lg_delivery_start(session, &options) == LG_ERR_OPTION, 77);
}

static void test_simulated(void **state)
{
    (void)state;
    expect_exit(body_simulated, NULL, 0);
    assert_false(is_there("spool"));
}

static void body_closed(void *argument)
{
    lg_delivery_options options = good_options();
    lg_delivery_result result;
    lg_session *session = start_session();
    (void)argument;
    REQUIRE(lg_delivery_start(NULL, &options) == LG_ERR_ARGUMENT, 72);
    REQUIRE(lg_delivery_start(session, NULL) == LG_ERR_ARGUMENT, 73);
    REQUIRE(lg_delivery_wait(session, 5001, NULL, NULL, &result) == LG_ERR_OPTION, 74);
    REQUIRE(lg_delivery_consent(session, LG_CONSENT_KEPT) == LG_ERR_OPTION, 75);
    REQUIRE(lg_delivery_report_now(session, "x", NULL) == LG_ERR_STATE, 76);
    REQUIRE(lg_stop(session) == LG_OK, 77);
    REQUIRE(lg_delivery_start(session, &options) == LG_ERR_CLOSED, 78);
    REQUIRE(lg_delivery_consent(session, LG_CONSENT_GIVEN) == LG_ERR_CLOSED, 79);
    REQUIRE(lg_delivery_report_now(session, "x", NULL) == LG_ERR_CLOSED, 80);
    REQUIRE(lg_delivery_wait(session, 1, NULL, NULL, &result) == LG_ERR_CLOSED, 81);
}

static void test_closed(void **state)
{
    (void)state;
    expect_exit(body_closed, NULL, 0);
    assert_int_equal(agents_started(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_AGENTS(test_wrong_options), WITH_AGENTS(test_starts_one_agent), WITH_AGENTS(test_an_agent_that_does_not_serve), WITH_AGENTS(test_config_is_written_once),
        WITH_AGENTS(test_after_a_launch_crash), WITH_AGENTS(test_no_agent), WITH_AGENTS(test_agent_that_cannot_run), WITH_AGENTS(test_agent_that_begins),
        WITH_AGENTS(test_agent_by_environment),
        WITH_AGENTS(test_no_consent), WITH_AGENTS(test_switched_off), WITH_AGENTS(test_simulated), WITH_AGENTS(test_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
