/* Sentry envelopes: the event, which is made of both parts or of the brief one, and the full part
 * as an attachment of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/moment.h"
#include "target/brief_json.h"
#include "target/target.h"
#include "target/sentry_event.h"
#include "target/sentry_fill.h"

/* ---- the envelope ---- */

/* Without dashes. */
static void write_event_id(const uint8_t uuid[16], char ret_id[37])
{
    size_t used = 0;
    request_uuid(uuid, ret_id);
    for (const char *c = ret_id; *c; c++)
        if (*c != '-')
            ret_id[used++] = *c;
    ret_id[used] = 0;
}

#define TIME_BYTES 32

static bool write_time(time_t time, char ret_text[TIME_BYTES])
{
    struct tm parts;
    return gmtime_r(&time, &parts) && strftime(ret_text, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* An envelope that is sent has its time: a server takes the difference to its own clock as the
 * error of all times in the report. A file may be sent at any time, and has none. */
static bool write_header(FILE *out, const char *event_id, bool is_sent)
{
    char sent_at[TIME_BYTES];
    if (!is_sent)
        return fprintf(out, "{\"event_id\":\"%s\"}\n", event_id) > 0;
    return write_time(time(NULL), sent_at) && fprintf(out, "{\"event_id\":\"%s\",\"sent_at\":\"%s\"}\n", event_id, sent_at) > 0;
}

static bool write_item(FILE *out, const char *item, const char *payload, size_t bytes)
{
    return fprintf(out, "{%s,\"content_type\":\"application/json\",\"length\":%zu}\n", item, bytes) > 0 && fwrite(payload, 1, bytes, out) == bytes &&
           fputc('\n', out) != EOF;
}

static bool write_event(FILE *out, const json_t *report, const json_t *full, const char *event_id, uint64_t more)
{
    json_t *event = sentry_event(report, event_id, more);
    if (full)
        sentry_fill(event, report, full);
    char *text = json_dumps(event, JSON_COMPACT);
    bool written = text && write_item(out, "\"type\":\"event\"", text, strlen(text));
    free(text);
    json_decref(event);
    return written;
}

/* An item of sessions, which are counted. A server takes `started` for their hour. */
static bool write_health(FILE *out, const json_t *report, const struct lg__report_header *header)
{
    char started[TIME_BYTES], sent_at[TIME_BYTES];
    const uint64_t last_ns = header->more_last_ns ? header->more_last_ns : header->made_ns;
    if (!write_time((time_t)(last_ns / SECOND_NS), started) || !write_time(time(NULL), sent_at))
        return false;
    json_t *release = json_object();
    sentry_event_put_release(release, report);
    json_t *sessions = json_pack("{s[{ss sI}] so}", "aggregates", "started", started, brief_text(report, "outcome"), (json_int_t)(header->more + 1),
                                 "attrs", release);
    char *text = json_dumps(sessions, JSON_COMPACT);
    const bool written = text && fprintf(out, "{\"sent_at\":\"%s\"}\n", sent_at) > 0 && write_item(out, "\"type\":\"sessions\"", text, strlen(text));
    free(text);
    json_decref(sessions);
    return written;
}

bool sentry_body(const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    static const char attachment[] = "\"type\":\"attachment\",\"filename\":\"launchguard.json\",\"attachment_type\":\"event.attachment\"";
    char event_id[37];
    json_t *report = brief_read(letter);
    json_t *full = part == PART_WHOLE ? json_loadb(letter->full, letter->header.full_bytes, JSON_ALLOW_NUL, NULL) : NULL;
    if (!report)
        return request_refuse(ret_why, "the first part of the report is no JSON object");
    FILE *out = open_memstream(&request->body, &request->bytes);
    write_event_id(letter->header.uuid, event_id);
    bool made = out != NULL;
    if (letter->header.flags & LG__REPORT_HEALTH)
        made = made && write_health(out, report, &letter->header);
    else
        made = made && write_header(out, event_id, letter->via) && write_event(out, report, full, event_id, letter->header.more);
    if (full)
        made = made && write_item(out, attachment, letter->full, letter->header.full_bytes);
    made &= out && fclose(out) == 0;
    json_decref(full);
    json_decref(report);
    return made || request_refuse(ret_why, "no memory");
}

bool sentry_request(const char *dsn, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    struct lg__endpoint to;
    if (!request_endpoint(LG_TARGET_SENTRY, dsn, &to, ret_why) || !sentry_body(letter, part, request, ret_why))
        return false;
    int length = snprintf(request->url, sizeof request->url, "%.*s://%.*s%.*sapi/%s/envelope/", to.scheme_bytes, dsn, to.host_bytes, to.host, to.path_bytes,
                          to.path, to.project);
    if (length < 0 || (size_t)length >= sizeof request->url)
        return request_refuse(ret_why, "the DSN is too long");
    if (!request_add_header(&request->headers, "Content-Type: application/x-sentry-envelope") ||
        !request_add_header(&request->headers, "X-Sentry-Auth: Sentry sentry_version=7, sentry_client=%s, sentry_key=%.*s", AGENT_NAME,
                            to.key_bytes, to.key))
        return request_refuse(ret_why, "no memory");
    return true;
}
