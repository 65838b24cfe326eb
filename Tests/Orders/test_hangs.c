/* Heartbeats and hangs: a heartbeat that comes while its hang is found, and two observers of hangs
 * at once. */
#include "session_stand_ins.h"

#include "session/heartbeats.c"

#define BEAT UINT64_C(1000)

static void prepare(void)
{
    make_session();
    lg__heartbeats_prepare(&session);
    thread_end_key_made = false;
    heartbeats[0].tid = 100;
    heartbeats[0].beat_ns = BEAT;
    heartbeats[1].tid = 101;
    heartbeats[1].beat_ns = BEAT;
}

static void beats(void)
{
    own_heartbeat = 1;
    must(beat_now(&session, 2 * BEAT));
}

static void pauses(void)
{
    own_heartbeat = 1;
    pause_own(&session);
}

static void watches(void)
{
    report_hang(&session, &heartbeats[0], BEAT, 1);
}

/* The heartbeat has come: whatever the watch thread found, no hang is left. */
static void no_hang(void)
{
    must(session.host.hangs[0] == 0);
    must(state.hang_ns == 0);
    must(pulse.heartbeats[0].hang_ns == 0);
}

/* ---- observers of different hangs ---- */

static void begins_and_ends(void)
{
    lg__hang_begin(&session.host, 0, 10);
    lg__hang_end(&session.host, 0);
}

static void begins(void)
{
    lg__hang_begin(&session.host, 1, 11);
}

static void ends(void)
{
    lg__hang_end(&session.host, 1);
}

static void begun_before(void)
{
    prepare();
    lg__hang_begin(&session.host, 1, 11);
}

static void mark_is_one(void)
{
    must(state.hang_ns == 11);
}

static void mark_is_none(void)
{
    must(state.hang_ns == 0);
}

#define SECTIONS "Heartbeats, hangs and jobs"

static const struct scenario scenarios[] = {
    { .name = "a heartbeat comes", .sections = SECTIONS, .setup = prepare, .threads = { beats, watches }, .check = no_hang, .switches = 2, .switches_of_all = 2, .stale = 2 },
    { .name = "a pause begins", .sections = SECTIONS, .setup = prepare, .threads = { pauses, watches }, .check = no_hang, .switches = 2, .switches_of_all = 2, .stale = 2 },
    { .name = "another hang begins", .sections = SECTIONS, .setup = prepare, .threads = { begins_and_ends, begins }, .check = mark_is_one, .switches = 1, .switches_of_all = 2, .stale = 2 },
    { .name = "both hangs end", .sections = SECTIONS, .setup = begun_before, .threads = { begins_and_ends, ends }, .check = mark_is_none, .switches = 1, .switches_of_all = 2, .stale = 2 },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
