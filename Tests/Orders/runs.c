/* One run, and all runs of a scenario. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_thread(void)
{
    x->scenario->threads[x->self]();
    finish_stores();
    for (uint32_t i = 0; i < self()->stale; i++)
        show(self()->shown[i], last_store(self()->shown[i]));
    self()->ended = true;
    _longjmp(x->scheduler, 1);
}

/* The thread that ran has come to a point where others may go on. Those that were explored in its
 * place go on sleeping as long as nothing that they depend on is done. */
static void end_step(void)
{
    if (x->from_point >= 0)
        merge(&x->trail[x->from_point].of[x->trail[x->from_point].chosen], &x->foot);
    for (int i = 0; i < ORDERS_THREADS; i++)
        x->asleep[i] = x->asleep[i] && !wakes(&x->foot, &x->asleep_foot[i]);
    memset(&x->foot, 0, sizeof x->foot);
    x->from_point = -1;
}

static unsigned switches_of(const struct scenario *scenario)
{
    return x->all ? scenario->switches_of_all : scenario->switches;
}

static void go_on(struct thread *thread)
{
    if (thread->begun)
        _longjmp(thread->here, 1);
    thread->begun = true;
    swapcontext(&x->before, &thread->context);
}

static void run_threads(void)
{
    const unsigned most = switches_of(x->scenario);
    volatile unsigned switches = most;
    memset(x->asleep, 0, sizeof x->asleep);
    memset(&x->foot, 0, sizeof x->foot);
    x->from_point = -1;
    for (;;) {
        int ready[ORDERS_THREADS], count = 0, waiting = 0, sleeping = 0;
        x->self = -1;
        end_step();
        const bool goes_on = x->last >= 0 && !x->threads[x->last].ended && !x->threads[x->last].waits;
        for (int j = 0; j < ORDERS_THREADS; j++) {
            const int i = x->last >= 0 ? (x->last + j) % ORDERS_THREADS : j;
            if (!x->scenario->threads[i] || x->threads[i].ended)
                continue;
            waiting += x->threads[i].waits != NULL;
            if (x->threads[i].waits)
                continue;
            if (goes_on && i != x->last && most && switches == 0)
                x->bounded = true;
            else if (x->asleep[i])
                sleeping++;
            else
                ready[count++] = i;
        }
        if (count == 0) {
            if (sleeping)
                leave(SLEPT);
            if (waiting == 0)
                return;
            int over = 0; /* the first wait that ends by itself */
            while (over < ORDERS_THREADS && !(x->threads[over].waits && x->threads[over].wait_ends))
                over++;
            if (over == ORDERS_THREADS)
                wrong("a thread waits for ever", NULL);
            x->threads[over].waits = NULL;
            continue;
        }
        const uint32_t point = x->position, way = orders_choose((unsigned)count);
        const int next = ready[way];
        if (count > 1)
            x->from_point = (int)point;
        for (uint32_t i = 0; i < way; i++) {
            x->asleep[ready[i]] = true;
            x->asleep_foot[ready[i]] = x->trail[point].of[i];
        }
        if (goes_on && next != x->last && most)
            switches--;
        x->last = next;
        x->self = next;
        tls_copy(x->tls, x->threads[next].tls);
        if (_setjmp(x->scheduler) == 0)
            go_on(&x->threads[next]);
        if (x->stop != GOES_ON)
            _longjmp(x->out, 1);
    }
}

/* The store of a location that a death leaves. `way`: of those that fit with what was chosen
 * before, the last (0) or the first (1), or any (2). */
static void choose_left(struct location *location, struct view *chosen, struct view *needs, unsigned way)
{
    const uint32_t index = index_of(location);
    uint32_t ways[STORES], count = 0;
    for (uint32_t j = location->count; j-- > 0 && location->stores[j]->stamp >= at(needs, index);) {
        const struct kept *order = &location->stores[j]->order;
        bool fits = true;
        for (uint32_t k = CLOCKS; fits && k < order->count && k < chosen->count; k++)
            fits = chosen->at[k] == UINT32_MAX || order->at[k] <= chosen->at[k] || k == index;
        if (fits)
            ways[count++] = j;
    }
    if (count == 0)
        leave(DROPPED);
    const struct store *store = location->stores[ways[way == 0 ? 0 : way == 1 ? count - 1 : orders_choose(count)]];
    chosen->at[index] = store->stamp;
    join(needs, store->order.at, store->order.count, CLOCKS);
    show(location, store);
    if (store != last_store(location))
        note("a death leaves", location->at, value_of(store, location->size), 1, 0);
}

/* One of the contents that files may have after a death at any instant. Of plain stores, where they
 * are many, all are there that may be, or none, or all but one, or one alone. */
static void choose_death(void)
{
    enum { FEW = 5 };
    static const unsigned any = 2;
    struct view *chosen = &x->chosen, *needs = &x->both;
    uint32_t plain_ones = 0;
    needs->count = 0;
    chosen->count = CLOCKS + x->location_count;
    memset(chosen->at, 0xff, chosen->count * sizeof chosen->at[0]);
    for (uint32_t i = 0; i < x->location_count; i++) {
        struct location *location = &x->locations[i];
        if ((location->kinds & ORDERS_FILE) && location->is_atomic)
            choose_left(location, chosen, needs, any);
        plain_ones += (location->kinds & ORDERS_FILE) && !location->is_atomic && location->count > 1;
    }
    const uint32_t odd = plain_ones > FEW ? orders_choose(2 * (plain_ones + 1)) : 0;
    for (uint32_t i = 0, number = 0; i < x->location_count; i++) {
        struct location *location = &x->locations[i];
        if (!(location->kinds & ORDERS_FILE) || location->is_atomic || location->count < 2)
            continue;
        number++;
        choose_left(location, chosen, needs, plain_ones <= FEW ? any : odd % 2 ^ (odd / 2 == number));
    }
}

static void reset(void)
{
    memcpy(x->begin, x->initial, (size_t)(x->end - x->begin));
    tls_copy(x->tls, x->tls_initial);
    for (uint32_t i = 0; i < x->location_count; i++)
        x->location_at[x->locations[i].at - x->begin] = 0;
    x->location_count = x->position = x->steps = 0;
    x->time = 1000000000;
    x->event_count = 0;
    x->sc.count = x->sc_fences.count = x->places = 0;
    x->arena_used = 0;
    x->stop = GOES_ON;
    x->self = x->last = -1;
    x->handled = false;
    x->stale_left = x->scenario->stale;
}

void run_once(void)
{
    reset();
    if (_setjmp(x->out))
        return;
    if (x->scenario->setup)
        x->scenario->setup();
    for (int i = 0; i < ORDERS_THREADS; i++) {
        struct thread *thread = &x->threads[i];
        thread->sees.count = thread->acquires.count = thread->releases.count = thread->did.count = thread->before.count = 0;
        thread->wrote = thread->ended = thread->begun = false;
        thread->waits = NULL;
        thread->pending = thread->stale = 0;
        thread->range = false;
        tls_copy(thread->tls, x->tls_initial);
        getcontext(&thread->context);
        thread->context.uc_stack.ss_sp = thread->stack;
        thread->context.uc_stack.ss_size = STACK_BYTES;
        thread->context.uc_link = NULL;
        makecontext(&thread->context, run_thread, 0);
    }
    run_threads();
    x->self = -1;
    tls_copy(x->tls, x->tls_initial);
    if (x->scenario->check)
        x->scenario->check();
    if (x->scenario->dead) {
        choose_death();
        x->scenario->dead();
    }
}

static bool advance(void)
{
    while (x->depth > 0 && x->trail[x->depth - 1].chosen + 1 >= x->trail[x->depth - 1].count)
        x->depth--;
    if (x->depth == 0)
        return false;
    x->trail[x->depth - 1].chosen++;
    return true;
}

/* What the runs show about locations makes the next round right: which threads store where, and
 * how large the accesses are. */
bool explore(void)
{
    const size_t bytes = (size_t)(x->end - x->begin);
    if (x->learned_of != x->scenario) {
        memset(x->writers.next, 0, bytes);
        memset(x->users.next, 0, bytes);
        for (size_t i = 0; i < bytes; i++)
            x->cut[i] = ((uintptr_t)x->begin + i) % 8 == 0;
        memset(x->kinds, 0, bytes);
    }
    x->learned_of = x->scenario;
    for (int rounds = 0;; rounds++) {
        learn_next(&x->writers);
        learn_next(&x->users);
        x->depth = 0;
        x->runs = x->seen = 0;
        x->learned = x->bounded = false;
        bool more = true;
        while (more) {
            run_once();
            x->runs += x->stop != SLEPT;
            if (x->stop != GOES_ON && x->from_point >= 0)
                merge(&x->trail[x->from_point].of[x->trail[x->from_point].chosen], &x->foot);
            if (x->stop == WRONG)
                return false;
            if (x->stop == RESTART || (x->learned && x->runs >= 200))
                break;
            if (x->runs >= x->limit) {
                x->bounded = true;
                break;
            }
            more = advance();
        }
        if (x->stop != RESTART && !x->learned)
            return true;
        if (rounds > 2000)
            abort();
    }
}
