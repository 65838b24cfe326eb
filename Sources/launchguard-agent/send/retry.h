/* The fate of a report after an attempt: pure decisions. */
#ifndef AGENT_RETRY_H
#define AGENT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of a report: no attempt follows the last of these, or a failed one at this age. */
#define ATTEMPTS_MAX 20u
#define AGE_MAX_NS (UINT64_C(30) * 24 * 3600 * 1000000000)
/* Back-off with full jitter: a random time up to 2 s, 4 s, 8 s, … 1 h. */
#define BACKOFF_FIRST_NS (UINT64_C(2) * 1000000000)
#define BACKOFF_MAX_NS (UINT64_C(3600) * 1000000000)
/* A server cannot ask for a longer pause. */
#define PAUSE_MAX_NS (UINT64_C(24) * 3600 * 1000000000)

struct answer {
    int http_status;    /* 0: none came */
    bool has_pause;
    uint64_t pause_ns;  /* the server asks to wait that long (Retry-After, X-Sentry-Rate-Limits) */
};

enum fate {
    FATE_SENT,  /* positive */
    FATE_RETRY,
    FATE_HELD,  /* refused as long as the configuration stays */
    FATE_SMALL, /* too large: without the second part */
    FATE_DEAD
};

struct outcome {
    enum fate fate;
    uint64_t wait_ns;       /* of FATE_RETRY */
    uint64_t pause_ns;      /* no request of any report before that; 0: none */
};

/* `attempts` counts this one; `age_ns` since the first one; `random` is any number; `has_full`: the
 * request was the second part, without which the report may be complete. */
struct outcome retry_decide(const struct answer *answer, uint32_t attempts, uint64_t age_ns, uint64_t random, bool is_full);

/* Seconds or an HTTP date, as of Retry-After. `now_s` is the time since 1970 by the server's clock
 * or ours. false: neither. */
bool retry_after(const char *value, int64_t now_s, uint64_t *ret_pause_ns);

/* X-Sentry-Rate-Limits: the pause for the categories that reports belong to ("error", "default",
 * "attachment", or all). false: none. */
bool retry_rate_limits(const char *value, uint64_t *ret_pause_ns);

#endif
