/* The innermost places of the program in a walk: docs/FINGERPRINT.md, the coarse key. */
#include "read/innermost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/common.h"

/* So many frames of an endless recursion show the calls that recur. */
#define RECURRING 64u

/* The function of the first frame. */
static bool find_function(const struct lg__innermost_walk *walk, lg_function *ret_function)
{
    if (walk->of_hang)
        return lg_reader_snapshot_function(walk->reader, LG_SNAPSHOT_HANG, walk->thread, 0, ret_function) == LG_OK;
    return walk->stage == LG_STAGE_DWARF && lg_reader_function(walk->reader, 0, ret_function) == LG_OK;
}

static bool find_module(lg_reader *reader, uint64_t address, lg_module *ret_module)
{
    bool found = false;
    lg_module module;
    for (uint32_t i = 0; lg_reader_module(reader, i, &module) == LG_OK; i++)
        if (lg__innermost_takes(&module, found ? ret_module : NULL, address)) {
            *ret_module = module;
            found = true;
        }
    return found;
}

/* Where frame `index` is, whose instruction is at `at`. False: in no module, or in one that does
 * not count. */
static bool find_place(const struct lg__innermost_walk *walk, bool common_too, uint32_t index, uint64_t at, struct lg__innermost_place *ret_place)
{
    lg_function function;
    lg_module module;
    if (!find_module(walk->reader, at, &module))
        return false;
    const char *slash = strrchr(module.path, '/'), *name = slash ? slash + 1 : module.path;
    if (!name[0] || (!common_too && lg__common_module(name)))
        return false;
    snprintf(ret_place->module, sizeof ret_place->module, "%.*s", (int)sizeof ret_place->module - 1, name);
    memcpy(ret_place->build_id, module.build_id, sizeof ret_place->build_id);
    ret_place->bytes = module.end - module.start;
    ret_place->address = at - module.bias;
    if (walk->anywhere && index == 0 && find_function(walk, &function))
        ret_place->address -= function.offset;
    return true;
}

/* The address of the instruction of a frame: a return address may be the first byte after its
 * function, and its module. */
static bool frame_at(const struct lg__innermost_walk *walk, uint32_t index, uint64_t *ret_at)
{
    uint64_t pc;
    lg_status status = walk->of_hang ? lg_reader_snapshot_frame(walk->reader, LG_SNAPSHOT_HANG, walk->thread, index, &pc)
                                     : lg_reader_frame(walk->reader, walk->stage, index, &pc);
    if (status != LG_OK)
        return false;
    *ret_at = index ? pc - 1 : pc;
    return true;
}

static bool is_among(const struct lg__innermost_place *places, uint32_t count, const struct lg__innermost_place *place)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i].address == place->address && strcmp(places[i].module, place->module) == 0)
            return true;
    return false;
}

bool lg__innermost_has_module(lg_reader *reader, const char *begin)
{
    lg_module module;
    for (uint32_t i = 0; lg_reader_module(reader, i, &module) == LG_OK; i++) {
        const char *slash = strrchr(module.path, '/');
        if (strncmp(slash ? slash + 1 : module.path, begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

/* The asynchronous callers of the outermost frame of the program that has some, of a crash. Only
 * such a function is known to be asynchronous that Swift's runtime may have called. */
static uint32_t add_async(const struct lg__innermost_walk *walk, bool common_too, struct lg__innermost_place *places, uint32_t count)
{
    struct lg__innermost_place place;
    lg_async_chain chain;
    uint64_t at;
    uint32_t outermost = UINT32_MAX;
    if (walk->stage != LG_STAGE_DWARF || !lg__innermost_has_module(walk->reader, "libswift_Concurrency"))
        return count;
    for (uint32_t i = 0; lg_reader_async_chain(walk->reader, i, &chain) == LG_OK; i++)
        if (find_place(walk, common_too, chain.frame, chain.pc, &place))
            outermost = i;
    for (uint32_t i = 0; count < walk->most && lg_reader_async_caller(walk->reader, outermost, i, &at) == LG_OK; i++)
        if (find_place(walk, common_too, UINT32_MAX, at, &place) && !is_among(places, count, &place))
            places[count++] = place;
    return count;
}

static uint32_t innermost(const struct lg__innermost_walk *walk, bool common_too, struct lg__innermost_place *ret_places)
{
    struct lg__innermost_place place;
    uint64_t at, last = 0;
    uint32_t count = 0;
    for (uint32_t i = walk->from; count < walk->most && frame_at(walk, i, &at); i++) {
        if (i > walk->from && at == last)
            continue;
        last = at;
        if (find_place(walk, common_too, i, at, &place) && !is_among(ret_places, count, &place))
            ret_places[count++] = place;
    }
    return count ? add_async(walk, common_too, ret_places, count) : 0;
}

struct call {
    uint64_t at;
    uint32_t index; /* of its frame */
};

static int by_address(const void *one, const void *other)
{
    const struct call *a = one, *b = other;
    return (a->at > b->at) - (a->at < b->at);
}

static int by_name(const void *one, const void *other)
{
    const struct lg__innermost_place *a = one, *b = other;
    const int order = strcmp(a->module, b->module);
    return order ? order : (a->address > b->address) - (a->address < b->address);
}

/* Calls that are on the stack more than once: the end of the stack among them is chance. */
static uint32_t recurring(const struct lg__innermost_walk *walk, bool common_too, struct lg__innermost_place *ret_places)
{
    struct call calls[RECURRING];
    struct lg__innermost_place places[RECURRING / 2];
    uint32_t count = 0, found = 0;
    for (; count < RECURRING && frame_at(walk, count + 1, &calls[count].at); count++)
        calls[count].index = count + 1;
    qsort(calls, count, sizeof calls[0], by_address);
    for (uint32_t i = 1; i < count; i++)
        if (calls[i].at == calls[i - 1].at && (i == 1 || calls[i].at != calls[i - 2].at) &&
            find_place(walk, common_too, calls[i].index, calls[i].at, &places[found]))
            found++;
    qsort(places, found, sizeof places[0], by_name);
    if (found > walk->most)
        found = walk->most;
    memcpy(ret_places, places, found * sizeof places[0]);
    return found;
}

uint32_t lg__innermost(const struct lg__innermost_walk *walk, struct lg__innermost_place ret_places[LG__INNERMOST_MAX])
{
    uint32_t count = 0;
    for (int common_too = 0; !count && common_too < 2; common_too++) {
        if (walk->overflowed)
            count = recurring(walk, common_too, ret_places);
        if (!count)
            count = innermost(walk, common_too, ret_places);
    }
    return count;
}
