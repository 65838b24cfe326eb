#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/log.h"
#include "launchguard/reader.h"
#include "os/os.h"
#include "session/session.h"

/* Names in a state directory that a role's folder cannot have, beside "runs". */
#define LEDGER "ledger.lg"

/* Checks an app_id or a role: both become names of folders. */
static bool good_app_id(const char *id)
{
    size_t size = strnlen(id, LG_NAME_MAX + 1);
    if (size == 0 || size > LG_NAME_MAX || id[0] == '.')
        return false;
    size_t good = 0;
    while ((id[good] >= 'a' && id[good] <= 'z') || (id[good] >= 'A' && id[good] <= 'Z') || (id[good] >= '0' && id[good] <= '9') || id[good] == '.' ||
           id[good] == '-' || id[good] == '_')
        good++;
    return good == size;
}

/* A folder of that name can be in a state directory. */
static bool good_folder(const char *name)
{
    return good_app_id(name) && strcmp(name, "runs") != 0 && strncmp(name, LEDGER, strlen(LEDGER)) != 0;
}

lg_status lg__options_take(struct lg_session *session, const lg_options *options)
{
    struct lg__problem *problem = &session->host.problem;
    if (!options->app_id || !good_app_id(options->app_id))
        return lg__problem_say(problem, LG_ERR_OPTION,
                               "lg_start: app_id must have 1 to %d letters, digits, '.', '-' or '_' and must not start with '.'", LG_NAME_MAX);
    if (options->app_version && strnlen(options->app_version, LG_NAME_MAX + 1) > LG_NAME_MAX)
        return lg__problem_say(problem, LG_ERR_OPTION, "lg_start: app_version has more than %d bytes", LG_NAME_MAX);
    if (options->role && !good_folder(options->role))
        return lg__problem_say(problem, LG_ERR_OPTION,
                               "lg_start: role must have 1 to %d letters, digits, '.', '-' or '_', and must neither start with '.' or \"" LEDGER
                               "\" nor be \"runs\"", LG_NAME_MAX);
    session->deadline_ms = options->deadline_ms;
    session->handler_ms = options->handler_ms;
    session->keep_repeats = options->keep_repeats;
    session->hang_launching_ms = options->hang_launching_ms;
    session->hang_running_ms = options->hang_running_ms;
    session->sizes.ring_bytes = options->ring_bytes;
    session->sizes.stack_bytes = options->stack_bytes;
    session->sizes.threads = options->thread_limit;
    session->keep_runs = options->keep_runs;
    session->keep_bytes = options->keep_bytes;
    session->leave_out = options->leave_out;
    session->keep_stderr = options->keep_stderr;
    session->spare_walk = options->spare_walk;
    session->keep_first = options->keep_first;
    /* valgrind reports a crash itself, and aborts at calls of the handler */
    session->capture = options->capture | (lg__arch_is_simulated() ? LG_CAPTURE_NONE : 0);
    session->keep_command_line = options->keep_command_line;
    /* Parts that are left out need no room. */
    if (session->leave_out & LG_LEAVE_OUT_THREADS)
        session->sizes.threads = 0;
    if (session->leave_out & LG_LEAVE_OUT_STACKS)
        session->sizes.stack_bytes = 0;
    lg__os_join(session->app_id, sizeof session->app_id, options->app_id, "", "", "");
    lg__os_join(session->role, sizeof session->role, options->role ? options->role : "", "", "", "");
    lg__os_join(session->app_version, sizeof session->app_version, options->app_version ? options->app_version : "", "", "", "");
    return LG_OK;
}

/* A non-empty absolute path from the environment. A program with more rights than its caller does
 * not use it. */
static const char *from_environment(const char *name)
{
    const char *value = lg__os_secure() ? NULL : getenv(name);
    return value && value[0] == '/' ? value : NULL;
}

/* The length of the default directory's path, also where it does not fit, as of snprintf(); 0: none
 * is known. */
static int default_directory(const char *app_id, char *buffer, size_t size)
{
    const char *path;
    if ((path = from_environment("STATE_DIRECTORY"))) /* systemd; several are separated by colons */
        return snprintf(buffer, size, "%.*s", (int)strcspn(path, ":"), path);
    if ((path = from_environment("XDG_STATE_HOME")))
        return (int)lg__os_join(buffer, size, path, "/", app_id, "");
    if ((path = from_environment("HOME")))
        return (int)lg__os_join(buffer, size, path, "/.local/state/", app_id, "");
    return 0;
}

/* Append the application's folder to the path of a directory. false: it does not fit. */
static bool append_folder(char *path, size_t size, const char *app_id)
{
    size_t length = strlen(path);
    return (size_t)snprintf(path + length, size - length, "/%s", app_id) < size - length;
}

static bool is_of_another(const char *directory, const char *app_id)
{
    char path[4096 + 96];
    lg_reader *reader;
    lg_ledger_info info;
    snprintf(path, sizeof path, "%s/" LEDGER, directory);
    if (lg_reader_open(path, &reader) != LG_OK)
        return false;
    bool other = lg_reader_ledger(reader, &info) == LG_OK && strcmp(info.app_id, app_id) != 0;
    lg_reader_close(reader);
    return other;
}

lg_status lg_state_directory(const char *app_id, char *buffer, size_t size)
{
    char path[4096];
    if (!app_id || !buffer || size == 0)
        return LG_ERR_ARGUMENT;
    if (!good_app_id(app_id))
        return LG_ERR_OPTION;
    int length = default_directory(app_id, path, sizeof path);
    if (length <= 0)
        return LG_ERR_NO_DIRECTORY;
    if ((size_t)length >= sizeof path)
        return LG_ERR_LIMIT;
    /* another default directory has the application's name */
    while (from_environment("STATE_DIRECTORY") && is_of_another(path, app_id))
        if (!append_folder(path, sizeof path, app_id))
            return LG_ERR_LIMIT;
    if (strlen(path) >= size)
        return LG_ERR_LIMIT;
    memcpy(buffer, path, strlen(path) + 1);
    return LG_OK;
}

bool lg__options_own_folder(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    if (good_folder(session->app_id) && append_folder(host->directory, sizeof host->directory, session->app_id))
        return true;
    lg__problem_say(&host->problem, LG_ERR_OPTION, "lg_start: the state directory belongs to another application, and it cannot have a folder for "
                    "\"%s\"; set state_directory", session->app_id);
    return false;
}

lg_status lg__options_directory(struct lg_session *session, const lg_options *options)
{
    struct lg__host *host = &session->host;
    const size_t size = sizeof host->directory;
    int length;
    if (options->state_directory && *options->state_directory)
        length = (int)lg__os_join(host->directory, size, options->state_directory, "", "", "");
    else
        length = default_directory(session->app_id, host->directory, size);
    if (length == 0)
        return lg__problem_set(&host->problem, LG_ERR_NO_DIRECTORY, NULL, 0);
    if (length > 0 && (size_t)length < size && session->role[0])
        length += (int)lg__os_join(host->directory + length, size - (size_t)length, "/", session->role, "", "");
    if (length < 0 || (size_t)length >= size) {
        host->directory[0] = 0;
        return lg__problem_say(&host->problem, LG_ERR_OPTION, "lg_start: the path of the state directory has more than %zu bytes", size - 1);
    }
    return LG_OK;
}
