/* A program for operators to lose: `operator-victim STATE ACTION [NUMBER]`. It starts a session in
 * STATE (-: the usual place), and ends as ACTION says. */
#define _GNU_SOURCE
#include <launchguard/launchguard.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* For a supervised launch, that a launch in safe mode which crashed too stays halted. */
static void give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)hold, (void)user;
    lg_complete(done, LG_OK);
}

static const char *wiped; /* by the repair */

static void wipe(lg_completion *done, void *user)
{
    (void)user;
    const lg_status status = lg_completion_keep(done, wiped);
    if (status == LG_OK)
        unlink(wiped);
    lg_complete(done, status);
}

static lg_launch *launch(lg_session *session)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.supervised = 1;
    options.hold_ms = 200;
    options.on_give_up = give_up;
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "wipe";
    repair.run = wipe;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || (wiped && lg_launch_add_repair(launch, &repair) != LG_OK) ||
        lg_launch_begin(launch) != LG_OK)
        exit(99);
    return launch;
}

/* With everything that may speak: a launch, heartbeats, delivery with an agent. */
static void deliver(lg_session *session, const char *agent)
{
    lg_delivery_options options = LG_DELIVERY_OPTIONS_INIT;
    options.target = LG_TARGET_HTTP;
    options.endpoint = "https://reports.example.org/crashes";
    options.consent = LG_CONSENT_GIVEN;
    options.agent_path = agent;
    if (lg_delivery_start(session, &options) != LG_OK || lg_heartbeat(session) != LG_OK)
        exit(95);
    lg_launch_finished(launch(session));
    for (char **variable = environ; *variable; variable++)
        puts(*variable);
    exit(lg_stop(session) == LG_OK ? 0 : 94);
}

/* As sd_notify(), for a program that has a watchdog and then hangs. */
static void become_ready(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *path = getenv("NOTIFY_SOCKET");
    int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (!path || strlen(path) >= sizeof address.sun_path)
        exit(93);
    memcpy(address.sun_path, path, strlen(path));
    if (path[0] == '@')
        address.sun_path[0] = 0;
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (sendto(out, "READY=1", 7, 0, (const struct sockaddr *)&address, size) != 7)
        exit(92);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    if (argc < 3)
        return 98;
    const int number = argc > 3 ? atoi(argv[3]) : 0;
    options.app_id = "org.example.victim";
    options.state_directory = strcmp(argv[1], "-") == 0 ? NULL : argv[1];
    const lg_status status = lg_start(&options, &session);
    if (status != LG_OK && status != LG_ERR_SECONDARY) {
        fprintf(stderr, "%s\n", lg_session_message(session));
        return 97;
    }
    if (strcmp(argv[2], "exit") == 0)
        exit(number);
    if (strcmp(argv[2], "_exit") == 0)
        _exit(number);
    if (strcmp(argv[2], "raise") == 0)
        raise(number);
    if (strcmp(argv[2], "launch-crash") == 0) {
        wiped = argc > 3 ? argv[3] : NULL;
        launch(session);
        abort();
    }
    if (strcmp(argv[2], "launch") == 0) {
        lg_launch_finished(launch(session));
        return 0;
    }
    if (strcmp(argv[2], "deliver") == 0 && argc > 3)
        deliver(session, argv[3]);
    while (strcmp(argv[2], "pause") == 0)
        pause();
    if (strcmp(argv[2], "hang") == 0)
        become_ready();
    if (strcmp(argv[2], "live") == 0) {
        puts("live");
        fflush(stdout);
        while (getchar() != EOF)
            ;
        return 0;
    }
    return 96;
}
