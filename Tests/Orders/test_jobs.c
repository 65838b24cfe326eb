/* Deadlines of jobs: a job that ends, or gives its place to another one, while the watch thread
 * finds it near its deadline. */
#include "session_stand_ins.h"

#include "session/job_deadlines.c"

static uint64_t first;

static void prepare(void)
{
    make_session();
    must(lg_deadline_begin(&session, "job", 1, &first) == LG_OK);
    jobs[0].due_ns = 1;
    for (uint32_t i = 1; i < LG__DEADLINES; i++)
        jobs[i].number = TAKEN; /* one place */
}

static void ends(void)
{
    must(lg_deadline_end(&session, first) == LG_OK);
}

static void ends_and_begins(void)
{
    uint64_t second;
    must(lg_deadline_end(&session, first) == LG_OK);
    must(lg_deadline_begin(&session, "next", 86400000, &second) == LG_OK);
}

/* Its time is not over, whatever the watch thread has seen of it. */
static void watches(void)
{
    lg__job_deadlines_look(&session);
}

static void is_free(void)
{
    must(jobs[0].number == 0);
    must(jobs[0].near_ns == 0 && pulse.deadlines[0].near_ns == 0 && pulse.deadlines[0].number == 0);
}

static void is_not_near(void)
{
    must(jobs[0].number > TAKEN && jobs[0].number != first);
    must(pulse.deadlines[0].number == jobs[0].number);
    must(jobs[0].near_ns == 0 && pulse.deadlines[0].near_ns == 0);
}

static void begins(void)
{
    uint64_t number;
    const lg_status status = lg_deadline_begin(&session, "job", 1000, &number);
    must(status == LG_OK || status == LG_ERR_LIMIT);
    must((status == LG_OK) == (number != 0));
    if (number)
        must(lg_deadline_end(&session, number) == LG_OK);
}

static void prepare_free(void)
{
    prepare();
    jobs[0].number = 0;
    pulse.deadlines[0].number = 0;
}

#define SECTIONS "Heartbeats, hangs and jobs"

static const struct scenario scenarios[] = {
    { .name = "a job ends", .sections = SECTIONS, .setup = prepare, .threads = { ends, watches }, .check = is_free },
    { .name = "another job begins", .sections = SECTIONS, .setup = prepare, .threads = { ends_and_begins, watches }, .check = is_not_near, .switches = 3, .switches_of_all = 4 },
    { .name = "two begin", .sections = SECTIONS, .setup = prepare_free, .threads = { begins, begins }, .check = is_free, .switches = 2, .switches_of_all = 3 },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
