#include "send/retry.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "policy/fate.h"

static bool seconds(const char *text, const char **ret_end, uint64_t *ret_ns)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long value = strtoull(text, &end, 10);
    *ret_ns = value < PAUSE_MAX_NS / SECOND_NS ? value * SECOND_NS : PAUSE_MAX_NS;
    *ret_end = end;
    return true;
}

bool retry_after(const char *value, int64_t now_s, uint64_t *ret_pause_ns)
{
    const char *end;
    value += strspn(value, " \t");
    if (seconds(value, &end, ret_pause_ns))
        return true;
    time_t when = curl_getdate(value, NULL);
    if (when == -1)
        return false;
    int64_t left = (int64_t)when - now_s;
    *ret_pause_ns = left <= 0 ? 0 : (uint64_t)left < PAUSE_MAX_NS / SECOND_NS ? (uint64_t)left * SECOND_NS : PAUSE_MAX_NS;
    return true;
}

/* The categories of one limit, between ';', name one of ours; none at all: all of them. */
static bool is_ours(const char *categories, size_t size)
{
    static const char *const ours[] = { "default", "error", "attachment" };
    if (size == 0)
        return true;
    for (const char *at = categories, *end = categories + size; at <= end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
            if (strlen(ours[i]) == length && memcmp(ours[i], at, length) == 0)
                return true;
        if (!stop)
            return false;
        at = stop + 1;
    }
    return false;
}

bool retry_rate_limits(const char *value, uint64_t *ret_pause_ns)
{
    uint64_t longest = 0;
    bool found = false;
    for (;;) {
        const char *end;
        uint64_t pause;
        value += strspn(value, " \t,");
        if (seconds(value, &end, &pause) && *end == ':') {
            const char *categories = end + 1;
            if (is_ours(categories, strcspn(categories, ":,"))) {
                longest = pause > longest ? pause : longest;
                found = true;
            }
        }
        value = strchr(value, ',');
        if (!value)
            break;
    }
    if (found)
        *ret_pause_ns = longest;
    return found;
}
