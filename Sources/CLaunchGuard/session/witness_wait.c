/* The only wait of a start: for an agent that is about to store how the last run ended.
 *
 * The agent learns of the end at the same time as the program's parent, which may start the program
 * again at once. Without the wait the end would be unknown, and the status from the agent would
 * come too late: a run is classified once. Without a working agent the start tries to open one
 * folder, which is not there, and waits for nothing. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"
#include "store/spool.h"

#define WAIT_NS LG_PATIENCE(UINT64_C(20000000))
#define TURN_NS 1000000L

/* The process has ended, an agent waited for it, and has not stored the status yet. */
static bool is_missing(lg_reader *reader)
{
    lg_run_info run;
    return lg_reader_run(reader, &run) == LG_OK && run.attached && !run.witnessed && !run.alive;
}

static void wait_for(lg_reader *reader, int spool)
{
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    const struct timespec turn = { 0, TURN_NS };
    do {
        LG_FAULT_POINT("witness wait: turn");
        nanosleep(&turn, NULL);
    } while (is_missing(reader) && lg__spool_agent_lives(spool) && lg__os_clock_ns(CLOCK_MONOTONIC) < until);
}

void lg__witness_wait(const struct lg_session *session)
{
    const struct lg__ledger_payload *payload = &session->host.ledger.payload;
    const struct lg__hot *hot = session->host.ledger.hot;
    const uint64_t last = payload->last_ordinal;
    char name[LG__RUN_NAME_BYTES], path[4096 + 96];
    lg_reader *reader;
    lg_verdict verdict;
    if (!last || atomic_load(&hot->clean_end.ordinal) == last || atomic_load(&hot->crash_ordinal) == last)
        return;
    int spool = openat(session->runs_directory, "../spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (spool < 0)
        return;
    lg__run_name(last, payload->last_uuid, name);
    snprintf(path, sizeof path, "%s/runs/%s", session->host.directory, name);
    if (lg__spool_agent_lives(spool) && lg_reader_open(path, &reader) == LG_OK) {
        /* A record, or a mark of the program, is stronger than a witness. */
        if (is_missing(reader) && lg_reader_verdict(reader, &verdict) == LG_OK && verdict.end == LG_END_UNKNOWN)
            wait_for(reader, spool);
        lg_reader_close(reader);
    }
    close(spool);
}
