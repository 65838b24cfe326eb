/* Breadcrumbs with a category and fields: a reader returns what the call took, after any death. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/ring.h"

#define LARGE (1u << 20)

static lg_log_entry entry;
static lg_log_field field;

static uint64_t open_log(lg_reader **ret_reader)
{
    lg_log_info info;
    *ret_reader = newest_run();
    assert_int_equal(lg_reader_log(*ret_reader, &info), LG_OK);
    assert_int_equal(info.torn, 0);
    assert_int_equal(info.unknown, 0);
    return info.entries;
}

static void expect_field(lg_reader *reader, uint64_t index, uint32_t number, const char *key, const char *value)
{
    assert_int_equal(lg_reader_log_field(reader, index, number, &field), LG_OK);
    assert_string_equal(field.key, key);
    assert_string_equal(field.value, value);
    assert_int_equal(field.key_size, strlen(key));
    assert_int_equal(field.value_size, strlen(value));
}

static void expect_entry(lg_reader *reader, uint64_t index, const char *category, const char *text, uint32_t fields, uint32_t cut)
{
    assert_int_equal(lg_reader_log_entry(reader, index, &entry), LG_OK);
    assert_string_equal(entry.category, category);
    assert_string_equal(entry.text, text);
    assert_int_equal(entry.size, strlen(text));
    assert_int_equal(entry.field_count, fields);
    assert_int_equal(entry.cut, cut);
    assert_int_equal(entry.damaged, 0);
    assert_int_equal(lg_reader_log_field(reader, index, fields, &field), LG_ERR_NOT_FOUND);
}

/* ---- SIGKILL right after the call, and a handler that interrupts the call ---- */

static lg_session *shared;

static void log_request(uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    const lg_field fields[] = { { "number", text }, { "url", "https://example.org/a b?c=\"d\"" } };
    lg_log_fields(shared, LG_LEVEL_WARNING, "network", "request failed", 14, fields, 2);
}

static void on_signal(int number)
{
    log_request((uint32_t)number);
}

static void body_killed(void *argument)
{
    (void)argument;
    shared = start_session();
    for (uint32_t i = 0; i < 200; i++)
        log_request(1000 + i);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    raise(SIGKILL);
}

static void test_survives_kill(void **state)
{
    (void)state;
    lg_reader *reader;
    expect_signal(body_killed, NULL, SIGKILL);
    assert_int_equal(open_log(&reader), 201);
    for (uint32_t i = 0; i < 201; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i < 200 ? 1000 + i : (uint32_t)SIGUSR1);
        expect_entry(reader, i, "network", "request failed", 2, 0);
        assert_int_equal(entry.level, LG_LEVEL_WARNING);
        expect_field(reader, i, 0, "number", number);
        expect_field(reader, i, 1, "url", "https://example.org/a b?c=\"d\"");
    }
    lg_reader_close(reader);
}

/* ---- arguments that are NULL or empty ---- */

static void body_nothing(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    const lg_field right = { "key", "value" }, no_value = { "key", NULL }, no_key = { NULL, "value" }, empty_key = { "", "value" };
    const lg_field one_wrong[] = { right, empty_key };
    bool refused = lg_log_fields(NULL, LG_LEVEL_INFO, "c", "text", 4, &right, 1) == LG_ERR_ARGUMENT &&
                   lg_log_fields(session, LG_LEVEL_INFO, "c", NULL, 4, &right, 1) == LG_ERR_ARGUMENT &&
                   lg_log_fields(session, LG_LEVEL_INFO, "c", "text", 4, NULL, 1) == LG_ERR_ARGUMENT &&
                   lg_log_fields(session, LG_LEVEL_INFO, "c", "text", 4, &no_key, 1) == LG_ERR_ARGUMENT &&
                   lg_log_fields(session, LG_LEVEL_INFO, "c", "text", 4, one_wrong, 2) == LG_ERR_ARGUMENT;
    bool taken = lg_log_fields(session, LG_LEVEL_INFO, NULL, NULL, 0, NULL, 0) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, "", "plain", 5, NULL, 0) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, "category", NULL, 0, NULL, 0) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, NULL, NULL, 0, &no_value, 1) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, NULL, "size says where it ends", 4, &right, 1) == LG_OK &&
                 lg_log_fields(session, (lg_level)1000, "c", "", 0, NULL, 0) == LG_OK;
    bool closed = lg_stop(session) == LG_OK && lg_log_fields(session, LG_LEVEL_INFO, "c", "late", 4, &right, 1) == LG_ERR_CLOSED;
    exit(refused && taken && closed ? 0 : 92);
}

static void test_nothing(void **state)
{
    (void)state;
    lg_reader *reader;
    expect_exit(body_nothing, NULL, 0);
    assert_int_equal(open_log(&reader), 6);
    expect_entry(reader, 0, "", "", 0, 0);
    expect_entry(reader, 1, "", "plain", 0, 0);
    expect_entry(reader, 2, "category", "", 0, 0);
    expect_entry(reader, 3, "", "", 1, 0);
    expect_field(reader, 3, 0, "key", "");
    expect_entry(reader, 4, "", "size", 1, 0);
    expect_field(reader, 4, 0, "key", "value");
    expect_entry(reader, 5, "c", "", 0, 0);
    assert_int_equal(entry.level, 255);
    assert_int_equal(lg_reader_log_entry(reader, 6, &entry), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_log_field(reader, 6, 0, &field), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_log_field(NULL, 0, 0, &field), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_log_field(reader, 0, 0, NULL), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
}

/* ---- fields that do not fit ---- */

static char *letters(size_t size)
{
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = 0;
    return text;
}

static void body_large(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    char *large = letters(LARGE), *exact = letters(4000 - 4 - 4 - 1), *over = letters(4000 - 4 - 4), *page = letters(4096);
    /* A field that is too large is left out, the fields after it are not. */
    const lg_field large_value[] = { { "a", "1" }, { "large", large }, { "page", page }, { "b", "2" } };
    const lg_field large_key[] = { { large, "1" }, { page, "2" }, { "c", "3" } };
    const lg_field just_fits = { "k", exact }, just_not = { "k", over };
    bool right = lg_log_fields(session, LG_LEVEL_INFO, "network", "text", 4, large_value, 4) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, "network", "text", 4, large_key, 3) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, NULL, NULL, 0, &just_fits, 1) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, NULL, NULL, 0, &just_not, 1) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, large, "text", 4, NULL, 0) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, "c", large, LARGE, large_value, 4) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, "c", large, 4000 - 4 - 1, NULL, 0) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, NULL, large, 4000 - 4 - 6, large_value, 1) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, NULL, large, 4000 - 4 - 5, large_value, 1) == LG_OK &&
                 lg_log_fields(session, LG_LEVEL_INFO, "c", large, 4000 - 4, NULL, 0) == LG_OK;
    exit(right ? 0 : 92);
}

static void test_large(void **state)
{
    (void)state;
    lg_reader *reader;
    expect_exit(body_large, NULL, 0);
    assert_int_equal(open_log(&reader), 10);
    expect_entry(reader, 0, "network", "text", 2, 1);
    expect_field(reader, 0, 0, "a", "1");
    expect_field(reader, 0, 1, "b", "2");
    expect_entry(reader, 1, "network", "text", 1, 1);
    expect_field(reader, 1, 0, "c", "3");
    expect_entry(reader, 2, "", "", 1, 0);
    assert_int_equal(lg_reader_log_field(reader, 2, 0, &field), LG_OK);
    assert_int_equal(field.value_size, 4000 - 4 - 4 - 1);
    expect_entry(reader, 3, "", "", 0, 1);
    assert_int_equal(lg_reader_log_entry(reader, 4, &entry), LG_OK);
    assert_int_equal(strlen(entry.category), LG_NAME_MAX);
    assert_string_equal(entry.text, "text");
    static const struct { uint32_t size, fields, cut; } expected[] = {
        { 4000 - 4 - 1, 0, 1 }, { 4000 - 4 - 1, 0, 0 }, { 4000 - 4 - 6, 1, 0 }, { 4000 - 4 - 5, 0, 1 }, { 4000 - 4 - 1, 0, 1 },
    };
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(lg_reader_log_entry(reader, 5 + i, &entry), LG_OK);
        assert_int_equal(entry.size, expected[i].size);
        assert_int_equal(entry.field_count, expected[i].fields);
        assert_int_equal(entry.cut, expected[i].cut);
    }
    lg_reader_close(reader);
}

static void body_many(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    char names[1000][8];
    lg_field fields[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        fields[i] = (lg_field){ names[i], names[i] + 1 };
    }
    const size_t counts[] = { 0, 1, 254, 255, 256, 1000 };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (lg_log_fields(session, LG_LEVEL_INFO, "many", "text", 4, fields, counts[i]) != LG_OK)
            exit(92);
}

static void test_many(void **state)
{
    (void)state;
    static const struct { uint32_t fields, cut; } expected[] = { { 0, 0 }, { 1, 0 }, { 254, 0 }, { 255, 0 }, { 255, 1 }, { 255, 1 } };
    lg_reader *reader;
    expect_exit(body_many, NULL, 0);
    assert_int_equal(open_log(&reader), 6);
    for (uint64_t i = 0; i < 6; i++) {
        expect_entry(reader, i, "many", "text", expected[i].fields, expected[i].cut);
        for (uint32_t k = 0; k < expected[i].fields; k++) {
            char key[16];
            snprintf(key, sizeof key, "k%u", k);
            expect_field(reader, i, k, key, key + 1);
        }
    }
    lg_reader_close(reader);
}

/* ---- around the end of a lane: every place in it, every size of a cell ---- */

static void body_around(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.ring_bytes = 4096;
    lg_session *session = start_with(options);
    char *text = letters(300);
    for (size_t i = 0; i < 2000; i++) {
        char number[8];
        snprintf(number, sizeof number, "%zu", i);
        const lg_field fields[] = { { "number", number }, { "text", text + i % 300 } };
        lg_log_fields(session, LG_LEVEL_DEBUG, "around", text, i % 97, fields, 2);
    }
    raise(SIGKILL);
}

static void test_around(void **state)
{
    (void)state;
    lg_reader *reader;
    expect_signal(body_around, NULL, SIGKILL);
    uint64_t count = open_log(&reader);
    assert_true(count > 5 && count < 100);
    for (uint64_t i = 0; i < count; i++) {
        char number[8];
        size_t expected = 2000 - count + i;
        snprintf(number, sizeof number, "%zu", expected);
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        assert_int_equal(entry.size, expected % 97);
        expect_field(reader, i, 0, "number", number);
        assert_int_equal(lg_reader_log_field(reader, i, 1, &field), LG_OK);
        assert_int_equal(field.value_size, 300 - expected % 300);
    }
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_survives_kill), WITH_STATE(test_nothing), WITH_STATE(test_large),
        WITH_STATE(test_many),          WITH_STATE(test_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
