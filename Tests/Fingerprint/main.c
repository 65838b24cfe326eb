/* A program that dies of a bug: player STATE BUG. */
#include "bugs.h"

#include <glob.h>
#include <launchguard/launchguard.h>
#include <launchguard/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static lg_session *session;
static char pattern[4096];

void beat(void)
{
    lg_heartbeat(session);
}

int hangs(void)
{
    glob_t files;
    lg_reader *reader;
    lg_run_info info;
    lg_snapshot_info snapshot;
    int found = 0;
    if (glob(pattern, 0, NULL, &files) != 0)
        return 0;
    if (lg_reader_open(files.gl_pathv[0], &reader) == LG_OK) {
        found = lg_reader_run(reader, &info) == LG_OK && info.hang_ns && lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot) == LG_OK && snapshot.complete;
        lg_reader_close(reader);
    }
    globfree(&files);
    return found;
}

struct thread {
    way *die;
    long argument;
};

static void *enter(void *argument)
{
    const struct thread *thread = argument;
    thread->die(thread->argument);
    return NULL;
}

void in_thread(way *die, long argument, size_t stack_bytes)
{
    struct thread thread = { die, argument };
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_create(&id, &attributes, enter, &thread);
    pthread_join(id, NULL);
}

int main(int count, char **arguments)
{
    static const struct bug *const lists[] = { memory_bugs, end_bugs, stack_bugs, hang_bugs, cpp_bugs, library_bugs };
    static const struct rlimit no_core = { 0, 0 };
    lg_options options = LG_OPTIONS_INIT;
    if (count != 3)
        return 90;
    alarm(100);
    setrlimit(RLIMIT_CORE, &no_core);
    options.app_id = "org.example.player";
    options.state_directory = arguments[1];
    snprintf(pattern, sizeof pattern, "%s/runs/*.lgrun", arguments[1]);
    options.hang_running_ms = 150;
    if (lg_start(&options, &session) != LG_OK)
        return 91;
    if (strncmp(arguments[2], "swift ", 6) == 0 && swift_bug)
        swift_bug(arguments[2] + 6);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const struct bug *bug = lists[i]; bug->name; bug++)
            if (strcmp(bug->name, arguments[2]) == 0) {
                bug->die(bug->argument);
                return 92;
            }
    return 93;
}
