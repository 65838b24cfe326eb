/* The cost of guarded operations: not compiled in, off, and on; on one thread and on two at once.
 * Then the cost of faults that are survived. bench-guards DIR ROUNDS */
#include "common.h"

#include <launchguard/launchguard.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCH 20000u
#define THREADS 2

/* Each thread has its own: the benchmark measures the guard, not the sharing of data. */
struct work {
    int32_t numbers[64];
    int32_t sum;
    char from[4096], to[4096];
    lg_observers *observers;
    lg_confinement *confinement;
    lg_handles *handles;
    lg_handle handle;
    void *object;
};

/* The compiler must not see what comes out, nor know what goes in. */
#define HIDE(value) __asm__ volatile("" : "+r"(value))

static void subscript(struct work *work)
{
    size_t index = (size_t)work->sum & 63;
    HIDE(index);
    work->sum += work->numbers[index];
}

static void subscript_guarded(struct work *work)
{
    size_t index = (size_t)work->sum & 63, count = 64;
    HIDE(index);
    HIDE(count);
    const int32_t *number = LG_GUARD_AT(work->numbers, count, index);
    if (number)
        work->sum += *number;
}

static void add(struct work *work)
{
    int32_t one = 1;
    HIDE(one);
    work->sum = (int32_t)((uint32_t)(work->sum & 0xffff) + (uint32_t)one);
}

static void add_guarded(struct work *work)
{
    int32_t one = 1;
    HIDE(one);
    work->sum = lg_guard_add_int32(work->sum & 0xffff, one);
}

static void copy(struct work *work)
{
    char *to = work->to, *from = work->from;
    HIDE(to);
    HIDE(from);
    memcpy(to, from, sizeof work->to);
    __asm__ volatile("" ::: "memory");
}

static void copy_guarded(struct work *work)
{
    lg_guard_read(work->to, work->from, sizeof work->to, NULL);
}

__attribute__((noinline)) static void observe(const void *event, void *user)
{
    const int32_t *number = event;
    int32_t *sum = user;
    *sum += *number;
}

static void (*observers[1])(const void *event, void *user) = { observe };

static void post(struct work *work)
{
    for (size_t i = 0; i < 1; i++)
        ((void (*volatile)(const void *, void *))observers[i])(&work->numbers[1], &work->sum);
}

static void post_guarded(struct work *work)
{
    lg_observers_post(work->observers, &work->numbers[1]);
}

__attribute__((noinline)) static void draw(void *argument)
{
    int32_t *sum = argument;
    *sum += 1;
}

static void call(struct work *work)
{
    ((void (*volatile)(void *))draw)(&work->sum);
}

static void call_guarded(struct work *work)
{
    lg_guard_confine(work->confinement, draw, &work->sum);
}

static void reach(struct work *work)
{
    int32_t *number = work->object;
    HIDE(number);
    work->sum += *number;
}

static void reach_guarded(struct work *work)
{
    const int32_t *number = lg_handles_get(work->handles, work->handle);
    if (number)
        work->sum += *number;
}

static const struct operation {
    const char *name;
    void (*plain)(struct work *work), (*guarded)(struct work *work);
} operations[] = {
    { "array[index]", subscript, subscript_guarded },
    { "int32 addition", add, add_guarded },
    { "copy of 4 KiB", copy, copy_guarded },
    { "event to one observer", post, post_guarded },
    { "confined call, on its thread", call, call_guarded },
    { "object of a handle", reach, reach_guarded },
};
#define OPERATIONS (sizeof operations / sizeof operations[0])

static struct work *prepare_work(void)
{
    struct work *work = calloc(1, sizeof *work);
    lg_owner owner;
    if (!work || lg_observers_create("bench", &work->observers) != LG_OK || lg_owner_create("bench", &owner) != LG_OK ||
        lg_observers_add(work->observers, owner, observe, &work->sum) != LG_OK ||
        lg_confinement_create(NULL, &work->confinement) != LG_OK || lg_handles_create("bench", &work->handles) != LG_OK)
        exit(1);
    work->object = &work->numbers[2];
    if (lg_handles_make(work->handles, work->object, &work->handle) != LG_OK)
        exit(1);
    return work;
}

/* ---- all of it ---- */

static pthread_barrier_t barrier;
static void (*current)(struct work *work); /* NULL: end */

static double time_batch(struct work *work)
{
    void (*const volatile operation)(struct work *work) = current;
    const uint64_t begin = now_ns();
    for (unsigned i = 0; i < BATCH; i++)
        operation(work);
    return (double)(now_ns() - begin) / BATCH;
}

static void *help(void *argument)
{
    struct work *work = prepare_work();
    (void)argument;
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (!current)
            return NULL;
        time_batch(work);
        pthread_barrier_wait(&barrier);
    }
}

static double measure(struct work *work, void (*operation)(struct work *work), unsigned threads)
{
    current = operation;
    if (threads > 1)
        pthread_barrier_wait(&barrier);
    const double ns = time_batch(work);
    if (threads > 1)
        pthread_barrier_wait(&barrier);
    return ns;
}

enum { PLAIN, OFF, ON, WAYS };

static void compare(lg_session *session, struct work *work, unsigned threads, unsigned rounds)
{
    static struct series series[OPERATIONS][WAYS];
    memset(series, 0, sizeof series);
    for (unsigned round = 0; round < rounds + 2; round++) { /* the first ones warm up */
        unsigned order[OPERATIONS * WAYS];
        shuffle(order, OPERATIONS * WAYS);
        for (size_t i = 0; i < OPERATIONS * WAYS; i++) {
            const unsigned which = order[i] / WAYS, way = order[i] % WAYS;
            lg_guard_set_classes(session, way == ON ? LG_GUARDS_ALL : 0);
            const double ns = measure(work, way == PLAIN ? operations[which].plain : operations[which].guarded, threads);
            if (round >= 2)
                series_put(&series[which][way], round - 2, ns);
        }
    }
    printf("\nGuarded operations in C, %u thread%-24s %9s %9s %9s %7s\n", threads, threads > 1 ? "s, ns" : ", ns", "plain", "off", "on", "ratio");
    for (unsigned i = 0; i < OPERATIONS; i++)
        printf("  %-58s %9.1f %9.1f %9.1f %7.2f\n", operations[i].name, series_median(&series[i][PLAIN]), series_median(&series[i][OFF]),
               series_median(&series[i][ON]), series_ratio(&series[i][ON], &series[i][PLAIN]));
    if (threads > 1)
        return;
    put_figure("subscript", series_more(&series[0][ON], &series[0][PLAIN]), NULL);
    put_figure("addition", series_more(&series[1][ON], &series[1][PLAIN]), NULL);
}

/* ---- faults that are survived ---- */

static int (*volatile nothing)(void);
static int (*absent)(void);

static void call_nothing(void)
{
    nothing();
}

static void call_absent(void)
{
    absent();
}

static void read_nowhere(void)
{
    char byte;
    lg_guard_read(&byte, (const void *)16, 1, NULL);
}

static void index_outside(void)
{
    static const char text[4];
    size_t index = 9;
    HIDE(index);
    LG_GUARD_AT(text, 4, index);
}

static const struct {
    const char *name;
    void (*fault)(void);
} faults[] = {
    { "call through NULL", call_nothing },
    { "call of a missing function", call_absent },
    { "guarded read of no memory", read_nowhere },
    { "index outside of an array", index_outside },
};
#define FAULTS (sizeof faults / sizeof faults[0])

static void survive(lg_session *session, unsigned rounds)
{
    static struct series series[FAULTS];
    const lg_guard_row row = LG_GUARD_ROW("absent", absent, NULL);
    if (lg_guard_fill(NULL, &row, 1, NULL) != LG_OK)
        exit(1);
    lg_guard_set_classes(session, LG_GUARDS_ALL);
    for (unsigned round = 0; round < rounds + 2; round++)
        for (size_t i = 0; i < FAULTS; i++) {
            const unsigned times = 200;
            const uint64_t begin = now_ns();
            for (unsigned j = 0; j < times; j++)
                faults[i].fault();
            if (round >= 2)
                series_put(&series[i], round - 2, (double)(now_ns() - begin) / times / 1000);
        }
    print_head("Faults that a guard survives, from the second one at a site", "us");
    for (size_t i = 0; i < FAULTS; i++) {
        series[i].name = faults[i].name;
        print_line(&series[i], NULL);
    }
    put_figure("null", series_median(&series[0]), NULL);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    const unsigned rounds = (unsigned)atoi(arguments[2]);
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = arguments[1];
    lg_guard_options guards = LG_GUARD_OPTIONS_INIT;
    guards.classes = LG_GUARDS_DEFAULT | LG_GUARDS(LG_GUARD_ARITHMETIC);
    guards.policy = LG_GUARD_SURVIVE;
    guards.budget = 1000000;
    guards.quiet = 1;
    lg_session *session;
    if (lg_start(&options, &session) != LG_OK || lg_guard_start(session, &guards) != LG_OK || pthread_barrier_init(&barrier, NULL, THREADS) != 0)
        return 1;
    struct work *work = prepare_work();
    pthread_t helper;
    compare(session, work, 1, rounds);
    if (pthread_create(&helper, NULL, help, NULL) != 0)
        return 1;
    compare(session, work, THREADS, rounds);
    current = NULL;
    pthread_barrier_wait(&barrier);
    pthread_join(helper, NULL);
    survive(session, rounds);
    return 0;
}
