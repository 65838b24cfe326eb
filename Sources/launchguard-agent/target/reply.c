#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

/* An id, or some words; no page. */
#define SHORT_BYTES 1024u

static uint64_t count_of(const json_t *value)
{
    /* OTLP writes 64-bit numbers as texts. */
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : (uint64_t)json_integer_value(value);
}

/* A collector takes a request, and says how many of its records it threw away. */
static enum reply otlp_reply(const json_t *answer, char why[LG__REPORT_ERROR_BYTES])
{
    const json_t *partial = json_object_get(answer, "partialSuccess");
    const char *message = json_string_value(json_object_get(partial, "errorMessage"));
    if (!count_of(json_object_get(partial, "rejectedLogRecords")))
        return REPLY_TAKEN;
    snprintf(why, LG__REPORT_ERROR_BYTES, "the collector refused the record: %.100s", message ? message : "without a reason");
    return REPLY_REFUSED;
}

/* What these servers answer is a short text: Sentry the event's id, Crashpad's server a report id,
 * Socorro "CrashID=…", or "Discarded=…" for a report that it threw away. A page is something
 * else's. */
static enum reply minidump_reply(const char *body, size_t bytes, char why[LG__REPORT_ERROR_BYTES])
{
    static const char discarded[] = "Discarded=";
    while (bytes && strchr(" \t\r\n", *body) && *body)
        body++, bytes--;
    if (bytes > SHORT_BYTES || memchr(body, 0, bytes) || (bytes && *body == '<')) {
        snprintf(why, LG__REPORT_ERROR_BYTES, "the answer is none of a server of minidumps: something else answers at this address");
        return REPLY_FOREIGN;
    }
    if (bytes < sizeof discarded - 1 || memcmp(body, discarded, sizeof discarded - 1) != 0)
        return REPLY_TAKEN;
    snprintf(why, LG__REPORT_ERROR_BYTES, "the collector threw the report away: %.*s", (int)(bytes < 100 ? bytes : 100), body);
    why[strcspn(why, "\r\n")] = 0;
    return REPLY_REFUSED;
}

enum reply target_reply(lg_delivery_target target, const char *body, size_t bytes, char why[LG__REPORT_ERROR_BYTES])
{
    if (target == LG_TARGET_HTTP || (target == LG_TARGET_OTLP && bytes == 0))
        return REPLY_TAKEN;
    if (target == LG_TARGET_MINIDUMP)
        return minidump_reply(body, bytes, why);
    json_t *answer = json_loadb(body, bytes, 0, NULL);
    enum reply reply = json_is_object(answer) ? REPLY_TAKEN : REPLY_FOREIGN;
    if (reply == REPLY_FOREIGN)
        snprintf(why, LG__REPORT_ERROR_BYTES, "the answer is none of %s: something else answers at this address",
                 target == LG_TARGET_SENTRY ? "a Sentry-compatible server" : "an OpenTelemetry collector");
    else if (target == LG_TARGET_OTLP)
        reply = otlp_reply(answer, why);
    json_decref(answer);
    return reply;
}
