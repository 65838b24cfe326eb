/* A life of reports, from event to event. Beside the policy stands a server that counts as servers
 * do: the first body under a key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/slice.h"
#include "post.h"
#include "seeds.h"

#define YEAR_1970_NS (60 * SECOND_NS)
#define RIGHT_NS (UINT64_C(20000) * DAY_NS) /* the true time at the begin */
#define KILLS_UNTIL_NS (20 * DAY_NS)
#define ONLINE_DAYS_MOST 7
#define BRIEF_BYTES 4096u
#define SECOND_BYTES SLICE_BYTES /* the most */
/* A day has so many requests at the most for each part or slice of a report, of which so many
 * reach a server. */
#define REQUESTS_MOST 350
#define LEFT_MOST 300

const char *const post_broken_names[POST_BROKEN] = {
    "whole", "a bug is unknown at the server after seven online days", "a report is given up that could still go",
    "the server counts other ends than there were", "a second part has a hole", "a run is in two reports", "a report goes that the user withheld", "too many requests in a day",
    "too many bytes in a day",
};

/* What a report stands for, beside its header. */
struct content {
    unsigned bug;
    uint64_t made_ns; /* true time of the device being on */
    bool received;    /* by the server, which keeps the first body */
    uint64_t received_count;
    unsigned slices;  /* received, one bit each */
};

struct device {
    struct world *world;
    struct post_figures *figures;
    uint64_t true_ns, wall_offset_ns, boot_ns, on_ns, dice;
    bool on, agent_waits;
    uint64_t agent_ns; /* the agent was killed, and lives again then */
    uint8_t boot[16];
    enum consent consent;
    int address;
    struct lg__server server;
    struct mail mails[MAILS_MOST];
    struct content contents[MAILS_MOST]; /* beside mails */
    unsigned count;
    struct owed {
        uint64_t ordinal;
        unsigned bug;
        enum lg__priority priority;
    } owed[MAILS_MOST * 2];
    unsigned owed_count;
    struct more tally[BUGS_MOST];
    uint64_t ordinal, from_ordinal;
    /* the tally of the test */
    uint64_t ends[BUGS_MOST], known_ends[BUGS_MOST], arrived[BUGS_MOST];
    bool crashed[BUGS_MOST], withheld_once, is_old;
    unsigned online_days, since_days[BUGS_MOST];
    uint64_t good_since_ns, day, person_ns;
    bool good_day;
    unsigned requests, left;
    uint64_t bytes;
    enum post_broken broken;
};

static uint64_t dice(struct device *d, uint64_t limit)
{
    d->dice = mix_seed(d->dice);
    return limit ? d->dice % limit : d->dice;
}

static void breaks(struct device *d, enum post_broken broken)
{
    if (d->broken == POST_WHOLE)
        d->broken = broken;
}

static struct moment now(const struct device *d)
{
    return (struct moment){ d->true_ns + d->wall_offset_ns, moment_on(&d->server, d->boot, d->true_ns - d->boot_ns + SECOND_NS) };
}

static void store_server(struct device *d)
{
    d->server.on_ns = now(d).on_ns;
    d->server.steady_ns = d->true_ns - d->boot_ns + SECOND_NS;
    memcpy(d->server.boot, d->boot, sizeof d->boot);
}

/* ---- reports ---- */

static void fingerprint(unsigned bug, uint8_t ret_fingerprint[16])
{
    memset(ret_fingerprint, 0, 16);
    ret_fingerprint[0] = (uint8_t)(bug + 1);
}

static void drop(struct device *d, unsigned index)
{
    d->count--;
    d->mails[index] = d->mails[d->count];
    d->contents[index] = d->contents[d->count];
}

static bool make_room(struct device *d)
{
    while (d->count >= d->world->keep_reports) {
        struct mail *mail = choice_to_drop(d->mails, d->count, now(d));
        if (!mail)
            return false;
        drop(d, (unsigned)(mail - d->mails));
    }
    return true;
}

/* These runs get a report, or are counted in one; false: there is no room. */
static bool make(struct device *d, unsigned bug, enum lg__priority priority, const struct more *more)
{
    struct mail new = { .state = LG_DELIVERY_PENDING, .parts = { .priority = priority, .ordinal = more->ordinal } };
    const struct moment at = now(d);
    fingerprint(bug, new.header.fingerprint);
    choice_pace(d->mails, d->count, &new.header, at);
    if (!choice_counts(d->mails, d->count, &new.header, at) && make_room(d)) {
        new.header.ordinal = more->ordinal;
        new.header.made_ns = at.wall_ns;
        new.header.since_on_ns = at.on_ns;
        new.header.more = more->count - 1;
        new.header.full_bytes = d->world->full_bytes;
        new.header.flags = d->world->full_bytes ? 0 : LG__REPORT_FULL_SENT;
        d->contents[d->count] = (struct content){ .bug = bug, .made_ns = d->on_ns };
        d->mails[d->count++] = new;
        d->figures->reports++;
        return true;
    }
    struct mail *like = choice_for_more(d->mails, d->count, new.header.fingerprint);
    if (like && !fate_stand_for(&like->header, more))
        breaks(d, TWO_IDENTITIES);
    return like != NULL;
}

static void compose(struct device *d)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < d->owed_count; i++) {
        const struct owed *owed = &d->owed[i];
        const struct more one = { 1, owed->ordinal, d->true_ns, d->true_ns };
        if (!make(d, owed->bug, owed->priority, &one))
            d->owed[kept++] = *owed;
    }
    d->owed_count = kept;
    for (unsigned bug = 0; bug < BUGS_MOST; bug++)
        if (d->tally[bug].count && make(d, bug, LG__PRIORITY_OTHER, &d->tally[bug]))
            d->tally[bug].count = 0;
}

/* ---- an attempt ---- */

/* The server gets a part. It keeps the first body under a key. */
static void receive(struct device *d, const struct mail *mail, struct content *content)
{
    if (mail->header.flags & LG__REPORT_BRIEF_SENT) {
        content->slices |= 1u << mail->header.full_taken / SLICE_BYTES;
        return;
    }
    if (!content->received) {
        content->received = true;
        content->received_count = 1 + mail->header.more;
        d->arrived[content->bug] += content->received_count;
        d->figures->arrived++;
    }
}

/* A quarter of the servers takes no compressed body, and says so in one of two ways; 0: it does. */
static int refuses_compressed(const struct world *world)
{
    static const int refusals[8] = { 400, 415 };
    return refusals[world->seed / 16 % 8];
}

static struct answer ask(struct device *d, const struct mail *mail, struct content *content, bool compressed)
{
    struct answer answer = { .http_status = 0, .compressed = compressed };
    const int network = spans_word(&d->world->network, d->true_ns), server = spans_word(&d->world->server, d->true_ns);
    if (network == OFFLINE || (network == ONLINE && server == UNREACHABLE)) {
        answer.none_left = true;
        return answer;
    }
    d->left++;
    answer.bytes = mail->header.flags & LG__REPORT_BRIEF_SENT ? slice_bytes(&mail->header) : BRIEF_BYTES;
    d->bytes += answer.bytes;
    if (network == PORTAL) {
        answer.http_status = d->world->has_form ? 200 : 302;
        answer.reply = REPLY_FOREIGN;
        return answer;
    }
    answer.http_status = d->address ? server : 404;
    if (answer.http_status == WELL && answer.compressed && refuses_compressed(d->world))
        answer.http_status = refuses_compressed(d->world);
    else if (answer.http_status == WELL && d->world->poison && content->bug == 0)
        answer.http_status = d->world->poison;
    if (answer.http_status == WELL)
        receive(d, mail, content);
    if (dice(d, 100) < d->world->lost_percent)
        return (struct answer){ .bytes = answer.bytes, .compressed = answer.compressed };
    if (d->world->asks && (answer.http_status == 429 || answer.http_status == 503)) {
        answer.has_pause = true;
        answer.pause_ns = dice(d, 2 * HOUR_NS);
    }
    return answer;
}

static bool is_complete(const struct mail *mail)
{
    return (mail->header.flags & LG__REPORT_BRIEF_SENT) && (mail->header.flags & LG__REPORT_FULL_SENT);
}

/* The parts of a report that is complete came to the server, with every slice of the second. */
static void take(struct device *d, struct mail *mail, bool is_full)
{
    const unsigned slices = d->contents[mail - d->mails].slices;
    if (!is_full)
        mail->header.flags |= LG__REPORT_BRIEF_SENT;
    if (!is_full || !slice_take(&mail->header))
        return;
    mail->header.flags |= LG__REPORT_FULL_SENT;
    if (slices + 1 != 1u << (mail->header.full_bytes + SLICE_BYTES - 1) / SLICE_BYTES)
        breaks(d, WITH_A_HOLE);
}

static void settle(struct device *d, struct mail *mail, enum fate fate, bool is_full)
{
    d->figures->fates[fate]++;
    switch (fate) {
    case FATE_TAKEN:
        take(d, mail, is_full);
        break;
    case FATE_SMALL:
        mail->header.flags |= LG__REPORT_FULL_SENT;
        break;
    case FATE_HELD:
        mail->state = LG_DELIVERY_HELD;
        break;
    case FATE_DEAD:
        mail->state = LG_DELIVERY_DEAD;
        d->figures->dead++;
        break;
    case FATE_PLAIN:
    case FATE_AGAIN:
        break;
    }
    if (is_complete(mail))
        mail->state = LG_DELIVERY_SENT;
}

static void attempt(struct device *d, struct mail *mail)
{
    struct content *content = &d->contents[mail - d->mails];
    const struct lg__server before = d->server;
    const bool left = mail->header.flags & LG__REPORT_LEFT, is_full = mail->header.flags & LG__REPORT_BRIEF_SENT;
    if (d->consent != GIVEN || mail->parts.ordinal < d->from_ordinal)
        breaks(d, WITHHELD_SENT);
    d->requests++;
    d->figures->requests++;
    fate_begin(&mail->header, &d->server, !before.plain, now(d), dice(d, 0));
    store_server(d);
    const struct answer answer = ask(d, mail, content, !before.plain);
    d->true_ns += SECOND_NS + dice(d, answer.http_status ? 2 * SECOND_NS : 29 * SECOND_NS);
    if (dice(d, 100) < d->world->killed_percent && d->true_ns < KILLS_UNTIL_NS) {
        d->agent_ns = d->true_ns + 10 * SECOND_NS; /* the program starts again */
        return;
    }
    const enum fate fate = fate_conclude(&mail->header, &d->server, &before, left, &answer, is_full, now(d), dice(d, 0));
    fate_spend(&d->server, answer.bytes, d->world->daily_bytes, now(d));
    store_server(d);
    const bool is_old = d->on_ns - content->made_ns > 80 * DAY_NS, is_poisoned = d->world->poison && content->bug == 0;
    d->is_old |= is_old && fate == FATE_DEAD;
    if (fate == FATE_DEAD && !is_old && !is_poisoned)
        breaks(d, GIVEN_UP);
    settle(d, mail, fate, is_full);
}

static bool no_skips(const struct mail *mail, const void *user)
{
    (void)mail;
    (void)user;
    return false;
}

/* All that can be done at this moment. */
static void work(struct device *d)
{
    while (d->on && d->consent == GIVEN && d->true_ns >= d->agent_ns && d->broken == POST_WHOLE) {
        compose(d);
        for (unsigned i = 0; i < d->count; i++)
            if (fate_release(&d->mails[i], &d->server, now(d)))
                d->mails[i].state = LG_DELIVERY_PENDING;
        struct mail *mail = choice_next(d->mails, d->count, &d->server, now(d), no_skips, NULL);
        if (!mail)
            return;
        attempt(d, mail);
    }
}

/* ---- events ---- */

/* The device goes off. The agent has stored the time now and then. */
static void go_off(struct device *d)
{
    const uint64_t since = now(d).on_ns - d->server.on_ns, kept = since - since % KEEP_NS;
    if (d->consent == GIVEN && d->count > 0) {
        d->server.on_ns += kept;
        d->server.steady_ns += kept;
    }
}

static void set_address(struct device *d, int address)
{
    const uint8_t config[16] = { (uint8_t)(address + 1) };
    d->address = address;
    fate_set_server(&d->server, config);
    for (unsigned i = 0; i < d->count; i++)
        if (fate_set_report(&d->mails[i], &d->server, now(d))) {
            d->mails[i].state = LG_DELIVERY_PENDING;
            d->contents[i].slices = 0;
        }
}

/* The true time, as far as the device knows it. */
static void set_clock(struct device *d)
{
    d->wall_offset_ns = d->world->clock == CLOCK_NONE ? YEAR_1970_NS - d->true_ns : RIGHT_NS;
}

static void boot(struct device *d)
{
    d->on = true;
    d->boot_ns = d->true_ns;
    d->boot[0]++;
    d->boot[1] = (uint8_t)(d->boot[1] + (d->boot[0] == 0));
    set_clock(d);
    fate_boot(&d->server, now(d));
    for (unsigned i = 0; i < d->count; i++)
        fate_boot_report(&d->mails[i], now(d));
    store_server(d);
    for (unsigned i = 0; i < d->count; i++)
        if (d->mails[i].state == LG_DELIVERY_SENT && dice(d, 2))
            d->mails[i].header.told_ns = now(d).wall_ns;
}

static void set_consent(struct device *d, enum consent consent)
{
    if (consent == WITHHELD) {
        d->withheld_once = true;
        d->from_ordinal = d->ordinal + 1;
        for (unsigned i = d->count; i-- > 0;)
            if (d->mails[i].state != LG_DELIVERY_SENT)
                drop(d, i);
        d->owed_count = 0;
        memset(d->tally, 0, sizeof d->tally);
    }
    d->consent = consent;
}

static void crash(struct device *d, const struct crash *crash)
{
    d->ordinal++;
    if (d->consent == WITHHELD)
        return;
    d->figures->crashes++;
    d->ends[crash->bug]++;
    if (d->consent == GIVEN && !d->crashed[crash->bug] && !d->arrived[crash->bug]) {
        d->crashed[crash->bug] = true;
        d->since_days[crash->bug] = d->online_days + 1; /* this day does not count */
    }
    if (d->owed_count >= d->world->keep_runs) { /* the oldest gives way, and is counted */
        const struct owed *oldest = &d->owed[0];
        struct more *row = &d->tally[oldest->bug];
        *row = (struct more){ row->count + 1, oldest->ordinal, d->true_ns, d->true_ns };
        memmove(d->owed, d->owed + 1, --d->owed_count * sizeof d->owed[0]);
    }
    d->owed[d->owed_count++] = (struct owed){ d->ordinal, crash->bug, crash->priority };
}

/* ---- invariants ---- */

/* A day counts when for an hour the device was on, with a network and a server that does well. */
static void end_of_day(struct device *d)
{
    d->online_days += d->good_day;
    d->good_day = d->good_since_ns && d->true_ns - d->good_since_ns >= HOUR_NS;
    if (d->good_since_ns)
        d->good_since_ns = d->true_ns;
    for (unsigned bug = 0; bug < BUGS_MOST; bug++) {
        if (!d->crashed[bug] || (bug == 0 && d->world->poison) || d->withheld_once)
            continue;
        const unsigned days = d->online_days > d->since_days[bug] ? d->online_days - d->since_days[bug] : 0;
        d->crashed[bug] = !d->arrived[bug]; /* once is enough */
        if (!d->crashed[bug])
            continue;
        if (days > ONLINE_DAYS_MOST)
            breaks(d, LATE);
        if (days > d->figures->most_days)
            d->figures->most_days = days;
    }
    const unsigned pieces = d->world->full_bytes > SLICE_BYTES ? 1 + (d->world->full_bytes + SLICE_BYTES - 1) / SLICE_BYTES : 2;
    if (d->requests > REQUESTS_MOST * pieces || d->left > LEFT_MOST * pieces)
        breaks(d, TOO_MANY_REQUESTS);
    if (d->requests > d->figures->most_requests_a_day)
        d->figures->most_requests_a_day = d->requests;
    if (d->left > d->figures->most_left_a_day)
        d->figures->most_left_a_day = d->left;
    if (d->bytes > 2 * (d->world->daily_bytes + SECOND_BYTES) && !d->world->killed_percent && !d->world->person_days && d->world->clock == CLOCK_RIGHT)
        breaks(d, TOO_MANY_BYTES); /* the days of a calendar are others */
    d->bytes = d->requests = d->left = 0;
}

static void look_at_day(struct device *d)
{
    const int network = spans_word(&d->world->network, d->true_ns), server = spans_word(&d->world->server, d->true_ns);
    const bool good = d->on && d->address && network == ONLINE && server == WELL;
    d->good_day |= d->good_since_ns && d->true_ns - d->good_since_ns >= HOUR_NS;
    d->good_since_ns = !good ? 0 : d->good_since_ns ? d->good_since_ns : d->true_ns;
    for (; d->day < d->true_ns / DAY_NS; d->day++)
        end_of_day(d);
}

static void counts_are_equal(struct device *d)
{
    for (unsigned bug = 0; bug < d->world->bug_count; bug++) {
        const bool is_poisoned = bug == 0 && d->world->poison;
        if (d->arrived[bug] > d->ends[bug] || (d->arrived[bug] < d->ends[bug] && !is_poisoned && !d->withheld_once && !d->is_old))
            breaks(d, WRONG_COUNT);
    }
}

/* ---- a life ---- */

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_event(struct device *d, unsigned crash)
{
    struct world *world = d->world;
    uint64_t next = sooner(sooner(spans_until(&world->power), spans_until(&world->network)), sooner(spans_until(&world->server), spans_until(&world->consent)));
    next = sooner(sooner(next, spans_until(&world->address)), sooner(world->end_ns, (d->day + 1) * DAY_NS));
    if (crash < world->crash_count)
        next = sooner(next, world->crashes[crash].at_ns);
    if (d->on && d->consent == GIVEN) {
        const uint64_t left = choice_left(d->mails, d->count, &d->server, now(d), no_skips, NULL);
        if (d->true_ns < d->agent_ns)
            next = sooner(next, d->agent_ns);
        else if (left != UINT64_MAX)
            next = sooner(next, d->true_ns + (left ? left : 1));
    }
    return next > d->true_ns ? next : d->true_ns + 1;
}

static void happen(struct device *d, unsigned *crash_index)
{
    struct world *world = d->world;
    const bool power = spans_word(&world->power, d->true_ns);
    if (power && !d->on)
        boot(d);
    if (!power && d->on)
        go_off(d);
    d->on = power;
    if (world->clock == CLOCK_JUMPS && dice(d, 500) == 0)
        d->wall_offset_ns = RIGHT_NS + dice(d, 14000 * DAY_NS) - 7000 * DAY_NS;
    const enum consent consent = (enum consent)spans_word(&world->consent, d->true_ns);
    if (consent != d->consent)
        set_consent(d, consent);
    const int address = spans_word(&world->address, d->true_ns);
    if (address != d->address)
        set_address(d, address);
    for (; *crash_index < world->crash_count && world->crashes[*crash_index].at_ns <= d->true_ns; ++*crash_index)
        if (d->on)
            crash(d, &world->crashes[*crash_index]);
    if (world->person_days && d->on && d->true_ns >= d->person_ns) {
        d->person_ns = d->true_ns + world->person_days * DAY_NS;
        for (unsigned i = 0; i < d->count; i++)
            if (fate_hurry(&d->mails[i], true, now(d)))
                d->mails[i].state = LG_DELIVERY_PENDING;
        fate_hurry_server(&d->server);
    }
}

enum post_broken post_live(struct world *world, struct post_figures *figures, unsigned *ret_day)
{
    static struct device device;
    struct device *d = &device;
    unsigned crash_index = 0;
    memset(d, 0, sizeof *d);
    d->world = world;
    d->figures = figures;
    d->dice = ~world->seed;
    d->address = -1;
    d->person_ns = world->person_days * DAY_NS;
    while (d->true_ns < world->end_ns && d->broken == POST_WHOLE) {
        happen(d, &crash_index);
        look_at_day(d);
        work(d);
        const uint64_t next = next_event(d, crash_index);
        d->on_ns += d->on ? next - d->true_ns : 0;
        d->true_ns = next;
    }
    counts_are_equal(d);
    figures->lives++;
    figures->device_s += d->true_ns / SECOND_NS;
    *ret_day = (unsigned)(d->true_ns / DAY_NS);
    return d->broken;
}
