#include "target/target.h"

#include <inttypes.h>
#include <stdio.h>

#include "policy/slice.h"

bool target_compresses(const struct lg__delivery_config *config)
{
    return config->options.compress || config->options.target == LG_TARGET_SENTRY || config->options.target == LG_TARGET_OTLP;
}

uint32_t target_second_bytes(lg_delivery_target target, const struct lg__report_header *header)
{
    return lg__delivery_config_is_whole(target) ? header->full_bytes : slice_bytes(header);
}

bool target_takes_second(lg_delivery_target target, uint32_t flags)
{
    return !(flags & LG__REPORT_DUMP) == (target != LG_TARGET_MINIDUMP);
}

enum part target_part(lg_delivery_target target, uint32_t flags)
{
    return lg__delivery_config_first_next(target, flags) ? PART_BRIEF : lg__delivery_config_is_whole(target) ? PART_WHOLE : PART_FULL;
}

uint32_t target_flags(enum part part)
{
    return (part == PART_FULL ? 0 : LG__REPORT_BRIEF_SENT) | (part == PART_BRIEF ? 0 : LG__REPORT_FULL_SENT);
}

struct curl_slist *target_headers(const struct letter *letter, enum part part)
{
    static const char *const names[] = { [PART_BRIEF] = "brief", [PART_FULL] = "full", [PART_WHOLE] = "whole" };
    struct curl_slist *list = NULL;
    char uuid[37], fingerprint[33], suffix[24] = "";
    request_uuid(letter->header.uuid, uuid);
    request_hex(letter->header.fingerprint, 16, fingerprint);
    if (part == PART_FULL && slice_is_one_of_many(&letter->header))
        snprintf(suffix, sizeof suffix, "/full/%" PRIu32, letter->header.full_taken);
    else if (part == PART_FULL)
        snprintf(suffix, sizeof suffix, "/full");
    bool whole = request_add_header(&list, "Idempotency-Key: %s%s", uuid, suffix) &&
                 request_add_header(&list, "X-Request-Id: %s%s", uuid, suffix) &&
                 request_add_header(&list, "X-LaunchGuard-Part: %s", names[part]) &&
                 request_add_header(&list, "X-LaunchGuard-Via: %s", letter->via) &&
                 request_add_header(&list, "X-LaunchGuard-Attempt: %" PRIu32, letter->header.attempts) &&
                 request_add_header(&list, "X-LaunchGuard-Ordinal: %" PRIu64, letter->header.ordinal) &&
                 request_add_header(&list, "X-LaunchGuard-Fingerprint: %s", fingerprint) &&
                 request_add_header(&list, "X-LaunchGuard-More: %" PRIu64, letter->header.more);
    if (whole)
        return list;
    curl_slist_free_all(list);
    return NULL;
}

bool target_request(const struct lg__delivery_config *config, const struct credentials *credentials, const struct letter *letter, enum part part,
                    struct request *ret_request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *endpoint = credentials->endpoint[0] ? credentials->endpoint : config->endpoint;
    *ret_request = (struct request){ .headers = NULL };
    if (!endpoint[0])
        return request_refuse(ret_why, "no endpoint is configured: set lg_delivery_options.endpoint, or name it in the credential file");
    ret_request->headers = target_headers(letter, part);
    if (!ret_request->headers)
        return request_refuse(ret_why, "no memory");
    switch (config->options.target) {
    case LG_TARGET_HTTP: return http_request(endpoint, letter, part, ret_request, ret_why);
    case LG_TARGET_SENTRY: return sentry_request(endpoint, letter, part, ret_request, ret_why);
    case LG_TARGET_OTLP: return otlp_request(endpoint, letter, part, ret_request, ret_why);
    case LG_TARGET_MINIDUMP: return minidump_request(endpoint, letter, part, ret_request, ret_why);
    }
    return request_refuse(ret_why, "the configuration names a kind of server that this agent does not know");
}
