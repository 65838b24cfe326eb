/* The policy of delivery: each row of the table in docs/DELIVERY.md, the bounds of the waits, and
 * what becomes due when. */
#include "harness.h"

#include "policy/choice.h"
#include "policy/fate.h"

#define HALF (UINT64_MAX / 2)

/* A device, its server, and a report. */
struct world {
    struct moment now;
    struct lg__server server;
    struct mail mail;
    bool is_full;
    uint64_t random;
};

static struct world world(void)
{
    return (struct world){ .now = { 1000 * DAY_NS, 5 * DAY_NS }, .server.config = "server", .random = HALF,
                           .mail = { .state = LG_DELIVERY_PENDING, .header = { .made_ns = 1000 * DAY_NS, .since_on_ns = 5 * DAY_NS } } };
}

static void pass(struct world *w, uint64_t ns)
{
    w->now.wall_ns += ns;
    w->now.on_ns += ns;
}

static enum fate try(struct world *w, struct answer answer)
{
    const struct lg__server before = w->server;
    const bool left = w->mail.header.flags & LG__REPORT_LEFT;
    fate_begin(&w->mail.header, &w->server, answer.compressed, w->now, w->random);
    const enum fate fate = fate_conclude(&w->mail.header, &w->server, &before, left, &answer, w->is_full, w->now, w->random);
    w->mail.state = fate == FATE_HELD ? LG_DELIVERY_HELD : LG_DELIVERY_PENDING;
    return fate;
}

static enum fate status(struct world *w, int http_status)
{
    return try(w, (struct answer){ .http_status = http_status, .none_left = http_status == 0 });
}

static bool none(const struct mail *mail, const void *user)
{
    (void)mail;
    (void)user;
    return false;
}

static bool is_due(struct world *w)
{
    return choice_next(&w->mail, 1, &w->server, w->now, none, NULL) != NULL;
}

/* Asked of a copy. */
static bool releases(const struct world *w)
{
    struct mail mail = w->mail;
    return fate_release(&mail, &w->server, w->now);
}

static void test_rows(void **state)
{
    static const struct {
        int status;
        enum fate brief, full;
        lg_delivery_pause wait;
    } rows[] = {
        { 200, FATE_TAKEN, FATE_TAKEN, LG_PAUSE_NONE }, { 204, FATE_TAKEN, FATE_TAKEN, LG_PAUSE_NONE },
        { 0, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_AWAY },   { 302, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_AWAY },
        { 511, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_AWAY }, { 408, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_BUSY },
        { 425, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_BUSY }, { 429, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_BUSY },
        { 500, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_BUSY }, { 503, FATE_AGAIN, FATE_AGAIN, LG_PAUSE_BUSY },
        { 401, FATE_HELD, FATE_HELD, LG_PAUSE_NONE },   { 403, FATE_HELD, FATE_HELD, LG_PAUSE_NONE },
        { 404, FATE_HELD, FATE_HELD, LG_PAUSE_NONE },   { 451, FATE_HELD, FATE_HELD, LG_PAUSE_NONE },
        { 400, FATE_HELD, FATE_HELD, LG_PAUSE_NONE },   { 422, FATE_HELD, FATE_HELD, LG_PAUSE_NONE },
        { 413, FATE_HELD, FATE_SMALL, LG_PAUSE_NONE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int is_full = 0; is_full < 2; is_full++) {
            struct world w = world();
            w.is_full = is_full;
            assert_int_equal(status(&w, rows[i].status), is_full ? rows[i].full : rows[i].brief);
            assert_int_equal(w.server.pause, rows[i].wait);
            assert_int_equal(w.mail.header.http_status, rows[i].status);
            assert_int_equal(w.mail.header.attempts, 1);
        }
}

static void test_a_page_of_a_portal_is_no_answer(void **state)
{
    struct world w = world();
    (void)state;
    assert_int_equal(try(&w, (struct answer){ .http_status = 200, .reply = REPLY_FOREIGN }), FATE_AGAIN);
    assert_int_equal(w.server.pause, LG_PAUSE_AWAY);
    assert_int_equal(try(&w, (struct answer){ .http_status = 200, .reply = REPLY_REFUSED }), FATE_HELD);
    assert_int_equal(w.mail.header.refusals, 1);
}

/* A server that refuses a compressed body gets the plain one at once. Where it takes that, it gets
 * no compressed one again; where it does not, its word is about the body. */
static void test_compressed_bodies(void **state)
{
    static const int refusals[] = { 400, 415 };
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int is_body = 0; is_body < 2; is_body++) {
            struct world w = world();
            assert_int_equal(try(&w, (struct answer){ .http_status = refusals[i], .compressed = true }), FATE_PLAIN);
            assert_true(is_due(&w) && w.server.plain);
            assert_int_equal(w.mail.header.refusals + w.mail.header.denials + w.mail.header.failures, 0);
            assert_int_equal(status(&w, 503), FATE_AGAIN); /* says nothing of it */
            assert_int_equal(w.server.plain, LG__PLAIN_REFUSED);
            assert_int_equal(status(&w, is_body ? 400 : 200), is_body ? FATE_HELD : FATE_TAKEN);
            assert_int_equal(w.server.plain, is_body ? LG__PLAIN_NOT : LG__PLAIN_TAKEN);
            assert_int_equal(w.mail.header.refusals, is_body);
            fate_set_server(&w.server, (const uint8_t[16]){ 1 });
            assert_int_equal(w.server.plain, 0);
        }
    /* an agent that dies before the answer leaves the plain body to the next one, which says
     * nothing of compressed ones */
    struct world w = world();
    fate_begin(&w.mail.header, &w.server, true, w.now, w.random);
    assert_int_equal(w.server.plain, LG__PLAIN_UNANSWERED);
    assert_int_equal(status(&w, 200), FATE_TAKEN);
    assert_int_equal(w.server.plain, LG__PLAIN_NOT);
    w = world();
    assert_int_equal(try(&w, (struct answer){ .http_status = 200, .compressed = true }), FATE_TAKEN);
    assert_int_equal(w.server.plain, 0);
    w = world();
    assert_int_equal(try(&w, (struct answer){ .http_status = 403, .compressed = true }), FATE_HELD);
    w = world();
    assert_int_equal(status(&w, 415), FATE_HELD);
}

/* Each wait is random below a bound that doubles. Nothing is given up by a count. */
static void waits(int http_status, uint64_t most_first_day, uint64_t most_later)
{
    for (uint32_t failures = 1; failures < 200; failures++) {
        struct world w = world();
        uint64_t seen = 0;
        for (uint32_t i = 1; i < failures; i++)
            status(&w, http_status);
        const struct lg__server server = w.server;
        for (uint64_t days = 0; days < 3; days += 2) {
            const uint64_t most = days ? most_later : most_first_day, doubled = failures < 15 ? 2 * SECOND_NS << (failures - 1) : most;
            for (uint64_t k = 0; k < 64; k++) {
                w.server = server;
                w.now = world().now;
                pass(&w, days * DAY_NS);
                w.random = k * (most / 64 + 1);
                assert_int_equal(status(&w, http_status), FATE_AGAIN);
                const uint64_t left = moment_left(w.server.next, w.now);
                assert_true(left < (doubled < most ? doubled : most));
                seen = left > seen ? left : seen;
            }
            assert_true(failures < 15 || seen > most / 2); /* the whole range is used */
        }
    }
}

static void test_waits(void **state)
{
    (void)state;
    waits(503, HOUR_NS, 6 * HOUR_NS);
    waits(0, HOUR_NS, HOUR_NS);
}

/* Also without a clock: the device was on, or was not. */
static void test_only_time_that_the_device_was_on_makes_old(void **state)
{
    struct world w = world();
    (void)state;
    w.now.wall_ns = 60 * SECOND_NS; /* 1970 */
    w.mail.header.made_ns = 59 * SECOND_NS;
    for (int i = 0; i < 5000; i++)
        assert_int_equal(status(&w, i % 2 ? 503 : 0), FATE_AGAIN);
    w.now.wall_ns = 20000 * DAY_NS;
    assert_int_equal(status(&w, 0), FATE_AGAIN);
    w.now.on_ns += AGE_MAX_NS;
    assert_int_equal(status(&w, 503), FATE_AGAIN);
    w.now.on_ns += 1;
    const struct world old = w;
    assert_int_equal(status(&w, 503), FATE_DEAD);
    w = old;
    assert_int_equal(status(&w, 404), FATE_DEAD);
    w = old;
    assert_int_equal(status(&w, 200), FATE_TAKEN);
    w = old;
    w.is_full = true;
    assert_int_equal(status(&w, 0), FATE_SMALL);
}

static void test_a_refused_report_is_tried_daily(void **state)
{
    struct world w = world();
    (void)state;
    for (int day = 0; day < 80; day++) {
        assert_int_equal(status(&w, 404), FATE_HELD);
        pass(&w, DAY_NS - 1);
        assert_false(releases(&w));
        pass(&w, 1);
        assert_true(releases(&w));
    }
    assert_int_equal(status(&w, 200), FATE_TAKEN);
}

/* The server took another report after the first denial: the deployment is over. A second denial is
 * believed for a day. */
static void test_a_success_releases_what_was_denied_once(void **state)
{
    struct world w = world();
    (void)state;
    status(&w, 404);
    assert_false(releases(&w));
    w.server.delivered++;
    assert_true(releases(&w));
    status(&w, 404);
    w.server.delivered++;
    assert_false(releases(&w));
    w = world();
    status(&w, 404);
    status(&w, 400); /* now it is the body */
    w.server.delivered++;
    assert_false(releases(&w));
}

/* Only on the third day, and only where the server took others meanwhile. */
static void test_a_body_is_given_up_after_three_days(void **state)
{
    struct world w = world();
    (void)state;
    for (int day = 1; day <= 2; day++) {
        for (int i = 0; i < 5; i++)
            assert_int_equal(status(&w, i % 2 ? 400 : 422), FATE_HELD);
        assert_int_equal(w.mail.header.refusals, day);
        pass(&w, DAY_NS);
    }
    struct world other = w;
    assert_int_equal(status(&other, 400), FATE_HELD); /* perhaps it refuses all */
    w.server.delivered++;
    other = w;
    assert_int_equal(status(&other, 400), FATE_DEAD);
    /* a person has it tried again: what the server refuses once more is believed */
    other.mail.state = LG_DELIVERY_DEAD;
    pass(&other, DAY_NS);
    assert_true(fate_hurry(&other.mail, true, other.now));
    assert_int_equal(status(&other, 400), FATE_DEAD);
    other = w;
    other.is_full = true;
    assert_int_equal(status(&other, 400), FATE_SMALL);
}

static void test_a_pause(void **state)
{
    struct world w = world();
    const struct answer busy = { .http_status = 429, .has_pause = true, .pause_ns = 90 * SECOND_NS };
    (void)state;
    w.random = 0;
    try(&w, busy);
    assert_int_equal(moment_left(w.server.next, w.now), 90 * SECOND_NS);
    fate_hurry_server(&w.server); /* no person makes it shorter */
    fate_boot(&w.server, w.now);
    assert_false(is_due(&w));
    assert_true(fate_set_server(&w.server, (const uint8_t *)"another server!"));
    assert_true(is_due(&w));
    assert_false(fate_set_server(&w.server, (const uint8_t *)"another server!"));
    struct answer fine = { .http_status = 200, .has_pause = true, .pause_ns = UINT64_MAX };
    assert_int_equal(try(&w, fine), FATE_TAKEN);
    assert_int_equal(moment_left(w.server.next, w.now), PAUSE_MAX_NS);
}

static void test_what_ends_other_waits(void **state)
{
    struct world w = world();
    (void)state;
    status(&w, 0);
    assert_false(is_due(&w));
    fate_boot(&w.server, w.now);
    assert_true(is_due(&w));
    for (int i = 0; i < 20; i++)
        status(&w, 503);
    fate_boot(&w.server, w.now);
    assert_true(fate_boot_report(&w.mail, w.now));
    assert_false(is_due(&w));
    assert_int_equal(moment_left(w.server.next, w.now), BOOT_NS);
    assert_int_equal(moment_left(w.mail.header.next, w.now), BOOT_NS);
    fate_hurry_server(&w.server);
    fate_hurry(&w.mail, false, w.now);
    assert_true(is_due(&w));
}

/* An agent that is killed at each attempt waits as after a failed one. */
static void test_an_attempt_is_charged_before_it_is_made(void **state)
{
    struct world w = world();
    uint64_t longest = 0;
    (void)state;
    for (uint32_t i = 1; i <= 35; i++) {
        fate_begin(&w.mail.header, &w.server, false, w.now, HALF);
        assert_int_equal(w.mail.header.attempts, i);
        assert_false(is_due(&w));
        longest = moment_left(w.server.next, w.now);
        w.server.next = (struct lg__due){ 0, 0 };
    }
    assert_true(longest > HOUR_NS / 8);
}

static void test_clocks(void **state)
{
    const struct moment now = { 1000 * DAY_NS, 5 * DAY_NS };
    const struct lg__due due = moment_after(now, 600 * SECOND_NS);
    (void)state;
    assert_int_equal(moment_left(due, now), 600 * SECOND_NS);
    /* it was off; in 1970 */
    assert_int_equal(moment_left(due, (struct moment){ now.wall_ns + 601 * SECOND_NS, now.on_ns }), 0);
    assert_int_equal(moment_left(due, (struct moment){ 0, now.on_ns + 601 * SECOND_NS }), 0);
    assert_int_equal(moment_left(due, (struct moment){ 0, now.on_ns }), 600 * SECOND_NS);
    /* of a clock that is lost */
    assert_int_equal(moment_left(due, (struct moment){ now.wall_ns, 0 }), 0);
    struct lg__server server = { .boot = "boot one", .on_ns = 100, .steady_ns = 40 };
    assert_int_equal(moment_on(&server, (const uint8_t *)"boot one\0\0\0\0\0\0\0", 50), 110);
    assert_int_equal(moment_on(&server, (const uint8_t *)"boot one\0\0\0\0\0\0\0", 30), 100);
    assert_int_equal(moment_on(&server, (const uint8_t *)"boot two\0\0\0\0\0\0\0", 50), 150);
}

static void test_a_report_that_left_stands_for_no_more(void **state)
{
    struct world w = world();
    const uint8_t *like = w.mail.header.fingerprint;
    (void)state;
    assert_ptr_equal(choice_for_more(&w.mail, 1, like), &w.mail);
    try(&w, (struct answer){ .none_left = true }); /* offline */
    assert_ptr_equal(choice_for_more(&w.mail, 1, like), &w.mail);
    try(&w, (struct answer){ .http_status = 0 }); /* it went, and its answer did not come */
    assert_int_equal(w.server.pause, LG_PAUSE_BUSY);
    assert_null(choice_for_more(&w.mail, 1, like));
    try(&w, (struct answer){ .none_left = true });
    assert_null(choice_for_more(&w.mail, 1, like));
}

static void test_one_report_that_the_server_cannot_do_is_in_nobodys_way(void **state)
{
    struct world w = world();
    struct mail mails[2] = { w.mail, w.mail };
    (void)state;
    mails[1].header.fingerprint[0] = 7;
    w.mail = mails[0];
    status(&w, 500);
    mails[0] = w.mail;
    pass(&w, moment_left(w.server.next, w.now));
    mails[0].header.next = (struct lg__due){ 0, 0 };
    assert_ptr_equal(choice_next(mails, 2, &w.server, w.now, none, NULL), &mails[1]);
    mails[0].header.failures = 100; /* of those that failed, the one that was due first */
    mails[1].header.failures = 1;
    mails[0].header.next = (struct lg__due){ 1, 1 };
    mails[1].header.next = (struct lg__due){ 2, 2 };
    assert_ptr_equal(choice_next(mails, 2, &w.server, w.now, none, NULL), &mails[0]);
    mails[1].header.failures = 0;
    mails[1].header.fingerprint[0] = 0; /* of its fingerprint: it waits, and takes further runs */
    assert_ptr_equal(choice_next(mails, 2, &w.server, w.now, none, NULL), &mails[0]);
    mails[0].state = LG_DELIVERY_HELD;
    assert_null(choice_next(mails, 2, &w.server, w.now, none, NULL));
    assert_ptr_equal(choice_for_more(mails, 2, mails[0].header.fingerprint), &mails[1]);
}

static uint64_t paced(const struct mail *mails, uint32_t count, struct moment now, struct lg__report_header *ret_new)
{
    *ret_new = (struct lg__report_header){ .made_ns = now.wall_ns, .since_on_ns = now.on_ns };
    choice_pace(mails, count, ret_new, now);
    return moment_left(ret_new->next, now);
}

/* The newest report alone says how many there were. */
static void test_a_budget(void **state)
{
    struct world w = world();
    (void)state;
    for (int day = 0; day < 3; day++) {
        for (int i = 0; i < 3; i++) {
            assert_true(is_due(&w));
            status(&w, 200);
            fate_spend(&w.server, 400, 1000, w.now);
            pass(&w, HOUR_NS);
        }
        fate_boot(&w.server, w.now);
        assert_false(is_due(&w));
        assert_int_equal(moment_left(w.server.next, w.now), 21 * HOUR_NS);
        pass(&w, 21 * HOUR_NS);
    }
    fate_spend(&w.server, UINT32_MAX, 1000, w.now);
    fate_hurry_server(&w.server); /* a person may */
    assert_true(is_due(&w));
}

static void test_pace(void **state)
{
    struct mail mail = { .state = LG_DELIVERY_SENT };
    struct lg__report_header new;
    struct moment now = { 1000 * DAY_NS, 5 * DAY_NS };
    (void)state;
    for (uint32_t made = 0; made < 32; made++) {
        uint64_t wait = made < 3 ? 0 : SECOND_NS << (made - 3);
        assert_int_equal(paced(&mail, made > 0, now, &new), wait < HOUR_NS ? wait : HOUR_NS);
        assert_int_equal(new.before, made);
        mail.header = new;
    }
    now.wall_ns -= 900 * DAY_NS; /* a jump makes nothing older */
    assert_int_equal(paced(&mail, 1, now, &new), HOUR_NS);
    assert_null(choice_to_drop(&mail, 1, now));
    now.on_ns += HOUR_NS;
    assert_int_equal(paced(&mail, 1, now, &new), 0);
    assert_int_equal(new.before, 32);
    assert_non_null(choice_to_drop(&mail, 1, now));
    now.on_ns += DAY_NS;
    assert_int_equal(paced(&mail, 1, now, &new), 0);
    assert_int_equal(new.before, 0);
}

/* What on_delivered was called for goes first, then what was sent, then what was given up, and at
 * last what was refused on three days. */
static void test_what_gives_way(void **state)
{
    const struct moment now = { 1000 * DAY_NS, 5 * DAY_NS };
    const struct lg__report_header old = { .made_ns = now.wall_ns - HOUR_NS, .since_on_ns = now.on_ns - HOUR_NS }, new = { .made_ns = now.wall_ns, .since_on_ns = now.on_ns };
    struct mail mails[] = {
        { .state = LG_DELIVERY_DEAD, .parts.ordinal = 1, .header = old }, { .state = LG_DELIVERY_SENT, .parts.ordinal = 3, .header = old },
        { .state = LG_DELIVERY_SENT, .parts.ordinal = 2, .header = old }, { .state = LG_DELIVERY_SENT, .parts.ordinal = 5, .header = old },
        { .state = LG_DELIVERY_SENT, .parts.ordinal = 4, .header = old }, { .state = LG_DELIVERY_SENT, .parts.ordinal = 0, .header = new },
        { .state = LG_DELIVERY_PENDING, .header = old },                  { .state = LG_DELIVERY_HELD, .header = old },
        { .state = LG_DELIVERY_HELD, .parts.ordinal = 9, .header = old },
    };
    uint32_t count = sizeof mails / sizeof mails[0];
    static const uint64_t order[] = { 4, 5, 2, 3, 1, 9 };
    (void)state;
    mails[3].header.told_ns = mails[4].header.told_ns = mails[5].header.told_ns = 1;
    mails[8].header.refusals = REFUSALS_MAX;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        struct mail *mail = choice_to_drop(mails, count, now);
        assert_non_null(mail);
        assert_int_equal(mail->parts.ordinal, order[i]);
        *mail = mails[--count];
    }
    assert_null(choice_to_drop(mails, count, now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_gives_way),
        cmocka_unit_test(test_a_page_of_a_portal_is_no_answer),
        cmocka_unit_test(test_compressed_bodies), cmocka_unit_test(test_waits),
        cmocka_unit_test(test_only_time_that_the_device_was_on_makes_old),
        cmocka_unit_test(test_a_refused_report_is_tried_daily),
        cmocka_unit_test(test_a_success_releases_what_was_denied_once),
        cmocka_unit_test(test_a_body_is_given_up_after_three_days),
        cmocka_unit_test(test_a_pause),
        cmocka_unit_test(test_what_ends_other_waits),
        cmocka_unit_test(test_an_attempt_is_charged_before_it_is_made),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_a_report_that_left_stands_for_no_more),
        cmocka_unit_test(test_one_report_that_the_server_cannot_do_is_in_nobodys_way),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
