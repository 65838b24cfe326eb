/* Chains of asynchronous callers, of the crashed thread and in the slot of another one. */
#include "read/reader.h"

/* A chain, and the word after it. */
struct place {
    struct lg__async_chain chain;
    uint32_t callers, next;
};

static bool chain_at(const struct lg__reader_chains *chains, uint32_t at, struct place *ret_place)
{
    const uint32_t head = sizeof ret_place->chain / sizeof chains->words[0];
    if (at > chains->size || chains->size - at < head)
        return false;
    memcpy(&ret_place->chain, chains->words + at, sizeof ret_place->chain);
    ret_place->callers = at + head;
    ret_place->next = ret_place->callers + ret_place->chain.count;
    return ret_place->chain.count <= chains->size - ret_place->callers;
}

bool lg__reader_chains_right(const struct lg__reader_chains *chains)
{
    struct place place = { .next = 0 };
    for (uint32_t i = 0; i < chains->count; i++)
        if (!chain_at(chains, place.next, &place))
            return false;
    return true;
}

static bool find(const struct lg__reader_chains *chains, uint32_t index, struct place *ret_place)
{
    ret_place->next = 0;
    for (uint32_t i = 0; i < chains->count && chain_at(chains, ret_place->next, ret_place); i++)
        if (i == index)
            return true;
    return false;
}

static lg_status chain_of(const struct lg__reader_chains *chains, uint32_t index, lg_async_chain *ret_chain)
{
    struct place place;
    if (!find(chains, index, &place))
        return LG_ERR_NOT_FOUND;
    *ret_chain = (lg_async_chain){ place.chain.pc, place.chain.frame, place.chain.count, place.chain.cut == 1 };
    return LG_OK;
}

static lg_status caller_of(const struct lg__reader_chains *chains, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    struct place place;
    if (!find(chains, chain, &place) || index >= place.chain.count)
        return LG_ERR_NOT_FOUND;
    *ret_pc = chains->words[place.callers + index];
    return LG_OK;
}

/* ---- the crashed thread ---- */

lg_status lg__reader_async(const lg_reader *reader, struct lg__crash_async *ret_async, struct lg__reader_chains *ret_chains)
{
    size_t size = 0;
    lg_status status = lg__reader_stage(reader, LG_STAGE_ASYNC, ret_async, sizeof *ret_async, &size);
    if (status != LG_OK)
        return status;
    if (size > sizeof *ret_async)
        size = sizeof *ret_async; /* a later version has more after them */
    const size_t head = offsetof(struct lg__crash_async, words);
    if (size < head || ret_async->count > LG__ASYNC_CHAINS_MAX)
        return LG_ERR_DAMAGED;
    *ret_chains = (struct lg__reader_chains){ ret_async->words, (uint32_t)((size - head) / sizeof ret_async->words[0]), ret_async->count };
    return lg__reader_chains_right(ret_chains) ? LG_OK : LG_ERR_DAMAGED;
}

static lg_status of_crash(const lg_reader *reader, struct lg__crash_async *ret_async, struct lg__reader_chains *ret_chains)
{
    const lg_status status = lg__reader_crashed(reader);
    return status == LG_OK ? lg__reader_async(reader, ret_async, ret_chains) : status;
}

lg_status lg_reader_async_chain(lg_reader *reader, uint32_t index, lg_async_chain *ret_chain)
{
    struct lg__crash_async async;
    struct lg__reader_chains chains;
    if (!reader || !ret_chain)
        return LG_ERR_ARGUMENT;
    const lg_status status = of_crash(reader, &async, &chains);
    return status == LG_OK ? chain_of(&chains, index, ret_chain) : status;
}

lg_status lg_reader_async_caller(lg_reader *reader, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    struct lg__crash_async async;
    struct lg__reader_chains chains;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    const lg_status status = of_crash(reader, &async, &chains);
    return status == LG_OK ? caller_of(&chains, chain, index, ret_pc) : status;
}

/* ---- another thread ---- */

struct lg__reader_chains lg__reader_slot_chains(const struct lg__thread *slot)
{
    return (struct lg__reader_chains){ slot->pcs + LG__THREAD_FRAMES_MAX - slot->async_words, slot->async_words, slot->async_chains };
}

lg_status lg__reader_slot_chain(const struct lg__thread *slot, uint32_t index, lg_async_chain *ret_chain)
{
    const struct lg__reader_chains chains = lg__reader_slot_chains(slot);
    return chain_of(&chains, index, ret_chain);
}

lg_status lg__reader_slot_caller(const struct lg__thread *slot, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    const struct lg__reader_chains chains = lg__reader_slot_chains(slot);
    return caller_of(&chains, chain, index, ret_pc);
}
