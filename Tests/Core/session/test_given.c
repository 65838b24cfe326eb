/* Options of programs that were built with an older or a newer header. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition)                                     \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "not true: %s\n", #condition);      \
            _exit(92);                                         \
        }                                                      \
    } while (0)

/* The header of the program lacks the last two fields. */
#define OLDER offsetof(lg_options, on_log)

/* That of the program has more. */
struct newer {
    lg_options options;
    uint64_t more[2];
};

static void older_header(void *argument)
{
    (void)argument;
    struct { uint8_t bytes[OLDER]; } older; /* what follows is not the program's */
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.older";
    options.state_directory = state_path(".");
    options.size = OLDER;
    memcpy(&older, &options, OLDER);
    REQUIRE(lg_start((const lg_options *)&older, &session) == LG_OK);
    REQUIRE(lg_session_protection(session) == LG_PROTECTION_FULL);
}

static void newer_header(void *argument)
{
    (void)argument;
    struct newer newer = { .options = LG_OPTIONS_INIT };
    lg_session *session;
    newer.options.app_id = "org.example.newer";
    newer.options.state_directory = state_path(".");
    newer.options.size = sizeof newer;
    newer.more[1] = 1;
    REQUIRE(lg_start(&newer.options, &session) == LG_ERR_OPTION);
    REQUIRE(strstr(lg_session_message(session), "a field is set that this version of the library does not know"));
    newer.more[1] = 0;
    REQUIRE(lg_start(&newer.options, &session) == LG_OK);
    REQUIRE(lg_session_protection(session) == LG_PROTECTION_FULL);
}

/* Each structure that a program gives, with a size that is its own: as small as none, a little
 * smaller, a little larger. */
static void every_structure(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    lg_launch *launch;
    options.app_id = "org.example.every";
    options.state_directory = state_path(".");
    REQUIRE(lg_start(&options, &session) == LG_OK);

    struct { lg_launch_options of; uint64_t more; } launches = { .of = LG_LAUNCH_OPTIONS_INIT };
    launches.of.size = 4;
    REQUIRE(lg_launch_prepare(session, "none", &launches.of, &launch) == LG_ERR_OPTION);
    launches.of.size = offsetof(lg_launch_options, hold_ms);
    launches.of.hold_ms = 0; /* would be an error */
    REQUIRE(lg_launch_prepare(session, "older", &launches.of, &launch) == LG_OK);
    launches.of = (lg_launch_options)LG_LAUNCH_OPTIONS_INIT;
    launches.of.size = sizeof launches;
    REQUIRE(lg_launch_prepare(session, "newer", &launches.of, &launch) == LG_OK);
    launches.more = 1;
    REQUIRE(lg_launch_prepare(session, "set", &launches.of, &launch) == LG_ERR_OPTION);
    REQUIRE(lg_launch_prepare(session, "main", NULL, &launch) == LG_OK);

    struct { lg_task of; uint64_t more; } tasks = { .of = LG_TASK_INIT };
    REQUIRE(lg_launch_add_task(launch, &tasks.of) == LG_ERR_ARGUMENT); /* it runs nothing */
    tasks.of.size = sizeof tasks;
    tasks.more = 1;
    REQUIRE(lg_launch_add_task(launch, &tasks.of) == LG_ERR_OPTION);
    struct { lg_repair of; uint64_t more; } repairs = { .of = LG_REPAIR_INIT };
    repairs.of.size = sizeof repairs;
    repairs.more = 1;
    REQUIRE(lg_launch_add_repair(launch, &repairs.of) == LG_ERR_OPTION);

    struct { lg_guard_options of; uint64_t more; } guards = { .of = LG_GUARD_OPTIONS_INIT };
    guards.of.size = sizeof guards;
    guards.more = 1;
    REQUIRE(lg_guard_start(session, &guards.of) == LG_ERR_OPTION);
    guards.more = 0;
    REQUIRE(lg_guard_start(session, &guards.of) == LG_OK);
    struct { lg_guard_lists of; uint64_t more; } lists = { .of = LG_GUARD_LISTS_INIT };
    lists.of.size = 8;
    REQUIRE(lg_guard_set_lists(session, &lists.of) == LG_OK);
    lists.of.size = 7;
    REQUIRE(lg_guard_set_lists(session, &lists.of) == LG_ERR_OPTION);
    REQUIRE(lg_guard_stop(session) == LG_OK);

    struct { lg_delivery_options of; uint64_t more; } delivery = { .of = LG_DELIVERY_OPTIONS_INIT };
    delivery.of.size = sizeof delivery;
    delivery.more = 1;
    REQUIRE(lg_delivery_start(session, &delivery.of) == LG_ERR_OPTION);
    struct { lg_confinement_options of; uint64_t more; } confined = { .of = LG_CONFINEMENT_OPTIONS_INIT };
    lg_confinement *confinement;
    confined.of.size = sizeof confined;
    confined.more = 1;
    REQUIRE(lg_confinement_create(&confined.of, &confinement) == LG_ERR_OPTION);
    confined.more = 0;
    REQUIRE(lg_confinement_create(&confined.of, &confinement) == LG_OK);
    lg_confinement_destroy(confinement);
}

static void test_older_header(void **state)
{
    (void)state;
    expect_exit(older_header, NULL, 0);
}

static void test_newer_header(void **state)
{
    (void)state;
    expect_exit(newer_header, NULL, 0);
}

static void test_every_structure(void **state)
{
    (void)state;
    expect_exit(every_structure, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_older_header), WITH_STATE(test_newer_header), WITH_STATE(test_every_structure) };
    return cmocka_run_group_tests_name("given", tests, NULL, NULL);
}
