/* The two slots of the ledger: a death in a store, and readers beside a living writer. */
#include <string.h>

#include "launchguard/reader.h"
#include "orders.h"
#include "read/reader.h"
#include "stand_ins.h"
#include "store/ledger.h"
#include "store/ledger_payload.h"

static struct lg__slot slots[2];
static struct lg__hot hot;
static struct lg__ledger ledger;
static _Atomic uint32_t returned;
static const struct stand_in_section sections[] = { { LG__SECTION_SLOT_A, &slots[0], sizeof slots[0] }, { LG__SECTION_SLOT_B, &slots[1], sizeof slots[1] } };

/* Two fields far from each other change with each store; the rest of the payload stays. */
static void store(uint64_t number)
{
    ledger.payload.timeline_count = (uint32_t)number;
    ledger.payload.build_id_size = (uint32_t)number;
    lg__ledger_store(&ledger);
}

static void prepare(void)
{
    ledger.hot = &hot;
    ledger.slots[0] = &slots[0];
    ledger.slots[1] = &slots[1];
    ledger.current = 1;
    store(1);
    store(2);
    returned = 2;
    orders_declare(slots, sizeof slots, ORDERS_RACY | ORDERS_FILE);
    orders_declare(&returned, sizeof returned, ORDERS_FILE);
}

static void prepare_checked(void)
{
    stand_in_checksums();
    prepare();
}

static void stores_twice(void)
{
    for (uint32_t i = 3; i <= 4; i++) {
        store(i);
        atomic_store_explicit(&returned, i, memory_order_release);
    }
}

static void check_payload(uint64_t generation, const struct lg__ledger_payload *payload)
{
    must(payload->timeline_count == generation && payload->build_id_size == generation);
}

/* A secondary process. */
static void loads(void)
{
    struct lg__ledger_payload *payload = malloc(sizeof *payload);
    for (int i = 0; i < 2; i++) {
        const uint64_t generation = lg__ledger_payload_load(&slots[i], payload);
        if (generation)
            check_payload(generation, payload);
    }
}

/* The reader of files. */
static void reads(void)
{
    struct lg_reader reader;
    struct lg__slot *slot = malloc(sizeof *slot);
    uint32_t valid;
    stand_in_reader(&reader, sections, 2);
    reader.kind = LG_FILE_LEDGER;
    if (lg__reader_payload(&reader, slot, &valid) == LG_OK)
        check_payload(slot->generation, &slot->payload);
}

static void after_death(void)
{
    struct lg_reader reader;
    struct lg__slot *slot = malloc(sizeof *slot);
    uint32_t valid;
    stand_in_reader(&reader, sections, 2);
    reader.kind = LG_FILE_LEDGER;
    must(lg__reader_payload(&reader, slot, &valid) == LG_OK);
    check_payload(slot->generation, &slot->payload);
    must(slot->generation >= returned);
}

#define SECTIONS "Slots and hot page"

static const struct scenario scenarios[] = {
    { .name = "death in a store", .sections = SECTIONS, .setup = prepare, .threads = { stores_twice }, .dead = after_death },
    { .name = "a secondary process loads", .sections = SECTIONS, .setup = prepare_checked, .threads = { stores_twice, loads } },
    { .name = "a reader reads", .sections = SECTIONS ";Readers", .setup = prepare_checked, .threads = { stores_twice, reads } },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
