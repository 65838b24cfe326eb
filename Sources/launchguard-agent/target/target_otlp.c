/* OTLP/HTTP: log records in JSON, made of both parts or of the brief one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_words.h"
#include "target/brief_json.h"
#include "target/otlp_fill.h"
#include "target/otlp_values.h"
#include "target/target.h"

#define SEVERITY_INFO 9
#define SEVERITY_FATAL 21
#define TRACE_LINE_BYTES 384

static json_t *resource(const json_t *report)
{
    const json_t *system = json_object_get(report, "system");
    json_t *object = json_object(), *attributes = json_array();
    const char *hardware = brief_text(system, "hardware");
    otlp_values_add_text(attributes, "service.name", brief_text(report, "appID"));
    otlp_values_add_text(attributes, "service.version", brief_text(report, "appVersion"));
    otlp_values_add_text(attributes, "service.instance.id", brief_text(report, "runUUID"));
    otlp_values_add_text(attributes, "host.id", brief_text(system, "machineID"));
    otlp_values_add_text(attributes, "host.arch", strcmp(hardware, "x86_64") == 0 ? "amd64" : strcmp(hardware, "aarch64") == 0 ? "arm64" : hardware);
    otlp_values_add_text(attributes, "device.model.name", brief_text(system, "model"));
    otlp_values_add_text(attributes, "os.type", "linux");
    otlp_values_add_text(attributes, "os.name", brief_text(system, "distribution"));
    otlp_values_add_text(attributes, "os.version", brief_text(system, "distributionVersion"));
    otlp_values_add_text(attributes, "os.build_id", brief_text(system, "kernel"));
    put(object, "attributes", attributes);
    return object;
}

/* ---- the record ---- */

/* One line a frame, innermost first. NULL: there is none. */
static char *stack_trace(const json_t *report)
{
    const json_t *frames = json_object_get(report, "frames");
    size_t count = json_array_size(frames), used = 0;
    char *text = count ? malloc(count * TRACE_LINE_BYTES + 1) : NULL;
    for (size_t i = 0; text && i < count; i++) {
        const json_t *frame = json_array_get(frames, i);
        const char *module = brief_text(frame, "module");
        int length = module[0] ? snprintf(text + used, TRACE_LINE_BYTES, "#%zu %s %.255s+%s\n", i, brief_text(frame, "address"), module, brief_text(frame, "offset"))
                               : snprintf(text + used, TRACE_LINE_BYTES, "#%zu %s\n", i, brief_text(frame, "address"));
        used += length < 0 ? 0 : length < TRACE_LINE_BYTES ? (size_t)length : TRACE_LINE_BYTES - 1;
    }
    return text;
}

static json_t *attributes_json(const json_t *report, uint64_t more)
{
    json_t *attributes = json_array();
    char *trace = stack_trace(report);
    otlp_values_add_text(attributes, "log.record.uid", brief_text(report, "uuid"));
    otlp_values_add_text(attributes, "exception.type", brief_type(report));
    otlp_values_add_text(attributes, "exception.message", brief_value(report));
    otlp_values_add_text(attributes, "exception.stacktrace", trace ? trace : "");
    free(trace);
    for (size_t i = 0; brief_texts[i][0]; i++)
        otlp_values_add_text(attributes, brief_texts[i][0], brief_text(report, brief_texts[i][1]));
    for (size_t i = 0; brief_numbers[i][0]; i++) {
        const json_t *value = json_object_get(report, brief_numbers[i][1]);
        if (value)
            otlp_values_add_number(attributes, brief_numbers[i][0], (uint64_t)json_integer_value(value));
    }
    if (more)
        otlp_values_add_number(attributes, "launchguard.more", more);
    otlp_values_add(attributes, "launchguard.launching", "boolValue", json_boolean(json_is_true(json_object_get(report, "launching"))));
    return attributes;
}

static json_t *record(const json_t *report, const struct letter *letter)
{
    json_t *object = json_object(), *body = json_object();
    char headline[1024];
    uint64_t ended = otlp_values_time(brief_text(report, "ended"));
    put(object, "timeUnixNano", otlp_values_number(ended ? ended : letter->header.made_ns));
    put(object, "observedTimeUnixNano", otlp_values_number(letter->header.made_ns));
    bool failed = brief_is_failure(report);
    put(object, "severityNumber", json_integer(failed ? SEVERITY_FATAL : SEVERITY_INFO));
    put(object, "severityText", json_string(failed ? "FATAL" : "INFO"));
    put(object, "eventName", json_string("app.crash"));
    snprintf(headline, sizeof headline, "%.200s: %.800s", brief_type(report), brief_value(report));
    put(body, "stringValue", words_text(headline, strlen(headline)));
    put(object, "body", body);
    put(object, "attributes", attributes_json(report, letter->header.more));
    return object;
}

static json_t *list_of(json_t *value)
{
    json_t *list = json_array();
    json_array_append_new(list, value);
    return list;
}

bool otlp_body(const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    json_t *report = brief_read(letter);
    json_t *full = part == PART_WHOLE ? json_loadb(letter->full, letter->header.full_bytes, JSON_ALLOW_NUL, NULL) : NULL;
    if (!report)
        return request_refuse(ret_why, "the first part of the report is no JSON object");
    json_t *logs = json_object(), *resource_logs = json_object(), *scope_logs = json_object(), *scope = json_object();
    json_t *end = record(report, letter), *records = list_of(end);
    if (full)
        otlp_fill(records, end, report, full);
    put(scope, "name", json_string("launchguard"));
    put(scope, "version", json_string(LG_VERSION_STRING));
    put(scope_logs, "scope", scope);
    put(scope_logs, "logRecords", records);
    put(resource_logs, "resource", resource(report));
    put(resource_logs, "scopeLogs", list_of(scope_logs));
    put(logs, "resourceLogs", list_of(resource_logs));
    request->body = json_dumps(logs, JSON_COMPACT);
    request->bytes = request->body ? strlen(request->body) : 0;
    json_decref(logs);
    json_decref(full);
    json_decref(report);
    return request->body || request_refuse(ret_why, "no memory");
}

bool otlp_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    struct lg__endpoint parts;
    if (!request_endpoint(LG_TARGET_OTLP, endpoint, &parts, ret_why))
        return false;
    if (snprintf(request->url, sizeof request->url, "%s", endpoint) >= (int)sizeof request->url)
        return request_refuse(ret_why, "the endpoint is too long");
    if (!otlp_body(letter, part, request, ret_why))
        return false;
    return request_add_header(&request->headers, "Content-Type: application/json") || request_refuse(ret_why, "no memory");
}
