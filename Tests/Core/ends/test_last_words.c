/* lg_reader_last_words(): the reason that a program gave on standard error, as the runtimes of many
 * languages write it, is found; a program that went on after it, or that the CPU stopped, has
 * none. */
#include "ending_program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"

enum how { EXITS, ABORTS, FAULTS, LEAVES_WELL };

struct row {
    enum how how;
    const char *says, *words; /* NULL: none */
};

static const struct row rows[] = {
    { EXITS, "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    parse(text)\nValueError: bad token 'abc'\n", "ValueError: bad token 'abc'" },
    { EXITS,
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n"
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nRuntimeError: cannot load\n",
      "RuntimeError: cannot load" },
    { EXITS, "\nthread 'main' panicked at src/main.rs:2:5:\nno notes\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
      "panic: no notes (src/main.rs:2:5)" },
    { ABORTS, "thread 'main' panicked at 'no notes', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`\n", "panic: no notes (src/main.rs:2:5)" },
    { EXITS,
      "Exception in thread \"main\" java.lang.IllegalStateException: cannot start\n\tat App.main(App.java:3)\nCaused by: java.io.IOException: no notes\n\t... 1 more\n",
      "java.lang.IllegalStateException: cannot start, caused by java.io.IOException: no notes" },
    { EXITS, "/srv/app.js:3\n  throw new TypeError('bad token')\n  ^\n\nTypeError: bad token\n    at parse (/srv/app.js:3:9)\n    at node:internal/main:1:2\n\nNode.js v18.19.0\n",
      "TypeError: bad token" },
    { ABORTS, "\n<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb7a3e0 node::Abort() [node]\n",
      "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory" },
    { ABORTS, "#\n# Fatal error in , line 0\n# Check failed: value.IsString().\n#\n", "Check failed: value.IsString()." },
    { EXITS, "panic: no notes\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:4 +0x25\nexit status 2\n", "panic: no notes" },
    { ABORTS, "F1128 01:02:03.123456  4711 store.cc:12] Check failed: size == 3 (2 vs. 3) \n*** Check failure stack trace: ***\n    @     0x7f00 google::LogMessage::Fail()\n",
      "Check failed: size == 3 (2 vs. 3)  (store.cc:12)" },
    { ABORTS, "/usr/include/c++/12/bits/stl_vector.h:1123: reference std::vector<int>::operator[](size_type): Assertion '__n < this->size()' failed.\n",
      "assertion '__n < this->size()' failed" },
    { ABORTS, "\n(notes:4711): Store-ERROR **: 01:02:03.456: cannot open notes.db\n", "cannot open notes.db" },
    { ABORTS, "**\nStore:ERROR:store.c:12:open_store: assertion failed: (store != NULL)\nBail out! Store:ERROR:store.c:12:open_store: assertion failed: (store != NULL)\n",
      "assertion failed: (store != NULL) (store.c:12)" },
    { ABORTS, "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no notes\n", "exception of type std::runtime_error: no notes" },
    { ABORTS, "libc++abi: terminating due to uncaught exception of type std::runtime_error: no notes\n", "exception of type std::runtime_error: no notes" },
    { EXITS, "store.c:7:13: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n",
      "signed integer overflow: 2147483647 + 1 cannot be represented in type 'int' (store.c:7:13)" },
    { EXITS, "=================================================================\n==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n    #0 0x1 in main\n",
      "AddressSanitizer: heap-use-after-free on address 0x1" },
    { ABORTS, "notes/main.swift:5: Fatal error: no notes\n", "no notes" },
    { EXITS, "app.rb:1:in `open': no notes (RuntimeError)\n\tfrom app.rb:3:in `<main>'\n", "no notes (RuntimeError)" },
    { ABORTS, "free(): invalid pointer\n", "free(): invalid pointer" },
    /* An exit says something, whatever the language; colours are no part of it. */
    { EXITS, "notes: reading\nnotes: \x1b[31mcannot open notes.db\x1b[0m: No such file or directory\n", "notes: cannot open notes.db: No such file or directory" },
    /* The program went on: that was not the reason. */
    { EXITS, "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: one\nserving\nserving\nserving\nserving\nthe end\n", "the end" },
    { ABORTS, "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: one\nserving\nserving\nserving\nserving\nthe end\n", NULL },
    { ABORTS, "some line\n", NULL },
    { FAULTS, "panic: no notes\n", NULL },
    { LEAVES_WELL, "panic: no notes\n", NULL },
    { EXITS, "", NULL },
};

static void body_says(void *argument)
{
    const struct row *row = argument;
    lg__fault_patience = 100; /* the thread that copies gets its turn on a busy machine, too */
    start_keeping_stderr();
    if (write(STDERR_FILENO, row->says, strlen(row->says)) < 0)
        _exit(99);
    switch (row->how) {
    case EXITS: exit(3);
    case ABORTS: abort();
    case FAULTS: crash(); break;
    case LEAVES_WELL: exit(0);
    }
}

static void check_rows(bool by_exit)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((rows[i].how == EXITS) != by_exit)
            continue;
        lg_message *message = calloc(1, sizeof *message);
        state_make();
        struct death death = run_child(body_says, (void *)&rows[i]);
        assert_false(death.late);
        lg_reader *reader = newest_run();
        const lg_status status = lg_reader_last_words(reader, message);
        lg_reader_close(reader);
        if (status != (rows[i].words ? LG_OK : LG_ERR_NOT_FOUND))
            fail_msg("row %zu: status %d: %s", i, status, message->text);
        if (rows[i].words)
            assert_string_equal(message->text, rows[i].words);
        if (rows[i].words)
            assert_int_equal(message->source, LG_MESSAGE_STDERR);
        free(message);
    }
}

static void test_each_runtime(void **state)
{
    (void)state;
    check_rows(false);
}

static void test_each_runtime_that_exits(void **state)
{
    (void)state;
    check_rows(true);
}

/* ---- what a parent kept ---- */

static void body_exits_3(void *argument)
{
    (void)argument;
    begin();
    exit(3);
}

static void test_a_parent_stores_it(void **state)
{
    (void)state;
    char *bytes = calloc(1, LG_STDERR_MAX + 100);
    uint8_t *kept = calloc(1, LG_STDERR_MAX);
    size_t size = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < LG_STDERR_MAX + 100; i++)
        bytes[i] = (char)('a' + i % 23);
    expect_exit(body_exits_3, NULL, 3);
    const int32_t pid = newest_info().pid;
    assert_int_equal(lg_witness_stderr(state_path(""), pid, bytes, 0, 5), LG_ERR_ARGUMENT);
    assert_int_equal(lg_witness_stderr(state_path(""), pid, bytes, 5, 4), LG_ERR_ARGUMENT);
    assert_int_equal(lg_witness_stderr(state_path(""), pid + 1, bytes, 5, 5), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_witness_stderr(state_path(""), pid, bytes, LG_STDERR_MAX + 100, 1000000), LG_OK);
    assert_int_equal(lg_witness_stderr(state_path(""), pid, bytes, 5, 5), LG_ERR_ALREADY);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_stderr(reader, kept, &size, &total), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(size, LG_STDERR_MAX);
    assert_int_equal(total, 1000000);
    assert_memory_equal(kept, bytes + 100, LG_STDERR_MAX);
    free(kept);
    free(bytes);
}

static void test_not_of_a_living_process(void **state)
{
    (void)state;
    lg_session *session = start_session();
    assert_int_equal(lg_witness_stderr(state_path(""), getpid(), "words", 5, 5), LG_ERR_STATE);
    lg_stop(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_each_runtime),
        WITH_STATE(test_each_runtime_that_exits),
        WITH_STATE(test_a_parent_stores_it),
        WITH_STATE(test_not_of_a_living_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
