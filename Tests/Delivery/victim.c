/* A program that delivers reports, and dies in the given way.
 *
 *   delivery-victim --state DIRECTORY [OPTION=VALUE …] STEP …
 *
 * Options are those of lg_delivery_options, by name; `window`, the length of the launch in
 * milliseconds; `runs_bytes`, which is lg_options.keep_bytes; `version`; `decision`, the answer of
 * on_decide; `hold`, `hold_ms` and `shadow`. Steps run one after the other;
 * without a step that ends it the program exits with 0. Each call prints its result as a line of
 * standard output, "step: status". */
#undef NDEBUG
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <launchguard/annotate.h>
#include <launchguard/delivery.h>
#include <launchguard/launch.h>
#include <launchguard/ledger.h>
#include <launchguard/log.h>
#include <launchguard/query.h>
#include <launchguard/repair.h>
#include <launchguard/task.h>

#include "waiting.h"

static lg_session *session;
static lg_launch *launch;
static lg_delivery_options options = LG_DELIVERY_OPTIONS_INIT;
static const char *state_directory;
static uint32_t pumped;
static volatile bool delivered;

static void say(const char *step, lg_status status)
{
    printf("%s: %s\n", step, lg_status_name(status));
}

static void on_delivered(const lg_delivery_info *report, void *user)
{
    (void)user;
    printf("delivered: %s\n", report->uuid);
    delivered = true;
}

/* The mark goes when all reports say that the program was told. */
static bool is_telling(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/spool/telling", state_directory);
    return access(path, F_OK) == 0;
}

static void pump(uint32_t left_ms, void *user)
{
    (void)left_ms;
    (void)user;
    pumped++;
}

/* ---- options ---- */

static long window_ms = 60000;
static uint64_t runs_bytes;
static uint32_t ring_bytes;
static const char *version;
static long decision = -1, hold_ms, shadow, safe_crash_limit;
static lg_hold hold;

static int take_option(const char *name, size_t size, char *value)
{
#define IS(text) (size == sizeof(text) - 1 && memcmp(name, text, sizeof(text) - 1) == 0)
    unsigned long number = strtoul(value, NULL, 0);
    if (IS("target"))
        options.target = (lg_delivery_target)number;
    else if (IS("endpoint"))
        options.endpoint = value;
    else if (IS("credential_file"))
        options.credential_file = value;
    else if (IS("ca_file"))
        options.ca_file = value;
    else if (IS("ends"))
        options.ends = (uint32_t)number;
    else if (IS("consent"))
        options.consent = (lg_consent)number;
    else if (IS("keep_reports"))
        options.keep_reports = (uint32_t)number;
    else if (IS("keep_bytes"))
        options.keep_bytes = number;
    else if (IS("daily_bytes"))
        options.daily_bytes = number;
    else if (IS("brief"))
        options.brief = (uint32_t)number;
    else if (IS("compress"))
        options.compress = (uint32_t)number;
    else if (IS("release_health"))
        options.release_health = (uint32_t)number;
    else if (IS("agent_path"))
        options.agent_path = value;
    else if (IS("window"))
        window_ms = (long)number;
    else if (IS("runs_bytes"))
        runs_bytes = number;
    else if (IS("ring_bytes"))
        ring_bytes = (uint32_t)number;
    else if (IS("hint_key"))
        options.hint_key = value;
    else if (IS("version"))
        version = value;
    else if (IS("decision"))
        decision = (long)number;
    else if (IS("hold_ms"))
        hold_ms = (long)number;
    else if (IS("hold"))
        hold = (lg_hold)number;
    else if (IS("shadow"))
        shadow = (long)number;
    else if (IS("safe_crash_limit"))
        safe_crash_limit = (long)number;
    else
        return 0;
    return 1;
#undef IS
}

/* ---- steps ---- */

static void deliver(const char *step)
{
    lg_status status = lg_delivery_start(session, &options);
    say(step, status);
    if (status != LG_OK)
        printf("message: %s\n", lg_session_message(session) ? lg_session_message(session) : "");
}

static lg_decision decide(const lg_launch_info *info, const lg_report *last, void *user)
{
    (void)last;
    (void)user;
    printf("asked: %u\n", info->events);
    return (lg_decision)decision;
}

static void held(lg_launch *waits, const lg_held *held, void *user)
{
    (void)waits, (void)user;
    printf("held: %u\n", held->reason);
}

static _Atomic uint32_t halted;

static void give_up(lg_launch *waits, uint32_t hold_number, lg_completion *done, void *user)
{
    (void)waits, (void)user;
    printf("gave up: %u\n", hold_number);
    lg_complete(done, LG_OK);
    halted++;
}

static void prepare(void)
{
    lg_launch_options how = LG_LAUNCH_OPTIONS_INIT;
    if (launch)
        return;
    how.window_ms = window_ms;
    how.hold_ms = hold_ms ? hold_ms : how.hold_ms;
    how.hold = hold;
    how.shadow = (uint32_t)shadow;
    how.on_decide = decision < 0 ? NULL : decide;
    how.on_hold = held;
    how.on_give_up = give_up;
    how.safe_crash_limit = safe_crash_limit ? (uint32_t)safe_crash_limit : how.safe_crash_limit;
    lg_launch_prepare(session, "main", &how, &launch);
}

static void begin(const char *step)
{
    prepare();
    say(step, lg_launch_begin(launch));
}

/* ---- tasks and repairs ---- */

static lg_status run_task(void *key)
{
    printf("task: %s\n", (const char *)key);
    return LG_OK;
}

static lg_status crash_in_task(void *key)
{
    printf("task: %s\n", (const char *)key);
    raise(SIGSEGV);
    return LG_OK;
}

static void add_task(char *key, lg_task_callback run)
{
    lg_task task = LG_TASK_INIT;
    prepare();
    task.key = key;
    task.run = run;
    task.user = key;
    say("add", lg_launch_add_task(launch, &task));
}

static void run_repair(lg_completion *done, void *name)
{
    printf("repair: %s\n", (const char *)name);
    lg_complete(done, LG_OK);
}

static void fail_repair(lg_completion *done, void *name)
{
    printf("repair: %s\n", (const char *)name);
    lg_complete(done, LG_ERR_FAILED);
}

static void add_repair(char *name, lg_repair_callback run)
{
    lg_repair repair = LG_REPAIR_INIT;
    prepare();
    repair.name = name;
    repair.run = run;
    repair.user = name;
    say("add", lg_launch_add_repair(launch, &repair));
}

/* The next launch as others foresee it. */
static void query(void)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_launch_query(state_directory, "main", NULL, &info);
    printf("query: %s, %s\n", lg_launch_status_name(info.status), lg_launch_mode_name(info.mode));
}

/* The launch as the program sees it now. */
static void show(void)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_launch_get_info(launch, &info);
    printf("status: %s\nmode: %s\nevents: %u\n", lg_launch_status_name(info.status), lg_launch_mode_name(info.mode), info.events);
}

static void wait_for_reports(const char *step, const char *ms)
{
    static const char *const names[] = { "untouched", "nothing", "delivered", "handed-over", "timeout" };
    lg_delivery_result result = (lg_delivery_result)0;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    say(step, lg_delivery_wait(session, (uint32_t)strtoul(ms, NULL, 0), pump, NULL, &result));
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("result: %s\npumped: %u\nwaited: %ld\n", names[result], pumped,
           (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000);
}

static void report_now(const char *step, const char *reason)
{
    char uuid[37] = "";
    say(step, lg_delivery_report_now(session, reason, uuid));
    printf("requested: %s\n", uuid);
}

/* Print the children that wait() would see: a program that waits for any child must not meet the
 * agent. */
static void children(void)
{
    siginfo_t info;
    wait_until(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD);
    puts("children: none");
}

/* A program that takes orphans in, and waits for all of its children at its end. */
static void wait_for_all(void)
{
    while (wait(NULL) > 0) {}
    puts("wait-for-all: none");
}

/* Whether an agent waits for the end of this process. */
static bool has_witness(const char *state)
{
    char path[4096], line[1024], text[64];
    snprintf(path, sizeof path, "%s/spool/agent.log", state);
    snprintf(text, sizeof text, "waiting for the end of process %d\n", (int)getpid());
    FILE *log = fopen(path, "re");
    bool found = false;
    while (log && !found && fgets(line, sizeof line, log))
        found = strstr(line, text);
    if (log)
        fclose(log);
    return found;
}

static void loop_for_ever(void)
{
    for (;;)
        pause();
}

__attribute__((noinline)) static void crash(void)
{
    volatile int *volatile nowhere = (volatile int *)16;
    *nowhere = 1;
}

/* A redacted value in each place that a program has for texts. */
static void plant(const char *secret)
{
    char text[256];
    const lg_field field = { "token", secret };
    lg_annotate(session, "token", secret);
    lg_redact(session, "token");
    snprintf(text, sizeof text, "harmless %s, Token: planted-after-key", secret);
    lg_annotate(session, "note", text);
    lg_log_fields(session, LG_LEVEL_INFO, secret, text, strlen(text), &field, 1);
    pthread_setname_np(pthread_self(), "planted-secret");
    fprintf(stderr, "%s\n", text);
}

static void log_lines(unsigned count)
{
    char text[64];
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof text, "line %u of a log: the disk is %u %% full", i, i * 7 % 100);
        lg_log_write(session, LG_LEVEL_INFO, text, strlen(text));
    }
}

/* So that a report is longer than a request. */
static void log_long_texts(unsigned count)
{
    static char text[2000];
    for (unsigned i = 0; i < count; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        lg_log_write(session, LG_LEVEL_INFO, text, sizeof text);
    }
}

static void fail(const char *secret)
{
    char text[256];
    snprintf(text, sizeof text, "harmless %s {\"token\":\"planted-after-key\"}", secret);
    __assert_fail(text, "victim.c", 1, "fail");
}

static void step_forward(char *step)
{
    char *colon = strchr(step, ':');
    const char *value = colon ? colon + 1 : "";
    if (colon)
        *colon = 0;
    if (strcmp(step, "deliver") == 0)
        deliver(step);
    else if (strcmp(step, "begin") == 0)
        begin(step);
    else if (strcmp(step, "task") == 0)
        add_task(colon + 1, run_task);
    else if (strcmp(step, "bad-task") == 0)
        add_task(colon + 1, crash_in_task);
    else if (strcmp(step, "repair") == 0)
        add_repair(colon + 1, run_repair);
    else if (strcmp(step, "bad-repair") == 0)
        add_repair(colon + 1, fail_repair);
    else if (strcmp(step, "launched") == 0)
        say(step, lg_launch_wait(launch, (uint32_t)strtoul(value, NULL, 0)));
    else if (strcmp(step, "skip") == 0)
        say(step, lg_launch_skip(launch));
    else if (strcmp(step, "halted") == 0)
        wait_until(halted);
    else if (strcmp(step, "query") == 0)
        query();
    else if (strcmp(step, "show") == 0)
        show();
    else if (strcmp(step, "finish") == 0)
        say(step, lg_launch_finished(launch));
    else if (strcmp(step, "consent") == 0)
        say(step, lg_delivery_consent(session, (lg_consent)strtol(value, NULL, 0)));
    else if (strcmp(step, "wait") == 0)
        wait_for_reports(step, value);
    else if (strcmp(step, "report-now") == 0)
        report_now(step, value);
    else if (strcmp(step, "children") == 0)
        children();
    else if (strcmp(step, "subreaper") == 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    else if (strcmp(step, "wait-for-all") == 0)
        wait_for_all();
    else if (strcmp(step, "witness") == 0)
        wait_until(has_witness(state_directory));
    else if (strcmp(step, "delivered") == 0)
        wait_until(delivered && !is_telling());
    else if (strcmp(step, "until") == 0)
        wait_until(access(value, F_OK) == 0);
    else if (strcmp(step, "pass") == 0)
        pass_time((unsigned)strtoul(value, NULL, 0), "the test says why");
    else if (strcmp(step, "stop") == 0)
        say(step, lg_stop(session));
    else if (strcmp(step, "loop") == 0)
        loop_for_ever();
    else if (strcmp(step, "log") == 0)
        log_lines((unsigned)strtoul(value, NULL, 0));
    else if (strcmp(step, "log-long") == 0)
        log_long_texts((unsigned)strtoul(value, NULL, 0));
    else if (strcmp(step, "plant") == 0)
        plant(value);
    else if (strcmp(step, "fail") == 0)
        fail(value);
    else if (strcmp(step, "crash") == 0)
        crash();
    else if (strcmp(step, "abort") == 0)
        abort();
    else if (strcmp(step, "trap") == 0)
        __builtin_trap();
    else if (strcmp(step, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(step, "kill-group") == 0)
        kill(0, SIGKILL);
    else if (strcmp(step, "exit") == 0)
        exit((int)strtol(value, NULL, 0));
    else {
        fprintf(stderr, "unknown step: %s\n", step);
        exit(2);
    }
}

#ifdef LG_FAULT_POINTS
#include <fcntl.h>

#include "os/fault_point.h"

/* VICTIM_FAULT: "list:FILE" appends the name of each fault point that is passed; "slow:POINT" stays
 * there for five seconds; "POINT" kills the program there. */
static void pass(const char *point)
{
    const char *text = getenv("VICTIM_FAULT");
    if (strncmp(text, "list:", 5) == 0) {
        int file = open(text + 5, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        dprintf(file, "%s\n", point);
        close(file);
    } else if (strncmp(text, "slow:", 5) == 0 && strcmp(text + 5, point) == 0) {
        pass_time(5000, "an agent that looks meanwhile finds what is there for longer than a moment");
    } else if (strcmp(text, point) == 0) {
        kill(getpid(), SIGKILL);
    }
}

/* No wait for the agent depends on a quiet machine: the 20 ms of a start are 20 s. */
static void prepare_faults(void)
{
    lg__fault_patience = 1000;
    if (getenv("VICTIM_FAULT"))
        lg__fault_hook = pass;
}
#else
static void prepare_faults(void)
{
}
#endif

int main(int argc, char **argv)
{
    lg_options how = LG_OPTIONS_INIT;
    int i = 3;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3 || strcmp(argv[1], "--state") != 0)
        return 2;
    how.app_id = "org.example.victim";
    how.state_directory = state_directory = argv[2];
    options.target = LG_TARGET_HTTP;
    options.consent = LG_CONSENT_GIVEN;
    options.on_delivered = on_delivered;
    for (; i < argc && strchr(argv[i], '='); i++)
        if (!take_option(argv[i], strcspn(argv[i], "="), strchr(argv[i], '=') + 1))
            return 2;
    how.keep_bytes = runs_bytes;
    how.ring_bytes = ring_bytes;
    how.app_version = version;
    prepare_faults();
    say("start", lg_start(&how, &session));
    printf("run: %s\n", lg_session_run_path(session) ? lg_session_run_path(session) : "");
    for (; i < argc; i++)
        step_forward(argv[i]);
    return 0;
}
