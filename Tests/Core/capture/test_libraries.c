/* Libraries that live with their faults: a conservative collector in incremental mode, whose write
 * barrier is a fault, and libsigsegv. Each is installed before LaunchGuard, after it, and after
 * it with keep_first. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum when { BEFORE, AFTER, KEPT, WHENS };

static __attribute__((unused)) void start(enum when when)
{
    lg_options options = LG_OPTIONS_INIT;
    options.keep_first = when == KEPT;
    start_with(options);
}

static __attribute__((noinline, unused)) void fault(void)
{
    *(volatile int *)(uintptr_t)0x18 = 1;
}

/* The fault that nobody takes back has its whole record. Faults that went through LaunchGuard
 * before: `least`. */
static __attribute__((unused)) void assert_recorded(enum when when, uint32_t least)
{
    lg_verdict verdict;
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.kind, LG_CRASH_NULL_OFFSET);
    assert_int_equal(crash.signal, SIGSEGV);
    assert_int_equal(crash.address, 0x18);
    if (when == KEPT && least > 64)
        least = 64; /* the faults after so many recoveries have no record */
    if (when != AFTER && crash.sequence <= least)
        fail_msg("only %u faults went through the handler", crash.sequence);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_CRASH);
    lg_reader_close(reader);
}

/* ---- a collector ---- */

#ifdef HAVE_GC
#include <gc/gc.h>

struct node {
    struct node *next, *other;
    long data[6];
};

static void begin_collector(void)
{
    setenv("GC_USE_GETWRITEWATCH", "0", 1); /* not the kernel's dirty bits: faults */
    GC_INIT();
    GC_enable_incremental();
}

/* Old objects are changed between the steps of the collection. */
static void live(void)
{
    enum { LISTS = 256, LENGTH = 400 };
    struct node **lists = GC_MALLOC(LISTS * sizeof *lists);
    for (long round = 0; round < 60; round++) {
        for (int i = 0; i < LISTS; i++) {
            struct node *fresh = GC_MALLOC(sizeof *fresh);
            fresh->next = round % 20 == 19 ? NULL : lists[i];
            fresh->data[0] = round;
            lists[i] = fresh;
            for (struct node *node = fresh; node; node = node->next)
                node->other = lists[(i + (int)round) % LISTS];
        }
        GC_collect_a_little();
    }
    for (int i = 0; i < LISTS; i++)
        if (!lists[i] || lists[i]->data[0] != 59)
            _exit(98);
}

static void body_collector(void *argument)
{
    const enum when when = (enum when)(intptr_t)argument;
    if (when == BEFORE)
        begin_collector();
    start(when);
    if (when != BEFORE)
        begin_collector();
    live();
    fault();
    _exit(99);
}

static void test_collector(void **state)
{
    (void)state;
    for (enum when when = BEFORE; when < WHENS; when++) {
        state_make();
        struct death death = run_child(body_collector, (void *)(intptr_t)when);
        assert_false(death.late);
        /* a fault that is not its own it gives to the action before, or it aborts */
        assert_true(WIFSIGNALED(death.status) && (WTERMSIG(death.status) == SIGSEGV || WTERMSIG(death.status) == SIGABRT));
        assert_recorded(when, 20);
    }
}
#else
static void test_collector(void **state)
{
    (void)state;
    skip_because("the collector is not installed: package libgc-dev");
}
#endif

/* ---- libsigsegv ---- */

#ifdef HAVE_SIGSEGV
#include <sigsegv.h>

static char *page;

static int mend(void *address, int is_serious)
{
    (void)is_serious;
    if ((char *)address < page || (char *)address >= page + 4096)
        return 0; /* it sets the default action and returns */
    return mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
}

static int end_at_once(void *address, int is_serious)
{
    (void)is_serious;
    if ((char *)address >= page && (char *)address < page + 4096)
        return mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
    _exit(7);
}

static int (*fault_handler)(void *, int);

static void body_sigsegv(void *argument)
{
    const enum when when = (enum when)(intptr_t)argument;
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (when != BEFORE)
        start(when);
    if (sigsegv_install_handler(fault_handler) != 0)
        _exit(98);
    if (when == BEFORE)
        start(when);
    for (int i = 0; i < 500; i++) {
        mprotect(page, 4096, PROT_READ);
        *(volatile char *)page = (char)i;
    }
    fault();
    _exit(99);
}

static void test_sigsegv(void **state)
{
    (void)state;
    for (enum when when = BEFORE; when < WHENS; when++) {
        if (when == AFTER)
            continue; /* it replaces LaunchGuard's handler, and calls none before it */
        state_make();
        fault_handler = mend;
        expect_signal(body_sigsegv, (void *)(intptr_t)when, SIGSEGV);
        assert_recorded(when, 500);
        if (when == KEPT) { /* where _exit() is LaunchGuard's as well, all of it is there */
            state_make();
            fault_handler = end_at_once;
            expect_exit(body_sigsegv, (void *)(intptr_t)when, 7);
            assert_recorded(when, 500);
        }
    }
}
#else
static void test_sigsegv(void **state)
{
    (void)state;
    skip_because("libsigsegv is not installed: package libsigsegv-dev");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_collector), WITH_STATE(test_sigsegv) };
    return cmocka_run_group_tests_name("libraries", tests, NULL, NULL);
}
