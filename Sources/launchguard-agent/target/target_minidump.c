/* A minidump in a form (RFC 7578), as it is sent to the servers of Breakpad and Crashpad:
 * - the file is the part "upload_file_minidump" (Crashpad, handler/crash_report_upload_thread.cc;
 *   Breakpad, tools/linux/symupload/minidump_upload.cc; Sentry's relay-server,
 *   endpoints/minidump.rs; Socorro, docs/spec_crashreport.rst);
 * - "prod" and "ver" are Breakpad's and Crashpad's names of program and version, "guid" is that of
 *   an installation, "ptype" the kind of process; "ProductName", "Version" and "BuildID" are
 *   Socorro's;
 * - the annotations of the minidump are fields (Crashpad, minidump_to_upload_parameters.cc);
 * - Sentry takes the identity of the event from "sentry[event_id]", and further members of the
 *   event in that form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "target/brief_dump.h"
#include "target/brief_json.h"
#include "target/dump_fields.h"
#include "target/sentry_event.h"
#include "target/target.h"

#define FILE_NAME "upload_file_minidump"
#define BOUNDARY_BYTES 80u
#define BOUNDARY_TRIES 1000u

/* A form while it is made. */
struct form {
    FILE *out;
    json_t *seen; /* names of fields: the first of a name counts */
    const char *boundary;
};

/* Quotation marks and the ends of lines in a name are escaped as RFC 7578, section 2, says. */
static void write_name(FILE *out, const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c < ' ' || c == '"' || c == 0x7F)
            fprintf(out, "%%%02X", c);
        else
            fputc(c, out);
    }
}

static void add(struct form *form, const char *name, size_t name_bytes, const char *value, size_t bytes)
{
    char key[256];
    snprintf(key, sizeof key, "%.*s", (int)(name_bytes < sizeof key ? name_bytes : sizeof key - 1), name);
    if (!name_bytes || strcmp(key, FILE_NAME) == 0 || json_object_get(form->seen, key))
        return;
    json_object_set_new(form->seen, key, json_true());
    fprintf(form->out, "--%s\r\nContent-Disposition: form-data; name=\"", form->boundary);
    write_name(form->out, name, name_bytes);
    fputs("\"\r\n\r\n", form->out);
    fwrite(value, 1, bytes, form->out);
    fputs("\r\n", form->out);
}

static void add_text(struct form *form, const char *name, const char *value)
{
    if (value[0])
        add(form, name, strlen(name), value, strlen(value));
}

static void add_number(struct form *form, const char *name, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    add_text(form, name, text);
}

/* Sentry's release, in the form that it takes. */
static void add_release(struct form *form, const json_t *report)
{
    json_t *event = json_object();
    char release[512];
    snprintf(release, sizeof release, "%s@%s", brief_text(report, "appID"), brief_text(report, "appVersion"));
    sentry_event_put(event, "release", release, "/\\", SENTRY_TEXT_MAX);
    if (brief_text(report, "appVersion")[0])
        add_text(form, "sentry[release]", brief_text(event, "release"));
    json_decref(event);
}

static void add_standard(struct form *form, const json_t *report, const struct letter *letter)
{
    uint8_t bytes[16];
    char text[37];
    const char *machine = brief_text(json_object_get(report, "system"), "machineID");
    add_text(form, "prod", brief_text(report, "appID"));
    add_text(form, "ver", brief_text(report, "appVersion"));
    add_text(form, "ProductName", brief_text(report, "appID"));
    add_text(form, "Version", brief_text(report, "appVersion"));
    add_text(form, "BuildID", brief_text(report, "buildID"));
    if (lg__os_uuid(machine, bytes) && strlen(machine) >= 32) {
        request_uuid(bytes, text);
        add_text(form, "guid", text);
    }
    request_hex(letter->header.uuid, sizeof letter->header.uuid, text);
    add_text(form, "sentry[event_id]", text);
    add_release(form, report);
}

static void add_facts(struct form *form, const json_t *report, const struct letter *letter)
{
    for (size_t i = 0; brief_texts[i][0]; i++)
        add_text(form, brief_texts[i][0], brief_text(report, brief_texts[i][1]));
    for (size_t i = 0; brief_numbers[i][0]; i++)
        if (json_object_get(report, brief_numbers[i][1]))
            add_number(form, brief_numbers[i][0], (uint64_t)json_integer_value(json_object_get(report, brief_numbers[i][1])));
    add_text(form, "launchguard.launching", json_is_true(json_object_get(report, "launching")) ? "1" : "0");
    if (letter->header.more)
        add_number(form, "launchguard.more", letter->header.more);
    add_text(form, "ptype", "main");
}

static bool write_form(const struct letter *letter, const json_t *report, const char *dump, size_t bytes, const char *boundary, struct request *request)
{
    struct form form = { .out = open_memstream(&request->body, &request->bytes), .seen = json_object(), .boundary = boundary };
    const char *key, *value;
    size_t index = 0, key_bytes, value_bytes;
    char uuid[37];
    if (!form.out || !form.seen) {
        json_decref(form.seen);
        return form.out && fclose(form.out) != 0;
    }
    add_standard(&form, report, letter);
    while (dump_fields_next(dump, bytes, &index, &key, &key_bytes, &value, &value_bytes))
        add(&form, key, key_bytes, value, value_bytes);
    add_facts(&form, report, letter);
    request_uuid(letter->header.uuid, uuid);
    fprintf(form.out, "--%s\r\nContent-Disposition: form-data; name=\"" FILE_NAME "\"; filename=\"%s.dmp\"\r\nContent-Type: application/octet-stream\r\n\r\n",
            boundary, uuid);
    fwrite(dump, 1, bytes, form.out);
    fprintf(form.out, "\r\n--%s--\r\n", boundary);
    json_decref(form.seen);
    const bool whole = !ferror(form.out);
    return fclose(form.out) == 0 && whole;
}

/* A boundary that stands nowhere in the report, whatever the program wrote. */
static bool find_boundary(const struct letter *letter, const char *dump, size_t bytes, char ret_boundary[BOUNDARY_BYTES])
{
    char uuid[37];
    request_uuid(letter->header.uuid, uuid);
    for (unsigned i = 0; i < BOUNDARY_TRIES; i++) {
        snprintf(ret_boundary, BOUNDARY_BYTES, "launchguard-%s-%u", uuid, i);
        if (!memmem(dump, bytes, ret_boundary, strlen(ret_boundary)) && !memmem(letter->brief, letter->header.brief_bytes, ret_boundary, strlen(ret_boundary)))
            return true;
    }
    return false;
}

bool minidump_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    struct lg__endpoint parts;
    struct lg__dump_part small = { .bytes = NULL };
    char boundary[BOUNDARY_BYTES];
    if (!request_endpoint(LG_TARGET_MINIDUMP, endpoint, &parts, ret_why))
        return false;
    if (snprintf(request->url, sizeof request->url, "%s", endpoint) >= (int)sizeof request->url)
        return request_refuse(ret_why, "the endpoint is too long");
    json_t *report = brief_read(letter);
    if (!report)
        return request_refuse(ret_why, "the first part of the report is no JSON object");
    const bool is_whole = part != PART_BRIEF && letter->header.flags & LG__REPORT_DUMP;
    bool made = is_whole || brief_dump(report, &small);
    const char *dump = is_whole ? letter->full : (const char *)small.bytes;
    const size_t bytes = is_whole ? letter->header.full_bytes : small.size;
    made = made && find_boundary(letter, dump, bytes, boundary) && write_form(letter, report, dump, bytes, boundary, request) &&
           request_add_header(&request->headers, "Content-Type: multipart/form-data; boundary=%s", boundary);
    lg__dump_part_free(&small);
    json_decref(report);
    return made || request_refuse(ret_why, "no memory");
}
