/* lg_delivery_report_now(): asks the agent for a report of this run. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/os.h"
#include "session/delivery.h"
#include "store/map.h"

#define REQUESTS_MAX 16u
#define REASON_MAX 255u

/* Make one line of the reason, cut at a whole character. Returns its bytes. */
static size_t copy_reason(const char *reason, char to[REASON_MAX + 1])
{
    size_t size = strnlen(reason, REASON_MAX + 1);
    if (size > REASON_MAX)
        for (size = REASON_MAX; size > 0 && ((unsigned char)reason[size] & 0xc0) == 0x80; size--) {}
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)reason[i] < ' ' || reason[i] == 0x7f ? ' ' : reason[i];
    to[size] = 0;
    return size;
}

static void make_uuid(char ret_text[37])
{
    uint8_t uuid[LG__UUID_BYTES];
    lg__os_random(uuid, sizeof uuid);
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40); /* version 4, RFC 9562 */
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    lg__run_uuid_text(uuid, ret_text);
}

/* Under the lock of the folder. */
static lg_status request(const lg_session *session, int spool, const char *reason, const char *uuid)
{
    char line[REASON_MAX + 1], run_uuid[37], name[64], text[REASON_MAX + 128];
    if (!lg__consent_read(spool).given)
        return LG_ERR_STATE;
    if (lg__delivery_count(spool, "requests") >= REQUESTS_MAX)
        return LG_ERR_LIMIT;
    copy_reason(reason, line);
    lg__run_uuid_text(session->host.run.identity->uuid, run_uuid);
    snprintf(name, sizeof name, "requests/%s", uuid);
    int size = snprintf(text, sizeof text, "%s\n%" PRIu64 "\n%s\n", run_uuid, session->ordinal, line);
    return lg__spool_write(spool, name, text, (size_t)size, false);
}

lg_status lg_delivery_report_now(lg_session *session, const char *reason, char *ret_uuid)
{
    struct lg__problem problem = { .status = LG_OK };
    char uuid[37];
    lg_status status = session && reason ? lg__session_check(session) : LG_ERR_ARGUMENT;
    if (status != LG_OK)
        return status;
    make_uuid(uuid);
    if (!session->host.simulated) {
        if (!lg__delivery_started())
            return LG_ERR_STATE;
        if (session->ledger_alone)
            return LG_ERR_UNPROTECTED;
        int spool = lg__delivery_spool(session, true, &problem);
        if (spool < 0)
            return problem.status;
        status = lg__map_flock(spool, LOCK_SH) ? request(session, spool, reason, uuid) : LG_ERR_STATE;
        int error = errno;
        flock(spool, LOCK_UN);
        if (status == LG_OK)
            lg__delivery_agent_start(session, spool);
        close(spool);
        lg__host_hand_over(&session->host);
        errno = error;
    }
    if (status == LG_OK && ret_uuid)
        memcpy(ret_uuid, uuid, sizeof uuid);
    return status;
}
