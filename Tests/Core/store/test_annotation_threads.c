/* Annotations set by several threads at once: some threads stop in the middle, signal handlers come
 * in between, and a slow reader reads. Without deaths by signals, so that the test also runs under
 * a sanitizer that looks for races. */
#include "annotations.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"

static struct {
    _Atomic unsigned standing;
    _Atomic bool go_on;
} *shared;

/* ---- threads that stop for ever ---- */

static lg_session *session_of_all;
static __thread const char *stands_at __attribute__((tls_model("initial-exec")));

static void stand_still(const char *point)
{
    if (!stands_at || strcmp(point, stands_at) != 0)
        return;
    stands_at = NULL;
    atomic_fetch_add(&shared->standing, 1);
    wait_until(atomic_load(&shared->go_on));
}

static void *set_and_stand(void *argument)
{
    char key[16];
    unsigned i = (unsigned)(uintptr_t)argument;
    stands_at = i % 3 == 0 ? "annotation: taken" : i % 3 == 1 ? "annotation: before the text" : "annotation: filled";
    snprintf(key, sizeof key, "key %u", i);
    lg_annotate(session_of_all, key, "late");
    return NULL;
}

/* With 64 keys set and 63 threads in the middle of a call, one value slot is left, and changes go
 * on with that slot. With one more thread there is none. */
static void body_standing(void *argument)
{
    (void)argument;
    lg__fault_hook = stand_still;
    session_of_all = start_session();
    char key[16];
    pthread_t threads[64];
    for (unsigned i = 0; i < 64; i++) {
        snprintf(key, sizeof key, "key %u", i);
        if (lg_annotate(session_of_all, key, "early") != LG_OK)
            _exit(91);
    }
    for (uintptr_t i = 0; i < 64; i++) {
        if (pthread_create(&threads[i], NULL, set_and_stand, (void *)i) != 0)
            _exit(98);
        wait_until(atomic_load(&shared->standing) > i);
        lg_status expected = i < 63 ? LG_OK : LG_ERR_LIMIT;
        for (unsigned k = 0; k < 200; k++)
            if (lg_annotate(session_of_all, "key 1", "on time") != expected)
                _exit(90);
    }
    if (lg_redact(session_of_all, "key 2") != LG_OK) /* a redaction needs no value slot */
        _exit(89);
    /* With one key less its value slot is free for others. */
    if (lg_annotate(session_of_all, "key 0", NULL) != LG_OK || lg_annotate(session_of_all, "key 1", "at last") != LG_OK)
        _exit(88);
    if (argument)
        raise(SIGKILL);
    atomic_store(&shared->go_on, true);
    for (unsigned i = 0; i < 64; i++)
        pthread_join(threads[i], NULL);
}

static void test_standing(void **state)
{
    (void)state;
    lg_annotation one;
    for (uintptr_t for_ever = 0; for_ever < 2; for_ever++) {
        state_make();
        memset(shared, 0, sizeof *shared);
        if (for_ever)
            expect_signal(body_standing, (void *)for_ever, SIGKILL);
        else
            expect_exit(body_standing, (void *)for_ever, 0);
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        assert_int_equal(annotation_count(reader), for_ever ? 63 : 64);
        for (unsigned i = 0; i < 64; i++) {
            char key[16];
            snprintf(key, sizeof key, "key %u", i);
            bool there = annotation_of(reader, key, &one);
            assert_int_equal(there, i || !for_ever);
            if (there)
                assert_string_equal(one.value, !for_ever ? "late" : i == 1 ? "at last" : "early");
            assert_int_equal(lg_reader_redacted(reader, key), i == 2 ? LG_OK : LG_ERR_NOT_FOUND);
        }
        lg_reader_close(reader);
    }
}

/* One thread announces its change and stops. The next thread carries that change out, and its own
 * change comes after it. A thread that comes too late does nothing. */
static void *announce_and_stand(void *argument)
{
    stands_at = argument;
    lg_annotate(session_of_all, "screen", "announced");
    return NULL;
}

static void body_announced(void *argument)
{
    lg__fault_hook = stand_still;
    session_of_all = start_session();
    pthread_t thread;
    lg_annotate(session_of_all, "screen", "before");
    if (pthread_create(&thread, NULL, announce_and_stand, argument) != 0)
        _exit(98);
    wait_until(atomic_load(&shared->standing));
    if (lg_annotate(session_of_all, "document", "after it") != LG_OK)
        _exit(91);
    pid_t child = fork(); /* the state that a reader sees now */
    if (child == 0) {
        lg_annotation one;
        lg_reader *reader = newest_run();
        _exit(annotation_of(reader, "screen", &one) && strcmp(one.value, "announced") == 0 && annotation_of(reader, "document", &one) ? 0 : 1);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(90);
    /* Its slot goes to another key, and its value to others. */
    lg_annotate(session_of_all, "screen", NULL);
    lg_annotate(session_of_all, "other", "in its place");
    for (unsigned i = 0; i < 1000; i++)
        lg_annotate(session_of_all, "document", "again and again");
    atomic_store(&shared->go_on, true);
    pthread_join(thread, NULL);
}

static void test_announced(void **state)
{
    (void)state;
    static const char *const points[] = { "annotation: announced", "annotation: stored", "annotation: carried out" };
    lg_annotation one;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        state_make();
        memset(shared, 0, sizeof *shared);
        expect_exit(body_announced, (void *)(uintptr_t)points[i], 0);
        lg_reader *reader = newest_run();
        assert_int_equal(annotation_count(reader), 2);
        assert_true(annotation_of(reader, "other", &one));
        assert_string_equal(one.value, "in its place");
        assert_true(annotation_of(reader, "document", &one));
        assert_string_equal(one.value, "again and again");
        lg_reader_close(reader);
    }
}

/* ---- others in between, as a handler of a signal may be ---- */

/* A hook of the thread that arms it: LaunchGuard's own threads pass points as well. */
static __thread void (*in_between)(void) __attribute__((tls_model("initial-exec")));
static __thread const char *between __attribute__((tls_model("initial-exec")));
static __thread unsigned skips __attribute__((tls_model("initial-exec")));

static void step_in(const char *point)
{
    if (!in_between || strcmp(point, between) != 0 || skips-- > 0)
        return;
    void (*now)(void) = in_between;
    in_between = NULL;
    now();
}

static void arm(const char *point, unsigned later, void (*change)(void))
{
    between = point;
    skips = later;
    in_between = change;
}

static void take_the_last(void)
{
    lg_annotate(session_of_all, "taker", "takes the last place");
}

static void exchange_places(void)
{
    take_the_last();
    lg_annotate(session_of_all, "key 5", NULL);
}

static void redact_it(void)
{
    lg_redact(session_of_all, "key 7");
}

static void set_twice(void)
{
    lg_annotate(session_of_all, "key 9", "once");
    lg_annotate(session_of_all, "key 9", "in between");
}

static void body_between(void *argument)
{
    (void)argument;
    lg__fault_hook = step_in;
    session_of_all = start_session();
    char key[16];
    for (unsigned i = 0; i < 63; i++) {
        snprintf(key, sizeof key, "key %u", i);
        lg_annotate(session_of_all, key, "early");
    }
    /* A value slot that was filled in vain is free again, however often that happens. */
    for (unsigned i = 0; i < 500; i++) {
        arm("annotation: filled", 0, take_the_last);
        if (lg_annotate(session_of_all, "new", "too late") != LG_ERR_LIMIT || lg_annotate(session_of_all, "taker", NULL) != LG_OK)
            _exit(91);
    }
    /* A free place exists all the time, though never where the search looks. */
    arm("annotations: a slot", 32, exchange_places);
    if (lg_annotate(session_of_all, "new", "in the place of key 5") != LG_OK)
        _exit(90);
    /* The key is removed, but redacted meanwhile: the key stays. */
    arm("annotation: filled", 0, redact_it);
    if (lg_annotate(session_of_all, "key 7", NULL) != LG_OK)
        _exit(89);
    arm("annotation: filled", 0, set_twice);
    if (lg_annotate(session_of_all, "key 9", "last") != LG_OK)
        _exit(88);
    arm("annotation: announced", 0, set_twice);
    if (lg_annotate(session_of_all, "key 9", "after it") != LG_OK)
        _exit(87);
    raise(SIGKILL);
}

static void test_between(void **state)
{
    (void)state;
    lg_annotation one;
    expect_signal(body_between, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(annotation_count(reader), 64);
    assert_true(annotation_of(reader, "new", &one));
    assert_string_equal(one.value, "in the place of key 5");
    assert_true(annotation_of(reader, "taker", &one));
    assert_false(annotation_of(reader, "key 5", &one));
    assert_true(annotation_of(reader, "key 7", &one));
    assert_int_equal(one.has_value, 0);
    assert_int_equal(one.redacted, 1);
    assert_true(annotation_of(reader, "key 9", &one));
    /* this change was announced first, so the other one is the last */
    assert_string_equal(one.value, "in between");
    lg_reader_close(reader);
}

static lg_reader *reader_of_all;

static void use_all_values(void)
{
    for (unsigned i = 0; i < 300; i++)
        lg_annotate(session_of_all, i % 2 ? "screen" : "document", "again and again");
}

static void redact_another(void)
{
    lg_annotate(session_of_all, "screen", NULL);
    lg_annotate(session_of_all, "token", "secret");
    lg_redact(session_of_all, "token");
}

static void redact_this(void)
{
    lg_redact(session_of_all, "screen");
    lg_annotate(session_of_all, "screen", "secret");
}

/* A slow reader: between any two of its reads the program makes any changes. */
static void body_slow_reader(void *argument)
{
    lg_annotation one;
    lg__fault_hook = step_in;
    session_of_all = start_session();
    lg_annotate(session_of_all, "screen", "first"); /* in the first place */
    lg_annotate(session_of_all, "document", "letter");
    if (lg_reader_open(lg_session_run_path(session_of_all), &reader_of_all) != LG_OK)
        _exit(98);
    arm("annotations: slot read", 0, use_all_values);
    if (lg_reader_annotation(reader_of_all, 0, &one) != LG_OK || strcmp(one.key, "screen") != 0 || strcmp(one.value, "again and again") != 0)
        _exit(91);
    arm("annotations: value read", 0, use_all_values); /* the key existed, whatever came after */
    if (lg_reader_annotation(reader_of_all, 0, &one) != LG_OK || strcmp(one.key, "screen") != 0)
        _exit(90);
    if (argument) {
        arm("annotations: value read", 0, redact_another);
        if (lg_reader_annotation(reader_of_all, 0, &one) != LG_OK || strcmp(one.key, "token") != 0 || strcmp(one.value, "secret") != 0 || !one.redacted)
            _exit(89);
    } else {
        arm("annotations: value read", 0, redact_this);
        if (lg_reader_annotation(reader_of_all, 0, &one) != LG_OK || strcmp(one.key, "screen") != 0 || !one.redacted)
            _exit(88);
    }
    lg_reader_close(reader_of_all);
}

static void test_slow_reader(void **state)
{
    (void)state;
    expect_exit(body_slow_reader, NULL, 0);
    expect_exit(body_slow_reader, (void *)1, 0);
}

/* ---- many threads, without deaths: also with a sanitizer that looks for races ---- */

#define THREADS 4
#define ROUNDS 3000

static void *change_all(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    char key[16], value[64];
    for (unsigned i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "key %u", (i * (number + 1)) % 9);
        snprintf(value, sizeof value, "%s is %u of %u, %.*s", key, i, number, (int)(i % 20), "....................");
        lg_status status = i % 11 == 5 ? lg_annotate(session_of_all, key, NULL) : i % 500 == 499 ? lg_redact(session_of_all, "key 3")
                                                                                : lg_annotate(session_of_all, key, value);
        if (status != LG_OK)
            _exit(91);
    }
    return NULL;
}

static void *read_all(void *argument)
{
    bool seen_redacted = false;
    while (!atomic_load(&shared->go_on)) {
        lg_reader *reader;
        lg_annotation one;
        lg_status status;
        if (lg_reader_open(argument, &reader) != LG_OK)
            _exit(90);
        for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
            status = lg_reader_annotation(reader, i, &one);
            if (status == LG_ERR_NOT_FOUND)
                continue;
            if (status != LG_OK)
                _exit(87);
            char begin[80];
            snprintf(begin, sizeof begin, "%s is ", one.key);
            if (one.has_value && strncmp(one.value, begin, strlen(begin)) != 0)
                _exit(89);
            if (one.redacted && strcmp(one.key, "key 3") != 0)
                _exit(88);
        }
        status = lg_reader_redacted(reader, "key 3");
        if (seen_redacted && status != LG_OK)
            _exit(86);
        seen_redacted = status == LG_OK;
        lg_reader_close(reader);
    }
    return NULL;
}

static void body_threads(void *argument)
{
    (void)argument;
    session_of_all = start_session();
    pthread_t threads[THREADS], reader;
    pthread_create(&reader, NULL, read_all, (void *)(uintptr_t)lg_session_run_path(session_of_all));
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, change_all, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&shared->go_on, true);
    pthread_join(reader, NULL);
}

static void test_threads(void **state)
{
    (void)state;
    memset(shared, 0, sizeof *shared);
    expect_exit(body_threads, NULL, 0);
    lg_reader *reader = newest_run();
    assert_within(annotation_count(reader), 1, 9);
    assert_int_equal(lg_reader_redacted(reader, "key 3"), LG_OK);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_threads), WITH_STATE(test_standing),    WITH_STATE(test_announced),
        WITH_STATE(test_between), WITH_STATE(test_slow_reader),
    };
    shared = shared_memory(sizeof *shared);
    return cmocka_run_group_tests_name("annotation_threads", tests, NULL, NULL);
}
