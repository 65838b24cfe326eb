#include "store/delivery_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/end.h"
#include "store/format_report.h"
#include "store/given.h"

#define FIRST_LINE "launchguard-delivery 1"

static const char *const targets[] = { "", "http", "sentry", "otlp", "minidump" };
#define TARGETS 5u

/* The bits of `ends`, in words. */
static const struct {
    const char *name;
    uint32_t bit;
} ends[] = {
#define END(identifier, value, name) { name, UINT32_C(1) << (value) },
    LG_END_TABLE(END)
#undef END
    { "unknown-in-launch", LG_DELIVERY_UNKNOWN_IN_LAUNCH },
};
#define ENDS (sizeof ends / sizeof ends[0])

/* Not one that has words, or a file of its own. */
static bool is_number(const struct lg__given_field *field)
{
    return !field->values;
}

static bool is_line(const char *value)
{
    return !strpbrk(value, "\r\n");
}

size_t lg__delivery_config_format(const struct lg__delivery_config *config, char *buffer, size_t room)
{
    char list[256] = "";
    for (size_t i = 0; i < ENDS; i++)
        if (config->options.ends & ends[i].bit) {
            strcat(list, list[0] ? "," : "");
            strcat(list, ends[i].name);
        }
    if (config->options.target >= TARGETS || !is_line(config->endpoint) || !is_line(config->credential_file) || !is_line(config->ca_file) || !is_line(config->hint_key))
        return 0;
    int size = snprintf(buffer, room, FIRST_LINE "\ntarget=%s\nendpoint=%s\ncredential_file=%s\nca_file=%s\nhint_key=%s\nends=%s\n", targets[config->options.target],
                        config->endpoint, config->credential_file, config->ca_file, config->hint_key, list);
    for (uint32_t i = 0; i < lg__given_delivery_options.count && size > 0 && (size_t)size < room; i++) {
        const struct lg__given_field *field = &lg__given_delivery_options.fields[i];
        if (is_number(field))
            size += snprintf(buffer + size, room - (size_t)size, "%s=%" PRIu64 "\n", field->name, lg__given_number(field, &config->options));
    }
    return size > 0 && (size_t)size < room ? (size_t)size : 0;
}

/* ---- parsing ---- */

static bool take_text(const char *value, size_t size, char *ret_text, size_t room)
{
    if (size >= room || memchr(value, 0, size))
        return false;
    memcpy(ret_text, value, size);
    ret_text[size] = 0;
    return true;
}

static bool take_number(const char *value, size_t size, const struct lg__given_field *field, struct lg__delivery_config *config)
{
    uint64_t number = 0;
    if (!size || size > 19)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(value[i] - '0');
    }
    return lg__given_set(field, &config->options, number);
}

static bool is(const char *text, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

static bool take_ends(const char *value, size_t size, uint32_t *ret_ends)
{
    uint32_t bits = 0;
    for (const char *end = value + size; value < end;) {
        const char *comma = memchr(value, ',', (size_t)(end - value)), *stop = comma ? comma : end;
        for (size_t i = 0; i < ENDS; i++)
            if (is(value, (size_t)(stop - value), ends[i].name))
                bits |= ends[i].bit; /* a later version may have more */
        value = stop + 1;
    }
    *ret_ends = bits;
    return true;
}

static bool take(const char *key, size_t key_size, const char *value, size_t size, struct lg__delivery_config *config)
{
#define IS(name) is(key, key_size, name)
    if (IS("target")) {
        for (uint32_t i = 1; i < TARGETS; i++)
            if (is(value, size, targets[i]))
                config->options.target = (lg_delivery_target)i;
        return config->options.target != 0;
    }
    if (IS("endpoint"))
        return take_text(value, size, config->endpoint, sizeof config->endpoint);
    if (IS("credential_file"))
        return take_text(value, size, config->credential_file, sizeof config->credential_file);
    if (IS("ca_file"))
        return take_text(value, size, config->ca_file, sizeof config->ca_file);
    if (IS("hint_key"))
        return take_text(value, size, config->hint_key, sizeof config->hint_key);
    if (IS("ends"))
        return take_ends(value, size, &config->options.ends);
    const struct lg__given_field *field = lg__given_find(&lg__given_delivery_options, key, key_size);
    return !field || !is_number(field) || take_number(value, size, field, config);
#undef IS
}

bool lg__delivery_config_parse(const char *text, struct lg__delivery_config *ret_config, char ret_wrong[128])
{
    struct lg__delivery_config config = { .options = LG_DELIVERY_OPTIONS_INIT };
    const char *line = text;
    for (uint32_t i = 0; i < lg__given_delivery_options.count; i++)
        if (is_number(&lg__given_delivery_options.fields[i]))
            lg__given_set(&lg__given_delivery_options.fields[i], &config.options, lg__given_delivery_options.fields[i].normal);
    if (strncmp(text, FIRST_LINE "\n", sizeof FIRST_LINE) != 0) {
        snprintf(ret_wrong, 128, "its first line is not \"" FIRST_LINE "\": another version wrote it");
        return false;
    }
    for (int number = 1; *line; number++) {
        const char *stop = strchrnul(line, '\n'), *equals = memchr(line, '=', (size_t)(stop - line));
        if (number > 1 && equals && !take(line, (size_t)(equals - line), equals + 1, (size_t)(stop - equals - 1), &config)) {
            snprintf(ret_wrong, 128, "line %d has a wrong value for \"%.*s\"", number, (int)(equals - line < 40 ? equals - line : 40), line);
            return false;
        }
        line = *stop ? stop + 1 : stop;
    }
    if (!config.options.target) {
        snprintf(ret_wrong, 128, "it names no target");
        return false;
    }
    *ret_config = config;
    return true;
}

bool lg__delivery_config_wants(uint32_t wanted, lg_end end, bool launching)
{
    return (uint32_t)end < 31 && (wanted & UINT32_C(1) << end || (end == LG_END_UNKNOWN && launching && wanted & LG_DELIVERY_UNKNOWN_IN_LAUNCH));
}

bool lg__delivery_config_is_whole(lg_delivery_target target)
{
    return target != LG_TARGET_HTTP;
}

bool lg__delivery_config_first_next(lg_delivery_target target, uint32_t flags)
{
    return lg__delivery_config_is_whole(target) ? flags & LG__REPORT_FULL_SENT : !(flags & LG__REPORT_BRIEF_SENT);
}
