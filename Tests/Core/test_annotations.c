/* Annotations: what is stored of them, deaths at every store, limits, threads that stand still, all the states of a session. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <launchguard/simulate.h>

#include "os/fault_point.h"
#include "session.h"

/* What the reader shows of one key; false: it shows it not. */
static bool read_key(lg_reader *reader, const char *key, lg_annotation *ret_annotation)
{
    lg_annotation one;
    unsigned found = 0;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        lg_status status = lg_reader_annotation(reader, i, &one);
        assert_true(status == LG_OK || status == LG_ERR_NOT_FOUND);
        if (status == LG_OK && strcmp(one.key, key) == 0) {
            *ret_annotation = one;
            found++;
        }
    }
    assert_true(found <= 1);
    return found == 1;
}

static uint32_t count_keys(lg_reader *reader)
{
    lg_annotation one;
    uint32_t count = 0;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++)
        count += lg_reader_annotation(reader, i, &one) == LG_OK;
    assert_int_equal(lg_reader_annotation(reader, LG_ANNOTATIONS_MAX, &one), LG_ERR_NOT_FOUND);
    return count;
}

/* ---- what is stored ---- */

static char *large; /* 1 MiB of text */

static const struct stored {
    const char *key;
    int64_t size; /* of a text of that many bytes; −1: `text` */
    const char *text;
} stored[] = {
    { "empty", 0, NULL }, { "most", 495, NULL }, { "one more", 496, NULL }, { "a page", 4096, NULL }, { "large", (1 << 20) - 1, NULL },
    { "no UTF-8", -1, "\xff\xfe\xc3(\x80" }, { "control", -1, "\x1b[31mred\x1b[0m\r\n\t\x01" }, { "k", -1, "Grüße" },
    { "01234567 the first eight", -1, "one" }, { "01234567 the first 8", -1, "another" },
    { "012345678901234567890123456789012345678901234567890123456789 6X", -1, "the same but for the last" },
    { "012345678901234567890123456789012345678901234567890123456789 63", -1, "long key" }, { "\xff\x1b key", -1, "hostile key" },
};
#define STORED (sizeof stored / sizeof stored[0])

static const char *text_of(const struct stored *of)
{
    return of->text ? of->text : large + (1 << 20) - 1 - of->size;
}

static void body_stored(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    for (size_t i = 0; i < STORED; i++)
        if (lg_annotate(session, stored[i].key, "before") != LG_OK || lg_annotate(session, stored[i].key, text_of(&stored[i])) != LG_OK)
            _exit(91);
    raise(SIGKILL);
}

static void test_stored(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_stored, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    lg_run_info run;
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    for (size_t i = 0; i < STORED; i++) {
        lg_annotation one;
        const char *expected = text_of(&stored[i]);
        size_t size = strlen(expected), kept = size > LG_ANNOTATION_VALUE_MAX ? LG_ANNOTATION_VALUE_MAX : size;
        assert_true(read_key(reader, stored[i].key, &one));
        assert_int_equal(one.size, kept);
        assert_int_equal(one.cut, size > kept);
        assert_memory_equal(one.value, expected, kept);
        assert_int_equal(one.value[kept], 0);
        assert_int_equal(one.has_value, 1);
        assert_int_equal(one.redacted, 0);
        assert_true(one.monotonic_ns >= run.monotonic_ns);
        assert_int_equal(lg_reader_redacted(reader, stored[i].key), LG_ERR_NOT_FOUND);
    }
    assert_int_equal(count_keys(reader), STORED);
    lg_reader_close(reader);
    state_remove();
}

/* ---- arguments, and sessions that do nothing ---- */

static char key_of_64[65];

static void body_arguments(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    bool right = lg_annotate(NULL, "key", "value") == LG_ERR_ARGUMENT && lg_annotate(session, NULL, "value") == LG_ERR_ARGUMENT &&
                 lg_annotate(session, "", "value") == LG_ERR_ARGUMENT && lg_annotate(session, "", NULL) == LG_ERR_ARGUMENT &&
                 lg_annotate(session, key_of_64, "value") == LG_ERR_ARGUMENT && lg_redact(session, key_of_64) == LG_ERR_ARGUMENT &&
                 lg_redact(NULL, "key") == LG_ERR_ARGUMENT && lg_redact(session, NULL) == LG_ERR_ARGUMENT && lg_redact(session, "") == LG_ERR_ARGUMENT &&
                 lg_annotate(session, key_of_64 + 1, "value") == LG_OK && lg_annotate(session, "not there", NULL) == LG_OK;
    pid_t child = fork();
    if (child == 0)
        _exit(lg_annotate(session, "child", "value") == LG_ERR_FORKED && lg_redact(session, "child") == LG_ERR_FORKED ? 0 : 1);
    int status;
    right = right && waitpid(child, &status, 0) == child && status == 0;
    right = right && lg_annotate(session, "parent", "goes on") == LG_OK && lg_stop(session) == LG_OK;
    right = right && lg_annotate(session, "stopped", "value") == LG_ERR_CLOSED && lg_redact(session, "stopped") == LG_ERR_CLOSED;
    exit(right ? 0 : 92);
}

static void test_arguments(void **state)
{
    (void)state;
    lg_annotation one;
    state_make();
    memset(key_of_64, 'k', 64);
    expect_exit(body_arguments, NULL, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(count_keys(reader), 2);
    assert_true(read_key(reader, key_of_64 + 1, &one));
    assert_true(read_key(reader, "parent", &one));
    assert_string_equal(one.value, "goes on");
    assert_int_equal(lg_reader_annotation(NULL, 0, &one), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_annotation(reader, 0, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_redacted(NULL, "key"), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_redacted(reader, NULL), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_annotation(reader, 0, &one), LG_ERR_STATE);
    assert_int_equal(lg_reader_redacted(reader, "key"), LG_ERR_STATE);
    lg_reader_close(reader);
    state_remove();
}

static void body_no_files(void *argument)
{
    (void)argument;
    lg_session *session, *simulated;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.state_directory = "/dev/null/nowhere";
    bool right = lg_start(&options, &session) != LG_OK && lg_annotate(session, "key", "value") == LG_ERR_UNPROTECTED &&
                 lg_redact(session, "key") == LG_ERR_UNPROTECTED && lg_annotate(session, "", "value") == LG_ERR_ARGUMENT;
    right = right && lg_simulate_start(&simulated) == LG_OK && lg_annotate(simulated, "key", "value") == LG_OK && lg_redact(simulated, "key") == LG_OK;
    lg_simulate_close(simulated);
    exit(right && lg_annotate(simulated, "key", "value") == LG_ERR_CLOSED ? 0 : 92);
}

static void test_no_files(void **state)
{
    (void)state;
    expect_exit(body_no_files, NULL, 0);
}

/* ---- deaths at every store ---- */

struct change {
    const char *key, *value;
    bool redacts;
};

static const struct change script[] = {
    { "screen", "first", false },   { "document", "letter", false }, { "screen", "second", false }, { "token", NULL, true },
    { "token", "secret", false },   { "screen", NULL, true },        { "document", NULL, false },   { "other", "in its place", false },
    { "screen", "third", false },   { "screen", NULL, false },       { "screen", NULL, true },      { "nothing", NULL, false },
    { "screen", "fourth", false },  { "token", NULL, false },        { "document", "again", false }, { "other", "", false },
};
#define SCRIPT (sizeof script / sizeof script[0])
static const char *const keys[] = { "screen", "document", "token", "other", "nothing" };
#define KEYS (sizeof keys / sizeof keys[0])

static struct {
    unsigned passed, kill_at, begun; /* points; changes */
    _Atomic unsigned standing;
    _Atomic bool go_on;
} *shared;

/* What there is after so many changes; false: the key is not there. */
static bool after_changes(unsigned count, const char *key, const char **ret_value, bool *ret_redacted)
{
    *ret_value = NULL;
    *ret_redacted = false;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(script[i].key, key) != 0)
            continue;
        if (script[i].redacts)
            *ret_redacted = true;
        else
            *ret_value = script[i].value;
    }
    return *ret_value || *ret_redacted;
}

static bool is_after(lg_reader *reader, unsigned count)
{
    uint32_t expected = 0;
    bool same = true;
    for (unsigned i = 0; i < KEYS; i++) {
        lg_annotation one;
        const char *value;
        bool redacted, there = after_changes(count, keys[i], &value, &redacted);
        expected += there;
        same = same && read_key(reader, keys[i], &one) == there;
        if (same && there)
            same = one.redacted == redacted && one.has_value == (value != NULL) && strcmp(one.value, value ? value : "") == 0;
        same = same && lg_reader_redacted(reader, keys[i]) == (redacted ? LG_OK : LG_ERR_NOT_FOUND);
    }
    return same && count_keys(reader) == expected;
}

static void kill_at_point(const char *point)
{
    if (strncmp(point, "annotation: ", 12) == 0 && ++shared->passed == shared->kill_at)
        kill(getpid(), SIGKILL);
}

static void body_script(void *argument)
{
    (void)argument;
    lg__fault_hook = kill_at_point;
    lg_session *session = start_session();
    for (unsigned i = 0; i < SCRIPT; i++) {
        shared->begun = i + 1;
        lg_status status = script[i].redacts ? lg_redact(session, script[i].key) : lg_annotate(session, script[i].key, script[i].value);
        if (status != LG_OK)
            _exit(91);
    }
}

static void test_kill_at_every_store(void **state)
{
    (void)state;
    unsigned points = 0, before = 0, after = 0;
    for (unsigned at = 0; at <= points; at++) {
        state_make();
        memset(shared, 0, sizeof *shared);
        shared->kill_at = at;
        if (at) {
            expect_signal(body_script, NULL, SIGKILL);
        } else {
            expect_exit(body_script, NULL, 0);
            points = shared->passed;
            assert_true(points > 4 * SCRIPT);
        }
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        bool done = is_after(reader, shared->begun), not_done = is_after(reader, shared->begun - 1);
        if (!done && !not_done)
            fail_msg("killed at point %u, in change %u: neither the one before it nor it", at, shared->begun);
        before += not_done && !done;
        after += done && !not_done;
        lg_reader_close(reader);
    }
    print_message("             %u points: %u before the change, %u behind it\n", points, before, after);
    assert_true(before > SCRIPT && after > SCRIPT);
    state_remove();
}

/* ---- limits ---- */

#define MANY 100000

static void body_many(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    char key[32], value[32];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "key %u", i);
        snprintf(value, sizeof value, "value %u", i);
        if (lg_annotate(session, key, value) != (i < LG_ANNOTATIONS_MAX ? LG_OK : LG_ERR_LIMIT))
            _exit(91);
        if (i == LG_ANNOTATIONS_MAX && (lg_redact(session, key) != LG_ERR_LIMIT || lg_annotate(session, key, NULL) != LG_OK || lg_redact(session, "key 7") != LG_OK))
            _exit(90);
    }
    /* Whose keys are taken away makes room, for so many others as one likes; a redacted one does not. */
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "passing %u", i);
        if (lg_annotate(session, "key 9", i ? NULL : "last") != LG_OK || (i && lg_annotate(session, key, "here") != LG_OK) || (i && lg_annotate(session, key, NULL) != LG_OK))
            _exit(89);
    }
    if (lg_annotate(session, "key 7", NULL) != LG_OK || lg_annotate(session, "one", "1") != LG_OK || lg_annotate(session, "two", "2") != LG_ERR_LIMIT)
        _exit(88);
}

static void test_many(void **state)
{
    (void)state;
    lg_annotation one;
    state_make();
    expect_exit(body_many, NULL, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(count_keys(reader), LG_ANNOTATIONS_MAX);
    for (unsigned i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        char key[32], value[32];
        snprintf(key, sizeof key, "key %u", i);
        snprintf(value, sizeof value, "value %u", i);
        assert_int_equal(read_key(reader, key, &one), i != 9);
        if (i != 9)
            assert_string_equal(one.value, i == 7 ? "" : value);
    }
    assert_true(read_key(reader, "one", &one));
    assert_int_equal(lg_reader_redacted(reader, "key 7"), LG_OK);
    lg_reader_close(reader);
    state_remove();
}

/* ---- threads that stand still for ever ---- */

static lg_session *session_of_all;
static __thread const char *stands_at __attribute__((tls_model("initial-exec")));

static void stand_still(const char *point)
{
    if (!stands_at || strcmp(point, stands_at) != 0)
        return;
    stands_at = NULL;
    atomic_fetch_add(&shared->standing, 1);
    while (!atomic_load(&shared->go_on))
        usleep(1000);
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

/* With 64 keys set and 63 threads in the middle of a call the last value is left, and changes go on with it. One more, and there is none. */
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
        while (atomic_load(&shared->standing) <= i)
            usleep(1000);
        lg_status expected = i < 63 ? LG_OK : LG_ERR_LIMIT;
        for (unsigned k = 0; k < 200; k++)
            if (lg_annotate(session_of_all, "key 1", "on time") != expected)
                _exit(90);
    }
    if (lg_redact(session_of_all, "key 2") != LG_OK) /* needs none */
        _exit(89);
    /* A key less: its value is free for others. */
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
        assert_int_equal(count_keys(reader), for_ever ? 63 : 64);
        for (unsigned i = 0; i < 64; i++) {
            char key[16];
            snprintf(key, sizeof key, "key %u", i);
            bool there = read_key(reader, key, &one);
            assert_int_equal(there, i || !for_ever);
            if (there)
                assert_string_equal(one.value, !for_ever ? "late" : i == 1 ? "at last" : "early");
            assert_int_equal(lg_reader_redacted(reader, key), i == 2 ? LG_OK : LG_ERR_NOT_FOUND);
        }
        lg_reader_close(reader);
    }
    state_remove();
}

/* One announces its change and stands still: the next one carries it out, and its own comes behind it. Whoever comes too late does nothing. */
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
    while (!atomic_load(&shared->standing))
        usleep(1000);
    if (lg_annotate(session_of_all, "document", "behind it") != LG_OK)
        _exit(91);
    pid_t child = fork(); /* what a reader sees now */
    if (child == 0) {
        lg_annotation one;
        lg_reader *reader = newest_run();
        _exit(read_key(reader, "screen", &one) && strcmp(one.value, "announced") == 0 && read_key(reader, "document", &one) ? 0 : 1);
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
        assert_int_equal(count_keys(reader), 2);
        assert_true(read_key(reader, "other", &one));
        assert_string_equal(one.value, "in its place");
        assert_true(read_key(reader, "document", &one));
        assert_string_equal(one.value, "again and again");
        lg_reader_close(reader);
    }
    state_remove();
}

/* ---- others in between, as a handler of a signal may be ---- */

static void (*in_between)(void);
static const char *between;
static unsigned skips;

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
    /* The value that was filled for nothing is free again, however often. */
    for (unsigned i = 0; i < 500; i++) {
        arm("annotation: filled", 0, take_the_last);
        if (lg_annotate(session_of_all, "new", "too late") != LG_ERR_LIMIT || lg_annotate(session_of_all, "taker", NULL) != LG_OK)
            _exit(91);
    }
    /* There is a free place all the time, though never where it is looked for. */
    arm("annotations: a slot", 32, exchange_places);
    if (lg_annotate(session_of_all, "new", "in the place of key 5") != LG_OK)
        _exit(90);
    /* It is taken away, but redacted meanwhile: the key stays. */
    arm("annotation: filled", 0, redact_it);
    if (lg_annotate(session_of_all, "key 7", NULL) != LG_OK)
        _exit(89);
    arm("annotation: filled", 0, set_twice);
    if (lg_annotate(session_of_all, "key 9", "last") != LG_OK)
        _exit(88);
    arm("annotation: announced", 0, set_twice);
    if (lg_annotate(session_of_all, "key 9", "behind it") != LG_OK)
        _exit(87);
    raise(SIGKILL);
}

static void test_between(void **state)
{
    (void)state;
    lg_annotation one;
    state_make();
    expect_signal(body_between, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(count_keys(reader), 64);
    assert_true(read_key(reader, "new", &one));
    assert_string_equal(one.value, "in the place of key 5");
    assert_true(read_key(reader, "taker", &one));
    assert_false(read_key(reader, "key 5", &one));
    assert_true(read_key(reader, "key 7", &one));
    assert_int_equal(one.has_value, 0);
    assert_int_equal(one.redacted, 1);
    assert_true(read_key(reader, "key 9", &one));
    assert_string_equal(one.value, "in between"); /* announced first, so the one behind it is the last */
    lg_reader_close(reader);
    state_remove();
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

/* A reader that is slow: between any two of its looks the program does what it likes. */
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
    arm("annotations: value read", 0, use_all_values); /* it was there, whatever came behind */
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
    state_make();
    expect_exit(body_slow_reader, NULL, 0);
    expect_exit(body_slow_reader, (void *)1, 0);
    state_remove();
}

/* ---- the file is cut under the program ---- */

static void body_truncated(void *argument)
{
    lg_session *session = start_session();
    char key[32];
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "key %u", i % 60);
        if (lg_annotate(session, key, "value") != LG_OK || (i == 5000 && truncate(lg_session_run_path(session), 0) != 0))
            _exit(91);
        if (i % 60 == 59 && i < 5000 && lg_redact(session, key) != LG_OK)
            _exit(90);
    }
    if (argument)
        abort();
}

static void test_truncated(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_truncated, NULL, 0);
    state_remove();
    state_make();
    expect_signal(body_truncated, (void *)1, SIGABRT);
    state_remove();
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
    state_make();
    memset(shared, 0, sizeof *shared);
    expect_exit(body_threads, NULL, 0);
    lg_reader *reader = newest_run();
    assert_in_range(count_keys(reader), 1, 9);
    assert_int_equal(lg_reader_redacted(reader, "key 3"), LG_OK);
    lg_reader_close(reader);
    state_remove();
}

#ifdef THREADS_ONLY /* with the runtime of a sanitizer, whose own handlers the other tests do not expect */
static const bool threads_only = true;
#else
static const bool threads_only = false;
#endif

int main(void)
{
    const struct CMUnitTest threads[] = { cmocka_unit_test(test_threads), cmocka_unit_test(test_standing), cmocka_unit_test(test_announced) };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored), cmocka_unit_test(test_arguments), cmocka_unit_test(test_no_files), cmocka_unit_test(test_kill_at_every_store),
        cmocka_unit_test(test_many),   cmocka_unit_test(test_between), cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_truncated),
    };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    large = malloc(1 << 20);
    if (shared == MAP_FAILED || !large)
        return 1;
    for (size_t i = 0; i < 1 << 20; i++)
        large[i] = (char)('a' + i * 7 % 26);
    large[(1 << 20) - 1] = 0;
    int failed = cmocka_run_group_tests_name("annotations, threads", threads, NULL, NULL);
    if (!failed && !threads_only)
        failed = cmocka_run_group_tests_name("annotations", tests, NULL, NULL);
    free(large);
    return failed;
}
