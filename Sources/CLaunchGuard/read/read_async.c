/* Chains of asynchronous callers. */
#include "read/internal.h"

/* A chain, and the word after it. */
struct place {
    struct lg__async_chain chain;
    uint32_t callers, next;
};

static bool chain_at(const struct lg__crash_async *async, uint32_t words, uint32_t at, struct place *ret_place)
{
    const uint32_t head = sizeof ret_place->chain / sizeof async->words[0];
    if (at > words || words - at < head)
        return false;
    memcpy(&ret_place->chain, async->words + at, sizeof ret_place->chain);
    ret_place->callers = at + head;
    ret_place->next = ret_place->callers + ret_place->chain.count;
    return ret_place->chain.count <= words - ret_place->callers;
}

lg_status lg__reader_async(const lg_reader *reader, struct lg__crash_async *ret_async)
{
    size_t size = 0;
    struct place place = { .next = 0 };
    lg_status status = lg__reader_stage(reader, LG_STAGE_ASYNC, ret_async, sizeof *ret_async, &size);
    if (status != LG_OK)
        return status;
    if (size > sizeof *ret_async)
        size = sizeof *ret_async; /* a later version has more after them */
    const size_t head = offsetof(struct lg__crash_async, words);
    const uint32_t words = size < head ? 0 : (uint32_t)((size - head) / sizeof ret_async->words[0]);
    if (size < head || ret_async->count > LG__ASYNC_CHAINS_MAX)
        return LG_ERR_DAMAGED;
    for (uint32_t i = 0; i < ret_async->count; i++)
        if (!chain_at(ret_async, words, place.next, &place))
            return LG_ERR_DAMAGED;
    return LG_OK;
}

static lg_status find_chain(const lg_reader *reader, uint32_t index, struct lg__crash_async *ret_async, struct place *ret_place)
{
    lg_status status = lg__reader_crashed(reader);
    if (status == LG_OK)
        status = lg__reader_async(reader, ret_async);
    if (status != LG_OK)
        return status;
    if (index >= ret_async->count)
        return LG_ERR_NOT_FOUND;
    ret_place->next = 0;
    for (uint32_t i = 0; i <= index; i++)
        chain_at(ret_async, LG__ASYNC_WORDS, ret_place->next, ret_place);
    return LG_OK;
}

lg_status lg_reader_async_chain(lg_reader *reader, uint32_t index, lg_async_chain *ret_chain)
{
    struct lg__crash_async async;
    struct place place;
    if (!reader || !ret_chain)
        return LG_ERR_ARGUMENT;
    lg_status status = find_chain(reader, index, &async, &place);
    if (status == LG_OK)
        *ret_chain = (lg_async_chain){ place.chain.pc, place.chain.frame, place.chain.count, place.chain.cut == 1 };
    return status;
}

lg_status lg_reader_async_caller(lg_reader *reader, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    struct lg__crash_async async;
    struct place place;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = find_chain(reader, chain, &async, &place);
    if (status == LG_OK && index >= place.chain.count)
        status = LG_ERR_NOT_FOUND;
    if (status == LG_OK)
        *ret_pc = async.words[place.callers + index];
    return status;
}
