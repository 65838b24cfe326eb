/* The cost of lg_launch_begin(). A process has one launch, so every figure is from a child of its
 * own.
 *
 * bench-launch DIR COUNT */
#include "common.h"

#include <launchguard/launchguard.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_BYTES 64 /* the record of a program that counts its launches by itself */

struct figures {
    uint64_t begin_ns, finished_ns;
};

static void repair(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_OK);
}

static lg_status task(void *user)
{
    (void)user;
    return LG_OK;
}

static lg_launch *prepare(lg_session *session, const char *context, int repairs)
{
    lg_launch *launch;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.finish = LG_FINISH_MARK; /* without a thread for the window */
    if (lg_launch_prepare(session, context, &options, &launch) != LG_OK)
        _exit(1);
    for (int i = 0; i < repairs; i++) {
        char name[32];
        snprintf(name, sizeof name, "repair %d", i);
        lg_repair rung = LG_REPAIR_INIT;
        rung.name = name;
        rung.impact = (uint32_t)i;
        rung.run = repair;
        lg_launch_add_repair(launch, &rung);
    }
    lg_task one = LG_TASK_INIT;
    one.key = "task";
    one.run = task;
    lg_launch_add_task(launch, &one);
    return launch;
}

/* The work of a program that counts its launches by itself, at the begin and at the end: one
 * record, on the disk. */
static void by_hand(const char *directory, bool sync, struct figures *ret)
{
    char path[4200], record[RECORD_BYTES] = { 1 };
    snprintf(path, sizeof path, "%s/by-hand", directory);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    uint64_t begin = now_ns();
    if (file < 0 || pwrite(file, record, sizeof record, 0) != (ssize_t)sizeof record || (sync && fdatasync(file) != 0))
        _exit(1);
    uint64_t between = now_ns();
    record[0] = 0;
    if (pwrite(file, record, sizeof record, 0) != (ssize_t)sizeof record || (sync && fdatasync(file) != 0))
        _exit(1);
    *ret = (struct figures){ between - begin, now_ns() - between };
}

static int child(char **arguments)
{
    const char *kind = arguments[2];
    struct figures *ret = shared_open(arguments[4], sizeof *ret);
    if (strncmp(kind, "by-hand", 7) == 0) {
        by_hand(arguments[3], strcmp(kind, "by-hand-sync") == 0, ret);
        return 0;
    }
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = arguments[3];
    if (lg_start(&options, &session) != LG_OK)
        return 1;
    bool full = strcmp(kind, "full") == 0;
    lg_launch *launch = prepare(session, "main", full ? LG_REPAIRS_MAX : 0);
    for (int i = 1; full && i < LG_CONTEXTS_MAX; i++) {
        char context[32];
        snprintf(context, sizeof context, "context %d", i);
        lg_launch *other = prepare(session, context, LG_REPAIRS_MAX);
        lg_launch_begin(other);
        lg_launch_finished(other);
    }
    uint64_t begin = now_ns();
    lg_launch_begin(launch);
    uint64_t between = now_ns();
    lg_launch_finished(launch);
    *ret = (struct figures){ between - begin, now_ns() - between };
    return 0;
}

enum { SYNC, CACHE, HEALTHY, FULL, KINDS };
static const char *const kinds[KINDS] = { "by-hand-sync", "by-hand", "healthy", "full" };
static struct series begins[KINDS] = { [SYNC] = { .name = "64 bytes by pwrite() + fdatasync()" },
                                       [CACHE] = { .name = "the same without fdatasync()" },
                                       [HEALTHY] = { .name = "lg_launch_begin(), a healthy program, one task" },
                                       [FULL] = { .name = "the same, full ledger: 16 contexts, 16 repairs each" } };
static struct series ends[KINDS] = { [SYNC] = { .name = "64 bytes by pwrite() + fdatasync()" },
                                     [CACHE] = { .name = "the same without fdatasync()" },
                                     [HEALTHY] = { .name = "lg_launch_finished(), a healthy program" },
                                     [FULL] = { .name = "the same, full ledger" } };

int main(int count, char **arguments)
{
    if (count == 5 && strcmp(arguments[1], "child") == 0)
        return child(arguments);
    if (count != 3)
        return 2;
    int rounds = atoi(arguments[2]);
    struct figures *shared = shared_make(sizeof *shared);
    for (int i = 0; i < rounds + 17; i++) /* the first ones fill the timeline */
        for (int kind = 0; kind < KINDS; kind++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", arguments[1], kind <= CACHE ? "." : kinds[kind]);
            char *child_arguments[] = { arguments[0], "child", (char *)kinds[kind], path, (char *)shared_name(), NULL };
            uint64_t took;
            if (run_child(child_arguments, &took) != 0) {
                fprintf(stderr, "bench-launch: %s in %s does not work\n", kinds[kind], path);
                return 1;
            }
            if (i < 17)
                continue;
            series_add(&begins[kind], (double)shared->begin_ns / 1000);
            series_add(&ends[kind], (double)shared->finished_ns / 1000);
        }
    print_head("The launch begins; ratios to the cost of counting by hand", "us");
    for (int kind = 0; kind < KINDS; kind++)
        print_line(&begins[kind], kind == SYNC ? NULL : &begins[SYNC]);
    printf("  (one record on the disk takes as long as %.0f healthy begins)\n", series_median(&begins[SYNC]) / series_median(&begins[HEALTHY]));
    print_head("The launch is finished", "us");
    for (int kind = 0; kind < KINDS; kind++)
        print_line(&ends[kind], kind == SYNC ? NULL : &ends[SYNC]);
    return 0;
}
