/* Copies of the files that a repair changes, and the way back. */
#include "launchguard/undo.h"

#include "launch/internal.h"
#include "store/kept.h"

/* Whether files may be touched for this repair. */
static lg_status check(const lg_completion *done, lg_launch **ret_launch)
{
    *ret_launch = lg__callback_repairs(done);
    if (!*ret_launch || !lg_completion_wanted(done))
        return LG_ERR_STATE;
    return (*ret_launch)->host->simulated || (*ret_launch)->host->directory[0] ? LG_OK : LG_ERR_UNPROTECTED;
}

lg_status lg_completion_keep(lg_completion *done, const char *path)
{
    lg_launch *launch;
    lg_status status = done && path && *path ? check(done, &launch) : LG_ERR_ARGUMENT;
    if (status != LG_OK || launch->host->simulated)
        return status;
    atomic_store(&launch->keeps, true);
    status = lg__kept_add(launch->host->directory, launch->name, path, LG_KEEP_BYTES_MAX);
    if (status == LG_OK)
        lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: a copy of %s is kept", launch->name, path);
    else
        lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: no copy of %s: %s", launch->name, path, lg_status_message(status));
    return status;
}

lg_status lg_completion_undo(lg_completion *done)
{
    lg_launch *launch;
    lg_status status = done ? check(done, &launch) : LG_ERR_ARGUMENT;
    if (status != LG_OK || launch->host->simulated)
        return status;
    status = lg_undo(launch->host->directory, launch->name);
    lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: undo: %s", launch->name, status == LG_OK ? "the kept files are back" : lg_status_message(status));
    return status;
}

lg_status lg_undo(const char *state_directory, const char *context)
{
    uint32_t count;
    if (!state_directory || !*state_directory || !context || !*context)
        return LG_ERR_ARGUMENT;
    return lg__kept_put_back(state_directory, context, &count);
}

struct visit {
    lg_kept_visitor visit;
    void *user;
};

static void visit_one(const struct lg__kept *kept, void *user)
{
    const struct visit *visit = user;
    const lg_kept_file file = { .size = sizeof file, .kind = (lg_kept_kind)kept->kind, .path = kept->path, .bytes = kept->size, .wall_ns = kept->wall_ns };
    visit->visit(&file, visit->user);
}

lg_status lg_undo_list(const char *state_directory, const char *context, lg_kept_visitor visit, void *user)
{
    struct visit one = { visit, user };
    if (!state_directory || !*state_directory || !context || !*context || !visit)
        return LG_ERR_ARGUMENT;
    return lg__kept_visit(state_directory, context, visit_one, &one);
}
