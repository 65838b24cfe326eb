#include "target/sentry_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/json_words.h"
#include "target/brief_json.h"

/* The identifier of Sentry's symbol server: the first 16 bytes of the build id as a GUID, whose
 * first three fields are little-endian. */
static json_t *debug_id(const char *build_id)
{
    static const int order[] = { 3, 2, 1, 0, -1, 5, 4, -1, 7, 6, -1, 8, 9, -1, 10, 11, 12, 13, 14, 15 };
    size_t bytes = strlen(build_id) / 2, used = 0;
    char text[37];
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (order[i] < 0) {
            text[used++] = '-';
            continue;
        }
        bool has = (size_t)order[i] < bytes;
        text[used++] = has ? build_id[2 * order[i]] : '0';
        text[used++] = has ? build_id[2 * order[i] + 1] : '0';
    }
    return json_stringn(text, used);
}

json_t *sentry_event_image(const char *path, const char *build_id, const char *start)
{
    json_t *image = json_object();
    put(image, "type", json_string("elf"));
    put(image, "code_file", json_string(path)); /* Sentry wants one, and takes an empty one */
    put(image, "code_id", json_string(build_id));
    put(image, "debug_id", debug_id(build_id));
    put(image, "image_addr", json_string(start));
    return image;
}

static void add_image(json_t *images, const json_t *frame, const char *base)
{
    json_t *image;
    size_t index;
    const char *build_id = brief_text(frame, "buildID");
    if (!build_id[0])
        return;
    json_array_foreach(images, index, image)
        if (strcmp(brief_text(image, "image_addr"), base) == 0)
            return;
    json_array_append_new(images, sentry_event_image(brief_text(frame, "module"), build_id, base));
}

/* Outermost first. NULL: there is none. */
static json_t *stack_trace(const json_t *report, json_t *images)
{
    const json_t *from = json_object_get(report, "frames");
    json_t *frames = json_array();
    for (size_t i = json_array_size(from); i-- > 0;) {
        const json_t *frame = json_array_get(from, i);
        json_t *to = json_object();
        put(to, "instruction_addr", words_short_address(brief_address(frame, "address")));
        if (brief_text(frame, "module")[0]) {
            const uint64_t start = brief_address(frame, "start");
            json_t *base = words_short_address(start ? start : brief_address(frame, "address") - brief_address(frame, "offset"));
            brief_copy(to, "package", frame, "module");
            add_image(images, frame, json_string_value(base) ? json_string_value(base) : "");
            put(to, "image_addr", base);
        }
        json_array_append_new(frames, to);
    }
    if (!json_array_size(frames)) {
        json_decref(frames);
        return NULL;
    }
    json_t *trace = json_object();
    put(trace, "frames", frames);
    /* the addresses are those of the calls, not the return addresses after them */
    put(trace, "instruction_addr_adjustment", json_string("none"));
    return trace;
}

static json_t *mechanism(const json_t *report)
{
    json_t *object = json_object();
    bool is_signal = brief_text(report, "signal")[0];
    put(object, "type", json_string(is_signal ? "signalhandler" : brief_text(report, "end")));
    put(object, "handled", json_false());
    if (is_signal) {
        json_t *meta = json_object(), *signal = json_object();
        brief_copy(signal, "number", report, "signalNumber");
        brief_copy(signal, "code", report, "signalCode");
        brief_copy(signal, "name", report, "signal");
        brief_copy(signal, "code_name", report, "signalCodeName");
        put(meta, "signal", signal);
        put(object, "meta", meta);
    }
    if (brief_text(report, "faultAddress")[0]) {
        json_t *data = json_object();
        brief_copy(data, "relevant_address", report, "faultAddress");
        put(object, "data", data);
    }
    return object;
}

static json_t *values(json_t *value)
{
    json_t *object = json_object(), *list = json_array();
    json_array_append_new(list, value);
    put(object, "values", list);
    return object;
}

bool sentry_event_is_blank(const char *text)
{
    static const char *const blanks[] = {
        " ", "\t", "\n", "\v", "\f", "\r", "\xC2\x85", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005",
        "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
    };
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
        if (strncmp(text, blanks[i], strlen(blanks[i])) == 0)
            text += strlen(blanks[i]), i = (size_t)-1;
    return !text[0];
}

void sentry_event_put(json_t *object, const char *key, const char *text, const char *forbidden, size_t most)
{
    char plain[SENTRY_TEXT_MAX + 1];
    size_t size = strnlen(text, most + 1);
    if (size > most) /* whole characters */
        for (size = most; size > 0 && (text[size] & 0xC0) == 0x80; size--) {}
    for (size_t i = 0; i < size; i++)
        plain[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7F || strchr(forbidden, text[i]) ? '_' : text[i];
    put(object, key, sentry_event_is_blank(text) ? NULL : words_text(plain, size));
}

static json_t *tags(const json_t *report)
{
    static const char *const texts[] = { "end", "kind", "context", "task" };
    json_t *object = json_object();
    char streak[24];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        sentry_event_put(object, texts[i], brief_text(report, texts[i]), "", SENTRY_TEXT_MAX);
    json_int_t count = json_integer_value(json_object_get(report, "streak"));
    snprintf(streak, sizeof streak, "%" JSON_INTEGER_FORMAT, count);
    brief_put(object, "streak", count ? streak : "");
    brief_put(object, "launchguard.fingerprint", brief_text(report, "fingerprint"));
    put(object, "launching", json_string(json_is_true(json_object_get(report, "launching")) ? "yes" : "no"));
    return object;
}

static json_t *contexts(const json_t *report, uint64_t more)
{
    const json_t *system = json_object_get(report, "system");
    json_t *object = json_object(), *os = json_object(), *device = json_object(), *launch = json_object();
    static const char *const own[] = { "end", "evidence", "streak", "context", "task", "launching", "runUUID", "ordinal", "reason" };
    put(os, "type", json_string("os"));
    put(os, "name", json_string("Linux"));
    brief_copy(os, "version", system, "kernel");
    brief_copy(os, "distribution_name", system, "distribution");
    brief_copy(os, "distribution_version", system, "distributionVersion");
    put(device, "type", json_string("device"));
    brief_copy(device, "arch", system, "hardware");
    brief_copy(device, "model", system, "model");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        brief_copy(launch, own[i], report, own[i]);
    if (more)
        put(launch, "more", json_integer((json_int_t)more));
    put(object, "os", os);
    put(object, "device", device);
    put(object, "launchguard", launch);
    return object;
}

void sentry_event_put_release(json_t *object, const json_t *report)
{
    char release[512];
    if (!brief_text(report, "appVersion")[0])
        return;
    snprintf(release, sizeof release, "%s@%s", brief_text(report, "appID"), brief_text(report, "appVersion"));
    sentry_event_put(object, "release", release, "/\\", SENTRY_TEXT_MAX);
}

json_t *sentry_event(const json_t *report, const char *event_id, uint64_t more)
{
    json_t *event = json_object(), *exception = json_object(), *images = json_array();
    const json_t *thread = json_object_get(report, "thread"), *system = json_object_get(report, "system");
    put(event, "event_id", json_string(event_id));
    brief_copy(event, "timestamp", report, json_object_get(report, "ended") ? "ended" : "made");
    put(event, "platform", json_string("native"));
    put(event, "level", json_string(brief_is_failure(report) ? "fatal" : "info"));
    put(event, "logger", json_string("launchguard"));
    put(exception, "type", json_string(brief_type(report)));
    put(exception, "value", json_string(brief_value(report)));
    put(exception, "mechanism", mechanism(report));
    put(exception, "stacktrace", stack_trace(report, images));
    if (thread) {
        json_t *crashed = json_object();
        brief_copy(exception, "thread_id", thread, "id");
        brief_copy(crashed, "id", thread, "id");
        brief_copy(crashed, "name", thread, "name");
        put(crashed, "crashed", json_true());
        put(crashed, "current", json_true());
        put(event, "threads", values(crashed));
    }
    put(event, "exception", values(exception));
    json_t *debug_meta = json_object();
    put(debug_meta, "images", images);
    put(event, "debug_meta", debug_meta);
    sentry_event_put_release(event, report);
    brief_put(event, "dist", json_object_get(event, "release") ? brief_text(report, "buildID") : "");
    put(event, "tags", tags(report));
    put(event, "contexts", contexts(report, more));
    if (brief_text(system, "machineID")[0]) {
        json_t *user = json_object();
        brief_copy(user, "id", system, "machineID");
        put(event, "user", user);
    }
    return event;
}
