/* A breadcrumb has a slot of its own from put to hand-over. A writer that stops in the middle costs
 * its slot and keeps nobody waiting. Turns are given out when a text is whole, so that the order of
 * the breadcrumbs of a thread, and of threads that follow each other by a lock, is kept. */
#include "store/outbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os/fault_point.h"

#define FREE 0u
#define WRITTEN 1u
#define FIRST_TURN 2u

/* A call hands over so many at most: an on_log that leaves a breadcrumb in each call would never
 * end. */
#define MOST (4 * LG__OUTBOX_SLOTS)

static const _Atomic uint32_t closed = 0;

void lg__outbox_open(struct lg__outbox *outbox, const _Atomic uint32_t *open)
{
    if (outbox)
        atomic_store(&outbox->open, open);
}

void lg__outbox_close(struct lg__outbox *outbox)
{
    if (outbox)
        atomic_store(&outbox->open, &closed);
}

static bool is_open(struct lg__outbox *outbox)
{
    const _Atomic uint32_t *open = atomic_load(&outbox->open);
    return open && atomic_load(open);
}

/* One line; the category stands for the prefix that the ring log has. */
static void copy_text(char to[LG_ON_LOG_MAX + 1], const char *text, size_t size)
{
    const size_t prefix = sizeof LG__OUTBOX_CATEGORY ": " - 1;
    if (size > prefix && memcmp(text, LG__OUTBOX_CATEGORY ": ", prefix) == 0) {
        text += prefix;
        size -= prefix;
    }
    if (size > LG_ON_LOG_MAX)
        for (size = LG_ON_LOG_MAX; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80;)
            size--; /* no part of a character */
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    while (size > 0 && to[size - 1] == ' ')
        size--;
    to[size] = 0;
}

void lg__outbox_put(struct lg__outbox *outbox, unsigned level, const char *text, size_t size)
{
    if (!outbox || !is_open(outbox))
        return;
    for (struct lg__outbox_slot *slot = outbox->slots; slot < outbox->slots + LG__OUTBOX_SLOTS; slot++) {
        uint64_t is = FREE;
        if (atomic_load(&slot->turn) != FREE || !atomic_compare_exchange_strong(&slot->turn, &is, WRITTEN))
            continue;
        atomic_fetch_add(&outbox->waiting, 1);
        slot->level = (lg_level)level;
        copy_text(slot->text, text, size);
        atomic_store(&slot->turn, atomic_fetch_add(&outbox->turns, 1) + FIRST_TURN);
        return;
    }
    atomic_fetch_add(&outbox->lost, 1);
}

static struct lg__outbox_slot *least_turn(struct lg__outbox *outbox)
{
    struct lg__outbox_slot *found = NULL;
    uint64_t least = UINT64_MAX;
    for (struct lg__outbox_slot *slot = outbox->slots; slot < outbox->slots + LG__OUTBOX_SLOTS; slot++) {
        uint64_t turn = atomic_load(&slot->turn);
        if (turn >= FIRST_TURN && turn < least) {
            least = turn;
            found = slot;
        }
    }
    return found;
}

/* One look may miss a breadcrumb that was put in after it and see the next one, further on. All
 * that were put in before one that was seen are there at the next look. */
static struct lg__outbox_slot *earliest(struct lg__outbox *outbox)
{
    struct lg__outbox_slot *found, *again = least_turn(outbox);
    do {
        found = again;
        again = least_turn(outbox);
    } while (again != found);
    return found;
}

/* The lost breadcrumbs came after all that wait. */
static bool hand_over_one(struct lg__outbox *outbox)
{
    struct lg__outbox_slot *slot = is_open(outbox) ? earliest(outbox) : NULL;
    if (slot) {
        outbox->on_log(slot->level, LG__OUTBOX_CATEGORY, slot->text, outbox->user);
        atomic_store(&slot->turn, FREE);
        atomic_fetch_sub(&outbox->waiting, 1);
        return true;
    }
    uint32_t lost = is_open(outbox) ? atomic_exchange(&outbox->lost, 0) : 0;
    if (lost) {
        char text[128];
        snprintf(text, sizeof text, "on_log did not keep up: %u breadcrumbs are in the ring log alone", lost);
        outbox->on_log(LG_LEVEL_WARNING, LG__OUTBOX_CATEGORY, text, outbox->user);
    }
    return lost;
}

void lg__outbox_hand_over(struct lg__outbox *outbox)
{
    if (!lg__outbox_waits(outbox) || !is_open(outbox))
        return;
    const int error = errno;
    unsigned left = MOST, before;
    do {
        before = left;
        if (atomic_exchange(&outbox->handing, true))
            break;
        while (left > 0 && hand_over_one(outbox))
            left--;
        LG_FAULT_POINT("outbox: empty");
        atomic_store(&outbox->handing, false);
        /* again: one that was put in after the last look, whose thread found this one at work */
    } while (left < before && left > 0 && lg__outbox_waits(outbox));
    errno = error;
}
