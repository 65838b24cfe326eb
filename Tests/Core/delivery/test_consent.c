/* lg_delivery_consent() and lg_delivery_report_now(): what is stored, and what is deleted. */
#include "spool_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/fault_point.h"

static void start_nothing(void *argument)
{
    lg_delivery_options options = good_options();
    options.consent = (lg_consent)(uintptr_t)argument;
    start_delivery(options, LG_OK);
}

static void fill_spool(void)
{
    put_report("new", 1, 1);
    put_report("held", 2, 2);
    put_report("dead", 3, 3);
    put_report("sent", 4, 4);
    write_text("spool/requests/a", "x");
    write_text("spool/tally", "x");
    write_text("spool/tmp/0-1", "half of a report");
    write_text("spool/tmp/requests.a.1", "x");
    write_text("spool/tmp/config.1", "of another process, which is writing it");
}

static void expect_empty(void)
{
    assert_int_equal(entries_in("new"), 0);
    assert_int_equal(entries_in("held"), 0);
    assert_int_equal(entries_in("dead"), 0);
    assert_int_equal(entries_in("requests"), 0);
    assert_int_equal(entries_in("sent"), 1); /* they have left already */
    assert_false(is_there("spool/tally"));
    assert_int_equal(entries_in("tmp"), 1);
    assert_true(is_there("spool/tmp/config.1"));
}

static void body_withholds(void *argument)
{
    (void)argument;
    fill_spool();
    REQUIRE(lg_delivery_consent(start_session(), LG_CONSENT_WITHHELD) == LG_OK, 72);
}

static void test_withheld(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(start_nothing, (void *)LG_CONSENT_GIVEN, 0); /* run 1 */
    assert_string_equal(read_text("spool/consent"), "given 0\n");
    expect_exit(body_withholds, NULL, 0);
    expect_empty();
    assert_string_equal(read_text("spool/consent"), "none 3\n"); /* neither run 2 */
    /* what ended while it was withheld is not sent later */
    expect_exit(start_nothing, (void *)LG_CONSENT_KEPT, 0);
    expect_exit(start_nothing, (void *)LG_CONSENT_GIVEN, 0); /* run 4 */
    assert_string_equal(read_text("spool/consent"), "given 4\n");
    /* the option does the same */
    fill_spool();
    expect_exit(start_nothing, (void *)LG_CONSENT_WITHHELD, 0);
    expect_empty();
}

static void die_at(const char *point)
{
    if (strcmp(point, "consent: withheld") == 0)
        raise(SIGKILL);
}

static void body_dies(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg__fault_hook = die_at;
    lg_delivery_consent(session, LG_CONSENT_WITHHELD);
}

/* The word comes before the deletion; the next word does what is left. */
static void test_dies_within(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(start_nothing, (void *)LG_CONSENT_GIVEN, 0);
    fill_spool();
    expect_signal(body_dies, NULL, SIGKILL);
    assert_string_equal(read_text("spool/consent"), "none 3\n");
    assert_int_equal(entries_in("new"), 1);
    expect_exit(start_nothing, (void *)LG_CONSENT_WITHHELD, 0);
    expect_empty();
}

static void body_waits_in_vain(void *argument)
{
    (void)argument;
    fill_spool();
    lg_session *session = start_session();
    REQUIRE(lg_delivery_consent(session, LG_CONSENT_WITHHELD) == LG_ERR_TIMEOUT, 72);
    lg_delivery_options options = good_options();
    options.consent = LG_CONSENT_WITHHELD;
    REQUIRE(lg_delivery_start(session, &options) == LG_ERR_TIMEOUT, 73);
}

/* A process that makes a report, and goes on in its own time. */
static void test_another_one_has_hold_of_the_spool(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(start_nothing, (void *)LG_CONSENT_GIVEN, 0);
    int spool = open(state_path("spool"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(spool, LOCK_SH), 0);
    expect_exit(body_waits_in_vain, NULL, 0);
    expect_empty();
    assert_string_equal(read_text("spool/consent"), "none 3\n");
    close(spool);
    fill_spool();
    expect_exit(start_nothing, (void *)LG_CONSENT_WITHHELD, 0);
    expect_empty();
}

/* A damaged word is a no. */
static void test_damaged(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(start_nothing, (void *)LG_CONSENT_GIVEN, 0);
    write_text("spool/consent", "\x01giv");
    expect_exit(start_nothing, (void *)LG_CONSENT_KEPT, 0);
    expect_exit(start_nothing, (void *)LG_CONSENT_GIVEN, 0);
    assert_string_equal(read_text("spool/consent"), "given 3\n");
}

/* ---- requests ---- */

static void body_requests(void *argument)
{
    char uuid[37], reason[300], name[64], want[512];
    lg_run_info info;
    lg_reader *reader;
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    REQUIRE(lg_delivery_report_now(session, NULL, NULL) == LG_ERR_ARGUMENT, 72);
    /* 254 bytes, then a character of two that does not fit whole */
    memset(reason, 'a', sizeof reason);
    memcpy(reason, "one\ntwo\t", 8);
    memcpy(reason + 254, "\xc3\xbcz", 4);
    REQUIRE(lg_delivery_report_now(session, reason, uuid) == LG_OK, 73);
    REQUIRE(lg_reader_open(lg_session_run_path(session), &reader) == LG_OK && lg_reader_run(reader, &info) == LG_OK, 74);
    snprintf(name, sizeof name, "spool/requests/%s", uuid);
    snprintf(want, sizeof want, "%s\n%" PRIu64 "\none two %.246s\n", info.uuid, info.ordinal, reason + 8);
    if (strcmp(read_text(name), want) != 0) {
        fprintf(stderr, "%s\n%s\n", read_text(name), want);
        _exit(75);
    }
    REQUIRE(strcmp(uuid, info.uuid) != 0, 76);
    for (int i = 1; i < 16; i++)
        REQUIRE(lg_delivery_report_now(session, "again", NULL) == LG_OK, 77);
    REQUIRE(lg_delivery_report_now(session, "too many", NULL) == LG_ERR_LIMIT, 78);
    REQUIRE(entries_in("requests") == 16, 79);
}

static void test_requests(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_requests, NULL, 0);
    await_agents(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_AGENTS(test_withheld), WITH_AGENTS(test_dies_within),
                                         WITH_AGENTS(test_another_one_has_hold_of_the_spool), WITH_AGENTS(test_damaged), WITH_AGENTS(test_requests) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
