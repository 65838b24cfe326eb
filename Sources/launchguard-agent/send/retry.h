/* What a server says about waiting. */
#ifndef AGENT_RETRY_H
#define AGENT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds or an HTTP date, as of Retry-After; at most PAUSE_MAX_NS. `now_s` is the time since 1970
 * by the server's clock or ours. false: neither. */
bool retry_after(const char *value, int64_t now_s, uint64_t *ret_pause_ns);

/* X-Sentry-Rate-Limits: the pause for the categories that reports belong to ("error", "default",
 * "attachment", or all). false: none. */
bool retry_rate_limits(const char *value, uint64_t *ret_pause_ns);

#endif
