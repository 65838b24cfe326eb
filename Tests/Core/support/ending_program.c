#include "ending_program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/ledger_payload.h"
#include "store/crc32c.h"

/* ---- a program with one launch ---- */

lg_session *session;
lg_launch *launch;

void begin_counting(uint32_t count)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    session = start_session();
    options.window_ms = 0;
    options.count = count;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
}

void begin(void)
{
    begin_counting(LG_COUNT_DEFAULT);
}

static void body_nothing(void *argument)
{
    (void)argument;
    begin();
    lg_launch_finished(launch);
}

/* The next start, which accounts for the previous run; returns that run's entry. */
lg_timeline_entry next_start(void)
{
    expect_exit(body_nothing, NULL, 0);
    return last_of_timeline();
}

/* Run a program to its end and have the next one account for it. */
lg_timeline_entry after(void (*body)(void *), void *argument)
{
    struct death death = run_child(body, argument);
    assert_false(death.late);
    assert_false(WIFEXITED(death.status) && WEXITSTATUS(death.status) >= 90);
    return next_start();
}

void expect_end_at(lg_timeline_entry entry, lg_end end, lg_evidence evidence, int line)
{
    if (entry.verdict.end != end || entry.verdict.evidence != evidence)
        fail_msg("line %d: run %llu of %llu ended as \"%s\" (%s; code %d, signal %d), not as \"%s\" (%s)", line, (unsigned long long)entry.ordinal,
                 (unsigned long long)newest_info().ordinal, lg_end_name(entry.verdict.end), lg_evidence_sentence(entry.verdict.evidence),
                 entry.verdict.code, entry.verdict.signal, lg_end_name(end), lg_evidence_sentence(evidence));
}

/* Where a section of the newest run begins in its file. */
off_t section_at(int file, uint32_t kind)
{
    struct lg__header header;
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    for (uint32_t i = 0; i < header.section_count; i++)
        if (header.sections[i].kind == kind)
            return (off_t)header.sections[i].offset;
    fail_msg("no section %u", kind);
    return 0;
}

void write_state(size_t at, const void *value, size_t size)
{
    int file = open(newest_run_path(), O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, value, size, section_at(file, LG__SECTION_STATE) + (off_t)at), size);
    close(file);
}

/* Change the boot id, as if the machine had been booted since. */
void change_boot_id(void)
{
    struct lg__identity identity;
    int file = open(newest_run_path(), O_RDWR);
    assert_true(file >= 0);
    off_t at = section_at(file, LG__SECTION_IDENTITY);
    assert_int_equal(pread(file, &identity, sizeof identity, at), sizeof identity);
    identity.boot_id[0] ^= 0xff;
    identity.crc = lg__crc32c(0, &identity, offsetof(struct lg__identity, crc));
    assert_int_equal(pwrite(file, &identity, sizeof identity, at), sizeof identity);
    close(file);
}

/* A context as it is stored. */
struct lg__ledger_context stored_context(const char *name)
{
    static struct lg__slot slots[2];
    uint32_t kinds[2] = { LG__SECTION_SLOT_A, LG__SECTION_SLOT_B };
    uint64_t generation[2];
    int file = open(state_path("ledger.lg"), O_RDONLY);
    assert_true(file >= 0);
    for (int i = 0; i < 2; i++) {
        memset(&slots[i], 0, sizeof slots[i]);
        assert_int_equal(pread(file, &slots[i], sizeof slots[i], section_at(file, kinds[i])), sizeof slots[i]);
        generation[i] = lg__ledger_payload_check(&slots[i]) ? slots[i].generation : 0;
    }
    close(file);
    const struct lg__ledger_payload *book = &slots[generation[1] > generation[0]].payload;
    for (uint32_t i = 0; i < book->context_count; i++)
        if (strcmp(book->contexts[i].name, name) == 0)
            return book->contexts[i];
    fail_msg("no context \"%s\"", name);
    return book->contexts[0];
}

/* ---- ways to end ---- */

void nothing(int signal)
{
    (void)signal;
}

void end_by(enum way way)
{
    switch (way) {
    case CRASH: crash(); break;
    case ABORT: abort();
    case PIPE_SIGNAL: raise(SIGPIPE); break;
    case EXIT_0: exit(0);
    case EXIT_7: exit(7);
    case EXIT_7_AT_ONCE: _exit(7);
    case STOP: lg_stop(session); exit(0);
    case STOP_AND_EXIT_5: lg_stop(session); _exit(5);
    case TERMINATE: raise(SIGTERM); break;
    case INTERRUPT: raise(SIGINT); break;
    case DUMP: raise(SIGQUIT); break;
    case ALARM: raise(SIGALRM); break;
    case USER: raise(SIGUSR1); break;
    case REAL_TIME: raise(SIGRTMIN); break;
    case WILL_TERMINATE: lg_will_terminate(session); break;
    case WILL_RESTART: lg_will_restart(session); break;
    case WILL_BOTH: lg_will_restart(session); lg_will_terminate(session); lg_will_terminate(session); break;
    case WILL_TERMINATE_AND_CRASH: lg_will_terminate(session); crash(); break;
    case WILL_TERMINATE_AND_EXIT_7: lg_will_terminate(session); exit(7);
    case FINISH_AND_KILL: lg_launch_finished(launch); break;
    case KILL: break;
    }
    raise(SIGKILL);
}

void body(void *argument)
{
    begin();
    end_by((enum way)(uintptr_t)argument);
}

void body_counts_exit(void *argument)
{
    begin_counting(LG_COUNT_DEFAULT | LG_COUNT_EXIT);
    end_by((enum way)(uintptr_t)argument);
}

void body_survives(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jump_out);
    begin();
    if (sigsetjmp(escape, 1) == 0)
        crash();
    lg_heartbeat(session);
    raise(SIGKILL);
}
