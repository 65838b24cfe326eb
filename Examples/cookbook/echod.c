/* A daemon as it was always written: it forks twice, lets the caller go when it serves, and ends at
 * SIGTERM.
 *
 *   echod DIRECTORY    its number is in DIRECTORY/pid, its state in DIRECTORY/state */
#include <errno.h>
#include <fcntl.h>
#include <launchguard/launchguard.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_asked;

static void ask(int number) {
    (void)number;
    is_asked = 1;
}

/** The caller leaves with status 0 when the daemon writes a byte to the returned descriptor. */
static int detach(void) {
    int ends[2];
    if (pipe(ends) != 0) exit(1);
    pid_t child = fork();
    if (child != 0) {
        char byte;
        close(ends[1]);
        _exit(child > 0 && read(ends[0], &byte, 1) == 1 ? 0 : 1);
    }
    close(ends[0]);
    setsid();
    if (fork() != 0) _exit(0);
    umask(077);
    int nothing = open("/dev/null", O_RDWR);
    for (int standard = 0; standard < 3; standard++) dup2(nothing, standard);
    close(nothing);
    return ends[1];
}

static void write_number(const char *directory) {
    char name[4096];
    snprintf(name, sizeof name, "%s/pid", directory);
    FILE *file = fopen(name, "w");
    if (!file) return;
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    int ready = detach(); /* First: a session belongs to the process that starts it. */
    struct sigaction action = { .sa_handler = ask };
    sigaction(SIGTERM, &action, NULL); /* Before lg_start(), which calls this one. */

    char state[4096];
    snprintf(state, sizeof state, "%s/state", arguments[1]);
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.echod";
    options.state_directory = state;
    lg_session *session;
    lg_start(&options, &session);

    lg_log(session, LG_LEVEL_NOTICE, "serving");
    write_number(arguments[1]);
    if (write(ready, "r", 1) == 1) close(ready);
    for (unsigned request = 1; !is_asked; request++) {
        lg_log(session, LG_LEVEL_INFO, "request %u", request); /* Survives from here on. */
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    lg_log(session, LG_LEVEL_NOTICE, "asked to end");
    lg_stop(session);
    return 0;
}
