/* Writes what the agent makes of a run file.
 *
 * compose-dump FILE                 the full part, home directories kept
 * compose-dump --brief FILE         the brief part
 * compose-dump --redact [--brief] FILE
 * compose-dump TARGET ENDPOINT FILE the requests of both parts, or that of both and that of the
 *                                   first: url, headers, body; home directories are redacted;
 *                                   TARGET: http, sentry, otlp, minidump */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compose.h"
#include "target/target.h"

static void parse_hex(const char *text, uint8_t bytes[16])
{
    for (int i = 0; i < 16; i++, text += 2) {
        unsigned byte = 0;
        text += *text == '-';
        sscanf(text, "%2x", &byte);
        bytes[i] = (uint8_t)byte;
    }
}

static int write_requests(const char *kind, const char *endpoint, const struct facts *facts, char *brief, size_t brief_bytes, char *full,
                          size_t full_bytes)
{
    struct lg__delivery_config config = { .options.target = strcmp(kind, "sentry") == 0 ? LG_TARGET_SENTRY : strcmp(kind, "otlp") == 0 ? LG_TARGET_OTLP
                                                            : strcmp(kind, "minidump") == 0 ? LG_TARGET_MINIDUMP : LG_TARGET_HTTP };
    struct credentials credentials = { .headers = curl_slist_append(NULL, "Authorization: Bearer planted-credential") };
    struct letter letter = { .brief = brief, .full = full, .via = "agent" };
    int result = 0;
    snprintf(config.endpoint, sizeof config.endpoint, "%s", endpoint);
    letter.header.attempts = 2;
    letter.header.ordinal = 7;
    letter.header.more = 3;
    letter.header.made_ns = facts->made_ns;
    letter.header.brief_bytes = (uint32_t)brief_bytes;
    letter.header.full_bytes = (uint32_t)full_bytes;
    letter.header.flags = config.options.target == LG_TARGET_MINIDUMP ? LG__REPORT_DUMP : 0;
    parse_hex(facts->uuid, letter.header.uuid);
    parse_hex(facts->fingerprint, letter.header.fingerprint);
    const enum part parts[] = { target_part(config.options.target, 0), target_part(config.options.target, lg__delivery_config_is_whole(config.options.target) ? LG__REPORT_FULL_SENT : LG__REPORT_BRIEF_SENT) };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const enum part part = parts[i];
        struct request request;
        char why[LG__REPORT_ERROR_BYTES] = "";
        if (target_request(&config, &credentials, &letter, part, &request, why)) {
            printf("%s\n", request.url);
            for (struct curl_slist *line = request.headers; line; line = line->next)
                printf("%s\n", line->data);
            printf("\n%zu\n", request.bytes);
            fwrite(request.body, 1, request.bytes, stdout);
            printf("\n");
        } else {
            printf("refused: %s\n", why);
            result = 3;
        }
        request_free(&request);
    }
    curl_slist_free_all(credentials.headers);
    return result;
}

int main(int count, char **arguments)
{
    struct facts facts = { .keep_home = true, .launching = true, .context = "main", .task = "open", .streak = 3 };
    bool is_brief = false;
    const char *kind = NULL, *endpoint = NULL;
    size_t brief_bytes = 0, full_bytes = 0;
    lg_reader *reader;
    lg_run_info run;
    int i = 1;
    for (; i < count - 1; i++)
        if (strcmp(arguments[i], "--brief") == 0)
            is_brief = true;
        else if (strcmp(arguments[i], "--redact") == 0)
            facts.keep_home = false;
        else if (kind)
            endpoint = arguments[i];
        else
            kind = arguments[i];
    if (i != count - 1 || (kind && !endpoint)) {
        fprintf(stderr, "usage: compose-dump [--redact] [--brief] [TARGET ENDPOINT] FILE\n");
        return 2;
    }
    if (lg_reader_open(arguments[i], &reader) != LG_OK || lg_reader_run(reader, &run) != LG_OK) {
        fprintf(stderr, "%s is no run file\n", arguments[i]);
        return 1;
    }
    memcpy(facts.uuid, run.uuid, sizeof facts.uuid);
    memcpy(facts.run_uuid, run.uuid, sizeof facts.run_uuid);
    memcpy(facts.fingerprint, "00112233445566778899aabbccddeeff", sizeof facts.fingerprint);
    facts.made_ns = UINT64_C(1767225601000000000);
    facts.keep_home = facts.keep_home && !kind;
    if (lg_reader_verdict(reader, &facts.verdict) != LG_OK)
        facts.verdict.end = LG_END_UNKNOWN;
    const bool is_dump = kind && strcmp(kind, "minidump") == 0;
    char *brief = compose_brief(reader, &facts, &brief_bytes), *full = (is_dump ? compose_dump : compose_full)(reader, &facts, &full_bytes);
    int result = brief && full ? 0 : 1;
    if (result == 0 && kind)
        result = write_requests(kind, endpoint, &facts, brief, brief_bytes, full, full_bytes);
    else if (result == 0)
        fwrite(is_brief ? brief : full, 1, is_brief ? brief_bytes : full_bytes, stdout);
    free(brief);
    free(full);
    lg_reader_close(reader);
    return result;
}
