/* lg_witness(): the facts that it adds, and the fields that it leaves alone. */
#include "ending_program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "launchguard/reader.h"
#include "session/run_words.h"
#include "store/crc32c.h"

static int alive[2]; /* pipe by which a child says that it is ready */

static void exit_7(int signal)
{
    (void)signal;
    _exit(7);
}

static void body_handler_exits(void *argument)
{
    (void)argument;
    signal(SIGSEGV, exit_7);
    begin();
    crash();
}

static void body_slow_to_end(void *argument)
{
    (void)argument;
    signal(SIGTERM, nothing);
    begin();
    raise(SIGTERM);
    raise(SIGKILL);
}

static void test_witness(void **state)
{
    (void)state;
    const struct {
        void (*body)(void *);
        enum way way;
        lg_end end;
        lg_evidence evidence;
        int signal, code;
        lg_crash_kind kind;
        bool counted, unknown;
    } rows[] = {
        { body, EXIT_0, LG_END_CLEAN, LG_EVIDENCE_WITNESS, 0, 0, 0, false, false },
        { body, EXIT_7_AT_ONCE, LG_END_EXIT, LG_EVIDENCE_WITNESS, 0, 7, 0, false, false },
        { body_counts_exit, EXIT_7_AT_ONCE, LG_END_EXIT, LG_EVIDENCE_WITNESS, 0, 7, 0, true, false },
        { body, KILL, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, true },
        { body, FINISH_AND_KILL, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, false },
        { body, TERMINATE, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGTERM, 0, 0, false, false },
        { body, INTERRUPT, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGINT, 0, 0, false, false },
        { body, DUMP, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGQUIT, 0, 0, false, false },
        { body, ALARM, LG_END_CRASH, LG_EVIDENCE_WITNESS, SIGALRM, 0, 0, true, false },
        { body, USER, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGUSR1, 0, 0, false, false },
        { body, REAL_TIME, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGRTMIN, 0, 0, false, false },
        { body, CRASH, LG_END_CRASH, LG_EVIDENCE_WITNESS, SIGSEGV, 1, LG_CRASH_NULL_WRITE, true, false },
        { body, WILL_TERMINATE, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, false },
        /* After lg_stop() the status is exact, and is not counted. */
        { body_counts_exit, STOP_AND_EXIT_5, LG_END_EXIT, LG_EVIDENCE_WITNESS, 0, 5, 0, false, false },
        /* A handler that ends the program does not undo the crash. A kill after a request to end
         * has a known cause. */
        { body_handler_exits, 0, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, SIGSEGV, 1, LG_CRASH_NULL_WRITE, true, false },
        { body_slow_to_end, 0, LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT, SIGTERM, 0, 0, false, false },
        { body_survives, 0, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        struct death death = run_child(rows[i].body, WAY(rows[i].way));
        assert_false(death.late);
        int32_t pid = newest_info().pid;
        assert_int_equal(lg_witness(state_path(""), pid, death.status), LG_OK);
        assert_int_equal(lg_witness(state_path(""), pid, death.status), LG_ERR_ALREADY);
        assert_int_equal(newest_info().witnessed, 1);
        assert_int_equal(newest_info().wait_status, death.status);
        expect_exit(body, WAY(EXIT_0), 0);
        lg_timeline_entry entry = last_of_timeline();
        if (entry.verdict.end != rows[i].end || entry.verdict.evidence != rows[i].evidence)
            fail_msg("row %zu: %s, %s", i, lg_end_name(entry.verdict.end), lg_evidence_sentence(entry.verdict.evidence));
        assert_int_equal(entry.verdict.signal, rows[i].signal);
        assert_int_equal(entry.verdict.code, rows[i].code);
        assert_int_equal(entry.verdict.kind, rows[i].kind);
        assert_int_equal(entry.counted, rows[i].counted || rows[i].unknown);
        assert_int_equal(ledger_context("main").streak, rows[i].counted);
        assert_int_equal(ledger_context("main").unknown, rows[i].unknown);
    }
}

/* The ledger's last run and its file, after a start that no witness came before. */
static void expect_unexplained(int32_t pid, int status)
{
    lg_timeline_entry entry = last_of_timeline();
    lg_verdict verdict;
    lg_run_info info;
    lg_reader *reader;
    char path[4096];
    snprintf(path, sizeof path, "%s/runs/%08u-%s.lgrun", state_path(""), (unsigned)entry.ordinal, entry.uuid);
    assert_int_equal(lg_witness(state_path(""), pid, status), LG_ERR_ALREADY);
    assert_int_equal(lg_reader_open(path, &reader), LG_OK);
    assert_int_equal(lg_reader_run(reader, &info), LG_OK);
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(info.pid, pid);
    assert_int_equal(info.witnessed, 0);
    assert_int_equal(entry.verdict.end, LG_END_UNKNOWN);
    assert_int_equal(verdict.end, LG_END_UNKNOWN);
}

/* A witness that comes after the next start has classified the run changes nothing: the run file
 * would say something else than the ledger. */
static void test_late_witness(void **state)
{
    (void)state;
    struct death death = run_child(body, WAY(KILL));
    int32_t pid = newest_info().pid;
    expect_exit(body, WAY(EXIT_0), 0);
    expect_unexplained(pid, death.status);
}

static int32_t dead;

static void witness_meanwhile(const char *point)
{
    if (strcmp(point, "ledger: before store") != 0)
        return;
    lg__fault_hook = NULL;
    pid_t witness = fork();
    if (witness == 0)
        _exit(lg_witness(state_path(""), dead, SIGKILL) == LG_OK);
    int status;
    if (witness < 0 || waitpid(witness, &status, 0) != witness || status != 0)
        _exit(50);
}

static void body_with_a_witness(void *argument)
{
    lg__fault_hook = witness_meanwhile;
    body(argument);
}

/* The next start has read the run file, and has not stored what it says. */
static void test_witness_during_the_next_start(void **state)
{
    (void)state;
    struct death death = run_child(body, WAY(KILL));
    dead = newest_info().pid;
    expect_exit(body_with_a_witness, WAY(EXIT_0), 0);
    expect_unexplained(dead, death.status);
}

/* The witness finds no file that it may write to, and writes nothing. */
static void expect_witness(const char *directory, int32_t pid, int status, lg_status expected)
{
    static char before[1 << 21], after[1 << 21];
    const char *path = newest_run_path();
    ssize_t size = -1;
    int file = path ? open(path, O_RDONLY) : -1;
    if (file >= 0)
        size = read(file, before, sizeof before);
    assert_int_equal(lg_witness(directory, pid, status), expected);
    if (file >= 0) {
        assert_int_equal(pread(file, after, sizeof after, 0), size);
        assert_memory_equal(before, after, (size_t)size);
        close(file);
    }
}

/* Change the header of the newest run, with a right checksum. */
static void change_header(void (*change)(struct lg__header *header))
{
    struct lg__header header;
    int file = open(newest_run_path(), O_RDWR);
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    change(&header);
    header.crc = lg__crc32c(0, &header, offsetof(struct lg__header, crc));
    assert_int_equal(pwrite(file, &header, sizeof header, 0), sizeof header);
    close(file);
}

static struct lg__section *state_of(struct lg__header *header)
{
    for (uint32_t i = 0; i < header->section_count; i++)
        if (header->sections[i].kind == LG__SECTION_STATE)
            return &header->sections[i];
    fail();
    return NULL;
}

static off_t state_end(void)
{
    struct lg__header header;
    int file = open(newest_run_path(), O_RDONLY);
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    close(file);
    return (off_t)(state_of(&header)->offset + state_of(&header)->size);
}

static void state_outside(struct lg__header *header) { state_of(header)->offset = header->total_bytes; }
static void state_far_outside(struct lg__header *header) { state_of(header)->offset = UINT64_MAX - 63; }
static void state_too_small(struct lg__header *header) { state_of(header)->size = 64; }
static void state_crooked(struct lg__header *header) { state_of(header)->offset += 8; }
static void state_nowhere(struct lg__header *header) { state_of(header)->kind = 99; }
static void from_the_future(struct lg__header *header) { header->major++; }
static void flagged(struct lg__header *header) { header->incompat_flags = 1; }

static void body_waits(void *argument)
{
    (void)argument;
    begin();
    (void)!write(alive[1], "b", 1);
    for (;;)
        pause();
}

static void test_witness_of_nothing(void **state)
{
    (void)state;
    const int killed = SIGKILL, stopped = 0x137f;
    /* the folder of runs does not exist yet */
    expect_witness(state_path(""), 1, killed, LG_ERR_NOT_FOUND);
    expect_witness(state_path("nowhere"), 1, killed, LG_ERR_NOT_FOUND);
    expect_witness("", 1, killed, LG_ERR_ARGUMENT);
    expect_witness(NULL, 1, killed, LG_ERR_ARGUMENT);
    run_child(body, WAY(KILL));
    int32_t pid = newest_info().pid;
    expect_witness(state_path(""), 0, killed, LG_ERR_ARGUMENT);
    expect_witness(state_path(""), -pid, killed, LG_ERR_ARGUMENT);
    expect_witness(state_path(""), pid, stopped, LG_ERR_ARGUMENT);
    expect_witness(state_path(""), pid, 0xffff, LG_ERR_ARGUMENT); /* continued */
    expect_witness(state_path(""), pid + 1, killed, LG_ERR_NOT_FOUND);
    /* A process of another boot cannot have a waiting parent now. */
    change_boot_id();
    expect_witness(state_path(""), pid, killed, LG_ERR_NOT_FOUND);
    change_boot_id();
    static const struct {
        void (*change)(struct lg__header *header);
        lg_status expected;
    } changes[] = {
        { state_outside, LG_ERR_DAMAGED }, { state_far_outside, LG_ERR_DAMAGED }, { state_too_small, LG_ERR_DAMAGED },
        { state_crooked, LG_ERR_DAMAGED }, { state_nowhere, LG_ERR_DAMAGED },     { from_the_future, LG_ERR_NEWER },
        { flagged, LG_ERR_NEWER },
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        state_make();
        run_child(body, WAY(KILL));
        pid = newest_info().pid;
        change_header(changes[i].change);
        expect_witness(state_path(""), pid, killed, changes[i].expected);
    }
    off_t end = 0; /* of the state */
    for (off_t size = 0; size <= end; size += 999) { /* file cut in or before the state */
        state_make();
        run_child(body, WAY(KILL));
        end = state_end() - 1;
        pid = newest_info().pid;
        assert_int_equal(truncate(newest_run_path(), size), 0);
        expect_witness(state_path(""), pid, killed, LG_ERR_DAMAGED);
        struct stat info;
        assert_int_equal(stat(newest_run_path(), &info), 0);
        assert_int_equal(info.st_size, size);
    }
    /* Symbolic and hard links, and a symbolic link to a folder. */
    state_make();
    run_child(body, WAY(KILL));
    pid = newest_info().pid;
    assert_int_equal(link(newest_run_path(), state_path("elsewhere")), 0);
    expect_witness(state_path(""), pid, killed, LG_ERR_DAMAGED);
    char name[1024];
    snprintf(name, sizeof name, "%s", newest_run_path());
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink(state_path("elsewhere"), name), 0);
    assert_int_equal(lg_witness(state_path(""), pid, killed), LG_ERR_LINK);
    assert_int_equal(rename(state_path("runs"), state_path("other")), 0);
    assert_int_equal(symlink(state_path("other"), state_path("runs")), 0);
    assert_int_equal(lg_witness(state_path(""), pid, killed), LG_ERR_LINK);
}

static void test_witness_of_the_living(void **state)
{
    (void)state;
    char byte;
    int status;
    assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        plain_signals();
        body_waits(NULL);
    }
    assert_int_equal(read(alive[0], &byte, 1), 1);
    lg_status too_early = lg_witness(state_path(""), child, SIGKILL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(too_early, LG_ERR_STATE);
    assert_int_equal(lg_witness(state_path(""), child, status), LG_OK);
    close(alive[0]);
    close(alive[1]);
}

static void as_nobody(void *argument)
{
    const int32_t *pid = argument;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(1);
    if (lg_witness(state_path(""), *pid, SIGKILL) != LG_ERR_PERMISSION)
        _exit(2);
    _exit(0);
}

static void others_as_nobody(void *argument)
{
    const int32_t *pid = argument;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(1);
    if (lg_witness(state_path(""), *pid, SIGKILL) != LG_ERR_OWNER)
        _exit(2);
    _exit(0);
}

static void body_as_nobody(void *argument)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(99);
    body(argument);
}

static void test_witness_and_owners(void **state)
{
    (void)state;
    skip_without_two_users();
    run_child(body, WAY(KILL));
    int32_t pid = newest_info().pid;
    expect_exit(as_nobody, &pid, 0);
    /* Nothing is written in a folder in which every user may write. */
    assert_int_equal(chmod(state_path(""), 0777), 0);
    assert_int_equal(chmod(state_path("runs"), 0777), 0);
    assert_int_equal(chmod(newest_run_path(), 0666), 0);
    expect_exit(others_as_nobody, &pid, 0);
    assert_int_equal(newest_info().witnessed, 0);
    /* A supervisor that is root may store the status of any process, but not through a file that
     * the process's owner did not create. */
    state_make();
    assert_int_equal(chown(state_path(""), 65534, 65534), 0);
    expect_signal(body_as_nobody, WAY(KILL), SIGKILL);
    pid = newest_info().pid;
    assert_int_equal(chown(newest_run_path(), 0, 0), 0);
    assert_int_equal(lg_witness(state_path(""), pid, SIGKILL), LG_ERR_OWNER);
    assert_int_equal(chown(newest_run_path(), 65534, 65534), 0);
    assert_int_equal(lg_witness(state_path(""), pid, SIGKILL), LG_OK);
    assert_int_equal(newest_info().witnessed, 1);
}

static void copy_run(const char *from, const char *to)
{
    static char bytes[1 << 20];
    int file = open(from, O_RDONLY), copy = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ssize_t size = read(file, bytes, sizeof bytes);
    assert_true(size > 4096 && size < (ssize_t)sizeof bytes);
    assert_int_equal(write(copy, bytes, (size_t)size), size);
    close(file);
    close(copy);
}

/* Files that are newer, and none of ours. */
static const char *newer_file(unsigned number)
{
    char name[64];
    snprintf(name, sizeof name, "runs/90000000-%04u.lgrun", number);
    return state_path(name);
}

/* Of two runs of a process the newest one, however many newer files there are: up to 1,023. */
static void test_witness_of_the_newest(void **state)
{
    (void)state;
    const unsigned most = 1023;
    char newest[1024], older[1024];
    run_child(body, WAY(KILL));
    const lg_run_info run = newest_info();
    snprintf(newest, sizeof newest, "%s", newest_run_path());
    snprintf(older, sizeof older, "%s", state_path("runs/00000000-00000000-0000-4000-8000-000000000000.lgrun"));
    copy_run(newest, older);
    for (unsigned i = 0; i <= most; i++)
        close(open(newer_file(i), O_WRONLY | O_CREAT, 0600));
    assert_int_equal(lg_witness(state_path(""), run.pid, SIGKILL), LG_ERR_DAMAGED);
    assert_int_equal(unlink(newer_file(0)), 0);
    assert_int_equal(lg_witness(state_path(""), run.pid, SIGKILL), LG_OK);
    for (unsigned i = 1; i <= most; i++)
        unlink(newer_file(i));
    lg_reader *reader;
    lg_run_info info;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lg_reader_open(i ? older : newest, &reader), LG_OK);
        assert_int_equal(lg_reader_run(reader, &info), LG_OK);
        lg_reader_close(reader);
        assert_int_equal(info.witnessed, i ? 0 : 1);
    }
}

static uint32_t word(size_t at)
{
    uint32_t value;
    int file = open(newest_run_path(), O_RDONLY);
    assert_int_equal(pread(file, &value, sizeof value, section_at(file, LG__SECTION_STATE) + (off_t)at), sizeof value);
    close(file);
    return value;
}

/* The words of an agent go into the file of the one run, and nowhere else. */
static void test_words_of_an_agent(void **state)
{
    (void)state;
    struct lg__identity identity;
    char name[256], path[1024];
    run_child(body, WAY(KILL));
    snprintf(path, sizeof path, "%s", newest_run_path());
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    int runs = open(state_path("runs"), O_RDONLY | O_DIRECTORY), file = open(path, O_RDONLY);
    assert_int_equal(pread(file, &identity, sizeof identity, section_at(file, LG__SECTION_IDENTITY)), sizeof identity);
    assert_int_equal(lg__run_words_attach(runs, name, identity.uuid, true), LG_OK);
    assert_int_equal(word(offsetof(struct lg__state, attached)), 1);
    assert_int_equal(lg__run_words_set_reported(runs, name, identity.uuid, LG_REPORTED_SPOOLED), LG_OK);
    assert_int_equal(word(offsetof(struct lg__state, reported)), LG_REPORTED_SPOOLED);
    assert_int_equal(lg__run_words_attach(runs, name, identity.uuid, false), LG_OK);
    assert_int_equal(word(offsetof(struct lg__state, attached)), 0);
    assert_int_equal(lg__run_words_attach(runs, "nowhere.lgrun", identity.uuid, true), LG_ERR_NOT_FOUND);
    /* Another run has the file now, and: a start is about to take it. */
    identity.uuid[0] ^= 1;
    assert_int_equal(lg__run_words_attach(runs, name, identity.uuid, true), LG_ERR_DAMAGED);
    identity.uuid[0] ^= 1;
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_int_equal(lg__run_words_attach(runs, name, identity.uuid, true), LG_ERR_SYSTEM);
    assert_int_equal(flock(file, LOCK_UN), 0);
    assert_int_equal(rename(path, state_path("elsewhere")), 0);
    assert_int_equal(symlink(state_path("elsewhere"), path), 0);
    assert_int_equal(lg__run_words_attach(runs, name, identity.uuid, true), LG_ERR_LINK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(state_path("elsewhere"), path), 0);
    assert_int_equal(word(offsetof(struct lg__state, attached)), 0);
    assert_int_equal(word(offsetof(struct lg__state, reported)), LG_REPORTED_SPOOLED);
    close(file);
    close(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_witness),
        WITH_STATE(test_late_witness),
        WITH_STATE(test_witness_during_the_next_start),
        WITH_STATE(test_witness_of_nothing),
        WITH_STATE(test_witness_of_the_newest),
        WITH_STATE(test_witness_of_the_living),
        WITH_STATE(test_witness_and_owners),
        WITH_STATE(test_words_of_an_agent),
    };
    return cmocka_run_group_tests_name("witness", tests, NULL, NULL);
}
