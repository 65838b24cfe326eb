/* The ring log: what returned survives, nothing torn is shown, a lost file does no harm. */
#include "harness.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/crc32c.h"
#include "store/ring.h"
#include "store/text.h"

/* ---- SIGKILL right behind the call ---- */

static int announcements[2];

static void body_killed(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    for (uint32_t i = 1;; i++) {
        lg_log(session, LG_LEVEL_INFO, "entry %u", i);
        /* A pipe is in the kernel: what was announced had returned. */
        if (write(announcements[1], &i, sizeof i) != sizeof i)
            _exit(92);
        if (i == 500)
            raise(SIGKILL);
    }
}

static void test_survives_kill(void **state)
{
    (void)state;
    state_make();
    assert_int_equal(pipe(announcements), 0);
    expect_signal(body_killed, NULL, SIGKILL);
    close(announcements[1]);
    uint32_t announced = 0, value;
    while (read(announcements[0], &value, sizeof value) == sizeof value)
        announced = value;
    close(announcements[0]);
    assert_int_equal(announced, 500);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    assert_int_equal(info.entries, announced);
    assert_int_equal(info.torn, 0);
    for (uint32_t i = 0; i < announced; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "entry %u", i + 1);
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        assert_string_equal(entry.text, expected);
        assert_int_equal(entry.level, LG_LEVEL_INFO);
    }
    lg_reader_close(reader);
    state_remove();
}

/* ---- many writers, overwriting ---- */

#define WRITERS 4
#define EACH 5000

static lg_session *shared;

static void *write_many(void *argument)
{
    for (unsigned i = 0; i < EACH; i++)
        lg_log(shared, LG_LEVEL_DEBUG, "writer %u entry %u %.*s", (unsigned)(uintptr_t)argument, i, (int)(i % 64),
               "................................................................");
    return NULL;
}

static void body_writers(void *argument)
{
    pthread_t threads[WRITERS];
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.state_directory = state_path("");
    options.ring_bytes = *(const uint32_t *)argument;
    if (lg_start(&options, &shared) != LG_OK)
        _exit(99);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_many, (void *)i);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
}

static void many_writers(uint32_t ring_bytes)
{
    state_make();
    expect_exit(body_writers, &ring_bytes, 0);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    int last[WRITERS] = { -1, -1, -1, -1 };
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    if (ring_bytes == 4096) {
        /* One lane. Where a writer was stopped while the others went round, there is a gap. */
        assert_true(info.entries > 5);
    } else {
        assert_int_equal(info.torn, 0); /* each has a lane of its own */
        assert_true(info.entries > 500);
    }
    assert_true(info.overwritten_bytes > 0);
    for (uint64_t i = 0; i < info.entries; i++) {
        unsigned writer, number;
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        if (strncmp(entry.text, "launchguard: ", 13) == 0)
            continue;
        assert_int_equal(sscanf(entry.text, "writer %u entry %u", &writer, &number), 2);
        assert_true(writer < WRITERS);
        assert_true((int)number > last[writer]); /* order kept, nothing twice */
        last[writer] = (int)number;
    }
    lg_reader_close(reader);
    state_remove();
}

static void test_many_writers(void **state) { (void)state; many_writers(0); }
static void test_one_lane(void **state) { (void)state; many_writers(4096); }

/* ---- threads come and go ---- */

#define GENERATIONS 200

static void *write_once(void *argument)
{
    lg_log(shared, LG_LEVEL_DEBUG, "thread %d", (int)(intptr_t)argument);
    return NULL;
}

static void body_generations(void *argument)
{
    (void)argument;
    shared = start_session();
    for (intptr_t i = 0; i < GENERATIONS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, write_once, (void *)i);
        pthread_join(thread, NULL);
    }
}

/* Lanes of dead threads are used again, and their entries stay. */
static void test_generations(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_generations, NULL, 0);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    int next = 0, own = 0;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    assert_int_equal(info.torn, 0);
    for (uint64_t i = 0; i < info.entries; i++) {
        int number;
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        if (sscanf(entry.text, "thread %d", &number) != 1)
            continue;
        assert_int_equal(number, next++);
        own += entry.lane != 0;
    }
    assert_int_equal(next, GENERATIONS);
    /* A thread may be joined before the kernel has forgotten it; many of them are not. */
    assert_true(own > GENERATIONS / 2);
    lg_reader_close(reader);
    state_remove();
}

/* ---- sizes of the ring ---- */

static void test_shapes(void **state)
{
    (void)state;
    static const struct { uint32_t bytes, lanes, cells; } expected[] = {
        { 4096, 1, 128 }, { 8192, 1, 256 }, { 16384, 2, 256 }, { 65536, 8, 256 },
        { 262144, 8, 1024 }, { 524288, 8, 2048 }, { 1048576, 16, 2048 }, { 16777216, 16, 32768 },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct lg__ring_shape shape = lg__ring_shape(expected[i].bytes);
        assert_int_equal(shape.lanes, expected[i].lanes);
        assert_int_equal(shape.cells, expected[i].cells);
    }
}

/* ---- sizes ---- */

static void body_sizes(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    char *large = malloc(1 << 20);
    memset(large, 'x', 1 << 20);
    large[(1 << 20) - 1] = 0;
    bool right = lg_log_write(session, LG_LEVEL_INFO, NULL, 0) == LG_OK && lg_log_write(session, LG_LEVEL_INFO, "", 0) == LG_OK &&
                 lg_log_write(session, LG_LEVEL_INFO, large, LG_LOG_TEXT_MAX) == LG_OK &&
                 lg_log_write(session, LG_LEVEL_INFO, large, 1 << 20) == LG_OK &&
                 lg_log_write(session, LG_LEVEL_INFO, NULL, 1) == LG_ERR_ARGUMENT && lg_log(session, LG_LEVEL_INFO, "%s", large) == LG_OK &&
                 lg_log(session, (lg_level)1000, "level") == LG_OK && lg_log(NULL, LG_LEVEL_INFO, "none") == LG_ERR_ARGUMENT;
    free(large);
    exit(right ? 0 : 92);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint32_t size, cut; } expected[] = { { 0, 0 }, { 0, 0 }, { LG_LOG_TEXT_MAX, 0 }, { LG_LOG_TEXT_MAX, 1 }, { LG_LOG_TEXT_MAX, 1 }, { 5, 0 } };
    state_make();
    expect_exit(body_sizes, NULL, 0);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    assert_int_equal(info.entries, sizeof expected / sizeof expected[0]);
    for (uint64_t i = 0; i < info.entries; i++) {
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        assert_int_equal(entry.size, expected[i].size);
        assert_int_equal(entry.cut, expected[i].cut);
    }
    assert_int_equal(entry.level, 255);
    lg_reader_close(reader);
    state_remove();
}

/* ---- the file is cut under the program ---- */

static void body_truncated(void *argument)
{
    lg_session *session = start_session();
    lg_log(session, LG_LEVEL_INFO, "before");
    if (truncate(lg_session_run_path(session), 0) != 0)
        _exit(92);
    for (int i = 0; i < 20000; i++)
        if (lg_log(session, LG_LEVEL_INFO, "after the file was cut %d", i) != LG_OK)
            _exit(91);
    if (argument)
        abort();
}

static void test_truncated_file(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_truncated, NULL, 0); /* the program lives on */
    state_remove();
    state_make();
    expect_signal(body_truncated, (void *)1, SIGABRT); /* and dies as it would have */
    state_remove();
}

static void body_deleted(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    if (unlink(lg_session_run_path(session)) != 0 || unlink(state_path("ledger.lg")) != 0)
        _exit(92);
    for (int i = 0; i < 20000; i++)
        lg_log(session, LG_LEVEL_INFO, "after the file was deleted %d", i);
}

static void test_deleted_file(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_deleted, NULL, 0);
    state_remove();
}

/* ---- formatting, against the C library ---- */

static size_t format_here(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t whole = lg__text_format(to, size - 1, format, arguments);
    va_end(arguments);
    to[whole < size ? whole : size - 1] = 0;
    return whole;
}

#define SAME(...)                                                     \
    do {                                                              \
        char mine[512], theirs[512];                                  \
        size_t size = format_here(mine, sizeof mine, __VA_ARGS__);    \
        int expected = snprintf(theirs, sizeof theirs, __VA_ARGS__);  \
        assert_string_equal(mine, theirs);                            \
        assert_int_equal(size, expected);                             \
    } while (0)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"

static void test_format(void **state)
{
    (void)state;
    SAME("plain");
    SAME("%d %i %u", -42, 42, 42u);
    SAME("%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d", 42, 42, 42, 42, 42, 42, 42);
    SAME("%x %X %#x %#X %o %#o %08x", 0xbeefu, 0xbeefu, 0xbeefu, 0xbeefu, 8u, 8u, 0xbeefu);
    SAME("%hhd %hhu %hd %hu", 300, 300, 70000, 70000);
    SAME("%ld %lu %lld %llu", -5000000000L, 5000000000UL, INT64_MIN, UINT64_MAX);
    SAME("%zu %zd %jd %ju %td", sizeof(int), (ptrdiff_t)-3, (intmax_t)-4, (uintmax_t)5, (ptrdiff_t)6);
    SAME("%c%c|%3c|%-3c|", 'a', 'b', 'c', 'd');
    SAME("%s|%10s|%-10s|%.2s|%.*s", "text", "text", "text", "text", 3, "text");
    SAME("%*d|%-*d|%*d", 6, 1, 6, 2, -6, 3);
    SAME("%p", (void *)0x1234);
    SAME("100%%");
    SAME("%.0d|%.0d", 0, 1);
    SAME("%f %f %f", 0.0, 3.14159265, -2.5);
    SAME("%.0f %.1f %.2f %.3f %10.2f|%-10.2f|%010.2f|%+.1f", 2.0, 0.25, 1.005, 1234.5678, 3.14159, 3.14159, -3.14159, 1.0);
    SAME("%e %.2e %E", 12345.678, 0.00012345, 1e100);
    SAME("%g %g %g %g %g %g", 0.0, 100000.0, 1000000.0, 0.0001, 0.00001, 3.5);
    SAME("%f %F %e %g", INFINITY, -INFINITY, NAN, INFINITY);
    SAME("%f", 1e17);
    char text[16];
    assert_int_equal(format_here(text, sizeof text, "%s", "longer than the room for it"), 27);
    assert_string_equal(text, "longer than the");
    assert_int_equal(format_here(text, sizeof text, "%s", (char *)NULL), 6);
    assert_string_equal(text, "(null)");
    format_here(text, sizeof text, "%y %", 1);
    assert_string_equal(text, "%y %");
}

#pragma GCC diagnostic pop

static void test_crc(void **state)
{
    (void)state;
    /* Check value of CRC-32C, RFC 3720 appendix B.4: 32 bytes of zeros; and the customary "123456789". */
    static const uint8_t zeros[32];
    for (int round = 0; round < 2; round++) {
        assert_int_equal(lg__crc32c(0, zeros, sizeof zeros), 0x8a9136aa);
        assert_int_equal(lg__crc32c(0, "123456789", 9), 0xe3069283);
        assert_int_equal(lg__crc32c(lg__crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
        lg__crc32c_init(); /* first by table, then by the CPU */
    }
}

#ifdef WRITERS_ONLY /* with the runtime of a sanitizer, whose own handlers the other tests do not expect */
static const bool writers_only = true;
#else
static const bool writers_only = false;
#endif

int main(void)
{
    const struct CMUnitTest writers[] = {
        cmocka_unit_test(test_many_writers), cmocka_unit_test(test_one_lane), cmocka_unit_test(test_generations),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_survives_kill), cmocka_unit_test(test_shapes),       cmocka_unit_test(test_sizes), cmocka_unit_test(test_truncated_file),
        cmocka_unit_test(test_deleted_file),  cmocka_unit_test(test_format), cmocka_unit_test(test_crc),
    };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    int failed = cmocka_run_group_tests_name("log, writers", writers, NULL, NULL);
    return failed || writers_only ? failed : cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
