/* Handlers that print and return: the same instruction faults again, for ever. The process ends by
 * that fault, and its launch is not finished by time meanwhile. Handlers that need some tries, or
 * whose thread makes a step between, are left alone. */
#include "harness.h"
#include "wild.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "launchguard/repair.h"

#define DEADLINE_MS 300
#define WINDOW_MS 150 /* of a launch: shorter than the deadline */

static char *page;
static unsigned tries;
static volatile int nothing;

static void print_and_return(int number)
{
    static const char text[] = "fault\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(98);
}

static void mend_after_tries(int number)
{
    (void)number;
    if (++tries % 20 == 0)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void install(void (*handler)(int))
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    struct sigaction action = { .sa_handler = handler };
    stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static lg_session *start_briefly(uint32_t keep_repeats, uint32_t keep_first)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = DEADLINE_MS;
    options.keep_repeats = keep_repeats;
    options.keep_first = keep_first;
    return start_with(options);
}

static void begin_launch(lg_session *session)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.window_ms = WINDOW_MS;
    options.finish = LG_FINISH_TIME;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(97);
}

/* ---- the faults ---- */

static __attribute__((noinline)) void fault_by(int number)
{
    switch (number) {
    case SIGSEGV: *(volatile int *)(uintptr_t)nothing = 1; break;
    case SIGILL: ILLEGAL(); break;
#if defined(__x86_64__)
    case SIGFPE: __asm__ volatile("xorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\tmovl $1, %%eax\n\tidivl %%ecx" ::: "eax", "ecx", "edx"); break;
#endif
    default: _exit(96);
    }
    _exit(95);
}

struct way {
    int number;
    uint32_t keep_first;
};

static void repeats(void *argument)
{
    const struct way *way = argument;
    install(print_and_return);
    if (freopen("/dev/null", "w", stderr) == NULL)
        _exit(94);
    begin_launch(start_briefly(0, way->keep_first));
    fault_by(way->number);
}

static lg_phase phase(void)
{
    lg_reader *reader = newest_run();
    lg_run_context context;
    assert_int_equal(lg_reader_run_context(reader, 0, &context), LG_OK);
    lg_reader_close(reader);
    return context.phase;
}

static void test_ends_by_its_fault(void **state)
{
    (void)state;
    static const struct way ways[] = { { SIGSEGV, 0 }, { SIGSEGV, 1 }, { SIGILL, 0 },
#if defined(__x86_64__)
                                       { SIGFPE, 0 }, { SIGFPE, 1 },
#endif
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct death death = run_child(repeats, (void *)&ways[i]);
        expect_death(death, ways[i].number);
        assert_true(death.ms >= DEADLINE_MS);
        assert_int_equal(newest_verdict().end, LG_END_CRASH);
        assert_int_equal(newest_verdict().signal, ways[i].number);
        assert_int_equal(newest_crash(LG_STAGE_DONE).signal, ways[i].number);
        assert_int_equal(phase(), LG_PHASE_LAUNCHING); /* though its window has passed */
    }
}

/* ---- it counts, and the repair comes ---- */

static void mend(lg_completion *done, void *user)
{
    (void)user;
    nothing = 1;
    lg_complete(done, LG_OK);
}

static void crash_unless_repaired(void *argument)
{
    lg_launch *launch;
    lg_repair repair = LG_REPAIR_INIT;
    (void)argument;
    install(print_and_return);
    if (freopen("/dev/null", "w", stderr) == NULL)
        _exit(94);
    lg_session *session = start_briefly(0, 0);
    repair.name = "mend";
    repair.run = mend;
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_OK || lg_launch_add_repair(launch, &repair) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(97);
    if (!nothing)
        fault_by(SIGSEGV);
    lg_launch_finished(launch);
}

static void test_leads_to_a_repair(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        expect_signal(crash_unless_repaired, NULL, SIGSEGV);
    expect_exit(crash_unless_repaired, NULL, 0);
}

/* ---- what is left alone ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The same registers at each fault: no call leaves a word there by chance. */
static void store(void)
{
#if defined(__x86_64__)
    __asm__ volatile("xorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\txorl %%esi, %%esi\n\txorl %%edi, %%edi\n\txorl %%r8d, %%r8d\n\t"
                     "xorl %%r9d, %%r9d\n\txorl %%r10d, %%r10d\n\txorl %%r11d, %%r11d\n\tmovb $1, (%0)"
                     : : "a"(page) : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
    *(volatile char *)page = 1;
#endif
}

/* Many faults at one place, each mended after twenty tries, for longer than a repeat may last. Only
 * what a call left below the stack pointer shows the steps. */
static void needs_tries(void *argument)
{
    const uint64_t end = now_ms() + DEADLINE_MS * 3 / 2;
    install(mend_after_tries);
    start_briefly(0, *(const uint32_t *)argument);
    while (now_ms() < end) {
        mprotect(page, 4096, PROT_READ);
        store();
    }
}

static void mend_at_once(int number)
{
    (void)number;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* Only the top of the stack shows the steps. */
static void steps_between(void *argument)
{
    const uint64_t end = now_ms() + DEADLINE_MS * 3 / 2;
    install(mend_at_once);
    start_briefly(0, *(const uint32_t *)argument);
    for (volatile uint64_t i = 0; i % 1000 || now_ms() < end; i++) {
        mprotect(page, 4096, PROT_READ);
        store();
    }
}

static void test_progress_is_left_alone(void **state)
{
    (void)state;
    for (uint32_t keep_first = 0; keep_first <= 1; keep_first++) {
        expect_exit(needs_tries, &keep_first, 0);
        expect_exit(steps_between, &keep_first, 0);
    }
}

/* Stopped for longer than a repeat may last, between tries. */
static _Atomic uint64_t *until_ns;

static void stop_and_mend(int number)
{
    tries++;
    if (tries > 50 && tries % 10 == 0) {
        atomic_store(until_ns, now_ns() + (DEADLINE_MS + 20) * UINT64_C(1000000));
        raise(SIGSTOP);
    }
    if (tries == 100)
        mend_at_once(number);
}

static void is_stopped_between(void *argument)
{
    start_waker(until_ns);
    install(stop_and_mend);
    start_briefly(0, *(const uint32_t *)argument);
    mprotect(page, 4096, PROT_READ);
    *(volatile char *)page = 1;
}

static void test_stop_is_no_repeat(void **state)
{
    (void)state;
    until_ns = shared_memory(sizeof *until_ns);
    for (uint32_t keep_first = 0; keep_first <= 1; keep_first++)
        expect_exit(is_stopped_between, &keep_first, 0);
}

/* ---- the option keeps the process, and its launch is not finished all the same ---- */

static void *kill_later(void *unused)
{
    const uint64_t end = now_ms() + DEADLINE_MS * 3 / 2;
    wait_until(now_ms() >= end);
    kill(getpid(), SIGKILL);
    return unused;
}

static void is_kept(void *argument)
{
    pthread_t thread;
    (void)argument;
    install(print_and_return);
    if (freopen("/dev/null", "w", stderr) == NULL)
        _exit(94);
    begin_launch(start_briefly(1, 0));
    pthread_create(&thread, NULL, kill_later, NULL);
    fault_by(SIGSEGV);
}

static void test_option_keeps_the_process(void **state)
{
    (void)state;
    expect_signal(is_kept, NULL, SIGKILL);
    assert_int_equal(phase(), LG_PHASE_LAUNCHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_ends_by_its_fault), WITH_STATE(test_leads_to_a_repair), WITH_STATE(test_progress_is_left_alone),
        WITH_STATE(test_stop_is_no_repeat), WITH_STATE(test_option_keeps_the_process),
    };
    return cmocka_run_group_tests_name("repeating", tests, NULL, NULL);
}
