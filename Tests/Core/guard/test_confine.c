/* Calls that belong to one thread: the fault with and without the guard, the loop and the executor
 * that serve it, loops that serve nothing, and what is not claimed. */
#include "guarded.h"

#include <launchguard/guard_confine.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#define EXPECT(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), _exit(1)))

static lg_confinement *confinement;

static void make_confinement(lg_confinement_options options)
{
    options.size = sizeof options;
    options.name = "window";
    EXPECT(lg_confinement_create(&options, &confinement) == LG_OK);
}

/* Wait for the loop's descriptor. */
static bool can_serve(int timeout_ms)
{
    struct pollfd served = { lg_confinement_fd(confinement), POLLIN, 0 };
    return poll(&served, 1, timeout_ms) == 1;
}

/* ---- on another thread ---- */

struct call {
    void (*work)(void *);
    void *argument;
    lg_status status;
};

static void *call_there(void *argument)
{
    struct call *call = argument;
    call->status = lg_guard_confine(confinement, call->work, call->argument);
    return NULL;
}

/* Call on another thread, and wait for that. */
static lg_status call(void (*work)(void *), void *argument)
{
    struct call it = { work, argument, LG_ERR_STATE };
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, call_there, &it) == 0);
    pthread_join(thread, NULL);
    return it.status;
}

static char story[64];

static void tell(void *argument)
{
    strcat(story, argument);
}

/* ---- the four showings ---- */

/* A toolkit that is used on one thread alone, and looks. */
static pthread_t toolkit;
static unsigned changes;

static void set_title(void *argument)
{
    (void)argument;
    if (!pthread_equal(pthread_self(), toolkit))
        crash(); /* what really happens then is anything */
    changes++;
}

/* A fault that dies elsewhere than `crash()` as the other bug: by a trap. */
static void set_wrongly(void *argument)
{
    (void)argument;
    if (!pthread_equal(pthread_self(), toolkit))
        __builtin_trap();
    changes++;
}

static void meet_other_thread(void)
{
    const unsigned before = changes;
    toolkit = pthread_self();
    make_confinement((lg_confinement_options){ 0 });
    EXPECT(lg_guard_confine(confinement, set_wrongly, NULL) == LG_OK && changes == before + 1);
    EXPECT(!can_serve(0));
    EXPECT(call(set_wrongly, NULL) == LG_OK && changes == before + 1);
    EXPECT(can_serve(0));
    EXPECT(lg_confinement_serve(confinement) == LG_OK && changes == before + 2);
    EXPECT(!can_serve(0));
    EXPECT(lg_confinement_destroy(confinement) == 0);
}

static void test_another_thread(void **state)
{
    (void)state;
    show((struct fault){ meet_other_thread, TRAP_SIGNAL, "a call of \"window\" comes from another thread than its home", WITHOUT });
}

/* ---- serving ---- */

static void body_order(void *argument)
{
    uint32_t waiting = 99;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ 0 });
    EXPECT(call(tell, "1") == LG_OK && call(tell, "2") == LG_OK && call(tell, "3") == LG_OK);
    EXPECT(lg_confinement_check(confinement, &waiting) == LG_OK && waiting == 3);
    EXPECT(lg_guard_confine(confinement, tell, "home") == LG_OK);
    EXPECT(strcmp(story, "home") == 0);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "home123") == 0);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "home123") == 0);
    EXPECT(lg_confinement_check(confinement, &waiting) == LG_OK && waiting == 0);
}

static void test_order(void **state)
{
    (void)state;
    expect_exit(body_order, NULL, 0);
    expect_event("comes from another thread than its home", LG_GUARD_SURVIVED, 3);
}

static jmp_buf out;

static void jump(void *argument)
{
    tell(argument);
    longjmp(out, 1);
}

static void body_jump(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ 0 });
    EXPECT(call(jump, "1") == LG_OK && call(tell, "2") == LG_OK);
    if (setjmp(out) == 0)
        lg_confinement_serve(confinement);
    EXPECT(strcmp(story, "1") == 0 && can_serve(0)); /* the loop hears of the rest */
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "12") == 0);
}

static void test_work_jumps(void **state)
{
    (void)state;
    expect_exit(body_jump, NULL, 0);
}

/* Work that puts work: the loop gets a turn. */
static void puts_more(void *argument)
{
    tell(argument);
    EXPECT(call(tell, "more") == LG_OK);
    EXPECT(lg_confinement_serve(confinement) == LG_OK); /* and may be served within */
}

static void body_more(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ 0 });
    EXPECT(call(puts_more, "1") == LG_OK);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "1more") == 0);
}

static void test_work_puts_work(void **state)
{
    (void)state;
    expect_exit(body_more, NULL, 0);
}

static void *serve_there(void *argument)
{
    (void)argument;
    EXPECT(lg_confinement_serve(confinement) == LG_ERR_STATE);
    return NULL;
}

static void body_wrong_thread_serves(void *argument)
{
    pthread_t thread;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ 0 });
    EXPECT(call(tell, "1") == LG_OK);
    EXPECT(pthread_create(&thread, NULL, serve_there, NULL) == 0);
    pthread_join(thread, NULL);
    EXPECT(strcmp(story, "") == 0);
    int status = 1;
    const pid_t child = fork();
    if (child == 0)
        _exit(lg_confinement_serve(confinement) != LG_ERR_FORKED || call(tell, "child") != LG_OK || strcmp(story, "child") != 0);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "1") == 0);
}

static void test_only_the_home_thread_serves(void **state)
{
    (void)state;
    expect_exit(body_wrong_thread_serves, NULL, 0);
}

/* ---- an executor ---- */

static struct {
    void (*work)(void *);
    void *argument;
} given[4];
static unsigned count;

static void keep(void (*work)(void *), void *argument, void *user)
{
    EXPECT(strcmp(user, "user") == 0);
    given[count].work = work;
    given[count++].argument = argument;
}

static void *run_given(void *argument)
{
    (void)argument;
    count--;
    given[count].work(given[count].argument);
    return NULL;
}

static void body_executor(void *argument)
{
    const bool is_survived = argument != NULL;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    pthread_t thread;
    make_confinement((lg_confinement_options){ .executor = keep, .user = "user" });
    EXPECT(lg_confinement_fd(confinement) == -1);
    EXPECT(call(tell, "1") == LG_OK && count == 1 && strcmp(story, "") == 0);
    run_given(NULL);
    EXPECT(strcmp(story, "1") == 0);
    /* it runs the work on the wrong thread */
    EXPECT(call(tell, "2") == LG_OK && count == 1);
    if (!is_survived)
        lg_guard_stop(session);
    EXPECT(pthread_create(&thread, NULL, run_given, NULL) == 0);
    pthread_join(thread, NULL);
    EXPECT(strcmp(story, is_survived ? "1" : "12") == 0);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "12") == 0);
    /* it is late: the confinement has ended */
    if (is_survived) {
        EXPECT(call(tell, "3") == LG_OK && call(tell, "4") == LG_OK);
        EXPECT(lg_confinement_destroy(confinement) == 2);
        run_given(NULL);
        EXPECT(pthread_create(&thread, NULL, run_given, NULL) == 0); /* the wrong one again */
        pthread_join(thread, NULL);
        EXPECT(strcmp(story, "12") == 0);
    }
}

static void test_executor(void **state)
{
    (void)state;
    expect_exit(body_executor, "survived", 0);
    expect_event("the executor of \"window\" runs work on another thread than its home", LG_GUARD_SURVIVED, 1);
    expect_event("\"window\" ends, and 2 calls that wait are lost", LG_GUARD_SURVIVED, 1);
    expect_exit(body_executor, NULL, 0);
}

/* ---- nobody serves ---- */

static void body_not_served(void *argument)
{
    uint32_t waiting = 0;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 10000);
    make_confinement((lg_confinement_options){ .wait_ms = 200 });
    EXPECT(lg_confinement_check(confinement, NULL) == LG_OK);
    EXPECT(call(tell, "1") == LG_OK);
    pass_time(201, "the call waits for longer than it may");
    EXPECT(lg_confinement_check(confinement, &waiting) == LG_ERR_TIMEOUT && waiting == 1);
    EXPECT(call(tell, "2") == LG_ERR_TIMEOUT);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "12") == 0);
    EXPECT(lg_confinement_check(confinement, NULL) == LG_OK);
}

static void test_nobody_serves(void **state)
{
    (void)state;
    expect_exit(body_not_served, NULL, 0);
    expect_event("the home thread of \"window\" serves no loop: 1 calls wait", LG_GUARD_SURVIVED, 1);
}

static void body_lost(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 10000);
    make_confinement((lg_confinement_options){ .wait_ms = 3600000 });
    for (unsigned i = 0; i < LG_CONFINED_MAX; i++)
        EXPECT(call(tell, "") == LG_OK);
    EXPECT(call(tell, "lost") == LG_ERR_LIMIT);
    EXPECT(lg_confinement_destroy(confinement) == LG_CONFINED_MAX);
    EXPECT(strcmp(story, "") == 0);
}

static void test_nothing_is_lost_in_silence(void **state)
{
    lg_guard_info event;
    (void)state;
    expect_exit(body_lost, NULL, 0);
    expect_event("\"window\" ends, and 1000 calls that wait are lost", LG_GUARD_SURVIVED, 1);
    expect_event("a call of \"window\" is lost: 1000 wait already", LG_GUARD_SURVIVED, 1);
    assert_true(find_event("comes from another thread than its home", &event));
    assert_int_equal(event.count, LG_CONFINED_MAX + 1);
}

static void test_arguments(void **state)
{
    lg_confinement_options options = LG_CONFINEMENT_OPTIONS_INIT;
    (void)state;
    assert_int_equal(lg_confinement_create(NULL, NULL), LG_ERR_ARGUMENT);
    options.size = 1;
    assert_int_equal(lg_confinement_create(&options, &confinement), LG_ERR_OPTION);
    assert_int_equal(lg_guard_confine(NULL, tell, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_confinement_serve(NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_confinement_check(NULL, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_confinement_fd(NULL), -1);
    assert_int_equal(lg_confinement_destroy(NULL), 0);
    assert_int_equal(lg_confinement_create(NULL, &confinement), LG_OK);
    assert_int_equal(lg_guard_confine(confinement, NULL, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_confinement_destroy(confinement), 0);
}

/* ---- not claimed ---- */

/* The caller goes on: what it hands over has to stay. */
static void look(void *argument)
{
    strcat(story, *(int *)argument == 1 ? "right" : "gone");
}

static void *call_with_local(void *argument)
{
    int *local = argument;
    *local = 1;
    EXPECT(lg_guard_confine(confinement, look, local) == LG_OK);
    *local = 2; /* as the end of its function does */
    return NULL;
}

static void body_local(void *argument)
{
    pthread_t thread;
    int local;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ 0 });
    EXPECT(pthread_create(&thread, NULL, call_with_local, &local) == 0);
    pthread_join(thread, NULL);
    EXPECT(lg_confinement_serve(confinement) == LG_OK && strcmp(story, "gone") == 0);
}

static void test_a_caller_does_not_wait_for_its_work(void **state)
{
    (void)state;
    expect_exit(body_local, NULL, 0);
}

static void *call_directly(void *argument)
{
    set_title(argument);
    return NULL;
}

static void body_direct(void *argument)
{
    pthread_t thread;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ 0 });
    toolkit = pthread_self();
    pthread_create(&thread, NULL, call_directly, NULL);
    pthread_join(thread, NULL);
}

static void test_a_direct_call_is_not_seen(void **state)
{
    lg_guard_info event;
    (void)state;
    expect_signal(body_direct, NULL, SIGSEGV);
    assert_false(find_event("", &event));
}

/* Without a call and a question nothing is reported. */
static void body_silence(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    make_confinement((lg_confinement_options){ .wait_ms = 100 });
    EXPECT(call(tell, "1") == LG_OK);
    pass_time(300, "the call waits for much longer than it may");
}

static void test_nothing_looks_while_nobody_calls(void **state)
{
    lg_guard_info event;
    (void)state;
    expect_exit(body_silence, NULL, 0);
    assert_false(find_event("serves no loop", &event));
}

/* The home thread has ended, and another one has its number. */
static pthread_t number;

static void *make_and_end(void *argument)
{
    (void)argument;
    number = pthread_self();
    make_confinement((lg_confinement_options){ 0 });
    return NULL;
}

static void *call_as_heir(void *argument)
{
    if (pthread_equal(number, pthread_self())) {
        EXPECT(lg_guard_confine(confinement, tell, argument) == LG_OK);
        exit(strcmp(story, argument) == 0 ? 0 : 1);
    }
    return NULL;
}

static void body_heir(void *argument)
{
    pthread_t thread;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    EXPECT(pthread_create(&thread, NULL, make_and_end, NULL) == 0);
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++) {
        EXPECT(pthread_create(&thread, NULL, call_as_heir, "ran") == 0);
        pthread_join(thread, NULL);
    }
    fprintf(stderr, "no thread got the number\n");
    _exit(1);
}

static void test_the_heir_of_a_number_is_at_home(void **state)
{
    lg_guard_info event;
    (void)state;
    expect_exit(body_heir, NULL, 0);
    assert_false(find_event("", &event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_another_thread), WITH_STATE(test_order), WITH_STATE(test_work_jumps), WITH_STATE(test_work_puts_work),
        WITH_STATE(test_only_the_home_thread_serves), WITH_STATE(test_executor), WITH_STATE(test_nobody_serves),
        WITH_STATE(test_nothing_is_lost_in_silence), cmocka_unit_test(test_arguments), WITH_STATE(test_a_caller_does_not_wait_for_its_work),
        WITH_STATE(test_a_direct_call_is_not_seen), WITH_STATE(test_nothing_looks_while_nobody_calls),
        WITH_STATE(test_the_heir_of_a_number_is_at_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
