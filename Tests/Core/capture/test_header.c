/* The header of a record is committed before any system call and any thread-local access. */
#include "harness.h"
#include "wild.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a filter of all system calls ---- */

/* From here on each system call ends the process. */
static void forbid_all_calls(void)
{
    struct sock_filter rules[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS } };
    const struct sock_fprog program = { 1, rules };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(97);
}

static volatile int zero;

static void jump_away(void)
{
    ((void (*)(void))(uintptr_t)(zero + 0x41410000))();
}

static void execute_nothing(void)
{
    ILLEGAL();
}

static const struct way {
    const char *name;
    void (*crash)(void);
    int signal;
    lg_crash_kind kind;
} ways[] = {
    { "write to NULL", crash, SIGSEGV, LG_CRASH_NULL_WRITE },
    { "illegal instruction", execute_nothing, SIGILL, LG_CRASH_ILLEGAL },
    { "jump to nowhere", jump_away, SIGSEGV, LG_CRASH_JUMP_BAD },
};

static void crash_filtered(void *argument)
{
    const struct way *way = argument;
    start_session();
    forbid_all_calls();
    way->crash();
}

static void *crash_filtered_on_thread(void *argument)
{
    const struct way *way = argument;
    forbid_all_calls();
    way->crash();
    return NULL;
}

static void crash_filtered_beside(void *argument)
{
    start_session();
    in_thread(crash_filtered_on_thread, argument);
    wait_for_ever(NULL);
}

/* Without an alternate stack. */
static void crash_filtered_plainly(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    start_session();
    sigaltstack(&none, NULL);
    crash_filtered_on_thread(argument);
}

static void expect_header_alone(void (*body)(void *), const struct way *way)
{
    state_make();
    struct death death = run_child(body, (void *)(uintptr_t)way);
    expect_death(death, SIGSYS);
    lg_reader *reader = newest_run();
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(crash.stages, 1 << LG_STAGE_HEADER);
    assert_int_equal(crash.signal, way->signal);
    assert_true(crash.pc && crash.sp);
    assert_int_equal(crash.kind, way->kind);
    assert_int_equal(crash.tid, 0);
    assert_false(crash.brief);
    lg_reader_close(reader);
    state_remove();
}

static void test_no_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        print_message("             %s\n", ways[i].name);
        expect_header_alone(crash_filtered, &ways[i]);
        expect_header_alone(crash_filtered_beside, &ways[i]);
        expect_header_alone(crash_filtered_plainly, &ways[i]);
    }
}

/* The full record is that of a crash that the program survived: the header of the next one is
 * brief, until a system call can show that the first is over. */
static void survive_and_crash_filtered(void *argument)
{
    signal(SIGSEGV, jump_out);
    start_session();
    if (sigsetjmp(escape, 1) == 0)
        crash();
    forbid_all_calls();
    ((const struct way *)argument)->crash();
}

static void test_no_calls_after_a_crash(void **state)
{
    (void)state;
    struct death death = run_child(survive_and_crash_filtered, (void *)(uintptr_t)&ways[1]);
    expect_death(death, SIGSYS);
    lg_reader *reader = newest_run();
    uint32_t count;
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash_count(reader, &count), LG_OK);
    assert_int_equal(count, 2);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(lg_reader_select_crash(reader, i), LG_OK);
        assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
        found |= crash.brief && crash.signal == SIGILL && crash.stages == 1 << LG_STAGE_HEADER;
    }
    assert_true(found);
    lg_reader_close(reader);
}

/* ---- a thread pointer that is lost ---- */

#if defined(__x86_64__)
#include <asm/prctl.h>

static uint8_t foreign[8192] __attribute__((aligned(64)));

static void crash_with_pointer(void *pointer)
{
    /* No function of libc from here on. */
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(pointer) : "rcx", "r11", "memory");
    *(volatile int *)(uintptr_t)(zero + 16) = 1;
}

static void *crash_on_thread(void *pointer)
{
    crash_with_pointer(pointer);
    return NULL;
}

/* The threads have a tenth of the deadline for their answers. */
static void start_with_threads(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = 60000;
    start_with(options);
    start_waiting(2);
}

static void crash_without_pointer(void *pointer)
{
    start_with_threads();
    crash_with_pointer(pointer);
}

static void crash_thread_without_pointer(void *pointer)
{
    start_with_threads();
    in_thread(crash_on_thread, pointer);
    wait_for_ever(NULL);
}

static void handle_earlier(int signal, siginfo_t *info, void *context)
{
    void *pointer;
    (void)info, (void)context;
    __asm__ volatile("syscall" : : "a"(SYS_arch_prctl), "D"(ARCH_GET_FS), "S"(&pointer) : "rcx", "r11", "memory");
    __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(signal == SIGSEGV && pointer == foreign ? 42 : 43) : "rcx", "r11", "memory");
}

static void crash_to_handler(void *pointer)
{
    struct sigaction action = { .sa_sigaction = handle_earlier, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaction(SIGSEGV, &action, NULL);
    crash_without_pointer(pointer);
}

static void check_whole_record(unsigned threads)
{
    lg_reader *reader = newest_run();
    lg_crash_info crash;
    lg_thread_info thread;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(crash.signal, SIGSEGV);
    assert_int_equal(crash.address, 16);
    assert_true(crash.tid > 0);
    assert_true(crash.stages & 1u << LG_STAGE_DONE);
    assert_int_equal(crash.skipped, 0);
    assert_int_equal(crash.recrash_count, 0);
    unsigned captured = 0;
    for (uint32_t i = 0; lg_reader_thread(reader, i, &thread) == LG_OK; i++)
        captured += thread.how == LG_THREAD_CAPTURED;
    assert_int_equal(captured, threads);
    lg_reader_close(reader);
}

static void test_no_thread_pointer(void **state)
{
    (void)state;
    void *const pointers[] = { NULL, foreign, (void *)(uintptr_t)0x10 };
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        state_make();
        expect_signal(crash_without_pointer, pointers[i], SIGSEGV);
        check_whole_record(2);
        state_make();
        expect_signal(crash_thread_without_pointer, pointers[i], SIGSEGV);
        check_whole_record(3);
        state_remove();
    }
}

/* The earlier handler finds the thread pointer of the crash. */
static void test_thread_pointer_for_handler(void **state)
{
    (void)state;
    expect_exit(crash_to_handler, foreign, 42);
    check_whole_record(2);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_calls),
        WITH_STATE(test_no_calls_after_a_crash),
#if defined(__x86_64__)
        cmocka_unit_test(test_no_thread_pointer),
        WITH_STATE(test_thread_pointer_for_handler),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
