/* Rules by which writers keep one value a key, lose none, and do not wait for each other.
 *
 * The file has 64 slots, one a key, and 128 values that are not bound to any slot. A slot has one
 * word that says which value is its current one, or none. A value that a slot names is never
 * written to: a writer that sets a key takes a value that is free, fills it, and then exchanges the
 * word of the slot; the value before it is free from then on. Key and value are in the same place,
 * and so no reader sees a key with the value of another one, nor half of either, at whatever
 * instant the process dies.
 *
 * Changes have an order, and one word in memory makes it: the turn. It holds the number of the last
 * change. While that change is not carried out, the turn also holds the change itself: the slot,
 * the value, and whether the key becomes redacted. A writer
 * 1. reads the turn; if a change is announced in it, the writer carries that out first, whichever
 *    writer announced it;
 * 2. looks for the key, and for a free slot where it has none;
 * 3. announces its own change by compare-and-swap of the turn that it read. Success means that
 *    nothing has changed since, so that the finding of step 2 still holds: two writers with the
 *    same new key do not take two slots. If it fails, another writer was faster: again from 1;
 * 4. carries the change out: stores into the slot, in the file and in memory, frees the value that
 *    was there, and withdraws the announcement.
 *
 * Many writers may carry out the same change at the same time, and one that was stopped may come
 * too late: the word of a slot holds the number of its change, and is exchanged for a larger one
 * only. A redaction holds for good, and a redacted key keeps its slot; so it does not matter how
 * often, or how late, the redaction is stored.
 *
 * So no writer waits. A writer that stops for ever, at any place, costs the others only the value
 * that it fills: with all 64 keys set, 64 such writers are needed before another one gets
 * LG_ERR_LIMIT. An announced change is in the file when its call returns, and a change that
 * returned was announced before any that began later: so the last value wins. A handler of a signal
 * may do the same in the middle of it. */
#include "store/annotation.h"

#include <string.h>
#include <time.h>

#include "launchguard/annotate.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"

static_assert(LG__ANNOTATIONS == LG_ANNOTATIONS_MAX, "the format has a slot for each");
static_assert(LG__ANNOTATION_VALUE_BYTES == LG_ANNOTATION_VALUE_MAX + 1 && LG__NAME_BYTES == LG_ANNOTATION_KEY_MAX + 1, "both fit with their NULs");

/* The number of times that all values are looked through for a free one. */
#define ROUNDS 100u

/* ---- words ---- */

/* The turn: number of the change, slot, number of the value (0: none, the slot becomes free), and
 * the work that is left; 0 when none is. */
#define PUTS UINT64_C(1)    /* the slot gets this value */
#define REDACTS UINT64_C(2) /* its key becomes redacted */
#define TO_DO (PUTS | REDACTS)

static uint64_t make_turn(uint64_t sequence, unsigned slot, unsigned value, uint64_t to_do)
{
    return sequence << 16 | (uint64_t)slot << 10 | (uint64_t)value << 2 | to_do;
}

static uint64_t sequence_of(uint64_t turn)
{
    return turn >> 16;
}

static unsigned value_of(uint64_t current)
{
    return (unsigned)(current & LG__ANNOTATION_VALUE_MASK);
}

/* Exchange a word of a slot, unless it is as new. True: it was this call that did. */
static bool replace(_Atomic uint64_t *current, uint64_t now, uint64_t *ret_before)
{
    *ret_before = atomic_load(current);
    while (*ret_before >> LG__ANNOTATION_SEQUENCE_SHIFT < now >> LG__ANNOTATION_SEQUENCE_SHIFT)
        if (atomic_compare_exchange_weak(current, ret_before, now))
            return true;
    return false;
}

/* ---- values ---- */

static void release_place(struct lg__annotation_memory *memory, unsigned value)
{
    if (value)
        atomic_store_explicit(&memory->taken[value - 1], 0, memory_order_release);
}

/* A value that no slot or writer uses; 0: there is none. */
static unsigned take_place(struct lg__annotation_memory *memory)
{
    unsigned start = atomic_load_explicit(&memory->next, memory_order_relaxed);
    for (unsigned i = 0; i < ROUNDS * LG__ANNOTATION_VALUES; i++) {
        unsigned at = (start + i) % LG__ANNOTATION_VALUES;
        if (atomic_load_explicit(&memory->taken[at], memory_order_relaxed) == 0 &&
            atomic_exchange_explicit(&memory->taken[at], 1, memory_order_acquire) == 0) {
            atomic_store_explicit(&memory->next, at + 1, memory_order_relaxed);
            return at + 1;
        }
    }
    return 0;
}

/* Fill a value that is the caller's, all but its number; gives the checksum so far. */
static uint32_t fill(const struct lg__annotation_writer *writer, unsigned value, const struct lg__annotation_key *key, const char *text)
{
    struct lg__annotation *to = &writer->file->values[value - 1];
    const char *end = text ? memchr(text, 0, LG__ANNOTATION_VALUE_BYTES) : NULL;
    to->size = !text ? 0 : end ? (uint32_t)(end - text) : LG_ANNOTATION_VALUE_MAX;
    to->flags = !text ? LG__ANNOTATION_NO_VALUE : end ? 0 : LG__ANNOTATION_CUT;
    to->monotonic_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    memcpy(to->key, key, sizeof to->key);
    LG_FAULT_POINT("annotation: before the text");
    if (text)
        memcpy(to->value, text, to->size);
    /* Values are released one by one: a reader of a value that is no longer its key's also sees
     * that the turn has changed. */
    for (size_t i = 0; i < LG__ANNOTATION_KEY_WORDS; i++)
        atomic_store_explicit(&writer->memory->keys[value - 1][i], key->words[i], memory_order_release);
    const size_t from = offsetof(struct lg__annotation, monotonic_ns);
    return lg__crc32c(0, (const uint8_t *)to + from, offsetof(struct lg__annotation, value) + to->size - from);
}

static void number(const struct lg__annotation_writer *writer, unsigned value, uint64_t sequence, uint32_t crc)
{
    struct lg__annotation *to = &writer->file->values[value - 1];
    to->sequence = sequence;
    to->crc = lg__crc32c(crc, &sequence, sizeof sequence);
}

/* ---- changes ---- */

static void carry_out(const struct lg__annotation_writer *writer, uint64_t turn)
{
    struct lg__annotation_memory *memory = writer->memory;
    unsigned at = (unsigned)(turn >> 10) & (LG__ANNOTATIONS - 1);
    struct lg__annotation_slot *slot = &writer->file->slots[at];
    if (turn & REDACTS) {
        atomic_store(&slot->redacted, LG__ANNOTATION_REDACTED);
        LG_FAULT_POINT("annotation: redacted");
        atomic_store(&memory->redacted[at], 1);
    }
    if (turn & PUTS) {
        uint64_t now = sequence_of(turn) << LG__ANNOTATION_SEQUENCE_SHIFT | (turn >> 2 & LG__ANNOTATION_VALUE_MASK), before;
        replace(&slot->current, now, &before);
        LG_FAULT_POINT("annotation: stored");
        /* Not before it is in the file: a value that is free may be written to. */
        if (replace(&memory->current[at], now, &before))
            release_place(memory, value_of(before));
    }
    LG_FAULT_POINT("annotation: carried out");
    atomic_compare_exchange_strong(&memory->turn, &turn, turn & ~TO_DO);
}

/* The slot of a key, and a free one; LG__ANNOTATIONS: there is none. True only for the turn that it
 * begins with. */
static void find_place(const struct lg__annotation_memory *memory, const struct lg__annotation_key *key, unsigned *ret_slot, unsigned *ret_free)
{
    *ret_slot = *ret_free = LG__ANNOTATIONS;
    for (unsigned slot = 0; slot < LG__ANNOTATIONS; slot++) {
        LG_FAULT_POINT("annotations: a slot");
        unsigned value = value_of(atomic_load_explicit(&memory->current[slot], memory_order_acquire));
        if (!value) {
            *ret_free = *ret_free < slot ? *ret_free : slot;
            continue;
        }
        size_t same = 0;
        while (same < LG__ANNOTATION_KEY_WORDS && atomic_load_explicit(&memory->keys[value - 1][same], memory_order_acquire) == key->words[same])
            same++;
        if (same == LG__ANNOTATION_KEY_WORDS) {
            *ret_slot = slot;
            return;
        }
    }
}

/* Set (`text` is there), take away (it is not), or redact a key. */
static lg_status change_value(const struct lg__annotation_writer *writer, const struct lg__annotation_key *key, const char *text, bool redacts)
{
    struct lg__annotation_memory *memory = writer->memory;
    unsigned value = 0, slot, free;
    uint32_t crc = 0;
    lg_status status = LG_OK;
    while (true) {
        uint64_t turn = atomic_load(&memory->turn);
        if (turn & TO_DO) {
            carry_out(writer, turn);
            continue;
        }
        find_place(memory, key, &slot, &free);
        bool found = slot < LG__ANNOTATIONS, redacted = found && atomic_load(&memory->redacted[slot]);
        bool stays = text || redacts || redacted;
        status = found || !stays || free < LG__ANNOTATIONS ? LG_OK : LG_ERR_LIMIT;
        /* nothing to do, if nothing has changed meanwhile */
        if (status != LG_OK || (found ? redacts && redacted : !stays)) {
            if (atomic_load(&memory->turn) == turn)
                break;
            continue;
        }
        uint64_t to_do = (redacts ? REDACTS : 0) | (redacts && found ? 0 : PUTS);
        bool fills = (to_do & PUTS) && stays;
        if (fills && !value) {
            value = take_place(memory);
            LG_FAULT_POINT("annotation: taken");
            if (!value)
                return LG_ERR_LIMIT;
            crc = fill(writer, value, key, text);
        }
        if (fills)
            number(writer, value, sequence_of(turn) + 1, crc);
        uint64_t next = make_turn(sequence_of(turn) + 1, found ? slot : free, fills ? value : 0, to_do);
        LG_FAULT_POINT("annotation: filled");
        if (atomic_compare_exchange_strong(&memory->turn, &turn, next)) {
            LG_FAULT_POINT("annotation: announced");
            carry_out(writer, next);
            if (fills)
                return LG_OK;
            break;
        }
    }
    release_place(memory, value); /* taken, but not needed */
    return status;
}

bool lg__annotation_key(const char *text, struct lg__annotation_key *ret_key)
{
    const char *end = memchr(text, 0, LG_ANNOTATION_KEY_MAX + 1);
    if (!end || end == text)
        return false;
    memset(ret_key, 0, sizeof *ret_key);
    memcpy(ret_key, text, (size_t)(end - text));
    return true;
}

lg_status lg__annotation_put(const struct lg__annotation_writer *writer, const struct lg__annotation_key *key, const char *value)
{
    return change_value(writer, key, value, false);
}

lg_status lg__annotation_redact(const struct lg__annotation_writer *writer, const struct lg__annotation_key *key)
{
    return change_value(writer, key, NULL, true);
}
