#include "store/book.h"

#include <string.h>

#include "launchguard/reader.h"
#include "store/crc32c.h"

#define HEAD_BYTES ((uint32_t)offsetof(struct lg__book, contexts))

uint32_t lg__book_used(const struct lg__book *book)
{
    return HEAD_BYTES + book->context_count * (uint32_t)sizeof book->contexts[0];
}

uint32_t lg__book_crc(uint64_t generation, uint32_t size, const struct lg__book *book)
{
    uint32_t crc = lg__crc32c(0, &generation, sizeof generation);
    crc = lg__crc32c(crc, &size, sizeof size);
    return lg__crc32c(crc, book, size);
}

static bool ends(const char text[LG__NAME_BYTES])
{
    return memchr(text, 0, LG__NAME_BYTES) != NULL;
}

static bool context_right(const struct lg__book_context *context)
{
    if (!ends(context->name) || !ends(context->last_task) || context->phase > LG_PHASE_TERMINATING || context->mode > LG_LAUNCH_MODE_TRIAL ||
        context->rung_count > LG__RUNGS || context->rung > context->rung_count || context->suspect_count > LG__SUSPECTS)
        return false;
    for (uint32_t i = 0; i < LG__SUSPECTS; i++)
        if (!ends(context->suspects[i].key))
            return false;
    for (uint32_t i = 0; i < LG__RUNGS; i++)
        if (!ends(context->rungs[i].name))
            return false;
    return true;
}

static bool book_right(const struct lg__book *book)
{
    if (book->timeline_count > LG__TIMELINE || book->build_id_size > LG__BUILD_ID_BYTES || !ends(book->app_id) || !ends(book->app_version))
        return false;
    for (uint32_t i = 0; i < LG__TIMELINE; i++)
        if (!ends(book->timeline[i].app_version))
            return false;
    for (uint32_t i = 0; i < book->context_count; i++)
        if (!context_right(&book->contexts[i]))
            return false;
    return true;
}

static bool check(uint64_t generation, uint32_t size, uint32_t crc, const struct lg__book *book)
{
    if (generation == 0 || size < HEAD_BYTES || size > sizeof *book)
        return false;
    return book->context_count <= LG__CONTEXTS && size == lg__book_used(book) && crc == lg__book_crc(generation, size, book) &&
           book_right(book);
}

bool lg__book_check(struct lg__slot *slot)
{
    if (!check(slot->generation, slot->size, slot->crc, &slot->book))
        return false;
    memset((uint8_t *)&slot->book + slot->size, 0, sizeof slot->book - slot->size);
    return true;
}

uint64_t lg__book_load(const struct lg__slot *slot, struct lg__book *ret_book)
{
    /* Each once: what is checked is what was copied. */
    uint64_t generation = *(const volatile uint64_t *)&slot->generation;
    uint32_t size = *(const volatile uint32_t *)&slot->size, crc = *(const volatile uint32_t *)&slot->crc;
    if (size > sizeof *ret_book)
        return 0;
    memcpy(ret_book, &slot->book, size);
    return check(generation, size, crc, ret_book) ? generation : 0;
}
