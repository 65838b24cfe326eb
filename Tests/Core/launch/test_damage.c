/* Invalid options of a launch, and files that are damaged or deleted while the launch runs. The
 * tasks run in any case. */
#include "scripted_life.h"

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <launchguard/simulate.h>

/* ---- options ---- */

static lg_session *room;
static unsigned refused;

static void nothing(void (*work)(void *), void *argument, void *user)
{
    (void)user;
    work(argument);
}

static void check(lg_status expected, const lg_launch_options *options, const char *names)
{
    char name[16];
    static unsigned number;
    lg_launch *launch = NULL;
    /* eight names in turn: a context whose options were good has a launch from then on */
    snprintf(name, sizeof name, "%u", number++ % 8);
    lg_status status = lg_launch_prepare(room, name, options, &launch);
    assert_non_null(launch);
    if (expected == LG_OK) {
        if (status != LG_OK && status != LG_ERR_DUPLICATE)
            fail_msg("%s: %s, %s", names, lg_status_name(status), lg_session_message(room));
        return;
    }
    if (status != expected)
        fail_msg("%s: %s", names, lg_status_name(status));
    refused++;
    /* An unprotected launch, whose tasks run. */
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_finished(launch), LG_OK);
}

#define BOTH_SIDES(field, good, bad)                      \
    do {                                                  \
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT; \
        options.field = (good);                           \
        check(LG_OK, &options, #field " = " #good);       \
        options.field = (bad);                            \
        check(LG_ERR_OPTION, &options, #field " = " #bad); \
    } while (0)

static void test_options(void **state)
{
    (void)state;
    assert_int_equal(lg_simulate_start(&room), LG_OK);
    BOTH_SIDES(report_after, 1, 0);
    BOTH_SIDES(repair_after, 1, 0);
    BOTH_SIDES(window_ms, 0, -1);
    BOTH_SIDES(window_ms, 86400000, 86400001);
    BOTH_SIDES(window_ms, 1, INT64_MIN);
    BOTH_SIDES(window_ms, 1, INT64_MAX);
    BOTH_SIDES(finish, LG_FINISH_EITHER, (lg_finish)-1);
    BOTH_SIDES(finish, LG_FINISH_BOTH, (lg_finish)(LG_FINISH_BOTH + 1));
    BOTH_SIDES(report_wait_ms, 0, 5001);
    BOTH_SIDES(report_wait_ms, 5000, UINT32_MAX);
    BOTH_SIDES(count, 0, 32);
    BOTH_SIDES(count, 31, UINT32_MAX);
    BOTH_SIDES(steady_ms, 0, -1);
    BOTH_SIDES(steady_ms, INT64_MAX / 1000000, INT64_MAX);
    BOTH_SIDES(heartbeat_ms, 0, 86400001);
    BOTH_SIDES(hold, LG_HOLD_NONE, (lg_hold)(LG_HOLD_NONE + 1));
    BOTH_SIDES(hold_ms, 1, 0);
    BOTH_SIDES(hold_ms, 86400000, 86400001);
    BOTH_SIDES(auto_repair, 1, 2);
    BOTH_SIDES(safe_retry_runs, 1, 0);
    BOTH_SIDES(safe_retry_runs, 8, 9);
    BOTH_SIDES(deescalate_ms, 0, -1);
    BOTH_SIDES(deescalate_ms, INT64_MAX / 1000000, INT64_MAX / 1000000 + 1);
    BOTH_SIDES(supervised, 1, 2);
    BOTH_SIDES(shadow, 1, 2);
    BOTH_SIDES(callbacks, LG_CALLBACKS_CALLER, LG_CALLBACKS_EXECUTOR); /* without an executor */
    BOTH_SIDES(callbacks, LG_CALLBACKS_CALLER, (lg_callbacks)(LG_CALLBACKS_EXECUTOR + 1));
    BOTH_SIDES(executor, NULL, nothing);
    BOTH_SIDES(kill_switch, NULL, "");
    BOTH_SIDES(size, sizeof(lg_launch_options), 0);
    static char half[121];
    memset(half, 'm', 119);
    const char *const fits[] = { half, half + 1, NULL }, *const too_many[] = { half, half, NULL };
    BOTH_SIDES(modules, fits, too_many);
    const char *const empty[] = { "", "libplayer.so", NULL }, *const path[] = { "libplayer.so", "/usr/lib/libplayer.so", NULL };
    BOTH_SIDES(modules, fits, empty);
    BOTH_SIDES(modules, fits, path);
    /* Numbers without a bound. */
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.report_after = options.repair_after = options.unknown_after = options.safe_crash_limit = options.deescalate_runs = UINT32_MAX;
    check(LG_OK, &options, "largest");
    options.unknown_after = options.safe_crash_limit = options.deescalate_runs = 0;
    check(LG_OK, &options, "never");
    /* Pairs of options that contradict each other. */
    options = (lg_launch_options)LG_LAUNCH_OPTIONS_INIT;
    options.window_ms = 0;
    options.finish = LG_FINISH_TIME;
    check(LG_ERR_OPTION, &options, "by time without time");
    options.finish = LG_FINISH_BOTH;
    check(LG_ERR_OPTION, &options, "by both without time");
    options = (lg_launch_options)LG_LAUNCH_OPTIONS_INIT;
    options.callbacks = LG_CALLBACKS_CALLER;
    options.hold = LG_HOLD_CUSTODY;
    check(LG_ERR_OPTION, &options, "custody on the caller's thread");
    assert_int_equal(refused, 36);
    /* Names. */
    lg_launch *launch;
    char longest[LG_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[LG_NAME_MAX + 1] = 0;
    assert_int_equal(lg_launch_prepare(room, NULL, NULL, &launch), LG_ERR_OPTION);
    assert_int_equal(lg_launch_prepare(room, "", NULL, &launch), LG_ERR_OPTION);
    assert_int_equal(lg_launch_prepare(room, longest, NULL, &launch), LG_ERR_OPTION);
    longest[LG_NAME_MAX] = 0;
    assert_int_equal(lg_launch_prepare(room, longest, NULL, &launch), LG_OK);
    assert_int_equal(lg_launch_prepare(NULL, "x", NULL, &launch), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_prepare(room, "x", NULL, NULL), LG_ERR_ARGUMENT);
    lg_simulate_close(room);
}

static void repaired(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_OK);
}

static void test_repairs(void **state)
{
    (void)state;
    lg_launch *launch;
    assert_int_equal(lg_simulate_start(&room), LG_OK);
    assert_int_equal(lg_launch_prepare(room, "main", NULL, &launch), LG_OK);
    lg_repair good = LG_REPAIR_INIT, bad;
    char name[LG_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[LG_NAME_MAX + 1] = 0;
    good.name = "good";
    good.run = repaired;
#define REFUSED(status, change) \
    bad = good;                 \
    change;                     \
    assert_int_equal(lg_launch_add_repair(launch, &bad), status)
    REFUSED(LG_ERR_ARGUMENT, bad.run = NULL);
    REFUSED(LG_ERR_OPTION, bad.size = 1);
    REFUSED(LG_ERR_OPTION, bad.name = NULL);
    REFUSED(LG_ERR_OPTION, bad.name = "");
    REFUSED(LG_ERR_OPTION, bad.name = name);
    REFUSED(LG_ERR_OPTION, bad.impact = 101);
    REFUSED(LG_ERR_OPTION, bad.timeout_ms = 86400001);
    REFUSED(LG_ERR_OPTION, bad.attempts = 101);
    REFUSED(LG_ERR_OPTION, bad.flags = 8);
    assert_int_equal(lg_launch_add_repair(launch, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_add_repair(NULL, &good), LG_ERR_ARGUMENT);
    name[LG_NAME_MAX] = 0;
    good.name = name;
    good.impact = 100;
    good.timeout_ms = 86400000;
    good.attempts = 100;
    good.flags = 7;
    assert_int_equal(lg_launch_add_repair(launch, &good), LG_OK);
    assert_int_equal(lg_launch_add_repair(launch, &good), LG_ERR_DUPLICATE);
    for (int i = 1; i <= LG_REPAIRS_MAX; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(lg_launch_add_repair(launch, &good), i < LG_REPAIRS_MAX ? LG_OK : LG_ERR_LIMIT);
    }
    lg_launch_begin(launch);
    good.name = "late";
    assert_int_equal(lg_launch_add_repair(launch, &good), LG_ERR_STATE);
    lg_simulate_close(room);
}

/* ---- the ledger, between two runs ---- */

#define SLOT_BYTES 49152

static void flip(const char *name, off_t at)
{
    uint8_t byte;
    int file = open(state_path(name), O_RDWR);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void crash_times(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
}

#define REPAIRED "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;"

/* A damaged slot leaves the older of two neighbouring states. Two damaged slots leave no ledger. */
static void test_damaged_slots(void **state)
{
    (void)state;
    crash_times(2);
    state_save();
    for (int slots = 1; slots < 4; slots++) {
        state_restore();
        struct lg__ledger_context newest = stored();
        for (int slot = 0; slot < 2; slot++)
            if (slots & (1 << slot))
                flip("ledger.lg", 8192 + slot * SLOT_BYTES + 200);
        if (slots < 3) {
            /* The ledger holds the state of the last store or of the one before, in which that
             * launch had not begun: then its death counts for no launch. */
            bool lost = stored().phase != newest.phase;
            lives(LIFE(.after = FINISH), 0, lost ? "checking;report 1;a;b;normal;" : REPAIRED);
        } else {
            /* the harness expects LG_OK; lg_start() reports the damage and begins a new ledger */
            lives_somehow(LIFE(.after = FINISH), -99);
            lives(LIFE(.after = FINISH), 0, HEALTHY "normal;");
        }
    }
}

/* Numbers that LaunchGuard never writes, with right checksums. */
static void test_absurd_numbers(void **state)
{
    (void)state;
    crash_times(1);
    account();
    struct lg__ledger_payload book = stored_book();
    struct lg__ledger_context *context = &book.contexts[0];
    context->streak = context->unknown = context->reported = context->report_strikes = context->attempts = context->interruptions = context->skips =
        context->held_deaths = context->good_runs = context->safe_crashes = context->retry_runs = context->quiet = UINT32_MAX;
    context->launches = context->crashes = context->repairs = context->reported_ordinal = UINT64_MAX;
    context->ends = context->quits = context->unsteady = context->stops = context->give_up_strikes = UINT32_MAX;
    context->repair_boottime_ns = UINT64_MAX;
    state_save();
    for (uint32_t mode = 0; mode <= LG_LAUNCH_MODE_TRIAL; mode++)
        for (uint32_t phase = 0; phase <= LG_PHASE_TERMINATING; phase++)
            for (uint32_t flags = 0; flags < 16; flags += 5) {
                state_restore();
                context->mode = mode;
                context->phase = phase;
                context->flags = flags;
                context->rung = phase % (context->rung_count + 1);
                store_book(&book);
                lives_somehow(LIFE(.options.hold_ms = 50, .after = CRASH), SEGV);
                assert_non_null(strstr(story, "a;"));
            }
}

/* ---- files that are deleted under a running launch ---- */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind;
    return where->level > 0 ? remove(path) : 0;
}

static void delete_ledger(lg_launch *launch)
{
    (void)launch;
    unlink(state_path("ledger.lg"));
}

static void cut_ledger(lg_launch *launch)
{
    (void)launch;
    if (truncate(state_path("ledger.lg"), 0) != 0)
        tell("not cut");
}

static void delete_run(lg_launch *launch)
{
    (void)launch;
    unlink(newest_run_path());
}

static void delete_everything(lg_launch *launch)
{
    (void)launch;
    nftw(state_path(""), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void everything_is_cut(lg_launch *launch)
{
    if (truncate(newest_run_path(), 0) != 0)
        tell("not cut");
    cut_ledger(launch);
}

static void deleting_repair(lg_completion *done, void *user)
{
    (void)user;
    delete_everything(NULL);
    lg_complete(done, LG_OK);
}

static void delete_in_repair(lg_launch *launch)
{
    life_repair(launch, "factory reset", deleting_repair);
}

static void test_vanishing_files(void **state)
{
    (void)state;
    static void (*const ways[])(lg_launch *) = { delete_ledger, delete_run, delete_everything, cut_ledger, everything_is_cut };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (int then = 0; then < 2; then++) {
            life_make(NULL);
            crash_times(2);
            /* The launch goes on as if nothing had happened. */
            struct life life = *LIFE(.after = FINISH);
            *(then ? &life.then : &life.before) = ways[i];
            lives(&life, 0, REPAIRED);
            /* The next start does not crash either, and begins with the files that are left. */
            struct death death = run_child(live, LIFE(.after = FINISH));
            assert_false(death.late);
            assert_true(WIFEXITED(death.status) && (WEXITSTATUS(death.status) == 0 || WEXITSTATUS(death.status) == 99));
            lives(LIFE(.after = FINISH), 0, HEALTHY "normal;");
        }
    /* A repair that deletes the state directory's content: the counter lives in the mapped file,
     * and with the directory it is gone. */
    life_make(NULL);
    crash_times(2);
    lives(LIFE(.before = delete_in_repair, .after = CRASH), SEGV,
          "needs-repair;report 2;protect a;protect b;repairing;checking;a;b;");
    lives(LIFE(.after = CRASH), SEGV, HEALTHY);
    lives(LIFE(.after = FINISH), 0, "checking;report 1;a;b;normal;");
}

/* A crash whose run file was deleted counts by the mark in the ledger; a kill is unexplained. */
static void test_run_file_is_gone(void **state)
{
    (void)state;
    crash_times(1);
    unlink(newest_run_path());
    account();
    assert_int_equal(stored().streak, 1);
    lives_somehow(LIFE(.in_b = KILL), KILLED);
    unlink(newest_run_path());
    account();
    assert_int_equal(stored().streak, 1);
    assert_int_equal(stored().unknown, 1);
}

/* ---- no space left ---- */

static void start_without_place(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    lg_launch *launch;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = state_path("");
    life = argument;
    life_session = NULL;
    if (lg_start(&options, &session) == LG_OK)
        _exit(90);
    lg_launch_options of_launch = LG_LAUNCH_OPTIONS_INIT;
    of_launch.on_status = life_status;
    if (lg_launch_prepare(session, "main", &of_launch, &launch) != LG_ERR_UNPROTECTED)
        _exit(91);
    lg_task task = LG_TASK_INIT;
    task.key = "a";
    task.run = (lg_task_callback)0;
    if (lg_launch_add_task(launch, &task) != LG_ERR_ARGUMENT || lg_launch_protect(launch, NULL) != LG_OK || lg_launch_begin(launch) != LG_OK ||
        lg_launch_repair(launch) != LG_ERR_STATE || lg_launch_protect(launch, "in vain") != LG_OK || lg_launch_wait(launch, 10) != LG_OK ||
        lg_launch_finished(launch) != LG_OK || lg_launch_get_status(launch) != LG_LAUNCH_NORMAL)
        _exit(92);
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    if (lg_launch_get_info(launch, &info) != LG_ERR_UNPROTECTED || lg_launch_streak(launch) != 0)
        _exit(93);
}

static bool mounted(const char *options, unsigned long flags)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("tmpfs", state_path(""), "tmpfs", flags, options) == 0;
}

static void on_full_disk(void *argument)
{
    if (!mounted("size=64k,mode=0700", 0))
        _exit(77);
    start_without_place(argument);
}

static void on_read_only(void *argument)
{
    if (!mounted("size=64k", MS_RDONLY))
        _exit(77);
    start_without_place(argument);
}

static void as_nobody(void *argument)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(77);
    start_without_place(argument);
}

static void test_no_place(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip_because("mounting a small or read-only file system needs root");
    static void (*const ways[])(void *) = { on_full_disk, on_read_only, as_nobody };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        story[0] = 0;
        struct death death = run_child(ways[i], NULL);
        if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
            skip_because("no mount namespaces here");
        assert_false(death.late);
        assert_true(WIFEXITED(death.status));
        assert_int_equal(WEXITSTATUS(death.status), 0);
        assert_string_equal(story, "checking;normal;");
    }
}

/* ---- two processes ---- */

static void begin_beside(lg_launch *launch)
{
    (void)launch;
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        _exit(80);
    pid_t other = fork();
    if (other == 0) {
        /* A forked child may not start a session. A fresh program is one that replaces itself by
         * execve(). */
        char file[16];
        snprintf(file, sizeof file, "%d", ready[1]);
        execl("/proc/self/exe", "test", "second", state_path(""), file, (char *)NULL);
        _exit(81);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        tell("no second");
    int status;
    waitpid(other, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        tell("second: %d", status);
}

static lg_status runs(void *user)
{
    *(int *)user = 1;
    return LG_OK;
}

static int second_process(const char *directory, int ready)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    lg_launch *launch;
    int ran = 0;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = directory;
    if (lg_start(&options, &session) != LG_ERR_SECONDARY || lg_launch_prepare(session, "main", NULL, &launch) != LG_ERR_SECONDARY)
        return 1;
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "small";
    repair.run = repaired;
    lg_task task = LG_TASK_INIT;
    task.key = "a";
    task.run = runs;
    task.user = &ran;
    if (lg_launch_add_repair(launch, &repair) != LG_OK || lg_launch_add_task(launch, &task) != LG_OK || lg_launch_begin(launch) != LG_OK || !ran)
        return 2;
    if (lg_launch_protect(launch, NULL) != LG_OK || lg_launch_get_status(launch) != LG_LAUNCH_CHECKING || lg_launch_finished(launch) != LG_OK)
        return 3;
    if (write(ready, "r", 1) != 1)
        return 4;
    _exit(0);
}

static void test_two_processes(void **state)
{
    (void)state;
    crash_times(2);
    state_save();
    lives(LIFE(.before = begin_beside, .after = FINISH), 0, REPAIRED);
    state_restore();
    lives(LIFE(.then = begin_beside, .after = CRASH), SEGV, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;");
    account();
    assert_int_equal(stored().crashes, 3);
    assert_true(stored().flags & LG__CONTEXT_DUE);
}

/* ---- a simulated session beside a real one that is stopped in the end ---- */

static void stops(void *real)
{
    lg_session *session = real ? start_session() : NULL;
    if (lg_simulate_start(&room) != LG_OK)
        _exit(90);
    lg_launch *launch;
    lg_launch_prepare(room, "main", NULL, &launch);
    lg_launch_begin(launch);
    if (lg_stop(room) != LG_OK || lg_stop(room) != LG_ERR_CLOSED || lg_launch_get_status(launch) != LG_LAUNCH_NORMAL)
        _exit(91);
    if (session && lg_session_protection(session) != LG_PROTECTION_FULL)
        _exit(92);
    abort();
}

static void test_stop(void **state)
{
    (void)state;
    expect_signal(stops, NULL, SIGABRT);
    /* The real session goes on beside the simulated one: its crash is one crash. */
    expect_signal(stops, &room, SIGABRT);
    lg_verdict verdict;
    lg_run_info run;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_CRASH);
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(run.stop_marked, 0);
    lg_reader_close(reader);
}

/* A repair that fails while the session is being stopped: no thread is held any more. */
static lg_launch *repaired_launch;
static lg_completion *_Atomic attempt;

static void answers_when_stopped(lg_completion *done, void *user)
{
    (void)user;
    atomic_store(&attempt, done);
}

static void is_stopped(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    if (status != LG_LAUNCH_NORMAL)
        return;
    lg_complete(atomic_load(&attempt), LG_ERR_FAILED);
    wait_until(lg_launch_get_status(repaired_launch) != LG_LAUNCH_REPAIRING);
}

static void stops_while_repairing(void *argument)
{
    (void)argument;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_repair repair = LG_REPAIR_INIT;
    lg_session *session = start_session();
    options.hold = LG_HOLD_CUSTODY;
    options.repair_after = 1;
    lg_launch_prepare(session, "main", &options, &repaired_launch);
    repair.name = "first";
    repair.attempts = 1;
    repair.run = answers_when_stopped;
    lg_launch_add_repair(repaired_launch, &repair);
    repair.name = "second";
    repair.flags = LG_REPAIR_CONSENT;
    lg_launch_add_repair(repaired_launch, &repair);
    lg_launch_begin(repaired_launch);
    if (lg_launch_get_status(repaired_launch) == LG_LAUNCH_CHECKING)
        abort();
    wait_until(atomic_load(&attempt));
    options = (lg_launch_options)LG_LAUNCH_OPTIONS_INIT;
    options.on_status = is_stopped;
    lg_launch *other;
    lg_launch_prepare(session, "other", &options, &other);
    lg_launch_begin(other);
    lg_stop(session);
    if (lg_launch_wait(repaired_launch, LIMIT_MS) != LG_ERR_CLOSED)
        _exit(91);
}

static void test_stop_while_repairing(void **state)
{
    (void)state;
    expect_signal(stops_while_repairing, NULL, SIGABRT);
    expect_exit(stops_while_repairing, NULL, 0);
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "second") == 0)
        return second_process(arguments[2], atoi(arguments[3]));
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_options),        WITH_LIFE(test_repairs),        WITH_LIFE(test_damaged_slots), WITH_LIFE(test_absurd_numbers),
        WITH_LIFE(test_vanishing_files), WITH_LIFE(test_run_file_is_gone), WITH_LIFE(test_no_place), WITH_LIFE(test_two_processes),
        WITH_LIFE(test_stop), WITH_LIFE(test_stop_while_repairing),
    };
    return cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
