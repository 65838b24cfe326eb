/* Consent: which reports may leave the machine, and which never will. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "session/delivery.h"
#include "store/map.h"

/* An agent at work lets go of the folder within milliseconds, on a slow disk within a second. */
#define PATIENCE 20

static bool drop_one(int folder, const char *name, void *error)
{
    if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
        *(int *)error = errno;
    return true;
}

/* A report's name begins with a digit, that of a request with its folder. What other calls write
 * stays. */
static bool drop_temporary(int folder, const char *name, void *error)
{
    return (*name > '9' && *name != 'r') || drop_one(folder, name, error);
}

static int empty(int spool)
{
    static const char folders[][9] = { "new", "held", "dead", "requests" };
    int error = 0;
    lg__delivery_each(spool, "tmp", drop_temporary, &error);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        lg__delivery_each(spool, folders[i], drop_one, &error);
    drop_one(spool, "tally", &error);
    return error;
}

/* Delete what there is when no agent has hold of the folder. One that was stopped keeps it. */
static lg_status empty_for_good(int spool)
{
    int tries = PATIENCE;
    while (!lg__map_flock(spool, LOCK_EX) && --tries > 0) {}
    const int error = empty(spool);
    flock(spool, LOCK_UN);
    errno = error;
    return error ? lg__problem_from_errno(error) : tries ? LG_OK : LG_ERR_TIMEOUT;
}

/* Until the user decides for the first time, ended runs may still be sent later. Once the user has
 * withheld consent, they may not. */
static lg_status give(const lg_session *session, int spool, bool durable)
{
    struct lg__consent consent = lg__consent_read(spool);
    if (consent.given)
        return LG_OK;
    bool refused = faccessat(spool, "consent", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (refused && consent.from_ordinal < session->ordinal)
        consent.from_ordinal = session->ordinal;
    consent.given = true;
    return lg__consent_write(spool, &consent, durable);
}

static lg_status withhold(const lg_session *session, int spool)
{
    struct lg__consent consent = lg__consent_read(spool);
    bool refused = !consent.given && faccessat(spool, "consent", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    lg_status status = LG_OK;
    if (!refused) {
        consent.given = false;
        consent.from_ordinal = atomic_load(&session->host.ledger.hot->next_ordinal);
        status = lg__consent_write(spool, &consent, true);
    }
    LG_FAULT_POINT("consent: withheld");
    return status == LG_OK ? empty_for_good(spool) : status;
}

lg_status lg__delivery_consent_store(const lg_session *session, int spool, lg_consent consent, bool durable)
{
    return consent == LG_CONSENT_GIVEN ? give(session, spool, durable) : withhold(session, spool);
}

lg_status lg_delivery_consent(lg_session *session, lg_consent consent)
{
    struct lg__problem problem = { .status = LG_OK };
    lg_status status = lg__take_over_check(session);
    if (status != LG_OK)
        return status;
    if (consent != LG_CONSENT_GIVEN && consent != LG_CONSENT_WITHHELD) {
        status = lg__problem_say(&problem, LG_ERR_OPTION, "lg_delivery_consent: consent is %u; it must be LG_CONSENT_GIVEN or LG_CONSENT_WITHHELD",
                                 (unsigned)consent);
        lg__delivery_problem(session, &problem);
        return status;
    }
    if (session->host.simulated)
        return LG_OK;
    int spool = lg__delivery_spool(session, true, &problem);
    status = spool < 0 ? problem.status : lg__delivery_consent_store(session, spool, consent, true);
    int error = spool < 0 ? problem.error : errno;
    if (status == LG_OK && consent == LG_CONSENT_GIVEN)
        lg__delivery_agent_start(session, spool); /* none before lg_delivery_start() */
    if (spool >= 0)
        close(spool);
    lg__host_hand_over(&session->host);
    errno = error;
    return status;
}
