/* A hostile process: other threads hold locks, no descriptor is left, a sandbox refuses system
 * calls, pointers are wild, all threads crash at once, or the process dies in the middle of the
 * record. */
#include "harness.h"
#include "wild.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;

static __attribute__((noinline)) void die_null_read(void) { zero = *(volatile int *)(uintptr_t)zero; }
static __attribute__((noinline)) void die_jump_bad(void) { ((void (*)(void))(uintptr_t)(zero + 0x41414141))(); }

/* The newest record is whole, of this kind, and its DWARF walk goes through `function`. */
static void expect_record(lg_crash_kind kind, void (*function)(void))
{
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.kind, kind);
    assert_int_equal(crash.recrash_count, 0);
    bool found = false;
    uint64_t pc, start = (uint64_t)(uintptr_t)function;
    for (uint32_t i = 0; lg_reader_frame(reader, LG_STAGE_DWARF, i, &pc) == LG_OK; i++)
        found |= pc >= start && pc < start + 256;
    assert_true(found);
    lg_reader_close(reader);
}

static pthread_barrier_t barrier;
static atomic_bool loader_held;

static int hold_loader(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    atomic_store(&loader_held, true);
    while (!zero)
        pause();
    return 0;
}

static void *hold_loader_lock(void *argument)
{
    dl_iterate_phdr(hold_loader, argument);
    return NULL;
}

static void body_loader_lock(void *argument)
{
    pthread_t thread;
    lg_session *session = start_session();
    lg_modules_refresh(session);
    pthread_create(&thread, NULL, hold_loader_lock, argument);
    wait_until(atomic_load(&loader_held));
    die_null_read();
}

static void test_loader_lock(void **state)
{
    (void)state;
    expect_signal(body_loader_lock, NULL, SIGSEGV);
    expect_record(LG_CRASH_NULL_READ, die_null_read);
}

static void body_no_descriptors(void *argument)
{
    (void)argument;
    start_session();
    struct rlimit limit = { 64, 64 };
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {}
    die_null_read();
}

static void test_no_descriptors(void **state)
{
    (void)state;
    expect_signal(body_no_descriptors, NULL, SIGSEGV);
    expect_record(LG_CRASH_NULL_READ, die_null_read);
}

/* From here on these system calls fail, or raise SIGSYS. */
static void refuse(const int *calls, size_t count, uint32_t how)
{
    struct sock_filter code[64];
    unsigned short size = 0;
    code[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (size_t i = 0; i < count; i++) {
        code[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
        code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how);
    }
    code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { size, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(98);
}

static void body_no_vm_readv(void *argument)
{
    static const int calls[] = { SYS_process_vm_readv };
    start_session();
    refuse(calls, 1, SECCOMP_RET_ERRNO | EPERM);
    if (argument)
        die_jump_bad();
    die_null_read();
}

static void test_sandbox_without_vm_readv(void **state)
{
    (void)state;
    expect_signal(body_no_vm_readv, NULL, SIGSEGV);
    expect_record(LG_CRASH_NULL_READ, die_null_read);
    expect_signal(body_no_vm_readv, (void *)1, SIGSEGV); /* code at pc cannot be read */
    expect_record(LG_CRASH_JUMP_BAD, die_jump_bad);
}

/* Nobody can queue a siginfo: the deadline ends the process by the plain signal. */
static void body_hangs_in_sandbox(void *argument)
{
    static const int calls[] = { SYS_rt_tgsigqueueinfo };
    lg_options options = LG_OPTIONS_INIT;
    (void)argument;
    signal(SIGSEGV, hang);
    refuse(calls, 1, SECCOMP_RET_ERRNO | EPERM);
    options.handler_ms = 300;
    start_with(options);
    die_null_read();
}

static void test_deadline_in_sandbox(void **state)
{
    (void)state;
    expect_signal(body_hangs_in_sandbox, NULL, SIGSEGV);
    expect_record(LG_CRASH_NULL_READ, die_null_read);
}

static void bad_frame_pointer(void)
{
    CRASH_WITH_FRAME(0x123456789);
}

static void bad_stack_pointer(void)
{
    CRASH_WITH_STACK(0x1000);
}

static void body_bad_pointer(void *argument)
{
    start_session();
    if (argument)
        bad_stack_pointer();
    bad_frame_pointer();
}

static void test_bad_pointers(void **state)
{
    (void)state;
    for (uintptr_t which = 0; which < 2; which++) {
        state_make();
        expect_signal(body_bad_pointer, (void *)which, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_stack_info stack;
        crash_of(reader, LG_STAGE_DONE);
        assert_int_equal(lg_reader_stack(reader, LG_STAGE_FRAMES, &stack), LG_OK);
        /* a frame pointer that is good leads to the end where libc keeps frame pointers */
        assert_true(stack.truncated || (which && stack.stored > 1));
        assert_true(stack.stored >= 1);
        lg_reader_close(reader);
    }
}

static void *die_together(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&barrier);
    crash();
    return NULL;
}

static void body_many(void *argument)
{
    (void)argument;
    enum { COUNT = 20 };
    pthread_t threads[COUNT];
    pthread_barrier_init(&barrier, NULL, COUNT);
    start_session();
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], NULL, die_together, NULL);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
}

static void test_many_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        state_make();
        expect_signal(body_many, NULL, SIGSEGV);
        lg_crash_info crash = newest_crash(LG_STAGE_DONE);
        assert_int_equal(crash.sequence, 1);
        assert_int_equal(crash.recrash_count, 0);
    }
}

/* Every system call that only improves the record is refused, one at a time and all together. */
static const int luxuries[] = { SYS_process_vm_readv, SYS_openat, SYS_getdents64, SYS_rt_tgsigqueueinfo, SYS_prlimit64, SYS_sysinfo,
                                SYS_getrusage, SYS_read, SYS_close, SYS_fstat, SYS_lseek, SYS_tgkill, SYS_ioctl, SYS_prctl, SYS_futex,
                                SYS_gettid, SYS_rt_sigprocmask };
#define LUXURIES (sizeof luxuries / sizeof luxuries[0])

struct refusal {
    size_t first, count;
    uint32_t how;
};

static void body_refused(void *argument)
{
    const struct refusal *refusal = argument;
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = 10000; /* some refusals keep the other thread from its answer */
    start_with(options);
    start_waiting(1);
    refuse(luxuries + refusal->first, refusal->count, refusal->how);
    die_null_read();
}

/* The record is whole at least up to the frames, and the process dies in time. The cause of death
 * may differ: a process that may not send a signal to itself can only exit. */
static void expect_refused(const struct refusal *refusal)
{
    state_make();
    struct death death = run_child(body_refused, (void *)(uintptr_t)refusal);
    const bool ended = WIFSIGNALED(death.status) ? WTERMSIG(death.status) == SIGSEGV : WEXITSTATUS(death.status) == 128 + SIGSEGV;
    lg_reader *reader = newest_run();
    lg_crash_info crash = { .signal = 0 };
    const lg_status found = lg_reader_crash(reader, &crash), verified = lg_reader_verify(reader, NULL, NULL);
    if (death.late || !ended || found != LG_OK || crash.signal != SIGSEGV || (crash.stages & 14) != 14 || verified != LG_OK)
        fail_msg("%zu system calls from %d on, refused by %x: status %x after %.0f ms%s, %s, signal %d, stages %x, %s", refusal->count,
                 luxuries[refusal->first], refusal->how, death.status, death.ms, death.late ? " by the limit" : "", lg_status_name(found), crash.signal,
                 crash.stages, lg_status_name(verified));
    lg_reader_close(reader);
}

static void test_refused_calls(void **state)
{
    (void)state;
    static const uint32_t ways[] = { SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_TRAP };
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        for (size_t i = 0; i < LUXURIES; i++)
            expect_refused(&(struct refusal){ i, 1, ways[way] });
        expect_refused(&(struct refusal){ 0, LUXURIES, ways[way] });
    }
}

/* ---- memory whose pages never arrive, as of a lost file system ---- */

static void body_pages_never_come(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    (void)argument;
    struct uffdio_api api = { .api = UFFD_API };
    char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = { .range = { (uintptr_t)memory, 65536 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
    int file = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (file < 0 || ioctl(file, UFFDIO_API, &api) != 0 || ioctl(file, UFFDIO_REGISTER, &range) != 0)
        _exit(90);
    options.deadline_ms = 1000; /* the signal that ends the process */
    start_with(options);
    CRASH_WITH_STACK(memory + 32768);
}

static void test_pages_never_come(void **state)
{
    (void)state;
    struct death death = run_child(body_pages_never_come, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 90)
        skip_because("the kernel refuses userfaultfd");
    /* The kernel waits for the page on behalf of the handler, and only a fatal signal ends that. */
    expect_death(death, SIGKILL);
    assert_int_equal(newest_crash(LG_STAGE_HEADER).signal, SIGSEGV);
    assert_int_equal(newest_verdict().end, LG_END_CRASH);
}

/* The queue of signals is full: no thread can be questioned, and the crash does not wait for any
 * thread. */
static void body_full_queue(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    (void)argument;
    options.deadline_ms = 60000;
    start_with(options);
    start_waiting(1);
    setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){ 0, 0 });
    die_null_read();
}

static void test_full_queue(void **state)
{
    (void)state;
    lg_threads_info info;
    expect_signal(body_full_queue, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(crash_of(reader, LG_STAGE_DONE).recrash_count, 0);
    assert_int_equal(lg_reader_threads(reader, &info), LG_OK);
    assert_int_equal(info.silent, 1);
    assert_true(info.waited_ns < 5500000000); /* a tenth of the deadline is 6 s */
    lg_reader_close(reader);
}

/* ---- signals of another process ---- */

#define FORGED 20000
#define LIBCS 33 /* the signal by which threads are asked, and which libc has for itself */

static _Noreturn void forge(pid_t program)
{
    static const int codes[] = { SI_QUEUE, SI_TIMER, SI_MESGQ, SI_ASYNCIO };
    unsigned seed = 33;
    for (int i = 0; i < FORGED; i++) {
        siginfo_t info = { .si_signo = LIBCS, .si_code = codes[rand_r(&seed) % 4] };
        const uint64_t small = (uint64_t)rand_r(&seed) % 4 << 32 | (uint64_t)rand_r(&seed) % 4 << 16 | (uint64_t)rand_r(&seed) % 70;
        info.si_pid = rand_r(&seed) % 2 ? program : getpid();
        info.si_value.sival_ptr = (void *)(uintptr_t)(i % 2 ? small : (uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed));
        if (syscall(SYS_rt_sigqueueinfo, program, LIBCS, &info) != 0 && errno != EAGAIN)
            _exit(1);
    }
    _exit(0);
}

static void body_forged_signals(void *argument)
{
    int status;
    (void)argument;
    start_session();
    start_waiting(3);
    const pid_t program = getpid(), neighbour = fork();
    if (neighbour == 0)
        forge(program);
    while (waitpid(neighbour, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        exit(96);
    die_null_read();
}

/* They look like questions, answers to none, and the ends of deadlines: nothing comes of them, and
 * the crash after them is recorded as ever. */
static void test_forged_signals(void **state)
{
    (void)state;
    expect_signal(body_forged_signals, NULL, SIGSEGV);
    expect_record(LG_CRASH_NULL_READ, die_null_read);
}

/* ---- death at any moment of the capture ---- */

static void body_many_threads(void *argument)
{
    start_session();
    start_waiting(8);
    (void)!write((int)(intptr_t)argument, "x", 1);
    die_null_read();
}

/* SIGKILL after a random time: each committed stage is whole, and so are all stages before it. */
static void test_killed_anywhere(void **state)
{
    (void)state;
    static const unsigned order[] = { LG_STAGE_HEADER, LG_STAGE_CONTEXT, LG_STAGE_FRAMES, LG_STAGE_DWARF,
                                      LG_STAGE_MESSAGES, LG_STAGE_THREADS, LG_STAGE_PROCESS, LG_STAGE_DONE };
    unsigned seen[9] = { 0 };
    srandom(20);
    for (int round = 0; round < 150; round++) {
        int ends[2], status;
        char byte;
        state_make();
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            plain_signals();
            body_many_threads((void *)(intptr_t)ends[1]);
            _exit(97);
        }
        assert_int_equal(read(ends[0], &byte, 1), 1);
        uint64_t until = now_ns() + (uint64_t)random() % 1000000;
        while (now_ns() < until) {}
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        close(ends[0]);
        close(ends[1]);
        lg_reader *reader = newest_run();
        lg_crash_info crash = { .stages = 0 };
        lg_status read_status = lg_reader_crash(reader, &crash);
        assert_true(read_status == LG_OK || read_status == LG_ERR_NOT_FOUND);
        unsigned count = 0;
        while (count < 8 && (crash.stages >> order[count]) & 1)
            count++;
        unsigned whole = 0;
        for (unsigned i = 0; i < count; i++)
            whole |= 1u << order[i];
        assert_int_equal(crash.stages, whole);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        seen[count]++;
        lg_reader_close(reader);
    }
    print_message("             stages committed: none %u, 1: %u, 2: %u, 3: %u, 4: %u, 5: %u, 6: %u, 7: %u, all %u\n", seen[0], seen[1], seen[2],
                  seen[3], seen[4], seen[5], seen[6], seen[7], seen[8]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_loader_lock),   WITH_STATE(test_no_descriptors), WITH_STATE(test_sandbox_without_vm_readv),
        WITH_STATE(test_deadline_in_sandbox),
        WITH_STATE(test_bad_pointers),  WITH_STATE(test_many_at_once),   WITH_STATE(test_refused_calls),
        WITH_STATE(test_full_queue),
        WITH_STATE(test_forged_signals),
        WITH_STATE(test_killed_anywhere), WITH_STATE(test_pages_never_come),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
