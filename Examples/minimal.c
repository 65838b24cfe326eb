#include <launchguard/launchguard.h>
#include <stdio.h>

static void clear_cache(lg_completion *done, void *user) {
    (void)user;
    lg_complete(done, remove("cache.db") == 0 ? LG_OK : LG_ERR_FAILED);
}

int main(void) {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.minimal";
    lg_session *session;
    lg_start(&options, &session); /* From here on a crash leaves a record. */
    lg_launch *launch;
    lg_launch_prepare(session, "main", NULL, &launch);
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "clear cache";
    repair.run = clear_cache;
    lg_launch_add_repair(launch, &repair);
    lg_launch_begin(launch);    /* Clears the cache after two launch crashes in a row. */
    lg_launch_finished(launch); /* What the program did before this line may have crashed. */
}
