/* The machine is compared with its model in every state that launches of small programs can reach.
 * Then the promises of docs/LAUNCH.md for every path are checked on the graph of these states. The
 * argument "all" adds the states of large programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore.h"

#define EVENTS_MAX 128
#define T (24 * (int64_t)HOUR) /* a day */

static bool all;

struct events {
    struct pair_event list[EVENTS_MAX];
    uint32_t count;
};

static void event(struct events *events, struct pair_event one)
{
    assert_true(events->count < EVENTS_MAX);
    events->list[events->count++] = one;
}

/* Every end alone, after a finished launch, in a module of another context, and in a task; pairs of
 * ends in all combinations. */
static void all_ends(struct events *events)
{
    for (enum model_end end = END_NONE; end < END_COUNT; end++)
        for (unsigned how = 0; how < 8; how++)
            if (how == 0 || how == 1 || how == 2 || how == 4 || end == END_CRASH || end == END_KILLED)
                event(events, (struct pair_event){ .kind = ACCOUNT, .end = end, .finished = how & 1, .others = how >> 1 & 1, .task = how >> 2 & 1,
                                                   .lived_ms = MODEL_NOT_KNOWN });
    event(events, (struct pair_event){ .kind = ACCOUNT, .end = END_CRASH, .sigpipe = true, .lived_ms = MODEL_NOT_KNOWN });
    event(events, (struct pair_event){ .kind = ACCOUNT, .end = END_CRASH, .early = true, .lived_ms = MODEL_NOT_KNOWN });
    event(events, (struct pair_event){ .kind = UPGRADE, .end = END_CRASH, .lived_ms = MODEL_NOT_KNOWN });
}

/* One of each weight. */
static void some_ends(struct events *events)
{
    static const enum model_end ends[] = { END_CLEAN, END_CRASH, END_KILLED, END_DEBUGGER };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        event(events, (struct pair_event){ .kind = ACCOUNT, .end = ends[i], .lived_ms = MODEL_NOT_KNOWN });
    event(events, (struct pair_event){ .kind = ACCOUNT, .end = END_CRASH, .finished = true, .lived_ms = MODEL_NOT_KNOWN });
}

/* Ends that are known to come soon after the launch, and later. */
static void soon_ends(struct events *events)
{
    event(events, (struct pair_event){ .kind = ACCOUNT, .end = END_CRASH, .finished = true, .lived_ms = 59999 });
    event(events, (struct pair_event){ .kind = ACCOUNT, .end = END_CRASH, .finished = true, .lived_ms = 60000 });
    event(events, (struct pair_event){ .kind = ACCOUNT, .end = END_KILLED, .finished = true, .lived_ms = 0 });
}

/* ---- Small programs ---- */

struct small_program {
    const char *name;
    uint32_t report_after, repair_after, unknown_after;
    uint32_t safe_retry_runs, safe_retry_max, safe_crash_limit, deescalate_runs;
    bool deescalates; /* after a day */
    struct { uint32_t attempts; bool destructive, restart; } rungs[EXPLORE_RUNGS - 1];
    uint32_t rung_count;
    bool time, ends, everything_counts, tasks, shadow, decides, slow, soon, gives_up, reports;
    bool repairs_itself, hints;
};

static const struct small_program small_programs[] = {
    { "no repairs", 1, 1, 1, 1, 2, 1, 1, 0, { { 0, 0, 0 } }, 0, .ends = true, .repairs_itself = true },
    { "reports", 1, 1, 0, 1, 1, 1, 0, 0, { { 0, 0, 0 } }, 0, .reports = true },
    { "gives up", 1, 1, 0, 1, 1, 1, 0, 0, { { 0, 0, 0 } }, 0, .gives_up = true, .repairs_itself = true },
    { "no repairs, twice", 1, 2, 2, 2, 4, 2, 1, 0, { { 0, 0, 0 } }, 0, .ends = true, .slow = true },
    { "no repairs, tasks", 1, 2, 2, 2, 4, 2, 1, 0, { { 0, 0, 0 } }, 0, .ends = true, .tasks = true, .slow = true },
    { "report first", 1, 2, 0, 1, 2, 1, 1, 0, { { 1, 1, 0 } }, 1, .time = true, .slow = true, .repairs_itself = true },
    { "report with the repair", 2, 2, 1, 1, 2, 1, 0, 0, { { 2, 0, 0 } }, 1, .shadow = true, .slow = true },
    { "report last", 3, 1, 1, 1, 4, 2, 0, 0, { { 1, 0, 1 }, { 2, 1, 0 } }, 2, .ends = true, .everything_counts = true, .slow = true },
    { "unknown ends", 1, 2, 3, 2, 4, 0, 2, 0, { { 1, 0, 0 } }, 1, .slow = true },
    { "crashes soon", 1, 1, 0, 1, 1, 1, 0, 0, { { 1, 0, 0 } }, 1, .soon = true, .repairs_itself = true },
    { "crashes soon, twice", 1, 2, 0, 1, 2, 1, 1, 0, { { 1, 0, 0 } }, 1, .soon = true, .slow = true },
    { "crashes soon, unexplained ends", 1, 2, 2, 1, 2, 1, 0, 0, { { 1, 1, 0 } }, 1, .soon = true, .slow = true },
    { "decides at once", 1, 1, 0, 1, 1, 1, 0, 0, { { 0, 0, 0 } }, 0, .decides = true },
    { "decides itself", 1, 1, 1, 1, 1, 1, 0, 0, { { 1, 0, 0 } }, 1, .decides = true, .slow = true },
    { "hints", 1, 1, 0, 1, 1, 1, 0, 0, { { 1, 0, 0 } }, 1, .hints = true },
    { "hints, twice", 1, 2, 2, 1, 2, 2, 1, 0, { { 1, 0, 0 }, { 1, 1, 0 } }, 2, .hints = true, .decides = true, .slow = true },
    { "two repairs", 1, 1, 0, 1, 2, 1, 1, 1, { { 2, 1, 0 }, { 1, 0, 1 } }, 2, .time = true, .slow = true },
    { "three repairs", 2, 1, 1, 1, 2, 1, 1, 0, { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 } }, 3, .time = true, .slow = true },
};
#define PROGRAMS (sizeof small_programs / sizeof small_programs[0])

static struct events events_of(const struct small_program *small)
{
    struct events events = { .count = 0 };
    for (unsigned how = 0; how < 4; how++)
        if (small->shadow || how < 2)
            event(&events, (struct pair_event){ .kind = BEGIN, .skippable = how & 1, .shadow = how >> 1 });
    for (enum model_decision decided = BY_RULE; small->decides && decided <= HOLD; decided++) {
        event(&events, (struct pair_event){ .kind = COURSE, .decided = decided });
        event(&events, (struct pair_event){ .kind = BEGIN, .decided = decided, .asks = decided == BY_RULE });
    }
    for (enum model_hint_kind hint = HINT_LEAVES_OUT; small->hints && hint <= HINT_HOLDS; hint++) {
        event(&events, (struct pair_event){ .kind = BEGIN, .hint = hint, .hint_serial = 1, .hint_rung = 1 });
        if (small->decides) {
            event(&events, (struct pair_event){ .kind = BEGIN, .asks = true, .hint = hint, .hint_serial = 1, .hint_rung = 2 });
            event(&events, (struct pair_event){ .kind = COURSE, .hint = hint, .hint_serial = 1, .hint_rung = 2 });
        }
    }
    static const enum pair_kind plain[] = { TOLD, REPORTED, ATTEMPT, DONE_OK, DONE_FAILED, OVERRUN, REFUSE, SKIP, EXPIRE, TRY, PROTECT, FINISH, TERMINATE, UPGRADE };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        event(&events, (struct pair_event){ .kind = plain[i] });
    if (small->repairs_itself) {
        event(&events, (struct pair_event){ .kind = REPAIRED });
        event(&events, (struct pair_event){ .kind = PROTECT, .empty = true });
    }
    if (small->time) {
        event(&events, (struct pair_event){ .kind = REBOOT });
        event(&events, (struct pair_event){ .kind = PASS, .ns = T, .wall = T });
        event(&events, (struct pair_event){ .kind = PASS, .ns = T - 1, .wall = T - 1 });
    }
    if (small->ends)
        all_ends(&events);
    else
        some_ends(&events);
    if (small->soon)
        soon_ends(&events);
    if (small->gives_up) {
        event(&events, (struct pair_event){ .kind = GIVE_UP });
        event(&events, (struct pair_event){ .kind = GAVE_UP });
    }
    if (small->tasks)
        event(&events, (struct pair_event){ .kind = LEAVE_OUT });
    else
        for (uint32_t i = 0; i < events.count; i++)
            events.list[i].task = 0;
    return events;
}

static struct pair_program program_from(const struct small_program *small)
{
    struct model_launch launch = usual_launch();
    struct model_policy *policy = &launch.policy;
    policy->report_after = small->report_after;
    policy->repair_after = small->repair_after;
    policy->unknown_after = small->unknown_after;
    policy->safe_retry_runs = small->safe_retry_runs;
    policy->safe_retry_max = small->safe_retry_max;
    policy->safe_crash_limit = small->safe_crash_limit;
    policy->deescalate_runs = small->deescalate_runs;
    policy->deescalate_ms = small->deescalates ? T / MS : 0;
    policy->count_exit = policy->count_sigpipe = small->everything_counts;
    for (uint32_t i = 0; i < small->rung_count; i++)
        add_rung(&launch, small->rungs[i].attempts, small->rungs[i].destructive, small->rungs[i].restart);
    struct pair_program program = program_of(&launch);
    program.nobody_asks = !small->reports;
    return program;
}

/* ---- Longest paths in a part of the graph ---- */

struct part {
    const struct explore *explore;
    /* is it in the part? */
    bool (*edge)(const struct explore *explore, const struct explore_edge *edge);
    /* is a path that is here at its end? */
    bool (*over)(struct explore_facts facts);
    /* the length of a path counts these */
    enum pair_kind counted;
    uint32_t *first;   /* edge of each node */
    uint32_t *longest; /* from each node */
    unsigned char *visited; /* 1: on the path, 2: done */
};

static bool walk(struct part *part, uint32_t node)
{
    const struct explore *explore = part->explore;
    if (part->visited[node] == 2)
        return true;
    if (part->visited[node] == 1) {
        printf("an endless path comes through this state again:\n");
        explore_print_path(explore, node);
        return false;
    }
    part->visited[node] = 1;
    uint32_t longest = 0;
    for (uint32_t i = part->first[node]; !part->over(explore_facts(explore, node)) && i < part->first[node + 1]; i++) {
        const struct explore_edge *edge = &explore->edges[i];
        if (!part->edge(explore, edge))
            continue;
        if (!walk(part, edge->to)) {
            printf("%s after node %u\n", event_text(&explore->events[edge->event]), node);
            return false;
        }
        const uint32_t length = part->longest[edge->to] + (explore->events[edge->event].kind == part->counted);
        longest = length > longest ? length : longest;
    }
    part->longest[node] = longest;
    part->visited[node] = 2;
    return true;
}

/* Fills part->longest; fails where a path has no end. */
static void longest_paths(struct part *part)
{
    const struct explore *explore = part->explore;
    part->first = calloc(explore->node_count + 1u, sizeof *part->first);
    part->longest = calloc(explore->node_count, sizeof *part->longest);
    part->visited = calloc(explore->node_count, 1);
    assert_true(part->first && part->longest && part->visited);
    for (size_t i = 0; i < explore->edge_count; i++)
        part->first[explore->edges[i].from + 1]++;
    for (uint32_t i = 0; i < explore->node_count; i++)
        part->first[i + 1] += part->first[i];
    for (uint32_t i = 0; i < explore->node_count; i++)
        assert_true(walk(part, i));
}

static void part_free(struct part *part)
{
    free(part->first);
    free(part->longest);
    free(part->visited);
}

/* ---- No dead end ---- */

/* The vendor, who is to take them back, wants no normal launch. */
static bool hint_is_against(enum model_hint_kind hint)
{
    return hint == HINT_SAFE || hint == HINT_HOLDS;
}

/* Launches that are finished, whatever the answers during a hold are. */
static bool healthy(const struct explore *explore, const struct explore_edge *edge)
{
    const struct pair_event *event = &explore->events[edge->event];
    const enum model_phase phase = explore_facts(explore, edge->from).phase;
    switch (event->kind) {
    case ACCOUNT: return (phase == FINISHED || phase == TERMINATING) && event->end == END_CLEAN && !event->finished && !event->others;
    case BEGIN: return !event->shadow && event->decided <= GO_ON && !hint_is_against(event->hint);
    case COURSE: return event->decided <= GO_ON && !hint_is_against(event->hint);
    case PROTECT:
    case TERMINATE:
    case LEAVE_OUT:
    case GIVE_UP: /* and back to the same halted launch */
    case GAVE_UP:
    case PASS:
    case REBOOT:
    case UPGRADE: return false;
    default: return true;
    }
}

static bool recovered(struct explore_facts facts)
{
    return facts.phase == FINISHED && facts.mode == NORMAL && facts.streak == 0 && !facts.due;
}

static void check_recovery(const struct explore *explore, const struct small_program *small)
{
    struct part part = { .explore = explore, .edge = healthy, .over = recovered, .counted = FINISH };
    longest_paths(&part);
    uint32_t most = 0;
    for (uint32_t node = 0; node < explore->node_count; node++) {
        const struct explore_facts facts = explore_facts(explore, node);
        const uint32_t retry_runs = facts.retry_runs ? facts.retry_runs : small->safe_retry_runs;
        if (part.longest[node] > retry_runs + 1) {
            explore_print_path(explore, node);
            fail_msg("%u launches to recover", part.longest[node]);
        }
        most = part.longest[node] > most ? part.longest[node] : most;
    }
    printf("%s: normal again after at most %u finished launches\n", small->name, most);
    part_free(&part);
}

/* ---- No program is stuck ---- */

static bool outside_safe_mode_over(struct explore_facts facts)
{
    return facts.mode == SAFE;
}

static bool is_counted(const struct explore *explore, const struct pair_event *event)
{
    const struct model_policy *policy = &explore->program.model.policy;
    if (event->others)
        return false;
    switch (event->end) {
    case END_CRASH: return event->sigpipe ? policy->count_sigpipe : policy->count_crash;
    case END_HANG: return policy->count_hang;
    case END_OOM: return policy->count_oom;
    case END_EXIT: return policy->count_exit;
    default: return false;
    }
}

static bool is_unexplained(const struct pair_event *event)
{
    return !event->others && (event->end == END_UNKNOWN || event->end == END_KILLED);
}

/* Deaths and answers that never help, in any order: every launch that is not held dies. A held
 * launch is skipped, refused or dies. A repair dies, is ended by the user, or succeeds without
 * effect. No time passes. A hint that leaves out the task of the last end does so once: the next
 * end is in another one. */
static bool hopeless(const struct explore *explore, const struct explore_edge *edge)
{
    const struct pair_event *event = &explore->events[edge->event];
    switch (event->kind) {
    case BEGIN: return !event->shadow && event->decided != GO_ON && event->hint != HINT_LEAVES_OUT;
    case COURSE: return event->decided != GO_ON && event->hint != HINT_LEAVES_OUT;
    case ACCOUNT: break;
    case FINISH:
    case TERMINATE:
    case LEAVE_OUT:
    case GIVE_UP:
    case GAVE_UP:
    case PASS:
    case REBOOT:
    case UPGRADE: return false;
    default: return true;
    }
    if (event->finished)
        return false;
    switch (explore_facts(explore, edge->from).phase) {
    case LAUNCHING: return is_counted(explore, event) || (is_unexplained(event) && explore->program.model.policy.unknown_after != 0);
    case HELD: return is_counted(explore, event) || is_unexplained(event);
    case REPAIRING: return event->end != END_DEBUGGER;
    case TERMINATING: return true;
    default: return false;
    }
}

/* A repair that is needed and never completes: the process is killed while the repair waits or
 * runs, however much time passes between the launches. */
static bool never_let_through(const struct explore *explore, const struct explore_edge *edge)
{
    const struct pair_event *event = &explore->events[edge->event];
    const enum model_phase phase = explore_facts(explore, edge->from).phase;
    switch (event->kind) {
    case PASS:
    case REBOOT: return edge->from != edge->to; /* once everything is long ago, nothing changes */
    case SKIP:
    case REPAIRED:
    case DONE_OK: return false;
    case COURSE: return hopeless(explore, edge);
    case ACCOUNT: return (phase == HELD || phase == REPAIRING) && hopeless(explore, edge);
    default: return phase != LAUNCHING && hopeless(explore, edge);
    }
}

static void check_nobody_is_caught(const struct explore *explore, const struct small_program *small)
{
    static const struct { const char *who; bool (*edge)(const struct explore *, const struct explore_edge *); } ways[] = {
        { "all that can go wrong", hopeless }, { "never let through", never_let_through }
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct part part = { .explore = explore, .edge = ways[i].edge, .over = outside_safe_mode_over, .counted = BEGIN };
        longest_paths(&part);
        uint32_t most = 0;
        for (uint32_t node = 0; node < explore->node_count; node++)
            most = part.longest[node] > most ? part.longest[node] : most;
        printf("%s, %s: in safe mode after at most %u launches\n", small->name, ways[i].who, most);
        part_free(&part);
    }
}

/* ---- */

static void test_every_state(void **state)
{
    (void)state;
    size_t states = 0, transitions = 0;
    for (size_t i = 0; i < PROGRAMS; i++) {
        const struct small_program *small = &small_programs[i];
        if (small->slow && !all)
            continue;
        const struct pair_program program = program_from(small);
        const struct events events = events_of(small);
        struct explore explore;
        if (!explore_run(&explore, &program, events.list, events.count))
            fail_msg("%s: the machine differs from docs/LAUNCH.md", small->name);
        printf("%s: %u states, %zu transitions%s\n", small->name, explore.node_count, explore.edge_count,
               explore_is_whole(&explore) ? "" : "; there are more states, and the promises for every path are not checked");
        states += explore.node_count;
        transitions += explore.edge_count;
        if (explore_is_whole(&explore)) {
            check_recovery(&explore, small);
            check_nobody_is_caught(&explore, small);
        } else {
            assert_true(all); /* make test knows every state of its programs */
        }
        explore_free(&explore);
    }
    printf("together %zu states, %zu transitions compared\n", states, transitions);
    assert_true(states > 10000);
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_state) };
    return cmocka_run_group_tests_name("all_states", tests, NULL, NULL);
}
