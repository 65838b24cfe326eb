/* The parts of a record beside the crashed thread: messages, other threads, memory map, figures,
 * stack memory, standard error. */
#undef NDEBUG
#include "harness.h"

#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <fcntl.h>
#include <poll.h>
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

#include "os/fault_point.h"

#define LONG_MS 60000

static volatile int zero;

static lg_reader *record(void)
{
    lg_reader *reader = newest_run();
    crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    return reader;
}

/* ---- messages ---- */

static void say_assert(void) { assert(zero == 1); }
static void say_double_free(void)
{
    void *volatile memory = malloc(24);
    free(memory);
    free(memory);
}
static void say_smash(void)
{
    char text[8];
    volatile size_t size = 64;
    for (size_t i = 0; i < size; i++)
        ((volatile char *)text)[i] = 'x';
}
static void say_nothing(void) { abort(); }

static const struct saying {
    const char *name;
    void (*die)(void);
    lg_crash_kind kind;
    const char *text; /* part of it; NULL: none */
} sayings[] = {
    { "assert", say_assert, LG_CRASH_ABORT_ASSERT, "Assertion `zero == 1' failed." },
    { "double free", say_double_free, LG_CRASH_ABORT_HEAP, "free(): double free detected" },
    { "stack smash", say_smash, LG_CRASH_ABORT_STACK_SMASH, "*** stack smashing detected ***" },
    { "abort", say_nothing, LG_CRASH_ABORT, NULL },
};

static void body_saying(void *argument)
{
    start_session();
    close(STDERR_FILENO);
    ((const struct saying *)argument)->die();
}

static void test_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++) {
        lg_message message;
        lg_verdict verdict;
        state_make();
        expect_signal(body_saying, (void *)(uintptr_t)&sayings[i], SIGABRT);
        lg_reader *reader = record();
        assert_int_equal(crash_of(reader, LG_STAGE_DONE).kind, sayings[i].kind);
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(verdict.kind, sayings[i].kind);
        if (sayings[i].text) {
            assert_int_equal(lg_reader_message(reader, 0, &message), LG_OK);
            assert_int_equal(message.source, LG_MESSAGE_LIBC);
            assert_non_null(strstr(message.text, sayings[i].text));
            assert_int_equal(strlen(message.text), message.size);
        }
        assert_int_equal(lg_reader_message(reader, sayings[i].text != NULL, &message), LG_ERR_NOT_FOUND);
        lg_reader_close(reader);
    }
}

/* ---- the other threads ---- */

enum { THREADS = 31, MASKED = 5, BUSY = 6 };
static atomic_int ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static __attribute__((noinline)) void wait_in_condition(void)
{
    atomic_fetch_add(&ready, 1);
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&never, &mutex);
}

static __attribute__((noinline)) void wait_in_poll(void)
{
    atomic_fetch_add(&ready, 1);
    for (;;)
        poll(NULL, 0, -1);
}

static __attribute__((noinline)) void be_busy(void)
{
    atomic_fetch_add(&ready, 1);
    for (;;)
        zero = 0;
}

static atomic_int masked_tid;

static void *be_a_thread(void *argument)
{
    long number = (long)argument;
    char name[16];
    snprintf(name, sizeof name, "worker-%ld", number);
    prctl(PR_SET_NAME, name);
    if (number == MASKED) { /* by the system call, because libc would leave two signals open */
        uint64_t all = UINT64_MAX;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
        atomic_store(&masked_tid, gettid());
        atomic_fetch_add(&ready, 1);
        wait_for_ever(NULL);
    }
    if (number == BUSY)
        be_busy();
    if (number % 3 == 0) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    }
    if (number % 2)
        wait_in_condition();
    wait_in_poll();
    return NULL;
}

static bool sleeps(int tid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        _exit(95);
    fclose(file);
    return state == 'S';
}

static void make_threads(void)
{
    for (long i = 0; i < THREADS; i++)
        in_thread(be_a_thread, (void *)i);
    wait_until(atomic_load(&ready) == THREADS);
    wait_until(sleeps(atomic_load(&masked_tid)));
}

static void body_threads(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = LONG_MS; /* the threads have a tenth of it for their answers */
    if (argument)
        options.thread_limit = 7;
    start_with(options);
    make_threads();
    if (argument) {
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 64, 64 });
        while (open("/dev/null", O_RDONLY) >= 0) {}
    }
    crash();
}

static bool goes_through(lg_reader *reader, uint32_t thread, uint64_t start, uint64_t size)
{
    uint64_t pc;
    for (uint32_t i = 0; lg_reader_thread_frame(reader, thread, i, &pc) == LG_OK; i++)
        if (pc > start && pc < start + size)
            return true;
    return false;
}

static void test_threads(void **state)
{
    (void)state;
    lg_threads_info info;
    expect_signal(body_threads, NULL, SIGSEGV);
    lg_reader *reader = record();
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.complete, 1);
    assert_int_equal(info.error, 0);
    assert_int_equal(info.listed, THREADS); /* LaunchGuard's own threads are not in the list */
    assert_int_equal(info.stored, THREADS);
    assert_int_equal(info.captured, THREADS - 1);
    assert_int_equal(info.masked, 1);
    assert_int_equal(info.silent + info.omitted, 0);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < info.stored; i++) {
        lg_thread_info thread;
        lg_stack_info stack;
        lg_register value;
        int number;
        assert_int_equal(lg_reader_thread(reader, i, &thread), LG_OK);
        assert_int_equal(sscanf(thread.name, "worker-%d", &number), 1);
        seen |= 1u << number;
        assert_int_equal(lg_reader_thread_stack(reader, i, &stack), LG_OK);
        assert_true(thread.pc != 0 && thread.sp != 0);
        if (number == MASKED) {
            assert_int_equal(thread.how, LG_THREAD_MASKED);
            assert_int_equal(thread.state, 'S');
            continue;
        }
        assert_int_equal(thread.how, LG_THREAD_CAPTURED);
        assert_int_equal(lg_reader_thread_register(reader, i, thread.register_count - 2, &value), LG_OK);
        assert_true(thread.stack_low < thread.sp && thread.sp < thread.stack_high);
        assert_int_equal(stack.truncated, 0);
        uint64_t place = (uint64_t)(uintptr_t)(number == BUSY ? be_busy : number % 2 ? wait_in_condition : wait_in_poll);
        assert_true(goes_through(reader, i, place - 1, 256));
        assert_true(goes_through(reader, i, (uint64_t)(uintptr_t)be_a_thread, 1024));
    }
    assert_int_equal(seen, 0x7fffffff);
    lg_reader_close(reader);
}

/* More threads than the record has room for, and no free descriptor: the reserve descriptor lists
 * them all the same. */
static void test_threads_beyond_the_limit(void **state)
{
    (void)state;
    lg_threads_info info;
    lg_resource resource;
    size_t size;
    uint32_t cut;
    expect_signal(body_threads, (void *)1, SIGSEGV);
    lg_reader *reader = record();
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.listed, THREADS);
    assert_int_equal(info.stored, 7);
    assert_int_equal(info.omitted, THREADS - 7);
    assert_int_equal(info.masked, 1);
    assert_int_equal(lg_reader_map(reader, NULL, 0, &size, &cut), LG_OK);
    assert_true(size > 1000);
    assert_int_equal(lg_reader_resource(reader, LG_RESOURCE_DESCRIPTORS, &resource), LG_OK);
    /* LaunchGuard released its own descriptor; the test may have inherited others */
    assert_within(resource.value, 62, 66);
    lg_reader_close(reader);
}

/* ---- an earlier handler recovers from the crash: the threads go on ---- */

static atomic_int rounds;

static void *count_rounds(void *argument)
{
    (void)argument;
    for (;;) {
        atomic_fetch_add(&rounds, 1);
        rest(1);
    }
    return NULL;
}

static void body_survives(void *argument)
{
    pthread_t thread;
    (void)argument;
    signal(SIGSEGV, jump_out);
    lg_session *session = start_session();
    pthread_create(&thread, NULL, count_rounds, NULL);
    for (int i = 0; i < 20; i++) {
        if (sigsetjmp(escape, 1) == 0)
            crash();
        const int before = atomic_load(&rounds);
        wait_until(atomic_load(&rounds) >= before + 2);
    }
    lg_heartbeat(session);
    raise(SIGKILL);
}

static void test_threads_go_on(void **state)
{
    (void)state;
    lg_threads_info info;
    lg_verdict verdict;
    expect_signal(body_survives, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_FRAMES);
    assert_int_equal(crash.sequence, 20);
    assert_int_equal(crash.handled, 1); /* the heartbeat came after the crash */
    assert_int_equal(crash.brief, 1);   /* the handler recovers */
    assert_int_equal(lg_reader_select_crash(reader, 0), LG_OK);
    crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.sequence, 1);
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_UNKNOWN);
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.stored, 1);
    lg_reader_close(reader);
}

/* A later record holds nothing of an earlier one, not even when it has fewer threads. */
static atomic_bool crashed;

static void *wait_and_end(void *tid)
{
    *(pid_t *)tid = gettid();
    atomic_fetch_add(&ready, 1);
    wait_until(atomic_load(&crashed));
    return NULL;
}

static void body_fewer_threads(void *argument)
{
    pthread_t threads[5];
    pid_t tids[5];
    (void)argument;
    signal(SIGSEGV, jump_out);
    start_session();
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, wait_and_end, &tids[i]);
    wait_until(atomic_load(&ready) == 5);
    if (sigsetjmp(escape, 1) == 0)
        crash();
    atomic_store(&crashed, true);
    for (int i = 0; i < 5; i++) {
        pthread_join(threads[i], NULL);
        /* the kernel may still list a thread that was joined */
        while (syscall(SYS_tgkill, getpid(), tids[i], 0) == 0) {}
    }
    abort();
}

static void test_fewer_threads(void **state)
{
    (void)state;
    lg_threads_info info;
    lg_memory_info memory;
    expect_signal(body_fewer_threads, NULL, SIGABRT);
    lg_reader *reader = record();
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.stored, 0);
    assert_int_equal(lg_reader_memory(reader, 0, &memory), LG_OK);
    assert_int_equal(lg_reader_memory(reader, 1, &memory), LG_ERR_NOT_FOUND);
    lg_reader_close(reader);
}

/* ---- memory map, figures, stack memory ---- */

static void body_map(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = LONG_MS;
    options.leave_out = (uint32_t)(uintptr_t)argument;
    start_with(options);
    make_threads();
    int file = open(state_path("mapped"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    *(volatile char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) = 1;
}

static void test_process(void **state)
{
    (void)state;
    static char map[65536];
    size_t size;
    uint32_t cut;
    expect_signal(body_map, NULL, SIGBUS);
    lg_reader *reader = record();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(lg_reader_map(reader, map, sizeof map, &size, &cut), LG_OK);
    assert_int_equal(strlen(map), size);
    assert_int_equal(cut, 0);
    char line[64];
    snprintf(line, sizeof line, "%lx-", (unsigned long)(crash.address & ~UINT64_C(4095)));
    const char *mapping = strstr(map, line); /* the map names the file that was cut */
    assert_non_null(mapping);
    assert_non_null(strstr(mapping, state_path("mapped")));
    lg_resource resource;
    static const struct { uint32_t id; uint64_t least, most; } expected[] = {
        { LG_RESOURCE_RESIDENT, 1 << 18, 1 << 30 },   { LG_RESOURCE_VIRTUAL, 1 << 20, UINT64_C(1) << 40 },
        { LG_RESOURCE_THREADS, THREADS + 1, THREADS + 3 }, { LG_RESOURCE_DESCRIPTORS, 3, 100 },
        { LG_RESOURCE_MEMORY_TOTAL, 1 << 24, UINT64_C(1) << 50 }, { LG_RESOURCE_TRACER, 0, 0 }, { LG_RESOURCE_UPTIME, 1, UINT32_MAX },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(lg_reader_resource(reader, expected[i].id, &resource), LG_OK);
        assert_int_equal(resource.known, 1);
        assert_within(resource.value, expected[i].least, expected[i].most);
    }
    lg_reader_close(reader);
}

/* The groups come before the number of threads in the kernel's status. */
static void body_groups(void *argument)
{
    gid_t groups[2000];
    for (gid_t i = 0; i < 2000; i++)
        groups[i] = 1000000000 + i;
    if (setgroups(2000, groups) != 0)
        _exit(77);
    (void)argument;
    start_session();
    crash();
}

static void test_many_groups(void **state)
{
    (void)state;
    struct death death = run_child(body_groups, NULL);
    lg_resource resource;
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77) {
        skip_because("no right to set groups");
        return;
    }
    expect_death(death, SIGSEGV);
    lg_reader *reader = newest_run();
    for (uint32_t i = 0; i < 3; i++) {
        static const uint32_t ids[] = { LG_RESOURCE_THREADS, LG_RESOURCE_VIRTUAL, LG_RESOURCE_RESIDENT };
        assert_int_equal(lg_reader_resource(reader, ids[i], &resource), LG_OK);
        assert_true(resource.known && resource.value);
    }
    lg_reader_close(reader);
}

/* A return address as a CPU with pointer authentication stores it. */
static uint64_t without_signature(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t stripped __asm__("x30") = address;
    __asm__("hint #7" : "+r"(stripped)); /* xpaclri */
    return stripped;
#else
    return address;
#endif
}

static void test_stack_memory(void **state)
{
    (void)state;
    static uint8_t bytes[131072];
    lg_memory_info memory;
    uint64_t word;
    expect_signal(body_map, NULL, SIGBUS);
    lg_reader *reader = record();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    uint32_t count = 0;
    for (; lg_reader_memory(reader, count, &memory) == LG_OK; count++) {
        assert_int_equal(lg_reader_memory_bytes(reader, count, bytes, sizeof bytes), LG_OK);
        if (count)
            continue;
        assert_int_equal(memory.tid, crash.tid);
        assert_true(memory.start <= crash.sp && crash.sp < memory.start + memory.size);
        /* The return address that the frame-pointer walk found lies above the frame pointer. */
        uint64_t caller;
        assert_int_equal(lg_reader_frame(reader, LG_STAGE_FRAMES, 1, &caller), LG_OK);
        memcpy(&word, bytes + (crash.fp + 8 - memory.start), sizeof word);
        assert_int_equal(without_signature(word), caller);
    }
    assert_int_equal(count, THREADS + 1);
    lg_reader_close(reader);
}

static void test_left_out(void **state)
{
    (void)state;
    lg_threads_info threads;
    lg_memory_info memory;
    lg_crash_info crash;
    lg_resource resource;
    uint8_t bytes[512];
    uint64_t start;
    size_t size;
    const unsigned all = LG_LEAVE_OUT_MESSAGES | LG_LEAVE_OUT_THREADS | LG_LEAVE_OUT_STACKS | LG_LEAVE_OUT_PROCESS;
    expect_signal(body_map, (void *)(uintptr_t)all, SIGBUS);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(crash.stages, 1 << LG_STAGE_HEADER | 1 << LG_STAGE_CONTEXT | 1 << LG_STAGE_FRAMES | 1 << LG_STAGE_DWARF | 1 << LG_STAGE_DONE);
    assert_int_equal(lg_reader_bytes(reader, 0, bytes, &start, &size), LG_OK);
    assert_int_equal(size, 0);
    assert_int_not_equal(lg_reader_memory(reader, 0, &memory), LG_OK);
    assert_int_equal(lg_reader_resource(reader, 0, &resource), LG_ERR_INCOMPLETE);
    if (lg_reader_threads(reader, &threads) == LG_OK)
        assert_int_equal(threads.stored, 0);
    lg_reader_close(reader);
}

/* ---- standard error ---- */

/* A record waits a tenth of a second, and an exit a second, for the thread that reads the last
 * words: these times are no matter of this test. */
static void body_stderr(void *argument)
{
    lg__fault_patience = 100;
    start_keeping_stderr();
    for (int i = 0; i < 2000; i++)
        fprintf(stderr, "line %d\n", i);
    pid_t child = fork();
    if (child == 0) {
        fprintf(stderr, "from the child\n");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    fprintf(stderr, "the last words\n");
    if (argument)
        exit(3);
    crash();
}

static void test_stderr(void **state)
{
    (void)state;
    for (uintptr_t exits = 0; exits < 2; exits++) {
        static uint8_t bytes[LG_STDERR_MAX + 1];
        static char whole[32768];
        size_t size;
        uint64_t total;
        state_make();
        if (exits)
            expect_exit(body_stderr, (void *)exits, 3);
        else
            expect_signal(body_stderr, NULL, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_stderr(reader, bytes, &size, &total), LG_OK);
        assert_int_equal(size, LG_STDERR_MAX);
        bytes[size] = 0;
        /* the forked child writes to the original destination */
        assert_non_null(strstr((char *)bytes, "line 1999\nthe last words\n"));
        /* All of it reached the original destination. */
        FILE *file = fopen(state_path("stderr"), "r");
        size = fread(whole, 1, sizeof whole - 1, file);
        fclose(file);
        whole[size] = 0;
        /* The child's words reach the destination directly, between any two pieces of the parent's
         * text. */
        static const char words[] = "from the child\n";
        char *child = strstr(whole, words), expected[32768];
        assert_non_null(child);
        memmove(child, child + strlen(words), strlen(child + strlen(words)) + 1);
        size_t length = 0;
        for (int i = 0; i < 2000; i++)
            length += (size_t)snprintf(expected + length, sizeof expected - length, "line %d\n", i);
        assert_memory_equal(whole, expected, length);
        assert_non_null(strstr(whole + length, "the last words\n"));
        lg_reader_close(reader);
    }
}

/* In the run file. */
static bool is_kept(const char *words)
{
    uint8_t bytes[4033] = { 0 };
    size_t size;
    uint64_t total;
    lg_reader *reader = newest_run();
    const bool has = lg_reader_stderr(reader, bytes, &size, &total) == LG_OK && strstr((char *)bytes, words);
    lg_reader_close(reader);
    return has;
}

/* The thread that copies them comes late: when the exit waits for it; or, at the latest, when the
 * exit has found this hole of the file, which may be their place, and is about to give it back. */
#define HOLES 6 /* a file has fewer */
static atomic_bool awaited;
static unsigned hole, holes;

static void hook_late_copy(const char *point)
{
    if (strcmp(point, "tail: read") == 0)
        wait_until(atomic_load(&awaited));
    if (strcmp(point, "tail: settles") == 0)
        atomic_store(&awaited, true);
    if (strcmp(point, "map: hole found") == 0 && ++holes == hole) {
        atomic_store(&awaited, true);
        wait_until(is_kept("the last words\n"));
    }
}

static void body_last_words(void *argument)
{
    hole = (unsigned)(uintptr_t)argument;
    lg__fault_patience = 100;
    start_keeping_stderr();
    lg__fault_hook = hook_late_copy;
    fprintf(stderr, "the last words\n");
    exit(3);
}

static void test_last_words(void **state)
{
    (void)state;
    for (uintptr_t i = 1; i <= HOLES; i++) {
        state_make();
        expect_exit(body_last_words, (void *)i, 3);
        assert_true(is_kept("the last words\n"));
    }
}

/* A crash right after the start: the thread that copies the last words is slow to begin. */
static void hook_slow_begin(const char *point)
{
    if (strcmp(point, "stderr thread: begins") == 0)
        pass_time(300, "a program that did not wait for it would crash meanwhile");
}

static void body_crashes_after_start(void *argument)
{
    (void)argument;
    lg__fault_hook = hook_slow_begin;
    lg__fault_patience = 100;
    start_keeping_stderr();
    fprintf(stderr, "the last words\n");
    crash();
}

static void test_crash_after_start(void **state)
{
    (void)state;
    expect_signal(body_crashes_after_start, NULL, SIGSEGV);
    assert_true(is_kept("the last words\n"));
}

static bool file_has(const char *name, const char *text)
{
    static char whole[32768];
    FILE *file = fopen(state_path(name), "r");
    assert_non_null(file);
    whole[fread(whole, 1, sizeof whole - 1, file)] = 0;
    fclose(file);
    return strstr(whole, text) != NULL;
}

/* The watch thread has found a handler that the program took away, and has then gone to sleep. */
static atomic_bool ignored, said_so;

static void hook_check(const char *point)
{
    static __thread bool looked;
    if (strcmp(point, "disposition: looked") == 0)
        looked = atomic_load(&ignored);
    else if (looked && strcmp(point, "watch: sleeps") == 0)
        atomic_store(&said_so, true);
}

static void body_stderr_of_a_cut_file(void *argument)
{
    lg_session *session = start_keeping_stderr();
    lg__fault_hook = hook_check;
    if (argument)
        lg_heartbeat(session); /* there is a watch thread */
    wait_until(others_sleep());
    if (truncate(newest_run_path(), 0) != 0)
        _exit(90);
    fprintf(stderr, "one\n");
    wait_until(file_has("stderr", "one\n"));
    fprintf(stderr, "two\n");
    if (argument) {
        signal(SIGSEGV, SIG_IGN);
        atomic_store(&ignored, true);
        wait_until(atomic_load(&said_so)); /* by a breadcrumb in the file that was cut */
    }
    exit(0);
}

/* Our own threads survive a cut run file, as the program's threads do. */
static void test_own_threads_heal(void **state)
{
    (void)state;
    for (uintptr_t watch = 0; watch < 2; watch++) {
        state_make();
        expect_exit(body_stderr_of_a_cut_file, (void *)watch, 0);
        assert_true(file_has("stderr", "one\ntwo\n"));
    }
}

/* ---- LaunchGuard does not use the program's descriptors ---- */

static void body_redirected(void *argument)
{
    (void)argument;
    start_keeping_stderr();
    int file = open(state_path("log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(file, STDERR_FILENO);
    pid_t child = fork();
    if (child == 0) {
        fprintf(stderr, "from the child\n");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    exit(0);
}

/* A program that redirects its standard error later: its children have the new destination, too. */
static void test_redirected_stderr(void **state)
{
    (void)state;
    expect_exit(body_redirected, NULL, 0);
    assert_true(file_has("log", "from the child\n"));
}

static void body_closes_all(void *argument)
{
    char name[32];
    int files = 0, status;
    bool own[64] = { false };
    if (argument)
        start_keeping_stderr();
    else
        start_session();
    signal(SIGPIPE, SIG_IGN);
    wait_until(others_sleep());
    syscall(SYS_close_range, 3, ~0u, 0);
    /* the thread that copies the words may open one of its own in between */
    for (int file = 3; file < 20; own[file] = true) {
        snprintf(name, sizeof name, "own-%d", files++);
        file = open(state_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    for (int i = 0; i < 5; i++) {
        fprintf(stderr, "words %d\n", i);
        snprintf(name, sizeof name, "words %d\n", i);
        /* the thread that copies them has gone on, and must not write them elsewhere */
        wait_until(!argument || is_kept(name));
    }
    pid_t child = fork();
    if (child == 0) {
        for (int file = 3; file < 20; file++)
            if (own[file] && fcntl(file, F_GETFD) < 0)
                _exit(file);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(90);
    for (int file = 3; file < 20; file++)
        if (own[file] && lseek(file, 0, SEEK_END) != 0)
            _exit(91);
    exit(0);
}

/* The program closed all unknown descriptors and opened files of its own. Its children inherit
 * these files, and nothing was written to them. */
static void test_closes_all(void **state)
{
    (void)state;
    for (uintptr_t keeps = 0; keeps < 2; keeps++) {
        state_make();
        expect_exit(body_closes_all, (void *)keeps, 0);
    }
}

static void body_no_standard_files(void *argument)
{
    (void)argument;
    for (int file = 0; file < 3; file++)
        close(file);
    start_session();
    for (int file = 0; file < 3; file++)
        if (fcntl(file, F_GETFD) >= 0 || write(file, "this is not a run file", 22) >= 0)
            _exit(90 + file);
    crash();
}

/* A program was started without a standard file and writes to its number: the text is discarded,
 * and no file of ours receives it. */
static void test_no_standard_files(void **state)
{
    (void)state;
    expect_signal(body_no_standard_files, NULL, SIGSEGV);
    newest_crash(LG_STAGE_DONE);
}

/* ---- a dump on request, limits, a broken pipe ---- */

static void limit_cpu(void)
{
    struct rlimit limit = { 1, 3 };
    setrlimit(RLIMIT_CPU, &limit);
    for (;;)
        zero = 0;
}

static void limit_file(void)
{
    struct rlimit limit = { 4096, 4096 };
    setrlimit(RLIMIT_FSIZE, &limit);
    int file = open(state_path("limited"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    static char block[8192];
    for (;;)
        (void)!write(file, block, sizeof block);
}

static void lose_reader(void)
{
    int ends[2];
    if (pipe(ends) == 0 && close(ends[0]) == 0)
        (void)!write(ends[1], "x", 1);
}

static void ask_for_dump(void) { kill(getpid(), SIGQUIT); pause(); }

static const struct limit {
    void (*die)(void);
    int signal;
    lg_crash_kind kind;
    lg_end end;
} limits[] = {
    { limit_cpu, SIGXCPU, LG_CRASH_LIMIT_CPU, LG_END_CRASH },
    { limit_file, SIGXFSZ, LG_CRASH_LIMIT_FSIZE, LG_END_CRASH },
    { lose_reader, SIGPIPE, LG_CRASH_PIPE, LG_END_CRASH },
    { ask_for_dump, SIGQUIT, LG_CRASH_QUIT, LG_END_TERMINATED },
};

static void body_limit(void *argument)
{
    start_session();
    ((const struct limit *)argument)->die();
}

static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        lg_verdict verdict;
        state_make();
        expect_signal(body_limit, (void *)(uintptr_t)&limits[i], limits[i].signal);
        lg_reader *reader = record();
        lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        assert_int_equal(crash.kind, limits[i].kind);
        assert_int_equal(crash.has_address, 0);
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(verdict.end, limits[i].end);
        lg_reader_close(reader);
    }
}

static void body_ignores_pipe(void *argument)
{
    (void)argument;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    start_session();
    lose_reader();
    if (errno != EPIPE)
        _exit(91);
    exit(0);
}

static void test_ignored_stay_ignored(void **state)
{
    (void)state;
    expect_exit(body_ignores_pipe, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_messages),      WITH_STATE(test_threads),      WITH_STATE(test_threads_beyond_the_limit),
        WITH_STATE(test_threads_go_on), WITH_STATE(test_fewer_threads), WITH_STATE(test_process),
        WITH_STATE(test_stack_memory),  WITH_STATE(test_many_groups),   WITH_STATE(test_left_out),      WITH_STATE(test_stderr),
        WITH_STATE(test_last_words),        WITH_STATE(test_crash_after_start),
        WITH_STATE(test_own_threads_heal), WITH_STATE(test_redirected_stderr), WITH_STATE(test_closes_all),
        WITH_STATE(test_no_standard_files), WITH_STATE(test_limits),
        WITH_STATE(test_ignored_stay_ignored),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
