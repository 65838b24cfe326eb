/* The handler under attack: a fault, an abort, SIGKILL or an endless wait after every stage. The
 * record holds all committed stages, the wait status is right, and the handler always ends. */
#include "harness.h"

#undef NDEBUG
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
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
#include "capture/capture.h"
#include "os/fault_point.h"


static volatile int zero;

enum action { FAULT, ABORT, KILL, HANG, OTHER_THREAD };
static const char *const action_names[] = { "fault", "abort", "kill", "hang", "other thread" };

static struct attack {
    const char *point;
    enum action action;
    unsigned last_stage;
} attack;

static void *fault_too(void *argument)
{
    (void)argument;
    *(volatile int *)(uintptr_t)(zero + 8) = 1;
    return NULL;
}

static pthread_t other;
static volatile sig_atomic_t runs, go;

static void *wait_and_fault(void *argument)
{
    runs = 1;
    wait_until(go);
    return fault_too(argument);
}

static void hook(const char *point)
{
    if (strcmp(point, attack.point) != 0)
        return;
    switch (attack.action) {
    case FAULT: *(volatile int *)(uintptr_t)(zero + 4) = 1; break;
    case ABORT: abort();
    case KILL: raise(SIGKILL); break;
    case HANG:
        /* the time for the record ends soon, but not before the stages that come first are done */
        lg__deadline_disarm();
        lg__fixed.options.deadline_ms = 300;
        atomic_store(&lg__crash_current()->deadline_ns, 0);
        lg__deadline_arm(lg__crash_current());
        lg__deadline_arm_signal(lg__crash_current());
        hang(0);
        break;
    case OTHER_THREAD:
        go = 1;
        /* the other thread is stopped, and would not come to its crash */
        if (attack.last_stage >= LG_STAGE_THREADS)
            pass_time(20, "a thread that runs would have come to its crash");
        else
            wait_until(lg__fixed.options.run.record->note_count != 0);
        break;
    }
}

static void body(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.spare_walk = 1;
    start_with(options);
    lg__fault_patience = 100; /* no SIGKILL soon after the deadline */
    pthread_create(&other, NULL, wait_and_fault, NULL);
    wait_until(runs);
    lg__fault_hook = hook;
    crash();
}

static const struct place {
    const char *point;
    unsigned last_stage; /* committed when the point is reached */
} places[] = {
    { "handler: header", LG_STAGE_HEADER },     { "handler: context", LG_STAGE_CONTEXT }, { "handler: frames", LG_STAGE_FRAMES },
    { "handler: before dwarf", LG_STAGE_FRAMES }, { "handler: dwarf", LG_STAGE_DWARF },   { "handler: messages", LG_STAGE_MESSAGES },
    { "handler: threads", LG_STAGE_THREADS },   { "handler: thread stacks", LG_STAGE_THREADS }, { "process: before map", LG_STAGE_THREADS },
    { "handler: process", LG_STAGE_PROCESS },
    { "handler: done", LG_STAGE_DONE },
};

static void test_place(void **state)
{
    const struct place *place = *state;
    bool lost = false;
    for (enum action action = FAULT; action <= OTHER_THREAD; action++) {
        /* Before the walk by DWARF nothing in the handler can wait for anything but a page. A wait
         * that a test adds there is no case of this test. */
        if (action == HANG && (place->last_stage <= LG_STAGE_CONTEXT || strcmp(place->point, "handler: frames") == 0))
            continue;
        print_message("             %s after \"%s\"\n", action_names[action], place->point);
        attack = (struct attack){ place->point, action, place->last_stage };
        state_make();
        expect_signal(body, NULL, action == KILL ? SIGKILL : SIGSEGV);
        lg_reader *reader = newest_run();
        lg_crash_info crash;
        assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
        assert_int_equal(crash.signal, SIGSEGV);
        assert_int_equal(crash.address, 0);
        if (action == KILL || action == HANG) {
            crash_of(reader, place->last_stage);
        } else if (action == OTHER_THREAD) {
            crash_of(reader, LG_STAGE_DONE);
            /* From stage 6 on the other threads are stopped until the record is done. */
            assert_int_equal(crash.also_crashed_count, place->last_stage < LG_STAGE_THREADS);
            assert_int_equal(crash.recrash_count, 0);
        } else {
            /* All stages are committed: the attack came after the last commit, or removed the
             * frames of our DWARF walk, which libunwind then found. */
            crash_of(reader, LG_STAGE_DONE);
            lg_note note;
            assert_int_equal(crash.recrash_count, 1);
            assert_int_equal(lg_reader_note(reader, 0, &note), LG_OK);
            assert_int_equal(note.kind, LG_NOTE_RECRASH);
            assert_int_equal(note.signal, action == ABORT ? SIGABRT : SIGSEGV);
            lg_stack_info stack;
            assert_int_equal(lg_reader_stack(reader, LG_STAGE_DWARF, &stack), LG_OK);
            if (strstr(place->point, "dwarf") && !lg__capture_spare_walk()) {
                lost = true;
            } else {
                assert_int_equal(stack.truncated, 0);
                assert_true(stack.stored >= 5);
            }
        }
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
    }
    if (lost)
        skip_because("there is no spare walk: package libunwind-dev, and no static program");
}

/* The record cannot be written: its pages are lost and cannot be replaced. The handler still ends
 * the process with the right status. */
static void body_no_pages(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };
    if (truncate(lg_session_run_path(session), 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(98);
    __builtin_trap();
}

static void test_no_pages(void **state)
{
    (void)state;
    struct death death = run_child(body_no_pages, NULL);
    assert_false(death.late);
    assert_true(WIFSIGNALED(death.status));
    assert_true(WTERMSIG(death.status) == TRAP_SIGNAL || WTERMSIG(death.status) == SIGBUS);
}

/* Text that was written to standard error just before the crash is at its destination and in the
 * record, although the thread that copies it is slow. */
static void hook_slow_copy(const char *point)
{
    if (strcmp(point, "tail: read") == 0)
        pass_time(40, "the crash comes meanwhile");
}

static void body_slow_copy(void *argument)
{
    (void)argument;
    lg__fault_hook = hook_slow_copy;
    lg__fault_patience = 100;
    start_keeping_stderr();
    wait_until(others_sleep()); /* the thread that copies as well */
    fprintf(stderr, "the last words\n");
    crash();
}

static void test_slow_copy(void **state)
{
    (void)state;
    static uint8_t bytes[LG_STDERR_MAX + 1];
    char text[64] = "";
    size_t size;
    uint64_t total;
    expect_signal(body_slow_copy, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_stderr(reader, bytes, &size, &total), LG_OK);
    assert_int_equal(size, strlen("the last words\n"));
    lg_reader_close(reader);
    FILE *file = fopen(state_path("stderr"), "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "the last words\n");
}

/* SIGKILL in the middle of a breadcrumb: the torn breadcrumb is not shown, its neighbours are. */
static void hook_ring(const char *point)
{
    static int passed;
    if (strcmp(point, attack.point) == 0 && ++passed == 3)
        raise(SIGKILL);
}

static void body_ring(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg__fault_hook = hook_ring;
    lg_log(session, LG_LEVEL_INFO, "first");
    lg_log(session, LG_LEVEL_INFO, "second");
    lg_log(session, LG_LEVEL_INFO, "third, which is torn");
}

static void test_torn_breadcrumb(void **state)
{
    (void)state;
    static const char *const points[] = { "ring: before text", "ring: before commit" };
    for (int i = 0; i < 2; i++) {
        attack.point = points[i];
        state_make();
        expect_signal(body_ring, NULL, SIGKILL);
        lg_reader *reader = newest_run();
        lg_log_info info;
        assert_int_equal(lg_reader_log(reader, &info), LG_OK);
        assert_int_equal(info.entries, 2);
        assert_int_equal(info.torn, 1);
        assert_true(log_has(reader, "first"));
        assert_true(log_has(reader, "second"));
        lg_reader_close(reader);
    }
}

/* ---- threads that answer a question late ---- */

static volatile sig_atomic_t reached;

static void hook_slow(const char *point)
{
    if (strcmp(point, attack.point) != 0)
        return;
    reached = 1;
    pass_time(20, "what would not wait goes on meanwhile");
}

static void body_slow_answers(void *argument)
{
    (void)argument;
    start_session();
    start_waiting(4);
    lg__fault_hook = hook_slow;
    crash();
}

/* A thread that is interrupted at the begin of its answer does not block the question. */
static void test_slow_answers(void **state)
{
    (void)state;
    lg_threads_info info;
    attack.point = "thread: asked";
    expect_signal(body_slow_answers, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.masked, 0);
    assert_int_equal(info.captured, 4);
    lg_reader_close(reader);
}

/* A signal from outside, or a fault, interrupts one thread before its answer. */
static void hook_signal(const char *point)
{
    static atomic_flag is_sent = ATOMIC_FLAG_INIT; /* the threads are asked at the same time */
    if (strcmp(point, attack.point) != 0 || atomic_flag_test_and_set(&is_sent))
        return;
    if (attack.action == FAULT)
        fault_too(NULL);
    raise(SIGSEGV);
}

static void body_signal_before_answer(void *argument)
{
    (void)argument;
    start_session();
    start_waiting(4);
    lg__fault_hook = hook_signal;
    crash();
}

static void test_signal_before_answer(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        lg_threads_info info;
        attack = (struct attack){ "thread: asked", i ? FAULT : ABORT, 0 };
        state_make();
        expect_signal(body_signal_before_answer, NULL, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).also_crashed_count, 1);
        assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
        assert_int_equal(info.silent, 0);
        assert_int_equal(info.captured, 4);
        lg_reader_close(reader);
    }
}

static volatile unsigned turns;

static void *turn(void *argument)
{
    for (;; turns++)
        rest(1);
    return argument;
}

static void body_released_late(void *argument)
{
    pthread_t thread;
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = 60000; /* the longest possible wait */
    signal(SIGSEGV, jump_out);
    start_with(options);
    pthread_create(&thread, NULL, turn, argument);
    wait_until(turns);
    lg__fault_hook = hook_slow;
    for (volatile int i = 0; i < 2; i++)
        if (sigsetjmp(escape, 1) == 0)
            crash();
    const unsigned seen = turns;
    wait_until(turns > seen + 10);
    _exit(0);
}

/* A thread that begins to wait when its own crash and the next one are already over goes on. */
static void test_released_late(void **state)
{
    (void)state;
    attack.point = "thread: answered";
    expect_exit(body_released_late, NULL, 0);
}

/* ---- descriptors ---- */

static void body_descriptors_gone_early(void *argument)
{
    (void)argument;
    const struct rlimit few = { 64, 64 };
    start_session();
    setrlimit(RLIMIT_NOFILE, &few);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {}
    crash();
}

/* A program that uses up all file descriptors while LaunchGuard prepares itself: the handler still
 * has the reserve. */
static void test_descriptors_gone_early(void **state)
{
    (void)state;
    lg_threads_info info;
    expect_signal(body_descriptors_gone_early, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.error, 0);
    lg_reader_close(reader);
}

/* ---- standard error ---- */

static void body_last_words(void *argument)
{
    (void)argument;
    start_keeping_stderr();
    lg__fault_patience = 100;
    wait_until(others_sleep());
    lg__fault_hook = hook_slow;
    (void)!write(STDERR_FILENO, "the last words\n", 15);
    wait_until(reached); /* the bytes are read from the pipe by then, and not written */
    exit(0);
}

/* The end of the process waits for bytes that were read from the pipe and not yet written to the
 * destination. */
static void test_last_words(void **state)
{
    (void)state;
    char text[32] = "";
    attack.point = "tail: read";
    expect_exit(body_last_words, NULL, 0);
    FILE *file = fopen(state_path("stderr"), "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "the last words\n");
}

/* SIGKILL while new bytes replace old ones: those that are kept are some of the last, in their
 * order. */
static void hook_tail(const char *point)
{
    if (strcmp(point, "tail: bytes") == 0 && lg__fixed.options.run.tail->total > 40000)
        raise(SIGKILL);
}

static void body_killed_keeping(void *argument)
{
    (void)argument;
    start_keeping_stderr();
    lg__fault_hook = hook_tail;
    for (unsigned n = 0;; n++)
        dprintf(STDERR_FILENO, "%07u\n", n);
}

static void test_killed_keeping(void **state)
{
    (void)state;
    static uint8_t bytes[LG_STDERR_MAX + 1];
    size_t size;
    uint64_t total;
    expect_signal(body_killed_keeping, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_stderr(reader, bytes, &size, &total), LG_OK);
    assert_true(size > LG_STDERR_MAX - 257 && size < LG_STDERR_MAX);
    for (uint64_t n = total - size; n < total; n++) {
        char line[9];
        snprintf(line, sizeof line, "%07u\n", (unsigned)(n / 8));
        assert_int_equal(bytes[n - (total - size)], line[n % 8]);
    }
    lg_reader_close(reader);
}

/* While the text of an abort is read, other threads abort too: each puts its own text in place and
 * unmaps the one before (glibc's __libc_message()). */
struct abort_text {
    unsigned size;
    char text[4096 - sizeof(unsigned)];
};
static struct abort_text **abort_text;
static int texts_left;

static void abort_meanwhile(const char *point)
{
    if (strcmp(point, "messages: found") != 0 || texts_left == 0)
        return;
    struct abort_text *old = *abort_text;
    bool same_place = texts_left < 0; /* read, and not written yet */
    struct abort_text *text = mmap(same_place ? old : NULL, sizeof *text, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | (same_place ? MAP_FIXED : 0), -1, 0);
    if (same_place) {
        texts_left = 1;
        return;
    }
    texts_left--;
    text->size = sizeof *text;
    snprintf(text->text, sizeof text->text, "free(): said %d before the last\n", texts_left);
    *abort_text = text;
    munmap(old, old->size);
}

static void body_aborts_meanwhile(void *argument)
{
    texts_left = *(int *)argument;
    start_session();
    lg__fault_hook = abort_meanwhile;
    assert(zero == 1);
}

static void test_aborts_meanwhile(void **state)
{
    (void)state;
    int counts[] = { 0, 1, 19, -1, 1000000 };
#ifdef __GLIBC__
    abort_text = (struct abort_text **)dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE");
#endif
    if (!abort_text)
        skip_because("this libc keeps no text of an abort");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        state_make();
        expect_signal(body_aborts_meanwhile, &counts[i], SIGABRT);
        lg_reader *reader = newest_run();
        lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        lg_message message;
        assert_int_equal(crash.recrash_count, 0);
        if (counts[i] < 1000) {
            assert_int_equal(crash.kind, counts[i] ? LG_CRASH_ABORT_HEAP : LG_CRASH_ABORT_ASSERT);
            assert_int_equal(lg_reader_message(reader, 0, &message), LG_OK);
            assert_non_null(strstr(message.text, counts[i] ? "free(): said 0 before the last" : "Assertion `zero == 1' failed"));
            assert_int_equal(lg_reader_message(reader, 1, &message), LG_ERR_NOT_FOUND);
        }
        lg_reader_close(reader);
    }
}

/* ---- the watch thread looks after the record and before the earlier handler ---- */

static void hook_look(const char *point)
{
    if (strcmp(point, "finish: threads released") != 0)
        return;
    lg__capture_wake_watch();
    pass_time(50, "the watch thread looks, as a rule");
}

static void body_look_between(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.handler_ms = 500;
    signal(SIGSEGV, hang);
    start_with(options);
    lg__fault_hook = hook_look;
    fault_too(NULL);
}

static void test_look_between(void **state)
{
    (void)state;
    struct death death = run_child(body_look_between, NULL);
    expect_death(death, SIGSEGV);
    assert_true(death.ms >= 500);
    assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 0);
}

int main(void)
{
    static struct CMUnitTest tests[24];
    size_t count = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        tests[count++] = (struct CMUnitTest){ places[i].point, test_place, NULL, NULL, (void *)(uintptr_t)&places[i] };
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_torn_breadcrumb);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_no_pages);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_slow_copy);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_slow_answers);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_signal_before_answer);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_released_late);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_descriptors_gone_early);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_last_words);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_killed_keeping);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_aborts_meanwhile);
    tests[count++] = (struct CMUnitTest)WITH_STATE(test_look_between);
    return _cmocka_run_group_tests("handler", tests, count, NULL, NULL);
}
