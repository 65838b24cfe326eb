/* Many threads use the same handles, observers and confinements, with their guards: without a
 * process that dies, so that a sanitizer can look for races. */
#include "harness.h"

#include <launchguard/guard_confine.h>
#include <launchguard/guard_handles.h>
#include <launchguard/guard_observers.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "guard/guard.h"

enum { THREADS = 4, TURNS = 5000 };

static _Atomic unsigned wrong; /* the framework wants no assertion on another thread */
#define EXPECT(condition) ((condition) ? (void)0 : (void)wrong++)

/* ---- guards without a session ---- */

static struct lg__guards file;
static const _Atomic uint32_t unforked = 1;

static void leave_no_breadcrumb(lg_level level, const char *text, const lg_field *fields, size_t count)
{
    (void)level, (void)text, (void)fields, (void)count;
}

static void wake_nobody(void)
{
}

static int start_guards(void **state)
{
    const struct lg__guard_host host = { .file = &file, .unforked = &unforked, .breadcrumb = leave_no_breadcrumb, .wake = wake_nobody };
    (void)state;
    lg__event_open(&host);
    lg__site_open(&file, UINT32_MAX);
    if (lg__ranges_set(NULL) != LG_OK)
        return 1;
    lg__switch_set_policy(LG_GUARDS_ALL, LG_GUARD_SURVIVE);
    lg__switch_set(LG_GUARDS_ALL);
    return 0;
}

/* Run this on all threads at once. */
static void in_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

/* ---- handles ---- */

enum { PLACES = 8 };

static lg_handles *handles;
static _Atomic lg_handle shared[PLACES];
static int objects[PLACES];
static _Atomic unsigned made, released;

static void release(lg_handle handle, unsigned place)
{
    EXPECT(lg_handles_release(handles, handle) == &objects[place]);
    released++;
}

/* Read the handles of all; now and then take one away and put another one there. */
static void *use_handles(void *argument)
{
    const unsigned own = (unsigned)(uintptr_t)argument;
    for (unsigned i = 0; i < TURNS; i++) {
        const unsigned place = (i * 7 + own) % PLACES;
        const lg_handle handle = atomic_load(&shared[place]);
        const void *object = lg_handles_get(handles, handle);
        EXPECT(!object || object == &objects[place]); /* never the object of another handle */
        if (i % 3 != own % 3)
            continue;
        if (handle && atomic_compare_exchange_strong(&shared[place], &(lg_handle){ handle }, 0))
            release(handle, place);
        lg_handle mine = 0;
        EXPECT(lg_handles_make(handles, &objects[place], &mine) == LG_OK);
        made++;
        if (!atomic_compare_exchange_strong(&shared[place], &(lg_handle){ 0 }, mine))
            release(mine, place);
    }
    return NULL;
}

static void test_handles(void **state)
{
    (void)state;
    assert_int_equal(lg_handles_create("shared", &handles), LG_OK);
    in_threads(use_handles);
    for (unsigned i = 0; i < PLACES; i++)
        if (shared[i])
            release(shared[i], i);
    assert_int_equal(wrong, 0);
    assert_int_equal(released, made);
    lg_handles_destroy(handles);
}

/* Exactly one of all releases of a handle gets the object. */
static lg_handle one;
static _Atomic unsigned round_of, ready, got;

static void *release_one(void *argument)
{
    (void)argument;
    for (unsigned i = 1; i <= TURNS; i++) {
        if (ready++ == THREADS * i - 1) {
            EXPECT(got == i - 1);
            EXPECT(lg_handles_make(handles, objects, &one) == LG_OK);
            round_of = i;
        }
        while (round_of < i)
            sched_yield();
        got += lg_handles_release(handles, one) == objects;
    }
    return NULL;
}

static void test_one_release(void **state)
{
    (void)state;
    assert_int_equal(lg_handles_create("one", &handles), LG_OK);
    in_threads(release_one);
    assert_int_equal(got, TURNS);
    lg_handles_destroy(handles);
}

/* ---- observers ---- */

static lg_observers *list;
static _Atomic unsigned calls;

static void count_call(const void *event, void *user)
{
    EXPECT(event == list && user == &calls);
    calls++;
}

/* Add, add again, remove, remove again, leave observers to the end of the owner: and post. */
static void *observe(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < TURNS / 5; i++) {
        lg_owner owner = 0;
        EXPECT(lg_owner_create("owner", &owner) == LG_OK);
        EXPECT(lg_observers_add(list, owner, count_call, &calls) == LG_OK);
        EXPECT(lg_observers_add(list, owner, count_call, &calls) == LG_ERR_DUPLICATE);
        EXPECT(lg_observers_post(list, list) >= 1);
        if (i % 2) {
            EXPECT(lg_observers_remove(list, owner, count_call, &calls) == LG_OK);
            EXPECT(lg_observers_remove(list, owner, count_call, &calls) == LG_ERR_NOT_FOUND);
        }
        EXPECT(lg_owner_end(owner) == LG_OK);
        EXPECT(lg_observers_add(list, owner, count_call, &calls) == LG_ERR_NOT_FOUND);
    }
    return NULL;
}

static void test_observers(void **state)
{
    (void)state;
    assert_int_equal(lg_observers_create("list", &list), LG_OK);
    in_threads(observe);
    assert_int_equal(lg_observers_count(list), 0);
    assert_true(calls >= THREADS * (TURNS / 5));
    lg_observers_destroy(list);
}

/* ---- confinement ---- */

static lg_confinement *confinement;
static unsigned plain; /* of the home thread alone: a race would be seen */
static unsigned last[THREADS];

static void count_plain(void *argument)
{
    const unsigned thread = (unsigned)(uintptr_t)argument % THREADS, number = (unsigned)((uintptr_t)argument / THREADS);
    EXPECT(number == last[thread] + 1); /* in the order of the calls of each thread */
    last[thread] = number;
    plain++;
}

static void *confine(void *argument)
{
    for (uintptr_t i = 1; i <= TURNS; i++) {
        lg_status status;
        do {
            status = lg_guard_confine(confinement, count_plain, (void *)(i * THREADS + (uintptr_t)argument));
            if (status == LG_ERR_LIMIT) /* the home thread has no time */
                rest(1);
        } while (status == LG_ERR_LIMIT);
        EXPECT(status == LG_OK || status == LG_ERR_TIMEOUT);
    }
    return NULL;
}

static void test_confinement(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    assert_int_equal(lg_confinement_create(NULL, &confinement), LG_OK);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, confine, (void *)i), 0);
    /* Each wake-up comes: a poll that waits for its limit would be seen as one that was lost. */
    while (plain < THREADS * TURNS) {
        struct pollfd served = { lg_confinement_fd(confinement), POLLIN, 0 };
        assert_int_equal(poll(&served, 1, LIMIT_MS), 1);
        assert_int_equal(lg_confinement_serve(confinement), LG_OK);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(plain, THREADS * TURNS);
    assert_int_equal(lg_confinement_destroy(confinement), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_one_release),
        cmocka_unit_test(test_observers),
        cmocka_unit_test(test_confinement),
    };
    return cmocka_run_group_tests(tests, start_guards, NULL);
}
