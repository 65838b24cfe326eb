#include "target/full_json.h"

#include <stdlib.h>
#include <string.h>

#include "target/brief_json.h"

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

const json_t *full_json_moment(const json_t *full, const json_t *brief)
{
    const json_t *snapshot, *newest = NULL;
    size_t index;
    bool is_hang = strcmp(brief_text(brief, "end"), "hang") == 0;
    if (brief_text(brief, "kind")[0])
        return json_object_get(full, "crash");
    json_array_foreach(json_object_get(full, "snapshots"), index, snapshot) {
        bool is_of_hang = strcmp(brief_text(snapshot, "kind"), "hang") == 0;
        if (json_object_get(snapshot, "resolvedNanoseconds") || (is_hang && !is_of_hang))
            continue;
        if (!newest || integer(snapshot, "takenNanoseconds") > integer(newest, "takenNanoseconds"))
            newest = snapshot;
    }
    return newest;
}

/* ---- the thread of the brief part ---- */

static const json_t *own_thread(const json_t *moment, const json_t *brief)
{
    const json_t *thread, *named = json_object_get(brief, "thread");
    size_t index;
    if (!named)
        return NULL;
    json_array_foreach(json_object_get(moment, "threads"), index, thread)
        if (integer(thread, "threadID") == integer(named, "id"))
            return thread;
    return NULL;
}

static bool begins_with(const json_t *frames, const json_t *begin)
{
    if (json_array_size(begin) == 0 || json_array_size(frames) < json_array_size(begin))
        return false;
    for (size_t i = 0; i < json_array_size(begin); i++)
        if (brief_address(json_array_get(frames, i), "lookup") != brief_address(json_array_get(begin, i), "address"))
            return false;
    return true;
}

const json_t *full_json_frames(const json_t *moment, const json_t *brief)
{
    const json_t *begin = json_object_get(brief, "frames"), *thread = own_thread(moment, brief);
    const json_t *walks[] = { json_object_get(moment, "dwarfStack"), json_object_get(moment, "framePointerStack"), json_object_get(thread, "stack") };
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        const json_t *frames = json_object_get(walks[i], "frames");
        if (begins_with(frames, begin))
            return frames;
    }
    return NULL;
}

const json_t *full_json_registers(const json_t *moment, const json_t *brief)
{
    const json_t *registers = json_object_get(moment, "registers");
    return registers ? registers : json_object_get(own_thread(moment, brief), "registers");
}

const json_t *full_json_other_thread(const json_t *moment, const json_t *brief, size_t *index)
{
    const json_t *threads = json_object_get(moment, "threads"), *own = own_thread(moment, brief);
    while (*index < json_array_size(threads)) {
        const json_t *thread = json_array_get(threads, (*index)++);
        if (thread != own)
            return thread;
    }
    return NULL;
}

/* ---- modules ---- */

void full_json_modules(const json_t *full, struct modules *ret_modules)
{
    const json_t *list = json_object_get(full, "modules");
    size_t count = json_array_size(list);
    *ret_modules = (struct modules){ .list = count ? calloc(count, sizeof *ret_modules->list) : NULL };
    for (size_t i = 0; ret_modules->list && i < count; i++) {
        const json_t *module = json_array_get(list, i);
        ret_modules->list[i].start = brief_address(module, "start");
        ret_modules->list[i].end = brief_address(module, "end");
        ret_modules->list[i].json = module;
        ret_modules->count = i + 1;
    }
}

void full_json_free(struct modules *modules)
{
    free(modules->list);
    *modules = (struct modules){ .list = NULL };
}

/* Of modules within each other it is the innermost, which begins last. */
long full_json_module_at(const struct modules *modules, uint64_t address)
{
    long found = -1;
    for (size_t i = 0; i < modules->count; i++)
        if (address >= modules->list[i].start && address < modules->list[i].end &&
            (found < 0 || modules->list[i].start > modules->list[found].start))
            found = (long)i;
    return found;
}

bool full_json_annotation(const json_t *annotation, const char **ret_key, json_t **ret_value)
{
    *ret_key = brief_text(annotation, "key");
    *ret_value = json_object_get(annotation, "value");
    return (*ret_key)[0] && json_is_string(*ret_value) && !json_is_true(json_object_get(annotation, "isRedacted"));
}
