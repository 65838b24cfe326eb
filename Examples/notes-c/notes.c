/* A small notes keeper that recovers from a damaged database by itself.
 *
 * The notes are rows of a SQLite database. The program has an honest bug: load_summary() relies on
 * a query that must return one row. With a damaged database the query returns no row, and the
 * program crashes at every start. LaunchGuard counts these crashes, reports them to the program,
 * and lets the program restore its backup. The start then goes on.
 */
#define _POSIX_C_SOURCE 200809L

#include "database.h"

#include <launchguard/launchguard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/** The files of one directory of notes. */
static struct {
    char database[PATH_SIZE];
    char backup[PATH_SIZE];
    char state[PATH_SIZE];
} paths;

static void set_path(char *path, const char *directory, const char *name) {
    if (snprintf(path, PATH_SIZE, "%s/%s", directory, name) >= PATH_SIZE) {
        fprintf(stderr, "notes: the path of the directory is too long\n");
        exit(2);
    }
}

static lg_status open_task(void *user) {
    lg_session *session = user;
    sqlite3 *database = NULL;
    if (open_database(paths.database, &database) != 0) return LG_ERR_FAILED;
    lg_log(session, LG_LEVEL_INFO, "reading the notes of %s", paths.database);
    struct summary summary;
    load_summary(database, &summary);
    lg_log(session, LG_LEVEL_INFO, "database opened, %d notes", summary.count);
    printf("notes: %d notes\n  first: %s\n  last:  %s\n", summary.count, summary.first, summary.last);
    sqlite3_close(database);
    return LG_OK;
}

static void show_report(const lg_report_batch *batch, lg_completion *done, void *user) {
    (void)user;
    printf("report: streak %u\n", batch->streak);
    for (uint32_t i = 0; i < batch->report_count; i++) {
        printf("  run %llu: %s %s\n", (unsigned long long)batch->reports[i]->ordinal, lg_end_name(batch->reports[i]->end),
               batch->reports[i]->path);
    }
    lg_complete(done, LG_OK);
}

static void restore_backup(lg_completion *done, void *user) {
    (void)user;
    printf("repair: restoring the backup in process %d\n", (int)getpid());
    lg_complete(done, copy_database(paths.backup, paths.database) == 0 ? LG_OK : LG_ERR_FAILED);
}

static void keep_logging(lg_session *session) {
    puts("logging");
    for (unsigned number = 1;; number++) {
        lg_log(session, LG_LEVEL_INFO, "breadcrumb %u", number);
        /* Announced after the breadcrumb, which must survive from here on. */
        printf("%u\n", number);
    }
}

/** Reports leave the machine where NOTES_REPORTS_TO holds the address of a server. */
static void deliver_reports(lg_session *session) {
    lg_delivery_options options = LG_DELIVERY_OPTIONS_INIT;
    options.target = LG_TARGET_HTTP;
    options.endpoint = getenv("NOTES_REPORTS_TO");
    options.consent = LG_CONSENT_GIVEN;
    if (options.endpoint && lg_delivery_start(session, &options) != LG_OK) {
        fprintf(stderr, "notes: %s\n", lg_session_message(session));
    }
}

static int command_run(int is_logging) {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.notes";
    options.app_version = "1.0";
    options.state_directory = paths.state;
    lg_session *session;
    if (lg_start(&options, &session) != LG_OK) fprintf(stderr, "notes: %s\n", lg_session_message(session));
    deliver_reports(session);

    lg_launch_options launch_options = LG_LAUNCH_OPTIONS_INIT;
    launch_options.report_after = 2;
    launch_options.repair_after = 2;
    launch_options.on_report = show_report;
    lg_launch *launch;
    lg_launch_prepare(session, "main", &launch_options, &launch);

    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "restore backup";
    repair.impact = 50;
    repair.run = restore_backup;
    lg_launch_add_repair(launch, &repair);

    lg_task task = LG_TASK_INIT;
    task.key = "open database";
    task.flags = LG_TASK_ESSENTIAL;
    task.run = open_task;
    task.user = session;
    lg_launch_add_task(launch, &task);

    printf("start: process %d, streak %u\n", (int)getpid(), lg_launch_streak(launch));
    if (lg_launch_begin(launch) != LG_OK) return 1;
    lg_launch_finished(launch);
    printf("finished: process %d, status %s\n", (int)getpid(), lg_launch_status_name(lg_launch_get_status(launch)));
    if (is_logging) keep_logging(session);
    return 0;
}

int main(int count, char **arguments) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *command = count > 2 ? arguments[2] : "";
    if (count > 2) {
        set_path(paths.database, arguments[1], "notes.db");
        set_path(paths.backup, arguments[1], "notes.backup.db");
        set_path(paths.state, arguments[1], "state");
    }
    if (count > 3 && strcmp(command, "add") == 0) return add_note(paths.database, count - 3, arguments + 3);
    if (count == 4 && strcmp(command, "import") == 0) return import_notes(paths.database, arguments[3]);
    if (count == 3 && strcmp(command, "list") == 0) return print_query(paths.database, "SELECT text FROM notes ORDER BY id");
    if (count == 3 && strcmp(command, "count") == 0) return print_query(paths.database, "SELECT count(*) FROM notes");
    if (count == 3 && strcmp(command, "backup") == 0) return copy_database(paths.database, paths.backup);
    if (count == 3 && strcmp(command, "run") == 0) return command_run(0);
    if (count == 4 && strcmp(command, "run") == 0 && strcmp(arguments[3], "--keep-logging") == 0) return command_run(1);
    fprintf(stderr, "usage: notes DIR add TEXT… | import FILE | list | count | backup | run [--keep-logging]\n");
    return 2;
}
