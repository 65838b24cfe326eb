/* The first question of every call on a session, and the session's answers about itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/capture.h"
#include "session/session.h"

const _Atomic uint32_t lg__session_closed = 0;

lg_status lg__session_check(const struct lg_session *session)
{
    if (!session->host.unforked)
        return LG_ERR_UNPROTECTED;
    if (!lg__host_unforked(&session->host))
        return LG_ERR_FORKED;
    lg__capture_thread_calls();
    return atomic_load_explicit(&session->host.closed, memory_order_relaxed) ? LG_ERR_CLOSED : LG_OK;
}

int lg__session_open_runs(const struct lg_session *session)
{
    char path[sizeof session->host.directory + sizeof "/runs"];
    snprintf(path, sizeof path, "%s/runs", session->host.directory);
    int runs = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (runs >= 0 && lg__os_file_identity(runs) != session->runs_identity) {
        close(runs);
        runs = -1;
        errno = ENOENT;
    }
    return runs;
}

bool lg__session_launching(const struct lg_session *session)
{
    const struct lg__state *state = session->host.run.state;
    uint32_t count = atomic_load(&state->context_count);
    for (uint32_t i = 0; i < count && i < LG__CONTEXTS; i++)
        if (lg__phase_launching((lg_phase)atomic_load(&state->contexts[i].phase)))
            return true;
    return false;
}

lg_protection lg_session_protection(const lg_session *session)
{
    return session && lg__session_check(session) == LG_OK ? session->protection : LG_PROTECTION_NONE;
}

const char *lg_session_message(const lg_session *session)
{
    return session ? session->host.problem.message : "";
}

const char *lg_session_run_path(const lg_session *session)
{
    return session ? session->run_path : "";
}

const char *lg_session_state_directory(const lg_session *session)
{
    return session ? session->host.directory : "";
}

lg_status lg_modules_refresh(lg_session *session)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status == LG_OK && !session->host.simulated)
        lg__capture_refresh_modules();
    return status;
}

lg_status lg_thread_register(void)
{
    int error = lg__capture_thread_begin();
    if (error == 0)
        return LG_OK;
    errno = error;
    return LG_ERR_SYSTEM;
}

lg_status lg_launch_prepare(lg_session *session, const char *context, const lg_launch_options *options, lg_launch **ret_launch)
{
    if (!session || !ret_launch)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__setup_launch(&session->host, context, options, ret_launch);
    lg__host_hand_over(&session->host);
    return status;
}
