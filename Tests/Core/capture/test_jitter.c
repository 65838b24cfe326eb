/* Random schedules. A child dies while each of its threads is delayed at random fault points, which
 * makes orders of events that an idle machine never shows. In every order each child ends in time,
 * with the right status and its record.
 *
 * For each round a seed draws the scenario, its times, and for each point whether a thread passes,
 * yields, spins or sleeps there.
 *
 * LAUNCHGUARD_JITTER_ROUNDS: the number of rounds. LAUNCHGUARD_JITTER_SCENARIO: only those of one
 * kind. The kernel's schedule is not drawn: a failure may need some repeats. */
#include "harness.h"
#include "seeds.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
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
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "session/session.h"

#define ROUNDS 60
#define PARTS 4ul /* processes that run the rounds */
/* A round that takes longer hangs: the times of the session and of the delays are much shorter. */
#define HUNG_MS 50000
/* Longer than any handler here takes on a busy machine: LaunchGuard never ends a thread here for a
 * slow handler. */
#define PATIENT_MS 60000
#define FAILURES_MAX 5

/* ---- chance ---- */

static uint64_t round_seed;
static _Atomic uint64_t drawn;

static unsigned below(unsigned limit)
{
    return (unsigned)(mix_seed(round_seed ^ atomic_fetch_add(&drawn, 1) << 20) % limit);
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

/* ---- delays ---- */

/* All long delays of a child together have this limit, so that LaunchGuard ends no thread for the
 * delays alone. */
#define DELAYS_US 700000
static _Atomic int delays_left_us;

/* A delay is part of a schedule that is drawn: nothing is hoped for meanwhile. */
static void sleep_us(unsigned us)
{
    const struct timespec length = { 0, (long)us * 1000 };
    ppoll(NULL, 0, &length, NULL);
}

static void spin_us(unsigned us)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < (long)us);
}

/* A delay that is not slept is given back: otherwise a thread that passes its points without end
 * would count below the smallest number, and the limit would be lost. */
static void delay(unsigned us)
{
    if (atomic_fetch_sub(&delays_left_us, (int)us) >= (int)us)
        sleep_us(us);
    else
        atomic_fetch_add(&delays_left_us, (int)us);
}

/* Called from every thread and in signal handlers. */
static void jitter(const char *point)
{
    uint64_t nature = round_seed;
    int error = errno;
    for (const char *c = point; *c; c++)
        nature = mix_seed(nature ^ (unsigned char)*c);
    unsigned us;
    switch (nature % 9) {
    case 0: sched_yield(); break;
    case 1:
    case 2:
        spin_us(below(200));
        break;
    case 3: sleep_us(below(3000)); break;
    case 4:
    case 5: /* in the order of the times in the options of a session */
        us = below(2) ? below(400000) : below(30000);
        if (chance(60))
            delay(us);
        break;
    default: break;
    }
    errno = error;
}

/* ---- a session ---- */

static lg_session *session;
static struct { uint32_t deadline_ms, handler_ms; } times;

static void patient(void)
{
    times.deadline_ms = times.handler_ms = PATIENT_MS;
}

static void short_times(void)
{
    times.deadline_ms = 100 + below(200);
    times.handler_ms = 100 + below(300);
}

static void start(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = times.deadline_ms;
    options.handler_ms = times.handler_ms;
    options.hang_launching_ms = options.hang_running_ms = 100;
    lg__fault_hook = jitter;
    session = start_with(options);
    if (chance(50))
    if (chance(50))
        sleep_us(below(20000));
}

static char *protected_page;

static void *faults(void *argument)
{
    (void)argument;
    sleep_us(below(3000));
    crash();
    return NULL;
}

/* A function whose frames alone show that a thread is inside. */
static void perhaps_no_altstack(void)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    if (chance(30))
        sigaltstack(&none, NULL);
}

static void some_threads(void)
{
    for (unsigned i = below(4); i > 0; i--)
        in_thread(wait_for_ever, NULL);
}

/* ---- earlier handlers ---- */

static volatile bool gives_up;

static void mends(int number)
{
    if (gives_up)
        signal(number, SIG_DFL);
    else if (mprotect(protected_page, 4096, PROT_READ | PROT_WRITE) != 0)
        _exit(96);
    if (chance(30))
        sleep_us(below(100000));
}

static __thread sigjmp_buf way_out;
static __thread volatile bool may_escape;

static void jumps(int number)
{
    (void)number;
    if (may_escape)
        siglongjmp(way_out, 1);
    for (;;)
        pause();
}

static void jumps_or_dies(int number)
{
    if (may_escape)
        siglongjmp(way_out, 1);
    signal(number, SIG_DFL);
}

/* ---- after a survived crash the watch still watches ---- */

static _Atomic unsigned survived;

static void survive_by_mending(void)
{
    if (mprotect(protected_page, 4096, PROT_NONE) != 0)
        _exit(95);
    *(volatile char *)protected_page = 1;
    atomic_fetch_add(&survived, 1);
}

static void survive_by_jumping(void)
{
    may_escape = true;
    if (sigsetjmp(way_out, 1) == 0)
        crash();
    may_escape = false;
    atomic_fetch_add(&survived, 1);
}

/* No heartbeat has come since the last crash: the watch notices without one that the crash is
 * over. */
static void await_hang(void)
{
    wait_until(atomic_load(&session->host.run.state->hang_ns));
}

/* ---- scenarios: each ends by SIGSEGV unless it says otherwise ---- */

static void crash_at_once(void)
{
    short_times();
    some_threads();
    start();
    crash();
}

static void handler_hangs(void)
{
    short_times();
    signal(SIGSEGV, hang);
    some_threads();
    start();
    perhaps_no_altstack();
    crash();
}

static void handler_mends(void)
{
    patient();
    protected_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, mends);
    some_threads();
    start();
    bool beats = chance(60);
    if (beats)
        lg_heartbeat(session);
    for (unsigned i = 1 + below(3); i > 0; i--)
        survive_by_mending();
    if (beats)
        await_hang();
    gives_up = true;
    crash();
}

static void handler_jumps(void)
{
    times.deadline_ms = PATIENT_MS;
    times.handler_ms = 300 + below(300);
    signal(SIGSEGV, jumps);
    some_threads();
    start();
    perhaps_no_altstack();
    bool beats = chance(60);
    if (beats)
        lg_heartbeat(session);
    survive_by_jumping();
    if (beats)
        await_hang();
    for (unsigned i = below(3); i > 0; i--) {
        if (chance(70)) /* about as long as the handler's limit */
            sleep_us(times.handler_ms * 1000 - 3000 + below(6000));
        survive_by_jumping();
    }
    crash();
}

static void two_crash(void)
{
    short_times();
    if (chance(50))
        signal(SIGSEGV, hang);
    start();
    for (unsigned i = 1 + below(3); i > 0; i--)
        in_thread(faults, NULL);
    sleep_us(below(3000));
    crash();
}

static void *lives_by_jumping(void *argument)
{
    for (;;) {
        survive_by_jumping();
        sleep_us(below(30000));
    }
    return argument;
}

/* One thread crashes and recovers again and again. The crash of another thread ends the process. */
static void one_jumps_one_crashes(void)
{
    patient();
    signal(SIGSEGV, jumps_or_dies);
    start();
    in_thread(lives_by_jumping, NULL);
    wait_until(atomic_load(&survived) >= 2);
    sleep_us(below(30000));
    crash();
}

static void *faults_later(void *argument)
{
    (void)argument;
    sleep_us(80000 + below(60000));
    crash();
    return NULL;
}

/* The hang is found, and its stacks are taken, after 100 to 125 ms. */
static void crash_in_snapshot(void)
{
    short_times();
    if (chance(30))
        signal(SIGSEGV, hang);
    some_threads();
    start();
    lg_heartbeat(session);
    in_thread(faults_later, NULL);
    hang(0);
}

static void crash_while_stopping(void)
{
    short_times();
    start();
    in_thread(faults, NULL);
    sleep_us(below(3000));
    lg_stop(session);
    hang(0);
}

static void crash_while_starting_again(void)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *again;
    short_times();
    if (chance(50))
        signal(SIGSEGV, hang);
    options.app_id = "org.example.test";
    start();
    in_thread(faults, NULL);
    for (;;)
        if (lg_start(&options, &again) != LG_ERR_ALREADY)
            _exit(94);
}

static void ignores_end(int number)
{
    (void)number;
}

static void *asks_to_end(void *argument)
{
    for (;;) {
        kill(getpid(), SIGTERM);
        sleep_us(below(2000));
    }
    return argument;
}

static void crash_while_asked_to_end(void)
{
    short_times();
    struct sigaction action = { .sa_handler = ignores_end };
    sigaction(SIGTERM, &action, NULL);
    if (chance(50))
        signal(SIGSEGV, hang);
    some_threads();
    start();
    in_thread(asks_to_end, NULL);
    sleep_us(below(10000));
    crash();
}

static void *sets_user(void *argument)
{
    for (;;)
        if (setuid(getuid()) != 0)
            _exit(93);
    return argument;
}

static void *nothing(void *argument)
{
    return argument;
}

static void *makes_threads(void *argument)
{
    pthread_t thread;
    for (;;)
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
    return argument;
}

static void *loads(void *argument)
{
    for (;;) {
        void *library = dlopen("libutil.so.1", RTLD_NOW);
        if (library)
            dlclose(library);
    }
    return argument;
}

static void crash_amid_work(void)
{
    short_times();
    if (chance(50))
        signal(SIGSEGV, hang);
    if (chance(50))
        start();
    if (chance(60))
        in_thread(sets_user, NULL);
    if (chance(60))
        in_thread(makes_threads, NULL);
    if (chance(60))
        in_thread(loads, NULL);
    if (!session)
        start();
    sleep_us(below(10000));
    crash();
}

static void *forks(void *argument)
{
    for (;;) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* no LaunchGuard handler in these processes */
            crash();
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
            _exit(92);
    }
    return argument;
}

/* The children die by themselves, and leave nothing in the parent's file. */
static void children_crash(void)
{
    short_times();
    start();
    in_thread(forks, NULL);
    in_thread(forks, NULL);
    sleep_us(below(20000));
    crash();
}

static const struct scenario {
    const char *name;
    void (*run)(void);
    bool may_lack_record; /* the session may end before the crash */
} scenarios[] = {
    { "crash at once", crash_at_once, false },
    { "handler hangs", handler_hangs, false },
    { "handler mends", handler_mends, false },
    { "handler jumps", handler_jumps, false },
    { "two crash", two_crash, false },
    { "one jumps, one crashes", one_jumps_one_crashes, false },
    { "crash in a snapshot", crash_in_snapshot, false },
    { "crash while stopping", crash_while_stopping, true },
    { "crash while starting again", crash_while_starting_again, false },
    { "crash while asked to end", crash_while_asked_to_end, false },
    { "crash amid work", crash_amid_work, false },
    { "children crash", children_crash, false },
};
#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])

/* ---- a round ---- */

static void body(const struct scenario *scenario)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    plain_signals();
    atomic_store(&drawn, 1000);
    atomic_store(&delays_left_us, DELAYS_US);
    scenario->run();
    _exit(91);
}

/* The limit of a child has passed. No process of its group may remain. */
static bool ends_in_time(pid_t child, int *ret_status)
{
    int file = (int)syscall(SYS_pidfd_open, child, 0), ready;
    struct pollfd wait = { .fd = file, .events = POLLIN };
    assert_true(file >= 0);
    do
        ready = poll(&wait, 1, HUNG_MS);
    while (ready < 0 && errno == EINTR);
    close(file);
    if (ready == 0 && !getenv("LAUNCHGUARD_JITTER_KEEP"))
        kill(child, SIGKILL);
    assert_int_equal(waitpid(child, ret_status, 0), child);
    kill(-child, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0) {}
    return ready != 0;
}

static void see_block(const char *block, lg_status status, const char *detail, void *user)
{
    if (status == LG_ERR_DAMAGED)
        snprintf(user, 256, "%s of the run file: %s", block, detail);
}

/* The error in the file that the child left; NULL: none. */
static const char *wrong_record(const struct scenario *scenario)
{
    static char wrong[256];
    lg_reader *reader = NULL;
    lg_crash_info crash;
    const char *path = newest_run_path();
    if (!path || lg_reader_open(path, &reader) != LG_OK)
        return "its run file cannot be read";
    wrong[0] = 0;
    lg_status verified = lg_reader_verify(reader, see_block, wrong), there = lg_reader_crash(reader, &crash);
    lg_reader_close(reader);
    if (!wrong[0] && verified != LG_OK && verified != LG_ERR_INCOMPLETE)
        return "its run file is not clean";
    if (wrong[0] || (there != LG_OK && scenario->may_lack_record))
        return wrong[0] ? wrong : NULL;
    if (there != LG_OK)
        return "it left no record";
    return crash.signal == SIGSEGV && crash.stages >> LG_STAGE_HEADER & 1 ? NULL : "its record is of something else";
}

static const char *wrong_end(const struct scenario *scenario, int status, bool in_time)
{
    static char wrong[64];
    if (!in_time)
        return "it hung";
    if (WIFEXITED(status))
        snprintf(wrong, sizeof wrong, "it exited with %d", WEXITSTATUS(status));
    else if (WTERMSIG(status) != SIGSEGV)
        snprintf(wrong, sizeof wrong, "it died of signal %d", WTERMSIG(status));
    else
        return wrong_record(scenario);
    return wrong;
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 0) : otherwise;
}

static bool play(uint64_t seed, const struct scenario *scenario)
{
    int status = 0;
    round_seed = mix_seed(seed);
    state_make();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        body(scenario);
    bool in_time = ends_in_time(child, &status);
    const char *wrong = wrong_end(scenario, status, in_time);
    if (wrong)
        print_message("             \"%s\": %s\n%s\n", scenario->name, wrong, repeat_command(seed));
    state_remove();
    return !wrong;
}

/* Run the rounds of one of several processes that take turns, since children sleep most of the
 * time. Returns the number of failures. */
static int play_part(unsigned long part)
{
    unsigned long rounds = from_environment("LAUNCHGUARD_JITTER_ROUNDS", ROUNDS), kind = from_environment("LAUNCHGUARD_JITTER_SCENARIO", ULONG_MAX);
    int failures = 0;
    uint64_t seed;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (unsigned long i = part; failures < FAILURES_MAX && seed_of_round(i, rounds, &seed); i += PARTS)
        failures += !play(seed, &scenarios[(kind == ULONG_MAX ? seed : kind) % SCENARIOS]);
    return failures;
}

static void test_schedules(void **state)
{
    (void)state;
    pid_t players[PARTS];
    int failures = 0;
    fflush(NULL);
    for (unsigned long part = 0; part < PARTS; part++) {
        players[part] = fork();
        assert_true(players[part] >= 0);
        if (players[part] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(play_part(part));
        }
    }
    for (unsigned long part = 0; part < PARTS; part++) {
        int status;
        assert_int_equal(waitpid(players[part], &status, 0), players[part]);
        failures += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_schedules) };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    return cmocka_run_group_tests_name("jitter", tests, NULL, NULL);
}
