/* The cost of single steps, which decided how the handler and the log are built.
 *
 * bench-steps DIR ROUNDS */
#include "common.h"
#include "log/counter.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define WORDS 512 /* of a page */
#define PAGES 64

static const char *place;
static uint64_t page[WORDS] __attribute__((aligned(4096)));
static volatile uint64_t sink;

/* ---- looks at memory, for each word ---- */

static bool ask(const void *address)
{
    return syscall(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) != 0;
}

static double look_by_page(void)
{
    uint64_t begin = now_ns();
    sink = ask(page);
    for (unsigned i = 0; i < WORDS; i++)
        sink = ((volatile uint64_t *)page)[i];
    return (double)(now_ns() - begin) / WORDS;
}

static double look_by_mask(void)
{
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < WORDS; i++)
        sink = ask(&page[i]);
    return (double)(now_ns() - begin) / WORDS;
}

static double look_by_readv(void)
{
    uint64_t word;
    const struct iovec local = { &word, sizeof word };
    pid_t self = getpid();
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < WORDS; i++) {
        const struct iovec remote = { &page[i], sizeof word };
        sink = (uint64_t)process_vm_readv(self, &local, 1, &remote, 1, 0);
    }
    return (double)(now_ns() - begin) / WORDS;
}

/* ---- a store into a page of a mapped file ---- */

static double touch(bool again)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/pages", place);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || posix_fallocate(file, 0, PAGES * 4096) != 0)
        exit(1);
    volatile char *map = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        exit(1);
    uint64_t begin = 0;
    for (int turn = 0; turn <= again; turn++) {
        begin = now_ns();
        for (unsigned i = 0; i < PAGES; i++)
            map[i * 4096] = 1;
    }
    double ns = (double)(now_ns() - begin) / PAGES;
    munmap((void *)(uintptr_t)map, PAGES * 4096);
    close(file);
    unlink(path);
    return ns;
}

static double touch_first(void)
{
    return touch(false);
}

static double touch_again(void)
{
    return touch(true);
}

/* ---- waking a thread that sleeps ---- */

static atomic_uint wakes;

static void *sleeper(void *argument)
{
    for (unsigned seen = 0;; seen = atomic_load(&wakes))
        syscall(SYS_futex, &wakes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    return argument;
}

static double wake(void)
{
    const struct timespec time = { .tv_nsec = 1000000 };
    nanosleep(&time, NULL); /* it sleeps by now */
    uint64_t begin = now_ns();
    atomic_fetch_add(&wakes, 1);
    syscall(SYS_futex, &wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return (double)(now_ns() - begin);
}

enum { PAGE, MASK, READV, AGAIN, FIRST, WAKE, KINDS };
static const struct {
    const char *name;
    double (*step)(void);
    int floor;
} steps[KINDS] = {
    [PAGE] = { "a word of memory: ask once a page, then load", look_by_page, -1 },
    [MASK] = { "a word of memory: ask by rt_sigprocmask", look_by_mask, PAGE },
    [READV] = { "a word of memory: process_vm_readv", look_by_readv, MASK },
    [AGAIN] = { "a store into a page of a mapped file", touch_again, -1 },
    [FIRST] = { "the first store into a page of a mapped file", touch_first, AGAIN },
    [WAKE] = { "to wake a thread that sleeps", wake, -1 },
};
static struct series series[KINDS];

/* ---- hand-overs: the later reading of the counter has to be the larger one ---- */

#define HANDOVERS 20000u

static atomic_uint turn;
static uint64_t last;
static bool in_order;
static unsigned wrong[2];
static uint64_t largest[2];

static void *hand_over(void *argument)
{
    for (unsigned mine = argument != NULL; mine < HANDOVERS; mine += 2) {
        for (unsigned spins = 0; atomic_load_explicit(&turn, memory_order_acquire) != mine; spins++)
            if (spins > 1000)
                sched_yield();
        uint64_t now = in_order ? counter_read_in_order() : counter_read();
        if (now < last) {
            wrong[in_order]++;
            largest[in_order] = last - now > largest[in_order] ? last - now : largest[in_order];
        }
        last = now;
        atomic_store_explicit(&turn, mine + 1, memory_order_release);
    }
    return NULL;
}

static void hand_over_many(void)
{
    pthread_t other;
    atomic_store(&turn, 0);
    last = 0;
    if (pthread_create(&other, NULL, hand_over, &turn) != 0)
        exit(1);
    hand_over(NULL);
    pthread_join(other, NULL);
}

static void print_hand_overs(unsigned rounds)
{
    uint64_t ns = now_ns(), ticks = counter_read();
    const struct timespec time = { .tv_nsec = 20000000 };
    nanosleep(&time, NULL);
    double tick_ns = (double)(now_ns() - ns) / (double)(counter_read() - ticks);
    printf("\nHand-overs between two threads where the later reading of the CPU's counter is the smaller one, of %u\n", rounds * HANDOVERS);
    for (int order = 0; order < 2; order++)
        printf("  counter read %-45s %9u, by at most %.0f ns\n", order ? "in order" : "early", wrong[order], (double)largest[order] * tick_ns);
}

int main(int count, char **arguments)
{
    pthread_t thread;
    if (count != 3)
        return 2;
    place = arguments[1];
    unsigned rounds = (unsigned)atoi(arguments[2]), order[KINDS];
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0)
        return 1;
    for (unsigned i = 0; i < KINDS; i++)
        steps[i].step(); /* to warm up */
    for (unsigned round = 0; round < rounds; round++) {
        shuffle(order, KINDS);
        for (unsigned i = 0; i < KINDS; i++)
            series_put(&series[order[i]], round, steps[order[i]].step());
    }
    print_head("Single steps", "ns");
    for (unsigned i = 0; i < KINDS; i++) {
        series[i].name = steps[i].name;
        print_line(&series[i], steps[i].floor < 0 ? NULL : &series[steps[i].floor]);
    }
    if (counter_steady()) {
        for (unsigned round = 0; round < 2 * rounds; round++) {
            in_order = round % 2;
            hand_over_many();
        }
        print_hand_overs(rounds);
    }
    return 0;
}
