#include "hint/document.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The largest number of seconds whose nanoseconds are a number of 64 bits with a sign. */
#define SECONDS_MAX (INT64_MAX / 1000000000)

/* The members that say what to do; each hint has one of them. */
static const struct {
    const char *name, *words;
    bool has_name; /* else its value is true */
} acts[] = {
    [LG_HINT_WITHDRAWN] = { "withdraw", "nothing any more", false },
    [LG_HINT_LEAVE_OUT] = { "leave_out", "leave out the task", true },
    [LG_HINT_REPAIR] = { "repair", "run the repair", true },
    [LG_HINT_SAFE_MODE] = { "safe_mode", "safe mode", false },
    [LG_HINT_HOLD_BELOW] = { "hold_below", "hold below the version", true },
};
#define ACTS (sizeof acts / sizeof acts[0])

/* Not empty, and nothing that a terminal would take for more than text. */
static bool take_text(const json_t *value, char *to, size_t room)
{
    const char *text = json_string_value(value);
    const size_t size = text ? json_string_length(value) : 0;
    if (size == 0 || size >= room)
        return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    memcpy(to, text, size + 1);
    return true;
}

static bool take_number(const json_t *value, json_int_t most, json_int_t *ret_number)
{
    *ret_number = json_integer_value(value);
    return json_is_integer(value) && *ret_number >= 1 && *ret_number <= most;
}

/* `given`: a bit for each act that was found. */
static bool take_act(const char *key, const json_t *value, lg_hint *said, unsigned *given)
{
    for (unsigned i = 0; i < ACTS; i++) {
        if (strcmp(key, acts[i].name) != 0)
            continue;
        said->kind = (lg_hint_kind)i;
        *given |= 1u << i;
        return acts[i].has_name ? take_text(value, said->name, sizeof said->name) : json_is_true(value);
    }
    return false;
}

static bool take(const char *key, const json_t *value, struct hint_document *document, unsigned *given)
{
    json_int_t number;
    if (strcmp(key, "app") == 0)
        return take_text(value, document->app, sizeof document->app);
    if (strcmp(key, "device") == 0)
        return take_text(value, document->device, sizeof document->device) && strlen(document->device) == 32;
    if (strcmp(key, "context") == 0)
        return take_text(value, document->said.context, sizeof document->said.context);
    if (strcmp(key, "serial") == 0) {
        const bool is_right = take_number(value, UINT32_MAX, &number);
        document->said.serial = (uint32_t)number;
        return is_right;
    }
    if (strcmp(key, "expires") == 0) {
        const bool is_right = take_number(value, SECONDS_MAX, &number);
        document->said.expires_ns = is_right ? (uint64_t)number * 1000000000u : 0;
        return is_right;
    }
    return take_act(key, value, &document->said, given);
}

const char *document_parse(const char *text, size_t size, struct hint_document *ret_document)
{
    struct hint_document document;
    unsigned given = 0;
    const char *key;
    json_t *value, *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    bool is_right = json_is_object(object);
    memset(&document, 0, sizeof document); /* its bytes are stored */
    strcpy(document.said.context, "main");
    json_object_foreach(object, key, value)
        is_right = is_right && take(key, value, &document, &given);
    json_decref(object);
    if (!is_right)
        return "it is no JSON object, or has a member that is not known, is there twice, or has a wrong value";
    if (!document.app[0] || !document.said.serial || !document.said.expires_ns)
        return "it lacks app, serial or expires";
    if (given == 0 || (given & (given - 1)) != 0)
        return "it must have one of leave_out, repair, safe_mode, hold_below and withdraw";
    *ret_document = document;
    return NULL;
}

void document_words(const lg_hint *said, char *ret_words, size_t room)
{
    snprintf(ret_words, room, "%s%s%s%s of launch \"%s\"", acts[said->kind].words, said->name[0] ? " \"" : "", said->name, said->name[0] ? "\"" : "",
             said->context);
}
