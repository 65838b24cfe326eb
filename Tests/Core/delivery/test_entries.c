/* lg_delivery_entries(): a spool as it is, with files that are none. */
#include "spool_support.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "store/server.h"

static void make_spool(void)
{
    static const char *const folders[] = { "spool", "spool/tmp", "spool/new", "spool/sent", "spool/held", "spool/dead", "spool/requests" };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        assert_int_equal(mkdir(state_path(folders[i]), 0700), 0);
}

static void damage(const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "spool/%s/%s", folder, name);
    write_text(path, "LGREPORT");
}

static void test_no_spool(void **state)
{
    uint32_t count = 7;
    (void)state;
    assert_int_equal(lg_delivery_entries(state_path(""), NULL, 0, &count), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_delivery_entries(state_path("none"), NULL, 0, &count), LG_ERR_NOT_FOUND);
    write_text("file", "");
    assert_int_equal(lg_delivery_entries(state_path("file"), NULL, 0, &count), LG_ERR_NOT_DIRECTORY);
    assert_int_equal(lg_delivery_entries(NULL, NULL, 0, &count), LG_ERR_ARGUMENT);
    assert_int_equal(lg_delivery_entries("", NULL, 0, &count), LG_ERR_ARGUMENT);
    assert_int_equal(lg_delivery_entries(state_path(""), NULL, 1, &count), LG_ERR_ARGUMENT);
    assert_int_equal(lg_delivery_entries(state_path(""), NULL, 0, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(count, 7);
}

static void test_entries(void **state)
{
    lg_delivery_info entries[8];
    uint32_t count = 0;
    (void)state;
    make_spool();
    assert_int_equal(lg_delivery_entries(state_path(""), NULL, 0, &count), LG_OK);
    assert_int_equal(count, 0);
    put_report("sent", 9, 9);
    put_report("new", 7, 7);
    put_report("dead", 6, 6);
    put_report("held", 8, 8);
    damage("new", put_report("new", 5, 5));
    write_text("spool/new/some-file", "x");
    put_report("tmp", 4, 4);
    assert_int_equal(lg_delivery_entries(state_path(""), entries, 8, &count), LG_OK);
    assert_int_equal(count, 5);
    const lg_delivery_state states[] = { LG_DELIVERY_DEAD, LG_DELIVERY_DEAD, LG_DELIVERY_PENDING, LG_DELIVERY_HELD, LG_DELIVERY_SENT };
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].ordinal, i + 5);
        assert_int_equal(entries[i].state, states[i]);
    }
    assert_string_equal(entries[0].error, "damaged");
    assert_string_equal(entries[0].uuid, "05000000-0000-0000-0000-000000000000");
    assert_string_equal(entries[2].error, "");
    assert_string_equal(entries[2].uuid, "07000000-0000-0000-0000-000000000000");
    assert_string_equal(entries[2].run_uuid, entries[2].uuid);
    assert_string_equal(entries[2].fingerprint, "ab070000000000000000000000000000");
    assert_int_equal(entries[2].end, LG_END_CRASH);
    assert_int_equal(entries[2].attempts, 3);
    assert_int_equal(entries[2].made_ns, 7);
}

static void put_server(lg_delivery_pause pause, uint64_t until_ns)
{
    struct lg__server server = { .pause = pause, .next = { until_ns, until_ns } };
    memcpy(server.magic, LG__MAGIC_SERVER, 8);
    lg__server_seal(&server);
    int file = open(state_path("spool/server"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(file, &server, sizeof server), sizeof server);
    close(file);
}

/* Each pending report says why it waits. */
static void test_pauses(void **state)
{
    static const lg_delivery_pause of_server[] = { LG_PAUSE_AWAY, LG_PAUSE_BUSY, LG_PAUSE_ASKED, LG_PAUSE_SPENT };
    const uint64_t later = lg__os_clock_ns(CLOCK_REALTIME) + UINT64_C(3600000000000);
    lg_delivery_info entries[8];
    uint32_t count = 0;
    (void)state;
    make_spool();
    put_header("new", (struct lg__report_header){ .ordinal = 1, .uuid = { 1 }, .run_uuid = { 1 }, .fingerprint = { 1 } });
    put_header("new", (struct lg__report_header){ .ordinal = 2, .uuid = { 2 }, .run_uuid = { 2 }, .fingerprint = { 2 }, .next = { later, later } });
    put_header("new", (struct lg__report_header){ .ordinal = 3, .uuid = { 3 }, .run_uuid = { 3 }, .fingerprint = { 3 }, .next = { later, later }, .attempts = 1, .flags = LG__REPORT_LEFT });
    put_header("new", (struct lg__report_header){ .ordinal = 4, .uuid = { 4 }, .run_uuid = { 4 }, .fingerprint = { 3 } });
    put_header("held", (struct lg__report_header){ .ordinal = 5, .uuid = { 5 }, .run_uuid = { 5 }, .fingerprint = { 5 }, .next = { later, later }, .attempts = 1 });
    put_header("dead", (struct lg__report_header){ .ordinal = 6, .uuid = { 6 }, .run_uuid = { 6 }, .fingerprint = { 1 }, .flags = LG__REPORT_LEFT, .settled_ns = 9 });
    put_header("sent", (struct lg__report_header){ .ordinal = 7, .uuid = { 7 }, .run_uuid = { 7 }, .fingerprint = { 1 }, .flags = LG__REPORT_LEFT, .settled_ns = 8, .told_ns = 9 });
    /* the program has asked for it: it waits for no end */
    put_header("new", (struct lg__report_header){ .ordinal = 8, .uuid = { 8 }, .run_uuid = { 3 }, .fingerprint = { 3 } });
    assert_int_equal(lg_delivery_entries(state_path(""), entries, 8, &count), LG_OK);
    assert_int_equal(count, 8);
    const lg_delivery_pause pauses[] = { LG_PAUSE_NONE, LG_PAUSE_PACED, LG_PAUSE_BUSY, LG_PAUSE_BEHIND, LG_PAUSE_NONE, LG_PAUSE_NONE, LG_PAUSE_NONE,
                                         LG_PAUSE_NONE };
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(entries[i].pause, pauses[i]);
    assert_true(entries[4].state == LG_DELIVERY_HELD && entries[4].next_ns == later);
    assert_true(entries[5].state == LG_DELIVERY_DEAD && entries[5].settled_ns == 9);
    assert_true(entries[6].state == LG_DELIVERY_TOLD && entries[6].settled_ns == 8 && entries[6].told_ns == 9);
    for (size_t i = 0; i < sizeof of_server / sizeof of_server[0]; i++) {
        put_server(of_server[i], later + 1);
        assert_int_equal(lg_delivery_entries(state_path(""), entries, 8, &count), LG_OK);
        for (uint32_t k = 0; k < 3; k++)
            assert_true(entries[k].pause == of_server[i] && entries[k].next_ns == later + 1);
        assert_int_equal(entries[3].pause, LG_PAUSE_BEHIND);
    }
    put_server((lg_delivery_pause)99, later + 1); /* damaged: it says nothing */
    assert_int_equal(lg_delivery_entries(state_path(""), entries, 8, &count), LG_OK);
    assert_int_equal(entries[0].pause, LG_PAUSE_NONE);
}

/* While each byte costs, the first part alone goes, and that only to a plain server. */
static void test_metered(void **state)
{
    static const char *const targets[] = { "http", "sentry", "otlp", "minidump" };
    lg_delivery_info entries[3];
    uint32_t count = 0;
    (void)state;
    make_spool();
    put_header("new", (struct lg__report_header){ .ordinal = 1, .uuid = { 1 }, .run_uuid = { 1 }, .fingerprint = { 1 } });
    put_header("new", (struct lg__report_header){ .ordinal = 2, .uuid = { 2 }, .run_uuid = { 2 }, .fingerprint = { 2 }, .flags = LG__REPORT_BRIEF_SENT });
    put_header("new", (struct lg__report_header){ .ordinal = 3, .uuid = { 3 }, .run_uuid = { 3 }, .fingerprint = { 3 }, .flags = LG__REPORT_FULL_SENT });
    for (int is_metered = 0; is_metered < 2; is_metered++)
        for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
            char text[64];
            if (is_metered)
                write_text("spool/metered", "");
            snprintf(text, sizeof text, "launchguard-delivery 1\ntarget=%s\n", targets[i]);
            write_text("spool/config", text);
            assert_int_equal(lg_delivery_entries(state_path(""), entries, 3, &count), LG_OK);
            assert_int_equal(entries[0].pause, is_metered && i > 0 ? LG_PAUSE_METERED : LG_PAUSE_NONE);
            assert_int_equal(entries[1].pause, is_metered ? LG_PAUSE_METERED : LG_PAUSE_NONE);
            assert_int_equal(entries[2].pause, LG_PAUSE_NONE);
        }
}

static void test_less_room(void **state)
{
    lg_delivery_info entries[3] = { { .ordinal = 0 } };
    uint32_t count = 0;
    (void)state;
    make_spool();
    for (uint8_t number = 200; number > 0; number--)
        put_report("new", number, number);
    assert_int_equal(lg_delivery_entries(state_path(""), entries, 2, &count), LG_OK);
    assert_int_equal(count, 200);
    assert_int_equal(entries[0].ordinal, 1);
    assert_int_equal(entries[1].ordinal, 2);
    assert_int_equal(entries[2].ordinal, 0);
}

/* The same report in two folders was moved meanwhile. */
static void test_moved(void **state)
{
    lg_delivery_info entries[2];
    uint32_t count = 0;
    (void)state;
    make_spool();
    put_report("new", 1, 1);
    put_report("sent", 1, 1);
    assert_int_equal(lg_delivery_entries(state_path(""), entries, 2, &count), LG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(entries[0].state, LG_DELIVERY_SENT);
}

static void test_link(void **state)
{
    uint32_t count = 0;
    (void)state;
    assert_int_equal(symlink("/", state_path("spool")), 0);
    lg_status status = lg_delivery_entries(state_path(""), NULL, 0, &count);
    assert_true(status == LG_ERR_LINK || status == LG_ERR_NOT_DIRECTORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_AGENTS(test_no_spool), WITH_AGENTS(test_entries), WITH_AGENTS(test_pauses), WITH_AGENTS(test_metered), WITH_AGENTS(test_less_room), WITH_AGENTS(test_moved),
                                        WITH_AGENTS(test_link) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
