/* lg_delivery_wait(): waits until the owed reports have left, or the time has passed. */
#include <unistd.h>

#include "launchguard/reader.h"
#include "os/os.h"
#include "session/delivery.h"
#include "session/run_words.h"

#define DEFAULT_MS 2000u
#define MOST_MS 5000u
#define LOOK_NS UINT64_C(50000000)

/* ---- the owed reports ---- */

/* The end of the last run has to become a report, and there is no report yet. */
static bool owes_last_run(lg_session *session, uint64_t from_ordinal)
{
    struct lg__host *host = &session->host;
    struct lg__ledger_run run = { .ordinal = 0 };
    struct lg__run_words words;
    char name[LG__RUN_NAME_BYTES], uuid[37];
    uint32_t reported = LG_REPORTED_UNWANTED;
    pthread_mutex_lock(&host->lock);
    const struct lg__ledger_payload *payload = &host->ledger.payload;
    if (payload->timeline_count)
        run = payload->timeline[payload->timeline_count - 1];
    pthread_mutex_unlock(&host->lock);
    if (!run.ordinal || run.ordinal < from_ordinal || !lg__delivery_config_wants(lg__delivery_state.ends, (lg_end)run.end, run.launching != 0))
        return false;
    lg__run_name(run.ordinal, run.uuid, name);
    lg__run_uuid_text(run.uuid, uuid);
    const int runs = lg__session_open_runs(session);
    const lg_status status = runs < 0 ? LG_ERR_NO_DIRECTORY : lg__run_words_open(runs, name, uuid, &words);
    if (runs >= 0)
        close(runs);
    if (status != LG_OK)
        return false;
    if (!lg__foreign_file_read(&words.file, words.state + offsetof(struct lg__state, reported), &reported, sizeof reported))
        reported = LG_REPORTED_UNWANTED;
    lg__run_words_close(&words);
    return reported == LG_REPORTED_NOT;
}

/* A report that is put off, or was when it was made, because many like it were sent lately. */
static bool is_postponed(const struct lg__report_header *header)
{
    return !header->attempts && header->next.wall_ns > lg__os_clock_ns(CLOCK_REALTIME);
}

static bool note_due(int folder, const char *name, void *argument)
{
    struct lg__report_header header;
    lg_status status = lg__report_read(folder, name, &header);
    *(bool *)argument |= status == LG_OK && !(header.flags & LG__REPORT_HEALTH) && !is_postponed(&header);
    return !*(bool *)argument;
}

static bool any_due(int spool)
{
    bool any = false;
    lg__delivery_each(spool, "new", note_due, &any);
    return any;
}

/* In the order in which a report moves: none is missed. */
static bool owes(lg_session *session, int spool)
{
    struct lg__consent consent = lg__consent_read(spool);
    if (!consent.given || lg__delivery_agent_is_off(spool))
        return false;
    return owes_last_run(session, consent.from_ordinal) || lg__delivery_count(spool, "requests") > 0 || any_due(spool);
}

/* ---- the wait ---- */

/* Two seconds since the process started are what a user hardly notices. */
static uint64_t default_ns(const lg_session *session)
{
    const struct lg__identity *identity = session->host.run.identity;
    const uint64_t most = (uint64_t)DEFAULT_MS * 1000000u, now = lg__os_clock_ns(CLOCK_BOOTTIME);
    uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK), begun = identity->boottime_ns;
    if (identity->start_ticks && hertz)
        begun = identity->start_ticks / hertz * 1000000000u + identity->start_ticks % hertz * 1000000000u / hertz;
    uint64_t passed = now > begun ? now - begun : 0;
    return passed < most ? most - passed : 0;
}

static bool can_be_sent(int spool)
{
    pthread_mutex_lock(&lg__delivery_state.lock);
    bool has_agent = lg__delivery_state.agent[0];
    pthread_mutex_unlock(&lg__delivery_state.lock);
    return has_agent || lg__spool_agent_lives(spool);
}

static void sleep_until(uint64_t at_ns)
{
    struct timespec at = { (time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Returns LG_OK when there is a result, else the reason why there is none. */
static lg_status wait_until(lg_session *session, int spool, uint64_t end_ns, lg_delivery_pump pump, void *user, lg_delivery_result *ret_result)
{
    for (;;) {
        const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), next = end_ns - now < LOOK_NS ? end_ns : now + LOOK_NS;
        lg_status status = lg__session_check(session);
        if (status != LG_OK)
            return status;
        if (!owes(session, spool)) {
            *ret_result = LG_DELIVERY_DELIVERED;
            return LG_OK;
        }
        if (now >= end_ns) {
            *ret_result = lg__spool_agent_lives(spool) ? LG_DELIVERY_HANDED_OVER : LG_DELIVERY_TIMEOUT;
            return LG_OK;
        }
        if (pump)
            pump((uint32_t)((end_ns - now + 999999u) / 1000000u), user);
        sleep_until(next);
    }
}

static lg_status wait_in(lg_session *session, int spool, uint64_t ns, lg_delivery_pump pump, void *user, lg_delivery_result *ret_result)
{
    if (!owes(session, spool)) {
        *ret_result = LG_DELIVERY_NOTHING;
        return LG_OK;
    }
    if (!can_be_sent(spool)) {
        *ret_result = LG_DELIVERY_TIMEOUT;
        return LG_OK;
    }
    lg__delivery_agent_start(session, spool);
    lg__spool_write(spool, "nudge", "wait", 4, false);
    atomic_fetch_add(&session->host.waits, 1);
    bool beats = lg__heartbeats_hold(session);
    lg_status status = wait_until(session, spool, lg__os_clock_ns(CLOCK_MONOTONIC) + ns, pump, user, ret_result);
    lg__heartbeats_go_on(session, beats);
    atomic_fetch_sub(&session->host.waits, 1);
    return status;
}

lg_status lg_delivery_wait(lg_session *session, uint32_t ms, lg_delivery_pump pump, void *user, lg_delivery_result *ret_result)
{
    struct lg__problem problem = { .status = LG_OK };
    lg_status status = session && ret_result ? lg__session_check(session) : LG_ERR_ARGUMENT;
    if (status != LG_OK)
        return status;
    if (ms > MOST_MS) {
        status = lg__problem_say(&problem, LG_ERR_OPTION, "lg_delivery_wait: ms is %u; it must be at most %u", ms, MOST_MS);
        lg__delivery_problem(session, &problem);
        return status;
    }
    if (session->host.simulated) {
        *ret_result = LG_DELIVERY_NOTHING;
        return LG_OK;
    }
    if (!lg__delivery_started())
        return LG_ERR_STATE;
    int spool = lg__delivery_spool(session, false, &problem);
    if (spool < 0) {
        *ret_result = LG_DELIVERY_NOTHING; /* somebody has deleted it */
        return LG_OK;
    }
    status = wait_in(session, spool, ms ? (uint64_t)ms * 1000000u : default_ns(session), pump, user, ret_result);
    close(spool);
    lg__host_hand_over(&session->host);
    return status;
}
