/* The full part: the output of `launchguard inspect --json --no-symbols`, with these differences.
 * - Left out: what does not leave, by the table of fields.
 * - `path` is empty, and `report` holds the brief part's fields about the report itself, with the
 *   fingerprint.
 * - Home directories are "~". Only the newest 200 breadcrumbs are there.
 * - A number above INT64_MAX is left out; only a damaged file has one.
 * - Frames have the functions that the files of their modules tell. */
#include <stdlib.h>
#include <string.h>

#include "launchguard/report.h"
#include "report/compose.h"
#include "report/json_words.h"
#include "report/symbols.h"
#include "store/format_report.h"

#define BREADCRUMBS_MAX 200u
#define FRAMES_MAX 20000u /* a damaged file names no more */

/* The member "report", without the braces around it; NULL without memory. */
static char *report_member(lg_reader *reader, const struct facts *facts)
{
    const struct privacy privacy = { lg__secrets_read(reader, NULL), facts->keep_home };
    if (!privacy.secrets)
        return NULL;
    json_t *whole = json_object(), *object = json_object();
    put(object, "uuid", json_string(facts->uuid));
    put(object, "fingerprint", json_string(facts->fingerprint));
    put(object, "made", words_time(facts->made_ns));
    put(object, "launching", json_boolean(facts->launching));
    put(object, "context", words_private(&privacy, facts->context));
    put(object, "task", words_private(&privacy, facts->task));
    put(object, "streak", words_nonzero(facts->streak));
    put(object, "reason", facts->reason ? words_private(&privacy, facts->reason) : NULL);
    put(whole, "report", object);
    lg__secrets_free(privacy.secrets);
    char *text = json_dumps(whole, JSON_COMPACT);
    json_decref(whole);
    if (!text)
        return NULL;
    size_t length = strlen(text);
    memmove(text, text + 1, length - 2);
    text[length - 2] = 0;
    return text;
}

/* The text while it is made. */
struct text {
    char *bytes; /* LG__REPORT_FULL_MAX and a NUL */
    size_t size;
};

static int take(const char *bytes, size_t size, void *user)
{
    struct text *text = user;
    if (size > LG__REPORT_FULL_MAX - text->size)
        return 1;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
    return 0;
}

/* Leave out the next thing. Returns whether there was one. */
static bool shrink(lg_report_options *options)
{
    static const uint32_t parts[] = { LG_REPORT_BREADCRUMBS, LG_REPORT_SNAPSHOTS, LG_REPORT_OTHER_CRASHES, LG_REPORT_ANNOTATIONS,
                                      LG_REPORT_GUARD_SITES, LG_REPORT_MODULES, LG_REPORT_THREADS, LG_REPORT_CRASH };
    if (options->breadcrumbs > 1 && !(options->left_out & LG_REPORT_BREADCRUMBS)) {
        options->breadcrumbs /= 2;
        return true;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!(options->left_out & parts[i])) {
            options->left_out |= parts[i];
            return true;
        }
    return false;
}

/* The same with the functions of its frames, of malloc(). NULL: it would be too long, or there is
 * no memory. */
static char *with_functions(lg_reader *reader, const struct text *text)
{
    json_t *full = json_loadb(text->bytes, text->size, JSON_ALLOW_NUL, NULL);
    symbols_add(reader, full);
    char *named = full ? json_dumps(full, JSON_COMPACT) : NULL;
    json_decref(full);
    if (named && strlen(named) <= LG__REPORT_FULL_MAX)
        return named;
    free(named);
    return NULL;
}

char *compose_full(lg_reader *reader, const struct facts *facts, size_t *ret_bytes)
{
    char *member = report_member(reader, facts);
    struct text text = { .bytes = malloc(LG__REPORT_FULL_MAX + 1) };
    lg_report_options options = LG_REPORT_OPTIONS_INIT;
    options.left_out = LG_REPORT_FINGERPRINT;
    options.for_sending = 1;
    options.keep_home = facts->keep_home;
    options.breadcrumbs = BREADCRUMBS_MAX;
    options.frames = FRAMES_MAX;
    options.verdict = &facts->verdict;
    options.members = member;
    bool made = false;
    while (member && text.bytes && !made) {
        text.size = 0;
        made = lg_reader_report(reader, &options, take, &text) == LG_OK;
        if (!made && !shrink(&options))
            break;
    }
    free(member);
    if (!made) {
        free(text.bytes);
        return NULL;
    }
    char *named = with_functions(reader, &text);
    if (named) {
        free(text.bytes);
        *ret_bytes = strlen(named);
        return named;
    }
    *ret_bytes = text.size;
    return realloc(text.bytes, text.size + 1);
}
