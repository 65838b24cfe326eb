#include "store/clock.h"

#define SHIFT 32u
/* The first later point: the line through two points that are this far apart is off by less than a
 * part in 20,000, where the look at both clocks takes half a microsecond. */
#define FIRST_NS UINT64_C(10000000)
/* The most time for which the counter is used without another look. */
#define SPAN_MOST_NS UINT64_C(200000000000)
/* Less than any sleep of a machine. */
#define SLEEP_NS UINT64_C(1000000)

__extension__ typedef unsigned __int128 wide;

static struct lg__clock_point first LG__SMALL;
static uint64_t first_asleep_ns LG__SMALL;

static struct lg__clock_point take_point(void)
{
    struct lg__clock_point point = { 0, 0 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) { /* the one with the least between its two looks at the counter */
        uint64_t before = lg__arch_counter_ordered(), ns = lg__os_clock_ns(CLOCK_MONOTONIC), took = lg__arch_counter_ordered() - before;
        if (took < least) {
            least = took;
            point = (struct lg__clock_point){ before + took / 2, ns };
        }
    }
    return point;
}

void lg__clock_begin(void)
{
    first = (struct lg__clock_point){ 0, 0 };
    if (!lg__arch_counter_invariant() || !lg__os_counter_allowed())
        return;
    first = take_point();
    /* In this order never too little: see lg__clock_mark(). */
    uint64_t monotonic = lg__os_clock_ns(CLOCK_MONOTONIC);
    first_asleep_ns = lg__os_clock_ns(CLOCK_BOOTTIME) - monotonic;
}

void lg__clock_init(struct lg__clock *clock, struct lg__ring_header *header, struct lg__state *state)
{
    clock->due_ns = UINT64_MAX;
    header->clock = LG__RING_CLOCK_MONOTONIC;
    if (!first.count)
        return;
    struct lg__clock_point second = take_point();
    uint64_t counts = second.count - first.count, ns = second.ns - first.ns;
    wide mult = lg__arch_counter_hz() ? ((wide)1000000000 << SHIFT) / lg__arch_counter_hz() : counts ? ((wide)ns << SHIFT) / counts : 0;
    if (mult == 0 || mult > UINT64_MAX)
        return;
    header->clock = LG__RING_CLOCK_COUNTER;
    header->base_count = first.count;
    header->base_ns = first.ns;
    header->mult = (uint64_t)mult;
    header->shift = SHIFT;
    clock->header = *header;
    clock->last = first;
    clock->asleep_ns = first_asleep_ns;
    clock->state = state;
    clock->due_ns = first.ns + FIRST_NS;
}

void lg__clock_give_up(struct lg__clock *clock)
{
    atomic_store(&clock->due_ns, UINT64_MAX);
    atomic_store(&clock->span, 0);
}

static void store_point(struct lg__clock *clock, struct lg__state *state, struct lg__clock_point point)
{
    clock->turn += 2;
    atomic_store_explicit(&state->clock_turn, clock->turn - 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&state->clock_count, point.count, memory_order_relaxed);
    atomic_store_explicit(&state->clock_ns, point.ns, memory_order_relaxed);
    atomic_store_explicit(&state->clock_turn, clock->turn, memory_order_release);
}

static void mark(struct lg__clock *clock)
{
    if (!clock->asked && !lg__os_counter_trusted()) {
        lg__clock_give_up(clock);
        return;
    }
    clock->asked = true;
    struct lg__clock_point now = take_point();
    /* At least this time, since this thread may be held up between the two. CLOCK_MONOTONIC stands
     * still while the machine sleeps, and the counter goes on or begins anew. */
    uint64_t boottime = lg__os_clock_ns(CLOCK_BOOTTIME);
    uint64_t asleep_ns = boottime - lg__os_clock_ns(CLOCK_MONOTONIC);
    bool slept = (int64_t)(asleep_ns - clock->asleep_ns) > (int64_t)SLEEP_NS;
    if (slept || now.count - clock->last.count > INT64_MAX || !lg__clock_fits(&clock->header, now)) {
        lg__clock_give_up(clock);
        return;
    }
    uint64_t counts = now.count - clock->header.base_count, ns = now.ns - clock->header.base_ns;
    uint64_t span = 2 * ns < SPAN_MOST_NS ? 2 * counts : counts / (ns >> 20) * (SPAN_MOST_NS >> 20);
    clock->last = now;
    store_point(clock, clock->state, now);
    atomic_store_explicit(&clock->from, now.count, memory_order_relaxed);
    atomic_store_explicit(&clock->span, span, memory_order_relaxed);
    atomic_store_explicit(&clock->due_ns, now.ns, memory_order_relaxed); /* when the span is over */
}

void lg__clock_mark(struct lg__clock *clock)
{
    if (atomic_load(&clock->due_ns) == UINT64_MAX || atomic_exchange(&clock->marking, 1))
        return;
    if (atomic_load(&clock->due_ns) != UINT64_MAX)
        mark(clock);
    atomic_store(&clock->marking, 0);
}

uint64_t lg__clock_line(const struct lg__ring_header *header, uint64_t count)
{
    return (uint64_t)(((wide)(count - header->base_count) * header->mult) >> (header->shift & 127));
}

bool lg__clock_fits(const struct lg__ring_header *header, struct lg__clock_point later)
{
    uint64_t counts = later.count - header->base_count, ns = later.ns - header->base_ns, line = lg__clock_line(header, later.count);
    if (counts - 1 >= INT64_MAX || ns - 1 >= INT64_MAX)
        return false;
    return (ns > line ? ns - line : line - ns) <= ns / 16;
}
