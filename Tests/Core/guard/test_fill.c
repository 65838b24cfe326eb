/* Tables of functions with gaps: a call of a missing function goes on in the host's fallback or
 * returns 0, and is reported; without guards it crashes as before. */
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

typedef long (*number_function)(long);
static number_function missing, other;

/* The one place of calls, so that records can be compared. */
static __attribute__((noinline)) long call(number_function function)
{
    return function(7) + zero;
}

static __attribute__((noinline)) long call_too(number_function function)
{
    return function(8) + 1 + zero;
}

static long fallback(long number)
{
    return number + 1000;
}

static void *gappy(void)
{
    void *handle = dlopen(GAPPY, RTLD_NOW | RTLD_LOCAL);
    require(handle);
    return handle;
}

/* `missing` is one that the plugin lacks. */
static void fill(lg_guard_function instead)
{
    const lg_guard_row row = { "gappy_missing", &missing, instead, 0 };
    require(lg_guard_fill(gappy(), &row, 1, NULL) == LG_OK);
    require(missing);
}

#define CALLED "gappy_missing(), which libgappy.so lacks, is called"
#define SYMBOL LG_GUARDS(LG_GUARD_SYMBOL)

/* ---- what dies without the guard ---- */

static void call_null(void *argument)
{
    (void)argument;
    start_session();
    call(missing);
}

static void call_unguarded(void *argument)
{
    start_session();
    fill((lg_guard_function)argument);
    call(missing);
}

static void call_stopped(void *argument)
{
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    fill((lg_guard_function)argument);
    require(call_too(missing) == (argument ? 1009 : 1));
    require(lg_guard_stop(session) == LG_OK);
    call(missing);
}

static void call_reported(void *argument)
{
    guard_with(SYMBOL, LG_GUARD_REPORT, 0, NULL);
    fill((lg_guard_function)argument);
    call(missing);
}

/* The call was survived before, and reported. */
static void call_reported_later(void *argument)
{
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    fill((lg_guard_function)argument);
    require(call_too(missing) == (argument ? 1009 : 1));
    require(lg_guard_set_policy(session, SYMBOL, LG_GUARD_REPORT) == LG_OK);
    call(missing);
}

static void call_other_class(void *argument)
{
    guard_with(LG_GUARDS_ALL & ~SYMBOL & ~LG_GUARDS(LG_GUARD_NULL_CALL), LG_GUARD_SURVIVE, 0, NULL);
    fill((lg_guard_function)argument);
    call(missing);
}

static void call_denied(void *argument)
{
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const void *const functions[] = { (const void *)(uintptr_t)call };
    const char *const modules[] = { "test-guard-fill" };
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    lists.denied_function_count = 1; /* of one byte: static functions have no size */
    lists.denied_functions = functions;
    lists.denied_module_count = lists.allowed_module_count = 1; /* deny wins */
    lists.denied_modules = lists.allowed_modules = modules;
    fill((lg_guard_function)argument);
    call_too(missing); /* reported: later calls ask the lists all the same */
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    call(missing);
}

static void call_after_budget(void *argument)
{
    number_function *functions = calloc(3, sizeof *functions);
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 2, NULL);
    const lg_guard_row rows[] = {
        LG_GUARD_ROW("gappy_one", functions[0], (number_function)argument),
        LG_GUARD_ROW("gappy_two", functions[1], (number_function)argument),
        LG_GUARD_ROW("gappy_three", functions[2], (number_function)argument),
    };
    require(lg_guard_fill(gappy(), rows, 3, NULL) == LG_OK);
    for (volatile int i = 0; i < 3; i++) /* one place, three first calls */
        call(functions[i]);
}

static void call_in_child(void *argument)
{
    int status;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    fill((lg_guard_function)argument);
    require(call_too(missing) == (argument ? 1009 : 1));
    const pid_t child = fork();
    if (child == 0)
        call(missing);
    require(waitpid(child, &status, 0) == child);
    require(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    call_too(missing); /* the parent goes on */
}

static void test_dies_as_without(void **state)
{
    static const struct {
        const char *name;
        void (*body)(void *);
    } cases[] = { { "never started", call_unguarded },   { "stopped", call_stopped }, { "report", call_reported },
                  { "report, later", call_reported_later },
                  { "another class", call_other_class }, { "denied", call_denied },   { "budget spent", call_after_budget } };
    (void)state;
    const struct crashed plain = crashed_by(call_null, NULL, SIGSEGV);
    assert_int_equal(plain.info.kind, LG_CRASH_JUMP_NULL);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        void *instead = i % 2 ? (void *)(uintptr_t)fallback : NULL;
        print_message("             %s, %s\n", cases[i / 2].name, instead ? "with a fallback" : "without");
        const struct crashed crashed = crashed_by(cases[i / 2].body, instead, SIGSEGV);
        expect_same(&plain, &crashed, 2);
    }
    state_make();
    expect_exit(call_in_child, NULL, 0);
    state_make();
    expect_exit(call_in_child, (void *)(uintptr_t)fallback, 0);
}

static void call_fatal(void *argument)
{
    guard_with(SYMBOL, LG_GUARD_FATAL, 0, NULL);
    fill((lg_guard_function)argument);
    call(missing);
}

static bool has_frame(const struct crashed *crashed, uint64_t frame)
{
    for (uint32_t i = 0; i < crashed->frame_count; i++)
        if (crashed->frames[i] == frame)
            return true;
    return false;
}

static void test_fatal(void **state)
{
    (void)state;
    const struct crashed plain = crashed_by(call_null, NULL, SIGSEGV), fatal = crashed_by(call_fatal, NULL, SIGABRT);
    expect_site(LG_GUARD_SYMBOL, CALLED, LG_GUARD_ENDED, 1, 0);
    assert_true(has_frame(&fatal, plain.frames[1])); /* the caller */
}

/* ---- what lives with it ---- */

static void live(void *argument)
{
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 10, seen);
    fill((lg_guard_function)argument);
    for (int i = 0; i < 1000; i++) /* far beyond the budget: only the first call is one of it */
        require(call(missing) == (argument ? 1007 : 0));
    wait_events(seen, 1);
    require(lg_guard_stop(session) == LG_OK);
    require(lg_stop(session) == LG_OK);
}

static void expect_event(const struct crashed *plain, const char *instead)
{
    assert_int_equal(seen->events, 1);
    assert_int_equal(seen->last.guard_class, LG_GUARD_SYMBOL);
    assert_int_equal(seen->last.action, LG_GUARD_SURVIVED);
    assert_int_equal(seen->last.count, 1);
    assert_string_equal(seen->text, CALLED);
    assert_string_equal(seen->values[0], "gappy_missing");
    assert_string_equal(seen->values[1], "libgappy.so");
    assert_string_equal(seen->values[2], instead);
    assert_int_equal(seen->last.site, plain->frames[1]); /* the caller */
    assert_int_equal(seen->frames[0], plain->frames[1]);
    assert_true(seen->last.frame_count >= 4);
    assert_int_equal(seen->frames[2], plain->frames[3]);
    expect_site(LG_GUARD_SYMBOL, CALLED, LG_GUARD_SURVIVED, 1, 1);
}

static void test_lives(void **state)
{
    (void)state;
    const struct crashed plain = crashed_by(call_null, NULL, SIGSEGV);
    for (int i = 0; i < 2; i++) {
        memset(seen, 0, sizeof *seen);
        state_make();
        expect_exit(live, i ? (void *)(uintptr_t)fallback : NULL, 0);
        expect_event(&plain, i ? "the fallback" : "0");
    }
}

/* ---- arguments and results ---- */

struct pair {
    long a, b;
};
struct floats {
    double a, b;
};

static long many(int a, long b, const char *c, short d, unsigned e, long long f, int g, long h, int i)
{
    return a == 1 && b == -2 && strcmp(c, "three") == 0 && d == -4 && e == 5 && f == 6 && g == 7 && h == 8 && i == 9 ? 42 : 0;
}

static double doubles(double a, float b, int c, double d, double e, double f, double g, double h, double i, double j)
{
    return a == 1.5 && b == 2.5f && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8 && i == 9 && j == 10 ? 4.25 : 0;
}

static int variable(const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return strcmp(text, "1 2.50 three 4.75") == 0;
}

static struct pair pair(struct floats from)
{
    return (struct pair){ (long)from.a, (long)from.b };
}

struct large {
    long numbers[8];
};

static struct large large(struct large from, int by)
{
    for (int i = 0; i < 8; i++)
        from.numbers[i] *= by;
    return from;
}

typedef float wide __attribute__((vector_size(32)));
typedef float widest __attribute__((vector_size(64)));
#if defined(__x86_64__)
__attribute__((target("avx"))) static int eight(wide a, wide b)
{
    return a[0] == 1 && a[7] == 8 && b[0] == 10 && b[7] == 80;
}

__attribute__((target("avx512f"))) static int sixteen(widest a, widest b)
{
    return a[0] == 1 && a[15] == 16 && b[0] == 10 && b[15] == 160;
}

__attribute__((target("avx"))) static int call_eight(int (*function)(wide, wide))
{
    const wide a = { 1, 2, 3, 4, 5, 6, 7, 8 };
    return function(a, a * 10);
}

__attribute__((target("avx512f"))) static int call_sixteen(int (*function)(widest, widest))
{
    const widest a = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    return function(a, a * 10);
}
#endif

/* Twice each: the first call, which is reported, and a later one. */
static void pass_arguments(void *argument)
{
    struct {
        long (*many)(int, long, const char *, short, unsigned, long long, int, long, int);
        double (*doubles)(double, float, int, double, double, double, double, double, double, double);
        int (*variable)(const char *, ...);
        struct pair (*pair)(struct floats);
        struct large (*large)(struct large, int);
        int (*eight)(wide, wide);
        int (*sixteen)(widest, widest);
    } table = { .many = NULL };
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const lg_guard_row rows[] = {
        LG_GUARD_ROW("many", table.many, many),          LG_GUARD_ROW("doubles", table.doubles, doubles),
        LG_GUARD_ROW("variable", table.variable, variable), LG_GUARD_ROW("pair", table.pair, pair),
        LG_GUARD_ROW("large", table.large, large),
#if defined(__x86_64__)
        LG_GUARD_ROW("eight", table.eight, eight),       LG_GUARD_ROW("sixteen", table.sixteen, sixteen),
#endif
    };
    require(lg_guard_fill(NULL, rows, sizeof rows / sizeof rows[0], NULL) == LG_OK);
    for (int i = 0; i < 2; i++) {
        require(table.many(1, -2, "three", -4, 5, 6, 7, 8, 9) == 42);
        require(table.doubles(1.5, 2.5f, 3, 4, 5, 6, 7, 8, 9, 10) == 4.25);
        require(table.variable("%d %.2f %s %.2f", 1, 2.5, "three", 4.75));
        const struct pair two = table.pair((struct floats){ 3, 4 });
        require(two.a == 3 && two.b == 4);
        const struct large of = table.large((struct large){ { 1, 2, 3, 4, 5, 6, 7, 8 } }, 3);
        for (int n = 0; n < 8; n++)
            require(of.numbers[n] == 3 * (n + 1));
#if defined(__x86_64__)
        require(!__builtin_cpu_supports("avx") || call_eight(table.eight));
        require(!__builtin_cpu_supports("avx512f") || call_sixteen(table.sixteen));
#endif
    }
}

#if defined(__x86_64__)
/* Values that are no arguments of C: the number of vector registers, and the static chain. */
__asm__(".text\n.type give_back, @function\ngive_back:\n    movq %rax, (%rdi)\n    movq %r10, 8(%rdi)\n    ret\n.size give_back, . - give_back\n");
void give_back(uint64_t *to);

static void pass_hidden(void *argument)
{
    void (*function)(uint64_t *) = NULL;
    uint64_t values[2] = { 0 };
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const lg_guard_row row = LG_GUARD_ROW("give_back", function, give_back);
    require(lg_guard_fill(NULL, &row, 1, NULL) == LG_OK);
    for (int i = 0; i < 2; i++) {
        __asm__ volatile("movq %%rsp, %%rbx\n andq $-16, %%rsp\n movl $3, %%eax\n movl $0x1234, %%r10d\n callq *%%rdx\n movq %%rbx, %%rsp"
                         :
                         : "D"(values), "d"(function)
                         : "rax", "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
        require(values[0] == 3 && values[1] == 0x1234);
    }
}
#endif

static void test_arguments(void **state)
{
    (void)state;
    expect_exit(pass_arguments, NULL, 0);
#if defined(__x86_64__)
    state_make();
    expect_exit(pass_hidden, NULL, 0);
#endif
}

/* Stubs for every type of a result that is in registers. */
static void take_zeros(void *argument)
{
    struct {
        int (*number)(void);
        void *(*pointer)(int);
        double (*real)(double);
        float (*small)(float);
        struct pair (*pair)(long);
        struct floats (*floats)(double);
        bool (*truth)(const char *, ...);
        void (*nothing)(void);
    } table = { .number = NULL };
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const lg_guard_row rows[] = {
        LG_GUARD_ROW("number", table.number, NULL), LG_GUARD_ROW("pointer", table.pointer, NULL), LG_GUARD_ROW("real", table.real, NULL),
        LG_GUARD_ROW("small", table.small, NULL),   LG_GUARD_ROW("pair", table.pair, NULL),       LG_GUARD_ROW("floats", table.floats, NULL),
        LG_GUARD_ROW("truth", table.truth, NULL),   LG_GUARD_ROW("nothing", table.nothing, NULL),
    };
    require(lg_guard_fill(NULL, rows, 8, NULL) == LG_OK);
    for (int i = 0; i < 2; i++) {
        require(table.number() == 0);
        require(table.pointer(3) == NULL);
        require(table.real(2.5) == 0);
        require(table.small(2.5f) == 0);
        const struct pair two = table.pair(5);
        require(two.a == 0 && two.b == 0);
        const struct floats reals = table.floats(5.5);
        require(reals.a == 0 && reals.b == 0);
        require(!table.truth("%f", 1.5));
        table.nothing();
    }
}

static void test_zeros(void **state)
{
    (void)state;
    expect_exit(take_zeros, NULL, 0);
}

/* Limit: a result in memory stays what the memory was. On x86-64 the caller passes the address of
 * that memory as the first argument. */
static void take_large(void *argument)
{
    void *(*function)(struct large *) = NULL;
    struct large at;
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const lg_guard_row row = { "large", &function, NULL, 0 };
    require(lg_guard_fill(NULL, &row, 1, NULL) == LG_OK);
    memset(&at, 0xaa, sizeof at);
    require(function(&at) == NULL);
    require(at.numbers[7] == (long)0xaaaaaaaaaaaaaaaa);
}

static void test_large_result_is_not_claimed(void **state)
{
    (void)state;
    expect_exit(take_large, NULL, 0);
}

/* ---- tables ---- */

static void fill_table(void *argument)
{
    const char *name = "untouched";
    int (*twice)(int) = NULL, (*lacking)(int) = NULL;
    struct gappy_operations operations;
    void *handle = gappy();
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const lg_guard_row by_name[] = { LG_GUARD_ROW_REQUIRED("gappy_twice", twice), LG_GUARD_ROW("gappy_lacking", lacking, NULL) };
    require(lg_guard_fill(handle, by_name, 2, &name) == LG_OK);
    require(strcmp(name, "untouched") == 0 && dlerror() == NULL);
    require(twice == (int (*)(int))dlsym(handle, "gappy_twice") && twice(4) == 8 && lacking(4) == 0);

    operations = *(const struct gappy_operations *)dlsym(handle, "gappy_operations");
    int (*const add)(int, int) = operations.add;
    const lg_guard_row table[] = { LG_GUARD_ROW_REQUIRED("add", operations.add), LG_GUARD_ROW("subtract", operations.subtract, NULL),
                                   LG_GUARD_ROW("scale", operations.scale, NULL) };
    require(lg_guard_fill(NULL, table, 3, NULL) == LG_OK);
    require(operations.add == add && operations.add(1, 2) == 3 && operations.subtract(5, 3) == 0 && operations.scale(1.5, 2, "3") == 0);
}

static void lack_required(void *argument)
{
    const char *name = NULL;
    int (*one)(int) = NULL, (*two)(int) = (int (*)(int))(uintptr_t)1, (*three)(int) = NULL;
    void *handle = gappy();
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    const lg_guard_row rows[] = { LG_GUARD_ROW("gappy_twice", one, NULL), LG_GUARD_ROW_REQUIRED("gappy_must", two), LG_GUARD_ROW("gappy_may", three, NULL) };
    require(lg_guard_fill(handle, rows, 3, &name) == LG_ERR_NOT_FOUND);
    require(strcmp(name, "gappy_must") == 0);
    require(!one && two == (int (*)(int))(uintptr_t)1 && !three);
    require(lg_guard_fill(handle, rows, 3, NULL) == LG_ERR_NOT_FOUND);
    const lg_guard_row gap = LG_GUARD_ROW_REQUIRED("three", three);
    require(lg_guard_fill(NULL, &gap, 1, &name) == LG_ERR_NOT_FOUND && strcmp(name, "three") == 0 && !three);
    require(lg_guard_fill(NULL, NULL, 0, NULL) == LG_OK);
    require(lg_guard_fill(NULL, NULL, 1, NULL) == LG_ERR_ARGUMENT);
    require(lg_guard_fill(NULL, &(lg_guard_row){ NULL, &one, NULL, 0 }, 1, NULL) == LG_ERR_ARGUMENT);
    require(lg_guard_fill(NULL, &(lg_guard_row){ "one", NULL, NULL, 0 }, 1, NULL) == LG_ERR_ARGUMENT);
}

static void exceed_limit(void *argument)
{
    static char names[LG_GUARD_MISSING_MAX + 1][32];
    static number_function functions[LG_GUARD_MISSING_MAX + 1];
    lg_guard_row rows[LG_GUARD_MISSING_MAX + 1];
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    for (int i = 0; i <= LG_GUARD_MISSING_MAX; i++) {
        snprintf(names[i], sizeof names[i], "gappy_%d", i);
        rows[i] = (lg_guard_row){ names[i], &functions[i], i % 2 ? (lg_guard_function)fallback : NULL, 0 };
    }
    require(lg_guard_fill(gappy(), rows, LG_GUARD_MISSING_MAX + 1, NULL) == LG_ERR_LIMIT);
    for (int i = 0; i <= LG_GUARD_MISSING_MAX; i++)
        require(!functions[i]);
    for (int reload = 0; reload < 3; reload++) { /* the same again needs nothing new */
        void *handle = gappy();
        require(lg_guard_fill(handle, rows, LG_GUARD_MISSING_MAX, NULL) == LG_OK);
        for (int i = 0; i < LG_GUARD_MISSING_MAX; i++)
            require(functions[i](i) == (i % 2 ? i + 1000 : 0));
        dlclose(handle);
    }
    require(lg_guard_fill(gappy(), &rows[LG_GUARD_MISSING_MAX], 1, NULL) == LG_ERR_LIMIT);
}

static void test_tables(void **state)
{
    (void)state;
    expect_exit(fill_table, NULL, 0);
    state_make();
    expect_exit(lack_required, NULL, 0);
    state_make();
    expect_exit(exceed_limit, NULL, 0);
}

/* ---- places ---- */

/* Guards that a program calls hold everywhere; the lists know a module that was loaded later. */
static void hold_by_caller(void *argument)
{
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    const char *const names[] = { "libgappy-elsewhere.so" };
    lists.denied_modules = lists.allowed_modules = names;
    const uintptr_t how = (uintptr_t)argument;
    lists.denied_module_count = how == 1;
    lists.allowed_module_count = how == 2;
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    void *handle = dlopen(ELSEWHERE, RTLD_NOW | RTLD_LOCAL);
    require(handle);
    long (*from_plugin)(long (*)(long), long) = NULL;
    const lg_guard_row rows[] = { LG_GUARD_ROW_REQUIRED("gappy_call", from_plugin), LG_GUARD_ROW("gappy_missing", missing, fallback) };
    require(lg_guard_fill(handle, rows, 2, NULL) == LG_OK);
    if (how == 1) {
        call(missing);
        from_plugin(missing, 1); /* denied */
    } else {
        require(from_plugin(missing, 1) == 1002);
        call(missing); /* not allowed in case 2 */
    }
}

/* A denied function holds from its first to its last byte. */
static void deny_function(void *argument)
{
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    long (*from)(long (*)(long), long) = NULL, (*from_too)(long (*)(long), long) = NULL;
    const lg_guard_row rows[] = { LG_GUARD_ROW_REQUIRED("gappy_call", from), LG_GUARD_ROW_REQUIRED("gappy_call_too", from_too),
                                  LG_GUARD_ROW("gappy_missing", missing, fallback) };
    require(lg_guard_fill(gappy(), rows, 3, NULL) == LG_OK);
    const void *const functions[] = { (const void *)(uintptr_t)from };
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    lists.denied_function_count = 1;
    lists.denied_functions = functions;
    require(lg_guard_set_lists(session, &lists) == LG_OK);
    require(from_too(missing, 1) == 1003);
    if (argument)
        from(missing, 1);
}

static void test_places(void **state)
{
    (void)state;
    expect_exit(hold_by_caller, (void *)0, 0);
    for (uintptr_t how = 1; how <= 2; how++) {
        print_message("             %s\n", how == 1 ? "denied" : "not allowed");
        state_make();
        expect_signal(hold_by_caller, (void *)how, SIGSEGV);
    }
    state_make();
    expect_exit(deny_function, NULL, 0);
    state_make();
    expect_signal(deny_function, (void *)1, SIGSEGV);
}

/* The call through NULL that is left is one for LG_GUARD_NULL_CALL. */
static void leave_to_null_call(void *argument)
{
    (void)argument;
    guard_with(LG_GUARDS(LG_GUARD_NULL_CALL), LG_GUARD_SURVIVE, 0, seen);
    fill((lg_guard_function)fallback);
    require(call(missing) == 0);
    wait_events(seen, 1);
    require(seen->last.guard_class == LG_GUARD_NULL_CALL);
}

static void test_null_call_takes_over(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(leave_to_null_call, NULL, 0);
}

/* ---- other bugs, and other places ---- */

static long crash_in_fallback(long number)
{
    crash();
    return number;
}

static void die_in_fallback(void *argument)
{
    (void)argument;
    guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, NULL);
    fill((lg_guard_function)crash_in_fallback);
    call(missing);
}

static void die_in_function(void *argument)
{
    (void)argument;
    start_session();
    call(crash_in_fallback);
}

/* The stub is no frame: it has jumped. */
static void test_fallback_crashes(void **state)
{
    (void)state;
    const struct crashed plain = crashed_by(die_in_function, NULL, SIGSEGV);
    const struct crashed crashed = crashed_by(die_in_fallback, NULL, SIGSEGV);
    assert_int_equal(plain.info.kind, LG_CRASH_NULL_WRITE);
    expect_same(&plain, &crashed, 3);
}

static volatile sig_atomic_t result_in_handler;

static void call_in_handler(int signal)
{
    (void)signal;
    result_in_handler = (int)call(missing);
}

static void *call_often(void *argument)
{
    for (int i = 0; i < 20000; i++)
        require(call(argument ? missing : other) == (argument ? 1007 : 0));
    return NULL;
}

/* Two threads, and lists that change meanwhile. */
static void call_from_threads(void *argument)
{
    pthread_t threads[2];
    (void)argument;
    lg_session *session = guard_with(SYMBOL, LG_GUARD_SURVIVE, 0, seen);
    fill((lg_guard_function)fallback);
    const lg_guard_row row = LG_GUARD_ROW("gappy_other", other, NULL);
    require(lg_guard_fill(gappy(), &row, 1, NULL) == LG_OK);
    signal(SIGUSR1, call_in_handler);
    raise(SIGUSR1);
    require(result_in_handler == 1007);
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, call_often, (void *)i);
    const char *const names[] = { "test-guard-fill" };
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    lists.allowed_modules = names;
    for (int i = 0; i < 100; i++) {
        lists.allowed_module_count = i % 2;
        require(lg_guard_set_lists(session, i % 3 ? &lists : NULL) == LG_OK);
        require(lg_guard_fill(gappy(), &row, 1, NULL) == LG_OK);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    wait_events(seen, 2);
}

static void test_threads_and_handlers(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_exit(call_from_threads, NULL, 0);
    /* each of the two functions has one first call, or one by each thread */
    assert_within(seen->events, 2, 3);
}

/* A session without files. */
static void live_without_files(void *argument)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    (void)argument;
    options.app_id = "org.example.test";
    options.state_directory = "/dev/null/impossible";
    lg_start(&options, &session);
    require(lg_session_protection(session) == LG_PROTECTION_NONE);
    const lg_guard_options guards = { .size = sizeof guards, .classes = SYMBOL, .policy = LG_GUARD_SURVIVE, .quiet = 1, .on_event = see, .user = seen };
    require(lg_guard_start(session, &guards) == LG_OK);
    fill((lg_guard_function)fallback);
    require(call(missing) == 1007);
    wait_events(seen, 1);
    require(lg_stop(session) == LG_OK);
    call(missing);
}

static void test_without_files(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    expect_signal(live_without_files, NULL, SIGSEGV);
    assert_int_equal(seen->events, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_dies_as_without),
        WITH_STATE(test_fatal),
        WITH_STATE(test_lives),
        WITH_STATE(test_arguments),
        WITH_STATE(test_zeros),
        WITH_STATE(test_large_result_is_not_claimed),
        WITH_STATE(test_tables),
        WITH_STATE(test_places),
        WITH_STATE(test_null_call_takes_over),
        WITH_STATE(test_fallback_crashes),
        WITH_STATE(test_threads_and_handlers),
        WITH_STATE(test_without_files),
    };
    seen = shared_memory(sizeof *seen);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
