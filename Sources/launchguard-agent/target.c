#include "target_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool target_takes(lg_delivery_target target, enum part part)
{
    return part == PART_BRIEF || target != LG_TARGET_OTLP;
}

void request_free(struct request *request)
{
    curl_slist_free_all(request->headers);
    free(request->body);
    *request = (struct request){ .headers = NULL };
}

/* ---- headers ---- */

static void write_hex(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

void target_uuid(const uint8_t uuid[16], char ret_text[37])
{
    static const uint8_t sizes[] = { 4, 2, 2, 2, 6 };
    for (size_t i = 0; i < sizeof sizes; i++) {
        write_hex(uuid, sizes[i], ret_text);
        uuid += sizes[i];
        ret_text += 2 * sizes[i];
        *ret_text++ = i + 1 < sizeof sizes ? '-' : 0;
    }
}

bool target_add_header(struct curl_slist **list, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct curl_slist *more = length > 0 && (size_t)length < sizeof line && !strpbrk(line, "\r\n") ? curl_slist_append(*list, line) : NULL;
    *list = more ? more : *list;
    return more;
}

struct curl_slist *target_headers(const struct letter *letter, enum part part)
{
    struct curl_slist *list = NULL;
    char uuid[37], fingerprint[33];
    const char *suffix = part == PART_FULL ? "/full" : "";
    target_uuid(letter->header.uuid, uuid);
    write_hex(letter->header.fingerprint, 16, fingerprint);
    bool whole = target_add_header(&list, "Idempotency-Key: %s%s", uuid, suffix) &&
                 target_add_header(&list, "X-Request-Id: %s%s", uuid, suffix) &&
                 target_add_header(&list, "X-LaunchGuard-Part: %s", part == PART_FULL ? "full" : "brief") &&
                 target_add_header(&list, "X-LaunchGuard-Via: %s", letter->via) &&
                 target_add_header(&list, "X-LaunchGuard-Attempt: %" PRIu32, letter->header.attempts) &&
                 target_add_header(&list, "X-LaunchGuard-Ordinal: %" PRIu64, letter->header.ordinal) &&
                 target_add_header(&list, "X-LaunchGuard-Fingerprint: %s", fingerprint) &&
                 target_add_header(&list, "X-LaunchGuard-More: %" PRIu64, letter->header.more);
    if (whole)
        return list;
    curl_slist_free_all(list);
    return NULL;
}

/* ---- dispatch ---- */

bool target_refuse(char ret_why[LG__REPORT_ERROR_BYTES], const char *why)
{
    snprintf(ret_why, LG__REPORT_ERROR_BYTES, "%s", why);
    return false;
}

bool target_request(const struct lg__delivery_config *config, const struct credentials *credentials, const struct letter *letter, enum part part,
                    struct request *ret_request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *endpoint = credentials->endpoint[0] ? credentials->endpoint : config->endpoint;
    *ret_request = (struct request){ .headers = NULL };
    if (!endpoint[0])
        return target_refuse(ret_why, "no endpoint is configured: set lg_delivery_options.endpoint, or name it in the credential file");
    if (!target_takes(config->target, part))
        return target_refuse(ret_why, "this kind of server has no place for the second part");
    ret_request->headers = target_headers(letter, part);
    if (!ret_request->headers)
        return target_refuse(ret_why, "no memory");
    switch (config->target) {
    case LG_TARGET_HTTP: return http_request(endpoint, letter, part, ret_request, ret_why);
    case LG_TARGET_SENTRY: return sentry_request(endpoint, letter, part, ret_request, ret_why);
    case LG_TARGET_OTLP: return otlp_request(endpoint, letter, part, ret_request, ret_why);
    }
    return target_refuse(ret_why, "the configuration names a kind of server that this agent does not know");
}

bool target_is_address(const char *endpoint, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *host = strncmp(endpoint, "https://", 8) == 0 ? endpoint + 8 : strncmp(endpoint, "http://", 7) == 0 ? endpoint + 7 : NULL;
    if (!host)
        return target_refuse(ret_why, "the endpoint does not begin with \"https://\" or \"http://\"");
    size_t length = strcspn(host, "/?#");
    if (memchr(host, '@', length))
        return target_refuse(ret_why, "the endpoint holds a user name; put credentials into the credential file");
    if (length == 0 || host[0] == ':')
        return target_refuse(ret_why, "the endpoint names no host");
    for (const char *c = endpoint; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F)
            return target_refuse(ret_why, "the endpoint holds a space or a control character");
    CURLU *parts = curl_url();
    bool is_whole = parts && curl_url_set(parts, CURLUPART_URL, endpoint, 0) == CURLUE_OK;
    curl_url_cleanup(parts);
    return is_whole || target_refuse(ret_why, "the endpoint is no whole address");
}

char *target_copy(const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, bytes, size);
        copy[size] = 0;
    }
    return copy;
}
