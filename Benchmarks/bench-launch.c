/* The cost of lg_launch_begin(). A process has one launch, so every figure is from a child of its
 * own.
 *
 * bench-launch DIR COUNT [FILE_SYSTEM]: its name, for the titles */
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

static lg_session *start(const char *directory)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = directory;
    if (lg_start(&options, &session) != LG_OK)
        _exit(1);
    return session;
}

/* Fill the ledger. */
static void fill(lg_session *session)
{
    for (int i = 1; i < LG_CONTEXTS_MAX; i++) {
        char context[32];
        snprintf(context, sizeof context, "context %d", i);
        lg_launch *other = prepare(session, context, LG_REPAIRS_MAX);
        lg_launch_begin(other);
        lg_launch_finished(other);
    }
}

static int child(char **arguments)
{
    const char *kind = arguments[2];
    struct figures *ret = shared_open(arguments[4], sizeof *ret);
    if (strncmp(kind, "by-hand", 7) == 0) {
        by_hand(arguments[3], strcmp(kind, "by-hand-sync") == 0, ret);
        return 0;
    }
    lg_session *session = start(arguments[3]);
    if (strcmp(kind, "fill") == 0) {
        fill(session);
        return 0;
    }
    /* in both cases the first launch of the process */
    lg_launch *launch = prepare(session, "main", strcmp(kind, "full") == 0 ? LG_REPAIRS_MAX : 0);
    uint64_t begin = now_ns();
    lg_launch_begin(launch);
    uint64_t between = now_ns();
    lg_launch_finished(launch);
    *ret = (struct figures){ between - begin, now_ns() - between };
    return 0;
}

enum { CACHE, SYNC, HEALTHY, FULL, KINDS };
static const char *const kinds[KINDS] = { "by-hand", "by-hand-sync", "healthy", "full" };
static struct series begins[KINDS] = { [CACHE] = { .name = "64 bytes by pwrite()" },
                                       [SYNC] = { .name = "the same and fdatasync()" },
                                       [HEALTHY] = { .name = "lg_launch_begin(), a healthy program, one task" },
                                       [FULL] = { .name = "the same, full ledger: 16 contexts, 16 repairs each" } };
static struct series ends[KINDS] = { [CACHE] = { .name = "64 bytes by pwrite()" },
                                     [SYNC] = { .name = "the same and fdatasync()" },
                                     [HEALTHY] = { .name = "lg_launch_finished(), a healthy program" },
                                     [FULL] = { .name = "the same, full ledger" } };

static void run_one(const char *self, const char *kind, const char *path)
{
    struct child one = { .arguments = (char *[]){ (char *)self, "child", (char *)kind, (char *)path, (char *)shared_name(), NULL } };
    run_child(&one);
}

int main(int count, char **arguments)
{
    if (count == 5 && strcmp(arguments[1], "child") == 0)
        return child(arguments);
    if (count != 3 && count != 4)
        return 2;
    const char *file_system = count == 4 ? arguments[3] : "this file system";
    char title[128];
    int rounds = atoi(arguments[2]);
    struct figures *shared = shared_make(sizeof *shared);
    char paths[KINDS][4096];
    unsigned order[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        snprintf(paths[kind], sizeof paths[kind], "%s/%s", arguments[1], kind <= SYNC ? "." : kinds[kind]);
    run_one(arguments[0], "fill", paths[FULL]);
    for (int round = -17; round < rounds; round++) { /* the first ones fill the timeline */
        shuffle(order, KINDS);
        for (unsigned i = 0; i < KINDS; i++) {
            unsigned kind = order[i];
            run_one(arguments[0], kinds[kind], paths[kind]);
            if (round < 0)
                continue;
            series_put(&begins[kind], (size_t)round, (double)shared->begin_ns / 1000);
            series_put(&ends[kind], (size_t)round, (double)shared->finished_ns / 1000);
        }
    }
    snprintf(title, sizeof title, "The first launch of a process begins, %s", file_system);
    print_head(title, "us");
    for (int kind = 0; kind < KINDS; kind++)
        print_line(&begins[kind], kind == CACHE ? NULL : &begins[CACHE]);
    snprintf(title, sizeof title, "The launch is finished, %s", file_system);
    print_head(title, "us");
    for (int kind = 0; kind < KINDS; kind++)
        print_line(&ends[kind], kind == CACHE ? NULL : &ends[CACHE]);
    return 0;
}
