#include <string.h>

#include "post.h"
#include "seeds.h"

static uint64_t state;

static uint64_t below(uint64_t limit)
{
    state = mix_seed(state);
    return limit ? state % limit : 0;
}

static bool percent(unsigned part)
{
    return below(100) < part;
}

int spans_word(struct spans *spans, uint64_t now_ns)
{
    while (spans->at + 1 < spans->count && spans->list[spans->at].until_ns <= now_ns)
        spans->at++;
    return spans->list[spans->at].word;
}

uint64_t spans_until(const struct spans *spans)
{
    return spans->list[spans->at].until_ns;
}

static uint64_t last_ns(const struct spans *spans)
{
    return spans->count ? spans->list[spans->count - 1].until_ns : 0;
}

/* Another span, of that length. */
static void add(struct spans *spans, uint64_t length_ns, int word)
{
    const uint64_t until_ns = last_ns(spans) + length_ns;
    if (spans->count + 1 < SPANS_MOST)
        spans->list[spans->count++] = (struct span){ until_ns, word };
}

/* From `from_ns` on this word, for ever. */
static void finish(struct spans *spans, uint64_t from_ns, int word)
{
    while (spans->count && last_ns(spans) > from_ns && (spans->count == 1 || spans->list[spans->count - 2].until_ns >= from_ns))
        spans->count--;
    if (spans->count && last_ns(spans) > from_ns)
        spans->list[spans->count - 1].until_ns = from_ns;
    spans->list[spans->count++] = (struct span){ UINT64_MAX, word };
}

/* ---- power and clocks ---- */

static void draw_power(struct world *world)
{
    const unsigned kind = (unsigned)below(5);
    const uint64_t hours = 1 + below(12), minutes = 5 + below(120);
    while (last_ns(&world->power) < world->drain_ns && world->power.count + 3 < SPANS_MOST)
        switch (kind) {
        case 0: add(&world->power, world->drain_ns, 1); break;
        case 1: /* some hours a day */
            add(&world->power, hours * HOUR_NS, 1);
            add(&world->power, (24 - hours) * HOUR_NS, 0);
            break;
        case 2: /* boots again and again, for a while */
            for (int i = 0; i < 40; i++) {
                add(&world->power, minutes * MINUTE_NS, 1);
                add(&world->power, 30 * SECOND_NS, 0);
            }
            add(&world->power, (1 + below(20)) * DAY_NS, 1);
            break;
        default: /* at any time */
            add(&world->power, (1 + below(200)) * HOUR_NS, 1);
            add(&world->power, 1 + below(40 * HOUR_NS), 0);
        }
    finish(&world->power, world->drain_ns, 1);
    world->clock = (enum clock)below(3);
}

/* ---- the network ---- */

static void draw_network(struct world *world)
{
    struct spans *network = &world->network;
    const unsigned kind = (unsigned)below(6), portals = percent(30) ? 30 : 0;
    const uint64_t offset = below(12) * HOUR_NS;
    add(network, offset + 1, ONLINE);
    while (last_ns(network) < world->drain_ns && network->count + 3 < SPANS_MOST) {
        const int online = percent(portals) ? PORTAL : ONLINE;
        switch (kind) {
        case 0: add(network, world->drain_ns, ONLINE); break;
        case 1: /* offline nights */
            add(network, 14 * HOUR_NS, online);
            add(network, 10 * HOUR_NS, OFFLINE);
            break;
        case 2: /* an hour a week */
            add(network, 7 * DAY_NS - HOUR_NS, OFFLINE);
            add(network, HOUR_NS + MINUTE_NS, online);
            break;
        case 3: /* weeks without */
            add(network, (1 + below(20)) * DAY_NS, OFFLINE);
            add(network, (1 + below(72)) * HOUR_NS, online);
            break;
        default: /* comes and goes */
            add(network, below(6 * HOUR_NS) + 1, online);
            add(network, below(3 * HOUR_NS) + 1, OFFLINE);
        }
    }
    finish(network, world->drain_ns, ONLINE);
}

/* ---- the server ---- */

static void draw_server(struct world *world)
{
    static const int words[] = { 503, 503, 502, 500, 429, 404, 404, 403, 401, 405, 302, UNREACHABLE, UNREACHABLE };
    struct spans *server = &world->server;
    const bool is_bad = percent(70);
    while (last_ns(server) < world->drain_ns && server->count + 3 < SPANS_MOST) {
        add(server, (1 + below(15 * 24)) * HOUR_NS, WELL);
        if (is_bad) { /* a deployment of minutes, or an outage of days */
            static const uint64_t lengths[] = { 5 * MINUTE_NS, HOUR_NS, 10 * HOUR_NS, 4 * DAY_NS };
            add(server, 1 + below(lengths[below(4)]), words[below(sizeof words / sizeof words[0])]);
        }
    }
    finish(server, world->drain_ns, WELL);
    const uint64_t corrected = percent(20) ? below(30 * DAY_NS) + 1 : 0; /* a typo in the address */
    if (corrected)
        add(&world->address, corrected, 0);
    finish(&world->address, corrected, 1);
    world->poison = percent(15) ? (percent(50) ? 400 : 500) : 0;
    world->lost_percent = percent(40) ? (unsigned)below(60) : 0;
    world->full_bytes = !percent(70) ? 0 : world->seed % 4 ? 64 << 10 : 300 << 10;
    world->has_form = percent(50);
    world->asks = percent(50);
}

/* ---- the program and its user ---- */

static void draw_crashes(struct world *world)
{
    uint64_t at = 0;
    world->bug_count = 1 + (unsigned)below(BUGS_MOST);
    while (world->crash_count < RUNS_MOST) {
        unsigned left = percent(20) ? 1 + (unsigned)below(400) : 1; /* a loop */
        const unsigned bug = (unsigned)below(world->bug_count);
        at += below(20 * DAY_NS);
        const uint64_t gap = 10 * SECOND_NS + below(10 * MINUTE_NS);
        for (; left-- && world->crash_count < RUNS_MOST; at += gap) {
            if (at >= world->drain_ns)
                return;
            world->crashes[world->crash_count++] = (struct crash){ at, bug, (enum lg__priority)below(3) };
        }
    }
}

static void draw_consent(struct world *world)
{
    const uint64_t when = below(25 * DAY_NS) + 1; /* before drain_ns */
    switch (below(10)) {
    case 0: /* decided late */
        add(&world->consent, when, UNDECIDED);
        finish(&world->consent, when, GIVEN);
        break;
    case 1: /* withdrawn, and given again */
        add(&world->consent, when, GIVEN);
        add(&world->consent, 20 * DAY_NS, WITHHELD);
        finish(&world->consent, when + 20 * DAY_NS, GIVEN);
        break;
    default:
        finish(&world->consent, 0, GIVEN);
    }
}

void world_draw(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof *world);
    state = world->seed = seed;
    world->drain_ns = (30 + below(170)) * DAY_NS;
    world->end_ns = world->drain_ns + 20 * DAY_NS;
    draw_power(world);
    draw_network(world);
    draw_server(world);
    draw_crashes(world);
    draw_consent(world);
    world->killed_percent = percent(20) ? (percent(20) ? 100 : (unsigned)below(60)) : 0;
    world->keep_reports = percent(30) ? 4 + (unsigned)below(8) : MAILS_MOST;
    world->keep_runs = 4 + (unsigned)below(60);
    world->daily_bytes = percent(30) ? (300 + below(2000)) * 1024 : UINT64_C(64) << 20;
    world->person_days = percent(20) ? 1 + (unsigned)below(40) : 0;
}
