/* Every state that a program's launches can reach, by breadth-first search: the real machine and
 * the model run side by side and are compared at every step. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stddef.h>

#include "pair.h"

#define EXPLORE_RUNGS 4

struct explore_edge {
    uint32_t from, to;
    uint32_t event;
};

struct explore {
    struct pair_program program;
    const struct pair_event *events;
    uint32_t event_count;
    uint32_t node_count;
    uint32_t expanded; /* nodes whose events were all tried */
    size_t edge_count;
    struct explore_edge *edges; /* by `from`, ascending */
    struct explore_node *nodes;
    uint32_t *table;
    uint32_t table_size;
    size_t edge_room;
    uint32_t node_room;
};

/* A program that has more states is compared in the first of them, by the number of steps. About a
 * kilobyte each. */
#define EXPLORE_STATES_MOST 4000000u

/* All states were reached, so that the graph knows every path. */
bool explore_is_whole(const struct explore *explore);

/* False if the two machines differed, or a report or a destructive repair came too often; the path
 * there is printed. */
bool explore_run(struct explore *explore, const struct pair_program *program, const struct pair_event *events, uint32_t event_count);
void explore_free(struct explore *explore);

/* The facts about a state that are needed afterwards. */
struct explore_facts {
    enum model_phase phase;
    enum model_mode mode;
    bool due;
    uint32_t streak, retry_runs;
};

struct explore_facts explore_facts(const struct explore *explore, uint32_t node);
void explore_print_path(const struct explore *explore, uint32_t node);

#endif
