/* Shared by tests of guards: events that a child received, in memory of its test, and the results
 * of a crash. */
#ifndef SEEN_H
#define SEEN_H

#include "harness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In a child. */
#define require(condition)                                                          \
    do                                                                              \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(97);                                                              \
        }                                                                           \
    while (0)

struct seen {
    _Atomic uint64_t calls;  /* of on_event */
    _Atomic uint64_t events; /* those that were skipped included */
    lg_guard_event last;     /* its pointers are of the child */
    char text[LG_GUARD_TEXT_MAX + 1];
    char values[LG_GUARD_FIELDS_MAX][LG_GUARD_FIELD_MAX + 1];
    uint64_t frames[LG_GUARD_FRAMES_MAX];
};

static inline void see(const lg_guard_event *event, void *user)
{
    struct seen *seen = user;
    seen->last = *event;
    snprintf(seen->text, sizeof seen->text, "%s", event->text);
    for (size_t i = 0; i < event->field_count; i++)
        snprintf(seen->values[i], sizeof seen->values[i], "%s", event->fields[i].value);
    memcpy(seen->frames, event->frames, event->frame_count * sizeof *event->frames);
    atomic_fetch_add(&seen->events, event->skipped + 1);
    atomic_fetch_add(&seen->calls, 1);
}

/* In a child: a session, and guards that report to `seen`. */
static inline lg_session *guard_with(uint32_t classes, lg_guard_policy policy, uint32_t budget, struct seen *seen)
{
    lg_session *session = start_session();
    const lg_guard_options options = {
        .size = sizeof options, .classes = classes, .policy = policy, .budget = budget, .quiet = 1, .on_event = seen ? see : NULL, .user = seen
    };
    require(lg_guard_start(session, &options) == LG_OK);
    return session;
}

/* In a child: wait until this many events were reported. */
static inline void wait_events(const struct seen *seen, uint64_t events)
{
    wait_until(atomic_load(&seen->events) >= events);
}

/* The file of the newest run has one site, with this class, text and action, and so many events. */
static inline void expect_site(lg_guard_class guard_class, const char *text, lg_guard_action action, uint64_t events, uint64_t survived)
{
    lg_reader *reader = newest_run();
    lg_guards_info guards;
    lg_guard_info guard;
    assert_int_equal(lg_reader_guards(reader, &guards), LG_OK);
    assert_int_equal(guards.events, events);
    assert_int_equal(guards.survived, survived);
    assert_int_equal(guards.sites, 1);
    assert_int_equal(lg_reader_guard(reader, 1, &guard), LG_OK);
    assert_int_equal(guard.guard_class, guard_class);
    assert_int_equal(guard.action, action);
    assert_int_equal(guard.count, events);
    assert_int_equal(guard.described, 1);
    assert_string_equal(guard.text, text);
    assert_true(log_has(reader, text)); /* the breadcrumb */
    lg_reader_close(reader);
}

/* The crash of the newest run. */
struct crashed {
    lg_crash_info info;
    uint32_t frame_count;
    uint64_t frames[32];
};

static __attribute__((noinline, unused)) struct crashed crashed_by(void (*body)(void *), void *argument, int signal)
{
    struct crashed crashed = { .frame_count = 0 };
    state_make();
    expect_signal(body, argument, signal);
    lg_reader *reader = newest_run();
    crashed.info = crash_of(reader, LG_STAGE_DONE);
    while (crashed.frame_count < 32 && lg_reader_frame(reader, LG_STAGE_DWARF, crashed.frame_count, &crashed.frames[crashed.frame_count]) == LG_OK)
        crashed.frame_count++;
    lg_reader_close(reader);
    return crashed;
}

/* Both crashes are the same one: what happened, where, and who called it. `body`: the frame of the
 * child's own function, which differs, and so do the callers of run_child(), expect_signal() and
 * crashed_by(). */
static inline void expect_same(const struct crashed *a, const struct crashed *b, uint32_t body)
{
    assert_int_equal(a->info.signal, b->info.signal);
    assert_int_equal(a->info.code, b->info.code);
    assert_int_equal(a->info.kind, b->info.kind);
    assert_int_equal(a->info.has_address, b->info.has_address);
    assert_int_equal(a->info.address, b->info.address);
    assert_int_equal(a->info.pc, b->info.pc);
    assert_int_equal(a->info.recrash_count, b->info.recrash_count);
    assert_int_equal(a->info.sequence, b->info.sequence);
    assert_int_equal(a->frame_count, b->frame_count);
    for (uint32_t i = 0; i < body + 4 && i < a->frame_count; i++)
        if (i != body)
            assert_int_equal(a->frames[i], b->frames[i]);
}

#endif
