/* A run that a page has everything to show of: `page-victim STATE crash|fine`. It has annotations,
 * breadcrumbs over some time, threads that wait in two places, and a ladder of repairs. Then it
 * crashes in its launch, or ends well. */
#define _GNU_SOURCE
#include <launchguard/launchguard.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "waiting.h"

enum { WORKERS = 6, BREADCRUMBS = 240 };

struct document {
    int *pages;
};

static lg_session *session;
static pthread_barrier_t begun;

static void *work(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "worker");
    pthread_barrier_wait(&begun);
    while (pause() != 0)
        continue;
    return NULL;
}

static void *synchronise(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "sync");
    pthread_barrier_wait(&begun);
    while (poll(NULL, 0, -1) != 0)
        continue;
    return NULL;
}

__attribute__((noinline)) static int count_pages(const struct document *document)
{
    return document->pages[3];
}

__attribute__((noinline)) static int open_document(const char *name)
{
    struct document document = { .pages = NULL };
    lg_log(session, LG_LEVEL_INFO, "opening %s", name);
    return 1 + count_pages(&document);
}

static void remember(void)
{
    static const lg_level levels[] = { LG_LEVEL_DEBUG, LG_LEVEL_INFO, LG_LEVEL_INFO, LG_LEVEL_NOTICE };
    static const char *const texts[] = { "cache looked at", "request answered", "document saved", "connection changed" };
    for (int i = 0; i < BREADCRUMBS; i++) {
        if (i % 40 == 39)
            lg_log(session, LG_LEVEL_WARNING, "the disk took %d ms for a block", 100 + i);
        const lg_field fields[] = { { .key = "number", .value = "7" }, { .key = "token", .value = "the word that nobody must read" } };
        lg_log_fields(session, levels[i % 4], "network", texts[i % 4], strlen(texts[i % 4]), fields, 2);
        rest(i < BREADCRUMBS / 2 ? 4 : 1);
    }
    lg_log(session, LG_LEVEL_ERROR, "the index of <b>notes</b> & \"drafts\" is \x1b[31mred\x1b[0m \xe2\x80\xae reversed");
}

static lg_status open_task(void *crash)
{
    remember();
    fprintf(stderr, "notes: the index is not whole\n");
    return crash != NULL && open_document("letter.txt") == 0 ? LG_ERR_FAILED : LG_OK;
}

static void repair(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_OK);
}

static void add_repair(lg_launch *launch, const char *name, uint32_t impact, uint32_t attempts, uint32_t flags)
{
    lg_repair step = LG_REPAIR_INIT;
    step.name = name;
    step.impact = impact;
    step.attempts = attempts;
    step.flags = flags;
    step.run = repair;
    if (lg_launch_add_repair(launch, &step) != LG_OK)
        exit(96);
}

int main(int argc, char **argv)
{
    lg_options options = LG_OPTIONS_INIT;
    if (argc != 3)
        return 98;
    options.app_id = "org.example.notes";
    options.app_version = "2.4.1";
    options.state_directory = argv[1];
    options.keep_stderr = 1;
    if (lg_start(&options, &session) != LG_OK) {
        fprintf(stderr, "%s\n", lg_session_message(session));
        return 97;
    }
    lg_redact(session, "token");
    lg_annotate(session, "document", "letter.txt");
    lg_annotate(session, "<script>alert(1)</script>", "\"><img src=https://example.org/x onerror=alert(1)>");
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, WORKERS + 2);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&thread, NULL, work, NULL);
    pthread_create(&thread, NULL, synchronise, NULL);
    pthread_barrier_wait(&begun);
    lg_launch *launch;
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_OK)
        return 95;
    add_repair(launch, "clear the cache", 10, 2, 0);
    add_repair(launch, "rebuild the index", 40, 1, 0);
    add_repair(launch, "delete the drafts", 90, 1, LG_REPAIR_DESTRUCTIVE);
    lg_task task = LG_TASK_INIT;
    task.key = "open documents";
    task.flags = LG_TASK_ESSENTIAL;
    task.run = open_task;
    task.user = strcmp(argv[2], "crash") == 0 ? argv : NULL;
    if (lg_launch_add_task(launch, &task) != LG_OK || lg_launch_begin(launch) != LG_OK)
        return 94;
    lg_launch_finished(launch);
    return lg_stop(session) == LG_OK ? 0 : 93;
}
