/* Calls through NULL: where the guard holds they return 0 and are reported. Such a call anywhere
 * else, and any other fault, crashes as before. */
#include "seen.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "gappy.h"

static struct seen *seen;
static volatile int zero;
static long (*volatile nothing)(long); /* NULL */

#define CALLED "a function is called through NULL"
#define NULL_CALL LG_GUARDS(LG_GUARD_NULL_CALL)
#define PROGRAM "test-guard-null-call"

/* The one place of calls, so that records can be compared. */
static __attribute__((noinline)) long call(long (*function)(long))
{
    return function(7) + zero;
}

static lg_session *survive(void)
{
    return guard_with(NULL_CALL, LG_GUARD_SURVIVE, 0, seen);
}

static void *plugin(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    require(handle);
    return handle;
}

typedef long (*caller)(long (*)(long), long);

static caller caller_of(void *handle)
{
    const caller function = (caller)dlsym(handle, "gappy_call");
    require(function);
    return function;
}

/* ---- what dies as without the guard ---- */

static void call_plain(void *argument)
{
    (void)argument;
    start_session();
    call(nothing);
}

static void call_by_default(void *argument)
{
    (void)argument;
    guard_with(0, LG_GUARD_SURVIVE, 0, NULL);
    require(!lg_guard_is_working(LG_GUARD_NULL_CALL));
    call(nothing);
}

static __attribute__((noinline)) long call_too(long (*function)(long))
{
    return function(8) + 1 + zero;
}

static void call_stopped(void *argument)
{
    (void)argument;
    lg_session *session = survive();
    require(call_too(nothing) == 1);
    require(lg_guard_stop(session) == LG_OK);
    call(nothing);
}

static void call_without_class(void *argument)
{
    (void)argument;
    lg_session *session = survive();
    require(call_too(nothing) == 1);
    require(lg_guard_set_classes(session, LG_GUARDS_DEFAULT) == LG_OK);
    call(nothing);
}

static void call_reported(void *argument)
{
    (void)argument;
    guard_with(NULL_CALL, LG_GUARD_REPORT, 0, NULL);
    call(nothing);
}

static void call_fatal(void *argument)
{
    (void)argument;
    guard_with(NULL_CALL, LG_GUARD_FATAL, 0, NULL);
    call(nothing);
}

static void call_beyond_budget(void *argument)
{
    (void)argument;
    guard_with(NULL_CALL, LG_GUARD_SURVIVE, 3, NULL);
    for (volatile int i = 0; i < 8; i++) { /* a minute may begin in the middle */
        call(nothing);
        require(i < 6);
    }
}

static void call_denied(void *argument)
{
    (void)argument;
    lg_session *session = survive();
    const char *const names[] = { PROGRAM };
    const lg_guard_lists lists = { .size = sizeof lists, .denied_module_count = 1, .denied_modules = names, .allowed_module_count = 1, .allowed_modules = names };
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    call(nothing);
}

static void call_not_allowed(void *argument)
{
    (void)argument;
    lg_session *session = survive();
    void *handle = plugin(GAPPY);
    const char *const names[] = { "libgappy.so" };
    const lg_guard_lists lists = { .size = sizeof lists, .allowed_module_count = 1, .allowed_modules = names };
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    require(caller_of(handle)(nothing, 1) == 1);
    call(nothing);
}

static void stop_at_event(const lg_guard_event *event, void *user)
{
    see(event, seen);
    lg_guard_stop(user);
}

static void call_stopped_by_event(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    const lg_guard_options options = {
        .size = sizeof options, .classes = NULL_CALL, .policy = LG_GUARD_SURVIVE, .quiet = 1, .on_event = stop_at_event, .user = session
    };
    require(lg_guard_start(session, &options) == LG_OK);
    require(call_too(nothing) == 1);
    wait_until(!lg_guard_is_working(LG_GUARD_NULL_CALL));
    call(nothing);
}

static void test_dies_as_without(void **state)
{
    static const struct {
        const char *name;
        void (*body)(void *);
    } cases[] = { { "off by default", call_by_default }, { "stopped", call_stopped },       { "class taken away", call_without_class },
                  { "report", call_reported },           { "fatal", call_fatal },           { "budget spent", call_beyond_budget },
                  { "denied", call_denied },             { "not allowed", call_not_allowed },
                  { "stopped by on_event", call_stopped_by_event } };
    (void)state;
    const struct crashed plain = crashed_by(call_plain, NULL, SIGSEGV);
    assert_int_equal(plain.info.kind, LG_CRASH_JUMP_NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("             %s\n", cases[i].name);
        memset(seen, 0, sizeof *seen);
        const struct crashed crashed = crashed_by(cases[i].body, NULL, SIGSEGV);
        expect_same(&plain, &crashed, 2);
    }
}

static void test_said(void **state)
{
    (void)state;
    expect_signal(call_reported, NULL, SIGSEGV);
    expect_site(LG_GUARD_NULL_CALL, CALLED, LG_GUARD_REPORTED, 1, 0);
    state_make();
    expect_signal(call_fatal, NULL, SIGSEGV);
    expect_site(LG_GUARD_NULL_CALL, CALLED, LG_GUARD_ENDED, 1, 0);
}

/* ---- what lives with it ---- */

static void live(void *argument)
{
    (void)argument;
    lg_session *session = survive();
    for (int i = 0; i < 20; i++)
        require(call(nothing) == 0);
    lg_guard_stop(session);
    wait_events(seen, 20);
    require(lg_stop(session) == LG_OK);
}

static void test_lives(void **state)
{
    (void)state;
    const struct crashed plain = crashed_by(call_plain, NULL, SIGSEGV);
    memset(seen, 0, sizeof *seen);
    state_make();
    expect_exit(live, NULL, 0);
    assert_int_equal(seen->events, 20);
    assert_int_equal(seen->last.count, 20);
    assert_int_equal(seen->last.guard_class, LG_GUARD_NULL_CALL);
    assert_int_equal(seen->last.action, LG_GUARD_SURVIVED);
    assert_string_equal(seen->text, CALLED);
    assert_int_equal(seen->last.site, plain.frames[1]);
    assert_int_equal(seen->frames[0], plain.frames[1]);
    /* the fault is before the callee has a frame: the walk goes on with the caller's caller */
    assert_true(seen->last.frame_count >= 4);
    assert_int_equal(seen->frames[2], plain.frames[3]);
    lg_reader *reader = newest_run();
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND); /* no record was left */
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
    expect_site(LG_GUARD_NULL_CALL, CALLED, LG_GUARD_SURVIVED, 20, 20);
    assert_int_equal(newest_verdict().end, LG_END_CLEAN);
}

struct pair {
    long a, b;
};
struct floats {
    double a, b;
};

/* All types whose result is in registers. */
static void take_zeros(void *argument)
{
    struct pair (*volatile pair)(long) = NULL;
    struct floats (*volatile floats)(double) = NULL;
    double (*volatile real)(double, ...) = NULL;
    float (*volatile small)(float) = NULL;
    void *(*volatile pointer)(const char *) = NULL;
    void (*volatile empty)(void) = NULL;
    (void)argument;
    survive();
    const struct pair two = pair(5);
    require(two.a == 0 && two.b == 0);
    const struct floats reals = floats(5.5);
    require(reals.a == 0 && reals.b == 0);
    require(real(2.5, 1.5) == 0 && small(2.5f) == 0 && pointer("3") == NULL);
    empty();
}

#if defined(__x86_64__)
/* The registers that a function preserves and the stack are as before; nothing changed the
 * direction flag. A tail call returns to the caller's caller. */
static void keep_registers(void *argument)
{
    uint64_t kept[6] = { 0 }, flags = 0, result = 1;
    (void)argument;
    survive();
    __asm__ volatile("pushq %%rbx\n pushq %%rbp\n pushq %%r12\n pushq %%r13\n pushq %%r14\n pushq %%r15\n"
                     "movq %%rsp, %%rbx\n andq $-16, %%rsp\n pushq %%rdi\n pushq %%rsi\n"
                     "movq $0x1112, %%rbp\n movq $0x1212, %%r12\n movq $0x1313, %%r13\n movq $0x1414, %%r14\n movq $0x1515, %%r15\n"
                     "xorl %%eax, %%eax\n callq *%%rax\n"
                     "popq %%rsi\n popq %%rdi\n"
                     "movq %%rbp, 0(%%rdi)\n movq %%r12, 8(%%rdi)\n movq %%r13, 16(%%rdi)\n movq %%r14, 24(%%rdi)\n movq %%r15, 32(%%rdi)\n"
                     "movq %%rsp, %%rcx\n subq %%rbx, %%rcx\n negq %%rcx\n movq %%rcx, 40(%%rdi)\n"
                     "pushfq\n popq %%rcx\n movq %%rcx, (%%rsi)\n movq %%rbx, %%rsp\n"
                     "popq %%r15\n popq %%r14\n popq %%r13\n popq %%r12\n popq %%rbp\n popq %%rbx\n"
                     : "=&a"(result)
                     : "D"(kept), "S"(&flags)
                     : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1");
    require(result == 0 && !(flags & 1 << 10));
    require(kept[0] == 0x1112 && kept[1] == 0x1212 && kept[2] == 0x1313 && kept[3] == 0x1414 && kept[4] == 0x1515);
    require(kept[5] < 16); /* the stack pointer is back, but for the alignment */
}

/* Through each kind of operand: r8 and above, slots by base, index, stack and address. */
static void *const null_slots[4];
static void call_forms(void *argument)
{
    long sum = 0, result;
    (void)argument;
    survive();
#define FORM(code)                                                                                                                      \
    __asm__ volatile("movq %%rsp, %%rbx\n andq $-16, %%rsp\n pushq $0\n pushq $0\n movl $1, %%eax\n xorl %%r13d, %%r13d\n movl $2, %%r14d\n" \
                     code "\n movq %%rbx, %%rsp"                                                                                       \
                     : "=&a"(result) : "D"(null_slots) : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r13", "r14", "memory", "cc"); \
    sum += result + 1
    FORM("call *%%r13");
    FORM("call *(%%rdi)");
    FORM("call *8(%%rdi)");
    FORM("movq %%rdi, %%r13\n call *8(%%r13)");
    FORM("call *(%%rdi, %%r14, 8)");
    FORM("call *8(%%rsp)");
    FORM("call *null_word(%%rip)");
    FORM("call jump_to_null_word");
    FORM("leaq jump_to_null_word(%%rip), %%r8\n call *%%r8");
#undef FORM
    require(sum == 9);
}
__asm__(".data\n.balign 8\nnull_word: .quad 0\n"
        ".text\n.type jump_to_null_word, @function\njump_to_null_word:\n    endbr64\n    jmpq *null_word(%rip)\n"
        ".size jump_to_null_word, . - jump_to_null_word\n");

__asm__(".text\n.type jump_to, @function\njump_to:\n    jmpq *%rdi\n.size jump_to, . - jump_to\n");
#elif defined(__aarch64__)
__asm__(".text\n.type jump_to, %function\njump_to:\n    br x0\n.size jump_to, . - jump_to\n");
#endif
long jump_to(long (*function)(long));

static void call_by_tail(void *argument)
{
    (void)argument;
    survive();
    require(jump_to(nothing) == 0);
}

static void test_results(void **state)
{
    static void (*const bodies[])(void *) = {
        take_zeros, call_by_tail,
#if defined(__x86_64__)
        keep_registers, call_forms,
#endif
    };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        state_make();
        expect_exit(bodies[i], NULL, 0);
    }
}

/* ---- what is not claimed ---- */

static volatile uintptr_t place;

static void write_data(void)
{
    *(volatile int *)place = 1;
}

static void read_data(void)
{
    zero += *(volatile int *)place;
}

static void call_place(void)
{
    call((long (*)(long))place);
}

/* Without a frame of its own: what is at sp, or in lr, is a return address. */
#if defined(__x86_64__)
__asm__(".text\n.type write_leaf, @function\nwrite_leaf:\n    movl $1, (%rdi)\n    ret\n.size write_leaf, . - write_leaf\n");
#elif defined(__aarch64__)
__asm__(".text\n.type write_leaf, %function\nwrite_leaf:\n    str wzr, [x0]\n    ret\n.size write_leaf, . - write_leaf\n");
#endif
void write_leaf(uintptr_t at);

static void write_by_leaf(void)
{
    write_leaf(place);
}

#if defined(__x86_64__)
/* A smashed stack: the function "returns" to 0. */
static void return_to_null(void)
{
    __asm__ volatile("pushq $0\n pushq $0\n ret");
}

/* The same, with the address of code that no call is before. */
static void return_beside_call(void)
{
    __asm__ volatile("pushq %0\n pushq $0\n ret" : : "r"((const uint8_t *)(uintptr_t)call + 1));
}
/* The same, where a call is before that address: only the caller's frame is nothing. */
static void return_to_null_called(void)
{
    __asm__ volatile("call 1f\n jmp 2f\n 1: xorl %%eax, %%eax\n pushq $0\n ret\n 2:\n" : : : "rax", "memory");
}

static void return_to_null_called_by_register(void)
{
    __asm__ volatile("leaq 1f(%%rip), %%r12\n call *%%r12\n jmp 2f\n 1: xorl %%eax, %%eax\n pushq $0\n ret\n 2:\n" : : : "rax", "r12", "memory");
}

static void *slot;
static void return_to_null_called_by_slot(void)
{
    __asm__ volatile("leaq 1f(%%rip), %%rax\n movq %%rax, %0\n call *%0\n jmp 2f\n 1: xorl %%eax, %%eax\n pushq $0\n ret\n 2:\n"
                     : "=m"(slot) : : "rax", "memory");
}
#endif

struct large {
    long numbers[8];
};

/* A result in memory stays what the memory was: its address is an argument on x86-64. Then the
 * program uses what it got. */
static void use_large_result(void)
{
    struct large at;
    memset(&at, 0xaa, sizeof at);
    struct large *(*volatile function)(struct large *) = NULL;
    struct large *result = function(&at);
    require(at.numbers[7] == (long)0xaaaaaaaaaaaaaaaa);
    zero += (int)*(volatile long *)&result->numbers[0]; /* NULL */
}

static const struct bug {
    const char *name;
    void (*function)(void);
    uintptr_t place;
    int signal;
    bool is_stack_lost;
} bugs[] = {
    { "write to NULL", write_data, 0, SIGSEGV, false },
    { "write to NULL, by a leaf", write_by_leaf, 0, SIGSEGV, false },
    { "read of NULL", read_data, 0, SIGSEGV, false },
    { "write to NULL + 16", write_data, 16, SIGSEGV, false },
    { "call of NULL + 1", call_place, 1, SIGSEGV, false },
    { "call of NULL + 8", call_place, 8, SIGSEGV, false },
    { "call of 0x41414141", call_place, 0x41414141, SIGSEGV, false },
#if defined(__x86_64__)
    { "call of an address that no CPU has", call_place, UINT64_C(0x4141414141414141), SIGSEGV, false },
    { "return to NULL", return_to_null, 0, SIGSEGV, true },
    { "return to NULL beside a call", return_beside_call, 0, SIGSEGV, true },
    { "return to NULL below a call", return_to_null_called, 0, SIGSEGV, true },
    { "return to NULL below a call by register", return_to_null_called_by_register, 0, SIGSEGV, true },
    { "return to NULL below a call by slot", return_to_null_called_by_slot, 0, SIGSEGV, true },
#endif
    { "abort", abort, 0, SIGABRT, false },
};

static __attribute__((noinline)) void be_buggy(const struct bug *bug)
{
    place = bug->place;
    bug->function();
}

static void be_buggy_alone(void *argument)
{
    start_session();
    be_buggy(argument);
}

static void be_buggy_guarded(void *argument)
{
    survive();
    require(call_too(nothing) == 1);
    be_buggy(argument);
}

static void test_other_bugs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        print_message("             %s\n", bugs[i].name);
        void *bug = (void *)(uintptr_t)&bugs[i];
        const struct crashed plain = crashed_by(be_buggy_alone, bug, bugs[i].signal), guarded = crashed_by(be_buggy_guarded, bug, bugs[i].signal);
        uint32_t body = 0;
        while (body < plain.frame_count && body < guarded.frame_count && plain.frames[body] == guarded.frames[body])
            body++;
        assert_true(body >= 2 || bugs[i].is_stack_lost);
        expect_same(&plain, &guarded, body);
    }
}

static void take_large(void *argument)
{
    (void)argument;
    survive();
    use_large_result();
}

static void test_large_result_is_not_claimed(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    const struct crashed crashed = crashed_by(take_large, NULL, SIGSEGV);
    assert_int_equal(crashed.info.kind, LG_CRASH_NULL_READ);
}

/* A signal that was sent is no fault, whatever the program does just then. */
static void send_fault(void *argument)
{
    (void)argument;
    survive();
    raise(SIGSEGV);
}

static void test_sent_signal_is_not_claimed(void **state)
{
    (void)state;
    const struct crashed crashed = crashed_by(send_fault, NULL, SIGSEGV);
    assert_int_equal(crashed.info.sender_pid != 0, 1);
}

/* ---- modules ---- */

static void call_from(void *argument)
{
    survive();
    /* unknown to the lists: the plugin was not there */
    require(caller_of(plugin(argument))(nothing, 1) == 1);
}

static void call_from_known(void *argument)
{
    void *handle = plugin(argument);
    survive();
    require(caller_of(handle)(nothing, 1) == 1);
}

static void call_from_filled(void *argument)
{
    caller function = NULL;
    survive();
    const lg_guard_row row = LG_GUARD_ROW_REQUIRED("gappy_call", function);
    require(lg_guard_fill(plugin(argument), &row, 1, NULL) == LG_OK);
    require(function(nothing, 1) == 1);
}

static void call_from_allowed(void *argument)
{
    void *handle = plugin(argument);
    lg_session *session = survive();
    const char *const names[] = { "libgappy-elsewhere.so" };
    const lg_guard_lists lists = { .size = sizeof lists, .allowed_module_count = 1, .allowed_modules = names };
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    require(caller_of(handle)(nothing, 1) == 1);
}

/* Deny goes before allow, by function. */
static void call_from_denied_function(void *argument)
{
    void *handle = plugin(argument);
    lg_session *session = survive();
    const caller denied = caller_of(handle), too = (caller)dlsym(handle, "gappy_call_too");
    const void *const denied_functions[] = { (const void *)(uintptr_t)denied };
    const char *const names[] = { "libgappy.so", PROGRAM };
    const lg_guard_lists lists = { .size = sizeof lists, .denied_function_count = 1, .denied_functions = denied_functions,
                                   .allowed_module_count = 2, .allowed_modules = names };
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    require(too(nothing, 1) == 2 && call(nothing) == 0);
    denied(nothing, 1);
}

/* Only what is listed, by function. */
static void call_from_allowed_function(void *argument)
{
    void *handle = plugin(argument);
    lg_session *session = survive();
    const caller allowed = caller_of(handle), other = (caller)dlsym(handle, "gappy_call_too");
    const void *const functions[] = { (const void *)(uintptr_t)allowed };
    const lg_guard_lists lists = { .size = sizeof lists, .allowed_function_count = 1, .allowed_functions = functions };
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    require(allowed(nothing, 1) == 1);
    other(nothing, 1);
}

static void test_modules(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*body)(void *);
        const char *plugin;
        bool lives;
    } cases[] = {
        { "below the program's folder", call_from_known, GAPPY, true },
        { "elsewhere", call_from_known, ELSEWHERE, false },
        { "loaded later", call_from, GAPPY, false },
        { "loaded later, filled", call_from_filled, GAPPY, true },
        { "elsewhere, filled", call_from_filled, ELSEWHERE, false },
        { "elsewhere, allowed", call_from_allowed, ELSEWHERE, true },
        { "denied function", call_from_denied_function, GAPPY, false },
        { "allowed function", call_from_allowed_function, GAPPY, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("             %s\n", cases[i].name);
        void *path = (void *)(uintptr_t)cases[i].plugin;
        if (cases[i].lives) {
            state_make();
            expect_exit(cases[i].body, path, 0);
        } else {
            assert_int_equal(crashed_by(cases[i].body, path, SIGSEGV).info.kind, LG_CRASH_JUMP_NULL);
        }
    }
}

/* ---- processes ---- */

static void expect_dead(pid_t child)
{
    int status;
    require(child > 0 && waitpid(child, &status, 0) == child);
    require(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void call_in_children(void *argument)
{
    (void)argument;
    survive();
    require(call(nothing) == 0);
    pid_t child = fork();
    if (child == 0)
        call(nothing);
    expect_dead(child);
    child = vfork();
    if (child == 0) {
        call(nothing);
        _exit(1);
    }
    expect_dead(child);
    require(lg_guard_is_working(LG_GUARD_NULL_CALL) && call(nothing) == 0);
}

static void test_children_decline(void **state)
{
    (void)state;
    expect_exit(call_in_children, NULL, 0);
    assert_int_equal(newest_verdict().end, LG_END_CLEAN);
}

/* ---- threads and handlers ---- */

static volatile sig_atomic_t in_handler = -1;

static void call_in_handler(int signal)
{
    (void)signal;
    in_handler = (int)call(nothing);
}

static void handle(void *argument)
{
    (void)argument;
    survive();
    signal(SIGUSR1, call_in_handler);
    raise(SIGUSR1);
    require(in_handler == 0);
}

/* In a handler of the program for the fault itself nothing is claimed. */
static void call_in_fault_handler(int signal)
{
    (void)signal;
    call(nothing);
    _exit(96);
}

static void handle_fault(void *argument)
{
    (void)argument;
    signal(SIGSEGV, call_in_fault_handler);
    survive();
    crash();
}

/* on_event is code of the program, on a thread of LaunchGuard. */
static atomic_int calls_in_event;

static void call_in_event(const lg_guard_event *event, void *user)
{
    require(call(nothing) == 0);
    see(event, user);
    atomic_fetch_add(&calls_in_event, 1);
}

static void be_told(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    const lg_guard_options guards = {
        .size = sizeof guards, .classes = NULL_CALL, .policy = LG_GUARD_SURVIVE, .quiet = 1, .on_event = call_in_event, .user = seen
    };
    require(lg_guard_start(session, &guards) == LG_OK);
    require(lg_guard_claim(LG_GUARD_NULL_CALL, NULL, "the first event", NULL, 0) == 1);
    /* its call is an event of its own, which is reported in turn, once a second */
    wait_until(atomic_load(&calls_in_event) >= 3);
    require(seen->events >= 3);
}

static void test_handlers(void **state)
{
    (void)state;
    expect_exit(handle, NULL, 0);
    const struct crashed crashed = crashed_by(handle_fault, NULL, SIGSEGV);
    assert_int_equal(crashed.info.kind, LG_CRASH_NULL_WRITE);
    memset(seen, 0, sizeof *seen);
    state_make();
    expect_exit(be_told, NULL, 0);
}

#define CALLS 3000
static atomic_int running;

static void *call_often(void *argument)
{
    long (*const calling)(long (*)(long)) = argument;
    for (int i = 0; i < CALLS; i++)
        require(calling(nothing) == (calling == call ? 0 : 1));
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Two threads call; this one changes the lists, in all of which the calls are allowed. */
static void hammer(void *argument)
{
    (void)argument;
    pthread_t threads[2];
    const char *const names[] = { PROGRAM, "libc.so.6", "libgappy.so" };
    lg_guard_lists lists = { .size = sizeof lists, .allowed_modules = names, .denied_modules = names + 1 };
    lg_session *session = guard_with(NULL_CALL, LG_GUARD_SURVIVE, 1000000, seen);
    running = 2;
    pthread_create(&threads[0], NULL, call_often, (void *)(uintptr_t)call);
    pthread_create(&threads[1], NULL, call_often, (void *)(uintptr_t)call_too);
    for (unsigned i = 0; atomic_load(&running); i++) {
        lists.allowed_module_count = i % 3;
        lists.denied_module_count = i % 5 % 3;
        require(lg_guard_set_lists(session, i % 7 ? &lists : NULL) == LG_OK);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    lg_guard_stop(session);
    wait_events(seen, 2 * CALLS);
}

static void test_hammer(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(hammer, NULL, 0);
    assert_int_equal(seen->events, 2 * CALLS);
}

/* A thread that crashes for good while another one survives call after call has its whole
 * record. */
static void *call_for_ever(void *argument)
{
    for (;;) {
        call(nothing);
        atomic_store(&running, 1);
    }
    return argument;
}

static void crash_beside(void *argument)
{
    (void)argument;
    guard_with(NULL_CALL, LG_GUARD_SURVIVE, 1000000, NULL);
    in_thread(call_for_ever, NULL);
    wait_until(atomic_load(&running));
    crash();
}

static void test_crash_beside(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        const struct crashed crashed = crashed_by(crash_beside, NULL, SIGSEGV);
        assert_int_equal(crashed.info.kind, LG_CRASH_NULL_WRITE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_dies_as_without),
        WITH_STATE(test_said),
        WITH_STATE(test_lives),
        WITH_STATE(test_results),
        WITH_STATE(test_other_bugs),
        WITH_STATE(test_large_result_is_not_claimed),
        WITH_STATE(test_sent_signal_is_not_claimed),
        WITH_STATE(test_modules),
        WITH_STATE(test_children_decline),
        WITH_STATE(test_handlers),
        WITH_STATE(test_hammer),
        WITH_STATE(test_crash_beside),
    };
    seen = shared_memory(sizeof *seen);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
