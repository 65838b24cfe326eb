/* A mapped file is cut short: a registered mapping goes on with pages of zeros and says so; all
 * else crashes as before. */
#include "harness.h"
#include "start_guards.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"

#define PAGE ((size_t)4096)
#define PAGES 8
#define KEPT 2 /* of them, when the file is cut */

/* ---- a mapped file ---- */

/* A file of pages of 'x', mapped to be read and written. */
static volatile uint8_t *map_file(size_t pages, int *ret_file)
{
    uint8_t page[PAGE];
    memset(page, 'x', sizeof page);
    const int file = open(state_path("data"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t i = 0; i < pages; i++)
        if (write(file, page, sizeof page) != (ssize_t)sizeof page)
            _exit(80);
    uint8_t *base = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        _exit(81);
    *ret_file = file;
    return base;
}

static void cut(int file, size_t pages)
{
    if (ftruncate(file, (off_t)(pages * PAGE)) != 0)
        _exit(82);
}

static volatile uint8_t *map_cut(void)
{
    int file;
    volatile uint8_t *base = map_file(PAGES, &file);
    cut(file, KEPT);
    return base;
}

static void guard(lg_session *session, volatile uint8_t *base, size_t pages)
{
    if (lg_guard_map(session, (void *)base, pages * PAGE, PROT_READ | PROT_WRITE) != LG_OK)
        _exit(83);
}

/* Where the crash has to be: children share it with the test. */
static volatile uint64_t *address;

static __attribute__((noinline)) uint8_t touch(volatile uint8_t *at)
{
    *address = (uint64_t)(uintptr_t)at;
    return *at;
}

/* The one site that the run has. */
static lg_guard_info only_site(lg_reader *reader)
{
    lg_guards_info guards;
    lg_guard_info site;
    assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
    assert_int_equal(guards.sites, 1);
    assert_int_equal(lg_reader_guard(reader, 1, &site), LG_OK);
    assert_int_equal(site.guard_class, LG_GUARD_MEMORY);
    assert_int_equal(site.described, 1);
    return site;
}

static uint64_t number_of_field(lg_reader *reader, uint32_t field, const char *key)
{
    lg_guard_field found;
    assert_int_equal(lg_reader_guard_field(reader, 1, field, &found), LG_OK);
    assert_string_equal(found.key, key);
    return strtoull(found.value, NULL, 0);
}

/* ---- lives ---- */

static void body_lives(void *argument)
{
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    int file;
    volatile uint8_t *base = map_file(PAGES, &file);
    guard(session, base, PAGES);
    if (lg_guard_map_lost((void *)base) != 0 || touch(base + 5 * PAGE) != 'x')
        _exit(90);
    cut(file, KEPT);
    if (touch(base + 4 * PAGE + 7) != 0 || lg_guard_map_lost((void *)base) != PAGES - 4)
        _exit(91);
    for (size_t at = KEPT * PAGE; at < PAGES * PAGE; at++) {
        if (base[at] != 0)
            _exit(92);
        base[at] = 'y';
    }
    if (lg_guard_map_lost((void *)base) != PAGES - KEPT || touch(base + KEPT * PAGE - 1) != 'x' || touch(base + PAGES * PAGE - 1) != 'y')
        _exit(93);
    /* the write stays where it is, also when there is a file again: that one has zeros */
    uint8_t of_file = 1;
    cut(file, PAGES);
    if (pread(file, &of_file, 1, (off_t)(5 * PAGE)) != 1 || of_file != 0 || base[5 * PAGE] != 'y')
        _exit(94);
    if (lg_guard_unmap(session, (void *)base) != LG_OK || lg_guard_map_lost((void *)base) != 0)
        _exit(95);
}

static void test_lives(void **state)
{
    (void)state;
    expect_exit(body_lives, NULL, 0);
    lg_reader *reader = newest_run();
    lg_crash_info crash;
    assert_true(log_has(reader, "page 5 of 8 of a mapping is not there"));
    const uint64_t begin = number_of_field(reader, 1, "mapping");
    lg_guards_info guards;
    lg_guard_info site;
    /* the first event is that of touch(), the second that of the loop */
    assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
    assert_int_equal(guards.events, 2);
    assert_int_equal(guards.survived, 2);
    assert_int_equal(lg_reader_guard(reader, 1, &site), LG_OK);
    assert_int_equal(site.action, LG_GUARD_SURVIVED);
    assert_string_equal(site.text, "page 5 of 8 of a mapping is not there");
    assert_true(site.site > (uint64_t)(uintptr_t)touch && site.site < (uint64_t)(uintptr_t)touch + 100);
    assert_int_equal(number_of_field(reader, 0, "address"), begin + 4 * PAGE + 7);
    assert_int_equal(number_of_field(reader, 2, "size"), PAGES * PAGE);
    assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
}

/* ---- dies: each with the record of the fault ---- */

enum way { NOT_STARTED, NOT_REGISTERED, CLASS_OFF, STOPPED, TAKEN_BACK, DENIED, REPORTED, FATAL, JUST_BEHIND, WAYS };

static void body_dies(void *argument)
{
    const enum way way = (enum way)(intptr_t)argument;
    lg_session *session = way == NOT_STARTED ? start_session() : start_guards(way == REPORTED ? LG_GUARD_REPORT : way == FATAL ? LG_GUARD_FATAL : LG_GUARD_SURVIVE, 0);
    volatile uint8_t *base = map_cut();
    const char *const denied[] = { program_invocation_short_name };
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    lists.denied_modules = denied;
    lists.denied_module_count = 1;
    if (way != NOT_REGISTERED)
        guard(session, base, way == JUST_BEHIND ? PAGES - 1 : PAGES);
    if ((way == CLASS_OFF && lg_guard_set_classes(session, LG_GUARDS_ALL & ~LG_GUARDS(LG_GUARD_MEMORY)) != LG_OK) ||
        (way == STOPPED && (touch(base + 3 * PAGE) != 0 || lg_guard_stop(session) != LG_OK)) ||
        (way == TAKEN_BACK && lg_guard_unmap(session, (void *)base) != LG_OK) || (way == DENIED && lg_guard_set_lists(session, &lists) != LG_OK))
        _exit(85);
    touch(base + (way == STOPPED ? KEPT : PAGES - 1) * PAGE + 123);
}

static lg_crash_info assert_bus(void)
{
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGBUS);
    assert_int_equal(crash.kind, LG_CRASH_BUS_FILE);
    assert_int_equal(crash.address, *address);
    assert_int_equal(crash.sequence, 1);
    assert_int_equal(crash.recrash_count, 0);
    assert_int_equal(newest_verdict().end, LG_END_CRASH);
    return crash;
}

static void test_dies(void **state)
{
    (void)state;
    for (enum way way = NOT_STARTED; way < WAYS; way++) {
        state_make();
        expect_signal(body_dies, (void *)(intptr_t)way, SIGBUS);
        assert_bus();
        assert_int_equal(said("of a mapping is not there"), way == STOPPED || way == REPORTED || way == FATAL);
        if (way == STOPPED || way == REPORTED || way == FATAL) {
            lg_reader *reader = newest_run();
            lg_guard_info site = only_site(reader);
            assert_int_equal(site.action, way == STOPPED ? LG_GUARD_SURVIVED : way == REPORTED ? LG_GUARD_REPORTED : LG_GUARD_ENDED);
            assert_int_equal(site.count, 1);
            assert_int_equal(site.survived, way == STOPPED);
            lg_reader_close(reader);
        }
        state_remove();
    }
    state_make();
}

static void body_budget(void *argument)
{
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 3);
    for (int i = 0; i < 4; i++) {
        volatile uint8_t *base = map_cut();
        guard(session, base, PAGES);
        if (touch(base + KEPT * PAGE) != 0 || i == 3)
            _exit(90);
    }
}

static void test_budget(void **state)
{
    (void)state;
    expect_signal(body_budget, NULL, SIGBUS);
    lg_crash_info crash = assert_bus();
    lg_reader *reader = newest_run();
    lg_guard_info site = only_site(reader);
    assert_int_equal(site.action, LG_GUARD_EXHAUSTED);
    assert_int_equal(site.count, 4);
    assert_int_equal(site.survived, 3);
    assert_int_equal(site.site, crash.pc);
    lg_reader_close(reader);
}

/* A mapping that is gone altogether is not the end of the budget: one event has up to 256 pages. */
static void body_long(void *argument)
{
    const size_t pages = 600;
    uint32_t sum = 0;
    int file;
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 3);
    volatile uint8_t *base = map_file(pages, &file);
    guard(session, base, pages);
    cut(file, 0);
    for (size_t at = 0; at < pages * PAGE; at += 512)
        sum += base[at];
    _exit(sum == 0 && lg_guard_map_lost((void *)base) == pages ? 0 : 90);
}

static void test_long(void **state)
{
    (void)state;
    expect_exit(body_long, NULL, 0);
}

/* Pages that are there stay, also right after one that is gone. */
static void body_island(void *argument)
{
    int file, whole;
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    volatile uint8_t *base = map_file(PAGES, &file), *other;
    unlink(state_path("data"));
    other = map_file(1, &whole);
    if (mmap((void *)(base + 3 * PAGE), PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, whole, 0) == MAP_FAILED || other[0] != 'x')
        _exit(86);
    guard(session, base, PAGES);
    cut(file, 0);
    if (touch(base) != 0 || lg_guard_map_lost((void *)base) != 3 || touch(base + 3 * PAGE) != 'x')
        _exit(90);
    other[1] = 'z';
    if (base[3 * PAGE + 1] != 'z' || touch(base + 4 * PAGE) != 0)
        _exit(91);
    _exit(lg_guard_map_lost((void *)base) == PAGES - 1 ? 0 : 92);
}

static void test_island(void **state)
{
    (void)state;
    expect_exit(body_island, NULL, 0);
}

/* A file with holes on a full disk: a store to a hole has no page, and what is there stays. */
static void body_full(void *argument)
{
    uint8_t page[PAGE];
    (void)argument;
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mkdir(state_path("small"), 0700) != 0 ||
        mount("tmpfs", state_path("small"), "tmpfs", 0, "size=16384") != 0)
        _exit(77);
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    memset(page, 'x', sizeof page);
    const int file = open(state_path("small/data"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (off_t at = 0; pwrite(file, page, sizeof page, at) == (ssize_t)sizeof page; at += 2 * (off_t)PAGE) {}
    if (ftruncate(file, 64 * (off_t)PAGE) != 0)
        _exit(90);
    volatile uint8_t *base = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    guard(session, base, 64);
    base[PAGE + 5] = 'y';
    _exit(base[PAGE + 5] == 'y' && base[0] == 'x' && base[2 * PAGE] == 'x' && lg_guard_map_lost((void *)base) == 1 ? 0 : 91);
}

static void test_full(void **state)
{
    (void)state;
    const struct death death = run_child(body_full, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("a small file system of its own needs root");
    assert_false(death.late);
    assert_int_equal(death.status, 0);
}

/* ---- other bugs of the same program ---- */

static void body_null(void *argument)
{
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    volatile uint8_t *base = map_cut();
    guard(session, base, PAGES);
    if (touch(base + 3 * PAGE) != 0)
        _exit(90);
    crash();
}

static void test_null(void **state)
{
    (void)state;
    expect_signal(body_null, NULL, SIGSEGV);
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.kind, LG_CRASH_NULL_WRITE);
    assert_int_equal(crash.address, 0);
    assert_int_equal(crash.sequence, 1);
    assert_true(said("page 4 of 8 of a mapping is not there"));
}

static void body_sent(void *argument)
{
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    guard(session, map_cut(), PAGES);
    kill(getpid(), SIGBUS);
    for (;;)
        pause();
}

static void test_sent(void **state)
{
    (void)state;
    expect_signal(body_sent, NULL, SIGBUS);
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.kind, LG_CRASH_SIGNAL_SELF);
    assert_false(said("of a mapping is not there"));
}

/* ---- a forked child: the guard is off there, and on in the parent ---- */

static void body_forks(void *argument)
{
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    volatile uint8_t *base = map_cut();
    guard(session, base, PAGES);
    const pid_t child = fork();
    if (child == 0) {
        if (lg_guard_map(session, (void *)base, PAGE, PROT_READ) != LG_ERR_FORKED || lg_guard_unmap(session, (void *)base) != LG_ERR_FORKED)
            _exit(97);
        alarm(60);
        touch(base + 3 * PAGE);
        _exit(98);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGBUS)
        _exit(90);
    _exit(touch(base + 3 * PAGE) == 0 ? 0 : 91);
}

static void test_forks(void **state)
{
    (void)state;
    expect_exit(body_forks, NULL, 0);
}

/* ---- many threads at the same page ---- */

#define THREADS 4
#define ROUNDS 300

static volatile uint32_t *_Atomic shared_page;
static pthread_barrier_t barrier;

static void *write_and_read(void *argument)
{
    const size_t mine = (size_t)(intptr_t)argument;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        volatile uint32_t *page = atomic_load(&shared_page);
        page[mine] = round;
        pthread_barrier_wait(&barrier);
        if (page[mine] != round)
            _exit(95); /* another thread's page of zeros took the place of this one's */
    }
    return NULL;
}

static void body_threads(void *argument)
{
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 1000000);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        in_thread(write_and_read, (void *)(intptr_t)i);
    for (int round = 0; round < ROUNDS; round++) {
        volatile uint8_t *base = map_cut();
        guard(session, base, PAGES);
        atomic_store(&shared_page, (volatile uint32_t *)(base + (PAGES - 1) * PAGE));
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        if (lg_guard_map_lost((void *)base) != 1 || lg_guard_unmap(session, (void *)base) != LG_OK)
            _exit(91);
    }
}

static void test_threads(void **state)
{
    (void)state;
    /* Linux 5.14: before, it may happen that a page is replaced twice */
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool is_old = !lg__os_pages_there(page, PAGE, false);
    munmap(page, PAGE);
    if (is_old)
        skip_because("this kernel cannot say whether a page is there");
    expect_exit(body_threads, NULL, 0);
}

/* ---- taken back while a fault is dealt with ---- */

static atomic_int reached, is_back;

static void linger(const char *point)
{
    if (strcmp(point, "mapping: allowed") != 0)
        return;
    atomic_store(&reached, 1);
    pass_time(200, "the mapping is not taken back while a fault in it is dealt with");
    if (atomic_load(&is_back))
        _exit(92); /* the mapping was taken back, and a page is about to be replaced */
}

static void *touch_once(void *argument)
{
    touch(argument);
    return NULL;
}

static void body_taken_back(void *argument)
{
    pthread_t thread;
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    volatile uint8_t *base = map_cut();
    guard(session, base, PAGES);
    lg__fault_hook = linger;
    pthread_create(&thread, NULL, touch_once, (void *)(base + KEPT * PAGE));
    wait_until(atomic_load(&reached));
    if (lg_guard_unmap(session, (void *)base) != LG_OK)
        _exit(90);
    atomic_store(&is_back, 1);
    pthread_join(thread, NULL);
    touch(base + 20); /* still there */
    lg__fault_hook = NULL;
    if (touch(base + KEPT * PAGE) != 0) /* replaced before */
        _exit(91);
    munmap((void *)base, PAGES * PAGE);
}

static void test_taken_back(void **state)
{
    (void)state;
    expect_exit(body_taken_back, NULL, 0);
}

/* Threads meet pages of one mapping, while others are registered and taken back. */
static atomic_bool is_over;

static void *touch_all(void *argument)
{
    volatile uint8_t *base = argument;
    while (!atomic_load(&is_over))
        for (size_t i = 0; i < PAGES; i++)
            base[i * PAGE] = (uint8_t)i;
    return NULL;
}

static void body_come_and_go(void *argument)
{
    pthread_t threads[2];
    int file, other;
    size_t replaced = 0;
    (void)argument;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 1000000);
    volatile uint8_t *here = map_file(PAGES, &file);
    unlink(state_path("data"));
    volatile uint8_t *beside = map_file(PAGES, &other);
    guard(session, here, PAGES);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, touch_all, (void *)here);
    for (int round = 0; round < 300 || replaced < 100; round++) {
        cut(file, (size_t)round % PAGES);
        for (size_t i = 0; i < PAGES; i++)
            guard(session, beside + i * PAGE, 1);
        for (size_t i = 0; i < PAGES; i++)
            if (lg_guard_unmap(session, (void *)(beside + i * PAGE)) != LG_OK)
                _exit(90);
        replaced = lg_guard_map_lost((void *)here); /* by the threads */
        cut(file, PAGES);
        if (mmap((void *)here, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            _exit(91);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < PAGES * PAGE; i++)
        if (beside[i] != 'x')
            _exit(92);
}

static void test_come_and_go(void **state)
{
    (void)state;
    expect_exit(body_come_and_go, NULL, 0);
}

/* ---- larger pages of the kernel ---- */

static void body_large(void *argument)
{
    const size_t page = *(const size_t *)argument, size = 4 * page;
    int file;
    lg__fault_page_bytes = page;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    volatile uint8_t *base = map_file(5 * page / PAGE, &file);
    base += (page - (uintptr_t)base % page) % page;
    if (lg_guard_map(session, (void *)(base + PAGE), page, PROT_READ) != (page == PAGE ? LG_OK : LG_ERR_OPTION))
        _exit(90);
    if (page == PAGE && lg_guard_unmap(session, (void *)(base + PAGE)) != LG_OK)
        _exit(91);
    /* the last page is whole, although the size ends inside it */
    if (lg_guard_map(session, (void *)base, size - 5, PROT_READ | PROT_WRITE) != LG_OK)
        _exit(92);
    cut(file, 0);
    base[size - 1] = 1;
    if (lg_guard_map_lost((void *)base) != 1 || base[3 * page] != 0)
        _exit(93);
    base[page + 100] = 1;
    for (size_t at = page; at < 3 * page; at++)
        base[at] = 2;
    if (lg_guard_map_lost((void *)base) != 3 || base[size - 1] != 1)
        _exit(94);
    _exit(base[0] == 0 && lg_guard_map_lost((void *)base) == 4 ? 0 : 95);
}

static void test_large(void **state)
{
    static const size_t sizes[] = { 4096, 16384, 65536 };
    (void)state;
    for (size_t i = 0; i < 3; i++)
        expect_exit(body_large, (void *)(uintptr_t)&sizes[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_lives),  WITH_STATE(test_dies),    WITH_STATE(test_budget),     WITH_STATE(test_long),        WITH_STATE(test_island), WITH_STATE(test_full), WITH_STATE(test_null),
        WITH_STATE(test_sent),   WITH_STATE(test_forks),   WITH_STATE(test_threads),    WITH_STATE(test_taken_back), WITH_STATE(test_come_and_go), WITH_STATE(test_large),
    };
    address = shared_memory(sizeof *address);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
