#include "store/delivery_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/end.h"

#define FIRST_LINE "launchguard-delivery 1"

static const char *const targets[] = { "", "http", "sentry", "otlp" };
#define TARGETS 4u

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

static bool is_line(const char *value)
{
    return !strpbrk(value, "\r\n");
}

size_t lg__delivery_config_format(const struct lg__delivery_config *config, char *buffer, size_t room)
{
    char list[256] = "";
    for (size_t i = 0; i < ENDS; i++)
        if (config->ends & ends[i].bit) {
            strcat(list, list[0] ? "," : "");
            strcat(list, ends[i].name);
        }
    if (config->target >= TARGETS || !is_line(config->endpoint) || !is_line(config->credential_file) || !is_line(config->ca_file))
        return 0;
    int size = snprintf(buffer, room,
                        FIRST_LINE "\ntarget=%s\nendpoint=%s\ncredential_file=%s\nca_file=%s\nends=%s\nkeep_reports=%" PRIu32
                                   "\nkeep_bytes=%" PRIu64 "\ndaily_bytes=%" PRIu64 "\nbrief=%d\nkeep_home=%d\n",
                        targets[config->target], config->endpoint, config->credential_file, config->ca_file, list,
                        config->keep_reports, config->keep_bytes, config->daily_bytes, config->brief, config->keep_home);
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

static bool take_number(const char *value, size_t size, uint64_t least, uint64_t most, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (!size || size > 19)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(value[i] - '0');
    }
    if (number < least || number > most)
        return false;
    *ret_number = number;
    return true;
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
    uint64_t number;
    if (IS("target")) {
        for (uint32_t i = 1; i < TARGETS; i++)
            if (is(value, size, targets[i]))
                config->target = (lg_delivery_target)i;
        return config->target != 0;
    }
    if (IS("endpoint"))
        return take_text(value, size, config->endpoint, sizeof config->endpoint);
    if (IS("credential_file"))
        return take_text(value, size, config->credential_file, sizeof config->credential_file);
    if (IS("ca_file"))
        return take_text(value, size, config->ca_file, sizeof config->ca_file);
    if (IS("ends"))
        return take_ends(value, size, &config->ends);
    if (IS("keep_reports")) {
        if (!take_number(value, size, 1, 4096, &number))
            return false;
        config->keep_reports = (uint32_t)number;
    } else if (IS("keep_bytes")) {
        if (!take_number(value, size, 65536, UINT64_MAX, &number))
            return false;
        config->keep_bytes = number;
    } else if (IS("daily_bytes")) {
        if (!take_number(value, size, 8192, INT64_MAX, &number))
            return false;
        config->daily_bytes = number;
    } else if (IS("brief") || IS("keep_home")) {
        if (!take_number(value, size, 0, 1, &number))
            return false;
        *(IS("brief") ? &config->brief : &config->keep_home) = number != 0;
    }
    return true;
#undef IS
}

bool lg__delivery_config_parse(const char *text, struct lg__delivery_config *ret_config, char ret_wrong[128])
{
    struct lg__delivery_config config = { .keep_reports = 64, .keep_bytes = UINT64_C(16) << 20, .daily_bytes = UINT64_C(64) << 20 };
    const char *line = text;
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
    if (!config.target) {
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
