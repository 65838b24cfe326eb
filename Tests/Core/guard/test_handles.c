/* Handles with generations: their faults with and without the guard, tables that grow, orders of
 * threads, and what is not claimed. */
#include "guarded.h"

#include <launchguard/guard_handles.h>
#include <sys/mman.h>

#include "guards.h"
#include "os/fault_point.h"

static lg_handles *make_table(const char *name)
{
    lg_handles *handles = NULL;
    return lg_handles_create(name, &handles) == LG_OK ? handles : NULL;
}

/* 0: it failed. */
static lg_handle make_handle(lg_handles *handles, void *object)
{
    lg_handle handle = 0;
    lg_handles_make(handles, object, &handle);
    return handle;
}

/* ---- the four showings ---- */

static void meet_use_after_release(void)
{
    lg_handles *handles = make_table("objects");
    int *object = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const lg_handle handle = make_handle(handles, object);
    munmap(lg_handles_release(handles, handle), 4096);
    volatile int *again = lg_handles_get(handles, handle);
    if (again)
        *again = 1;
}

static void meet_double_release(void)
{
    lg_handles *handles = make_table("objects");
    const lg_handle handle = make_handle(handles, malloc(100));
    free(lg_handles_release(handles, handle));
    free(lg_handles_release(handles, handle));
}

static void test_use_after_release(void **state)
{
    (void)state;
    show((struct fault){ meet_use_after_release, SIGSEGV, "is used after its release in \"objects\"", WITHOUT });
}

static void test_double_release(void **state)
{
    (void)state;
    show((struct fault){ meet_double_release, SIGABRT, "is released twice in \"objects\"", WITHOUT });
}

/* ---- results, with a guard and without ---- */

static int things[300];

static void body_results(void *argument)
{
    const bool is_survived = argument != NULL;
    start_guards(is_survived ? LG_GUARD_SURVIVE : LG_GUARD_REPORT, 1000);
#define EXPECT(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), _exit(1)))
    lg_handles *handles = make_table(NULL);
    EXPECT(lg_handles_get(handles, 0) == NULL && lg_handles_release(handles, 0) == NULL);
    const lg_handle first = make_handle(handles, &things[0]), second = make_handle(handles, &things[1]);
    EXPECT(first && second && first != second);
    EXPECT(lg_handles_get(handles, first) == &things[0] && lg_handles_get(handles, second) == &things[1]);
    EXPECT(lg_handles_release(handles, first) == &things[0]);
    EXPECT(lg_handles_get(handles, first) == (is_survived ? NULL : &things[0]));
    EXPECT(lg_handles_release(handles, first) == (is_survived ? NULL : &things[0]));
    /* its slot has another object */
    const lg_handle third = make_handle(handles, &things[2]);
    EXPECT((uint32_t)third == (uint32_t)first && third != first);
    EXPECT(lg_handles_get(handles, third) == &things[2]);
    EXPECT(lg_handles_get(handles, first) == NULL);
    EXPECT(lg_handles_release(handles, first) == NULL);
    EXPECT(lg_handles_get(handles, third) == &things[2]);
    /* numbers that are no handles */
    EXPECT(lg_handles_get(handles, third + (UINT64_C(2) << 32)) == NULL);
    EXPECT(lg_handles_get(handles, UINT64_C(1) << 32 | 500) == NULL);
    EXPECT(lg_handles_get(handles, UINT64_C(1) << 32 | UINT32_MAX) == NULL);
    EXPECT(lg_handles_release(handles, UINT64_C(1) << 32 | UINT32_MAX) == NULL);
    EXPECT(lg_handles_get(handles, UINT64_C(1) << 32 | 63) == NULL); /* a slot that nobody had */
    EXPECT(lg_handles_get(handles, 5) == NULL);                      /* no generation */
    lg_handles_destroy(handles);
}

static void test_results(void **state)
{
    (void)state;
    expect_exit(body_results, "survived", 0);
    lg_guard_info event;
    assert_true(find_event("is none of", &event));
    expect_exit(body_results, NULL, 0);
}

static void test_arguments(void **state)
{
    lg_handles *handles = make_table("a name that is longer than what a field of an event can hold, by far");
    lg_handle handle = 7;
    (void)state;
    assert_int_equal(lg_handles_create(NULL, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_handles_make(NULL, things, &handle), LG_ERR_ARGUMENT);
    assert_int_equal(lg_handles_make(handles, NULL, &handle), LG_ERR_ARGUMENT);
    assert_int_equal(lg_handles_make(handles, things, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(handle, 7);
    assert_null(lg_handles_get(NULL, 1));
    assert_null(lg_handles_release(NULL, 1));
    lg_handles_destroy(handles);
    lg_handles_destroy(NULL);
}

/* ---- tables that grow, and slots that grow old ---- */

static void test_growth(void **state)
{
    enum { MANY = 100000 };
    static lg_handle all[MANY];
    lg_handles *handles = make_table("many");
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        all[i] = make_handle(handles, &things[i % 300]);
        assert_int_not_equal(all[i], 0);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(lg_handles_get(handles, all[i]), &things[i % 300]);
    for (size_t i = 0; i < MANY; i += 2)
        assert_ptr_equal(lg_handles_release(handles, all[i]), &things[i % 300]);
    for (size_t i = 0; i < MANY; i += 2)
        /* free slots are used first */
        assert_true((uint32_t)make_handle(handles, &things[1]) < MANY);
    for (size_t i = 1; i < MANY; i += 2)
        assert_ptr_equal(lg_handles_get(handles, all[i]), &things[i % 300]);
    lg_handles_destroy(handles);
}

static void test_an_old_slot_is_left(void **state)
{
    const uint32_t oldest = lg__handles_oldest;
    lg_handles *handles = make_table("old");
    lg_handle handle = make_handle(handles, things), last = 0;
    (void)state;
    lg__handles_oldest = 11;
    for (int i = 0; i < 3; i++) {
        assert_int_equal((uint32_t)handle, 0);
        lg_handles_release(handles, handle);
        handle = make_handle(handles, things);
    }
    assert_int_equal(handle, UINT64_C(13) << 32);
    lg_handles_release(handles, handle);
    last = make_handle(handles, things);
    lg__handles_oldest = oldest;
    assert_int_equal(last, UINT64_C(1) << 32 | 1);
    lg_handles_destroy(handles);
}

/* ---- orders of threads, each forced at a fault point ---- */

static lg_handles *table;
static lg_handle old, fresh, third;
static const char *awaited;

static bool is_point(const char *point)
{
    const bool is = awaited && strcmp(point, awaited) == 0;
    if (is)
        awaited = NULL; /* once */
    return is;
}

static void give_slot_to_another(const char *point)
{
    if (!is_point(point))
        return;
    lg_handles_release(table, old);
    fresh = make_handle(table, &things[2]);
}

/* While a handle is read, its slot gets another object. */
static void body_slot_changes(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    table = make_table("objects");
    old = make_handle(table, &things[1]);
    lg__fault_hook = give_slot_to_another;
    awaited = "handle-valid";
    EXPECT(lg_handles_get(table, old) == NULL);
    EXPECT((uint32_t)fresh == (uint32_t)old && lg_handles_get(table, fresh) == &things[2]);
}

static void test_a_slot_changes_while_it_is_read(void **state)
{
    (void)state;
    expect_exit(body_slot_changes, NULL, 0);
    expect_event("is used after its release in \"objects\"", LG_GUARD_SURVIVED, 1);
}

static void take_two_and_give_one(const char *point)
{
    if (!is_point(point))
        return;
    old = make_handle(table, &things[1]);
    fresh = make_handle(table, &things[2]);
    lg_handles_release(table, old);
}

/* While the first free slot is taken, it is taken, the next one as well, and it comes back. */
static void test_a_free_slot_comes_back(void **state)
{
    (void)state;
    table = make_table("objects");
    old = make_handle(table, &things[0]);
    fresh = make_handle(table, &things[0]);
    lg_handles_release(table, old);
    lg_handles_release(table, fresh);
    lg__fault_hook = take_two_and_give_one;
    awaited = "handle-free";
    third = make_handle(table, &things[3]);
    lg__fault_hook = NULL;
    const lg_handle fourth = make_handle(table, &things[4]);
    assert_ptr_equal(lg_handles_get(table, fresh), &things[2]);
    assert_ptr_equal(lg_handles_get(table, third), &things[3]);
    assert_ptr_equal(lg_handles_get(table, fourth), &things[4]);
    lg_handles_destroy(table);
}

/* ---- not claimed ---- */

/* A pointer that was taken out of its handle is a plain one. */
static void body_pointer(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_handles *handles = make_table("objects");
    void *object = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const lg_handle handle = make_handle(handles, object);
    volatile int *pointer = lg_handles_get(handles, handle);
    munmap(lg_handles_release(handles, handle), 4096);
    *pointer = 1;
}

static void test_a_pointer_is_a_plain_one(void **state)
{
    (void)state;
    expect_signal(body_pointer, NULL, SIGSEGV);
    lg_guard_info event;
    assert_false(find_event("", &event));
}

static void body_other_table(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_handles *one = make_table("one"), *other = make_table("other");
    const lg_handle handle = make_handle(one, &things[1]);
    make_handle(other, &things[2]);
    EXPECT(lg_handles_get(other, handle) == &things[2]);
}

static void test_a_handle_of_another_table_may_be_taken(void **state)
{
    (void)state;
    expect_exit(body_other_table, NULL, 0);
    lg_guard_info event;
    assert_false(find_event("", &event));
}

/* Memory that is freed is given to others at once. */
static void body_no_quarantine(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    lg_handles *handles = make_table("objects");
    const lg_handle handle = make_handle(handles, malloc(100));
    void *object = lg_handles_release(handles, handle);
    const uintptr_t place = (uintptr_t)object;
    free(object);
    EXPECT((uintptr_t)malloc(100) == place);
}

static void test_freed_memory_is_not_kept_back(void **state)
{
    (void)state;
    expect_exit(body_no_quarantine, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_use_after_release), WITH_STATE(test_double_release), WITH_STATE(test_results), cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_an_old_slot_is_left),
        WITH_STATE(test_a_slot_changes_while_it_is_read), cmocka_unit_test(test_a_free_slot_comes_back),
        WITH_STATE(test_a_pointer_is_a_plain_one), WITH_STATE(test_a_handle_of_another_table_may_be_taken),
        WITH_STATE(test_freed_memory_is_not_kept_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
