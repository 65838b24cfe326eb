/* The smallest protected program: cc minimal.c $(pkg-config --cflags --libs launchguard) */
#include <launchguard/launchguard.h>
#include <stdio.h>

static lg_status open_documents(void *user) {
    (void)user; /* The code that usually crashes at the start. */
    return LG_OK;
}

static void clear_cache(lg_completion *done, void *user) {
    (void)user;
    lg_complete(done, remove("cache.db") == 0 ? LG_OK : LG_ERR_FAILED);
}

int main(void) {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.minimal";
    options.app_version = "1.0";
    lg_session *session;
    lg_start(&options, &session); /* From here on a crash leaves a record. */

    lg_launch *launch;
    lg_launch_prepare(session, "main", NULL, &launch);
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "clear cache";
    repair.run = clear_cache; /* After two launch crashes in a row. */
    lg_launch_add_repair(launch, &repair);
    lg_task task = LG_TASK_INIT;
    task.key = "open documents";
    task.flags = LG_TASK_ESSENTIAL; /* Never left out, but held while a repair runs. */
    task.run = open_documents;
    lg_launch_add_task(launch, &task);
    if (lg_launch_begin(launch) != LG_OK)
        return 1; /* The task failed. */

    /* A breadcrumb. */
    lg_log(session, LG_LEVEL_INFO, "ready, streak %u", lg_launch_streak(launch));
    lg_launch_finished(launch);
    return 0;
}
