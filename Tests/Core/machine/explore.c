/* States are merged where no row distinguishes them:
 *
 * - streak, ends and reported are cut above every threshold, as rows compare them with thresholds,
 *   with repair_after - 1, and ends with reported, only: which of the two is larger is part of the
 *   key, and `reported` never is the larger one;
 * - unknown, safe_crashes and quiet are cut at the threshold that they are compared with, and left
 *   out where that is "never"; skips, held_deaths, report_strikes and decide_strikes at their
 *   constants;
 * - quits and stops are below a constant or cut at it; unsteady is cut at repair_after;
 * - of the clocks only ages matter, cut at the time that they are compared with; a moment of
 *   another boot is as good as none;
 * - totals, the first run of the streak and the numbers of crashes of the suspects are read by no
 *   row.
 *
 * A merged state keeps the values of the state that was reached first. These values are compared in
 * full after every event. */
#include "explore.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/repair.h"

#define DAY (24 * HOUR)

/* Conditions between events that are far apart. */
struct watch {
    /* bit n: a report was called at n ends, and the ends were not below n since */
    uint64_t reported;
    /* wall clock of the last series of a destructive rung; 0: none */
    uint64_t begun[EXPLORE_RUNGS];
};

struct key {
    uint8_t small[32];
    uint8_t suspects, left_out, fates[EXPLORE_RUNGS];
    uint32_t streak, ends, reported, unknown, attempts, good_runs, safe_crashes, retry_runs, quiet;
    uint64_t locked;
    uint64_t repair_age, series_age[EXPLORE_RUNGS], begun_age[EXPLORE_RUNGS];
};

/* The pair without the rungs and suspects that a small program does not have. */
#define PARTS(X)                                                                    \
    X(model, 0, offsetof(struct model, suspects) + sizeof(struct model_suspect))    \
    X(model, offsetof(struct model, rung_count), offsetof(struct model, rungs) - offsetof(struct model, rung_count) + \
                                                     EXPLORE_RUNGS * sizeof(struct model_rung)) \
    X(real, 0, offsetof(struct lg__ledger_context, suspects) + sizeof(struct lg__ledger_suspect)) \
    X(real, offsetof(struct lg__ledger_context, rungs), EXPLORE_RUNGS * sizeof(struct lg__ledger_rung))
#define SIZE(of, from, size) +(size)
#define PACKED (0 PARTS(SIZE))

struct explore_node {
    struct key key;
    struct watch watch;
    struct model_time now;
    uint32_t parent, event;
    unsigned char bytes[PACKED];
};

#define NONE_YET UINT32_MAX

static uint32_t cut(uint32_t value, uint32_t at)
{
    return value < at ? value : at;
}

static uint64_t age(struct model_time moment, struct model_time now, uint64_t compared_ms)
{
    if (compared_ms == 0 || moment.boot != now.boot)
        return UINT64_MAX;
    const uint64_t ns = now.ns - moment.ns;
    return ns < compared_ms * MS ? ns : compared_ms * MS;
}

static uint64_t wall_age(uint64_t moment, uint64_t now)
{
    if (moment == 0)
        return UINT64_MAX;
    return now - moment < DAY ? now - moment : DAY;
}

static struct key key_of(const struct pair *pair, const struct watch *watch)
{
    const struct model *m = &pair->model;
    const struct model_policy *policy = &m->policy;
    const uint32_t top = 1 + (policy->report_after > policy->repair_after ? policy->report_after : policy->repair_after);
    struct key key;
    memset(&key, 0, sizeof key); /* clears the padding, too */
    const uint32_t small[] = { m->phase, m->mode, m->due, m->reporting, m->skippable, m->ends > m->reported, cut(m->report_strikes, 2), m->rung,
                               m->interruptions, cut(m->skips, 3), cut(m->held_deaths, 2), m->rung_count, m->shadow, m->told, m->owes, m->again, m->asking,
                               m->late, cut(m->decide_strikes, 2), m->unexplained, m->giving_up, m->leaving, m->by_hand, cut(m->give_up_strikes, 2), m->quits, cut(m->stops, 3),
                               cut(m->unsteady, policy->repair_after), m->hint_repair, m->hint_hold, m->hint_safe, m->hint_serial };
    static_assert(sizeof small / sizeof small[0] <= sizeof key.small, "");
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        key.small[i] = (uint8_t)small[i];
    key.suspects = (uint8_t)m->suspect_count;
    key.left_out = m->suspect_count > 0 && m->suspects[0].left_out;
    key.streak = cut(m->streak, top);
    key.ends = cut(m->ends, top);
    key.reported = cut(m->reported, top);
    key.unknown = cut(m->unknown, policy->unknown_after);
    key.attempts = m->attempts;
    key.good_runs = m->good_runs;
    key.safe_crashes = cut(m->safe_crashes, policy->safe_crash_limit ? policy->safe_crash_limit : 2);
    key.retry_runs = m->retry_runs;
    key.quiet = cut(m->quiet, policy->deescalate_runs);
    key.locked = (watch->reported & ((UINT64_C(1) << top) - 1)) | (watch->reported >> (m->ends & 63) & 1) << 63;
    key.repair_age = age(m->repaired, pair->now, policy->deescalate_ms);
    for (uint32_t i = 0; i < EXPLORE_RUNGS; i++) {
        key.fates[i] = (uint8_t)(m->rungs[i].tried | m->rungs[i].refused << 1);
        key.series_age[i] = m->rungs[i].destructive ? wall_age(m->rungs[i].series, pair->now.wall) : 0;
        key.begun_age[i] = wall_age(watch->begun[i], pair->now.wall);
    }
    return key;
}

/* ---- The set of states ---- */

static uint32_t hash_of(const struct key *key)
{
    const unsigned char *bytes = (const unsigned char *)key;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

static void put(struct explore *explore, uint32_t node)
{
    uint32_t at = hash_of(&explore->nodes[node].key) & (explore->table_size - 1);
    while (explore->table[at] != NONE_YET)
        at = (at + 1) & (explore->table_size - 1);
    explore->table[at] = node;
}

static uint32_t find(const struct explore *explore, const struct key *key)
{
    uint32_t at = hash_of(key) & (explore->table_size - 1);
    for (; explore->table[at] != NONE_YET; at = (at + 1) & (explore->table_size - 1))
        if (memcmp(&explore->nodes[explore->table[at]].key, key, sizeof *key) == 0)
            return explore->table[at];
    return NONE_YET;
}

static void *sized(void *old, size_t count, size_t size)
{
    void *grown = realloc(old, count * size);
    if (!grown)
        abort();
    return grown;
}

static void make_room(struct explore *explore)
{
    if (explore->node_count < explore->node_room)
        return;
    explore->node_room = explore->node_room ? 2 * explore->node_room : 1024;
    explore->nodes = sized(explore->nodes, explore->node_room, sizeof *explore->nodes);
    explore->table_size = 4 * explore->node_room;
    explore->table = sized(explore->table, explore->table_size, sizeof *explore->table);
    memset(explore->table, 0xff, explore->table_size * sizeof *explore->table);
    for (uint32_t i = 0; i < explore->node_count; i++)
        put(explore, i);
}

static uint32_t add(struct explore *explore, const struct pair *pair, const struct watch *watch, uint32_t parent, uint32_t event)
{
    const struct key key = key_of(pair, watch);
    uint32_t node = find(explore, &key);
    if (node != NONE_YET)
        return node;
    make_room(explore);
    node = explore->node_count++;
    struct explore_node *made = &explore->nodes[node];
    *made = (struct explore_node){ .watch = *watch, .now = pair->now, .parent = parent, .event = event };
    memcpy(&made->key, &key, sizeof key);
    unsigned char *at = made->bytes;
#define PACK(of, from, size) memcpy(at, (const unsigned char *)&pair->of + (from), size), at += (size);
    PARTS(PACK)
    put(explore, node);
    return node;
}

static void pair_of(const struct explore_node *node, struct pair *ret_pair)
{
    memset(ret_pair, 0, sizeof *ret_pair);
    const unsigned char *at = node->bytes;
#define UNPACK(of, from, size) memcpy((unsigned char *)&ret_pair->of + (from), at, size), at += (size);
    PARTS(UNPACK)
    ret_pair->now = node->now;
}

/* ---- Checks on the real machine ---- */

static uint64_t up_to(uint32_t bit)
{
    return bit >= 62 ? UINT64_MAX >> 1 : (UINT64_C(1) << (bit + 1)) - 1;
}

static bool watch_event(const struct explore *explore, struct watch *watch, const struct pair_event *event, const struct pair *before, const struct pair *after)
{
    const struct lg__ledger_context *was = &before->real, *is = &after->real;
    watch->reported &= up_to(is->ends);
    if (event->kind != TOLD && event->kind != UPGRADE && !explore->program.nobody_asks && (was->flags & LG__CONTEXT_OWES) && !(is->flags & LG__CONTEXT_OWES) &&
        !(was->flags & LG__CONTEXT_AGAIN)) {
        printf("a report that had no turn is forgotten\n");
        return false;
    }
    const bool new_ends = is->ends >= is->report_after && is->ends > is->reported;
    if (event->kind == BEGIN && (is->flags & LG__CONTEXT_OWES) && !(was->flags & LG__CONTEXT_OWES) && !new_ends && (was->flags & LG__CONTEXT_TOLD) &&
        !(was->flags & LG__CONTEXT_LATE)) {
        printf("%u unexplained deaths were reported twice\n", was->unknown);
        return false;
    }
    if (event->kind == TOLD && is->reported != was->reported) {
        const uint64_t bit = UINT64_C(1) << (is->ends & 63);
        if (watch->reported & bit) {
            printf("%u ends were reported twice\n", is->ends);
            return false;
        }
        watch->reported |= bit;
    }
    if (event->kind == ATTEMPT && was->attempts == 0 && was->interruptions == 0 && (was->rungs[was->rung].flags & LG_REPAIR_DESTRUCTIVE)) {
        uint64_t *begun = &watch->begun[was->rung];
        if (*begun != 0 && before->now.wall - *begun < DAY) {
            printf("destructive rung %u began twice in a day\n", was->rung);
            return false;
        }
        *begun = before->now.wall;
    }
    if (event->kind == UPGRADE)
        memset(watch, 0, sizeof *watch);
    return true;
}

/* ---- The search ---- */

static bool expand(struct explore *explore, uint32_t node)
{
    struct pair before;
    pair_of(&explore->nodes[node], &before);
    for (uint32_t i = 0; i < explore->event_count; i++) {
        const struct pair_event *event = &explore->events[i];
        if (!pair_allows(&before, event))
            continue;
        struct pair after = before;
        struct watch watch = explore->nodes[node].watch;
        if (!pair_apply(&after, &explore->program, event) || !watch_event(explore, &watch, event, &before, &after)) {
            explore_print_path(explore, node);
            printf("then %s\n", event_text(event));
            pair_print(&after);
            return false;
        }
        const uint32_t to = add(explore, &after, &watch, node, i);
        if (explore->edge_count == explore->edge_room) {
            explore->edge_room = explore->edge_room ? 2 * explore->edge_room : 65536;
            explore->edges = sized(explore->edges, explore->edge_room, sizeof *explore->edges);
        }
        explore->edges[explore->edge_count++] = (struct explore_edge){ node, to, i };
    }
    return true;
}

bool explore_run(struct explore *explore, const struct pair_program *program, const struct pair_event *events, uint32_t event_count)
{
    assert(program->model.rung_count <= EXPLORE_RUNGS);
    *explore = (struct explore){ .program = *program, .events = events, .event_count = event_count };
    make_room(explore);
    const struct pair first = pair_new();
    add(explore, &first, &(struct watch){ .reported = 0 }, NONE_YET, 0);
    for (; explore->expanded < explore->node_count && explore->node_count < EXPLORE_STATES_MOST; explore->expanded++)
        if (!expand(explore, explore->expanded))
            return false;
    return true;
}

bool explore_is_whole(const struct explore *explore)
{
    return explore->expanded == explore->node_count;
}

void explore_free(struct explore *explore)
{
    free(explore->nodes);
    free(explore->edges);
    free(explore->table);
}

struct explore_facts explore_facts(const struct explore *explore, uint32_t node)
{
    const struct key *key = &explore->nodes[node].key;
    return (struct explore_facts){ .phase = key->small[0], .mode = key->small[1], .due = key->small[2], .streak = key->streak,
                                   .retry_runs = key->retry_runs };
}

void explore_print_path(const struct explore *explore, uint32_t node)
{
    if (explore->nodes[node].parent != NONE_YET) {
        explore_print_path(explore, explore->nodes[node].parent);
        printf("%s\n", event_text(&explore->events[explore->nodes[node].event]));
    }
    struct pair pair;
    pair_of(&explore->nodes[node], &pair);
    printf("    ");
    pair_print(&pair);
}
