/* lg_delivery_entries(): a spool as it is, with files that are none. */
#include "spool_support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    const struct CMUnitTest tests[] = { WITH_AGENTS(test_no_spool), WITH_AGENTS(test_entries), WITH_AGENTS(test_less_room), WITH_AGENTS(test_moved),
                                        WITH_AGENTS(test_link) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
