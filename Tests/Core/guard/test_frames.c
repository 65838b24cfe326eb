/* The frames of a guard event, in code without frame pointers: the true callers, from an ordinary
 * thread and from the handler. A walk that faults ends alone, and a crash at any moment of a walk
 * is recorded as ever.
 *
 * This file is compiled with -O2 -fomit-frame-pointer. */
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/internal.h"
#include "guard/guard.h"
#include "os/fault_point.h"
#include "session/session.h"

#define MOST 32u

static lg_session *session;

static void start_guards(void)
{
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = LG_GUARD_SURVIVE;
    options.quiet = 1;
    session = start_session();
    if (lg_guard_start(session, &options) != LG_OK)
        _exit(98);
}

/* ---- a chain of callers, each of which knows where it returns to ---- */

#define HERE ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define NOT_INLINED __attribute__((noinline))
#define CALLERS 3

struct chain {
    void (*act)(struct chain *chain);
    uint64_t returns[CALLERS]; /* innermost first */
    uint64_t frames[MOST];
    uint32_t count;
    uint64_t site;
    const char *argument;
};

static NOT_INLINED int inner(struct chain *chain)
{
    volatile char space[72];
    space[0] = 1;
    chain->returns[1] = HERE;
    chain->act(chain);
    return space[0];
}

static NOT_INLINED int middle(struct chain *chain, int number)
{
    volatile int space[5] = { number };
    chain->returns[2] = HERE;
    return inner(chain) + space[0];
}

static NOT_INLINED int outer(struct chain *chain, int number)
{
    int sum = middle(chain, number * 3);
    return sum + middle(chain, number) * 2;
}

/* The frames from the site on: inside the function that acts, then its callers. */
static void check_chain(const struct chain *chain, uint32_t first)
{
    if (chain->count < first + CALLERS) {
        fprintf(stderr, "only %u frames\n", chain->count);
        _exit(1);
    }
    for (uint32_t i = 0; i < CALLERS; i++)
        if (chain->frames[first + i] != chain->returns[i]) {
            fprintf(stderr, "frame %u is %#llx and not %#llx\n", first + i, (unsigned long long)chain->frames[first + i],
                    (unsigned long long)chain->returns[i]);
            _exit(1);
        }
}

/* ---- by lg_guard_claim() ---- */

/* Each call has a site of its own, so that each walks. */
static const char sites[LG_GUARD_SITES_MAX];
static _Atomic uint32_t sites_used;

static NOT_INLINED void claim_here(struct chain *chain, const void *site)
{
    chain->site = (uint64_t)(uintptr_t)site;
    if (!lg_guard_claim(LG_GUARD_CONTAINER, site, "a test", NULL, 0))
        _exit(97);
    chain->count = 0;
}

static void find_event(struct chain *chain)
{
    const struct lg__guards *guards = session->host.run.guards;
    for (uint32_t i = 0; i < LG__GUARD_SITES; i++) {
        const struct lg__guard_site *site = &guards->sites[i];
        if ((atomic_load(&site->key) & UINT64_C(0xffffffffffffff)) != chain->site)
            continue;
        chain->count = site->frame_count;
        memcpy(chain->frames, site->frames, sizeof chain->frames);
        return;
    }
    _exit(96);
}

static NOT_INLINED void claim(struct chain *chain)
{
    chain->returns[0] = HERE;
    claim_here(chain, &sites[atomic_fetch_add(&sites_used, 1)]);
    find_event(chain);
}

/* The frames of the functions of the guard come before those of a site that is no frame. */
static uint32_t first_of(const struct chain *chain)
{
    uint32_t first = 0;
    while (first < chain->count && chain->frames[first] != chain->returns[0])
        first++;
    return first;
}

static NOT_INLINED void claim_and_check(void)
{
    struct chain chain = { .act = claim };
    outer(&chain, 2);
    check_chain(&chain, first_of(&chain));
}

/* The site is where lg_guard_claim() returns to, and the first frame. */
static NOT_INLINED void claim_at_caller(struct chain *chain)
{
    static _Atomic bool done;
    if (atomic_exchange(&done, true))
        return;
    chain->returns[0] = HERE;
    if (!lg_guard_claim(LG_GUARD_HANDLE, NULL, "a test", NULL, 0))
        _exit(97);
    const struct lg__guards *guards = session->host.run.guards;
    for (uint32_t i = 0; i < LG__GUARD_SITES; i++)
        if (guards->sites[i].guard_class == LG_GUARD_HANDLE) {
            chain->site = atomic_load(&guards->sites[i].key) & UINT64_C(0xffffffffffffff);
            chain->count = guards->sites[i].frame_count;
            memcpy(chain->frames, guards->sites[i].frames, sizeof chain->frames);
        }
}

static void *claim_in_thread(void *argument)
{
    claim_and_check();
    return argument;
}

static void body_ordinary(void *argument)
{
    struct chain chain = { .act = claim_at_caller };
    pthread_t thread;
    start_guards();
    claim_and_check();
    inner(&chain);
    if (chain.frames[0] != chain.site || chain.frames[1] != chain.returns[0] || chain.frames[2] != chain.returns[1])
        _exit(1);
    pthread_create(&thread, NULL, claim_in_thread, argument);
    pthread_join(thread, NULL);
}

static void test_ordinary_thread(void **state)
{
    (void)state;
    expect_exit(body_ordinary, NULL, 0);
}

/* ---- in the handler ---- */

static struct chain *in_handler;
static char *page; /* no access; the first chance mends it */
static struct lg__arch_mark way_out;
static void (*before_walk)(void *ucontext);
static bool declines;

static bool walk_and_mend(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    if (!in_handler)
        return false;
    if (before_walk)
        before_walk(ucontext);
    errno = 0;
    in_handler->count = lg__capture_walk(ucontext, in_handler->frames, MOST);
    if (declines)
        return false;
    if (info->si_addr == page)
        return mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
    lg__arch_jump_on_return(ucontext, &way_out);
    return true;
}

static NOT_INLINED void write_to_page(struct chain *chain)
{
    chain->returns[0] = HERE;
    mprotect(page, 4096, PROT_NONE);
    *(volatile char *)page = 1;
}

static NOT_INLINED void call_null(struct chain *chain)
{
    static void (*volatile function)(void);
    chain->returns[0] = HERE;
    if (lg__arch_mark(&way_out) == 0)
        function();
}

static void prepare_handler(struct chain *chain)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    in_handler = chain;
    lg__capture_set_program_chance(walk_and_mend);
}

static void body_handler(void *argument)
{
    struct chain chain = { .act = write_to_page };
    (void)argument;
    start_guards();
    prepare_handler(&chain);
    outer(&chain, 2);
    check_chain(&chain, 1);
    if (lg__capture_busy() || lg__capture_latest())
        _exit(2);
    /* pc is 0; then the function that called, then its callers */
    chain.act = call_null;
    outer(&chain, 2);
    if (chain.frames[0] != 0)
        _exit(3);
    check_chain(&chain, 2);
    in_handler = NULL;
    crash();
}

static void expect_plain_crash(void (*body)(void *), void *argument)
{
    uint32_t count;
    state_make();
    expect_signal(body, argument, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    assert_int_equal(lg_reader_crash_count(reader, &count), LG_OK);
    assert_int_equal(count, 1);
    const lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.handled, 0);
    lg_reader_close(reader);
    state_remove();
}

static void test_handler(void **state)
{
    (void)state;
    expect_plain_crash(body_handler, NULL);
}

/* ---- stacks that are no stacks ---- */

static char *gone; /* two pages without access */

static void set_stack(void *ucontext, uint64_t sp)
{
    ucontext_t *context = ucontext;
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RSP] = context->uc_mcontext.gregs[REG_RBP] = (greg_t)sp;
#else
    context->uc_mcontext.sp = context->uc_mcontext.regs[29] = sp;
#endif
}

/* A walk of a changed context never faults and always ends. */
static uint32_t walk_with_stack(uint64_t sp)
{
    uint64_t frames[MOST];
    ucontext_t context;
    getcontext(&context);
    set_stack(&context, sp);
    const uint32_t count = lg__capture_walk(&context, frames, MOST);
    if (count < 1 || count > MOST)
        _exit(4);
    return count;
}

static void walk_bad_stacks(void)
{
    static uint64_t words[4096];
    /* addresses of code, all of them: a chain without an end */
    for (size_t i = 0; i < 4096; i++)
        words[i] = (uint64_t)(uintptr_t)claim_at_caller + i % 64;
    walk_with_stack((uint64_t)(uintptr_t)gone);
    walk_with_stack((uint64_t)(uintptr_t)gone + 4090);
    walk_with_stack(0);
    walk_with_stack(UINT64_MAX - 4);
    walk_with_stack((uint64_t)(uintptr_t)words);
    walk_with_stack((uint64_t)(uintptr_t)words + 3);
    memset(words, 0x41, sizeof words);
    walk_with_stack((uint64_t)(uintptr_t)words);
    for (size_t i = 0; i < 4096; i++)
        words[i] = (uint64_t)(uintptr_t)words; /* frames in a circle */
    walk_with_stack((uint64_t)(uintptr_t)words);
}

static void lose_stack(void *ucontext)
{
    static ucontext_t copy;
    uint64_t frames[MOST];
    copy = *(const ucontext_t *)ucontext;
    set_stack(&copy, (uint64_t)(uintptr_t)gone);
    if (lg__capture_walk(&copy, frames, MOST) < 1)
        _exit(5);
    walk_bad_stacks();
}

static void body_bad_stacks(void *argument)
{
    struct chain chain = { .act = write_to_page };
    (void)argument;
    start_guards();
    gone = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    walk_bad_stacks();
    before_walk = lose_stack;
    prepare_handler(&chain);
    outer(&chain, 2);
    check_chain(&chain, 1);
    in_handler = NULL;
    crash();
}

static void test_bad_stacks(void **state)
{
    (void)state;
    expect_plain_crash(body_bad_stacks, NULL);
}

/* ---- a fault of the walk itself ---- */

static const char *point_that_faults;
static _Atomic unsigned faults;

static void hook_fault(const char *point)
{
    /* a crash of the test itself is recorded by a walk as well */
    if (!point_that_faults || strcmp(point, point_that_faults) != 0 || lg__memory_walker != LG__WALKER_GUARD)
        return;
    atomic_fetch_add(&faults, 1);
    crash();
}

static void expect_unchanged(uint64_t mask, int rounding, unsigned before)
{
    if (atomic_load(&faults) == before || lg__os_signals_blocked() != mask || fegetround() != rounding || lg__memory_walker != LG__WALKER_CRASH ||
        lg__crash_entered || lg__crash_holder() || lg__capture_latest())
        _exit(6);
}

static void fault_everywhere(struct chain *chain)
{
    const uint64_t mask = lg__os_signals_blocked();
    unsigned before = atomic_load(&faults);
    errno = 77;
    fesetround(FE_UPWARD);
    point_that_faults = "guard: walk"; /* ends the walk */
    chain->act = claim;
    outer(chain, 2);
    if (errno != 77)
        _exit(7);
    expect_unchanged(mask, FE_UPWARD, before);
    if (chain->count < 1) /* by frame pointers */
        _exit(8);
    before = atomic_load(&faults);
    point_that_faults = "walk: tables"; /* costs what the tables say */
    outer(chain, 2);
    expect_unchanged(mask, FE_UPWARD, before);
    before = atomic_load(&faults);
    point_that_faults = "guard: walk";
    chain->act = write_to_page;
    outer(chain, 2);
    expect_unchanged(mask, FE_UPWARD, before);
    if (chain->count != 0)
        _exit(9);
    before = atomic_load(&faults);
    point_that_faults = "walk: tables";
    outer(chain, 2);
    expect_unchanged(mask, FE_UPWARD, before);
    if (chain->count < 1)
        _exit(10);
    point_that_faults = NULL;
    fesetround(FE_TONEAREST);
}

static void body_faults(void *argument)
{
    struct chain chain = { .act = claim };
    (void)argument;
    start_guards();
    prepare_handler(&chain);
    lg__fault_hook = hook_fault;
    for (int i = 0; i < 3; i++)
        fault_everywhere(&chain);
    chain.act = write_to_page;
    outer(&chain, 2);
    check_chain(&chain, 1); /* the next walk is whole */
    in_handler = NULL;
    crash();
}

/* The guard declines, after a walk that faulted in its first chance: the crash that had begun goes
 * on. */
static void body_fault_and_decline(void *argument)
{
    struct chain chain = { .act = write_to_page };
    start_guards();
    prepare_handler(&chain);
    lg__fault_hook = hook_fault;
    point_that_faults = argument ? "guard: walk" : "walk: tables";
    declines = true;
    outer(&chain, 2);
    _exit(24);
}

static void test_faults(void **state)
{
    expect_plain_crash(body_faults, NULL);
    expect_plain_crash(body_fault_and_decline, NULL);
    expect_plain_crash(body_fault_and_decline, state);
}

/* ---- two threads ---- */

static _Atomic int hold; /* 1: the next walk waits; 2: it waits; 0: it may go on */

static void hook_hold(const char *point)
{
    int wanted = 1;
    if (strcmp(point, "guard: walk") == 0 && atomic_compare_exchange_strong(&hold, &wanted, 2))
        wait_until(atomic_load(&hold) != 2);
}

static void body_two_threads(void *argument)
{
    uint64_t frames[MOST];
    pthread_t thread;
    start_guards();
    lg__fault_hook = hook_hold;
    atomic_store(&hold, 1);
    pthread_create(&thread, NULL, claim_in_thread, argument);
    wait_until(atomic_load(&hold) == 2);
    if (lg__capture_walk(NULL, frames, MOST) != 0)
        _exit(11);
    struct chain chain = { .act = claim };
    outer(&chain, 1); /* by frame pointers: the event is reported all the same */
    if (chain.count < 1)
        _exit(12);
    if (argument)
        crash(); /* waits for no walk */
    atomic_store(&hold, 0);
    pthread_join(thread, NULL);
    claim_and_check();
}

static void test_two_threads(void **state)
{
    expect_exit(body_two_threads, NULL, 0);
    state_remove();
    expect_plain_crash(body_two_threads, state);
}

/* ---- signals and forks in the middle ---- */

static _Atomic bool has_walked, has_handled;

static void crash_behind_walk(int number)
{
    (void)number;
    if (lg__memory_walker != LG__WALKER_CRASH)
        _exit(13);
    atomic_store(&has_handled, true);
    crash();
}

static void jump_behind_walk(int number)
{
    atomic_store(&has_handled, true);
    jump_out(number);
}

/* Which signal comes: one of the program, or that of a crash, by another process or by a thread of
 * this one. */
static enum { OWN, BY_PROCESS, BY_THREAD } sender;

static void hook_signal(const char *point)
{
    if (strcmp(point, "guard: walk") != 0 || atomic_exchange(&has_walked, true))
        return;
    const siginfo_t sent = { .si_signo = SIGSEGV, .si_code = SI_USER, .si_pid = getppid() };
    if (sender == BY_PROCESS)
        lg__os_signal_queue(getpid(), lg__os_tid(), SIGSEGV, &sent);
    else
        lg__os_signal_send(getpid(), lg__os_tid(), sender == OWN ? SIGUSR1 : SIGSEGV);
    if (atomic_load(&has_handled))
        _exit(14);
}

static void body_signal_crashes(void *argument)
{
    signal(SIGUSR1, crash_behind_walk);
    sender = (unsigned)(uintptr_t)argument;
    start_guards();
    lg__fault_hook = hook_signal;
    claim_and_check();
    _exit(15);
}

static void body_signal_jumps(void *argument)
{
    signal(SIGUSR1, jump_behind_walk);
    (void)argument;
    start_guards();
    lg__fault_hook = hook_signal;
    if (sigsetjmp(escape, 1) == 0) {
        claim_and_check();
        _exit(15);
    }
    claim_and_check();
}

static void test_signals(void **state)
{
    (void)state;
    state_remove();
    for (uintptr_t from = OWN; from <= BY_THREAD; from++)
        expect_plain_crash(body_signal_crashes, (void *)from);
    state_make();
    expect_exit(body_signal_jumps, NULL, 0);
}

/* Also in a program that lives with its signal: the handler is called once, after the walk. */
static void note_behind_walk(int number)
{
    (void)number;
    if (lg__memory_walker != LG__WALKER_CRASH || atomic_exchange(&has_handled, true))
        _exit(16);
}

static void body_signal_survived(void *argument)
{
    (void)argument;
    signal(SIGSEGV, note_behind_walk);
    sender = BY_PROCESS;
    start_guards();
    lg__fault_hook = hook_signal;
    claim_and_check();
    if (!atomic_load(&has_handled))
        _exit(17);
    claim_and_check();
}

static void test_signal_survived(void **state)
{
    (void)state;
    expect_exit(body_signal_survived, NULL, 0);
}

static void body_fork(void *argument)
{
    uint64_t frames[MOST];
    int status;
    (void)argument;
    start_guards();
    const pid_t child = fork();
    if (child == 0)
        _exit((int)lg__capture_walk(NULL, frames, MOST));
    if (waitpid(child, &status, 0) != child || status != 0 || lg__capture_walk(NULL, frames, MOST) == 0)
        _exit(18);
}

static void test_fork(void **state)
{
    (void)state;
    expect_exit(body_fork, NULL, 0);
}

/* Where a fault could not come back there is no walk: the signal is blocked, or has another
 * handler. */
static void body_no_way_back(void *argument)
{
    uint64_t frames[MOST];
    sigset_t set, before;
    (void)argument;
    start_guards();
    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8); /* no function of LaunchGuard sees it */
    if (lg__capture_walk(NULL, frames, MOST) != 0)
        _exit(19);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (lg__capture_walk(NULL, frames, MOST) == 0)
        _exit(20);
    signal(SIGSEGV, hang);
    if (lg__capture_walk(NULL, frames, MOST) != 0)
        _exit(21);
}

static void test_no_way_back(void **state)
{
    (void)state;
    expect_exit(body_no_way_back, NULL, 0);
}

/* ---- a library that is loaded later ---- */

static struct chain plugged = { .act = claim };
static int (*plugin_call)(void (*)(void));

static void claim_from_plugin(void)
{
    plugged.returns[1] = HERE;
    claim(&plugged);
}

static NOT_INLINED int through_plugin(void (*function)(void))
{
    plugged.returns[2] = HERE;
    return plugin_call(function) + 1;
}

/* In a first chance; `plugged` has the frames. */
static void fault_from_plugin(void)
{
    plugged.returns[1] = HERE;
    write_to_page(&plugged);
}

static void body_plugin(void *argument)
{
    start_guards();
    claim_and_check();
    prepare_handler(&plugged);
    void *plugin = dlopen(PLUGIN_A, RTLD_NOW);
    *(void **)(void *)&plugin_call = plugin ? dlsym(plugin, "plugin_call") : NULL;
    if (!plugin_call || through_plugin(argument ? fault_from_plugin : claim_from_plugin) == 0)
        _exit(22);
    const uint32_t first = argument ? 1 : first_of(&plugged);
    if (plugged.count < first + 4 || plugged.frames[first + 1] != plugged.returns[1] || plugged.frames[first + 3] != plugged.returns[2])
        _exit(23);
    kill(getpid(), SIGKILL);
}

/* The run file names the library. */
static bool newest_run_has(const char *path)
{
    lg_module module;
    bool found = false;
    lg_reader *reader = newest_run();
    for (uint32_t i = 0; !found && lg_reader_module(reader, i, &module) == LG_OK; i++)
        found = strcmp(module.path, path) == 0;
    lg_reader_close(reader);
    return found;
}

static void test_plugin(void **state)
{
    expect_signal(body_plugin, NULL, SIGKILL);
    assert_true(newest_run_has(PLUGIN_A));
    state_remove();
    state_make();
    expect_signal(body_plugin, state, SIGKILL);
    assert_true(newest_run_has(PLUGIN_A));
}

/* ---- many walks, some of which fault, and a crash among them ---- */

#define THREADS 4
static _Atomic uint64_t walks, lost, drawn;

/* Delays at any point, and faults of walks. */
static void hook_disturb(const char *point)
{
    const uint64_t number = (atomic_fetch_add(&drawn, 1) + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    if (number % 64 == 0)
        pass_us((unsigned)(number / 64 % 300), "threads meet at any point");
    else if (strcmp(point, "guard: walk") == 0 && number % 8 == 1)
        crash();
}

static __thread char *own_page;
static __thread struct chain *own_chain;

static bool walk_and_mend_own(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    if (!own_page || info->si_addr != own_page)
        return false;
    own_chain->count = lg__capture_walk(ucontext, own_chain->frames, MOST);
    return mprotect(own_page, 4096, PROT_READ | PROT_WRITE) == 0;
}

static NOT_INLINED void write_to_own_page(struct chain *chain)
{
    chain->returns[0] = HERE;
    mprotect(own_page, 4096, PROT_NONE);
    *(volatile char *)own_page = 1;
}

static NOT_INLINED void walk_here(struct chain *chain)
{
    chain->returns[0] = HERE;
    chain->count = lg__capture_walk(NULL, chain->frames, MOST);
}

static void *walk_without_end(void *argument)
{
    struct chain chain;
    own_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    own_chain = &chain;
    for (uint64_t i = 0;; i++) {
        chain.act = i % 2 ? walk_here : write_to_own_page;
        outer(&chain, 1);
        if (chain.count)
            check_chain(&chain, 1);
        atomic_fetch_add(chain.count ? &walks : &lost, 1);
    }
    return argument;
}

static void body_hammer(void *argument)
{
    start_guards();
    lg__capture_set_program_chance(walk_and_mend_own);
    lg__fault_hook = hook_disturb;
    for (int i = 0; i < THREADS; i++)
        in_thread(walk_without_end, NULL);
    const uint64_t least = 50 + (uint64_t)(uintptr_t)argument * 37;
    wait_until(atomic_load(&walks) >= least && atomic_load(&lost) >= 10);
    crash();
}

static void test_hammer(void **state)
{
    (void)state;
    state_remove();
    const char *rounds = getenv("LAUNCHGUARD_FRAMES_ROUNDS");
    for (int i = 0; i < (rounds ? atoi(rounds) : 10); i++)
        expect_plain_crash(body_hammer, (void *)(uintptr_t)(i % 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_ordinary_thread), WITH_STATE(test_handler), WITH_STATE(test_bad_stacks), WITH_STATE(test_faults),
        WITH_STATE(test_two_threads), WITH_STATE(test_signals), WITH_STATE(test_signal_survived), WITH_STATE(test_fork),
        WITH_STATE(test_no_way_back), WITH_STATE(test_plugin), WITH_STATE(test_hammer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
