/* Makes a report of one file, and its requests for every target, and aborts when a text is no JSON,
 * too long, or a damaged DSN passes for an address. */
#include "exercise.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/compose.h"
#include "store/crc32c.h"
#include "target/target.h"

#define REQUIRE(what)                                                     \
    do {                                                                  \
        if (!(what)) {                                                    \
            fprintf(stderr, "mutate: line %d: %s\n", __LINE__, #what);    \
            abort();                                                      \
        }                                                                 \
    } while (0)

/* The tree of the largest text, and the text. */
size_t most_memory(size_t size)
{
    return 2 * size + 16 * (size_t)LG__REPORT_FULL_MAX;
}

static void require_json(const char *text, size_t size, size_t most)
{
    json_t *value = json_loadb(text, size, JSON_ALLOW_NUL, NULL);
    REQUIRE(size <= most);
    REQUIRE(json_is_object(value));
    json_decref(value);
}

/* ---- DSNs ---- */

static uint32_t state;

static uint32_t chance(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static void damage_dsn(char *dsn, size_t room)
{
    static const char bytes[] = "/:@?#[]%. \n\xFF\x80" "azA09_-~";
    strcpy(dsn, chance(2) ? "https://planted:planted@host.example:9000/deep/42" : "http://planted@[::1]/7");
    for (uint32_t count = chance(6); count; count--) {
        size_t length = strlen(dsn), at = chance((uint32_t)length + 1);
        switch (chance(3)) {
        case 0: dsn[at] = at < length ? bytes[chance(sizeof bytes - 1)] : 0; break;
        case 1: memmove(dsn + at, dsn + at + (at < length), length - at + (at == length)); break;
        default:
            if (length + 2 < room) {
                memmove(dsn + at + 1, dsn + at, length - at + 1);
                dsn[at] = bytes[chance(sizeof bytes - 1)];
            }
        }
    }
}

static void require_address(const char *url)
{
    REQUIRE(strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0);
    REQUIRE(strstr(url, "/api/") && strlen(url) > 10 && strcmp(url + strlen(url) - 10, "/envelope/") == 0);
    for (const char *c = url; *c; c++)
        REQUIRE(*c > ' ' && *c < 0x7F && !strchr("?#@%", *c));
}

/* ---- requests ---- */

/* The boundary of a form stands before each part, and nowhere else. */
static void require_form(const struct request *request)
{
    static const char head[] = "\r\nContent-Disposition: form-data; name=\"";
    char boundary[128] = "";
    const char *end = request->body + request->bytes;
    size_t parts = 0, heads = 0;
    for (const struct curl_slist *line = request->headers; line; line = line->next)
        sscanf(line->data, "Content-Type: multipart/form-data; boundary=%127s", boundary);
    REQUIRE(boundary[0] && request->bytes > 2 && memcmp(end - 4, "--\r\n", 4) == 0);
    for (const char *at = request->body; (at = memmem(at, (size_t)(end - at), boundary, strlen(boundary))); at += strlen(boundary), parts++)
        heads += strncmp(at + strlen(boundary), head, sizeof head - 1) == 0;
    REQUIRE(parts >= 3 && heads == parts - 1);
}

/* A minidump of a hostile file keeps to its bounds, also the least one. */
static void dump(lg_reader *reader, const struct facts *facts, struct letter *letter)
{
    size_t bytes = 0;
    char *whole = compose_dump(reader, facts, &bytes);
    REQUIRE(whole && bytes <= LG__REPORT_FULL_MAX && memcmp(whole, "MDMP", 4) == 0);
    letter->full = whole;
    letter->header.full_bytes = (uint32_t)bytes;
    letter->header.flags = LG__REPORT_DUMP;
    struct lg__delivery_config config = { .options.target = LG_TARGET_MINIDUMP, .endpoint = "https://reports.example/post" };
    struct credentials credentials = { .headers = NULL };
    struct request request;
    char why[LG__REPORT_ERROR_BYTES];
    REQUIRE(target_request(&config, &credentials, letter, PART_WHOLE, &request, why));
    require_form(&request);
    request_free(&request);
    free(whole);
}

static void request_all(const struct letter *letter)
{
    static const lg_delivery_target targets[] = { LG_TARGET_HTTP, LG_TARGET_SENTRY, LG_TARGET_OTLP, LG_TARGET_MINIDUMP };
    struct credentials credentials = { .headers = NULL };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        for (enum part part = PART_BRIEF; part <= PART_WHOLE; part++) {
            struct lg__delivery_config config = { .options.target = targets[i], .endpoint = "https://reports.example/v1/logs" };
            struct request request;
            char why[LG__REPORT_ERROR_BYTES] = "";
            bool is_sentry = targets[i] == LG_TARGET_SENTRY;
            if (is_sentry)
                damage_dsn(config.endpoint, sizeof config.endpoint);
            bool made = target_request(&config, &credentials, letter, part, &request, why);
            REQUIRE(made || why[0]);
            REQUIRE(!strstr(why, "planted"));
            REQUIRE(made || is_sentry);
            if (made && is_sentry)
                require_address(request.url);
            else if (made && targets[i] == LG_TARGET_MINIDUMP)
                require_form(&request);
            else if (made)
                require_json(request.body, request.bytes, part == PART_WHOLE ? SIZE_MAX : LG__REPORT_FULL_MAX);
            request_free(&request);
        }
}

/* Export as `launchguard-agent` does. */
static void export_all(const struct letter *letter)
{
    struct request sentry = { .headers = NULL }, otlp = { .headers = NULL };
    char why[LG__REPORT_ERROR_BYTES];
    REQUIRE(sentry_body(letter, PART_WHOLE, &sentry, why));
    REQUIRE(otlp_body(letter, PART_WHOLE, &otlp, why));
    require_json(otlp.body, otlp.bytes, SIZE_MAX);
    request_free(&sentry);
    request_free(&otlp);
}

static void report(lg_reader *reader, const lg_run_info *run)
{
    struct facts facts = { .launching = true, .context = "main", .task = "open", .streak = 1, .made_ns = UINT64_MAX, .ended_ns = UINT64_MAX };
    struct letter letter = { .via = "agent" };
    size_t brief_bytes = 0, full_bytes = 0;
    memcpy(facts.uuid, run->uuid, sizeof facts.uuid);
    memcpy(facts.run_uuid, run->uuid, sizeof facts.run_uuid);
    memset(facts.fingerprint, '0', sizeof facts.fingerprint - 1);
    if (lg_reader_verdict(reader, &facts.verdict) != LG_OK)
        return;
    char *brief = compose_brief(reader, &facts, &brief_bytes), *full = compose_full(reader, &facts, &full_bytes);
    REQUIRE(brief && full);
    require_json(brief, brief_bytes, LG__REPORT_BRIEF_MAX);
    require_json(full, full_bytes, LG__REPORT_FULL_MAX);
    state = lg__crc32c(0, full, full_bytes) | 1; /* the same file, the same DSNs */
    letter.brief = brief;
    letter.full = full;
    letter.header.brief_bytes = (uint32_t)brief_bytes;
    letter.header.full_bytes = (uint32_t)full_bytes;
    request_all(&letter);
    export_all(&letter);
    dump(reader, &facts, &letter);
    free(brief);
    free(full);
}

/* The C library keeps its time zone for good. */
__attribute__((constructor)) static void read_time_zone(void)
{
    tzset();
}

int exercise(const char *path)
{
    lg_reader *reader;
    lg_run_info run;
    if (lg_reader_open(path, &reader) != LG_OK)
        return 0;
    if (lg_reader_run(reader, &run) == LG_OK)
        report(reader, &run);
    lg_reader_close(reader);
    return 1;
}
