/* Facts from the memory map of a crash: the mappings, the place of an address, and words of
 * the stack that may be return addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/parts.h"

#define WORDS_MAX 1000

static const char *map;
static bool is_cut;
static const uint8_t *stack;
static size_t stack_size;
static uint64_t stack_start;
static char text[65536];
static size_t used;

lg_status __wrap_lg_reader_map(lg_reader *reader, char *buffer, size_t size, size_t *ret_size, uint32_t *ret_cut);
lg_status __wrap_lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info);
lg_status __wrap_lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size);
lg_status __wrap_lg_reader_stack(lg_reader *reader, lg_stage stage, lg_stack_info *ret_info);

lg_status __wrap_lg_reader_map(lg_reader *reader, char *buffer, size_t size, size_t *ret_size, uint32_t *ret_cut)
{
    (void)reader;
    *ret_size = strlen(map);
    *ret_cut = is_cut;
    if (buffer)
        snprintf(buffer, size, "%s", map);
    return LG_OK;
}

lg_status __wrap_lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info)
{
    (void)reader;
    *ret_info = (lg_memory_info){ .start = stack_start, .size = (uint32_t)stack_size, .tid = 7 };
    return index ? LG_ERR_NOT_FOUND : LG_OK;
}

lg_status __wrap_lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size)
{
    (void)reader;
    (void)index;
    memcpy(buffer, stack, size);
    return LG_OK;
}

lg_status __wrap_lg_reader_stack(lg_reader *reader, lg_stage stage, lg_stack_info *ret_info)
{
    (void)reader;
    (void)stage;
    (void)ret_info;
    return LG_ERR_NOT_FOUND;
}

static int take(const char *bytes, size_t size, void *user)
{
    (void)user;
    assert_true(size < sizeof text - used);
    memcpy(text + used, bytes, size);
    used += size;
    text[used] = 0;
    return 0;
}

/* The value that the part writes; "": none. */
static const char *written(void (*part)(struct lg__report *, const void *), const lg_crash_info *crash)
{
    static const lg_report_options options = LG_REPORT_OPTIONS_INIT;
    lg_module module = { .start = 0x1000, .end = 0x9000, .path = "/m" };
    struct lg__problem problems[LG__PROBLEMS_MAX];
    struct lg__report report = { .json = { .sink = take }, .options = &options, .problems = problems, .prefix = "", .modules = &module,
                                 .module_count = 1, .frames_left = UINT64_MAX };
    used = 0;
    text[0] = 0;
    part(&report, crash);
    lg__json_flush(&report.json);
    assert_int_equal(report.problem_count, 0);
    return text;
}

static void test_map(void **state)
{
    (void)state;
    map = "5555-6666 r-xp 00001000 08:01 42   /opt/a b (deleted)\n7000-8000 ---p 00000000 00:00 0\nnonsense\n9000-8000 rw-p 0 0:0 0\n"
          "a000-b000 rw 0 0:0 0\nfffffffffffff000-ffffffffffffffff r-xp 0 00:00 0  [vsyscall]\nc000-d0";
    is_cut = true;
    assert_string_equal(written(lg__report_memory_map, NULL),
        "{\"mappings\":[{\"start\":\"0x0000000000005555\",\"end\":\"0x0000000000006666\",\"permissions\":\"r-xp\",\"offset\":4096,"
        "\"path\":\"/opt/a b (deleted)\"},{\"start\":\"0x0000000000007000\",\"end\":\"0x0000000000008000\",\"permissions\":\"---p\",\"offset\":0},"
        "{\"start\":\"0xfffffffffffff000\",\"end\":\"0xffffffffffffffff\",\"permissions\":\"r-xp\",\"offset\":0,\"path\":\"[vsyscall]\"}],"
        "\"isCut\":true}");
    map = "1000-2000 r--p 0 0:0 0 /whole\n";
    assert_non_null(strstr(written(lg__report_memory_map, NULL), "/whole"));
    map = "1000-2000 r--p 0 0:0 0 /cu"; /* a line that was cut is not used */
    assert_string_equal(written(lg__report_memory_map, NULL), "{\"mappings\":[],\"isCut\":true}");
    is_cut = false;
    assert_non_null(strstr(written(lg__report_memory_map, NULL), "/cu"));
    map = "";
    assert_string_equal(written(lg__report_memory_map, NULL), "");
}

static void assert_place(uint64_t address, const char *place)
{
    const lg_crash_info crash = { .has_address = 1, .address = address };
    char quoted[256] = "";
    if (place)
        snprintf(quoted, sizeof quoted, "\"%s\"", place);
    assert_string_equal(written(lg__report_address_place, &crash), quoted);
}

static void test_place(void **state)
{
    (void)state;
    map = "100000-101000 r--s 2000 0:0 0 /var/data\n200000-201000 r-xp 0 0:0 0 /lib/libfoo.so\n300000-301000 rw-p 0 0:0 0\n"
          "400000-401000 rw-p 0 0:0 0 [stack]\n";
    is_cut = false;
    assert_place(0x100010, "in the mapped file /var/data at offset 0x2010, mapped r--s");
    assert_place(0x20100C, "in no mapping, 12 bytes after libfoo.so");
    assert_place(0x2FFFFF, "in no mapping, 1 byte before memory without a name");
    assert_place(0x300000, "in memory without a name, mapped rw-p");
    assert_place(0x3E0000, "in no mapping, 128.0 KiB before [stack]");
    assert_place(UINT64_MAX, "in no mapping");
    assert_place(8, NULL); /* near a null pointer, the neighbouring mappings mean nothing */
    is_cut = true;
    assert_place(0x500000, NULL); /* after a map that is cut, anything may be mapped */
    assert_string_equal(written(lg__report_address_place, &(const lg_crash_info){ .has_address = 0, .address = 0x300000 }), "");
}

static void test_guard_pages(void **state)
{
    lg_crash_info crash = { .has_address = 1, .address = 0x500100, .thread_name = "worker" };
    (void)state;
    map = "500000-501000 ---p 0 0:0 0\n501000-600000 rw-p 0 0:0 0\n";
    is_cut = false;
    assert_string_equal(written(lg__report_address_place, &crash), "\"in memory without a name, mapped ---p\"");
    crash.kind = LG_CRASH_STACK_OVERFLOW;
    assert_string_equal(written(lg__report_address_place, &crash), "\"in the guard pages below a stack, mapped ---p\"");
    crash.stack_low = 0x501000;
    crash.address = 0x4FFFFF;
    map = "501000-600000 rw-p 0 0:0 0\n";
    assert_string_equal(written(lg__report_address_place, &crash), "\"in no mapping, 4.0 KiB before the stack of \\\"worker\\\"\"");
    map = "500000-501000 ---p 0 0:0 0\n501000-600000 rw-p 0 0:0 0\n";
    crash.address = 0x500100;
    for (crash.stack_low = 0x500000; crash.stack_low <= 0x501000; crash.stack_low += 0x1000)
        assert_string_equal(written(lg__report_address_place, &crash), "\"in the guard pages below the stack of \\\"worker\\\", mapped ---p\"");
}

/* The addresses of the frames, and their number. */
static size_t possible(const void *bytes, size_t size, uint64_t start, uint64_t *ret_addresses)
{
    static const lg_crash_info crash = { .tid = 7 };
    size_t count = 0;
    stack = bytes;
    stack_size = size;
    stack_start = start;
    for (const char *at = written(lg__report_possible_frames, &crash); (at = strstr(at, "\"address\":\"")); at++)
        sscanf(at, "\"address\":\"%lx", &ret_addresses[count++]);
    return count;
}

static void test_possible_frames(void **state)
{
    static const uint64_t words[] = { 0x1010, 0, 0x2010, 0xA010, 0x2000, 0x1000, 0x1010, 0x1010 };
    uint64_t found[WORDS_MAX], many[WORDS_MAX];
    uint8_t askew[10] = { 9, 9, 0x10, 0x10 };
    (void)state;
    map = "1000-2000 r-xp 0 0:0 0 /m\n2000-9000 rw-p 0 0:0 0 /m\na000-b000 r-xp 0 0:0 0\n";
    is_cut = false;
    assert_int_equal(possible(words, sizeof words, 0x7000, found), 3);
    assert_int_equal(found[0], 0x1010);
    assert_int_equal(found[1], 0x2000);
    assert_int_equal(found[2], 0x1010);
    /* words are only where a processor would put them */
    assert_int_equal(possible(askew, sizeof askew, 0x7006, found), 1);
    assert_int_equal(found[0], 0x1010);
    assert_int_equal(possible(askew, 3, 0x7000, found), 0);
    for (size_t i = 0; i < WORDS_MAX; i++)
        many[i] = 0x1100 + i % 200;
    assert_int_equal(possible(many, sizeof many, 0x7000, found), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_map), cmocka_unit_test(test_place), cmocka_unit_test(test_guard_pages), cmocka_unit_test(test_possible_frames) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
