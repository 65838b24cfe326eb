/* Other owners of signals, masks and stacks: LaunchGuard notices what they take away and mends what
 * can be mended, and the records are right. */
#include "harness.h"
#include "wild.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ /* not in each libc */
#define AT_MINSIGSTKSZ 51
#endif

static volatile int zero;
static int zero_address;

static __attribute__((noinline)) void fault(void)
{
    *(volatile int *)(uintptr_t)(zero + 0x18) = 1;
}

/* ---- signal() saves our handler and puts it back without its flags ---- */

static void save_and_restore(int number)
{
    signal(number, signal(number, SIG_IGN));
}

enum { AT_ONCE, QUIETLY, WITH_HEARTBEAT };

/* As a program does whose sigaction() is not that of LaunchGuard, which is linked statically. */
static void save_and_restore_quietly(int number)
{
    uint64_t ours[4]; /* the kernel's: handler, flags, way back, mask */
    syscall(SYS_rt_sigaction, number, NULL, ours, sizeof ours[3]);
    ours[1] &= ~(uint64_t)(SA_SIGINFO | SA_ONSTACK);
    syscall(SYS_rt_sigaction, number, ours, NULL, sizeof ours[3]);
}

static bool has_flags(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    return (now.sa_flags & (SA_SIGINFO | SA_ONSTACK)) == (SA_SIGINFO | SA_ONSTACK);
}

static void body_lost_flags(void *argument)
{
    const uintptr_t how = (uintptr_t)argument;
    lg_session *session = start_session();
    (how == AT_ONCE ? save_and_restore : save_and_restore_quietly)(SIGSEGV);
    if (how == WITH_HEARTBEAT)
        lg_heartbeat(session);
    if (has_flags() != (how != QUIETLY))
        _exit(91);
    fault();
}

static void check_lost_flags(uintptr_t how)
{
    state_make();
    expect_signal(body_lost_flags, (void *)how, SIGSEGV);
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    /* the fault came again, and its record is full */
    assert_int_equal(crash.kind, LG_CRASH_NULL_OFFSET);
    assert_int_equal(crash.has_address, 1);
    assert_int_equal(crash.address, 0x18);
    assert_int_equal(crash.siginfo_lost, 0);
    assert_int_equal(log_says(reader, "SIGSEGV lost SA_SIGINFO"), how != QUIETLY);
    lg_reader_close(reader);
}

static void test_lost_flags(void **state)
{
    (void)state;
    check_lost_flags(QUIETLY);
    check_lost_flags(WITH_HEARTBEAT);
}

static void test_lost_flags_at_once(void **state)
{
    (void)state;
    check_lost_flags(AT_ONCE);
}

static void body_lost_flags_abort(void *argument)
{
    (void)argument;
    start_session();
    save_and_restore_quietly(SIGABRT);
    abort();
}

/* A sent signal cannot come again by itself: its unknown fields stay unknown. */
static void test_lost_flags_of_a_sent_signal(void **state)
{
    (void)state;
    expect_signal(body_lost_flags_abort, NULL, SIGABRT);
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGABRT);
    assert_int_equal(crash.siginfo_lost, 1);
    assert_int_equal(crash.has_address, 0);
    assert_int_equal(crash.sender_pid, 0);
}

/* ---- handlers installed after ours ---- */

static void leave(int number)
{
    (void)number;
    _exit(77);
}

static void body_replaced(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    signal(SIGSEGV, leave);
    signal(SIGFPE, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGABRT, SIG_DFL);
    for (int i = 0; i < 3; i++)
        lg_heartbeat(session);
    fault();
}

static void test_replaced(void **state)
{
    (void)state;
    expect_exit(body_replaced, NULL, 77);
    lg_reader *reader = newest_run();
    lg_log_info info;
    assert_true(log_says(reader, "SIGSEGV got another handler"));
    assert_true(log_says(reader, "SIGFPE is ignored"));
    assert_true(log_says(reader, "SIGABRT was set to its default action"));
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    assert_int_equal(info.entries, 3); /* one breadcrumb for each; none for SIGPIPE */
    lg_reader_close(reader);
}

/* A program without heartbeats: its handlers are checked when its launch is finished. */
static void body_replaced_unseen(void *argument)
{
    (void)argument;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.finish = LG_FINISH_MARK;
    if (lg_launch_prepare(start_session(), "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
    signal(SIGSEGV, leave);
    if (lg_launch_finished(launch) != LG_OK || !said("SIGSEGV got another handler"))
        _exit(97);
    raise(SIGKILL);
}

static void test_finish_notices(void **state)
{
    (void)state;
    expect_signal(body_replaced_unseen, NULL, SIGKILL);
}

static struct sigaction ours;

static void call_ours(int number, siginfo_t *info, void *context)
{
    ours.sa_sigaction(number, info, context);
}

static void body_replaced_and_chained(void *argument)
{
    (void)argument;
    struct sigaction theirs = { .sa_sigaction = call_ours, .sa_flags = SA_SIGINFO };
    start_session();
    sigaction(SIGSEGV, &theirs, &ours);
    fault();
}

static void test_replaced_and_chained(void **state)
{
    (void)state;
    expect_signal(body_replaced_and_chained, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).address, 0x18);
}

/* ---- blocked faults ---- */

static void *fault_on_thread(void *argument)
{
    (void)argument;
    fault();
    return NULL;
}

static void body_blocked(void *argument)
{
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    if (argument) { /* inherited by the thread that calls lg_start() */
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        start_session();
        fault();
    }
    start_session();
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, fault_on_thread, NULL);
    pthread_join(thread, NULL);
}

static void test_blocked(void **state)
{
    (void)state;
    for (uintptr_t main_thread = 0; main_thread < 2; main_thread++) {
        state_make();
        expect_signal(body_blocked, (void *)main_thread, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).address, 0x18);
        assert_true(log_says(reader, "a thread blocks signals of crashes"));
        lg_reader_close(reader);
    }
}

/* ---- alternate stacks ---- */

/* Frames so large that sp moves before they are written to. On AArch64 sp moves for a small one by
 * the write, which fails: the kernel finds it still on an alternate stack, without room there. */
static int overflow(int depth)
{
    volatile char space[1024];
    space[0] = (char)depth;
    return zero ? 0 : overflow(depth + 1) + space[0];
}

/* The flag of the alternate stack is back, before a later overflow needs it. */
static void body_overflow_after_restore(void *argument)
{
    (void)argument;
    start_session();
    save_and_restore(SIGSEGV);
    overflow(0);
}

static void test_overflow_after_restore(void **state)
{
    (void)state;
    expect_signal(body_overflow_after_restore, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(crash_of(reader, LG_STAGE_DONE).kind, LG_CRASH_STACK_OVERFLOW);
    lg_reader_close(reader);
}

enum { FOREIGN_LARGE, FOREIGN_SMALL, GONE };

static void *overflow_on(void *argument)
{
    static char large[256 << 10];
    stack_t stack = { .ss_sp = large, .ss_size = sizeof large };
    if ((uintptr_t)argument == FOREIGN_SMALL)
        stack.ss_size = 16384; /* room for the kernel's frame and our handler, no more */
    if ((uintptr_t)argument == GONE)
        stack = (stack_t){ .ss_flags = SS_DISABLE };
    sigaltstack(&stack, NULL);
    zero = overflow(0);
    return NULL;
}

static void body_altstack(void *argument)
{
    pthread_t thread;
    start_session();
    pthread_create(&thread, NULL, overflow_on, argument);
    pthread_join(thread, NULL);
}

static void test_altstacks(void **state)
{
    (void)state;
    for (uintptr_t how = FOREIGN_LARGE; how <= GONE; how++) {
        state_make();
        expect_signal(body_altstack, (void *)how, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_crash_info crash;
        if (how == GONE)
            assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND);
        else
            assert_int_equal(crash_of(reader, LG_STAGE_DONE).kind, LG_CRASH_STACK_OVERFLOW);
        lg_reader_close(reader);
    }
}

/* A crash on an alternate stack of the program's own, which has room for little more than what the
 * kernel puts there. */
enum { ON_IT, INSIDE_A_HANDLER, OVERFLOWS_IT, OVERFLOWS_OURS, SMALL_WAYS };

static void crash_inside(int number)
{
    (void)number;
    fault();
}

static void overflow_inside(int number)
{
    (void)number;
    zero = overflow(0);
}

static void body_small_altstack(void *argument)
{
    const uintptr_t how = (uintptr_t)argument;
    const size_t guard = 65536, size = how == OVERFLOWS_IT ? 65536 : (size_t)getauxval(AT_MINSIGSTKSZ) * 2 + 1024;
    struct sigaction action = { .sa_handler = how == INSIDE_A_HANDLER ? crash_inside : overflow_inside, .sa_flags = SA_ONSTACK };
    uint8_t *base = mmap(NULL, guard + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = { .ss_sp = base + guard, .ss_size = size };
    start_session();
    mprotect(base + guard, size, PROT_READ | PROT_WRITE);
    if (how != OVERFLOWS_OURS)
        sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (how == ON_IT)
        fault();
    raise(SIGUSR1);
}

static void test_small_altstack(void **state)
{
    (void)state;
    for (uintptr_t how = 0; how < SMALL_WAYS; how++) {
        state_make();
        expect_signal(body_small_altstack, (void *)how, SIGSEGV);
        lg_reader *reader = newest_run();
        const lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        assert_int_equal(crash.kind, how >= OVERFLOWS_IT ? LG_CRASH_STACK_OVERFLOW : LG_CRASH_NULL_OFFSET);
        lg_reader_close(reader);
    }
}

/* Destructors of thread-local values run late, and are covered all the same. */
static pthread_key_t late_key;

static void overflow_late(void *value)
{
    (void)value;
    zero = overflow(0);
}

static void *have_late_value(void *argument)
{
    pthread_setspecific(late_key, argument);
    return NULL;
}

static void body_overflow_in_destructor(void *argument)
{
    pthread_t thread;
    (void)argument;
    start_session();
    /* made after LaunchGuard's own: called after it */
    pthread_key_create(&late_key, overflow_late);
    pthread_create(&thread, NULL, have_late_value, &zero_address);
    pthread_join(thread, NULL);
}

static void test_overflow_in_destructor(void **state)
{
    (void)state;
    expect_signal(body_overflow_in_destructor, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).kind, LG_CRASH_STACK_OVERFLOW);
}

/* Alternate stacks go with their threads. */
static void *end_at_once(void *argument) { return argument; }

static unsigned count_mappings(void)
{
    char line[512];
    unsigned count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file))
        count++;
    fclose(file);
    return count;
}

static void body_thousand_threads(void *argument)
{
    pthread_t thread;
    (void)argument;
    start_session();
    unsigned before = 0;
    for (int i = 0; i < 1000; i++) {
        if (pthread_create(&thread, NULL, end_at_once, NULL) != 0 || pthread_join(thread, NULL) != 0)
            _exit(91);
        if (i == 10)
            before = count_mappings();
    }
    exit(count_mappings() <= before + 3 ? 0 : 92);
}

static void test_altstacks_are_freed(void **state)
{
    (void)state;
    expect_exit(body_thousand_threads, NULL, 0);
}

/* Many threads that end at once: no more stacks stay than the next threads need. All of a round are
 * alive together, and the heap has one arena: libc then keeps the same after every round. */
static pthread_barrier_t all_alive;

static void *end_together(void *argument)
{
    pthread_barrier_wait(&all_alive);
    return argument;
}

static void body_many_at_once(void *argument)
{
    enum { THREADS = 64 };
    static pthread_t threads[THREADS];
    (void)argument;
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
    pthread_barrier_init(&all_alive, NULL, THREADS);
    start_session();
    unsigned before = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, end_together, NULL) != 0)
                _exit(91);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        if (round == 0)
            before = count_mappings();
    }
    /* libc keeps stacks of threads, too */
    exit(count_mappings() <= before + 3 * 8 ? 0 : 92);
}

static void test_many_altstacks(void **state)
{
    (void)state;
    expect_exit(body_many_at_once, NULL, 0);
}

static void body_small_altstack_noticed(void *argument)
{
    (void)argument;
    static char small[1 << 20];
    const stack_t stack = { .ss_sp = small, .ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) };
    lg_session *session = start_session();
    if (sigaltstack(&stack, NULL) != 0)
        _exit(98);
    lg_heartbeat(session);
    raise(SIGKILL);
}

static void test_small_altstack_noticed(void **state)
{
    (void)state;
    expect_signal(body_small_altstack_noticed, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_true(log_says(reader, "alternate stack"));
    lg_reader_close(reader);
}

/* ---- earlier handlers that hang, and earlier handlers that recover ---- */

#define LONG_MS 60000
/* For a record that must be whole although its limit is shorter than that of the handler. */
#define RECORD_MS 5000
#define HANDLER_MS (RECORD_MS + 500)

static void start_with_deadlines(uint32_t deadline_ms, uint32_t handler_ms)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = deadline_ms;
    options.handler_ms = handler_ms;
    start_with(options);
}

/* The limit for the record ends no handler. */
static void body_earlier_hangs(void *argument)
{
    (void)argument;
    signal(SIGSEGV, hang);
    start_with_deadlines(RECORD_MS, HANDLER_MS);
    fault();
}

/* The limit for the handler is shorter than the limit for the record. */
static void body_earlier_hangs_soon(void *argument)
{
    (void)argument;
    signal(SIGSEGV, hang);
    start_with_deadlines(LONG_MS, 200);
    fault();
}

static const stack_t no_altstack = { .ss_flags = SS_DISABLE };

/* The handler runs on the thread's own stack: only the frames show that the thread is still in the
 * handler. */
static void body_earlier_hangs_without_altstack(void *argument)
{
    (void)argument;
    signal(SIGSEGV, hang);
    start_with_deadlines(LONG_MS, 500);
    sigaltstack(&no_altstack, NULL);
    fault();
}

static void test_earlier_handler_hangs(void **state)
{
    (void)state;
    struct death soon = run_child(body_earlier_hangs_soon, NULL);
    expect_death(soon, SIGSEGV);
    assert_true(soon.ms >= 200);
    static const struct { void (*body)(void *); double least_ms; } hangs[] = {
        { body_earlier_hangs, HANDLER_MS }, { body_earlier_hangs_without_altstack, 500 },
    };
    for (int i = 0; i < 2; i++) {
        state_make();
        struct death death = run_child(hangs[i].body, NULL);
        expect_death(death, SIGSEGV);
        assert_true(death.ms >= hangs[i].least_ms);
        assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 0);
    }
}

enum { WITH_ALTSTACK, WITHOUT_ALTSTACK };

/* A longjmp leaves the first crash. The next crash, deeper in the program, ends the process: it is
 * not inside the handler of the first. */
static void jump_once(int number)
{
    static volatile sig_atomic_t jumped;
    if (!jumped) {
        jumped = 1;
        siglongjmp(escape, 1);
    }
    signal(number, SIG_DFL);
}

static __attribute__((noinline)) void fault_deep(void)
{
    volatile char space[65536];
    space[0] = 1;
    fault();
    (void)space[0]; /* no tail call */
}

static void body_jumps_then_crashes_deeper(void *argument)
{
    signal(SIGSEGV, jump_once);
    start_with_deadlines(LONG_MS, LONG_MS);
    if (argument == (void *)WITHOUT_ALTSTACK)
        sigaltstack(&no_altstack, NULL);
    if (sigsetjmp(escape, 1) == 0)
        fault();
    fault_deep();
}

static void test_earlier_handler_jumps_once(void **state)
{
    (void)state;
    for (uintptr_t how = WITH_ALTSTACK; how <= WITHOUT_ALTSTACK; how++) {
        state_make();
        expect_signal(body_jumps_then_crashes_deeper, (void *)how, SIGSEGV);
        lg_crash_info crash = newest_crash(LG_STAGE_DONE);
        assert_int_equal(crash.sequence, 2);
        assert_int_equal(crash.recrash_count, 0);
    }
}

/* ---- libc's own use of the signal that asks the threads ---- */

static void body_setuid(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jump_out);
    start_session();
    start_waiting(4);
    if (sigsetjmp(escape, 1) == 0)
        fault(); /* takes the signal by which LaunchGuard questions threads */
    /* setuid() makes libc send the signal to every thread, and wait for all of them */
    if (setuid(getuid()) != 0)
        _exit(91);
    exit(0);
}

static void test_setuid_after_a_crash(void **state)
{
    (void)state;
    expect_exit(body_setuid, NULL, 0);
}

/* ---- the state in which an earlier handler is called, and the state that it leaves ---- */

static sigset_t mask_in_handler;

static void look_at_mask(int number)
{
    (void)number;
    pthread_sigmask(SIG_BLOCK, NULL, &mask_in_handler);
    longjmp(escape, 1); /* siglongjmp() without a saved mask: the mask stays as it is here */
}

static void body_mask(void *argument)
{
    sigset_t after;
    struct sigaction action = { .sa_handler = look_at_mask, .sa_flags = argument ? SA_NODEFER : 0 };
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &action, NULL);
    start_session();
    if (setjmp(escape) == 0)
        fault();
    for (int number = 1; number < SIGRTMIN; number++)
        if (sigismember(&mask_in_handler, number) != (number == SIGUSR1 || (number == SIGSEGV && !argument)))
            _exit(100 + number);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    if (sigismember(&after, SIGTERM))
        _exit(90);
    exit(0);
}

/* An earlier handler runs under the mask that the kernel would have given it: its own alarms reach
 * the handler, and a program that leaves the handler by longjmp keeps its signals. */
static void test_mask_of_earlier_handler(void **state)
{
    (void)state;
    for (uintptr_t no_defer = 0; no_defer < 2; no_defer++) {
        state_make();
        expect_exit(body_mask, (void *)no_defer, 0);
    }
}

static volatile sig_atomic_t calls;

static void count(int number)
{
    (void)number;
    calls++;
}

static void count_and_reset(int number)
{
    calls++;
    signal(number, SIG_DFL);
}

static void body_one_shot(void *argument)
{
    struct sigaction action = { .sa_handler = argument ? count_and_reset : count, .sa_flags = argument ? 0 : (int)SA_RESETHAND };
    static const int numbers[] = { SIGQUIT, SIGXCPU, SIGSEGV, SIGTRAP };
    for (size_t i = 0; i < 4; i++)
        sigaction(numbers[i], &action, NULL);
    start_session();
    for (size_t i = 0; i < 3; i++)
        kill(getpid(), numbers[i]);
#if defined(__x86_64__)
    BREAKPOINT(); /* the handler returns after it */
#else
    kill(getpid(), SIGTRAP);
#endif
    exit(calls == 4 ? 0 : 90);
}

/* An earlier handler with SA_RESETHAND: the first signal does not end the process, the next one
 * does. */
static void test_one_shot_handlers(void **state)
{
    (void)state;
    for (uintptr_t how = 0; how < 2; how++) {
        state_make();
        expect_exit(body_one_shot, (void *)how, 0);
    }
}

static char *one_page;

static void unprotect_and_reset(int number)
{
    calls++;
    mprotect(one_page, 4096, PROT_READ | PROT_WRITE);
    signal(number, SIG_DFL);
}

static void body_mended(void *argument)
{
    signal(SIGSEGV, unprotect_and_reset);
    one_page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_session();
    *(volatile char *)one_page = 1;
    if (calls != 1)
        _exit(90);
    if (argument)
        *(volatile char *)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
    exit(0);
}

/* The earlier handler repaired the cause of the crash and removed itself. */
static void test_mending_handler(void **state)
{
    (void)state;
    expect_exit(body_mended, NULL, 0);
    expect_signal(body_mended, (void *)1, SIGSEGV);
}

static int restart_ends[2];
static volatile bool reads;

static void *interrupt(void *argument)
{
    pthread_t first = *(pthread_t *)argument;
    wait_until(reads && others_sleep());
    pthread_kill(first, SIGQUIT);
    wait_until(calls == 1 && others_sleep());
    return (void *)(intptr_t)write(restart_ends[1], "x", 1);
}

static void body_restart(void *argument)
{
    (void)argument;
    struct sigaction action = { .sa_handler = count, .sa_flags = SA_RESTART };
    pthread_t self = pthread_self(), thread;
    char byte;
    sigaction(SIGQUIT, &action, NULL);
    start_session();
    if (pipe(restart_ends) != 0)
        _exit(91);
    pthread_create(&thread, NULL, interrupt, &self);
    reads = true;
    if (read(restart_ends[0], &byte, 1) != 1)
        _exit(92);
    exit(calls == 1 ? 0 : 93);
}

/* System calls with SA_RESTART in the earlier handler are restarted. */
static void test_restart(void **state)
{
    (void)state;
    expect_exit(body_restart, NULL, 0);
}

static void leave_at_once(int number)
{
    (void)number;
    _exit(0);
}

static void body_survives_then_terminates(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jump_out);
    signal(SIGTERM, leave_at_once);
    lg_session *session = start_session();
    if (sigsetjmp(escape, 1) == 0)
        fault();
    lg_heartbeat(session);
    raise(SIGTERM);
}

/* A crash that the program survived long ago is not its end. */
static void test_terminated_after_a_crash(void **state)
{
    (void)state;
    lg_verdict verdict;
    expect_exit(body_survives_then_terminates, NULL, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(crash_of(reader, LG_STAGE_DONE).handled, 1);
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_TERMINATED);
    lg_reader_close(reader);
}

static void body_lost_then_found(void *argument)
{
    (void)argument;
    signal(SIGABRT, jump_out);
    start_session();
    save_and_restore(SIGABRT);
    if (sigsetjmp(escape, 1) == 0)
        raise(SIGABRT);
    fault();
}

/* Fields that were unknown in one crash are known in the next. */
static void test_siginfo_of_the_next(void **state)
{
    (void)state;
    expect_signal(body_lost_then_found, NULL, SIGSEGV);
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.siginfo_lost, 0);
    assert_int_equal(crash.has_address, 1);
    assert_int_equal(crash.address, 0x18);
}

/* ---- C++ ---- */

#ifdef CPLUSPLUS
extern void (*set_terminate(void (*)(void)))(void) __asm__("_ZSt13set_terminatePFvvE");
extern void terminate(void) __asm__("_ZSt9terminatev");

static void terminate_again(void)
{
    if (calls++)
        abort();
    terminate(); /* as what() of an exception does that throws itself */
}

static void body_terminates_twice(void *argument)
{
    (void)argument;
    set_terminate(terminate_again);
    start_with_deadlines(LONG_MS, LONG_MS);
    terminate();
}

static void test_terminates_twice(void **state)
{
    (void)state;
    expect_signal(body_terminates_twice, NULL, SIGABRT); /* the thread does not wait for itself */
    assert_int_equal(newest_crash(LG_STAGE_DONE).kind, LG_CRASH_ABORT_CPP_TERMINATE);
}
#else
static void test_terminates_twice(void **state)
{
    (void)state;
    skip_because("there is no C++ library for this libc");
}
#endif

static pthread_barrier_t together;

static void *fault_together(void *argument)
{
    pthread_barrier_wait(&together);
    fault();
    return argument;
}

static void body_many_hang(void *argument)
{
    (void)argument;
    pthread_t threads[150];
    signal(SIGSEGV, hang);
    start_with_deadlines(LONG_MS, 500);
    pthread_barrier_init(&together, NULL, 150);
    for (int i = 0; i < 150; i++)
        pthread_create(&threads[i], NULL, fault_together, NULL);
    for (int i = 0; i < 150; i++)
        pthread_join(threads[i], NULL);
}

/* Threads that crashed at the same time question the first thread, too. The watch gets its answer
 * all the same. */
static void test_earlier_handler_hangs_for_many(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        state_make();
        expect_signal(body_many_hang, NULL, SIGSEGV);
        /* The first one, or on a busy machine a later one: a thread may not get to answer in
         * time. */
        lg_crash_info crash;
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
        assert_within(crash.sequence, 1, 150);
        lg_reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_lost_flags), WITH_STATE(test_lost_flags_at_once), WITH_STATE(test_overflow_after_restore),  WITH_STATE(test_lost_flags_of_a_sent_signal),
        WITH_STATE(test_replaced),    WITH_STATE(test_finish_notices),
        WITH_STATE(test_blocked),     WITH_STATE(test_replaced_and_chained),
        WITH_STATE(test_altstacks),   WITH_STATE(test_small_altstack_noticed),
        WITH_STATE(test_small_altstack), WITH_STATE(test_overflow_in_destructor), WITH_STATE(test_altstacks_are_freed),
        WITH_STATE(test_many_altstacks),
        WITH_STATE(test_earlier_handler_hangs), WITH_STATE(test_earlier_handler_jumps_once),
        WITH_STATE(test_setuid_after_a_crash),
        WITH_STATE(test_terminates_twice),
        WITH_STATE(test_earlier_handler_hangs_for_many),
        WITH_STATE(test_mask_of_earlier_handler),
        WITH_STATE(test_one_shot_handlers),
        WITH_STATE(test_mending_handler),
        WITH_STATE(test_restart),
        WITH_STATE(test_terminated_after_a_crash),
        WITH_STATE(test_siginfo_of_the_next),
    };
    return cmocka_run_group_tests_name("coexist", tests, NULL, NULL);
}
