/* Minidumps: what must not be in their memory is blanked, also across the border of two stretches;
 * texts of any bytes; and files that may not be as large as they would be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/dump_memory.h"
#include "report/home.h"

#define MEMORY "..........swordfish............!"
#define BLANKED "..........*********............!"

static uint64_t second_start;
static bool is_known;

lg_status __wrap_lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info);
lg_status __wrap_lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size);

lg_status __wrap_lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info)
{
    (void)reader;
    *ret_info = index ? (lg_memory_info){ .start = 0x1000, .size = 16, .tid = 1 }
                      : (lg_memory_info){ .start = second_start, .size = (uint32_t)(sizeof MEMORY - 1 - (second_start - 0x1000)), .tid = 2 };
    return index > 1 ? LG_ERR_NOT_FOUND : LG_OK;
}

lg_status __wrap_lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size)
{
    (void)reader;
    memcpy(buffer, MEMORY + (index ? 0 : second_start - 0x1000), size);
    return LG_OK;
}

static struct lg__dump_memory memory_of(uint64_t second, size_t room)
{
    char value[] = "swordfish";
    struct lg__secret secret = { .bytes = value, .size = sizeof value - 1 };
    struct lg__secrets *secrets = calloc(1, sizeof *secrets);
    const lg_report_options options = LG_REPORT_OPTIONS_INIT;
    struct lg__report report = { .options = &options, .secrets = secrets };
    struct lg__dump_memory memory = { .left = room };
    assert_non_null(secrets);
    secrets->is_known = is_known;
    secrets->values = &secret;
    secrets->count = 1;
    second_start = second;
    lg__dump_memory_stacks(&memory, NULL);
    lg__dump_memory_part(&memory);
    lg__dump_memory_blank(&memory, &report);
    assert_false(memory.failed);
    free(secrets);
    return memory;
}

/* Stacks that lie side by side or in each other. */
static void test_a_value_across_two_stretches(void **state)
{
    static const uint64_t seconds[] = { 0x1010, 0x1008 };
    (void)state;
    is_known = true;
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        struct lg__dump_memory memory = memory_of(seconds[i], SIZE_MAX);
        char text[sizeof MEMORY] = "";
        assert_int_equal(memory.count, 2);
        assert_int_equal(memory.list[1].start, 0x1010);
        memcpy(text, memory.list[0].bytes, memory.list[0].size);
        memcpy(text + memory.list[0].size, memory.list[1].bytes, memory.list[1].size);
        assert_string_equal(text, BLANKED);
        /* a stack that lost its beginning is still that of its thread */
        assert_int_equal(lg__dump_memory_stack(&memory, 2, 0)->start, 0x1010);
        assert_int_equal(lg__dump_memory_stack(&memory, 1, 0x1004)->start, 0x1000);
        assert_null(lg__dump_memory_stack(&memory, 3, 0x1004));
        lg__dump_memory_free(&memory);
    }
}

static void test_no_memory_where_it_is_not_known_what_is_redacted(void **state)
{
    (void)state;
    is_known = false;
    struct lg__dump_memory memory = memory_of(0x1010, SIZE_MAX);
    assert_int_equal(memory.count, 0);
}

static void test_a_stack_without_room_is_left_out(void **state)
{
    (void)state;
    is_known = true;
    struct lg__dump_memory memory = memory_of(0x1010, 20);
    assert_int_equal(memory.count, 1);
    assert_int_equal(memory.list[0].tid, 2); /* the first of the record */
    lg__dump_memory_free(&memory);
}

static void test_homes_in_memory(void **state)
{
    static const char *const rows[][2] = {
        { "\001/home/alice/notes.db\0PATH=/usr/bin", "\001/****/*****/notes.db" },
        { "HOME=/root", "HOME=/****" },
        { "/media/alice/stick/home/bob/x", "/*****/*****/*****/****/***/x" },
        { "a/home/alice", "a/home/alice" },
        { "/home/", "/home/" },
        { "/usr/lib", "/usr/lib" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char bytes[64] = "";
        snprintf(bytes, sizeof bytes, "%s", rows[i][0]);
        lg__home_blank((uint8_t *)bytes, strlen(bytes));
        assert_string_equal(bytes, rows[i][1]);
    }
}

static void test_homes_leave_only_on_wish(void **state)
{
    static const lg_report_options rows[] = { { .size = sizeof rows[0], .for_sending = 1 }, { .size = sizeof rows[0], .for_sending = 1, .keep_home = 1 },
                                              { .size = sizeof rows[0] } };
    struct lg__secrets *secrets = calloc(1, sizeof *secrets);
    (void)state;
    assert_non_null(secrets);
    secrets->is_known = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[] = "on a stack: /home/alice/notes";
        struct lg__report report = { .options = &rows[i], .secrets = secrets };
        struct lg__dump_stretch stretch = { .start = 0x1000, .size = sizeof text, .bytes = (uint8_t *)text, .is_stack = true };
        struct lg__dump_memory memory = { .list = &stretch, .count = 1 };
        lg__dump_memory_blank(&memory, &report);
        assert_int_equal(strstr(text, "alice") == NULL, i == 0);
    }
    free(secrets);
}

/* The beginning of the first stack: 2 arguments, 2 variables, in two words each. */
static void test_arguments_and_environment(void **state)
{
    static const char texts[] = "/bin/p\0--key=secret-of-mine\0A=1\0TOKEN=secret-of-mine\0/bin/p\0\0";
    uint64_t words[] = { 77, 0x1000, 2, 0x1050, 0x1057, 0, 0x106c, 0x1070, 0, 6 };
    const lg_report_options sending = { .size = sizeof sending, .for_sending = 1, .keep_home = 1 }, keeping = { .size = sizeof keeping };
    struct lg__secrets *secrets = calloc(1, sizeof *secrets);
    (void)state;
    assert_non_null(secrets);
    secrets->is_known = true;
    for (int is_sent = 0; is_sent < 2; is_sent++)
        for (int is_whole = 0; is_whole < 2; is_whole++) {
            struct lg__report report = { .options = is_sent ? &sending : &keeping, .secrets = secrets };
            struct lg__dump_stretch stretch = { .start = 0x1000, .size = sizeof words + sizeof texts, .bytes = malloc(sizeof words + sizeof texts), .is_stack = true };
            struct lg__dump_memory memory = { .list = &stretch, .count = 1 };
            words[7] = is_whole ? 0x1070 : 7; /* no pointer: it is something else */
            memcpy(stretch.bytes, words, sizeof words);
            memcpy(stretch.bytes + sizeof words, texts, sizeof texts);
            lg__dump_memory_blank(&memory, &report);
            assert_int_equal(memory.count, 1);
            assert_memory_equal(stretch.bytes, words, sizeof words);
            assert_int_equal(memmem(stretch.bytes, stretch.size, "secret", 6) == NULL, is_sent && is_whole);
            free(stretch.bytes);
        }
    free(secrets);
}

static void test_texts(void **state)
{
    struct lg__dump_part part = { .bytes = NULL };
    (void)state;
    lg__dump_part_utf16(&part, "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xE2\x82", 13);
    assert_int_equal(part.size, 14);
    assert_memory_equal(part.bytes, "a\0\xE9\0\xAC\x20\x3D\xD8\x00\xDE\xFD\xFF\xFD\xFF", 14);
    lg__dump_part_free(&part);
    lg__dump_part_utf8(&part, "a\xFF\xC3\xA9\xED\xA0\x80", 7);
    assert_int_equal(part.size, 1 + 3 + 2 + 9);
    assert_memory_equal(part.bytes, "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", part.size);
    lg__dump_part_free(&part);
}

static void test_without_memory_nothing_is_whole(void **state)
{
    struct lg__dump_file file;
    struct lg__dump_part part = { .failed = true };
    (void)state;
    lg__dump_file_begin(&file);
    lg__dump_file_add(&file, LG__DUMP_LINUX_MAPS, &part);
    assert_false(lg__dump_file_finish(&file, 1));
    lg__dump_file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_across_two_stretches),
        cmocka_unit_test(test_no_memory_where_it_is_not_known_what_is_redacted),
        cmocka_unit_test(test_a_stack_without_room_is_left_out),
        cmocka_unit_test(test_homes_in_memory),
        cmocka_unit_test(test_homes_leave_only_on_wish),
        cmocka_unit_test(test_arguments_and_environment),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_without_memory_nothing_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
