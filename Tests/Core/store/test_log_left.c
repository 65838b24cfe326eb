/* A signal handler jumps out of the middle of an entry of the ring log: what the entry held is
 * given back, and a handler that only interrupts one takes nothing from it. Entries that find no
 * room are counted. */
#include "harness.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "os/fault_point.h"

#define LONG 3000
#define JUMPS 40

static sigjmp_buf outside;
static char long_text[LONG + 1];
static lg_session *session;
static const char *interrupted_at; /* the fault point */
static bool jumps;

static void handle(int signal)
{
    (void)signal;
    if (jumps)
        siglongjmp(outside, 1);
    lg_log_write(session, LG_LEVEL_INFO, "from the handler", 16);
}

static void interrupt(const char *point)
{
    if (!interrupted_at || strcmp(point, interrupted_at) != 0)
        return;
    interrupted_at = NULL;
    raise(SIGUSR1);
}

struct way {
    const char *point;
    uint32_t ring_bytes; /* 4096: one lane, which all threads share */
    bool alternate_stack, jumps;
};

static void begin(const struct way *way)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_NODEFER | (way->alternate_stack ? SA_ONSTACK : 0) };
    lg_options options = LG_OPTIONS_INIT;
    options.ring_bytes = way->ring_bytes;
    session = start_with(options);
    memset(long_text, 'x', LONG);
    sigaction(SIGUSR1, &action, NULL);
    jumps = way->jumps;
    lg__fault_hook = interrupt;
}

static __attribute__((noinline)) lg_status log_and_leave(const struct way *way)
{
    if (sigsetjmp(outside, 1))
        return LG_ERR_STATE;
    interrupted_at = way->point;
    return lg_log_write(session, LG_LEVEL_INFO, long_text, LONG);
}

static void body_jumps(void *argument)
{
    const struct way *way = argument;
    begin(way);
    for (int i = 0; i < JUMPS; i++)
        if (log_and_leave(way) != LG_ERR_STATE || lg_log_write(session, LG_LEVEL_INFO, "between", 7) != LG_OK)
            _exit(90);
    if (lg_log_write(session, LG_LEVEL_INFO, long_text, LONG) != LG_OK || lg_log_write(session, LG_LEVEL_INFO, "at the end", 10) != LG_OK)
        _exit(91);
}

/* The handler returns: it only interrupts. */
static void body_interrupted(void *argument)
{
    const struct way *way = argument;
    begin(way);
    for (int i = 0; i < JUMPS; i++) {
        interrupted_at = way->point;
        if (lg_log_write(session, LG_LEVEL_INFO, "the outer entry", 15) != LG_OK)
            _exit(90);
    }
}

static void in_all_ways(void (*body)(void *), bool jump, void (*look)(lg_reader *reader))
{
    static const char *const points[] = { "ring: before text", "ring: before commit", "ring: reserved" };
    for (size_t point = 0; point < sizeof points / sizeof points[0]; point++)
        for (int kind = 0; kind < 4; kind++) {
            struct way way = { points[point], kind & 1 ? 4096 : 65536, kind >> 1, jump };
            if (way.ring_bytes != 4096 && strcmp(way.point, "ring: reserved") == 0)
                continue; /* of the shared lane alone */
            expect_exit(body, &way, 0);
            lg_reader *reader = newest_run();
            look(reader);
            lg_reader_close(reader);
        }
}

static void has_the_last(lg_reader *reader)
{
    assert_true(log_has(reader, "at the end"));
    assert_true(log_has(reader, long_text));
}

static void test_jump(void **state)
{
    (void)state;
    memset(long_text, 'x', LONG);
    in_all_ways(body_jumps, true, has_the_last);
}

static void has_both(lg_reader *reader)
{
    lg_log_info log;
    assert_true(log_has(reader, "from the handler"));
    assert_true(log_has(reader, "the outer entry"));
    assert_int_equal(lg_reader_log(reader, &log), LG_OK);
    assert_int_equal(log.torn, 0);
    assert_int_equal(log.refused, 0);
    assert_true(log.entries + log.overwritten_entries >= 2 * JUMPS);
}

static void test_interruption(void **state)
{
    (void)state;
    in_all_ways(body_interrupted, false, has_both);
}

/* ---- another stack ---- */

static ucontext_t program, coroutine;

static void switch_away(const char *point)
{
    if (interrupted_at && strcmp(point, interrupted_at) == 0) {
        interrupted_at = NULL;
        swapcontext(&coroutine, &program);
    }
}

static void write_there(void)
{
    lg_log_write(session, LG_LEVEL_INFO, "from the coroutine", 18);
}

/* A stack above that of a writer writes, as if the writer had been left, and then the writer goes
 * on. */
static void body_switched(void *unused)
{
    static const struct way way = { .ring_bytes = 4096 };
    static char stack[65536] __attribute__((aligned(16)));
    (void)unused;
    begin(&way);
    lg__fault_hook = switch_away;
    for (int i = 0; i < JUMPS; i++) {
        getcontext(&coroutine);
        coroutine.uc_stack.ss_sp = stack;
        coroutine.uc_stack.ss_size = sizeof stack;
        coroutine.uc_link = &program;
        makecontext(&coroutine, write_there, 0);
        interrupted_at = "ring: before text";
        swapcontext(&program, &coroutine);
        lg_log_write(session, LG_LEVEL_INFO, "above", 5);
        swapcontext(&program, &coroutine);
        if (lg_log_write(session, LG_LEVEL_INFO, "after", 5) != LG_OK)
            _exit(90);
    }
}

static void test_another_stack(void **state)
{
    (void)state;
    expect_exit(body_switched, NULL, 0);
    lg_reader *reader = newest_run();
    assert_true(log_has(reader, "after"));
    assert_true(log_has(reader, "from the coroutine"));
    lg_reader_close(reader);
}

/* ---- no room ---- */

static sem_t stands, goes_on;

static void stand_still(const char *point)
{
    if (!interrupted_at || strcmp(point, interrupted_at) != 0)
        return;
    interrupted_at = NULL;
    sem_post(&stands);
    sem_wait(&goes_on);
}

static void *write_long(void *unused)
{
    lg_log_write(session, LG_LEVEL_INFO, long_text, LONG);
    return unused;
}

static void body_refused(void *unused)
{
    static const struct way way = { .ring_bytes = 4096 };
    pthread_t thread;
    (void)unused;
    begin(&way);
    sem_init(&stands, 0, 0);
    sem_init(&goes_on, 0, 0);
    interrupted_at = "ring: before text";
    lg__fault_hook = stand_still;
    pthread_create(&thread, NULL, write_long, NULL);
    sem_wait(&stands);
    const lg_status status = lg_log_write(session, LG_LEVEL_INFO, long_text, LONG);
    sem_post(&goes_on);
    pthread_join(thread, NULL);
    _exit(status == LG_ERR_LIMIT ? 0 : 90);
}

static void test_refused(void **state)
{
    (void)state;
    lg_log_info log;
    expect_exit(body_refused, NULL, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_log(reader, &log), LG_OK);
    assert_int_equal(log.refused, 1);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_jump), WITH_STATE(test_interruption), WITH_STATE(test_another_stack), WITH_STATE(test_refused) };
    return cmocka_run_group_tests_name("log_left", tests, NULL, NULL);
}
