/* Values in the full part that need its facts. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/full.h"
#include "report/redact.h"

bool full_has(struct full *full, lg_status status, const char *part)
{
    char name[96];
    if (status == LG_OK || status == LG_ERR_NOT_FOUND || (status == LG_ERR_INCOMPLETE && full->is_complete))
        return status == LG_OK;
    snprintf(name, sizeof name, "%s%s", full->prefix, part);
    json_t *problem = json_object();
    put(problem, "part", json_string(name));
    put(problem, "code", json_string(lg_status_name(status)));
    put(problem, "message", json_string(lg_status_message(status)));
    bool known = json_array_size(full->problems) >= 256;
    for (size_t i = 0; i < json_array_size(full->problems); i++)
        known |= json_equal(json_array_get(full->problems, i), problem);
    if (!known)
        json_array_append(full->problems, problem);
    json_decref(problem);
    return false;
}

json_t *full_text(const struct full *full, const char *bytes, size_t size)
{
    char *copy = full->facts->keep_home ? NULL : malloc(size + 1);
    if (!copy)
        return full->facts->keep_home ? words_text(bytes, size) : NULL;
    memcpy(copy, bytes, size);
    json_t *text = words_text(copy, redact_text(copy, size));
    free(copy);
    return text;
}

json_t *full_path(const struct full *full, const char *path)
{
    char buffer[PATH_MAX];
    return words_string(full->facts->keep_home ? path : redact_home(path, buffer, sizeof buffer));
}

json_t *full_signal(int number)
{
    char buffer[SIGNAL_NAME_BYTES];
    json_t *object = json_object();
    put(object, "number", json_integer(number));
    put(object, "name", json_string(signal_name(number, buffer)));
    return object;
}

json_t *full_time(const struct full *full, uint64_t monotonic_ns)
{
    const uint64_t start = full->run.wall_ns, begin = full->run.monotonic_ns;
    bool fits = monotonic_ns >= begin ? monotonic_ns - begin <= UINT64_MAX - start : begin - monotonic_ns <= start;
    return start && fits ? words_time(start + (monotonic_ns - begin)) : NULL;
}

json_t *full_kind(lg_crash_kind kind)
{
    const char *name = lg_crash_kind_name(kind);
    char text[32];
    snprintf(text, sizeof text, "kind %u", (unsigned)kind);
    return json_string(strcmp(name, "invalid") == 0 ? text : name);
}
