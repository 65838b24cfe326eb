/* Every kind of crash, on the first thread and on others: the wait status, the record, the time,
 * and the records of other runs. */
#include "harness.h"
#include "wild.h"

#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- ways to die ---- */

static volatile int zero;
#define WAY static __attribute__((noinline)) void

WAY die_null_read(void) { zero = *(volatile int *)(uintptr_t)zero; }
WAY die_null_write(void) { *(volatile int *)(uintptr_t)zero = 1; }
WAY die_null_offset(void) { *(volatile int *)(uintptr_t)(zero + 0x18) = 1; }
WAY die_readonly(void) { *(volatile char *)(uintptr_t)"text" = 'T'; }
WAY die_protected(void)
{
    *(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}
WAY die_jump_null(void) { ((void (*)(void))(uintptr_t)zero)(); }
WAY die_jump_bad(void) { ((void (*)(void))(uintptr_t)(zero + 0x41414141))(); }
WAY die_exec_nx(void)
{
    void (*call)(void);
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile uint8_t *)at = 0xc3; /* ret */
    memcpy(&call, &at, sizeof call);
    call();
}
WAY __attribute__((unused)) die_non_canonical(void) { *(volatile int *)(uintptr_t)(UINT64_C(0x8000000000000000) + (uint64_t)zero) = 1; }
WAY die_unmapped(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    *(volatile char *)page = 1;
}
WAY __attribute__((unused)) die_divide(void) { zero = 7 / zero; }
WAY die_illegal(void) { ILLEGAL(); }
WAY die_breakpoint(void) { BREAKPOINT(); }
WAY die_bus(void)
{
    int file = open(state_path("empty"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    *(volatile char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) = 1;
}
WAY die_abort(void) { abort(); }
WAY die_raise(void) { raise(SIGSEGV); }
WAY die_kill(void) { kill(getpid(), SIGSEGV); pause(); }
WAY die_queue(void) { sigqueue(getpid(), SIGSEGV, (union sigval){ .sival_int = 7 }); pause(); }
WAY die_sandbox(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(98);
    syscall(SYS_getppid);
}
static int overflow(int depth)
{
    volatile char space[256];
    space[0] = (char)depth;
    return zero ? 0 : overflow(depth + 1) + space[0];
}
WAY die_overflow(void) { zero = overflow(0); }

/* of the kernel, which differs; an emulator's is that of x86-64 */
#if defined(__x86_64__) || defined(EMULATED)
#define ILLEGAL_CODE ILL_ILLOPN
#else
#define ILLEGAL_CODE ILL_ILLOPC
#endif

static const struct way {
    const char *name;
    void (*die)(void);
    int signal;
    lg_crash_kind kind;
    int code;
    bool has_address;
    uint64_t address; /* checked where it is below 64 KiB or known */
} ways[] = {
    { "null-read", die_null_read, SIGSEGV, LG_CRASH_NULL_READ, SEGV_MAPERR, true, 0 },
    { "null-write", die_null_write, SIGSEGV, LG_CRASH_NULL_WRITE, SEGV_MAPERR, true, 0 },
    { "null-offset", die_null_offset, SIGSEGV, LG_CRASH_NULL_OFFSET, SEGV_MAPERR, true, 0x18 },
    { "readonly-write", die_readonly, SIGSEGV, LG_CRASH_READONLY_WRITE, SEGV_ACCERR, true, UINT64_MAX },
    { "protected", die_protected, SIGSEGV, LG_CRASH_PROTECTED, SEGV_ACCERR, true, UINT64_MAX },
    { "jump-null", die_jump_null, SIGSEGV, LG_CRASH_JUMP_NULL, SEGV_MAPERR, true, 0 },
    { "jump-bad", die_jump_bad, SIGSEGV, LG_CRASH_JUMP_BAD, SEGV_MAPERR, true, 0x41414141 },
    { "exec-nx", die_exec_nx, SIGSEGV, LG_CRASH_EXEC_NX, SEGV_ACCERR, true, UINT64_MAX },
#if defined(__x86_64__) /* AArch64 ignores the upper byte of an address, and 1 / 0 is 0 there */
    { "non-canonical", die_non_canonical, SIGSEGV, LG_CRASH_NON_CANONICAL, SI_KERNEL, false, 0 },
    { "divide", die_divide, SIGFPE, LG_CRASH_INT_DIVIDE, FPE_INTDIV, true, UINT64_MAX },
    { "breakpoint", die_breakpoint, SIGTRAP, LG_CRASH_BREAKPOINT, SI_KERNEL, false, 0 },
#else
    { "breakpoint", die_breakpoint, SIGTRAP, LG_CRASH_BREAKPOINT, TRAP_BRKPT, true, UINT64_MAX },
#endif
    { "unmapped", die_unmapped, SIGSEGV, LG_CRASH_UNMAPPED, SEGV_MAPERR, true, UINT64_MAX },
    { "illegal", die_illegal, SIGILL, LG_CRASH_ILLEGAL, ILLEGAL_CODE, true, UINT64_MAX },
    { "bus", die_bus, SIGBUS, LG_CRASH_BUS_FILE, BUS_ADRERR, true, UINT64_MAX },
    { "abort", die_abort, SIGABRT, LG_CRASH_ABORT, SI_TKILL, false, 0 },
    { "raise", die_raise, SIGSEGV, LG_CRASH_SIGNAL_SELF, SI_TKILL, false, 0 },
    { "kill", die_kill, SIGSEGV, LG_CRASH_SIGNAL_SELF, SI_USER, false, 0 },
    { "queue", die_queue, SIGSEGV, LG_CRASH_SIGNAL_QUEUED, SI_QUEUE, false, 0 },
    { "sandbox", die_sandbox, SIGSYS, LG_CRASH_SYSCALL, 1, false, 0 },
    { "overflow", die_overflow, SIGSEGV, LG_CRASH_STACK_OVERFLOW, -1000, true, UINT64_MAX },
};
#define WAY_COUNT (sizeof ways / sizeof ways[0])

static void *die_on_thread(void *argument)
{
    prctl(PR_SET_NAME, "worker");
    ((const struct way *)argument)->die();
    return NULL;
}

static void body_main(void *argument)
{
    start_session();
    ((const struct way *)argument)->die();
}

static void body_thread(void *argument)
{
    pthread_t thread;
    start_session();
    if (pthread_create(&thread, NULL, die_on_thread, argument) != 0)
        _exit(98);
    pthread_join(thread, NULL);
}

static void check_record(const struct way *way, bool on_thread)
{
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.signal, way->signal);
    if (crash.kind != way->kind)
        fail_msg("%s: recorded as %s instead of %s (code %d, address %llx, error %llx)", way->name, lg_crash_kind_name(crash.kind),
                 lg_crash_kind_name(way->kind), crash.code, (unsigned long long)crash.address, (unsigned long long)crash.error);
    if (way->code != -1000)
        assert_int_equal(crash.code, way->code);
    assert_int_equal(crash.has_address, way->has_address);
    if (way->has_address && way->address != UINT64_MAX)
        assert_int_equal(crash.address, way->address);
    assert_int_equal(crash.handled, 0);
    assert_int_equal(crash.recrash_count, 0);
    assert_int_equal(crash.sequence, 1);
    /* The kernel delivers a signal to the process on any thread. All other signals are delivered on
     * the thread that causes them. */
    bool to_process = way->die == die_kill || way->die == die_queue;
    if (on_thread && !to_process)
        assert_string_equal(crash.thread_name, "worker");
    if (way->kind == LG_CRASH_SYSCALL)
        assert_int_equal(crash.syscall_number, SYS_getppid);

    lg_run_info run;
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(run.exit_marked, 0);
    if (!to_process)
        assert_int_equal(crash.tid != run.pid, on_thread);

    lg_verdict verdict;
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_CRASH);
    assert_int_equal(verdict.evidence, LG_EVIDENCE_CRASH_RECORD);

    /* The function that crashed is among the innermost frames of the DWARF walk (below abort(),
     * raise() and the like). */
    lg_stack_info stack;
    bool found = false;
    assert_int_equal(lg_reader_stack(reader, LG_STAGE_DWARF, &stack), LG_OK);
    assert_true(stack.stored >= 3);
    uint64_t function = (uint64_t)(uintptr_t)(way->die == die_overflow ? (void *)(uintptr_t)overflow : (void *)(uintptr_t)way->die);
    for (uint32_t i = 0; i < stack.stored && i < 8; i++) {
        uint64_t pc;
        assert_int_equal(lg_reader_frame(reader, LG_STAGE_DWARF, i, &pc), LG_OK);
        found |= pc >= function && pc < function + 256;
    }
    if (!found && !to_process)
        fail_msg("%s: the function that crashed is not among the frames", way->name);
    lg_reader_close(reader);
}

static void test_way(void **state)
{
    const struct way *way = *state;
    expect_signal(body_main, (void *)(uintptr_t)way, way->signal);
    check_record(way, false);
    expect_signal(body_thread, (void *)(uintptr_t)way, way->signal);
    check_record(way, true);
    /* The record of the first run is untouched by the second. */
    lg_reader *first = run_numbered(1);
    crash_of(first, LG_STAGE_DONE);
    assert_int_equal(lg_reader_verify(first, NULL, NULL), LG_OK);
    lg_reader_close(first);
}

/* ---- ways that look like others ---- */

/* A signal of a timer has no sender: its number is in the place of a pid. */
static void set_timer(int signal)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };
    const struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
        _exit(98);
    for (;;)
        pause();
}
WAY die_timer(void) { set_timer(SIGSEGV); }
WAY die_abort_sent(void) { kill(getpid(), SIGABRT); pause(); }
/* There are no huge pages, and none were promised. */
WAY die_huge_page(void)
{
    void *at = mmap(NULL, 2u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED)
        *(volatile char *)at = 1;
    _exit(77);
}
#if defined(__x86_64__)
WAY die_misaligned(void)
{
    static const char bytes[16] __attribute__((aligned(16)));
    __asm__ volatile("pushfq; orq $0x40000, (%%rsp); popfq; movl (%0), %%eax" : : "r"(bytes + 1) : "rax", "memory", "cc");
}
WAY die_single_step(void) { __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop" : : : "memory", "cc"); }
WAY die_no_stack(void) { __asm__ volatile("xorl %%eax, %%eax; movq %%rax, %%rsp; pushq %%rax" : : : "memory"); }
/* A NULL pointer is one with any stack pointer. */
WAY die_null_beside(void) { __asm__ volatile("movq $0x1000, %%rsp; movl $1, 0" : : : "memory"); }
WAY die_small_stack(void) { __asm__ volatile("movq $0x100, %%rsp; pushq %%rax" : : : "memory"); }
WAY die_wild_stack(void) { __asm__ volatile("movabsq $0x8000000000000100, %%rsp; pushq %%rax" : : : "memory"); }
#endif

static const struct odd {
    const char *name;
    void (*die)(void);
    int signal;
    lg_crash_kind kind;
    int code;
    bool has_address, any_thread;
} odds[] = {
    { "timer", die_timer, SIGSEGV, LG_CRASH_SIGNAL_SELF, SI_TIMER, false, true },
    { "abort sent", die_abort_sent, SIGABRT, LG_CRASH_SIGNAL_SELF, SI_USER, false, true },
    { "raise", die_raise, SIGSEGV, LG_CRASH_SIGNAL_SELF, SI_TKILL, false, false },
    { "abort", die_abort, SIGABRT, LG_CRASH_ABORT, SI_TKILL, false, false },
    { "file", die_bus, SIGBUS, LG_CRASH_BUS_FILE, BUS_ADRERR, true, false },
    { "huge page", die_huge_page, SIGBUS, LG_CRASH_BUS_MEMORY, BUS_ADRERR, true, false },
#if defined(__x86_64__)
    { "misaligned", die_misaligned, SIGBUS, LG_CRASH_BUS, BUS_ADRALN, false, false },
    { "single step", die_single_step, SIGTRAP, LG_CRASH_SINGLE_STEP, TRAP_TRACE, true, false },
    { "no stack", die_no_stack, SIGSEGV, LG_CRASH_BAD_STACK, SEGV_MAPERR, true, false },
    { "NULL beside a small stack", die_null_beside, SIGSEGV, LG_CRASH_NULL_WRITE, SEGV_MAPERR, true, false },
    { "small stack", die_small_stack, SIGSEGV, LG_CRASH_BAD_STACK, SEGV_MAPERR, true, false },
    { "wild stack", die_wild_stack, SIGBUS, LG_CRASH_BAD_STACK, SI_KERNEL, false, false },
#endif
};

static void body_odd(void *argument)
{
    start_session();
    ((const struct odd *)argument)->die();
}

static void test_odd_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof odds / sizeof odds[0]; i++) {
        const struct odd *odd = &odds[i];
        struct death death = run_child(body_odd, (void *)(uintptr_t)odd);
        if (odd->die == die_huge_page && WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
            continue; /* a kernel without them, or with some to spare */
        print_message("             %s\n", odd->name);
        expect_death(death, odd->signal);
        lg_crash_info crash = newest_crash(LG_STAGE_DONE);
        assert_string_equal(lg_crash_kind_name(crash.kind), lg_crash_kind_name(odd->kind));
        assert_int_equal(crash.code, odd->code);
        assert_int_equal(crash.has_address, odd->has_address);
        assert_int_equal(crash.any_thread, odd->any_thread);
        assert_int_equal(crash.exiting, 0);
        if (odd->die == die_timer)
            assert_int_equal(crash.sender_pid, 0);
    }
}

static void body_terminated_by_timer(void *argument)
{
    (void)argument;
    start_session();
    set_timer(SIGTERM);
}

static void test_terminated_by_timer(void **state)
{
    (void)state;
    expect_signal(body_terminated_by_timer, NULL, SIGTERM);
    lg_run_info run = newest_info();
    assert_int_equal(run.term_signal, SIGTERM);
    assert_int_equal(run.term_pid, 0);
}

static void body_crash_at_exit(void *argument)
{
    (void)argument;
    atexit(crash);
    start_session();
}

static void test_crash_at_exit(void **state)
{
    (void)state;
    expect_signal(body_crash_at_exit, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).exiting, 1);
}

/* ---- deep stacks ---- */

static void test_overflow_frames(void **state)
{
    (void)state;
    expect_signal(body_main, (void *)(uintptr_t)&ways[WAY_COUNT - 1], SIGSEGV);
    lg_reader *reader = newest_run();
    lg_stack_info stack;
    assert_int_equal(lg_reader_stack(reader, LG_STAGE_FRAMES, &stack), LG_OK);
    assert_true(stack.total > 10000);
    assert_int_equal(stack.stored, 512);
    assert_int_equal(stack.first, 448);
    /* The outermost frames lead out of the recursion, to the child's body and the harness. */
    uint64_t pc, body = (uint64_t)(uintptr_t)body_main;
    bool found = false;
    for (uint32_t i = stack.first; i < stack.stored; i++) {
        assert_int_equal(lg_reader_frame(reader, LG_STAGE_FRAMES, i, &pc), LG_OK);
        found |= pc > body && pc < body + 128;
    }
    assert_true(found);
    lg_reader_close(reader);
}

/* ---- the process ends as it would without LaunchGuard ---- */

static volatile sig_atomic_t earlier_called;

static void earlier(int signal, siginfo_t *info, void *context)
{
    (void)context;
    static const char text[] = "earlier";
    int file = open(state_path("earlier"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (signal == SIGSEGV && info->si_code == SEGV_MAPERR && info->si_addr == (void *)0x18)
        (void)!write(file, text, sizeof text - 1);
    close(file);
    earlier_called = 1;
    struct sigaction none = { .sa_handler = SIG_DFL };
    sigaction(signal, &none, NULL);
}

static void body_earlier(void *argument)
{
    (void)argument;
    struct sigaction action = { .sa_sigaction = earlier, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    start_session();
    die_null_offset();
}

static void test_earlier_handler(void **state)
{
    (void)state;
    expect_signal(body_earlier, NULL, SIGSEGV);
    assert_int_equal(access(state_path("earlier"), F_OK), 0);
    char text[16] = "";
    FILE *file = fopen(state_path("earlier"), "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "earlier");
    assert_int_equal(newest_crash(LG_STAGE_DONE).handled, 0);
}

static void body_recovers(void *argument)
{
    lg_session *session;
    lg_launch *launch;
    signal(SIGSEGV, jump_out);
    session = start_session();
    if (sigsetjmp(escape, 1) == 0)
        die_null_read();
    if (sigsetjmp(escape, 1) == 0)
        die_null_offset();
    lg_launch_prepare(session, "main", NULL, &launch);
    lg_launch_begin(launch);
    if (argument) {
        signal(SIGSEGV, SIG_DFL);
        abort();
    }
}

static void test_recovering_handler(void **state)
{
    (void)state;
    expect_exit(body_recovers, NULL, 0);
    assert_int_equal(newest_verdict().end, LG_END_CLEAN);
    /* The crash that ends the process is in the full record. */
    expect_signal(body_recovers, (void *)1, SIGABRT);
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGABRT);
    assert_int_equal(crash.sequence, 3);
    lg_reader_close(reader);
}

/* The siginfo of the signal that ends the process, as a tracer and a core file show it. */
static void test_true_siginfo(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        plain_signals();
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        start_session();
        die_null_offset();
        _exit(97);
    }
    siginfo_t seen[4];
    int status, count = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGSEGV && count < 4)
            assert_int_equal(ptrace(PTRACE_GETSIGINFO, child, NULL, &seen[count++]), 0);
        ptrace(PTRACE_CONT, child, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    }
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_int_equal(count, 2); /* the first for the fault, the second for the end of the process */
    for (int i = 0; i < count; i++) {
        assert_int_equal(seen[i].si_code, SEGV_MAPERR);
        assert_ptr_equal(seen[i].si_addr, (void *)0x18);
    }
    lg_verdict verdict;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    /* a crash under a tracer is not counted */
    assert_int_equal(verdict.end, LG_END_DEBUGGER);
    assert_int_equal(verdict.signal, SIGSEGV);
    lg_reader_close(reader);
}

static void body_ignored_abort(void *argument)
{
    (void)argument;
    signal(SIGABRT, SIG_IGN);
    start_session();
    raise(SIGABRT); /* an ignored signal has no effect, as without LaunchGuard */
    abort();
}

static void test_ignored_abort(void **state)
{
    (void)state;
    expect_signal(body_ignored_abort, NULL, SIGABRT);
    assert_int_equal(newest_verdict().end, LG_END_CRASH);
}

/* ---- children of the process ---- */

static void body_forked(void *argument)
{
    int status;
    lg_session *session = start_session();
    pid_t child = argument ? vfork() : fork();
    if (child == 0) {
        crash();
        _exit(96);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        _exit(95);
    if (lg_log_write(session, LG_LEVEL_INFO, "parent goes on", 14) != LG_OK)
        _exit(94);
}

static void test_forked_child(void **state)
{
    (void)state;
    for (uintptr_t vforked = 0; vforked < 2; vforked++) {
        state_make();
        expect_exit(body_forked, (void *)vforked, 0);
        lg_reader *reader = newest_run();
        lg_crash_info crash;
        assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND);
        assert_true(log_has(reader, "parent goes on"));
        lg_reader_close(reader);
    }
}

static void body_child_writes_nothing(void *argument)
{
    (void)argument;
    int status;
    lg_session *session = start_session(), *again;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    pid_t child = fork();
    if (child == 0) {
        bool right = lg_log_write(session, LG_LEVEL_INFO, "child", 5) == LG_ERR_FORKED && lg_stop(session) == LG_ERR_FORKED &&
                     lg_start(&options, &again) == LG_ERR_FORKED;
        exit(right ? 0 : 93);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(95);
    raise(SIGKILL);
}

static void test_child_writes_nothing(void **state)
{
    (void)state;
    expect_signal(body_child_writes_nothing, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    lg_run_info run;
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(run.exit_marked, 0); /* the child's exit() left no mark */
    assert_false(log_has(reader, "child"));
    lg_reader_close(reader);
}

/* ---- the first process of a pid namespace ---- */

static void body_pid_one(void *argument)
{
    int status;
    if (unshare(CLONE_NEWPID) != 0)
        _exit(90);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        start_session();
        ((const struct way *)argument)->die();
        _exit(96);
    }
    if (waitpid(child, &status, 0) != child)
        _exit(91);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
    _exit(WEXITSTATUS(status));
}

static void test_pid_one(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("pid namespaces need root");
    struct death death = run_child(body_pid_one, (void *)(uintptr_t)&ways[1]);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 90)
        skip_because("the kernel refuses a pid namespace");
    assert_true(WIFSIGNALED(death.status)); /* a real fault kills even the first process */
    assert_int_equal(WTERMSIG(death.status), SIGSEGV);
    crash_of(newest_run(), LG_STAGE_DONE);
    /* A signal that the process sends to itself does not: LaunchGuard's handler ends the
     * process. */
    for (size_t i = 0; i < WAY_COUNT; i++)
        if (ways[i].die == die_raise || ways[i].die == die_abort || ways[i].die == die_breakpoint) {
            expect_exit(body_pid_one, (void *)(uintptr_t)&ways[i], 128 + ways[i].signal);
            crash_of(newest_run(), LG_STAGE_DONE);
        }
}

static void body_pid_one_goes_on(void *argument)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ, SIGPIPE, SIGSEGV, SIGABRT };
    int status, ends[2];
    (void)argument;
    if (unshare(CLONE_NEWPID) != 0)
        _exit(90);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        start_session();
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            pid_t sender = fork();
            if (sender == 0)
                _exit(kill(1, numbers[i]));
            while (waitpid(sender, &status, 0) < 0) {}
        }
        if (pipe(ends) != 0 || close(ends[0]) != 0 || write(ends[1], "x", 1) != -1)
            _exit(92);
        _exit(42);
    }
    if (waitpid(child, &status, 0) != child)
        _exit(91);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
    _exit(WEXITSTATUS(status));
}

/* The kernel delivers to this process no signal that would end it: a server in a container survives
 * a write to a closed connection. */
static void test_pid_one_goes_on(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("pid namespaces need root");
    struct death death = run_child(body_pid_one_goes_on, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 90)
        skip_because("the kernel refuses a pid namespace");
    assert_true(WIFEXITED(death.status));
    assert_int_equal(WEXITSTATUS(death.status), 42);
    lg_reader *reader = newest_run();
    lg_run_info run;
    lg_verdict verdict;
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(run.term_signal, 0);
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_UNKNOWN);
    lg_reader_close(reader);
}

/* ---- terminated ---- */

static void body_terminated(void *argument)
{
    start_session();
    kill(getpid(), (int)(intptr_t)argument);
    pause();
}

static void test_terminated(void **state)
{
    (void)state;
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
    for (int i = 0; i < 3; i++) {
        state_make();
        expect_signal(body_terminated, (void *)(intptr_t)signals[i], signals[i]);
        lg_reader *reader = newest_run();
        lg_verdict verdict;
        lg_run_info run;
        assert_int_equal(lg_reader_run(reader, &run), LG_OK);
        assert_int_equal(run.term_signal, signals[i]);
        assert_int_equal(run.term_pid, run.pid);
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(verdict.end, LG_END_TERMINATED);
        lg_reader_close(reader);
    }
}

int main(void)
{
    static struct CMUnitTest tests[64];
    size_t count = 0;
    for (size_t i = 0; i < WAY_COUNT; i++)
        tests[count++] = (struct CMUnitTest){ ways[i].name, test_way, make_state, remove_state, (void *)(uintptr_t)&ways[i] };
    static const struct CMUnitTest others[] = {
        WITH_STATE(test_odd_ways),
        WITH_STATE(test_terminated_by_timer),
        WITH_STATE(test_crash_at_exit),
        WITH_STATE(test_overflow_frames),      WITH_STATE(test_earlier_handler),
        WITH_STATE(test_recovering_handler),   WITH_STATE(test_true_siginfo),
        WITH_STATE(test_ignored_abort),        WITH_STATE(test_forked_child),
        WITH_STATE(test_child_writes_nothing), WITH_STATE(test_pid_one),
        WITH_STATE(test_pid_one_goes_on),
        WITH_STATE(test_terminated),
    };
    memcpy(tests + count, others, sizeof others);
    count += sizeof others / sizeof others[0];
    return _cmocka_run_group_tests("capture", tests, count, NULL, NULL);
}
