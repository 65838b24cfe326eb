/* A device that delivers its reports, in virtual time: a spool, two clocks, and the real policy of
 * the agent; around it a network, a server and power that do what they like. Given the same seed,
 * everything happens again exactly. */
#ifndef POST_H
#define POST_H

#include "policy/choice.h"
#include "policy/fate.h"

#define MINUTE_NS (60 * SECOND_NS)
#define BUGS_MOST 6
#define MAILS_MOST 64
#define RUNS_MOST 6000
#define SPANS_MOST 4096

/* ---- post_world.c: what the surroundings do ---- */

/* Spans of time, one after the other, each with a word for what holds in it. */
struct spans {
    unsigned count, at;
    struct span {
        uint64_t until_ns;
        int word;
    } list[SPANS_MOST];
};

enum network { OFFLINE, ONLINE, PORTAL };
enum server_does { WELL = 200, UNREACHABLE = 0 }; /* any other word is the status of all answers */
enum consent { UNDECIDED, GIVEN, WITHHELD };
enum clock { CLOCK_RIGHT, CLOCK_NONE, CLOCK_JUMPS };

struct crash {
    uint64_t at_ns;
    unsigned bug;
    enum lg__priority priority;
};

struct world {
    uint64_t seed, end_ns, drain_ns; /* from drain_ns on all is well, and nothing crashes */
    struct spans power, network, server, consent, address; /* of address: 1 the right one */
    unsigned bug_count, crash_count;
    struct crash crashes[RUNS_MOST];
    enum clock clock;
    int poison;             /* status of the answers to reports of bug 0; 0: as to others */
    unsigned lost_percent;  /* of the answers */
    unsigned killed_percent; /* of the agents during a request */
    unsigned keep_reports, keep_runs;
    uint32_t full_bytes;     /* of a second part; 0: there is none */
    bool has_form;           /* answers have a form of their own */
    bool asks;               /* a busy server says for how long */
    uint64_t daily_bytes;
    unsigned person_days;    /* a person uploads everything so often; 0: never */
};

void world_draw(struct world *world, uint64_t seed);
/* What holds at `now_ns`, which never goes back, and when that ends. */
int spans_word(struct spans *spans, uint64_t now_ns);
uint64_t spans_until(const struct spans *spans);

/* ---- post_live.c ---- */

enum post_broken { POST_WHOLE, LATE, GIVEN_UP, WRONG_COUNT, WITH_A_HOLE, TWO_IDENTITIES, WITHHELD_SENT, TOO_MANY_REQUESTS, TOO_MANY_BYTES, POST_BROKEN };
extern const char *const post_broken_names[POST_BROKEN];

struct post_figures {
    uint64_t lives, device_s, crashes, reports, requests, arrived, dead;
    uint64_t fates[FATE_DEAD + 1];
    unsigned most_requests_a_day, most_left_a_day, most_days; /* online days until a bug is known */
};

/* Live it; *ret_day: when it broke. */
enum post_broken post_live(struct world *world, struct post_figures *figures, unsigned *ret_day);

#endif
