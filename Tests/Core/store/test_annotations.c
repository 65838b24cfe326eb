/* Annotations: the stored values, deaths at every store, limits, and all the states of a
 * session. */
#include "annotations.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <launchguard/simulate.h>

#include "os/fault_point.h"

/* ---- what is stored ---- */

static char *large; /* 1 MiB of text */

static const struct stored {
    const char *key;
    int64_t size; /* the size of the text; −1: `text` */
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
    expect_signal(body_stored, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    lg_run_info run;
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    for (size_t i = 0; i < STORED; i++) {
        lg_annotation one;
        const char *expected = text_of(&stored[i]);
        size_t size = strlen(expected), kept = size > LG_ANNOTATION_VALUE_MAX ? LG_ANNOTATION_VALUE_MAX : size;
        assert_true(annotation_of(reader, stored[i].key, &one));
        assert_int_equal(one.size, kept);
        assert_int_equal(one.cut, size > kept);
        assert_memory_equal(one.value, expected, kept);
        assert_int_equal(one.value[kept], 0);
        assert_int_equal(one.has_value, 1);
        assert_int_equal(one.redacted, 0);
        assert_true(one.monotonic_ns >= run.monotonic_ns);
        assert_int_equal(lg_reader_redacted(reader, stored[i].key), LG_ERR_NOT_FOUND);
    }
    assert_int_equal(annotation_count(reader), STORED);
    lg_reader_close(reader);
}

/* ---- arguments, and sessions without files ---- */

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
    memset(key_of_64, 'k', 64);
    expect_exit(body_arguments, NULL, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(annotation_count(reader), 2);
    assert_true(annotation_of(reader, key_of_64 + 1, &one));
    assert_true(annotation_of(reader, "parent", &one));
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
}

static void body_no_files(void *argument)
{
    (void)argument;
    lg_session *session, *simulated = NULL;
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
} *shared;

/* The state of a key after `count` changes; false: the key does not exist. */
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
        same = same && annotation_of(reader, keys[i], &one) == there;
        if (same && there)
            same = one.redacted == redacted && one.has_value == (value != NULL) && strcmp(one.value, value ? value : "") == 0;
        same = same && lg_reader_redacted(reader, keys[i]) == (redacted ? LG_OK : LG_ERR_NOT_FOUND);
    }
    return same && annotation_count(reader) == expected;
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
            fail_msg("killed at point %u, in change %u: the file holds neither the state before the change nor the one after it", at, shared->begun);
        before += not_done && !done;
        after += done && !not_done;
        lg_reader_close(reader);
    }
    print_message("             %u points: %u before the change, %u after it\n", points, before, after);
    assert_true(before > SCRIPT && after > SCRIPT);
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
    /* A removed key makes room for another, any number of times; a redacted key does not. */
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
    expect_exit(body_many, NULL, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(annotation_count(reader), LG_ANNOTATIONS_MAX);
    for (unsigned i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        char key[32], value[32];
        snprintf(key, sizeof key, "key %u", i);
        snprintf(value, sizeof value, "value %u", i);
        assert_int_equal(annotation_of(reader, key, &one), i != 9);
        if (i != 9)
            assert_string_equal(one.value, i == 7 ? "" : value);
    }
    assert_true(annotation_of(reader, "one", &one));
    assert_int_equal(lg_reader_redacted(reader, "key 7"), LG_OK);
    lg_reader_close(reader);
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
    expect_exit(body_truncated, NULL, 0);
    state_make();
    expect_signal(body_truncated, (void *)1, SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_stored), WITH_STATE(test_arguments), WITH_STATE(test_no_files), WITH_STATE(test_kill_at_every_store),
        WITH_STATE(test_many),   WITH_STATE(test_truncated),
    };
    shared = shared_memory(sizeof *shared);
    large = malloc(1 << 20);
    if (!large)
        return 1;
    for (size_t i = 0; i < 1 << 20; i++)
        large[i] = (char)('a' + i * 7 % 26);
    large[(1 << 20) - 1] = 0;
    int failed = cmocka_run_group_tests_name("annotations", tests, NULL, NULL);
    free(large);
    return failed;
}
