/* The JSON of a report: texts of any bytes, and parts of an object that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/json.h"

static char text[8192];
static size_t used, room;

static int take(const char *bytes, size_t size, void *user)
{
    (void)user;
    if (size > room - used)
        return 1;
    memcpy(text + used, bytes, size);
    used += size;
    text[used] = 0;
    return 0;
}

static struct lg__json begun(void)
{
    used = 0;
    room = sizeof text - 1;
    return (struct lg__json){ .sink = take };
}

static void test_text(void **state)
{
    static const struct { const char *bytes, *json; } cases[] = {
        { "", "\"\"" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\b\f\n\r\t\x01\x1b\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001b\\u007f\"" },
        { "grün \xF0\x9F\x9A\x80", "\"grün \xF0\x9F\x9A\x80\"" },
        { "\xFF\x80z", "\"\xEF\xBF\xBD\xEF\xBF\xBDz\"" },
        { "\xE2\x82", "\"\xEF\xBF\xBD\"" },              /* the beginning of a character */
        { "\xF0\x9F\x9Az", "\"\xEF\xBF\xBDz\"" },
        { "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" }, /* a surrogate */
        { "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },  /* longer than it need be */
        { "\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lg__json json = begun();
        lg__json_text(&json, cases[i].bytes, strlen(cases[i].bytes));
        lg__json_flush(&json);
        assert_string_equal(text, cases[i].json);
    }
}

static void test_object(void **state)
{
    struct lg__json json = begun();
    (void)state;
    lg__json_open(&json);
    json.key = "left out";
    json.key = "list";
    struct lg__json_list empty = lg__json_list(&json);
    lg__json_list_end(&json, &empty);
    json.key = "always";
    struct lg__json_list always = lg__json_list(&json);
    lg__json_list_begin(&json, &always);
    lg__json_list_end(&json, &always);
    json.key = "items";
    struct lg__json_list items = lg__json_list(&json);
    for (unsigned i = 0; i < 2; i++) {
        lg__json_item(&json, &items);
        lg__json_open(&json);
        json.key = "number";
        lg__json_unsigned(&json, UINT64_MAX);
        json.key = "signed";
        lg__json_signed(&json, INT64_MIN);
        lg__json_close(&json);
    }
    lg__json_list_end(&json, &items);
    json.key = "address";
    lg__json_address(&json, 0x1234);
    json.key = "bytes";
    lg__json_hex(&json, (const uint8_t[]){ 0, 0xAB }, 2);
    json.key = "not written";
    lg__json_members(&json, "\"more\":true");
    lg__json_close(&json);
    lg__json_flush(&json);
    assert_string_equal(text,
        "{\"always\":[],\"items\":[{\"number\":18446744073709551615,\"signed\":-9223372036854775808},"
        "{\"number\":18446744073709551615,\"signed\":-9223372036854775808}],\"address\":\"0x0000000000001234\",\"bytes\":\"00ab\",\"more\":true}");
}

/* A text that is longer than the buffer comes whole, and nothing follows what the sink refused. */
static void test_sink(void **state)
{
    struct lg__json json = begun();
    char whole[5000];
    (void)state;
    memset(whole, 'x', sizeof whole);
    lg__json_text(&json, whole, sizeof whole);
    lg__json_flush(&json);
    assert_false(json.failed);
    assert_int_equal(used, sizeof whole + 2);
    json = begun();
    room = 3000;
    lg__json_text(&json, whole, sizeof whole);
    lg__json_flush(&json);
    assert_true(json.failed);
    assert_int_equal(used, sizeof json.buffer);
}

/* The least that a row of a fleet has, and what is none. */
static void test_fleet(void **state)
{
    const lg_fleet_row row = { .bug = "f", .app = "a", .ending = "crash", .headline = "h", .runs = 1, .total = 2 };
    const lg_fleet_example example = { .device = "d" };
    (void)state;
    (void)begun();
    assert_int_equal(lg_fleet_row_report(&row, take, NULL), LG_OK);
    assert_string_equal(text, "{\"app\":\"a\",\"bug\":\"f\",\"devices\":0,\"ending\":\"crash\",\"fingerprints\":[],\"headline\":\"h\",\"runs\":1,"
                              "\"schema\":1,\"total\":2,\"trend\":[],\"type\":\"fleet-bug\",\"versions\":[]}");
    room = used;
    assert_int_equal(lg_fleet_row_report(&row, take, NULL), LG_ERR_SYSTEM);
    assert_int_equal(lg_fleet_row_report(NULL, take, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_fleet_row_report(&row, NULL, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_fleet_example_report(&example, take, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_fleet_example_report(NULL, take, NULL), LG_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_text), cmocka_unit_test(test_object), cmocka_unit_test(test_sink), cmocka_unit_test(test_fleet) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
