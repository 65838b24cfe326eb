/* Delivery, the program's side: declarations shared by its files. See
 * include/launchguard/delivery.h.
 *
 * The files, from below: delivery.c, delivery_options.c and delivery_entries.c; then
 * delivery_agent.c, which starts the agent, and delivery_acknowledgement.c, which calls
 * on_delivered; then the calls of the program, each in a file: delivery_start.c,
 * delivery_consent.c, delivery_request.c and delivery_wait.c. */
#ifndef LG_SESSION_DELIVERY_H
#define LG_SESSION_DELIVERY_H

#include "session/session.h"
#include "store/delivery_config.h"
#include "store/spool.h"

/* A process has one session that delivers. */
struct lg__delivery {
    pthread_mutex_t lock; /* of all of it */
    bool started;
    char agent[4096];     /* path of the agent's program; "": there is none */
    bool looked;          /* for an agent, within lg_delivery_start() */
    /* 1 more than when an agent had begun, as the last one was started; 0: none was started */
    uint64_t begun_ns;
    uint32_t ends;        /* as of the configuration */
    lg_delivered_callback on_delivered;
    void *user;
};
extern struct lg__delivery lg__delivery_state;

/* ---- delivery.c ---- */

/* Whether lg_delivery_start() succeeded, or found no agent's program. */
bool lg__delivery_started(void);
/* Open the spool, and make it where `make` says so. A descriptor; −1 with the problem noted. */
int lg__delivery_spool(const lg_session *session, bool make, struct lg__problem *problem);
/* Hand a problem to lg_session_message(). Returns its status. */
lg_status lg__delivery_problem(lg_session *session, const struct lg__problem *problem);
/* Call `each` for every entry of a folder in the spool but those that begin with ".", until it
 * returns false. false: the folder cannot be opened, and errno says why. */
bool lg__delivery_each(int spool, const char *folder, bool (*each)(int folder, const char *name, void *argument), void *argument);
/* How many there are. */
uint32_t lg__delivery_count(int spool, const char *folder);

/* ---- delivery_options.c ---- */

/* Check the options, and write them in the form of spool/config. */
lg_status lg__delivery_options_take(const lg_delivery_options *given, struct lg__delivery_config *ret_config, struct lg__problem *problem);

/* ---- delivery_entries.c ---- */

/* A report in the spool as the program sees it. */
void lg__delivery_entries_info(const struct lg__report_header *header, lg_delivery_state state, lg_delivery_info *ret_info);

/* ---- delivery_agent.c ---- */

/* Find the agent's program. `wanted`: lg_delivery_options.agent_path. false: there is none. */
bool lg__delivery_agent_find(const char *wanted, char ret_path[4096]);
/* Start an agent, unless one serves or none may: without consent, or switched off. LG_ERR_NO_AGENT:
 * the system does not start it; lg_session_message() and the log say why. */
lg_status lg__delivery_agent_start(lg_session *session, int spool);
/* Wait a moment until the agent that this process started has begun. One that lacks a library, for
 * example, ends before that, which lg_session_message() and the log say. */
void lg__delivery_agent_await(lg_session *session, int spool);
/* Whether the environment or a person has switched delivery off. */
bool lg__delivery_agent_is_off(int spool);

/* ---- delivery_consent.c ---- */

/* As lg_delivery_consent(), where it changes the stored word. `durable`: see spool.h; withheld
 * consent always is. */
lg_status lg__delivery_consent_store(const lg_session *session, int spool, lg_consent consent, bool durable);

/* ---- delivery_acknowledgement.c ---- */

/* Wait on the calling thread, which is LaunchGuard's own, until a launch is finished, then call
 * on_delivered for the sent reports. */
void lg__delivery_acknowledgement_wait(lg_session *session);

#endif
