/* Observers with owners: each fault with and without the guard, callbacks that change the list or
 * leave by a jump, and what is not claimed. */
#include "guarded.h"

#include <launchguard/guard_observers.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define EXPECT(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), _exit(1)))

static lg_observers *make_list(const char *name)
{
    lg_observers *list = NULL;
    EXPECT(lg_observers_create(name, &list) == LG_OK);
    return list;
}

static lg_owner make_owner(const char *name)
{
    lg_owner owner = 0;
    EXPECT(lg_owner_create(name, &owner) == LG_OK && owner);
    return owner;
}

/* ---- the four showings ---- */

/* An object that observes, on a page of its own; it is gone when its owner has ended. */
struct window {
    lg_owner owner;
    int changes;
};

static void on_change(const void *event, void *user)
{
    (void)event;
    ((volatile struct window *)user)->changes++;
}

static struct window *open_window(lg_observers *list)
{
    struct window *window = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    window->owner = make_owner("window");
    EXPECT(lg_observers_add(list, window->owner, on_change, window) == LG_OK);
    return window;
}

static void close_window(struct window *window)
{
    EXPECT(lg_owner_end(window->owner) == LG_OK);
    munmap(window, 4096);
}

static void meet_observer_left(void)
{
    lg_observers *list = make_list("document");
    close_window(open_window(list));
    EXPECT(lg_observers_post(list, NULL) == 0 && lg_observers_count(list) == 0);
}

static void meet_dead_owner(void)
{
    lg_observers *list = make_list("document");
    struct window *window = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const lg_owner owner = make_owner("window");
    EXPECT(lg_owner_end(owner) == LG_OK);
    EXPECT(lg_observers_add(list, owner, on_change, window) == LG_ERR_NOT_FOUND || lg_observers_count(list) == 1);
    munmap(window, 4096);
    lg_observers_post(list, NULL);
}

static void meet_unmatched_remove(void)
{
    lg_observers *list = make_list("document");
    const lg_owner owner = make_owner("window");
    EXPECT(lg_observers_remove(list, owner, on_change, NULL) == LG_ERR_NOT_FOUND);
}

/* A callback that frees what it was given: the second call frees it again. */
static void free_once(const void *event, void *user)
{
    (void)event;
    free(user);
}

static void meet_double_add(void)
{
    lg_observers *list = make_list("document");
    const lg_owner owner = make_owner("window");
    void *memory = malloc(100);
    EXPECT(lg_observers_add(list, owner, free_once, memory) == LG_OK);
    EXPECT(lg_observers_add(list, owner, free_once, memory) == LG_ERR_DUPLICATE || lg_observers_count(list) == 2);
    lg_observers_post(list, NULL);
}

#define SHOW(name, death, says)                                    \
    static void test_##name(void **state)                          \
    {                                                              \
        (void)state;                                               \
        show((struct fault){ meet_##name, death, says, WITHOUT }); \
    }

SHOW(observer_left, SIGSEGV, "owner \"window\" ends before its observers: 1")
SHOW(dead_owner, SIGSEGV, "an observer of \"document\" is added, and its owner has ended")
SHOW(unmatched_remove, SIGABRT, "an observer of \"document\" is removed, and is not there")
SHOW(double_add, SIGABRT, "an observer of \"document\" is added twice")

/* The owner ended while the guard was off: the event itself finds out. */
static void body_late_guard(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    lg_observers *list = make_list("document"), *other = make_list("other");
    struct window *window = open_window(list);
    EXPECT(lg_observers_add(other, window->owner, on_change, window) == LG_OK);
    close_window(window);
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = LG_GUARD_SURVIVE;
    options.quiet = 1;
    EXPECT(lg_guard_start(session, &options) == LG_OK);
    EXPECT(lg_observers_count(list) == 1);
    EXPECT(lg_observers_post(list, NULL) == 0 && lg_observers_count(list) == 0);
    EXPECT(lg_observers_post(list, NULL) == 0);
    lg_guard_stop(session);
    lg_observers_post(other, NULL);
}

static void test_an_event_to_a_dead_owner(void **state)
{
    (void)state;
    expect_signal(body_late_guard, NULL, SIGSEGV);
    expect_event("an observer of \"document\" has a dead owner, and an event", LG_GUARD_SURVIVED, 1);
}

static void body_end_removes(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_observers *first = make_list("first"), *second = make_list("second");
    struct window *one = open_window(first), *two = open_window(first);
    EXPECT(lg_observers_add(second, one->owner, on_change, one) == LG_OK);
    close_window(one);
    EXPECT(lg_observers_count(first) == 1 && lg_observers_count(second) == 0);
    EXPECT(lg_observers_post(first, NULL) == 1 && two->changes == 1);
    EXPECT(lg_observers_remove(first, two->owner, on_change, two) == LG_OK);
    close_window(two);
}

static void test_the_end_of_an_owner_removes_its_own(void **state)
{
    (void)state;
    expect_exit(body_end_removes, NULL, 0);
    expect_event("owner \"window\" ends before its observers: 2", LG_GUARD_SURVIVED, 1);
}

static void body_ends_twice(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    const lg_owner owner = make_owner("window");
    EXPECT(lg_owner_end(owner) == LG_OK && lg_owner_end(owner) == LG_ERR_NOT_FOUND);
    EXPECT(make_owner("window") != owner); /* no number comes twice */
    EXPECT(lg_owner_end(0) == LG_ERR_NOT_FOUND);
}

static void test_an_owner_ends_twice(void **state)
{
    (void)state;
    expect_exit(body_ends_twice, NULL, 0);
    expect_event("an owner that is not there ends", LG_GUARD_SURVIVED, 1);
}

/* ---- in this process: no faults ---- */

static char story[64];
static lg_observers *list;
static lg_owner own, others;
static jmp_buf out;

static void tell(const void *event, void *user)
{
    strcat(strcat(story, event), user);
}

#define EXPECT_STORY(event, count, expected)                     \
    do {                                                         \
        story[0] = 0;                                            \
        assert_int_equal(lg_observers_post(list, event), count); \
        assert_string_equal(story, expected);                    \
    } while (0)

static void add(lg_observer_callback callback, void *user)
{
    assert_int_equal(lg_observers_add(list, own, callback, user), LG_OK);
}

static void removes(const void *event, void *user)
{
    tell(event, user);
    lg_observers_remove(list, own, tell, "2");
    lg_observers_remove(list, own, removes, user);
    lg_observers_add(list, own, tell, "5");
}

static void posts(const void *event, void *user)
{
    tell(event, user);
    if (strlen(story) < 12)
        lg_observers_post(list, event);
}

static void ends_owner(const void *event, void *user)
{
    tell(event, user);
    lg_observers_remove(list, others, tell, "3");
    lg_owner_end(others);
}

static void jumps(const void *event, void *user)
{
    tell(event, user);
    longjmp(out, 1);
}

static void test_order(void **state)
{
    (void)state;
    EXPECT_STORY("-", 0, "");
    add(tell, "1");
    add(tell, "2");
    add(tell, "3");
    EXPECT_STORY("-", 3, "-1-2-3");
    assert_int_equal(lg_observers_remove(list, own, tell, "2"), LG_OK);
    add(tell, "2");
    EXPECT_STORY("+", 3, "+1+3+2");
    assert_int_equal(lg_observers_count(list), 3);
}

static void test_a_callback_changes_the_list(void **state)
{
    (void)state;
    add(tell, "0");
    add(removes, "1");
    add(tell, "2");
    add(tell, "3");
    EXPECT_STORY("-", 3, "-0-1-3");
    EXPECT_STORY("-", 3, "-0-3-5");
}

static void test_a_callback_posts(void **state)
{
    (void)state;
    add(posts, "1");
    add(tell, "2");
    EXPECT_STORY("-", 2, "-1-1-1-1-1-1-2-2-2-2-2-2");
}

static void test_a_callback_ends_an_owner(void **state)
{
    (void)state;
    add(ends_owner, "1");
    add(tell, "2");
    assert_int_equal(lg_observers_add(list, others, tell, "3"), LG_OK);
    EXPECT_STORY("-", 2, "-1-2");
}

static void test_a_callback_jumps(void **state)
{
    (void)state;
    add(tell, "1");
    add(jumps, "2");
    add(tell, "3");
    story[0] = 0;
    if (setjmp(out) == 0)
        lg_observers_post(list, "-");
    assert_string_equal(story, "-1-2");
    assert_int_equal(lg_observers_remove(list, own, jumps, "2"), LG_OK);
    EXPECT_STORY("-", 2, "-1-3");
}

static void test_arguments(void **state)
{
    (void)state;
    assert_int_equal(lg_observers_create("", NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_owner_create("", NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_observers_add(NULL, own, tell, ""), LG_ERR_ARGUMENT);
    assert_int_equal(lg_observers_add(list, own, NULL, ""), LG_ERR_ARGUMENT);
    assert_int_equal(lg_observers_remove(NULL, own, tell, ""), LG_ERR_ARGUMENT);
    assert_int_equal(lg_observers_remove(list, own, NULL, ""), LG_ERR_ARGUMENT);
    assert_int_equal(lg_observers_post(NULL, ""), 0);
    assert_int_equal(lg_observers_count(NULL), 0);
    lg_observers_destroy(NULL);
}

static void test_many(void **state)
{
    enum { MANY = 1000 };
    static lg_owner owners[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        owners[i] = make_owner("many");
        assert_int_equal(lg_observers_add(list, owners[i], tell, ""), LG_OK);
    }
    EXPECT_STORY("", MANY, "");
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(lg_observers_remove(list, owners[(i * 7) % MANY], tell, ""), LG_OK);
        assert_int_equal(lg_owner_end(owners[(i * 7) % MANY]), LG_OK);
    }
    EXPECT_STORY("", 0, "");
}

/* A fork while other threads hold the lock most of the time. */
static _Atomic bool done;

static void *post_always(void *argument)
{
    while (!done)
        lg_observers_post(argument, "");
    return NULL;
}

static void do_nothing(const void *event, void *user)
{
    (void)event, (void)user;
}

static void body_forks(void *argument)
{
    pthread_t threads[2];
    lg_observers *busy = make_list("busy");
    const lg_owner owner = make_owner("busy");
    (void)argument;
    EXPECT(lg_observers_add(busy, owner, do_nothing, NULL) == LG_OK);
    for (int i = 0; i < 2; i++)
        EXPECT(pthread_create(&threads[i], NULL, post_always, busy) == 0);
    for (int i = 0; i < 100; i++) {
        int status = 1;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(lg_observers_post(busy, "") != 1);
        }
        EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    done = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void test_a_forked_child_posts(void **state)
{
    (void)state;
    expect_exit(body_forks, NULL, 0);
}

/* ---- not claimed ---- */

static void body_immortal_owner(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_observers *document = make_list("document");
    munmap(open_window(document), 4096); /* nobody ends the owner */
    lg_observers_post(document, NULL);
}

static void test_an_owner_that_never_ends_is_called(void **state)
{
    (void)state;
    expect_signal(body_immortal_owner, NULL, SIGSEGV);
    lg_guard_info event;
    assert_false(find_event("", &event));
}

static _Atomic int step;

static void await_step(int what)
{
    wait_until(step == what);
}

static void runs_on(const void *event, void *user)
{
    (void)event, (void)user;
    step = 1;
    await_step(2);
    step = 3;
}

static void *post_once(void *argument)
{
    lg_observers_post(argument, NULL);
    return NULL;
}

static void body_runs_on(void *argument)
{
    pthread_t thread;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_observers *document = make_list("document");
    const lg_owner owner = make_owner("window");
    EXPECT(lg_observers_add(document, owner, runs_on, NULL) == LG_OK);
    EXPECT(pthread_create(&thread, NULL, post_once, document) == 0);
    await_step(1);
    EXPECT(lg_observers_remove(document, owner, runs_on, NULL) == LG_OK && lg_owner_end(owner) == LG_OK);
    step = 2; /* the owner is gone, and its callback has not returned */
    await_step(3);
    pthread_join(thread, NULL);
}

static void test_a_callback_runs_on_while_its_owner_ends(void **state)
{
    (void)state;
    expect_exit(body_runs_on, NULL, 0);
    lg_guard_info event;
    assert_false(find_event("", &event));
}

static int make(void **state)
{
    (void)state;
    list = make_list("list");
    own = make_owner("own");
    others = make_owner("others");
    return 0;
}

static int clean(void **state)
{
    (void)state;
    lg_observers_destroy(list);
    lg_owner_end(own);
    lg_owner_end(others);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_observer_left), WITH_STATE(test_dead_owner), WITH_STATE(test_unmatched_remove), WITH_STATE(test_double_add),
        WITH_STATE(test_an_event_to_a_dead_owner), WITH_STATE(test_the_end_of_an_owner_removes_its_own), WITH_STATE(test_an_owner_ends_twice),
        TEST(test_order), TEST(test_a_callback_changes_the_list), TEST(test_a_callback_posts), TEST(test_a_callback_ends_an_owner),
        TEST(test_a_callback_jumps), TEST(test_arguments), TEST(test_many), cmocka_unit_test(test_a_forked_child_posts),
        WITH_STATE(test_an_owner_that_never_ends_is_called), WITH_STATE(test_a_callback_runs_on_while_its_owner_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
