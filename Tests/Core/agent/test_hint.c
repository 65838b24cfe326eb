/* Which hint of the vendor counts, and for how long; docs/DELIVERY.md, Hints. */
#include "harness.h"

#include "policy/hint.h"

static const struct hint_place place = { .app = "app", .device = "0123456789abcdef0123456789abcdef", .key = { 7 } };
static const struct moment now = { 1000 * DAY_NS, 5 * DAY_NS };

static struct moment later(uint64_t on_ns)
{
    return (struct moment){ now.wall_ns, now.on_ns + on_ns };
}

static lg_hint a_hint(uint32_t serial)
{
    return (lg_hint){ serial, LG_HINT_LEAVE_OUT, now.wall_ns + 1, "main", "maps" };
}

static enum hint_verdict judge(struct lg__hint *stored, const char *app, const char *device, lg_hint hint)
{
    const struct lg__hint before = *stored;
    const enum hint_verdict verdict = hint_judge(stored, app, device, &hint, &place, now);
    if (verdict != HINT_TAKEN)
        assert_memory_equal(stored, &before, sizeof before);
    return verdict;
}

static void test_hints(void **state)
{
    (void)state;
    struct lg__hint stored = { .crc = 0 };
    assert_int_equal(judge(&stored, "other", "", a_hint(1)), HINT_OTHER_APP);
    assert_int_equal(judge(&stored, "app", "0", a_hint(1)), HINT_OTHER_DEVICE);
    lg_hint over = a_hint(1);
    over.expires_ns--;
    assert_int_equal(judge(&stored, "app", "", over), HINT_EXPIRED);
    assert_int_equal(judge(&stored, "app", "0123456789ABCDEF0123456789abcdef", a_hint(2)), HINT_TAKEN);
    assert_int_equal(stored.said.serial, 2);
    assert_int_equal(stored.expires_on_ns, now.on_ns + HINT_ON_NS);
    assert_memory_equal(stored.key, place.key, sizeof place.key);
    assert_int_equal(judge(&stored, "app", "", a_hint(2)), HINT_KNOWN);
    assert_int_equal(judge(&stored, "app", "", a_hint(1)), HINT_OLD);
    over.serial = 1; /* what is older is no news, expired or not */
    assert_int_equal(judge(&stored, "app", "", over), HINT_OLD);
    assert_int_equal(judge(&stored, "app", "", a_hint(UINT32_MAX)), HINT_TAKEN);
    stored.key[0]++; /* of an older key */
    assert_int_equal(judge(&stored, "app", "", a_hint(1)), HINT_TAKEN);
}

static void test_the_end_of_a_hint(void **state)
{
    (void)state;
    const uint8_t other[16] = { 8 };
    struct lg__hint stored = { .crc = 0 }, hint;
    assert_false(hint_withdraw(&stored, NULL, now)); /* none */
    assert_int_equal(judge(&stored, "app", "", a_hint(3)), HINT_TAKEN);
    hint = stored;
    assert_false(hint_withdraw(&hint, place.key, later(HINT_ON_NS - 1)));
    assert_true(hint_withdraw(&hint, place.key, later(HINT_ON_NS)));
    assert_int_equal(hint.said.kind, LG_HINT_WITHDRAWN);
    assert_int_equal(hint.said.serial, 3); /* so that no older one comes again */
    assert_string_equal(hint.said.name, "");
    assert_false(hint_withdraw(&hint, NULL, now));
    hint = stored;
    /* the clock of another spool */
    assert_true(hint_withdraw(&hint, place.key, (struct moment){ now.wall_ns, now.on_ns - DAY_NS - 1 }));
    hint = stored;
    assert_true(hint_withdraw(&hint, NULL, now));
    hint = stored;
    assert_true(hint_withdraw(&hint, other, now));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_hints), cmocka_unit_test(test_the_end_of_a_hint) };
    return cmocka_run_group_tests_name("agent_hint", tests, NULL, NULL);
}
