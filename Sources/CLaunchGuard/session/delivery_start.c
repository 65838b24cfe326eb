/* lg_delivery_start(): stores where reports go, and makes sure that an agent runs.
 *
 * A launch pays for some looks at small files. Only a changed configuration is written, and only
 * withheld consent makes a launch wait for the disk. A libc thread, which ends by itself, starts
 * the agent. The call starts it directly where the last run ended badly in a launch, or where the
 * configuration is new, as at the very first start: a program that dies at once must have an agent
 * by then. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/capture.h"
#include "session/delivery.h"

static void *prepare(void *argument)
{
    lg_session *session = argument;
    struct lg__problem ignored = { .status = LG_OK };
    lg__capture_own_begin();
    lg__capture_thread_begin();
    int spool = lg__delivery_spool(session, false, &ignored);
    if (spool >= 0) {
        if (!lg__delivery_state.looked)
            lg__delivery_agent_start(session, spool);
        lg__delivery_agent_await(session, spool);
        close(spool);
    }
    lg__host_hand_over(&session->host);
    if (lg__delivery_state.on_delivered)
        lg__delivery_acknowledgement_wait(session);
    lg__capture_own_end();
    return NULL;
}

static bool crashed_in_launch(struct lg__host *host)
{
    pthread_mutex_lock(&host->lock);
    const struct lg__ledger_payload *payload = &host->ledger.payload;
    bool crashed = payload->timeline_count && payload->timeline[payload->timeline_count - 1].counted;
    pthread_mutex_unlock(&host->lock);
    return crashed;
}

static bool is_stored(int spool, const char *text, size_t size)
{
    char stored[LG__CONFIG_MAX];
    return lg__spool_read(spool, "config", stored, sizeof stored) == (long)size && memcmp(stored, text, size) == 0;
}

/* Store the configuration and the consent. An agent that lives never sees a new address with an old
 * consent. Returns the spool; −1 with the problem noted. `ret_new`: it was not there before. */
static int store(const lg_session *session, const struct lg__delivery_config *config, lg_consent consent, bool *ret_new, struct lg__problem *problem)
{
    char text[LG__CONFIG_MAX];
    struct lg__problem none = { .status = LG_OK };
    lg_status status = LG_OK;
    size_t size = lg__delivery_config_format(config, text, sizeof text);
    if (!size) {
        lg__problem_say(problem, LG_ERR_OPTION, "lg_delivery_start: endpoint, credential_file and ca_file have too many bytes together; at most %d fit",
                        LG__CONFIG_MAX);
        return -1;
    }
    int spool = lg__delivery_spool(session, false, &none);
    bool whole = spool >= 0 && is_stored(spool, text, size);
    *ret_new = !whole;
    if (!whole) { /* the folders come before the configuration */
        if (spool >= 0)
            close(spool);
        spool = lg__delivery_spool(session, true, problem);
    }
    if (spool < 0)
        return -1;
    if (consent == LG_CONSENT_WITHHELD)
        status = lg__delivery_consent_store(session, spool, consent, true);
    if (status == LG_OK && !whole)
        status = lg__spool_write(spool, "config", text, size, false);
    /* A power cut may undo this consent; the next start gives it again. */
    if (status == LG_OK && consent == LG_CONSENT_GIVEN)
        status = lg__delivery_consent_store(session, spool, consent, false);
    if (status == LG_OK)
        return spool;
    lg__problem_set(problem, status, "spool", errno);
    close(spool);
    return -1;
}

/* Under the lock. */
static lg_status start(lg_session *session, const lg_delivery_options *options, const struct lg__delivery_config *config, bool *ret_new,
                       struct lg__problem *problem)
{
    struct lg__delivery *delivery = &lg__delivery_state;
    int spool = store(session, config, options->consent, ret_new, problem);
    if (spool < 0)
        return problem->status;
    bool off = lg__delivery_agent_is_off(spool);
    close(spool);
    if (off)
        return lg__problem_say(problem, LG_ERR_DISABLED,
                               "delivery is switched off; unset LAUNCHGUARD_NO_DELIVERY, and remove the file \"off\" in %s/spool, to switch it on",
                               session->host.directory);
    delivery->started = true;
    delivery->ends = config->options.ends;
    delivery->on_delivered = options->on_delivered;
    delivery->user = options->user;
    if (lg__delivery_agent_find(options->agent_path, delivery->agent))
        return LG_OK;
    delivery->agent[0] = 0;
    return lg__problem_set(problem, LG_ERR_NO_AGENT, options->agent_path, 0);
}

lg_status lg_delivery_start(lg_session *session, const lg_delivery_options *options)
{
    struct lg__problem problem = { .status = LG_OK };
    struct lg__delivery *delivery = &lg__delivery_state;
    struct lg__delivery_config config;
    bool is_new = false;
    lg_status status = options ? lg__take_over_check(session) : LG_ERR_ARGUMENT;
    if (status == LG_OK)
        status = lg__delivery_options_take(options, &config, &problem);
    if (status == LG_OK && session->host.simulated)
        return LG_OK;
    if (status == LG_OK) {
        pthread_mutex_lock(&delivery->lock);
        status = delivery->started ? LG_ERR_ALREADY : start(session, options, &config, &is_new, &problem);
        pthread_mutex_unlock(&delivery->lock);
    }
    if (problem.status != LG_OK)
        lg__delivery_problem(session, &problem);
    if (status == LG_OK && (is_new || crashed_in_launch(&session->host))) {
        delivery->looked = true;
        int spool = lg__delivery_spool(session, false, &problem);
        if (spool >= 0) {
            status = lg__delivery_agent_start(session, spool);
            close(spool);
        }
    }
    bool works = status == LG_OK || (status == LG_ERR_NO_AGENT && options->on_delivered);
    if (works && !lg__callback_detach(prepare, session, true))
        lg__host_log(&session->host, LG_LEVEL_WARNING, "delivery: no thread that starts the agent; reports stay owed");
    if (session)
        lg__host_hand_over(&session->host);
    return status;
}
