/* spool/agent.log: the agent's actions, for a person who looks at the device. One line each, with
 * the time; bounded, with one older file beside it. The log has no credential, and only the host of
 * an endpoint. */
#ifndef AGENT_LOG_H
#define AGENT_LOG_H

#include <stdbool.h>

#define AGENT_LOG_BYTES_MAX (256 * 1024)

/* `spool` stays borrowed. `also_stderr`: a person watches. */
void agent_log_open(int spool, bool also_stderr);
void agent_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
