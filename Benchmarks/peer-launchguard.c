/* LaunchGuard. Modes: all; few (the stages 1 to 5); off (a session, but the signal ends the process
 * as it would without). With the core as it is shipped, or with its fault points, at which the
 * clock is read. */
#include "scene.h"

#include <launchguard/launchguard.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef LG_FAULT_POINTS
#include "os/fault_point.h"

static void on_point(const char *point)
{
    static const struct {
        const char *name;
        enum scene_stamp stamp;
    } points[] = {
        { "handler: first", SCENE_HEADER },      { "handler: context", SCENE_CONTEXT },      { "handler: frames", SCENE_FRAMES },
        { "handler: dwarf", SCENE_DWARF },       { "handler: messages", SCENE_MESSAGES },    { "handler: threads", SCENE_THREADS },
        { "handler: process", SCENE_PROCESS },   { "handler: thread stacks", SCENE_STACKS }, { "handler: done", SCENE_DONE },
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (strcmp(points[i].name, point) == 0)
            scene_stamp(points[i].stamp);
}

/* In place of the handler: the clock is read before the handler's first instruction. */
static void (*handler)(int, siginfo_t *, void *);

static void stamp_and_handle(int signal, siginfo_t *info, void *context)
{
    scene_stamp(SCENE_ENTRY);
    handler(signal, info, context);
}

static void time_handler(void)
{
    struct sigaction action;
    sigaction(SIGSEGV, NULL, &action);
    handler = action.sa_sigaction;
    action.sa_sigaction = stamp_and_handle;
    sigaction(SIGSEGV, &action, NULL);
    lg__fault_hook = on_point;
}
#endif

int main(int count, char **arguments)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    scene_open(count, arguments);
    options.app_id = "org.example.bench";
    options.state_directory = scene.directory;
    if (strcmp(scene.mode, "few") == 0)
        options.leave_out = LG_LEAVE_OUT_THREADS | LG_LEAVE_OUT_STACKS | LG_LEAVE_OUT_PROCESS;
    if (lg_start(&options, &session) != LG_OK)
        _exit(2);
    snprintf(scene.shared->record, sizeof scene.shared->record, "%s", lg_session_run_path(session));
#ifdef LG_FAULT_POINTS
    time_handler();
#endif
    if (strcmp(scene.mode, "off") == 0)
        signal(SIGSEGV, SIG_DFL);
    scene_play();
}
