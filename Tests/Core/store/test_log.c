/* The ring log: an entry whose call returned survives, no torn entry is shown, a lost file does no
 * harm. */
#include "harness.h"
#include "seeds.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/session.h"
#include "store/crc32c.h"
#include "store/ring.h"
#include "store/text.h"

/* ---- SIGKILL right after the call ---- */

static int announcements[2];

static void body_killed(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    for (uint32_t i = 1;; i++) {
        lg_log(session, LG_LEVEL_INFO, "entry %u", i);
        /* A pipe is in the kernel: every announced call had returned. */
        if (write(announcements[1], &i, sizeof i) != sizeof i)
            _exit(92);
        if (i == 500)
            raise(SIGKILL);
    }
}

static void test_survives_kill(void **state)
{
    (void)state;
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

#define LARGE 16777216 /* with room for all that is written */

static lg_session *start_with_ring(uint32_t bytes)
{
    lg_options options = LG_OPTIONS_INIT;
    options.ring_bytes = bytes;
    return start_with(options);
}

static void body_writers(void *argument)
{
    pthread_t threads[WRITERS];
    shared = start_with_ring(*(const uint32_t *)argument);
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
        /* One lane. Where a writer was stopped while the others went once round the lane, there is
         * a gap. */
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
    /* A thread may be joined before the kernel has removed it; many of them are not joined. */
    assert_true(own > GENERATIONS / 2);
    lg_reader_close(reader);
}

/* ---- the clock ---- */

/* Until an entry has taken a later point of the clock, or found that there will be none. */
static bool wait_for_clock(lg_session *session)
{
    struct lg__clock *clock = session->host.run.ring.clock;
    while (!clock->span && clock->due_ns != UINT64_MAX) {
        rest(1);
        lg_log(session, LG_LEVEL_INFO, "waits");
    }
    return clock->span != 0;
}

/* Whether the time of an entry came from the counter, as the file itself says. */
static bool by_counter(const struct lg__ring *ring, const char *text)
{
    for (uint32_t lane = 0; lane < ring->lane_count; lane++)
        for (uint64_t cell = 0; cell + 1 < ring->cell_count; cell++) {
            const struct lg__entry *entry = (const struct lg__entry *)(ring->writers[lane].lane + 1) + cell;
            if (entry->size == strlen(text) && memcmp(entry + 1, text, entry->size) == 0)
                return !(entry->kind & LG__ENTRY_MONOTONIC);
        }
    _exit(90);
}

#define ROUNDS 2000

/* Shared with the child: CLOCK_MONOTONIC before and after each entry, and whether there was a
 * counter. */
static struct {
    uint64_t before[ROUNDS], after[ROUNDS];
    bool counter;
    pthread_mutex_t lock;
    uint64_t number, until;
    _Atomic uint64_t handovers;
} *clocks;

static void log_between_looks(lg_session *session, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        clocks->before[i] = now_ns();
        lg_log(session, LG_LEVEL_INFO, "at %u", i);
        clocks->after[i] = now_ns();
    }
}

/* `argument`: the fate of the counter after half of the entries. */
enum fate { STAYS, GIVEN_UP, SLEPT, BACKWARDS, LATE, UNSTEADY };

static void body_clock(void *argument)
{
    lg_session *session = start_with_ring(LARGE);
    struct lg__run *run = &session->host.run;
    struct lg__clock *clock = run->ring.clock;
    /* before or after the watch thread has permitted the counter */
    log_between_looks(session, 0, 100);
    clocks->counter = wait_for_clock(session);
    log_between_looks(session, 100, ROUNDS / 2 - 100);
    if (clocks->counter && !by_counter(&run->ring, "at 999"))
        _exit(93);
    switch (*(enum fate *)argument) {
    case STAYS: lg__clock_mark(clock); break;
    case GIVEN_UP: lg__clock_give_up(clock); break;
    case SLEPT: clock->asleep_ns -= 10000000; lg__clock_mark(clock); break;
    case BACKWARDS: clock->last.count += UINT64_C(1) << 50; lg__clock_mark(clock); break;
    case LATE: clock->span = 1; break;
    case UNSTEADY: clock->header.mult *= 2; lg__clock_mark(clock); break;
    }
    log_between_looks(session, ROUNDS / 2, ROUNDS / 2);
    /* where the time of a point was over, an entry has taken another */
    bool stays = *(enum fate *)argument == STAYS || *(enum fate *)argument == LATE;
    if (clocks->counter && by_counter(&run->ring, "at 1999") != stays)
        _exit(94);
}

/* Check that each entry's time lies between its two readings of CLOCK_MONOTONIC; returns the
 * largest error. */
static uint64_t check_times(void)
{
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    uint64_t worst = 0, last = 0;
    unsigned number, found = 0;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; i < info.entries; i++) {
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        if (sscanf(entry.text, "at %u", &number) != 1)
            continue;
        assert_int_equal(number, found++);
        assert_true(entry.monotonic_ns >= last);
        last = entry.monotonic_ns;
        uint64_t off = last < clocks->before[number] ? clocks->before[number] - last : last > clocks->after[number] ? last - clocks->after[number] : 0;
        worst = off > worst ? off : worst;
    }
    assert_int_equal(found, ROUNDS);
    lg_reader_close(reader);
    return worst;
}

static void test_clock(void **state)
{
    (void)state;
    for (enum fate fate = STAYS; fate <= UNSTEADY; fate++) {
        state_make();
        expect_exit(body_clock, &fate, 0);
        uint64_t worst = check_times();
        print_message("             %u: off by %llu ns at most, by the %s\n", (unsigned)fate, (unsigned long long)worst, clocks->counter ? "counter" : "clock of the kernel");
        /* Some microseconds on a quiet machine. Where something interrupted the reading of the two
         * clocks, a part of that interruption. */
        assert_true(worst < 1000000);
    }
}

static void body_without_sys(void *argument)
{
    (void)argument;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("tmpfs", "/sys", "tmpfs", 0, NULL) != 0)
        _exit(95);
    lg_session *session = start_with_ring(LARGE);
    if (wait_for_clock(session))
        _exit(93);
    log_between_looks(session, 0, ROUNDS);
}

static void test_clock_without_sys(void **state)
{
    (void)state;
    struct death death = run_child(body_without_sys, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 95)
        skip_because("no mount namespace of one's own");
    assert_int_equal(death.status, 0);
    assert_int_equal(check_times(), 0);
}

/* Entries of one thread that moves from core to core, in the order of the file, before a reader
 * could sort them. */
static void body_migrates(void *argument)
{
    (void)argument;
    lg_session *session = start_with_ring(LARGE);
    const struct lg__ring *ring = &session->host.run.ring;
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    wait_for_clock(session);
    for (int round = 0; round < 2000; round++) {
        int core = round % CPU_SETSIZE;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        if (CPU_ISSET(core, &all))
            sched_setaffinity(0, sizeof one, &one);
        lg_log(session, LG_LEVEL_INFO, "%d", round % 10);
    }
    const struct lg__entry *entry = (const struct lg__entry *)(ring->writers[1].lane + 1), *end = entry + ring->cell_count;
    unsigned earlier = 0;
    for (; entry + 2 < end && entry[2].sequence > entry->sequence; entry += 2)
        earlier += (entry[2].kind == entry->kind) && entry[2].time < entry->time;
    exit(earlier ? 92 : 0);
}

static void test_migration(void **state)
{
    (void)state;
    expect_exit(body_migrates, NULL, 0);
}

#define HANDOVERS 16000 /* two cells each: a lane has room for all */
#define HANDOVERS_LEAST 128
#define HANDOVERS_NS UINT64_C(3000000000)

/* Numbers are given and logged under one lock: each entry happened after the one before. */
static void *write_under_lock(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&clocks->lock);
        uint64_t number = clocks->number < HANDOVERS ? clocks->number++ : UINT64_MAX;
        if (number != UINT64_MAX)
            lg_log(shared, LG_LEVEL_INFO, "turn %u", (unsigned)number);
        pthread_mutex_unlock(&clocks->lock);
        if (number == UINT64_MAX)
            return NULL;
        if (number % 64 == (uintptr_t)argument)
            sched_yield();
    }
}

/* Two threads hand over by a plain store, as fast as possible: nothing between the two entries
 * makes the second CPU wait. Where both threads share one CPU a handover may take as long as a time
 * slice: after some seconds the handovers made so far are enough. */
static void *write_in_turn(void *argument)
{
    const uint64_t parity = (uintptr_t)argument;
    for (uint64_t number = parity;; number += 2) {
        char text[32] = "turn ";
        for (unsigned digit = 0, rest = (unsigned)number; digit < 6; digit++, rest /= 10)
            text[10 - digit] = (char)('0' + rest % 10);
        for (unsigned spins = 0; __atomic_load_n(&clocks->number, __ATOMIC_ACQUIRE) != number && number < atomic_load(&clocks->handovers); spins++)
            if (spins > 2000)
                sched_yield();
        if (number >= atomic_load(&clocks->handovers))
            return NULL;
        if (number >= HANDOVERS_LEAST && number % 64 == 0 && now_ns() > clocks->until)
            atomic_store(&clocks->handovers, number + 1);
        lg_log_write(shared, LG_LEVEL_INFO, text, 11);
        __atomic_store_n(&clocks->number, number + 1, __ATOMIC_RELEASE);
    }
}

static void body_turns(void *argument)
{
    pthread_t threads[3];
    const unsigned count = argument ? 2 : 3;
    shared = start_with_ring(LARGE);
    wait_for_clock(shared);
    for (uintptr_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, argument ? write_in_turn : write_under_lock, (void *)i);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void check_turns(void *argument)
{
    state_make();
    clocks->number = 0;
    clocks->until = now_ns() + HANDOVERS_NS;
    atomic_store(&clocks->handovers, HANDOVERS);
    expect_exit(body_turns, argument, 0);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    static uint64_t times[HANDOVERS];
    unsigned number, found = 0, reversed = 0;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; i < info.entries; i++) {
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        if (sscanf(entry.text, "turn %u", &number) == 1) {
            times[number] = entry.monotonic_ns;
            found++;
        }
    }
    assert_int_equal(found, atomic_load(&clocks->handovers));
    for (unsigned i = 1; i < found; i++)
        reversed += times[i] < times[i - 1];
    assert_int_equal(reversed, 0);
    lg_reader_close(reader);
}

static void test_order_across_threads(void **state)
{
    (void)state;
    check_turns(NULL);
    for (int round = 0; round < 5; round++)
        check_turns((void *)1);
}

static void *log_one(void *argument)
{
    lg_log(shared, LG_LEVEL_INFO, "one %u", (unsigned)(uintptr_t)argument);
    return NULL;
}

/* The first thread logs before the second and after it, both into the only lane. */
static void body_shares_lane(void *argument)
{
    (void)argument;
    pthread_t thread;
    shared = start_with_ring(4096);
    for (uintptr_t i = 0; i < 20; i += 2) {
        log_one((void *)i);
        pthread_create(&thread, NULL, log_one, (void *)(i + 1));
        pthread_join(thread, NULL);
    }
}

static void test_order_in_one_lane(void **state)
{
    (void)state;
    expect_exit(body_shares_lane, NULL, 0);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    unsigned number, found = 0;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; i < info.entries; i++) {
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        if (sscanf(entry.text, "one %u", &number) == 1)
            assert_int_equal(number, found++);
    }
    assert_int_equal(found, 20);
    lg_reader_close(reader);
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
    expect_exit(body_truncated, NULL, 0); /* the program lives on */
    state_make();
    /* and dies as it would without LaunchGuard */
    expect_signal(body_truncated, (void *)1, SIGABRT);
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
    expect_exit(body_deleted, NULL, 0);
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
    uint64_t power = 1;
    for (int digits = 0; digits < 20; digits++, power *= 10) {
        SAME("%lu|%lu|%lu", power - 1, power, power + 1);
        SAME("%ld|%zd|%lld", -(long)power, (ssize_t)power, (long long)power);
    }
    char text[16];
    assert_int_equal(format_here(text, sizeof text, "%s", "longer than the room for it"), 27);
    assert_string_equal(text, "longer than the");
    assert_int_equal(format_here(text, sizeof text, "%s", (char *)NULL), 6);
    assert_string_equal(text, "(null)");
    format_here(text, sizeof text, "%y %", 1);
    assert_string_equal(text, "%y %");
}

/* Numbers whose digits have no room, or just so. */
static void test_format_ends(void **state)
{
    (void)state;
    for (size_t size = 1; size < 80; size++) {
        char *mine = malloc(size), theirs[128]; /* a sanitizer sees a byte after it */
        size_t whole = format_here(mine, size, "%d of %lu, %lx: %d", -1234567, UINT64_MAX, UINT64_MAX, INT_MIN);
        snprintf(theirs, sizeof theirs, "%d of %lu, %lx: %d", -1234567, UINT64_MAX, UINT64_MAX, INT_MIN);
        assert_int_equal(whole, strlen(theirs));
        theirs[size - 1] = 0;
        assert_string_equal(mine, theirs);
        free(mine);
    }
}

#pragma GCC diagnostic pop

static uint64_t random_state, format_seed;

static uint64_t draw(void)
{
    random_state ^= random_state << 13; /* xorshift, G. Marsaglia 2003 */
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define BOTH(...) (whole = format_here(mine, sizeof mine, format, __VA_ARGS__), expected = snprintf(theirs, sizeof theirs, format, __VA_ARGS__))

/* One conversion with any flags, width, precision and length, between two letters. */
static void format_at_random(void)
{
    static const char *const lengths[] = { "hh", "h", "", "l", "ll", "z", "j", "t" };
    static const char conversions[] = "diuxXocspfFeEgG%";
    char mine[700], theirs[700], format[64] = "<%", number[16];
    const char conversion = conversions[draw() % (sizeof conversions - 1)];
    const bool integer = strchr("diuxXo", conversion), real = strchr("fFeEgG", conversion);
    /* C does not define the other flags for the other conversions. */
    const char *flags = integer && strchr("di", conversion) ? "-0+ " : integer && conversion == 'u' ? "-0" : integer ? "-0#" : real ? "-0+ #" : conversion == '%' ? "" : "-";
    size_t whole = 0;
    int expected = 0, width = 0, precision = -1;
    for (size_t i = 0; flags[i]; i++)
        if (draw() % 4 == 0)
            strncat(format, &flags[i], 1);
    bool stars = draw() % 4 == 0 && conversion != '%';
    if (conversion != '%' && draw() % 2) {
        width = (int)(draw() % 50) - (stars ? 20 : 0);
        snprintf(number, sizeof number, "%d", width);
        strcat(format, stars ? "*" : width ? number : "");
        stars = stars && width != 0;
        if (!stars && strchr(format, '*'))
            *strchr(format, '*') = 0;
    } else {
        stars = false;
    }
    if (strchr("diuxXosfFeEgG", conversion) && draw() % 2) {
        precision = (int)(draw() % (real ? 11 : 40));
        snprintf(number, sizeof number, ".%d", precision);
        strcat(format, draw() % 8 ? number : precision == 0 ? "." : number);
    }
    const char *length = integer ? lengths[draw() % 8] : "";
    size_t end = strlen(strcat(format, length));
    snprintf(format + end, sizeof format - end, "%c>", conversion);
    const uint64_t value = draw() % 5 ? draw() >> draw() % 64 : draw() % 2 ? 0 : UINT64_MAX;
    if (conversion == '%') {
        BOTH(0);
    } else if (integer) {
        const bool wide = strchr("lzjt", length[0] ? length[0] : '-');
        if (stars && wide)
            BOTH(width, value);
        else if (stars)
            BOTH(width, (unsigned)value);
        else if (wide)
            BOTH(value);
        else
            BOTH((unsigned)value);
    } else if (real) {
        double fraction = (double)(int64_t)draw() / 9.3e18;
        for (int n = (int)(draw() % 20) - 8; n != 0; n += n < 0 ? 1 : -1)
            fraction = n < 0 ? fraction / 10 : fraction * 10;
        stars ? BOTH(width, fraction) : BOTH(fraction);
    } else if (conversion == 'c') {
        int letter = 'a' + (int)(draw() % 26);
        stars ? BOTH(width, letter) : BOTH(letter);
    } else if (conversion == 'p') {
        void *pointer = (void *)(uintptr_t)(value | 1);
        stars ? BOTH(width, pointer) : BOTH(pointer);
    } else {
        static const char text[] = "the quick brown fox jumps over the lazy dog";
        const char *from = text + draw() % sizeof text;
        stars ? BOTH(width, from) : BOTH(from);
    }
    if (whole == (size_t)expected && strcmp(mine, theirs) == 0)
        return;
    /* Right to about 15 digits: the last digit may differ. */
    if (real && whole == (size_t)expected) {
        double a = strtod(strpbrk(mine, "0123456789"), NULL), b = strtod(strpbrk(theirs, "0123456789"), NULL), last = 1.01;
        for (int i = precision < 0 ? 6 : precision; i > 0; i--)
            last /= 10;
        if (fabs(a - b) <= last + last * fabs(b) && strspn(mine, "<+- 0") == strspn(theirs, "<+- 0"))
            return;
    }
    fail_msg("\"%s\" of %llu, width %d: \"%s\" instead of \"%s\"\n%s", format, (unsigned long long)value, width, mine, theirs, repeat_command(format_seed));
}

static void test_format_at_random(void **state)
{
    (void)state;
    for (uint64_t i = 0; seed_of_round(i, 200000, &format_seed); i++) {
        random_state = mix_seed(format_seed);
        format_at_random();
    }
}

/* Conversions that lg_log() does not know, and values that are too large: the result is as
 * documented, and stays within its room. */
static void test_format_refused(void **state)
{
    (void)state;
    char text[64];
    int untouched = 7;
    assert_int_equal(format_here(text, sizeof text, "%d %n %s", 1, &untouched, (char *)8), 7);
    assert_string_equal(text, "1 %n %s");
    assert_int_equal(untouched, 7);
    format_here(text, sizeof text, "%2$s %1$s", (char *)8, (char *)8);
    assert_string_equal(text, "%2$s %1$s");
    format_here(text, sizeof text, "%a|%m|%ls", 1.0);
    assert_string_equal(text, "%a|%m|%ls");
    format_here(text, sizeof text, "%l");
    assert_string_equal(text, "%l");
    assert_int_equal(format_here(text, sizeof text, "%999999999999999999999d", 1), 10000);
    assert_int_equal(format_here(text, sizeof text, "%.999999999999999999999d", 1), 10000);
    assert_int_equal(format_here(text, sizeof text, "%*d%-*d", INT_MAX, 1, INT_MIN, 2), 20000);
    assert_int_equal(format_here(text, sizeof text, "%.*s|%.*s", -1, "all", 0, "none"), 4);
    for (int i = 0; i < 62; i++)
        assert_int_equal(text[0], 'a');
    /* Any bytes as a format, without arguments: no memory is touched that is not there. */
    random_state = 1;
    for (int i = 0; i < 20000; i++) {
        char format[24];
        for (size_t at = 0; at + 1 < sizeof format; at++)
            format[at] = (char)(draw() % 3 ? "%-+ #0123.*$hlzjtLd ynm"[draw() % 23] : (char)draw());
        format[sizeof format - 1] = 0;
        for (char *star; (star = strpbrk(format, "*d"));)
            *star = 'q';
        if (!strpbrk(format, "diuxXocspfFeEgG"))
            assert_true(format_here(text, sizeof text, format) < 200000);
    }
}

#pragma GCC diagnostic pop

/* ---- bytes of any kind ---- */

static const char nasty[] = "\x1b[2J\x1b]0;title\x07 \x00 \r\n\t\x7f \xff\xfe \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 %s%n \xe2\x80\xae";

static void body_nasty(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    static char page[4096];
    memset(page, 'p', sizeof page);
    lg_log_write(session, LG_LEVEL_INFO, nasty, sizeof nasty);
    lg_log_write(session, LG_LEVEL_INFO, page, sizeof page);
    for (size_t size = 0; size < 40; size++) /* every way to split a text into words */
        lg_log_write(session, LG_LEVEL_INFO, nasty + size % 3, size);
}

static void test_nasty(void **state)
{
    (void)state;
    expect_exit(body_nasty, NULL, 0);
    lg_reader *reader = newest_run();
    lg_log_info info;
    static lg_log_entry entry;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    assert_int_equal(info.entries, 42);
    assert_int_equal(info.torn, 0);
    assert_int_equal(lg_reader_log_entry(reader, 0, &entry), LG_OK);
    assert_int_equal(entry.size, sizeof nasty);
    assert_memory_equal(entry.text, nasty, sizeof nasty);
    assert_int_equal(lg_reader_log_entry(reader, 1, &entry), LG_OK);
    assert_int_equal(entry.size, LG_LOG_TEXT_MAX);
    assert_int_equal(entry.cut, 1);
    for (size_t size = 0; size < 40; size++) {
        assert_int_equal(lg_reader_log_entry(reader, 2 + size, &entry), LG_OK);
        assert_int_equal(entry.size, size);
        assert_memory_equal(entry.text, nasty + size % 3, size);
    }
    lg_reader_close(reader);
}

static void body_ring_sizes(void *argument)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.state_directory = state_path("");
    options.ring_bytes = *(const uint32_t *)argument;
    lg_status status = lg_start(&options, &session);
    bool right = options.ring_bytes == 0 || (options.ring_bytes >= 4096 && options.ring_bytes <= 16777216);
    /* Whether the file is refused or not, calls on the handle are safe. */
    for (int i = 0; i < 5000; i++) {
        lg_status logged = lg_log(session, LG_LEVEL_INFO, "entry %d", i);
        if (logged != (right ? LG_OK : LG_ERR_UNPROTECTED))
            _exit(92);
    }
    exit(status == (right ? LG_OK : LG_ERR_OPTION) ? 0 : 93);
}

static void test_ring_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0, 1, 31, 32, 4095, 4096, 4097, 5000, 65537, 100000, 16777215, 16777216, 16777217, INT32_MAX, UINT32_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t size = sizes[i];
        state_make();
        expect_exit(body_ring_sizes, &size, 0);
        if (count_runs()) {
            lg_reader *reader = newest_run();
            assert_true(log_has(reader, "entry 4999"));
            lg_reader_close(reader);
        }
    }
}

/* ---- a file that changes under the reader ---- */

static void body_changing(void *argument)
{
    lg_session *session = start_with_ring(LARGE);
    *(_Atomic int *)argument = 1;
    for (unsigned i = 0;; i++)
        lg_log(session, LG_LEVEL_INFO, "entry %u %.*s", i, (int)(i % 50), "..................................................");
}

static void test_changing_file(void **state)
{
    (void)state;
    _Atomic int *started = shared_memory(4096);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        plain_signals();
        alarm(LIMIT_MS / 1000);
        body_changing((void *)(uintptr_t)started);
        _exit(1);
    }
    wait_until(*started);
    char path[4096];
    snprintf(path, sizeof path, "%s", newest_run_path());
    int file = open(path, O_WRONLY);
    off_t end = lseek(file, 0, SEEK_END);
    random_state = 1;
    uint64_t shown = 0;
    for (int round = 0; round < 60; round++) {
        lg_reader *reader = NULL;
        lg_log_info info;
        static lg_log_entry entry;
        assert_int_equal(lg_reader_open(path, &reader), LG_OK);
        lg_status status = lg_reader_log(reader, &info);
        assert_true(status == LG_OK || round > 0);
        for (uint64_t i = 0; status == LG_OK && i < info.entries && i < 2000; i++) {
            unsigned number;
            if (lg_reader_log_entry(reader, draw() % info.entries, &entry) != LG_OK || strncmp(entry.text, "launchguard", 11) == 0)
                continue;
            assert_int_equal(sscanf(entry.text, "entry %u", &number), 1);
            shown++;
        }
        lg_reader_close(reader);
        /* anywhere after the header: state, clock, heads, entries */
        for (int i = 0; i < 20 && round > 10; i++) {
            uint64_t bytes = draw();
            off_t at = 4096 + (off_t)(draw() % 3 ? draw() % 256 : draw() % (uint64_t)(end - 4104));
            assert_int_equal(pwrite(file, &bytes, 1 + draw() % 8, at) > 0, 1);
        }
    }
    assert_true(shown > 1000);
    close(file);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    /* the writer was not affected */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    munmap((void *)(uintptr_t)started, 4096);
}

static void test_crc(void **state)
{
    (void)state;
    /* Check value of CRC-32C, RFC 3720 appendix B.4: 32 bytes of zeros; and the customary
     * "123456789". */
    static const uint8_t zeros[32];
    for (int round = 0; round < 2; round++) {
        assert_int_equal(lg__crc32c(0, zeros, sizeof zeros), 0x8a9136aa);
        assert_int_equal(lg__crc32c(0, "123456789", 9), 0xe3069283);
        assert_int_equal(lg__crc32c(lg__crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
        lg__crc32c_init(); /* first by table, then by the CPU */
    }
}

/* with the runtime of a sanitizer, whose own handlers the other tests do not expect */
#ifdef WRITERS_ONLY
static const bool writers_only = true;
#else
static const bool writers_only = false;
#endif

int main(void)
{
    const struct CMUnitTest writers[] = {
        WITH_STATE(test_many_writers), WITH_STATE(test_one_lane), WITH_STATE(test_generations), WITH_STATE(test_order_across_threads),
        WITH_STATE(test_order_in_one_lane),
    };
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_survives_kill), WITH_STATE(test_shapes),       WITH_STATE(test_sizes), WITH_STATE(test_truncated_file),
        WITH_STATE(test_deleted_file),  WITH_STATE(test_format), WITH_STATE(test_format_ends), WITH_STATE(test_crc),
        WITH_STATE(test_format_at_random), WITH_STATE(test_format_refused), WITH_STATE(test_nasty), WITH_STATE(test_ring_sizes),
        WITH_STATE(test_changing_file), WITH_STATE(test_clock), WITH_STATE(test_clock_without_sys), WITH_STATE(test_migration),
    };
    clocks = shared_memory(sizeof *clocks);
    pthread_mutex_init(&clocks->lock, NULL);
    int failed = cmocka_run_group_tests_name("log, writers", writers, NULL, NULL);
    return failed || writers_only ? failed : cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
