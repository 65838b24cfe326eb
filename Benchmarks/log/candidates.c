#include "candidates.h"
#include "counter.h"
#include "measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *program, *mode, *name;
} candidates[CANDIDATES] = {
    [NOTHING] = { "writer-floor", "nothing", "nothing: an empty call" },
    [ADDITIONS] = { "writer-floor", "additions", "additions without memory" },
    [FLOOR_CLOCK] = { "writer-floor", "clock", "floor: clock_gettime, ticket, copy" },
    [FLOOR_COUNTER] = { "writer-floor", "counter", "floor: rdtsc, ticket, copy" },
    [LG_TEXT] = { "writer-launchguard", "text", "LaunchGuard, lg_log_write(), shared" },
    [LG_TEXT_STATIC] = { "writer-static", "text", "LaunchGuard, lg_log_write(), static" },
    [WRITE_TEXT] = { "writer-file", "text", "write(2), O_APPEND" },
    [SPDLOG_BACKTRACE] = { "writer-spdlog", "backtrace", "spdlog, backtrace" },
    [SPDLOG_ASYNC] = { "writer-spdlog", "async", "spdlog, asynchronous file" },
    [GLOG_TEXT] = { "writer-glog", "text", "glog" },
    [LTTNG_TEXT] = { "writer-lttng", "text", "LTTng-UST, flight recorder" },
    [FLOOR_FORMAT] = { "writer-floor", "format", "floor: clock_gettime, ticket, snprintf" },
    [LG_FORMAT] = { "writer-launchguard", "format", "LaunchGuard, lg_log(), shared" },
    [LG_FORMAT_STATIC] = { "writer-static", "format", "LaunchGuard, lg_log(), static" },
    [WRITE_FORMAT] = { "writer-file", "format", "snprintf, write(2), O_APPEND" },
    [SPDLOG_BACKTRACE_FORMAT] = { "writer-spdlog", "backtrace-format", "spdlog, backtrace" },
    [SPDLOG_ASYNC_FORMAT] = { "writer-spdlog", "async-format", "spdlog, asynchronous file" },
    [GLOG_FORMAT] = { "writer-glog", "format", "glog" },
    [LTTNG_FORMAT] = { "writer-lttng", "format", "LTTng-UST, flight recorder, four fields" },
};

static char programs[2048], directory[2048]; /* of the programs; of their files */
static char missing[CANDIDATES][96];

const char *candidate_name(enum candidate candidate)
{
    return candidates[candidate].name;
}

const char *candidate_mode(enum candidate candidate)
{
    return candidates[candidate].mode;
}

const char *candidate_program(enum candidate candidate)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", programs, candidates[candidate].program);
    return path;
}

bool candidate_formats(enum candidate candidate)
{
    return candidate >= TEXTS;
}

const char *candidate_missing(enum candidate candidate)
{
    return missing[candidate][0] ? missing[candidate] : NULL;
}

void candidate_give_up(enum candidate candidate, const char *reason)
{
    snprintf(missing[candidate], sizeof missing[candidate], "%s", reason);
}

const char *candidate_directory(void)
{
    remove_tree(directory);
    if (mkdir(directory, 0700) != 0) {
        perror(directory);
        exit(1);
    }
    return directory;
}

/* The program of a candidate, or the reason why there is none. */
static void find(enum candidate candidate)
{
    char path[5000];
    const char *program = candidate_program(candidate);
    if (access(program, X_OK) == 0)
        return;
    candidate_give_up(candidate, "the program is missing");
    snprintf(path, sizeof path, "%s.missing", program);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(missing[candidate], sizeof missing[candidate], file))
        missing[candidate][strcspn(missing[candidate], "\n")] = 0;
    fclose(file);
}

void candidates_open(const char *self, const char *inside)
{
    const char *slash = strrchr(self, '/');
    snprintf(programs, sizeof programs, "%.*s", slash ? (int)(slash - self) : 1, slash ? self : ".");
    snprintf(directory, sizeof directory, "%s/writer", inside);
    for (int candidate = 0; candidate < CANDIDATES; candidate++) {
        find((enum candidate)candidate);
        bool lttng = candidate == LTTNG_TEXT || candidate == LTTNG_FORMAT;
        if (lttng && !candidate_missing((enum candidate)candidate) && !getenv("LTTNG_READ"))
            candidate_give_up((enum candidate)candidate, getenv("LTTNG_MISSING") ? getenv("LTTNG_MISSING") : "LTTng has no session: use log/run.sh");
    }
    if (!counter_steady())
        candidate_give_up(FLOOR_COUNTER, "the CPU has no cycle counter of one rate");
}

double candidate_instructions(enum candidate candidate)
{
    const char *files = candidate_directory();
    char *arguments[] = { (char *)candidate_program(candidate), (char *)candidate_mode(candidate), (char *)files, "count", NULL };
    return count_instructions("counted_call", arguments, files) / COUNTED_CALLS;
}
