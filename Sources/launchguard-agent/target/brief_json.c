#include "target/brief_json.h"

#include <stdlib.h>
#include <string.h>

json_t *brief_read(const struct letter *letter)
{
    json_t *report = json_loadb(letter->brief, letter->header.brief_bytes, JSON_ALLOW_NUL, NULL);
    if (json_is_object(report))
        return report;
    json_decref(report);
    return NULL;
}

const char *brief_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void brief_put(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, json_string(text));
}

void brief_copy(json_t *to, const char *key, const json_t *from, const char *name)
{
    json_t *value = json_object_get(from, name);
    if (value)
        json_object_set(to, key, value);
}

const char *const brief_texts[][2] = {
    { "launchguard.end", "end" }, { "launchguard.evidence", "evidence" }, { "launchguard.kind", "kind" },
    { "launchguard.signal", "signal" }, { "launchguard.fingerprint", "fingerprint" }, { "launchguard.context", "context" },
    { "launchguard.task", "task" }, { "launchguard.run", "runUUID" }, { "launchguard.reason", "reason" },
    { "launchguard.build_id", "buildID" }, { "launchguard.fault_address", "faultAddress" }, { NULL, NULL },
};
const char *const brief_numbers[][2] = { { "launchguard.streak", "streak" }, { "launchguard.ordinal", "ordinal" }, { NULL, NULL } };

static const char *first_of(const json_t *report, const char *const *keys)
{
    while (*keys && !brief_text(report, *keys)[0])
        keys++;
    return *keys ? brief_text(report, *keys) : "";
}

const char *brief_type(const json_t *report)
{
    static const char *const keys[] = { "exception", "signal", "end", NULL };
    return first_of(report, keys);
}

const char *brief_value(const json_t *report)
{
    static const char *const keys[] = { "reason", "message", "what", "kind", "evidence", NULL };
    return first_of(report, keys);
}

bool brief_is_failure(const json_t *report)
{
    static const char *const quiet[] = { "clean", "terminated", "upgrade", "reboot", "debugger" };
    bool is_quiet = false;
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
        is_quiet |= strcmp(brief_text(report, "end"), quiet[i]) == 0;
    return !is_quiet;
}

uint64_t brief_address(const json_t *object, const char *key)
{
    return strtoull(brief_text(object, key), NULL, 16);
}
