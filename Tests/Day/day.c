/* One life of a long day: a program with custody of its launch, delivery and eight threads that log
 * 100,000 entries a second together.
 *
 *   day-program STATE ENDPOINT AGENT MILLISECONDS END
 *
 * END: "crash", "abort", "exit" or "wait", after the time; "early", a crash in a task of the
 * launch. Each figure is a line of standard output, "name: number". */
#undef NDEBUG
#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <launchguard/delivery.h>
#include <launchguard/launch.h>
#include <launchguard/log.h>
#include <launchguard/repair.h>
#include <launchguard/task.h>

#include "waiting.h"

#define THREADS 8
#define ENTRIES 125 /* of each thread, then a rest of 10 ms */

static lg_session *session;
static _Atomic unsigned long logged;

static void *log_on(void *unused)
{
    char text[64];
    (void)unused;
    for (unsigned long i = 0;; i++) {
        const int size = snprintf(text, sizeof text, "entry %lu of a thread of the day", i);
        for (unsigned k = 0; k < ENTRIES; k++)
            lg_log_write(session, LG_LEVEL_INFO, text, (size_t)size);
        logged += ENTRIES;
        rest(10);
    }
    return NULL;
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* that of the folder */
}

static unsigned own_kib(void)
{
    char line[256];
    unsigned found = 0;
    FILE *status = fopen("/proc/self/status", "re");
    assert(status);
    while (fgets(line, sizeof line, status))
        sscanf(line, "RssAnon: %u", &found);
    fclose(status);
    return found;
}

__attribute__((noinline)) static void crash(void)
{
    volatile int *volatile nowhere = (volatile int *)16;
    *nowhere = 1;
}

static lg_status load(void *end)
{
    if (strcmp(end, "early") == 0)
        crash();
    return LG_OK;
}

static void repair(lg_completion *done, void *unused)
{
    (void)unused;
    puts("repaired: 1");
    lg_complete(done, LG_OK);
}

static void launch(char *end)
{
    lg_launch_options how = LG_LAUNCH_OPTIONS_INIT;
    lg_task task = LG_TASK_INIT;
    lg_repair rung = LG_REPAIR_INIT;
    lg_launch *begun;
    how.window_ms = 300;
    how.steady_ms = 0;
    how.leave_out_suspects = 0;
    how.safe_crash_limit = 0;
    how.safe_retry_runs = 1;
    task.key = "load";
    task.run = load;
    task.user = end;
    rung.name = "reset";
    rung.run = repair;
    assert(lg_launch_prepare(session, "main", &how, &begun) == LG_OK);
    assert(lg_launch_add_task(begun, &task) == LG_OK && lg_launch_add_repair(begun, &rung) == LG_OK);
    assert(lg_launch_begin(begun) == LG_OK);
}

int main(int count, char **arguments)
{
    assert(count == 6);
    char *end = arguments[5];
    lg_options options = LG_OPTIONS_INIT;
    lg_delivery_options delivery = LG_DELIVERY_OPTIONS_INIT;
    options.app_id = "org.example.day";
    options.state_directory = arguments[1];
    options.keep_runs = 8;
    options.deadline_ms = 60000;
    delivery.target = LG_TARGET_HTTP;
    delivery.endpoint = arguments[2];
    delivery.agent_path = arguments[3];
    delivery.consent = LG_CONSENT_GIVEN;
    delivery.keep_reports = 4096;
    delivery.keep_bytes = UINT64_C(1) << 32;
    delivery.daily_bytes = UINT64_C(1) << 40;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const uint64_t begin = now_ns();
    const lg_status status = lg_start(&options, &session);
    printf("start: %llu\nprotection: %d\n", (unsigned long long)(now_ns() - begin) / 1000, (int)lg_session_protection(session));
    if (status != LG_OK)
        printf("said: %s\n", lg_session_message(session));
    printf("delivery: %d\n", (int)lg_delivery_start(session, &delivery));
    launch(end);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert(pthread_create(&thread, NULL, log_on, NULL) == 0);
    }
    pass_time((unsigned)strtoul(arguments[4], NULL, 10), "the length of a life");
    printf("entries: %lu\ndescriptors: %u\nmemory: %u\nready: 1\n", logged, descriptors(), own_kib());
    if (strcmp(end, "crash") == 0)
        crash();
    if (strcmp(end, "abort") == 0)
        abort();
    while (strcmp(end, "wait") == 0)
        pause();
    exit(0);
}
