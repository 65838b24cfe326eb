/* Orders of events between threads that once gave wrong results. Each test holds one thread at a
 * fault point until another thread has passed its own point. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/deadline.h"
#include "capture/internal.h"
#include "os/fault_point.h"
#include "session/session.h"

#define LONG_MS 60000 /* longer than a child may live */

static lg_session *session;

static void start(uint32_t deadline_ms, uint32_t handler_ms)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = deadline_ms;
    options.handler_ms = handler_ms;
    options.hang_launching_ms = options.hang_running_ms = 100;
    session = start_with(options);
}

static void await(_Atomic unsigned *count, unsigned least)
{
    wait_until(atomic_load(count) >= least);
}

/* ---- a handler forks where the watch thread is about to be made ---- */

static pid_t forked = -1;

static void hook_fork(const char *point)
{
    if (strcmp(point, "watch: wanted") == 0 && forked < 0)
        forked = fork();
}

static void body_fork_in_wake(void *argument)
{
    (void)argument;
    start(LONG_MS, LONG_MS);
    lg__fault_hook = hook_fork;
    lg__capture_wake_watch();
    const unsigned threads = count_threads();
    int status;
    if (forked == 0)
        _exit((int)threads);
    if (waitpid(forked, &status, 0) != forked)
        _exit(99);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static void test_fork_in_wake(void **state)
{
    (void)state;
    expect_exit(body_fork_in_wake, NULL, 1);
}

/* ---- the watch thread looks while a crash ends well, or sleeps until the crash's deadline ---- */

static char *page;
static _Atomic unsigned sleeps;

static void mends(int number)
{
    (void)number;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void hook_look_at_end(const char *point)
{
    if (strcmp(point, "watch: sleeps") == 0)
        atomic_fetch_add(&sleeps, 1);
    if (strcmp(point, "crash: survived") != 0)
        return;
    unsigned before = atomic_load(&sleeps);
    lg__capture_wake_watch();
    await(&sleeps, before + 1);
}

static void body_hang_after_crash(void *argument)
{
    signal(SIGSEGV, mends);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start(LONG_MS, LONG_MS);
    lg_heartbeat(session);
    if (argument)
        lg__fault_hook = hook_look_at_end;
    *(volatile char *)page = 1;
    wait_until(atomic_load(&session->host.run.state->hang_ns));
    _exit(0);
}

static void test_hang_after_crash(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_exit(body_hang_after_crash, i ? (void *)state : NULL, 0);
        state_remove();
    }
}

/* ---- an earlier handler that runs, or was left by longjmp unseen, delays no record ---- */

static __thread sigjmp_buf way_out;
static __thread volatile bool may_escape;
static _Atomic unsigned crashes, recorders, inside;

static void jumps_or_dies(int number)
{
    if (may_escape)
        siglongjmp(way_out, 1);
    signal(number, SIG_DFL);
}

static void survive_by_jumping(void)
{
    may_escape = true;
    if (sigsetjmp(way_out, 1) == 0)
        crash();
    may_escape = false;
}

/* From here on a crash's handler has a short time: what the program is to do in that time is done,
 * however long it took. */
static void shorten_time(struct lg__crash *crash, uint32_t ms)
{
    const long timer = atomic_load(&crash->timer);
    lg__fixed.options.handler_ms = ms;
    if (timer >= 0) {
        lg__os_timer_end(timer);
        lg__deadline_arm_timer(crash);
    }
    lg__deadline_arm_handler(crash);
    lg__capture_wake_watch();
}

static void *hangs_in_handler(void *argument)
{
    crash();
    return argument;
}

static void first_hangs(int number)
{
    if (atomic_fetch_add(&inside, 1) == 0)
        hang(number);
    signal(number, SIG_DFL);
}

static void body_handler_is_busy(void *argument)
{
    (void)argument;
    signal(SIGSEGV, first_hangs);
    start(LONG_MS, LONG_MS);
    in_thread(hangs_in_handler, NULL);
    await(&inside, 1);
    crash();
}

static void test_handler_is_busy(void **state)
{
    (void)state;
    lg_run_info run;
    uint32_t count;
    state_make();
    expect_signal(body_handler_is_busy, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    /* the crash that ends the process has a brief record */
    lg_crash_info crash = crash_of(reader, LG_STAGE_FRAMES);
    assert_int_equal(crash.tid, run.pid);
    assert_int_equal(crash.brief, 1);
    assert_int_equal(crash.handled, 0);
    assert_int_equal(crash.within, 0);
    assert_int_equal(lg_reader_crash_count(reader, &count), LG_OK);
    assert_int_equal(count, 2);
    assert_int_equal(lg_reader_select_crash(reader, 0), LG_OK);
    crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_not_equal(crash.tid, run.pid);
    assert_int_equal(crash.handled, 0);
    lg_reader_close(reader);
    state_remove();
}

/* ---- a crash inside an earlier handler is shown with the crash that called the handler ---- */

static void aborts(int number)
{
    (void)number;
    abort();
}

static void body_nested(void *argument)
{
    (void)argument;
    signal(SIGSEGV, aborts);
    start(LONG_MS, LONG_MS);
    crash();
}

static void test_nested(void **state)
{
    (void)state;
    uint32_t count;
    state_make();
    expect_signal(body_nested, NULL, SIGABRT);
    lg_reader *reader = newest_run();
    lg_crash_info cause = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(cause.signal, SIGSEGV);
    assert_int_equal(lg_reader_crash_count(reader, &count), LG_OK);
    assert_int_equal(count, 2);
    assert_int_equal(lg_reader_select_crash(reader, 1), LG_OK);
    lg_crash_info nested = crash_of(reader, LG_STAGE_FRAMES);
    assert_int_equal(nested.signal, SIGABRT);
    assert_int_equal(nested.within, cause.sequence);
    lg_reader_close(reader);
    state_remove();
}

/* ---- an earlier handler with a frame that is larger than the alternate stack ---- */

__attribute__((noinline)) static void needs_much(int number)
{
    volatile char much[512 * 1024];
    __asm__ volatile("" : : "r"(much) : "memory"); /* the compiler keeps all of it */
    if (atomic_fetch_add(&inside, 1) > 20)
        _exit(96); /* else for ever */
    much[0] = (char)number; /* memory that is not there */
    much[sizeof much - 1] = much[0];
}

static void body_needs_much(void *argument)
{
    struct sigaction action = { .sa_handler = needs_much, .sa_flags = SA_ONSTACK | SA_NODEFER };
    sigaction(SIGSEGV, &action, NULL);
    start(LONG_MS, LONG_MS);
    /* nothing is mapped there by accident */
    stack_t stack;
    sigaltstack(NULL, &stack);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t below = page; below <= 1024 * 1024; below += page)
        mmap((char *)stack.ss_sp - page - below, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    crash();
    (void)argument;
}

static void test_needs_much(void **state)
{
    (void)state;
    uint32_t count;
    state_make();
    expect_signal(body_needs_much, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    lg_crash_info cause = crash_of(reader, LG_STAGE_DONE);
    assert_false(cause.handled);
    assert_int_equal(cause.sequence, 1);
    assert_int_equal(lg_reader_crash_count(reader, &count), LG_OK);
    assert_true(count > 1);
    assert_int_equal(lg_reader_select_crash(reader, count - 1), LG_OK);
    lg_crash_info nested;
    assert_int_equal(lg_reader_crash(reader, &nested), LG_OK);
    assert_int_equal(nested.within, cause.sequence);
    lg_reader_close(reader);
    state_remove();
}

/* ---- work of other threads is no evidence about a crash whose handler still runs ---- */

static _Atomic unsigned beaten;

static void works_long(int number)
{
    atomic_fetch_add(&inside, 1);
    await(&beaten, 100);
    signal(number, SIG_DFL);
}

static void *beats(void *argument)
{
    await(&inside, 1);
    for (;; atomic_fetch_add(&beaten, 1)) {
        lg_heartbeat(session);
        rest(1);
    }
    return argument;
}

static void body_others_beat(void *argument)
{
    (void)argument;
    signal(SIGSEGV, works_long);
    start(LONG_MS, LONG_MS);
    in_thread(beats, NULL);
    crash();
}

static void test_others_beat(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_others_beat, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 0);
    state_remove();
}

/* ---- a program that recovers by longjmp lives, whether it has an alternate stack or not ---- */

static void body_recovers(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    if (argument)
        sigaltstack(&none, NULL);
    for (int i = 0; i < 30; i++)
        survive_by_jumping();
    exit(0);
}

static void test_recovers(void **state)
{
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_exit(body_recovers, i ? (void *)state : NULL, 0);
        assert_int_equal(newest_verdict().end, LG_END_CLEAN);
        state_remove();
    }
}

/* A thread recovered and has left no evidence yet, while another thread ends the process by
 * exit(). */
static void *recovers_once(void *argument)
{
    survive_by_jumping();
    atomic_fetch_add(&crashes, 1);
    for (;;)
        pause();
    return argument;
}

static void body_exits_after(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    in_thread(recovers_once, NULL);
    await(&crashes, 1);
    exit(0);
}

static void test_exits_after(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_exits_after, NULL, 0);
    assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 1);
    assert_int_equal(newest_verdict().end, LG_END_CLEAN);
    state_remove();
}

/* ---- the crashed thread ends the process, right after a handler that took itself away ---- */

static void takes_itself_away(int number)
{
    signal(number, SIG_DFL);
}

static void body_exits_at_once(void *argument)
{
    (void)argument;
    signal(SIGSEGV, takes_itself_away);
    start(LONG_MS, LONG_MS);
    kill(getpid(), SIGSEGV); /* sent: the signal does not come again */
    exit(0);
}

static void test_exits_at_once(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_exits_at_once, NULL, 0);
    assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 1);
    assert_int_equal(newest_verdict().end, LG_END_CLEAN);
    state_remove();
}

/* ---- crashes and longjmp without a pause do not delay another thread's crash ---- */

static void *lives_by_jumping(void *argument)
{
    for (;; atomic_fetch_add(&crashes, 1))
        survive_by_jumping();
    return argument;
}

static void body_no_pause(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    in_thread(lives_by_jumping, NULL);
    await(&crashes, 1);
    abort();
}

/* The newest run has a whole record of a crash of its first thread. */
static void assert_crash_of_main_thread(void)
{
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_run_info run;
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(crash.tid, run.pid);
    assert_true(crash.stages >> LG_STAGE_DONE & 1);
    lg_reader_close(reader);
}

static void test_no_pause(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_no_pause, NULL, SIGABRT);
    assert_crash_of_main_thread();
    state_remove();
}

/* ---- the deadline of a crash that was left by longjmp comes while the next crash begins ---- */

static _Atomic unsigned late, looked;

static void hook_old_deadline(const char *point)
{
    if (strcmp(point, "lock: taken") == 0 && atomic_fetch_add(&crashes, 1) == 1) {
        lg__fixed.options.handler_ms = LONG_MS; /* of this crash */
        pass_time(400, "the watch thread wakes at the deadline of the first crash");
    }
}

/* The reverse order: the watch has found that the first crash is over, and the next crash begins
 * before the watch goes on. */
static void hook_old_look(const char *point)
{
    if (strcmp(point, "deadline: over") == 0 && atomic_fetch_add(&late, 1) == 0) {
        await(&crashes, 2);
    } else if (strcmp(point, "watch: looked") == 0 && atomic_load(&late)) {
        atomic_fetch_add(&looked, 1);
    } else if (strcmp(point, "lock: taken") == 0 && atomic_fetch_add(&crashes, 1) == 1) {
        lg__fixed.options.handler_ms = LONG_MS;
        await(&looked, 1);
    }
}

static void body_old_deadline(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    sigaltstack(&none, NULL); /* so that its longjmp leaves no earlier evidence */
    lg__fault_hook = argument ? hook_old_look : hook_old_deadline;
    survive_by_jumping();
    shorten_time(&lg__crash_slots[0], 200);
    if (argument)
        await(&late, 1);
    survive_by_jumping();
    _exit(0);
}

static void test_old_deadline(void **state)
{
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_exit(body_old_deadline, i ? (void *)state : NULL, 0);
        state_remove();
    }
}

/* ---- a thread without an alternate stack calls longjmp unseen, and its time has passed ---- */

static void *faults(void *argument)
{
    crash();
    return argument;
}

static void body_cannot_tell(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, 100);
    sigaltstack(&none, NULL);
    survive_by_jumping();
    wait_until(!argument || !lg__capture_busy());
    in_thread(faults, NULL);
    for (;;)
        pause();
}

static void test_cannot_tell(void **state)
{
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_signal(body_cannot_tell, i ? (void *)state : NULL, SIGSEGV);
        state_remove();
    }
}

/* ---- several threads crash at once: one full record at a time ---- */

static void hook_one_recorder(const char *point)
{
    if (strcmp(point, "lock: taken") == 0) {
        if (atomic_fetch_add(&recorders, 1) != 0)
            _exit(90);
        pass_time(20, "a second recorder would come");
    } else if (strcmp(point, "handler: recorded") == 0) {
        atomic_fetch_sub(&recorders, 1);
    }
}

static void body_two_wait(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    lg__fault_hook = hook_one_recorder;
    survive_by_jumping();
    in_thread(faults, NULL);
    in_thread(faults, NULL);
    for (;;)
        pause();
}

static void test_two_wait(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_two_wait, NULL, SIGSEGV);
    state_remove();
}

/* ---- an earlier handler that blocks every signal, and hangs or calls longjmp ---- */

static void block_everything(void)
{
    const uint64_t all = UINT64_MAX;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
}

static void blocks_and_hangs(int number)
{
    (void)number;
    block_everything();
    for (;;)
        pause();
}

static void body_blocks_and_hangs(void *argument)
{
    (void)argument;
    signal(SIGSEGV, blocks_and_hangs);
    start(LONG_MS, 100);
    crash();
}

static void *ends_when_over(void *argument)
{
    wait_until(!lg__capture_busy());
    _exit(0);
    return argument;
}

static void body_blocks_and_jumps(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    survive_by_jumping();
    block_everything();
    shorten_time(&lg__crash_slots[0], 100);
    in_thread(ends_when_over, NULL);
    for (;;)
        pause();
}

/* On its own stack: where the frame of our handler was, it is gone. */
static void body_jumps_without_stack(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    sigaltstack(&none, NULL);
    survive_by_jumping();
    block_everything();
    shorten_time(&lg__crash_slots[0], 100);
    in_thread(ends_when_over, NULL);
    for (;;)
        pause();
}

static void test_blocks_everything(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_jumps_without_stack, NULL, 0);
    assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 1);
    state_remove();
    state_make();
    expect_signal(body_blocks_and_hangs, NULL, SIGSEGV);
    state_remove();
    state_make();
    expect_exit(body_blocks_and_jumps, NULL, 0);
    state_remove();
}

/* ---- a fork while another thread asks for a start that has been made ---- */

static _Atomic unsigned starts;

static void hook_hold_start(const char *point)
{
    if (strcmp(point, "start: locked") != 0)
        return;
    atomic_fetch_add(&starts, 1);
    for (;;)
        pause();
}

static void *starts_again(void *argument)
{
    lg_session *again;
    lg_start(NULL, &again);
    return argument;
}

static void body_forks_meanwhile(void *argument)
{
    int status;
    (void)argument;
    start(LONG_MS, LONG_MS);
    lg__fault_hook = hook_hold_start;
    in_thread(starts_again, NULL);
    await(&starts, 1);
    pid_t child = fork();
    if (child == 0) {
        lg_session *again;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        lg__fault_hook = NULL;
        _exit(lg_start(NULL, &again) == LG_ERR_FORKED ? 0 : 92);
    }
    _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 93);
}

static void test_forks_meanwhile(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_forks_meanwhile, NULL, 0);
    state_remove();
}

/* ---- a long limit for handlers: an early longjmp is noticed, a sleeper sleeps on ---- */

static void body_hang_after_jump(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    lg_heartbeat(session);
    survive_by_jumping();
    wait_until(atomic_load(&session->host.run.state->hang_ns));
    _exit(0);
}

static void hook_count_looks(const char *point)
{
    if (strcmp(point, "watch: looks") == 0)
        atomic_fetch_add(&looked, 1);
}

static void *ends_when_looked_at(void *argument)
{
    await(&looked, 3);
    _exit(0);
    return argument;
}

static void sleeps_long(int number)
{
    (void)number;
    lg__capture_wake_watch();
    in_thread(ends_when_looked_at, NULL);
    pause();
    _exit(94);
}

static void body_sleeps_long(void *argument)
{
    (void)argument;
    signal(SIGSEGV, sleeps_long);
    start(LONG_MS, LONG_MS);
    lg__fault_hook = hook_count_looks;
    crash();
}

static void test_long_time(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_hang_after_jump, NULL, 0);
    state_remove();
    state_make();
    expect_exit(body_sleeps_long, NULL, 0);
    state_remove();
}

/* ---- the watch thread notices late that a crash was left: the next crash is over as well ---- */

static _Atomic unsigned left, over;

static void hook_late_word(const char *point)
{
    if (strcmp(point, "crash: survived") != 0 || atomic_load(&left))
        return;
    atomic_fetch_add(&left, 1);
    await(&over, 1);
}

static void jumps_then_mends(int number)
{
    if (may_escape)
        siglongjmp(way_out, 1);
    mends(number);
    signal(number, SIG_DFL);
}

static void body_late_word(void *argument)
{
    (void)argument;
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, jumps_then_mends);
    start(LONG_MS, LONG_MS);
    lg_heartbeat(session);
    lg__fault_hook = hook_late_word;
    survive_by_jumping();
    await(&left, 1);
    *(volatile char *)page = 1;
    atomic_fetch_add(&over, 1);
    wait_until(atomic_load(&session->host.run.state->hang_ns));
    _exit(0);
}

static void test_late_word(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_late_word, NULL, 0);
    state_remove();
}

/* ---- a thread answers after every wait has ended: still one question at a time ---- */

static const char *slow_point;

static void hook_slow_answer(const char *point)
{
    if (strcmp(point, slow_point) == 0)
        pass_time(200, "longer than the watch thread waits for an answer");
}

static void body_answers_slowly(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    slow_point = argument;
    signal(SIGSEGV, hang);
    start(LONG_MS, 100);
    sigaltstack(&none, NULL); /* so that only the thread itself has evidence */
    lg__fault_hook = hook_slow_answer;
    crash();
}

static void test_answers_slowly(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_answers_slowly, "thread: asked", SIGSEGV);
    state_remove();
}

/* The next question comes before the thread has left the place where it stood still. */
static void test_leaves_slowly(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_answers_slowly, "snapshot: stands", SIGSEGV);
    state_remove();
}

/* ---- a thread that is late with its answer keeps no handler for ever ---- */

static _Atomic unsigned held;

/* Longer than any patience of the watch thread; the later answers come at once. */
static void hook_first_answer(const char *point)
{
    if (strcmp(point, "question: writes") == 0 && atomic_fetch_add(&held, 1) == 0)
        pass_time(2500, "longer than a question stands");
}

/* A thread that runs is questioned, where a sleeping one on an alternate stack is not. */
static void runs_for_ever(int number)
{
    (void)number;
    for (;;) {}
}

static void body_writes_slowly(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    signal(SIGSEGV, argument ? runs_for_ever : hang);
    start(LONG_MS, 100);
    if (!argument)
        sigaltstack(&none, NULL);
    lg__fault_hook = hook_first_answer;
    crash();
}

static void test_writes_slowly(void **state)
{
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_signal(body_writes_slowly, i ? (void *)state : NULL, SIGSEGV);
        state_remove();
    }
}

/* ---- a handler whose place was unknown at its deadline is ended once the place is known ---- */

static void block_question(int how)
{
    const uint64_t bit = UINT64_C(1) << (33 - 1); /* LG__QUESTION_SIGNAL */
    syscall(SYS_rt_sigprocmask, how, &bit, NULL, sizeof bit);
}

/* Runs, and cannot be questioned, until its deadline is over. */
static void hides_then_hangs(int number)
{
    block_question(SIG_BLOCK);
    while (lg__capture_busy()) {}
    block_question(SIG_UNBLOCK);
    hang(number);
}

static void body_found_later(void *argument)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    signal(SIGSEGV, hides_then_hangs);
    start(LONG_MS, 100);
    if (!argument)
        sigaltstack(&none, NULL);
    crash();
}

static void test_found_later(void **state)
{
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_signal(body_found_later, i ? (void *)state : NULL, SIGSEGV);
        state_remove();
    }
}

/* Meanwhile the program is watched as ever. */
static void hides_for_ever(int number)
{
    (void)number;
    block_question(SIG_BLOCK);
    shorten_time(&lg__crash_slots[0], 100);
    for (;;) {}
}

static void body_watched_meanwhile(void *argument)
{
    (void)argument;
    signal(SIGSEGV, hides_for_ever);
    start(LONG_MS, LONG_MS);
    lg_heartbeat(session);
    in_thread(faults, NULL);
    wait_until(atomic_load(&session->host.run.state->hang_ns));
    _exit(0);
}

static void test_watched_meanwhile(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_watched_meanwhile, NULL, 0);
    state_remove();
}

/* ---- the handler of a question runs on the alternate stack, too: it is no earlier handler ---- */

static _Atomic unsigned looks, deadlines, standing;

static void count_looks(const char *point)
{
    atomic_fetch_add(&looks, strcmp(point, "watch: looks") == 0);
}

/* The thread sleeps in that handler while the watch thread looks more often than an end takes. */
static void hook_before_answer(const char *point)
{
    count_looks(point);
    if (strcmp(point, "thread: asked") == 0)
        await(&looks, 8);
}

/* The question is closed by then, and the next deadline has come: the handler begins late. The
 * timer of the crash cannot look meanwhile. */
static void hook_after_close(const char *point)
{
    count_looks(point);
    if (strcmp(point, "deadline: over") == 0 && atomic_fetch_add(&deadlines, 1) == 1)
        atomic_store(&looks, 0);
    if (strcmp(point, "thread: asked") == 0) {
        block_question(SIG_BLOCK);
        await(&deadlines, 2);
        await(&looks, 8);
        block_question(SIG_UNBLOCK);
    }
}

/* The timer of the crash looks from inside that handler, more often than an end takes. */
static void hook_look_inside(const char *point)
{
    count_looks(point);
    if (strcmp(point, "deadline: over") == 0 && lg__os_tid() == getpid())
        atomic_fetch_add(&looked, 1);
    while (strcmp(point, "thread: asked") == 0 && atomic_load(&looked) < 6 && lg__capture_busy()) {}
}

/* The answer comes between two looks of the watch thread: the next one finds a thread that sleeps
 * there. */
static void hook_between_looks(const char *point)
{
    count_looks(point);
    if (strcmp(point, "watch: looks") == 0 && atomic_load(&looks) == 2) {
        uint64_t sp, pc;
        await(&standing, 1);
        wait_until(lg__thread_sleeps(getpid(), &sp, &pc));
    }
    while (strcmp(point, "thread: asked") == 0 && atomic_load(&looks) < 2) {}
    if (strcmp(point, "snapshot: stands") == 0)
        atomic_fetch_add(&standing, 1);
}

static const struct jumped { void (*hook)(const char *point); } jumped[] = {
    { hook_before_answer }, { hook_after_close }, { hook_look_inside }, { hook_between_looks }
};

static bool is_handled(void)
{
    return (atomic_load(&lg__fixed.options.run.record->outcome) & ((1u << LG__OUTCOME_BITS) - 1)) == LG__OUTCOME_HANDLED;
}

static void body_jumped_answers_slowly(void *argument)
{
    const struct jumped *how = argument;
    signal(SIGSEGV, jumps_or_dies);
    start(LONG_MS, LONG_MS);
    lg__fault_hook = how->hook;
    survive_by_jumping();
    shorten_time(&lg__crash_slots[0], 100);
    while (!is_handled()) {}
    _exit(0);
}

static void test_jumped_answers_slowly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jumped / sizeof jumped[0]; i++) {
        state_make();
        expect_exit(body_jumped_answers_slowly, (void *)(uintptr_t)&jumped[i], 0);
        assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 1);
        state_remove();
    }
}

/* ---- a thread that recovered stands still for the record of another thread's crash ---- */

/* The watch thread begins to look while the thread stands, beyond the time of its handler. */
static void hook_long_record(const char *point)
{
    if (strcmp(point, "watch: looks") == 0) {
        await(&recorders, 1);
        atomic_fetch_add(&looks, 1);
    }
    if (strcmp(point, "threads: asked") == 0) {
        atomic_store(&recorders, 1);
        await(&looks, 1);
        pass_time(400, "longer than the looks that end a process take");
    }
}

static void ignores(int number)
{
    (void)number;
}

static void *recovers_and_runs(void *argument)
{
    survive_by_jumping();
    atomic_fetch_add(&crashes, 1);
    for (;;) {}
    return argument;
}

static void body_stands_for_record(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    signal(SIGBUS, ignores);
    start(LONG_MS, LONG_MS);
    survive_by_jumping(); /* has the full record, so that the crash of the other thread is brief */
    lg__fault_hook = hook_long_record;
    in_thread(recovers_and_runs, NULL);
    await(&crashes, 1);
    shorten_time(&lg__crash_slots[1], 100);
    lg__fixed.options.handler_ms = LONG_MS; /* of the crash that comes next */
    lg_heartbeat(session); /* the first crash is over: the next one gets the full record */
    raise(SIGBUS);
    wait_until(!lg__capture_busy());
    _exit(0);
}

static void test_stands_for_record(void **state)
{
    (void)state;
    state_make();
    expect_exit(body_stands_for_record, NULL, 0);
    state_remove();
}

/* ---- a guard asks where its thread is, while another thread records a crash ---- */

static char *guarded;
static _Atomic unsigned mended;

static bool mends_page(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)ucontext;
    return info->si_addr == guarded && mprotect(guarded, 4096, PROT_READ | PROT_WRITE) == 0;
}

static void *faults_meanwhile(void *argument)
{
    survive_by_jumping(); /* stays open: nobody has seen yet that its handler was left */
    atomic_store(&crashes, 1);
    await(&recorders, 1);
    const uint32_t age = lg__memory_age[LG__WALKER_CRASH];
    *(volatile char *)guarded = 1;
    if (lg__memory_age[LG__WALKER_CRASH] != age)
        _exit(1); /* the record lost its memory */
    atomic_store(&mended, 1);
    return argument;
}

static void hook_records(const char *point)
{
    if (strcmp(point, "lock: taken") != 0 || lg__os_tid() != getpid())
        return;
    atomic_store(&recorders, 1);
    await(&mended, 1);
}

static void body_guard_meanwhile(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jumps_or_dies);
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start(LONG_MS, LONG_MS);
    lg__capture_set_program_chance(mends_page);
    in_thread(faults_meanwhile, NULL);
    await(&crashes, 1);
    lg__fault_hook = hook_records;
    crash();
}

static void test_guard_meanwhile(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_guard_meanwhile, NULL, SIGSEGV);
    state_remove();
}

/* ---- a thread that waits for a processor before it knows its number keeps its turn ---- */

static void hook_waits_for_processor(const char *point)
{
    if (strcmp(point, "handler: first") != 0 || lg__os_tid() != getpid())
        return;
    atomic_store(&crashes, 1);
    await(&recorders, 1);
    pass_time(300, "longer than another thread leaves the lock to a thread without a number");
}

static void *faults_behind(void *argument)
{
    await(&crashes, 1);
    atomic_store(&recorders, 1);
    crash();
    return argument;
}

static void body_waits_for_processor(void *argument)
{
    (void)argument;
    start(LONG_MS, LONG_MS);
    lg__fault_hook = hook_waits_for_processor;
    in_thread(faults_behind, NULL);
    crash();
}

static void test_waits_for_processor(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_waits_for_processor, NULL, SIGSEGV);
    assert_crash_of_main_thread();
    state_remove();
}

/* ---- a thread that crashes once more before it knows its number does not wait for itself ---- */

static void hook_crashes_again(const char *point)
{
    static bool again;
    if (strcmp(point, "handler: first") == 0 && !again) {
        again = true;
        crash();
    }
}

static void body_crashes_again(void *argument)
{
    (void)argument;
    start(LONG_MS, LONG_MS);
    lg__fault_hook = hook_crashes_again;
    crash();
}

static void test_crashes_again(void **state)
{
    (void)state;
    state_make();
    expect_signal(body_crashes_again, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_HEADER).signal, SIGSEGV);
    state_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_fork_in_wake),
        cmocka_unit_test(test_hang_after_crash),
        cmocka_unit_test(test_handler_is_busy),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_needs_much),
        cmocka_unit_test(test_others_beat),
        cmocka_unit_test(test_recovers),
        cmocka_unit_test(test_exits_after),
        cmocka_unit_test(test_exits_at_once),
        cmocka_unit_test(test_no_pause),
        cmocka_unit_test(test_old_deadline),
        cmocka_unit_test(test_cannot_tell),
        cmocka_unit_test(test_two_wait),
        cmocka_unit_test(test_blocks_everything),
        cmocka_unit_test(test_forks_meanwhile),
        cmocka_unit_test(test_long_time),
        cmocka_unit_test(test_answers_slowly),
        cmocka_unit_test(test_leaves_slowly),
        cmocka_unit_test(test_writes_slowly),
        cmocka_unit_test(test_found_later),
        cmocka_unit_test(test_watched_meanwhile),
        cmocka_unit_test(test_jumped_answers_slowly),
        cmocka_unit_test(test_stands_for_record),
        cmocka_unit_test(test_late_word),
        cmocka_unit_test(test_guard_meanwhile),
        cmocka_unit_test(test_waits_for_processor),
        cmocka_unit_test(test_crashes_again),
    };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
