/* What runtimes say that came after the start, or that are linked statically, is in the record. */
#include "harness.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void body_of_late_library(void *function)
{
    start_session();
    void *library = dlopen(LATE, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, function) : NULL;
    void (*call)(void);
    memcpy(&call, &found, sizeof call);
    if (!call)
        _exit(99);
    call();
}

static void assert_said(lg_crash_kind kind, lg_message_source source, const char *text)
{
    lg_message *message = calloc(1, sizeof *message);
    bool is_said = !text;
    lg_reader *reader = newest_run();
    const lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    uint32_t count = 0;
    for (; lg_reader_message(reader, count, message) == LG_OK; count++)
        is_said |= text && message->source == source && strstr(message->text, text);
    lg_reader_close(reader);
    free(message);
    if (!is_said || (!text && count))
        fail_msg("%s: %u messages, not \"%s\"", lg_crash_kind_name(crash.kind), count, text ? text : "");
    assert_int_equal(crash.kind, kind);
}

static void test_a_later_runtime(void **state)
{
    (void)state;
    expect_signal(body_of_late_library, (void *)"late_throw", SIGABRT);
    assert_said(LG_CRASH_ABORT_CPP_EXCEPTION, LG_MESSAGE_CPP_WHAT, "from a late library");
    state_make();
    expect_signal(body_of_late_library, (void *)"late_assert", SIGABRT);
    assert_said(LG_CRASH_ABORT_ASSERT, LG_MESSAGE_GLIB, "assertion failed: (store != NULL)");
    state_make();
    expect_signal(body_of_late_library, (void *)"late_throw_cycle", SIGABRT);
    assert_said(LG_CRASH_ABORT_CPP_EXCEPTION, LG_MESSAGE_CPP_TYPE, "Cyclic");
}

#ifdef STATIC_WORDS
static const char *program;

static void body_is_static(void *way)
{
    execl(program, program, state_path(""), way, (char *)NULL);
    _exit(99);
}

static void test_a_static_runtime(void **state)
{
    (void)state;
    static const struct {
        const char *way;
        lg_crash_kind kind;
        lg_message_source source;
        const char *text;
    } rows[] = {
        { "assert", LG_CRASH_ABORT_ASSERT, LG_MESSAGE_LIBC, "Assertion `zero == 7' failed" },
        { "free", LG_CRASH_ABORT_HEAP, LG_MESSAGE_LIBC, "free(): invalid " },
        { "throw", LG_CRASH_ABORT_CPP_EXCEPTION, LG_MESSAGE_CPP_WHAT, "no notes" },
        { "catch", LG_CRASH_ABORT, 0, NULL },
        { "abort", LG_CRASH_ABORT, 0, NULL },
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const size_t row = i / 2;
        program = i % 2 ? STATIC_WORDS_BARE : STATIC_WORDS;
        state_make();
        expect_signal(body_is_static, (void *)rows[row].way, SIGABRT);
        assert_said(rows[row].kind, rows[row].source, rows[row].text);
    }
}
#else
static void test_a_static_runtime(void **state)
{
    (void)state;
    skip_because("no program is linked statically here");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_a_later_runtime),
        WITH_STATE(test_a_static_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
