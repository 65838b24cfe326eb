#include "store/ledger_payload.h"

#include <string.h>

#include "launchguard/reader.h"
#include "store/crc32c.h"

#define HEAD_BYTES ((uint32_t)offsetof(struct lg__ledger_payload, contexts))

uint32_t lg__ledger_payload_used(const struct lg__ledger_payload *payload)
{
    return HEAD_BYTES + payload->context_count * (uint32_t)sizeof payload->contexts[0];
}

uint32_t lg__ledger_payload_crc(uint64_t generation, uint32_t size, const struct lg__ledger_payload *payload)
{
    uint32_t crc = lg__crc32c(0, &generation, sizeof generation);
    crc = lg__crc32c(crc, &size, sizeof size);
    return lg__crc32c(crc, payload, size);
}

uint32_t lg__ledger_payload_program(const char version[LG__NAME_BYTES], const uint8_t *build_id, uint32_t build_id_size)
{
    return lg__crc32c(lg__crc32c(0, version, LG__NAME_BYTES), build_id, build_id_size);
}

static bool is_terminated(const char text[LG__NAME_BYTES])
{
    return memchr(text, 0, LG__NAME_BYTES) != NULL;
}

static bool context_right(const struct lg__ledger_context *context)
{
    if (!is_terminated(context->name) || !is_terminated(context->last_task) || context->phase > LG_PHASE_TERMINATING || context->mode > LG_LAUNCH_MODE_TRIAL ||
        context->rung_count > LG__RUNGS || context->rung > context->rung_count || context->suspect_count > LG__SUSPECTS)
        return false;
    for (uint32_t i = 0; i < LG__SUSPECTS; i++)
        if (!is_terminated(context->suspects[i].key))
            return false;
    for (uint32_t i = 0; i < LG__RUNGS; i++)
        if (!is_terminated(context->rungs[i].name))
            return false;
    return true;
}

static bool payload_is_right(const struct lg__ledger_payload *payload)
{
    if (payload->timeline_count > LG__TIMELINE || payload->build_id_size > LG__BUILD_ID_BYTES || !is_terminated(payload->app_id) || !is_terminated(payload->app_version))
        return false;
    for (uint32_t i = 0; i < LG__TIMELINE; i++)
        if (!is_terminated(payload->timeline[i].app_version))
            return false;
    for (uint32_t i = 0; i < payload->context_count; i++)
        if (!context_right(&payload->contexts[i]))
            return false;
    return true;
}

static bool check_payload(uint64_t generation, uint32_t size, uint32_t crc, const struct lg__ledger_payload *payload)
{
    if (generation == 0 || size < HEAD_BYTES || size > sizeof *payload)
        return false;
    return payload->context_count <= LG__CONTEXTS && size == lg__ledger_payload_used(payload) && crc == lg__ledger_payload_crc(generation, size, payload) &&
           payload_is_right(payload);
}

bool lg__ledger_payload_check(struct lg__slot *slot)
{
    if (!check_payload(slot->generation, slot->size, slot->crc, &slot->payload))
        return false;
    memset((uint8_t *)&slot->payload + slot->size, 0, sizeof slot->payload - slot->size);
    return true;
}

uint64_t lg__ledger_payload_load(const struct lg__slot *slot, struct lg__ledger_payload *ret_book)
{
    /* Each value is read once: the check is of the copy. */
    uint64_t generation = *(const volatile uint64_t *)&slot->generation;
    uint32_t size = *(const volatile uint32_t *)&slot->size, crc = *(const volatile uint32_t *)&slot->crc;
    if (size > sizeof *ret_book)
        return 0;
    memcpy(ret_book, &slot->payload, size);
    /* Another process may be storing. Its writer voids the generation first. */
    atomic_thread_fence(memory_order_acquire);
    if (*(const volatile uint64_t *)&slot->generation != generation)
        return 0;
    return check_payload(generation, size, crc, ret_book) ? generation : 0;
}
