/* The four showings of a guard: a fault kills a child without the guard; a child with the guard
 * survives and reports the fault; after lg_guard_stop() the same fault kills again; and another
 * bug of the guarded program crashes as ever. */
#ifndef GUARDED_H
#define GUARDED_H

#include "harness.h"
#include "start_guards.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum when { WITHOUT, GUARDED, STOPPED, REPORTING, FATAL, SPENT, DENIED, FORKED, OTHER_BUG };

struct fault {
    void (*meet)(void); /* the fault; it returns where it is survived */
    int death;          /* signal without the guard; 0: this CPU goes on */
    const char *says;   /* a part of the text of its event */
    enum when when;     /* set by show() */
};

static __attribute__((unused)) void meet_fault(void *argument)
{
    const struct fault *fault = argument;
    if (fault->when == WITHOUT) {
        start_session();
        fault->meet();
        return;
    }
    lg_session *session = start_guards(fault->when == REPORTING ? LG_GUARD_REPORT : fault->when == FATAL ? LG_GUARD_FATAL : LG_GUARD_SURVIVE,
                                       fault->when == SPENT);
    if (fault->when == DENIED) {
        const char *const program = strrchr(realpath("/proc/self/exe", NULL), '/') + 1;
        lg_guard_lists lists = LG_GUARD_LISTS_INIT;
        lists.denied_modules = &program;
        lists.denied_module_count = 1;
        if (lg_guard_set_lists(session, &lists) != LG_OK)
            exit(97);
    }
    if (fault->when == FORKED) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            plain_signals();
            fault->meet();
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            exit(96);
        if (WIFSIGNALED(status)) {
            plain_signals();
            raise(WTERMSIG(status));
        }
        return;
    }
    fault->meet();
    if (fault->when == STOPPED)
        lg_guard_stop(session);
    if (fault->when == STOPPED || fault->when == SPENT)
        for (int i = 0; i < 8; i++) /* there is a budget for each site, and for each minute */
            fault->meet();
    if (fault->when == OTHER_BUG)
        crash();
}

/* The event with this text in the newest run; false: there is none. */
static __attribute__((unused)) bool find_event(const char *says, lg_guard_info *ret_event)
{
    bool found = false;
    lg_reader *reader = newest_run();
    for (uint32_t i = 0; i <= LG_GUARD_SITES_MAX && !found; i++)
        found = lg_reader_guard(reader, i, ret_event) == LG_OK && ret_event->described && strstr(ret_event->text, says);
    lg_reader_close(reader);
    return found;
}

static __attribute__((unused)) void expect_event(const char *says, lg_guard_action action, uint64_t survived)
{
    lg_guard_info event;
    if (!find_event(says, &event))
        fail_msg("no event says \"%s\"", says);
    assert_int_equal(event.action, action);
    assert_int_equal(event.survived, survived);
    assert_true(said(says)); /* a breadcrumb, too */
}

static __attribute__((unused)) void expect_end(struct fault *fault)
{
    if (fault->death)
        expect_signal(meet_fault, fault, fault->death);
    else
        expect_exit(meet_fault, fault, 0);
}

/* A fault whose unguarded operation kills. */
static __attribute__((unused)) void show(struct fault fault)
{
    lg_guard_info event;
    fault.when = WITHOUT;
    expect_end(&fault);
    assert_false(find_event(fault.says, &event));
    fault.when = GUARDED;
    expect_exit(meet_fault, &fault, 0);
    expect_event(fault.says, LG_GUARD_SURVIVED, 1);
    fault.when = STOPPED;
    expect_end(&fault);
    expect_event(fault.says, LG_GUARD_SURVIVED, 1);
    if (fault.death)
        assert_int_equal(newest_crash(LG_STAGE_DONE).signal, fault.death);
    fault.when = REPORTING;
    expect_end(&fault);
    expect_event(fault.says, LG_GUARD_REPORTED, 0);
    fault.when = FATAL;
    expect_signal(meet_fault, &fault, SIGABRT);
    expect_event(fault.says, LG_GUARD_ENDED, 0);
    fault.when = SPENT;
    expect_end(&fault);
    assert_true(find_event(fault.says, &event) && event.action == LG_GUARD_EXHAUSTED && event.survived > 0);
    fault.when = DENIED;
    expect_end(&fault);
    assert_false(find_event(fault.says, &event));
    fault.when = FORKED;
    expect_end(&fault);
    assert_false(find_event(fault.says, &event));
    fault.when = OTHER_BUG;
    expect_signal(meet_fault, &fault, SIGSEGV);
    expect_event(fault.says, LG_GUARD_SURVIVED, 1);
    const lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.kind, LG_CRASH_NULL_WRITE);
    assert_int_equal(crash.address, 0);
}

#endif
