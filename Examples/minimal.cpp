/* The smallest protected program in C++:
 * c++ -std=c++11 minimal.cpp $(pkg-config --cflags --libs launchguard) */
#include <launchguard/launchguard.h>

#include <cstdio>
#include <string>
#include <vector>

struct Documents {
    std::vector<std::string> names;

    void open() { names.push_back("notes"); } // The code that usually crashes at the start.
};

int main() {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.minimal";
    options.app_version = "1.0";
    lg_session *session;
    lg_start(&options, &session); // From here on a crash leaves a record.

    lg_launch *launch;
    lg_launch_prepare(session, "main", nullptr, &launch);
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "clear cache";
    repair.run = [](lg_completion *done, void *) { // After two launch crashes in a row.
        lg_complete(done, std::remove("cache.db") == 0 ? LG_OK : LG_ERR_FAILED);
    };
    lg_launch_add_repair(launch, &repair);
    Documents documents;
    lg_task task = LG_TASK_INIT;
    task.key = "open documents";
    task.user = &documents;
    task.flags = LG_TASK_ESSENTIAL; // Never left out, but held while a repair runs.
    task.run = [](void *user) {
        static_cast<Documents *>(user)->open();
        return LG_OK;
    };
    lg_launch_add_task(launch, &task);
    if (lg_launch_begin(launch) != LG_OK) return 1; // The task failed.

    lg_log(session, LG_LEVEL_INFO, "ready, %zu documents", documents.names.size()); // A breadcrumb.
    lg_launch_finished(launch);
}
