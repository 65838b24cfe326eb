/* A kiosk: it shows a page that it gets from somewhere else. A page that ends the program again and
 * again is not shown any more; the screen never stays dark.
 *
 *   kiosk PAGE    its state is in $STATE_DIRECTORY, which kiosk.service sets */
#include <launchguard/launchguard.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *path;

static lg_status show_page(void *user) {
    (void)user;
    char text[4096] = "";
    FILE *file = fopen(path, "r");
    if (!file) return LG_ERR_FAILED;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *title = strstr(text, "<title>");
    title += 7; /* The bug: a page may have no title. */
    printf("page: %.*s\n", (int)strcspn(title, "<"), title);
    return LG_OK;
}

static void fetch_again(lg_completion *done, void *user) {
    (void)user;
    puts("repair: fetch the page again"); /* It comes back as bad as it was. */
    lg_complete(done, LG_OK);
}

static void show_notice(void) {
    puts("notice: this screen will be back soon");
}

static lg_launch *prepare(lg_session *session) {
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.supervised = 1;       /* systemd starts the program, no person. */
    options.safe_crash_limit = 0; /* A screen is never given up. */
    lg_launch *launch;
    lg_launch_prepare(session, "screen", &options, &launch);

    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "fetch again";
    repair.attempts = 1;
    repair.run = fetch_again;
    lg_launch_add_repair(launch, &repair);

    lg_task task = LG_TASK_INIT;
    task.key = "show page";
    task.flags = LG_TASK_UNSAFE; /* Left out in safe mode. */
    task.run = show_page;
    lg_launch_add_task(launch, &task);
    return launch;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    path = arguments[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.kiosk";
    options.app_version = "3.2";
    lg_session *session;
    lg_start(&options, &session);

    lg_launch *launch = prepare(session);
    lg_launch_begin(launch); /* Repairs and tasks run in here. */
    lg_task_state state;
    if (lg_launch_task_state(launch, "show page", &state) != LG_OK || state != LG_TASK_DONE) show_notice();
    lg_launch_finished(launch);
    puts("on");
    pause(); /* The loop of the kiosk. */
    return 0;
}
