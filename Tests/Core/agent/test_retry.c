/* The fate of a report after an attempt: each row of the table in docs/DELIVERY.md, the bounds
 * of the waits, and what servers say about waiting. */
#include "harness.h"

#include "send/retry.h"

#define SECOND UINT64_C(1000000000)

static struct outcome decide(int status, uint32_t attempts, bool is_full)
{
    const struct answer answer = { .http_status = status };
    return retry_decide(&answer, attempts, 0, UINT64_MAX, is_full);
}

static void test_rows(void **state)
{
    static const int sent[] = { 200, 201, 202, 204 }, dead[] = { 400, 404, 413, 422 }, held[] = { 401, 403 },
                     retried[] = { 0, 301, 307, 408, 418, 425, 429, 500, 502, 503, 504, 599 };
    (void)state;
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++)
        assert_int_equal(decide(sent[i], 1, i % 2).fate, FATE_SENT);
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        assert_int_equal(decide(dead[i], 1, false).fate, FATE_DEAD);
        assert_int_equal(decide(dead[i], 1, true).fate, FATE_SMALL);
    }
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        assert_int_equal(decide(held[i], 1, i % 2).fate, FATE_HELD);
    for (size_t i = 0; i < sizeof retried / sizeof retried[0]; i++)
        assert_int_equal(decide(retried[i], 1, i % 2).fate, FATE_RETRY);
}

static void test_waits_grow_to_an_hour_and_end(void **state)
{
    const struct answer answer = { .http_status = 503 };
    (void)state;
    for (uint32_t attempts = 1; attempts < ATTEMPTS_MAX; attempts++) {
        uint64_t most = attempts < 12 ? 2 * SECOND << (attempts - 1) : 3600 * SECOND, seen = 0;
        most = most < 3600 * SECOND ? most : 3600 * SECOND;
        for (uint64_t k = 0; k < 64; k++) {
            struct outcome outcome = retry_decide(&answer, attempts, 0, k * (most / 64 + 1), false);
            assert_int_equal(outcome.fate, FATE_RETRY);
            assert_true(outcome.wait_ns < most);
            seen = outcome.wait_ns > seen ? outcome.wait_ns : seen;
        }
        assert_true(seen > most / 2); /* the whole range is used */
    }
    assert_int_equal(retry_decide(&answer, ATTEMPTS_MAX, 0, 1, false).fate, FATE_DEAD);
    assert_int_equal(retry_decide(&answer, ATTEMPTS_MAX, 0, 1, true).fate, FATE_SMALL);
    assert_int_equal(retry_decide(&answer, 2, AGE_MAX_NS + 1, 1, false).fate, FATE_DEAD);
    const struct answer fine = { .http_status = 200 };
    assert_int_equal(retry_decide(&fine, ATTEMPTS_MAX, AGE_MAX_NS + 1, 1, false).fate, FATE_SENT);
}

static void test_a_server_asks_for_a_pause(void **state)
{
    (void)state;
    struct answer answer = { .http_status = 429, .has_pause = true, .pause_ns = 90 * SECOND };
    struct outcome outcome = retry_decide(&answer, 1, 0, 0, false);
    assert_int_equal(outcome.wait_ns, 90 * SECOND);
    assert_int_equal(outcome.pause_ns, 90 * SECOND);
    answer.pause_ns = UINT64_MAX;
    assert_int_equal(retry_decide(&answer, 1, 0, 0, false).pause_ns, PAUSE_MAX_NS);
    answer.http_status = 200; /* rate limits come with good answers as well */
    answer.pause_ns = 60 * SECOND;
    outcome = retry_decide(&answer, 1, 0, 0, false);
    assert_int_equal(outcome.fate, FATE_SENT);
    assert_int_equal(outcome.pause_ns, 60 * SECOND);
}

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
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_waits_grow_to_an_hour_and_end),
        cmocka_unit_test(test_a_server_asks_for_a_pause),
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_rate_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
