/* Makes real files: starts a session in the directory argv[1], launches, logs, then ends in the way
 * argv[2]. */
#include <launchguard/launchguard.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void mend(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_OK);
}

static void fail(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_ERR_FAILED);
}

static lg_status work(void *user)
{
    const char *how = user;
    if (strcmp(how, "task") == 0)
        raise(SIGSEGV);
    return LG_OK;
}

static lg_launch *launch(lg_session *session, const char *context, const char *how)
{
    static const char *const modules[] = { "libnone.so", NULL };
    const struct { const char *name; uint32_t impact, attempts, flags; lg_repair_callback run; } repairs[] = {
        { "mend it", 10, 2, 0, strcmp(how, "fail") == 0 ? fail : mend },
        { "reset it", 50, 1, LG_REPAIR_NEEDS_RESTART, fail },
        { "delete it", 90, 1, LG_REPAIR_DESTRUCTIVE | LG_REPAIR_CONSENT, mend },
    };
    lg_launch *made;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_task task = LG_TASK_INIT;
    options.window_ms = 60000;
    options.hold_ms = 10; /* no consent comes */
    options.modules = modules;
    lg_launch_prepare(session, context, &options, &made);
    for (size_t i = 0; i < sizeof repairs / sizeof repairs[0]; i++) {
        lg_repair repair = LG_REPAIR_INIT;
        repair.name = repairs[i].name;
        repair.impact = repairs[i].impact;
        repair.attempts = repairs[i].attempts;
        repair.flags = repairs[i].flags;
        repair.run = repairs[i].run;
        lg_launch_add_repair(made, &repair);
    }
    task.key = "work";
    task.run = work;
    task.user = (void *)(uintptr_t)how;
    lg_launch_add_task(made, &task);
    lg_launch_begin(made);
    return made;
}

static void log_much(lg_session *session, const char *how)
{
    /* More than the ring holds, texts of every length around a cell, a cut text, bytes that are not
     * UTF-8. */
    char text[LG_LOG_TEXT_MAX + 100];
    memset(text, 'x', sizeof text);
    if (strcmp(how, "long") == 0)
        lg_log_write(session, LG_LEVEL_INFO, text, sizeof text);
    for (size_t size = 0; size < 70; size++)
        lg_log_write(session, LG_LEVEL_DEBUG, text, size);
    const lg_field fields[] = { { "url", "https://example.org/a b" }, { "code", "503" }, { "note", NULL } };
    lg_log_fields(session, LG_LEVEL_ERROR, "network", "request failed", 14, fields, 3);
    lg_log_write(session, LG_LEVEL_WARNING, "\"quoted\"\\ \x01\xff \n", 14);
    lg_log(session, LG_LEVEL_NOTICE, "%d entries, then %s", 70, how);
}

static pthread_barrier_t all_have_lanes;

struct lane_writer {
    lg_session *session;
    int number;
};

static void *log_in_a_lane(void *argument)
{
    const struct lane_writer *writer = argument;
    for (int i = 1; i <= 100 * writer->number; i++) {
        lg_log(writer->session, LG_LEVEL_INFO, "thread %d, entry %d", writer->number, i);
        if (i == 1)
            pthread_barrier_wait(&all_have_lanes);
    }
    return NULL;
}

/* Four threads at once: three with lanes of their own, and one with the shared lane. */
static void log_in_lanes(lg_session *session)
{
    struct lane_writer writers[] = { { session, 1 }, { session, 2 }, { session, 3 }, { session, 4 } };
    pthread_t threads[4];
    pthread_barrier_init(&all_have_lanes, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, log_in_a_lane, &writers[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static __attribute__((noinline)) int deep(int depth, volatile int *bad)
{
    if (depth > 0)
        return deep(depth - 1, bad) + 1;
    *bad = 1;
    return *bad;
}

/* Crash with a frame pointer whose return address is a number. */
static void lose_frame_pointer(void)
{
#if defined(__x86_64__)
    uint64_t frame[4] = { 0, 0x1234, 0, 0 };
    frame[0] = (uint64_t)(uintptr_t)&frame[2];
    __asm__ volatile("movq %0, %%rbp\n\tmovl $1, 0" : : "r"(frame) : "memory");
#endif
}

int main(int count, char **arguments)
{
    static const struct rlimit no_core = { 0, 0 };
    if (count != 3)
        return 2;
    setrlimit(RLIMIT_CORE, &no_core);
    const char *how = arguments[2];
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.writer";
    options.app_version = "1.0";
    options.state_directory = arguments[1];
    options.ring_bytes = strcmp(how, "lanes") == 0 ? 32768 : 4096;
    options.stack_bytes = 8192;
    options.thread_limit = 4;
    if (strcmp(how, "late") == 0)
        atexit(abort);
    /* a ledger, and the smallest run file */
    const struct rlimit small = { 106496, 106496 };
    if (strcmp(how, "least") == 0 || strcmp(how, "callers") == 0)
        setrlimit(RLIMIT_FSIZE, &small);
    if (lg_start(&options, &session) != LG_OK) {
        fprintf(stderr, "%s\n", lg_session_message(session));
        return 1;
    }
    if (strcmp(how, "task") == 0) {
        printf("%s\n", lg_session_run_path(session));
        fflush(stdout);
    }
    lg_launch *first = launch(session, "main", how);
    lg_launch_finished(launch(session, "second", "finish"));
    if (strcmp(how, "finish") == 0)
        lg_launch_finished(first);
    lg_modules_refresh(session);
    if (strcmp(how, "lanes") == 0)
        log_in_lanes(session);
    else
        log_much(session, how);
    printf("%s\n", lg_session_run_path(session));
    fflush(stdout);

    if (strcmp(how, "crash") == 0 || strcmp(how, "least") == 0)
        return deep(9, NULL);
    if (strcmp(how, "callers") == 0)
        lose_frame_pointer();
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "terminate") == 0)
        raise(SIGTERM);
    if (strcmp(how, "announce") == 0) {
        lg_will_restart(session);
        kill(getpid(), SIGKILL);
    }
    if (strcmp(how, "stop") == 0)
        lg_stop(session);
    if (strcmp(how, "huge") == 0) {
        void *page = mmap(NULL, 2u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
        if (page != MAP_FAILED)
            *(volatile char *)page = 1;
        return 77;
    }
    if (strcmp(how, "wait") == 0)
        pause();
    return strcmp(how, "exit") == 0 ? 3 : 0;
}
