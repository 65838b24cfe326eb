/* Requests, DSNs and home directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those */
#include <cmocka.h>
#include <jansson.h>

#include "policy/slice.h"
#include "report/compose.h"
#include "report/json_words.h"
#include "report/demangle.h"
#include "report/dump_streams.h"
#include "report/home.h"
#include "target/dump_fields.h"
#include "target/target.h"

static const char brief[] = "{\"schema\":\"launchguard-report/1\",\"uuid\":\"01020304-0506-0708-090a-0b0c0d0e0f10\",\"end\":\"crash\","
                            "\"signal\":\"SIGSEGV\",\"fingerprint\":\"00\",\"appID\":\"org.example\",\"appVersion\":\"1\\n/\\\\2\","
                            "\"frames\":[{\"module\":\"a\",\"buildID\":\"000102030405060708090a0b0c0d0e0f10111213\",\"offset\":\"0x10\","
                            "\"address\":\"0x1010\"},{\"address\":\"0xffffffffffffffff\"}]}";
static const char full[] = "{\"schema\":1}";

static struct letter letter_of(const char *text)
{
    struct letter letter = { .brief = text, .full = full, .via = "agent" };
    for (uint8_t i = 0; i < 16; i++)
        letter.header.uuid[i] = (uint8_t)(i + 1);
    letter.header.attempts = 3;
    letter.header.ordinal = 12;
    letter.header.more = 4;
    letter.header.brief_bytes = (uint32_t)strlen(text);
    letter.header.full_bytes = sizeof full - 1;
    return letter;
}

static char why[LG__REPORT_ERROR_BYTES];

static bool ask(lg_delivery_target target, const char *endpoint, const char *text, enum part part, struct request *request)
{
    struct lg__delivery_config config = { .options.target = target };
    struct credentials credentials = { .headers = NULL };
    struct letter letter = letter_of(text);
    snprintf(config.endpoint, sizeof config.endpoint, "%s", endpoint);
    memset(why, 0, sizeof why);
    return target_request(&config, &credentials, &letter, part, request, why);
}

static void assert_header(const struct request *request, const char *line)
{
    for (const struct curl_slist *one = request->headers; one; one = one->next)
        if (strcmp(one->data, line) == 0)
            return;
    fail_msg("there is no header \"%s\"", line);
}

static void test_plain_requests(void **state)
{
    struct request request;
    (void)state;
    assert_true(ask(LG_TARGET_HTTP, "https://reports.example:8443/a?b=c", brief, PART_BRIEF, &request));
    assert_string_equal(request.url, "https://reports.example:8443/a?b=c");
    assert_int_equal(request.bytes, sizeof brief - 1);
    assert_memory_equal(request.body, brief, sizeof brief - 1);
    assert_header(&request, "Idempotency-Key: 01020304-0506-0708-090a-0b0c0d0e0f10");
    assert_header(&request, "X-LaunchGuard-Part: brief");
    assert_header(&request, "X-LaunchGuard-Attempt: 3");
    assert_header(&request, "X-LaunchGuard-Ordinal: 12");
    assert_header(&request, "X-LaunchGuard-More: 4");
    assert_header(&request, "Content-Type: application/json");
    request_free(&request);
    assert_true(ask(LG_TARGET_HTTP, "http://reports.example", brief, PART_FULL, &request));
    assert_string_equal(request.body, full);
    assert_header(&request, "Idempotency-Key: 01020304-0506-0708-090a-0b0c0d0e0f10/full");
    assert_header(&request, "X-LaunchGuard-Part: full");
    request_free(&request);
}

static char *second_part(uint32_t bytes)
{
    char *text = malloc(bytes);
    for (uint32_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + i % 23);
    return text;
}

/* A plain server gets each byte of a long second part once, in requests that say where they
 * belong. */
static void test_slices(void **state)
{
    static const char *const headers[][2] = {
        { "Content-Range: bytes 0-131071/262145", "Idempotency-Key: 01020304-0506-0708-090a-0b0c0d0e0f10/full/0" },
        { "Content-Range: bytes 131072-262143/262145", "Idempotency-Key: 01020304-0506-0708-090a-0b0c0d0e0f10/full/131072" },
        { "Content-Range: bytes 262144-262144/262145", "Idempotency-Key: 01020304-0506-0708-090a-0b0c0d0e0f10/full/262144" },
    };
    const uint32_t size = 2 * SLICE_BYTES + 1;
    struct letter letter = letter_of(brief);
    struct lg__delivery_config config = { .options.target = LG_TARGET_HTTP, .endpoint = "https://a.example" };
    struct credentials credentials = { .headers = NULL };
    char *text = second_part(size);
    (void)state;
    letter.full = text;
    letter.header.full_bytes = size;
    for (size_t i = 0; i < 3; i++) {
        struct request request;
        assert_true(target_request(&config, &credentials, &letter, PART_FULL, &request, why));
        assert_header(&request, headers[i][0]);
        assert_header(&request, headers[i][1]);
        assert_int_equal(request.bytes, target_second_bytes(LG_TARGET_HTTP, &letter.header));
        assert_memory_equal(request.body, text + letter.header.full_taken, request.bytes);
        request_free(&request);
        assert_int_equal(slice_take(&letter.header), i == 2);
    }
    assert_int_equal(letter.header.full_taken, size);
    assert_int_equal(target_second_bytes(LG_TARGET_SENTRY, &letter.header), size);
    free(text);
}

static void test_refused_addresses(void **state)
{
    static const char *const endpoints[] = { "", "ftp://a", "https://", "https:///x", "https://:80/", "a.example", "https://user:planted@a.example/",
                                             "https://a.example/\r\nX: y", "https://a b/", "https://a:/", "https://a:0/", "https://a:65536/", "https://a:1x/",
                                             "https://a:8:8/", "https://[::1/", "https://[]/", "https://[1:2]/", "https://[:::1]/",
                                             "https://[::1]]/", "https://[g::1]/", "https://[::1]x/", "https://a%20b/", "https://a;b/" };
    struct request request;
    (void)state;
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        assert_false(ask(LG_TARGET_HTTP, endpoints[i], brief, PART_BRIEF, &request));
        assert_true(why[0]);
        assert_null(strstr(why, "planted"));
        request_free(&request);
        assert_false(ask(LG_TARGET_OTLP, endpoints[i], brief, PART_BRIEF, &request));
        request_free(&request);
        assert_false(ask(LG_TARGET_MINIDUMP, endpoints[i], brief, PART_BRIEF, &request));
        request_free(&request);
    }
}

/* What the rule lets pass is an address for libcurl, too. */
static void test_good_addresses(void **state)
{
    static const char *const endpoints[] = { "https://a.example", "http://a_b-c.example:65535/x?y=z&%20#f", "https://[::1]:1/", "https://127.0.0.1/\xc3\xbc",
                                             "https://[::ffff:1.2.3.4]", "https://xn--bcher-kva.example./", "http://a?b" };
    struct request request;
    (void)state;
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        CURLU *parts = curl_url();
        assert_true(ask(LG_TARGET_HTTP, endpoints[i], brief, PART_BRIEF, &request));
        assert_string_equal(request.url, endpoints[i]);
        assert_int_equal(curl_url_set(parts, CURLUPART_URL, request.url, 0), CURLUE_OK);
        curl_url_cleanup(parts);
        request_free(&request);
    }
}

static void test_dsns(void **state)
{
    static const char *const good[][2] = {
        { "https://abc@o1.ingest.example/42", "https://o1.ingest.example/api/42/envelope/" },
        { "http://abc:secret@localhost:9000/7", "http://localhost:9000/api/7/envelope/" },
        { "https://abc@a.example/deep/er/42", "https://a.example/deep/er/api/42/envelope/" },
        { "https://abc@[::1]:9000/1", "https://[::1]:9000/api/1/envelope/" },
    };
    static const char *const bad[] = {
        "planted", "https://planted", "https://planted@", "https://planted@host", "https://planted@host/", "https://@host/1", "https://:planted@host/1",
        "ftp://planted@host/1", "https://host/planted@1", "://planted@host/1", "htt://planted@host/1", "https://planted@:80/1", "https://planted@host/1?x",
        "https://planted@host/a b/1", "https://planted key@host/1", "https://planted@ho\nst/1", "https://planted@host/\xFF",
        "https://planted@host/project", "https://planted@host/1-2", "https://planted@host:99999/1", "https://planted@host:x/1", "https://planted@ho]st/1",
        "https://planted@planted@host/1",
    };
    struct request request;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(ask(LG_TARGET_SENTRY, good[i][0], brief, PART_BRIEF, &request));
        assert_string_equal(request.url, good[i][1]);
        assert_header(&request, "X-Sentry-Auth: Sentry sentry_version=7, sentry_client=" AGENT_NAME ", sentry_key=abc");
        assert_null(strstr(request.body, "abc"));
        assert_null(strstr(request.body, "secret"));
        request_free(&request);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (ask(LG_TARGET_SENTRY, bad[i], brief, PART_BRIEF, &request))
            fail_msg("%s passes", bad[i]);
        assert_true(why[0]);
        assert_null(strstr(why, "planted"));
        request_free(&request);
    }
    char dsn[LG_ENDPOINT_MAX + 1] = "https://k@h/";
    memset(dsn + 12, 'p', sizeof dsn - 13);
    memcpy(dsn + sizeof dsn - 3, "/1", 3);
    assert_true(ask(LG_TARGET_SENTRY, dsn, brief, PART_BRIEF, &request));
    request_free(&request);
}

/* The payload of the first item of an envelope, of which a brief one has no other. */
static json_t *event_of(const struct request *request)
{
    const char *header = strchr(request->body, '\n') + 1, *payload = strchr(header, '\n') + 1;
    json_t *item = json_loads(header, JSON_DISABLE_EOF_CHECK, NULL);
    size_t length = (size_t)json_integer_value(json_object_get(item, "length"));
    assert_true(payload + length + 1 <= request->body + request->bytes);
    json_decref(item);
    json_t *event = json_loadb(payload, length, 0, NULL);
    assert_non_null(event);
    return event;
}

static void test_a_module_at_a_fixed_address(void **state)
{
    static const char fixed[] = "{\"schema\":\"launchguard-report/1\",\"uuid\":\"01020304-0506-0708-090a-0b0c0d0e0f10\",\"end\":\"crash\",\"frames\":["
                                "{\"module\":\"a\",\"buildID\":\"00\",\"offset\":\"0x401010\",\"address\":\"0x401010\",\"start\":\"0x400000\"}]}";
    struct request request;
    (void)state;
    assert_true(ask(LG_TARGET_SENTRY, "https://abc@a.example/42", fixed, PART_BRIEF, &request));
    json_t *event = event_of(&request), *image = json_array_get(json_object_get(json_object_get(event, "debug_meta"), "images"), 0);
    assert_string_equal(json_string_value(json_object_get(image, "image_addr")), "0x400000");
    json_decref(event);
    request_free(&request);
}

static void test_an_event(void **state)
{
    struct request request;
    (void)state;
    assert_true(ask(LG_TARGET_SENTRY, "https://abc@a.example/42", brief, PART_BRIEF, &request));
    json_t *event = event_of(&request);
    json_t *images = json_object_get(json_object_get(event, "debug_meta"), "images"), *image = json_array_get(images, 0);
    assert_int_equal(json_array_size(images), 1);
    assert_string_equal(json_string_value(json_object_get(image, "debug_id")), "03020100-0504-0706-0809-0a0b0c0d0e0f");
    assert_string_equal(json_string_value(json_object_get(image, "image_addr")), "0x1000");
    assert_string_equal(json_string_value(json_object_get(event, "release")), "org.example@1___2");
    json_t *exception = json_array_get(json_object_get(json_object_get(event, "exception"), "values"), 0);
    json_t *frames = json_object_get(json_object_get(exception, "stacktrace"), "frames");
    json_t *context = json_object_get(json_object_get(event, "contexts"), "launchguard");
    assert_int_equal(json_integer_value(json_object_get(context, "more")), 4);
    /* outermost first */
    assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 0), "instruction_addr")), "0xffffffffffffffff");
    assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 1), "instruction_addr")), "0x1010");
    json_decref(event);
    request_free(&request);
}

static void test_a_log_record(void **state)
{
    struct request request;
    (void)state;
    assert_true(ask(LG_TARGET_OTLP, "https://a.example/v1/logs", brief, PART_BRIEF, &request));
    assert_non_null(strstr(request.body, "{\"key\":\"launchguard.more\",\"value\":{\"intValue\":\"4\"}}"));
    request_free(&request);
}

/* An event has no part without the fields that Sentry requires of it: a stack has a frame, an image
 * a file, a tag a text, and no release is too long. */
static void test_an_event_as_sentry_requires_it(void **state)
{
    static const char full_part[] =
        "{\"crash\":{\"threads\":[{\"threadID\":7,\"registers\":[{\"name\":\"rip\",\"value\":\"0x10\"}]},"
        "{\"threadID\":8,\"registers\":[{\"name\":\"rip\",\"value\":\"0x10\"}],\"stack\":{\"frames\":[]}},"
        "{\"threadID\":9,\"stack\":{\"frames\":[{\"lookup\":\"0x1010\"}]}}]},"
        "\"modules\":[{\"buildID\":\"0001\",\"start\":\"0x1000\",\"end\":\"0x2000\"}],"
        "\"annotations\":[{\"key\":\"blank\",\"value\":\" \\u00a0\\u3000\"},{\"key\":\"word\",\"value\":\" \\u3001 \"}]}";
    char text[1024] = "{\"schema\":\"launchguard-report/1\",\"end\":\"crash\",\"kind\":\"trap\",\"context\":\" \",\"appVersion\":\"1\",\"appID\":\"x";
    struct request request = { .headers = NULL };
    (void)state;
    for (int i = 0; i < 100; i++)
        strcat(text, "\u3042");
    strcat(text, "\"}");
    struct letter letter = letter_of(text);
    letter.full = full_part;
    letter.header.full_bytes = sizeof full_part - 1;
    assert_true(sentry_body(&letter, PART_WHOLE, &request, why));
    json_t *event = event_of(&request), *threads = json_object_get(json_object_get(event, "threads"), "values");
    assert_int_equal(json_array_size(threads), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *trace = json_object_get(json_array_get(threads, i), "stacktrace");
        assert_int_equal(json_array_size(json_object_get(trace, "frames")), i == 2);
        assert_int_equal(trace != NULL, i == 2);
    }
    const json_t *image = json_array_get(json_object_get(json_object_get(event, "debug_meta"), "images"), 0);
    assert_string_equal(json_string_value(json_object_get(image, "code_file")), "");
    const json_t *tags = json_object_get(event, "tags");
    assert_null(json_object_get(tags, "context"));
    assert_null(json_object_get(tags, "blank"));
    assert_non_null(json_object_get(tags, "word"));
    /* whole characters of at most 200 bytes */
    assert_int_equal(json_string_length(json_object_get(event, "release")), 199);
    json_decref(event);
    request_free(&request);
}

#define MODULES 8000

/* Where a program has more modules than an event has room for, those of the frames stay. */
static void test_an_event_with_many_modules(void **state)
{
    struct letter letter = letter_of("{\"schema\":\"launchguard-report/1\",\"end\":\"crash\",\"kind\":\"fault.null_read\",\"frames\":[{\"address\":\"0x3010\"}]}");
    struct request request = { .headers = NULL };
    char *text;
    size_t size;
    FILE *full_part = open_memstream(&text, &size);
    (void)state;
    fprintf(full_part, "{\"crash\":{\"dwarfStack\":{\"frames\":[{\"lookup\":\"0x3010\"},{\"lookup\":\"0x5020\"}]}},\"modules\":[");
    for (unsigned i = 1; i <= MODULES; i++)
        fprintf(full_part, "%s{\"path\":\"/opt/of/a/player/with/plugins/%u.so\",\"buildID\":\"%040x\",\"start\":\"0x%x\",\"end\":\"0x%x\"}", i > 1 ? "," : "", i, i,
                0x1000 * i, 0x1000 * (i + 1));
    fprintf(full_part, "]}");
    assert_int_equal(fclose(full_part), 0);
    letter.full = text;
    letter.header.full_bytes = (uint32_t)size;
    assert_true(sentry_body(&letter, PART_WHOLE, &request, why));
    const char *header = strchr(request.body, '\n') + 1, *payload = strchr(header, '\n') + 1;
    json_t *item = json_loads(header, JSON_DISABLE_EOF_CHECK, NULL);
    size_t length = (size_t)json_integer_value(json_object_get(item, "length"));
    assert_true(length < 1000000);
    json_t *event = json_loadb(payload, length, 0, NULL), *images = json_object_get(json_object_get(event, "debug_meta"), "images");
    assert_int_equal(json_array_size(images), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(images, 0), "image_addr")), "0x3000");
    assert_string_equal(json_string_value(json_object_get(json_array_get(images, 1), "image_addr")), "0x5000");
    json_decref(event);
    json_decref(item);
    request_free(&request);
    free(text);
}

/* ---- minidumps ---- */

/* A minidump with these annotations, of malloc(). */
static struct lg__dump_part dump_of(const struct lg__dump_annotation *annotations, size_t count)
{
    struct lg__dump_file file;
    lg__dump_file_begin(&file);
    lg__dump_streams_annotations(&file, annotations, count, "");
    assert_true(lg__dump_file_finish(&file, 1));
    return file.part;
}

static size_t count_of(const struct request *request, const char *text)
{
    size_t count = 0;
    for (const char *at = request->body, *stop = at + request->bytes; (at = memmem(at, (size_t)(stop - at), text, strlen(text))); at++)
        count++;
    return count;
}

/* Whatever the program calls its annotations, and has in them, the form is one. */
static void test_a_form(void **state)
{
    static const struct lg__dump_annotation annotations[] = {
        { { "screen", 6 }, { "settings", 8 } }, { { "prod", 4 }, { "mine", 4 } }, { { "upload_file_minidump", 20 }, { "x", 1 } }, { { "a\"\r\n%", 5 }, { "1", 1 } },
        { { "screen", 6 }, { "again", 5 } }, { { "b", 1 }, { "--launchguard-01020304-0506-0708-090a-0b0c0d0e0f10-0--\r\n", 56 } }, { { "", 0 }, { "x", 1 } },
    };
    struct lg__dump_part dump = dump_of(annotations, sizeof annotations / sizeof annotations[0]);
    struct letter letter = letter_of(brief);
    struct lg__delivery_config config = { .options.target = LG_TARGET_MINIDUMP, .endpoint = "https://a.example/post?key=1" };
    const struct credentials credentials = { .headers = NULL };
    struct request request;
    (void)state;
    letter.full = (const char *)dump.bytes;
    letter.header.full_bytes = (uint32_t)dump.size;
    letter.header.flags = LG__REPORT_DUMP;
    assert_true(target_request(&config, &credentials, &letter, PART_WHOLE, &request, why));
    assert_string_equal(request.url, "https://a.example/post?key=1");
    assert_header(&request, "Content-Type: multipart/form-data; boundary=launchguard-01020304-0506-0708-090a-0b0c0d0e0f10-1");
    assert_header(&request, "X-LaunchGuard-Part: whole");
    assert_int_equal(count_of(&request, "name=\"prod\"\r\n\r\norg.example\r\n"), 1);
    assert_int_equal(count_of(&request, "name=\"prod\""), 1);
    assert_int_equal(count_of(&request, "name=\"screen\"\r\n\r\nsettings\r\n"), 1);
    assert_int_equal(count_of(&request, "name=\"screen\""), 1);
    assert_int_equal(count_of(&request, "name=\"upload_file_minidump\""), 1);
    assert_int_equal(count_of(&request, "filename=\"01020304-0506-0708-090a-0b0c0d0e0f10.dmp\""), 1);
    assert_int_equal(count_of(&request, "name=\"a%22%0D%0A%\""), 1);
    assert_int_equal(count_of(&request, "name=\"launchguard.more\"\r\n\r\n4\r\n"), 1);
    assert_int_equal(count_of(&request, "name=\"sentry[release]\"\r\n\r\norg.example@1___2\r\n"), 1);
    assert_non_null(memmem(request.body, request.bytes, dump.bytes, dump.size));
    request_free(&request);
    lg__dump_part_free(&dump);
    /* a second part that was made for another kind of server: the first one alone */
    assert_false(target_takes_second(LG_TARGET_HTTP, LG__REPORT_DUMP));
    assert_false(target_takes_second(LG_TARGET_MINIDUMP, 0));
    assert_true(target_takes_second(LG_TARGET_OTLP, LG__REPORT_LEFT));
    assert_true(target_takes_second(LG_TARGET_MINIDUMP, LG__REPORT_DUMP));
}

/* Whatever is in the second part, nothing beyond it is read. */
static void test_annotations_of_a_damaged_minidump(void **state)
{
    static const struct lg__dump_annotation annotations[] = { { { "screen", 6 }, { "settings", 8 } }, { { "b", 1 }, { "c", 1 } } };
    struct lg__dump_part dump = dump_of(annotations, 2);
    const char *key, *value;
    size_t key_bytes, value_bytes, index = 0, found = 0;
    (void)state;
    while (dump_fields_next((const char *)dump.bytes, dump.size, &index, &key, &key_bytes, &value, &value_bytes))
        found++;
    assert_int_equal(found, 2);
    for (size_t size = 0; size <= dump.size; size++) {
        char *cut = malloc(size ? size : 1); /* exactly so long, for sanitizers */
        memcpy(cut, dump.bytes, size);
        for (index = 0; dump_fields_next(cut, size, &index, &key, &key_bytes, &value, &value_bytes);)
            assert_true(key >= cut && key + key_bytes <= cut + size && value >= cut && value + value_bytes <= cut + size);
        free(cut);
    }
    for (size_t at = 0; at < dump.size; at++)
        for (unsigned flip = 1; flip < 256; flip = flip * 2 + 1) {
            dump.bytes[at] ^= (uint8_t)flip;
            for (index = found = 0; found < 1000 && dump_fields_next((const char *)dump.bytes, dump.size, &index, &key, &key_bytes, &value, &value_bytes); found++)
                assert_true((const uint8_t *)key + key_bytes <= dump.bytes + dump.size && (const uint8_t *)value + value_bytes <= dump.bytes + dump.size);
            dump.bytes[at] ^= (uint8_t)flip;
        }
    lg__dump_part_free(&dump);
}

static void test_answers_to_a_minidump(void **state)
{
    static const struct {
        const char *body;
        enum reply reply;
    } rows[] = {
        { "", REPLY_TAKEN }, { "CrashID=bp-d101d046-638f-42e0-902d-bd245c200115\n", REPLY_TAKEN }, { "5f0c6e3d1a2b4c5d8e9f00112233aabb", REPLY_TAKEN },
        { "{\"response\":\"ok\"}", REPLY_TAKEN }, { "Discarded=rule_has_hangid_and_browser", REPLY_REFUSED }, { "<html>Welcome</html>", REPLY_FOREIGN },
        { " \r\n\t<!DOCTYPE html>", REPLY_FOREIGN },
    };
    char page[2000];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(target_reply(LG_TARGET_MINIDUMP, rows[i].body, strlen(rows[i].body), why), rows[i].reply);
    memset(page, 'x', sizeof page);
    assert_int_equal(target_reply(LG_TARGET_MINIDUMP, page, sizeof page, why), REPLY_FOREIGN);
    assert_int_equal(target_reply(LG_TARGET_MINIDUMP, "a\0b", 3, why), REPLY_FOREIGN);
}

static void test_what_is_no_report(void **state)
{
    static const char *const texts[] = { "", "x", "[]", "{", "{}", "{\"frames\":7,\"system\":[],\"thread\":\"\",\"streak\":-1}" };
    struct request request;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bool is_object = texts[i][0] == '{' && texts[i][1];
        assert_int_equal(ask(LG_TARGET_SENTRY, "https://abc@a.example/42", texts[i], PART_BRIEF, &request), is_object);
        request_free(&request);
        assert_int_equal(ask(LG_TARGET_OTLP, "https://a.example/v1/logs", texts[i], PART_BRIEF, &request), is_object);
        request_free(&request);
        assert_int_equal(ask(LG_TARGET_MINIDUMP, "https://a.example/post", texts[i], PART_BRIEF, &request), is_object);
        request_free(&request);
    }
}

/* A server that takes all in one gets the first part alone where it has refused that. */
static void test_parts(void **state)
{
    const uint32_t first = LG__REPORT_BRIEF_SENT, second = LG__REPORT_FULL_SENT;
    (void)state;
    assert_int_equal(target_part(LG_TARGET_HTTP, 0), PART_BRIEF);
    assert_int_equal(target_part(LG_TARGET_HTTP, first), PART_FULL);
    for (lg_delivery_target target = LG_TARGET_SENTRY; target <= LG_TARGET_MINIDUMP; target++) {
        assert_int_equal(target_part(target, 0), PART_WHOLE);
        assert_int_equal(target_part(target, second), PART_BRIEF);
    }
    assert_int_equal(target_flags(PART_BRIEF), first);
    assert_int_equal(target_flags(PART_FULL), second);
    assert_int_equal(target_flags(PART_WHOLE), first | second);
}

static void test_types(void **state)
{
    static const char *const types[][2] = {
        { "St13runtime_error", "std::runtime_error" }, { "N4game5ErrorE", "game::Error" }, { "5Error", "Error" }, { "NSt10filesystem7__cxx1116filesystem_errorE", "std::filesystem::__cxx11::filesystem_error" },
        { "N12_GLOBAL__N_15ErrorE", "(anonymous namespace)::Error" }, { "St", NULL }, { "", NULL }, { "N", NULL }, { "NE", NULL }, { "9Error", NULL }, { "5Errors", NULL },
        { "N5Error", NULL }, { "St12out_of_rangex", NULL }, { "N1aIiE", NULL }, { "i", "int" }, { "5ErrorIPKcE", "Error<char const*>" }, { "99999999999999999999a", NULL }, { "0", NULL },
        { "40a_name_that_is_longer_than_there_is_a_room", NULL },
    };
    char name[45];
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_int_equal(demangle_type(types[i][0], name, types[i][1] ? sizeof name : 20), types[i][1] != NULL);
        if (types[i][1])
            assert_string_equal(name, types[i][1]);
    }
}

static void test_home_directories(void **state)
{
    static const char *const paths[][2] = {
        { "/home/ann/a", "~/a" }, { "/home/ann", "~" }, { "/home//ann/a", "~/a" }, { "/var/home/ann/a", "~/a" }, { "/root/a", "~/a" }, { "/root", "~" },
        { "/home/ann b/a", "~/a" }, { "/opt/own/a", "~/a" }, { "/rootfs/a", "/rootfs/a" }, { "/home", "/home" }, { "/home/", "/home/" },
        { "/opt/owner/a", "/opt/owner/a" }, { "/usr/home/a", "/usr/home/a" }, { "", "" }, { "home/ann", "home/ann" },
        { "/run/user/1000/bus", "~/bus" }, { "/run/media/ann/disk/a", "~/disk/a" }, { "/media/ann/disk/home/bob", "~" }, { "/mnt/ann", "~" },
        { "/mnt/disk/home/ann/a", "~/a" }, { "/mnt/home/ann/a", "~/a" }, { "/mnt/home", "~" }, { "/run/lock/a", "/run/lock/a" }, { "/mnt", "/mnt" },
    };
    static const char *const texts[][2] = {
        { "/home/ann/a and /home/ann/b", "~/a and ~/b" }, { "open(\"/home/ann/a\")", "open(\"~/a\")" }, { "file:///home/ann/a", "file://~/a" },
        { "PATH=/usr/bin:/home/ann/bin", "PATH=/usr/bin:~/bin" }, { "-I/home/ann/a -L/root/b", "-I~/a -L~/b" }, { "/home/ann: no such file", "~: no such file" },
        { "open /media/ann/a, /mnt/ann", "open ~/a, ~" }, { "x/root", "x/root" }, { "", "" }, { "/", "/" }, { "/home/ann/home/bob", "~/home/bob" },
    };
    char buffer[256];
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_string_equal(lg_path_without_home(paths[i][0], buffer, sizeof buffer), paths[i][1]);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        snprintf(buffer, sizeof buffer, "%s", texts[i][0]);
        buffer[lg__home_hide(buffer, strlen(buffer))] = 0;
        assert_string_equal(buffer, texts[i][1]);
    }
}

static void test_bytes_that_are_not_utf8(void **state)
{
    static const char *const texts[][2] = {
        { "Gr\xC3\xBC\xC3\x9F""e", "Gr\xC3\xBC\xC3\x9F""e" }, { "\xFF", "\xEF\xBF\xBD" }, { "a\xC3", "a\xEF\xBF\xBD" },
        { "\xE2\x82z", "\xEF\xBF\xBDz" }, { "\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD" }, { "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80" }, { "\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *text = words_text(texts[i][0], strlen(texts[i][0]));
        assert_string_equal(json_string_value(text), texts[i][1]);
        json_decref(text);
    }
}

int main(void)
{
    setenv("HOME", "/opt/own/", 1);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_requests),
        cmocka_unit_test(test_slices), cmocka_unit_test(test_refused_addresses), cmocka_unit_test(test_good_addresses),
        cmocka_unit_test(test_dsns), cmocka_unit_test(test_an_event), cmocka_unit_test(test_a_module_at_a_fixed_address),
        cmocka_unit_test(test_an_event_as_sentry_requires_it),
        cmocka_unit_test(test_an_event_with_many_modules), cmocka_unit_test(test_a_log_record),
        cmocka_unit_test(test_a_form),
        cmocka_unit_test(test_annotations_of_a_damaged_minidump),
        cmocka_unit_test(test_answers_to_a_minidump),
        cmocka_unit_test(test_what_is_no_report), cmocka_unit_test(test_parts), cmocka_unit_test(test_types), cmocka_unit_test(test_home_directories), cmocka_unit_test(test_bytes_that_are_not_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
