/* The files of a start where their file system is full. The start makes room before it writes less:
 * ended runs give back unused blocks, then some are deleted. If that is not enough, the
 * run's file becomes smaller. Where there is no room for the smallest file, the ledger protects
 * alone. */
#include <string.h>

#include "session/session.h"

/* Limits for the sizes in the options, from one try to the next. */
static const struct lg__run_sizes most[] = {
    [LG__ROOM_FULL] = { UINT32_MAX, UINT32_MAX, UINT32_MAX, LG__ROOM_FULL },
    [LG__ROOM_SMALL] = { 16384, 8, 16384, LG__ROOM_SMALL },
    [LG__ROOM_LITTLE] = { 4096, 0, 0, LG__ROOM_LITTLE },
    [LG__ROOM_LEAST] = { 4096, 0, 0, LG__ROOM_LEAST },
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void take_room(struct lg_session *session, enum lg__room room)
{
    struct lg__run_sizes *sizes = &session->sizes;
    sizes->ring_bytes = least(sizes->ring_bytes, most[room].ring_bytes);
    sizes->threads = least(sizes->threads, most[room].threads);
    sizes->stack_bytes = least(sizes->stack_bytes, most[room].stack_bytes);
    sizes->room = room;
    if (room >= LG__ROOM_LITTLE)
        session->leave_out |= LG_LEAVE_OUT_THREADS | LG_LEAVE_OUT_STACKS | LG_LEAVE_OUT_PROCESS;
}

/* A smaller file may do, on a full disk or under a limit on the size of files. */
static bool is_too_large(lg_status status)
{
    return status == LG_ERR_NO_SPACE || status == LG_ERR_LIMIT;
}

/* Make room after a failed try. false: another try would fail as well. */
static bool make_room(struct lg_session *session, struct lg__problem *problem, bool *ret_trimmed, bool firsts_too)
{
    if (problem->status != LG_ERR_NO_SPACE)
        return false;
    bool made = !*ret_trimmed || lg__retention_make_room(session, firsts_too);
    if (!*ret_trimmed)
        lg__retention_trim(session);
    *ret_trimmed = true;
    if (made)
        problem->status = LG_OK;
    return made;
}

lg_status lg__disk_space_ledger(struct lg_session *session, int directory, const char *path, uint64_t process, const uint8_t boot_id[16])
{
    struct lg__host *host = &session->host;
    bool trimmed = false;
    lg_status status;
    do
        status = lg__ledger_open(directory, path, session->app_id, process, boot_id, &host->ledger, &host->problem);
    while (!host->ledger.hot && make_room(session, &host->problem, &trimmed, true));
    return status;
}

lg_status lg__disk_space_run(struct lg_session *session, const char *name, const char *ended, const struct lg__identity *identity)
{
    struct lg__host *host = &session->host;
    struct lg__problem problem;
    /* the needs of another process are not known here */
    bool trimmed = false, may_delete = host->ledger.primary;
    lg_status status = LG_ERR_NO_SPACE;
    for (int room = LG__ROOM_FULL; room <= LG__ROOM_LEAST && is_too_large(status); room++) {
        take_room(session, (enum lg__room)room);
        do {
            problem = (struct lg__problem){ .status = LG_OK };
            const bool is_full = room == LG__ROOM_FULL;
            status = lg__run_create(session->runs_directory, name, session->run_path, is_full && session->preloaded ? LG__RUN_SPARE : NULL,
                                    is_full ? ended : NULL, &session->sizes, identity, &host->run, &problem);
        } while (may_delete && make_room(session, &problem, &trimmed, room == LG__ROOM_LEAST));
    }
    if (status != LG_OK)
        lg__problem_say(&host->problem, status, "%s", problem.message);
    else if (session->sizes.room != LG__ROOM_FULL)
        lg__problem_say(&host->problem, LG_OK, "%s: there is no space for a whole file; crashes of this run are recorded with less",
                        session->run_path);
    return status;
}

lg_status lg__disk_space_none(struct lg_session *session, lg_status why, const struct lg__identity *identity)
{
    struct lg__host *host = &session->host;
    struct lg__problem ignored = { .status = LG_OK };
    session->run_path[0] = 0;
    if (!host->ledger.primary || lg__run_create(-1, "", "", NULL, NULL, &session->sizes, identity, &host->run, &ignored) != LG_OK)
        return why;
    session->ledger_alone = true;
    return why;
}
