#include "session/preloaded.h"

#include <errno.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/os.h"
#include "session/session.h"

static lg_session *the_session;
static const lg_options *the_options;
static enum lg__preloaded_role the_role;

/* Result of the last lg__preloaded_executes(). Where several threads execute at once, one of them
 * does the work. */
static struct {
    bool is_gone;     /* the run file was deleted */
    uint64_t primary; /* given back to the ledger; 0: none */
} execution;

/* Process of the session, by system call: a child of vfork() has all of our memory. */
static _Atomic pid_t owner LG__SMALL;
static pid_t forked_by LG__SMALL; /* 0: the process was not forked since the program began */

static bool is_owner(void)
{
    return the_session && (lg__capture_is_confined() || lg__os_pid() == atomic_load(&owner)) && lg__session_check(the_session) == LG_OK;
}

/* A forked child whose parent has gone is no helper: it is the program. */
static bool is_helper(void)
{
    return the_role == LG__PRELOADED_HELPER || (forked_by && getppid() == forked_by);
}

/* The run of a helper that did its work, or of a process that executed a program, is worth nothing,
 * and many of them would push out useful runs. */
static bool delete_run(void)
{
    char spare[sizeof the_session->host.directory + sizeof "/runs/" LG__RUN_SPARE];
    if (lg__capture_latest())
        return false;
    lg__os_join(spare, sizeof spare, the_session->host.directory, "/runs/", LG__RUN_SPARE, "");
    if (the_session->sizes.room == LG__ROOM_FULL)
        lg__map_set_aside(the_session->run_path, spare);
    return unlink(the_session->run_path) == 0;
}

static bool delete_helper(int status)
{
    return status == 0 && !lg__capture_is_confined() && is_helper() && delete_run();
}

static void leave(int status)
{
    lg__preloaded_leaves(status);
}

static lg_status begin_session(void);

static void start_in_child(void)
{
    const pid_t parent = atomic_load(&owner);
    if (parent != lg__os_pid())
        forked_by = parent;
    begin_session();
}

static lg_status begin_session(void)
{
    static const struct lg__preloaded callbacks = { .leaves = leave, .forked = start_in_child, .ended = delete_helper };
    atomic_store(&owner, lg__os_pid());
    return lg__start_preloaded(the_options, &callbacks, &the_session);
}

lg_status lg__preloaded_start(const lg_options *options, enum lg__preloaded_role role)
{
    the_options = options;
    the_role = role;
    return begin_session();
}

lg_session *lg__preloaded_session(void)
{
    return the_session;
}

const char *lg__preloaded_message(void)
{
    return lg_session_message(the_session);
}

/* Without this others would take the process for the primary as long as it lives, whatever program
 * it runs. */
static void give_ledger_back(struct lg__host *host)
{
    execution.primary = host->counts ? atomic_exchange(&host->ledger.hot->primary, 0) : 0;
}

static void take_ledger_again(struct lg__host *host)
{
    uint64_t nobody = 0;
    if (execution.primary && !atomic_compare_exchange_strong(&host->ledger.hot->primary, &nobody, execution.primary))
        host->counts = false; /* another process has it by now */
    execution.primary = 0;
}

bool lg__preloaded_leaves(int status)
{
    if (!is_owner())
        return false;
    lg__stop_at_exit(status, the_session);
    return true;
}

bool lg__preloaded_executes(void)
{
    struct lg_session *session = the_session;
    if (!is_owner() || !lg__capture_exits())
        return false;
    struct lg__state *state = session->host.run.state;
    /* where the execution fails, the launch has to go on in its run */
    const bool is_stage = the_role != LG__PRELOADED_ALONE && !session->host.launch_count;
    execution.is_gone = !lg__capture_is_confined() && (is_stage || is_helper()) && delete_run();
    atomic_store(&state->ended_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    atomic_store(&state->ended, LG__ENDED_EXEC);
    if (execution.is_gone)
        lg__clean_end_note(&session->host); /* for the next start, which finds no run */
    else
        lg__clean_end_take_back(&session->host);
    give_ledger_back(&session->host);
    if (!execution.is_gone && !lg__capture_is_confined())
        lg__map_trim(&session->host.run.map);
    return true;
}

void lg__preloaded_goes_on(void)
{
    const int error = errno;
    struct lg__host *host = &the_session->host;
    atomic_store(&host->run.state->ended, LG__ENDED_NO);
    atomic_store(&host->run.state->ended_ns, 0);
    take_ledger_again(host);
    lg__clean_end_take_back(host);
    if (execution.is_gone)
        lg__start_in_child();
    execution.is_gone = false;
    errno = error;
}
