/* What servers say about waiting. */
#include "harness.h"

#include "policy/fate.h"
#include "send/retry.h"

#define SECOND UINT64_C(1000000000)

static void test_retry_after(void **state)
{
    uint64_t pause = 7;
    (void)state;
    assert_true(retry_after("120", 0, &pause) && pause == 120 * SECOND);
    assert_true(retry_after(" 0", 0, &pause) && pause == 0);
    assert_true(retry_after("99999999999999999999", 0, &pause) && pause == PAUSE_MAX_NS);
    assert_true(retry_after("Wed, 21 Oct 2015 07:28:00 GMT", 1445412480 - 30, &pause) && pause == 30 * SECOND);
    assert_true(retry_after("Wed, 21 Oct 2015 07:28:00 GMT", 1445412480 + 30, &pause) && pause == 0);
    pause = 7;
    assert_false(retry_after("soon", 0, &pause));
    assert_false(retry_after("", 0, &pause));
    assert_false(retry_after("-5", 0, &pause) && pause != 0);
}

static void test_rate_limits(void **state)
{
    uint64_t pause = 7;
    (void)state;
    assert_true(retry_rate_limits("60:transaction:key, 2700:default;error;security:organization", &pause) && pause == 2700 * SECOND);
    assert_true(retry_rate_limits("60::organization", &pause) && pause == 60 * SECOND);
    assert_true(retry_rate_limits("5:attachment:x,9:error:x", &pause) && pause == 9 * SECOND);
    pause = 7;
    assert_false(retry_rate_limits("60:transaction;metric_bucket:key", &pause));
    assert_false(retry_rate_limits("nonsense", &pause));
    assert_false(retry_rate_limits("", &pause));
    assert_int_equal(pause, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_rate_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
