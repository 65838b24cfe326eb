/* The outbox: what many threads put in comes out in order, once, one call at a time, or is counted.
 * Without a process that dies, so that a sanitizer can look for races. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "os/fault_point.h"
#include "store/outbox.h"

enum { THREADS = 4, EACH = 3000 };

static const _Atomic uint32_t always = 1;
static struct lg__outbox outbox;
/* Used by on_log alone, on one thread after the other: */
static unsigned numbers[THREADS], got, lost;
static bool called;

static const char *wrong; /* the first thing: the framework wants no assertion on another thread */
#define EXPECT(condition) ((condition) || wrong ? (void)0 : (void)(wrong = #condition))

static void on_log(lg_level level, const char *category, const char *text, void *user)
{
    unsigned thread, number = 0;
    EXPECT(!called);
    called = true;
    EXPECT(strcmp(category, "launchguard") == 0 && user == &outbox);
    if (sscanf(text, "thread %u number %u", &thread, &number) == 2) {
        EXPECT((unsigned)level == number % 100);
        EXPECT(number > numbers[thread]);
        numbers[thread] = number;
        got++;
    } else {
        EXPECT(sscanf(text, "on_log did not keep up: %u breadcrumbs are in the ring log alone", &number) == 1);
        lost += number;
    }
    called = false;
}

static void put(unsigned thread, unsigned number)
{
    char text[64];
    int size = snprintf(text, sizeof text, "thread %u number %u", thread, number);
    lg__outbox_put(&outbox, number % 100, text, (size_t)size);
}

static int nothing_wrong(void **state)
{
    (void)state;
    assert_string_equal(wrong ? wrong : "", "");
    return 0;
}

static int make(void **state)
{
    (void)state;
    memset(&outbox, 0, sizeof outbox);
    memset(numbers, 0, sizeof numbers);
    got = lost = 0;
    wrong = NULL;
    outbox.on_log = on_log;
    outbox.user = &outbox;
    lg__outbox_open(&outbox, &always);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make, nothing_wrong)

/* ---- what does not fit ---- */

static void test_full(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= LG__OUTBOX_SLOTS + 8; i++)
        put(0, i);
    lg__outbox_hand_over(&outbox);
    assert_int_equal(numbers[0], LG__OUTBOX_SLOTS);
    assert_int_equal(got, LG__OUTBOX_SLOTS);
    assert_int_equal(lost, 8);
    put(0, 99); /* there is room again */
    lg__outbox_hand_over(&outbox);
    assert_int_equal(numbers[0], 99);
    assert_false(lg__outbox_waits(&outbox));
}

/* ---- texts ---- */

static char last[LG_ON_LOG_MAX + 2];

static void on_text(lg_level level, const char *category, const char *text, void *user)
{
    (void)level, (void)category, (void)user;
    snprintf(last, sizeof last, "%s", text);
}

static void expect_text(const char *text, size_t size, const char *expected)
{
    lg__outbox_put(&outbox, LG_LEVEL_INFO, text, size);
    lg__outbox_hand_over(&outbox);
    assert_string_equal(last, expected);
}

static void test_texts(void **state)
{
    char text[LG_ON_LOG_MAX + 8], expected[sizeof text];
    (void)state;
    outbox.on_log = on_text;
    expect_text("launchguard: words\twith\x1b[31m colours\n\n", strlen("launchguard: words.with.[31m colours.."), "words with [31m colours");
    expect_text("launchguard: ", 13, "launchguard:");
    expect_text("", 0, "");
    expect_text("caf\xc3\xa9", 5, "caf\xc3\xa9");
    /* a character that does not fit whole */
    memset(text, 'x', sizeof text);
    memcpy(text + LG_ON_LOG_MAX - 2, "\xe2\x82\xac", 3);
    memset(expected, 'x', sizeof expected);
    expected[LG_ON_LOG_MAX - 2] = 0;
    expect_text(text, sizeof text, expected);
    memset(text, 'x', sizeof text);
    expected[LG_ON_LOG_MAX - 2] = 'x';
    expected[LG_ON_LOG_MAX] = 0;
    expect_text(text, sizeof text, expected);
}

/* ---- threads ---- */

static void *puts_many(void *argument)
{
    for (unsigned i = 1; i <= EACH; i++) {
        put((unsigned)(uintptr_t)argument, i);
        if (i % 3)
            lg__outbox_hand_over(&outbox);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, puts_many, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    lg__outbox_hand_over(&outbox);
    assert_int_equal(got + lost, THREADS * EACH);
    assert_true(got >= THREADS);
}

/* Another thread puts something in after the last look, and leaves it to the one at work. */
static void put_late(const char *point)
{
    if (strcmp(point, "outbox: empty") != 0)
        return;
    lg__fault_hook = NULL;
    put(0, 2);
    lg__outbox_hand_over(&outbox);
    assert_int_equal(numbers[0], 1);
}

static void test_late(void **state)
{
    (void)state;
    lg__fault_hook = put_late;
    put(0, 1);
    lg__outbox_hand_over(&outbox);
    assert_int_equal(numbers[0], 2);
}

/* ---- closed ---- */

static void test_closed(void **state)
{
    (void)state;
    put(0, 1);
    lg__outbox_close(&outbox);
    put(0, 2);
    lg__outbox_hand_over(&outbox);
    assert_int_equal(got, 0);
    lg__outbox_open(&outbox, &always);
    lg__outbox_hand_over(&outbox);
    assert_int_equal(numbers[0], 1);
    lg__outbox_put(NULL, LG_LEVEL_INFO, "", 0);
    lg__outbox_hand_over(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_full), TEST(test_texts), TEST(test_threads), TEST(test_late), TEST(test_closed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
