/* Bad input of every kind: a named error or a fresh start, a message that says what to do, and the
 * program starts anyway. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/crc32c.h"
#include "store/format.h"
#include "store/ledger.h"

/* docs/FORMAT.md, ledger */
enum { LEDGER_BYTES = 106496, SLOT_A = 8192, SLOT_B = 57344 };

/* ---- a program that starts whatever happens ---- */

static struct expectation {
    lg_status status;
    lg_protection protection;
    const char *message; /* part of it */
    const char *directory;
    bool crash;
} expected;

static int tasks_run;

static lg_status task(void *user)
{
    (void)user;
    tasks_run++;
    return LG_OK;
}

#define REQUIRE(condition)                                                                                            \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "not true: %s (%s, protection %d, \"%s\")\n", #condition, lg_status_name(status),           \
                    (int)lg_session_protection(session), lg_session_message(session));                                \
            _exit(92);                                                                                                \
        }                                                                                                             \
    } while (0)

static void start_anyway(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session = NULL;
    lg_launch *launch = NULL;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = expected.directory;
    lg_status status = lg_start(&options, &session);
    REQUIRE(session != NULL);
    REQUIRE(status == expected.status);
    REQUIRE(lg_session_protection(session) == expected.protection);
    REQUIRE((*lg_session_message(session) == 0) == (status == LG_OK));
    REQUIRE(!expected.message || strstr(lg_session_message(session), expected.message));
    /* The launch proceeds: its tasks run, it finishes, breadcrumbs do no harm. */
    lg_task add = LG_TASK_INIT;
    add.key = "task";
    add.run = task;
    lg_launch_prepare(session, "main", NULL, &launch);
    REQUIRE(launch != NULL);
    REQUIRE(lg_launch_add_task(launch, &add) == LG_OK);
    REQUIRE(lg_launch_begin(launch) == LG_OK);
    REQUIRE(tasks_run == 1);
    REQUIRE(lg_launch_get_status(launch) == LG_LAUNCH_CHECKING);
    status = lg_log(session, LG_LEVEL_INFO, "alive");
    REQUIRE(status == (expected.protection == LG_PROTECTION_NONE ? LG_ERR_UNPROTECTED : LG_OK));
    if (expected.crash)
        abort();
    REQUIRE(lg_launch_finished(launch) == LG_OK);
    REQUIRE(lg_launch_get_status(launch) == LG_LAUNCH_NORMAL);
}

static void expect_start(lg_status status, lg_protection protection, const char *message, const char *directory)
{
    expected = (struct expectation){ status, protection, message, directory, false };
    expect_exit(start_anyway, NULL, 0);
}

#define FULL LG_OK, LG_PROTECTION_FULL, NULL

/* ---- directories ---- */

static void test_directory_missing(void **state)
{
    (void)state;
    expect_start(FULL, state_path("several/levels/deep"));
    struct stat info;
    assert_int_equal(stat(state_path("several/levels/deep"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(state_path("several/levels/deep/ledger.lg"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void touch(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

static void test_directory_is_file(void **state)
{
    (void)state;
    touch(state_path("file"), "text", 4);
    expect_start(LG_ERR_NOT_DIRECTORY, LG_PROTECTION_NONE, state_path("file"), state_path("file"));
    expect_start(LG_ERR_NOT_DIRECTORY, LG_PROTECTION_NONE, "not a directory", state_path("file/below"));
}

static void test_directory_is_link(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(mkdir(state_path("real"), 0700), 0);
    /* Links of the same user, as embedded systems have them. */
    assert_int_equal(symlink("real", state_path("link")), 0);
    expect_start(FULL, state_path("link"));
    assert_int_equal(stat(state_path("real/ledger.lg"), &info), 0);
    expect_start(FULL, state_path("link/below/that"));
    assert_int_equal(stat(state_path("real/below/that/ledger.lg"), &info), 0);
    assert_int_equal(symlink(state_path("link"), state_path("absolute")), 0);
    expect_start(FULL, state_path("absolute/../real//./below/that/"));
    assert_int_equal(symlink("not/there/yet", state_path("dangling")), 0);
    expect_start(FULL, state_path("dangling"));
    assert_int_equal(stat(state_path("not/there/yet/ledger.lg"), &info), 0);
    assert_int_equal(symlink("loop", state_path("loop")), 0);
    expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path("loop"));
    touch(state_path("file"), "text", 4);
    assert_int_equal(symlink("file", state_path("to-file")), 0);
    expect_start(LG_ERR_NOT_DIRECTORY, LG_PROTECTION_NONE, "not a directory", state_path("to-file"));
    /* the files themselves are never links, whoever owns them */
    assert_int_equal(mkdir(state_path("inside"), 0700), 0);
    assert_int_equal(symlink("../real", state_path("inside/runs")), 0);
    expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path("inside"));
}

/* "open": a directory in which an attacker may write, as in /tmp; "closed": one in which not. */
static void test_links_of_another(void **state)
{
    (void)state;
    struct stat info;
    if (geteuid() != 0)
        skip_because("to change a link's owner needs root");
    static const struct {
        const char *folder;
        mode_t mode;
    } folders[] = { { "open", 01777 }, { "group", 0770 }, { "closed", 0755 } };
    assert_int_equal(mkdir(state_path("aim"), 0700), 0);
    for (int i = 0; i < 3; i++) {
        char link[64], below[96];
        snprintf(link, sizeof link, "%s/link", folders[i].folder);
        snprintf(below, sizeof below, "%s/state", link);
        assert_int_equal(mkdir(state_path(folders[i].folder), 0700), 0);
        assert_int_equal(chmod(state_path(folders[i].folder), folders[i].mode), 0);
        assert_int_equal(symlink("../aim", state_path(link)), 0);
        assert_int_equal(lchown(state_path(link), 65534, 65534), 0);
        expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path(link));
        if (folders[i].mode != 0755) {
            expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path(below));
            /* also where everything is there already, and where a link of ours leads there */
            assert_int_equal(mkdir(state_path("aim/state"), 0700), 0);
            expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path(below));
            char ours[64];
            snprintf(ours, sizeof ours, "ours-%s", folders[i].folder);
            assert_int_equal(symlink(below, state_path(ours)), 0);
            expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path(ours));
            assert_int_equal(rmdir(state_path("aim/state")), 0);
            assert_int_equal(lchown(state_path(link), 0, 0), 0);
            expect_start(FULL, state_path(link));
        } else {
            expect_start(FULL, state_path(below));
            assert_int_equal(stat(state_path("aim/state/ledger.lg"), &info), 0);
        }
    }
}

static void as_nobody(void *argument)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(91);
    start_anyway(argument);
}

static void test_directory_of_another(void **state)
{
    (void)state;
    skip_without_two_users();
    assert_int_equal(chmod(state_path(""), 0755), 0);
    assert_int_equal(mkdir(state_path("theirs"), 0777), 0);
    assert_int_equal(chmod(state_path("theirs"), 0777), 0);
    expected = (struct expectation){ LG_ERR_OWNER, LG_PROTECTION_NONE, "another user", state_path("theirs"), false };
    expect_exit(as_nobody, NULL, 0);
}

static void test_directory_not_writable(void **state)
{
    (void)state;
    assert_int_equal(mkdir(state_path("closed"), 0555), 0);
    expected = (struct expectation){ LG_ERR_PERMISSION, LG_PROTECTION_NONE, "write permission", state_path("closed"), false };
    if (geteuid() == 0) {
        skip_without_two_users();
        assert_int_equal(chmod(state_path(""), 0755), 0);
        assert_int_equal(chown(state_path("closed"), 65534, 65534), 0);
        expect_exit(as_nobody, NULL, 0);
    } else {
        expect_exit(start_anyway, NULL, 0);
    }
}

static bool in_mount_namespace(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void on_small_tmpfs(void *argument)
{
    if (!in_mount_namespace() || mount("tmpfs", expected.directory, "tmpfs", 0, "size=64k,mode=0700") != 0)
        _exit(90);
    start_anyway(argument);
}

static void on_read_only(void *argument)
{
    if (!in_mount_namespace() || mount("tmpfs", expected.directory, "tmpfs", MS_RDONLY, "size=64k") != 0)
        _exit(90);
    start_anyway(argument);
}

static void test_disk_full_or_read_only(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("a mount namespace needs root");
    assert_int_equal(mkdir(state_path("mount"), 0700), 0);
    expected = (struct expectation){ LG_ERR_NO_SPACE, LG_PROTECTION_NONE, "free some space", state_path("mount"), false };
    struct death death = run_child(on_small_tmpfs, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 90)
        skip_because("the kernel refuses a mount namespace");
    assert_int_equal(death.status, 0);
    expected = (struct expectation){ LG_ERR_READ_ONLY, LG_PROTECTION_NONE, "read-only", state_path("mount"), false };
    expect_exit(on_read_only, NULL, 0);
}

/* As on some network and FUSE file systems: each file can be written, and none be shared. */
static void on_unshared_files(void *argument)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])), /* the flags */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])), /* the file */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x80000000, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENODEV),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = { sizeof code / sizeof code[0], code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(90);
    start_anyway(argument);
}

static void test_no_shared_files(void **state)
{
    (void)state;
    expected = (struct expectation){ LG_ERR_SYSTEM, LG_PROTECTION_NONE, "put the state directory on another one", state_path("unshared"), false };
    struct death death = run_child(on_unshared_files, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 90)
        skip_because("the kernel refuses a seccomp filter");
    assert_int_equal(death.status, 0);
}

static void under_file_size_limit(void *argument)
{
    struct rlimit limit = { 8192, 8192 };
    setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ would end the program */
    start_anyway(argument);
}

static void between_ledger_and_run_file(void *argument)
{
    struct rlimit limit = { 8192, 8192 };
    setrlimit(RLIMIT_FSIZE, &limit);
    start_anyway(argument);
}

static void test_failed_starts_are_no_suspicion(void **state)
{
    (void)state;
    expect_start(FULL, state_path("limited"));
    for (int i = 0; i < 4; i++) {
        expected = (struct expectation){ LG_ERR_LIMIT, LG_PROTECTION_LAUNCH, "raise ulimit -f", state_path("limited"), false };
        expect_exit(between_ledger_and_run_file, NULL, 0);
    }
    expect_start(FULL, state_path("limited")); /* this holds as soon as there is room again */
}

static void starts_again_and_again(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    struct rlimit limit;
    options.app_id = "org.example.test";
    options.state_directory = state_path("again");
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 65536;
    setrlimit(RLIMIT_FSIZE, &limit);
    lg_status status = LG_OK;
    for (int i = 0; i < 6; i++) {
        status = lg_start(&options, &session);
        REQUIRE(status == LG_ERR_LIMIT);
    }
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    status = lg_start(&options, &session);
    REQUIRE(status == LG_OK);
    /* The repaired files are the ones in use. */
    REQUIRE(truncate(lg_session_run_path(session), 0) == 0);
    for (int i = 0; i < 20000; i++)
        lg_log(session, LG_LEVEL_INFO, "after the file was cut %d", i);
}

static void test_retried_start_heals(void **state)
{
    (void)state;
    expect_exit(starts_again_and_again, NULL, 0);
}

static void test_file_size_limit(void **state)
{
    (void)state;
    expected = (struct expectation){ LG_ERR_LIMIT, LG_PROTECTION_NONE, "raise ulimit -f", state_path("limited"), false };
    expect_exit(under_file_size_limit, NULL, 0);
}

static void without_environment(void *argument)
{
    clearenv();
    start_anyway(argument);
}

static void with_environment(void *argument)
{
    clearenv();
    setenv("XDG_STATE_HOME", argument, 1);
    start_anyway(NULL);
}

static void test_directory_from_environment(void **state)
{
    (void)state;
    expected = (struct expectation){ LG_ERR_NO_DIRECTORY, LG_PROTECTION_NONE, "STATE_DIRECTORY", NULL, false };
    expect_exit(without_environment, NULL, 0);
    expected = (struct expectation){ LG_OK, LG_PROTECTION_FULL, NULL, NULL, false };
    expect_exit(with_environment, (void *)(uintptr_t)state_path("xdg"), 0);
    assert_int_equal(access(state_path("xdg/org.example.test/ledger.lg"), F_OK), 0);
}

/* ---- a program with more rights than its caller ---- */

#define PROBE "--start-with-environment"

/* The action of this program when it is run with PROBE: it exits with the status of lg_start(), or
 * with 77 where it has no more rights. */
static int probe(void)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.test";
    return getauxval(AT_SECURE) ? (int)lg_start(&options, &session) : 77;
}

static void exec_setuid(void *argument)
{
    char environment[1100];
    char *arguments[] = { argument, (char *)(uintptr_t)PROBE, NULL };
    snprintf(environment, sizeof environment, "XDG_STATE_HOME=%s", state_path("chosen"));
    char *variables[] = { environment, NULL };
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(91);
    execve(argument, arguments, variables);
    _exit(90);
}

static void test_setuid_ignores_environment(void **state)
{
    (void)state;
    skip_without_two_users();
    char command[2048];
    const char *program = state_path("program");
    snprintf(command, sizeof command, "cp /proc/%d/exe '%s' && chmod 4755 '%s' && chmod 755 '%s'", (int)getpid(), program, program, state_path(""));
    assert_int_equal(system(command), 0);
    struct death death = run_child(exec_setuid, (void *)(uintptr_t)program);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("the file system ignores setuid bits");
    assert_true(WIFEXITED(death.status));
    assert_int_equal(WEXITSTATUS(death.status), LG_ERR_NO_DIRECTORY);
    assert_int_not_equal(access(state_path("chosen"), F_OK), 0);
}

/* ---- ledgers ---- */

static void crash_once(void)
{
    expected = (struct expectation){ LG_OK, LG_PROTECTION_FULL, NULL, state_path("s"), true };
    expect_signal(start_anyway, NULL, SIGABRT);
}

/* A ledger with a streak of two, or the third crash still to be counted. */
static void make_history(void)
{
    crash_once();
    crash_once();
    crash_once();
}

static uint32_t streak(void)
{
    lg_reader *reader = NULL;
    lg_launch_info context = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_reader_open(state_path("s/ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_ledger_context(reader, 0, &context), LG_OK);
    lg_reader_close(reader);
    return context.streak;
}

static size_t read_whole(const char *path, uint8_t *bytes, size_t most)
{
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    ssize_t size = read(file, bytes, most);
    close(file);
    assert_true(size >= 0);
    return (size_t)size;
}

/* How many files in the state directory have names that begin so, and the bytes of the last of
 * them. */
static int kept_aside(const char *prefix, uint8_t *bytes, size_t *size)
{
    int count = 0;
    char command[1200], path[1024];
    snprintf(command, sizeof command, "ls -d '%s'/%s* 2>/dev/null", state_path("s"), prefix);
    FILE *list = popen(command, "r");
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\n")] = 0;
        if (bytes)
            *size = read_whole(path, bytes, LEDGER_BYTES);
        count++;
    }
    pclose(list);
    return count;
}

static void expect_fresh(lg_status status, const char *prefix, const uint8_t *before, size_t size)
{
    static uint8_t kept[LEDGER_BYTES];
    size_t kept_size = 0;
    expect_start(status, LG_PROTECTION_FULL, "is kept as", state_path("s"));
    assert_int_equal(kept_aside(prefix, kept, &kept_size), 1);
    assert_int_equal(kept_size, size);
    /* No older file is lost. Only in a file whose header is whole the hot page may differ, as a
     * lookup of its owner writes there. */
    memcpy(kept + 4096, before + 4096, size >= 8192 ? sizeof(uint64_t) : 0);
    assert_memory_equal(kept, before, size);
    expect_start(FULL, state_path("s"));
}

static void test_ledger_empty(void **state)
{
    (void)state;
    make_history();
    touch(state_path("s/ledger.lg"), "", 0);
    expect_fresh(LG_ERR_DAMAGED, "ledger.lg.damaged-", (const uint8_t *)"", 0);
}

static void test_ledger_random(void **state)
{
    (void)state;
    static uint8_t bytes[LEDGER_BYTES];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
    make_history();
    touch(state_path("s/ledger.lg"), bytes, sizeof bytes);
    expect_fresh(LG_ERR_DAMAGED, "ledger.lg.damaged-", bytes, sizeof bytes);
}

static void test_ledger_newer(void **state)
{
    (void)state;
    static uint8_t bytes[LEDGER_BYTES];
    make_history();
    size_t size = read_whole(state_path("s/ledger.lg"), bytes, sizeof bytes);
    struct lg__header *header = (struct lg__header *)(void *)bytes;
    header->major++;
    header->crc = lg__crc32c(0, header, offsetof(struct lg__header, crc));
    touch(state_path("s/ledger.lg"), bytes, size);
    expect_fresh(LG_ERR_NEWER, "ledger.lg.newer-", bytes, size);
}

/* A ledger of a newer minor version, with a section and a flag that only its writer knows. */
static void test_ledger_newer_minor(void **state)
{
    (void)state;
    static uint8_t bytes[LEDGER_BYTES];
    make_history();
    size_t size = read_whole(state_path("s/ledger.lg"), bytes, sizeof bytes);
    struct lg__header *header = (struct lg__header *)(void *)bytes;
    header->minor++;
    header->compat_flags = 1;
    header->sections[header->section_count++] = (struct lg__section){ 99, 0, 4096, 64 };
    header->crc = lg__crc32c(0, header, offsetof(struct lg__header, crc));
    touch(state_path("s/ledger.lg"), bytes, size);
    expect_start(FULL, state_path("s"));
    lg_reader *reader = NULL;
    lg_launch_info context = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_reader_open(state_path("s/ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_ledger_context(reader, 0, &context), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(context.launches, 4);
    assert_int_equal(context.crashes, 3);
}

static void test_ledger_cut(void **state)
{
    (void)state;
    static uint8_t bytes[LEDGER_BYTES];
    make_history();
    size_t size = read_whole(state_path("s/ledger.lg"), bytes, sizeof bytes);
    /* Cut after slot A: the slot that is still whole is taken over. */
    static const size_t cuts[] = { 100, 4096, SLOT_A, 12288, SLOT_B, 70000 };
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        touch(state_path("s/ledger.lg"), bytes, cuts[i]);
        expected = (struct expectation){ LG_ERR_DAMAGED, LG_PROTECTION_FULL, cuts[i] >= SLOT_B ? "taken over" : "anew", state_path("s"), true };
        expect_signal(start_anyway, NULL, SIGABRT);
        if (cuts[i] >= SLOT_B)
            assert_true(streak() >= 1);
        else
            assert_int_equal(streak(), 0);
    }
    assert_int_equal(size, LEDGER_BYTES);
    assert_int_equal(kept_aside("ledger.lg.damaged-", NULL, NULL), 2); /* of six */
}

static void test_ledger_one_slot_damaged(void **state)
{
    (void)state;
    static uint8_t bytes[LEDGER_BYTES];
    make_history(); /* streak 2 in the ledger, the third crash in its run file */
    size_t size = read_whole(state_path("s/ledger.lg"), bytes, sizeof bytes);
    for (unsigned slot = 0; slot < 2; slot++) {
        size_t at = (slot == 0 ? SLOT_A : SLOT_B) + 500;
        bytes[at] ^= 1;
        touch(state_path("s/ledger.lg"), bytes, size);
        bytes[at] ^= 1;
        /* the other slot is used: it holds the newest state or the one before */
        expect_start(FULL, state_path("s"));
    }
    bytes[SLOT_A + 500] ^= 1;
    bytes[SLOT_B + 500] ^= 1;
    touch(state_path("s/ledger.lg"), bytes, size);
    expect_fresh(LG_ERR_DAMAGED, "ledger.lg.damaged-", bytes, size);
}

/* Bytes that a damaged slot leaves after the used part of the payload have no effect: a new context
 * is empty. */
static void test_ledger_remnants(void **state)
{
    (void)state;
    static struct lg__ledger before, after;
    static const uint8_t boot_id[16];
    struct lg__ledger_context expected = { .name = "second" };
    struct lg__problem problem = { .status = LG_OK };
    int directory = open(state_path(""), O_RDONLY | O_DIRECTORY);
    assert_int_equal(lg__ledger_open(directory, "ledger", "", 1, boot_id, &before, &problem), LG_OK);
    lg__ledger_find_context(&before.payload, "first");
    lg__ledger_store(&before);
    lg__ledger_find_context(&before.payload, "second")->streak = 7;
    lg__ledger_store(&before);
    before.slots[before.current]->crc ^= 1;
    assert_int_equal(lg__ledger_open(directory, "ledger", "", 1, boot_id, &after, &problem), LG_OK);
    assert_int_equal(after.payload.context_count, 1);
    assert_memory_equal(lg__ledger_find_context(&after.payload, "second"), &expected, sizeof expected);
    close(directory);
}

static void test_ledger_is_odd(void **state)
{
    (void)state;
    make_history();
    unlink(state_path("s/ledger.lg"));
    assert_int_equal(mkdir(state_path("s/ledger.lg"), 0700), 0);
    expect_start(LG_ERR_DAMAGED, LG_PROTECTION_FULL, "is kept as", state_path("s"));
    unlink(state_path("s/ledger.lg"));
    assert_int_equal(mkfifo(state_path("s/ledger.lg"), 0600), 0);
    expect_start(LG_ERR_DAMAGED, LG_PROTECTION_FULL, "is kept as", state_path("s"));
    unlink(state_path("s/ledger.lg"));
    touch(state_path("target"), "precious", 8);
    assert_int_equal(symlink("../target", state_path("s/ledger.lg")), 0);
    expect_start(LG_ERR_LINK, LG_PROTECTION_NONE, "symbolic link", state_path("s"));
    static uint8_t bytes[64];
    assert_int_equal(read_whole(state_path("target"), bytes, sizeof bytes), 8);
}

/* ---- run files ---- */

static void test_run_file_flipped_or_cut(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 20];
    crash_once();
    char path[2048], command[4096];
    snprintf(command, sizeof command, "ls -d '%s'/runs/*", state_path("s"));
    FILE *list = popen(command, "r");
    assert_non_null(fgets(path, sizeof path, list));
    pclose(list);
    path[strcspn(path, "\n")] = 0;
    size_t size = read_whole(path, bytes, sizeof bytes);
    static uint8_t ledger[LEDGER_BYTES];
    size_t ledger_size = read_whole(state_path("s/ledger.lg"), ledger, sizeof ledger);
    uint32_t random = 99;
    for (int i = 0; i < 60; i++) {
        random = random * 1664525 + 1013904223;
        size_t at = i < 40 ? (random >> 8) % 40000 : (random >> 8) % size;
        uint8_t was = bytes[at];
        if (i % 3 == 2)
            touch(path, bytes, at); /* cut there */
        else {
            bytes[at] ^= (uint8_t)(1u << (random & 7));
            touch(path, bytes, size);
        }
        bytes[at] = was;
        touch(state_path("s/ledger.lg"), ledger, ledger_size);
        expect_start(FULL, state_path("s"));
    }
}

/* ---- two instances ---- */

static void hold_and_start_second(void *argument)
{
    (void)argument;
    int status;
    int ready[2];
    if (pipe(ready) != 0)
        _exit(93);
    pid_t first = fork();
    if (first == 0) {
        start_session();
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1)
        _exit(93);
    pid_t second = fork();
    if (second == 0) {
        expected = (struct expectation){ LG_ERR_SECONDARY, LG_PROTECTION_RECORD, "another live process", state_path(""), true };
        start_anyway(NULL);
    }
    bool right = waitpid(second, &status, 0) == second && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    kill(first, SIGKILL);
    waitpid(first, &status, 0);
    exit(right ? 0 : 94);
}

static void test_two_instances(void **state)
{
    (void)state;
    expect_exit(hold_and_start_second, NULL, 0);
    lg_reader *reader = newest_run();
    lg_run_info run;
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(run.secondary, 1);
    crash_of(reader, LG_STAGE_DONE);
    lg_reader_close(reader);
    /* The secondary's crash is no launch crash of the primary. */
    expect_start(FULL, state_path(""));
    assert_int_equal(last_of_timeline().ordinal, 1);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_UNKNOWN);
}

static int test_is_over[2];

static void orphan_keeps_lock(void *argument)
{
    (void)argument;
    start_session();
    pid_t orphan = _Fork(); /* past the exit handlers, which would release the lock */
    if (orphan == 0) {
        /* A process that inherits every descriptor with the lock, and outlives its parent. */
        char byte;
        close(test_is_over[1]);
        _exit((int)read(test_is_over[0], &byte, 1));
    }
    abort();
}

static void test_stale_lock(void **state)
{
    (void)state;
    assert_int_equal(pipe(test_is_over), 0);
    expect_signal(orphan_keeps_lock, NULL, SIGABRT);
    expect_start(FULL, state_path(""));
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
    close(test_is_over[0]);
    close(test_is_over[1]);
}

/* ---- wrong calls ---- */

#pragma GCC diagnostic ignored "-Woverride-init"
static void nonsense_options(void *argument)
{
    (void)argument;
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
    lg_status status = lg_start(NULL, &session);
    REQUIRE(status == LG_ERR_ARGUMENT && session);
    REQUIRE(fcntl(0, F_GETFD) == 0); /* a file that is not open is not closed */
    status = lg_start(&options, NULL);
    REQUIRE(status == LG_ERR_ARGUMENT);
    static const char *const ids[] = { NULL, "", ".hidden", "a/b", "../up", "with space",
                                       "far-too-long-far-too-long-far-too-long-far-too-long-far-too-long" };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        options.app_id = ids[i];
        options.state_directory = state_path("s");
        status = lg_start(&options, &session);
        REQUIRE(status == LG_ERR_OPTION);
        REQUIRE(strstr(lg_session_message(session), "app_id"));
    }
    options.app_id = "org.example.test";
    options.deadline_ms = 5;
    status = lg_start(&options, &session);
    REQUIRE(status == LG_ERR_OPTION && strstr(lg_session_message(session), "deadline_ms"));
    options.deadline_ms = 0;
    options.ring_bytes = 17;
    status = lg_start(&options, &session);
    REQUIRE(status == LG_ERR_OPTION && strstr(lg_session_message(session), "ring_bytes"));
    options.ring_bytes = 0;
    options.keep_first = 2;
    status = lg_start(&options, &session);
    REQUIRE(status == LG_ERR_OPTION && strstr(lg_session_message(session), "keep_first"));
    options.keep_first = 0;
    options.spare_walk = 2;
    status = lg_start(&options, &session);
    REQUIRE(status == LG_ERR_OPTION && strstr(lg_session_message(session), "spare_walk"));
    options.spare_walk = 0;
    options.size = 3;
    status = lg_start(&options, &session);
    REQUIRE(status == LG_ERR_OPTION);
    options.size = sizeof options;
    status = lg_start(&options, &session); /* after all these mistakes the right call works */
    REQUIRE(status == LG_OK && lg_session_protection(session) == LG_PROTECTION_FULL);
    lg_session *again;
    status = lg_start(&options, &again);
    REQUIRE(status == LG_ERR_ALREADY && again == session);

    static const struct { const char *name; lg_launch_options options; const char *says; } bad[] = {
#define OPTIONS(...) { .size = sizeof(lg_launch_options), .report_after = 1, .repair_after = 2, .window_ms = 5000, __VA_ARGS__ }
        { NULL, OPTIONS(.finish = LG_FINISH_EITHER), "name" },
        { "", OPTIONS(.finish = LG_FINISH_EITHER), "name" },
        { "far-too-long-far-too-long-far-too-long-far-too-long-far-too-long", OPTIONS(.finish = LG_FINISH_EITHER), "name" },
        { "main", OPTIONS(.report_after = 0), "report_after" },
        { "main", OPTIONS(.repair_after = 0), "repair_after" },
        { "main", OPTIONS(.window_ms = -1), "window_ms" },
        { "main", OPTIONS(.window_ms = INT64_MAX), "window_ms" },
        { "main", OPTIONS(.finish = (lg_finish)9), "finish" },
        { "main", OPTIONS(.window_ms = 0, .finish = LG_FINISH_TIME), "window_ms" },
        { "main", OPTIONS(.report_wait_ms = 60000), "report_wait_ms" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lg_launch *launch = NULL;
        lg_task add = LG_TASK_INIT;
        add.key = "task";
        add.run = task;
        int before = tasks_run;
        status = lg_launch_prepare(session, bad[i].name, &bad[i].options, &launch);
        REQUIRE(status == LG_ERR_OPTION);
        REQUIRE(launch && lg_launch_add_task(launch, &add) == LG_OK && lg_launch_begin(launch) == LG_OK);
        REQUIRE(tasks_run == before + 1); /* the program starts anyway */
        REQUIRE(i > 0 || strstr(lg_session_message(session), bad[0].says));
    }
    lg_launch *launch;
    status = lg_launch_prepare(session, "main", NULL, &launch);
    REQUIRE(status == LG_OK);
    lg_repair repair = LG_REPAIR_INIT;
    REQUIRE(lg_launch_add_repair(launch, &repair) == LG_ERR_ARGUMENT && lg_launch_add_repair(launch, NULL) == LG_ERR_ARGUMENT);
    REQUIRE(lg_launch_begin(NULL) == LG_ERR_ARGUMENT && lg_launch_finished(NULL) == LG_ERR_ARGUMENT);
    lg_complete(NULL, LG_OK);
}

static void test_nonsense_options(void **state)
{
    (void)state;
    expect_exit(nonsense_options, NULL, 0);
}

static void too_many_contexts(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    for (int i = 0; i < 40; i++) {
        char name[16];
        lg_launch *launch = NULL;
        snprintf(name, sizeof name, "context %d", i);
        lg_status status = lg_launch_prepare(session, name, NULL, &launch);
        REQUIRE(status == (i < LG_CONTEXTS_MAX ? LG_OK : LG_ERR_LIMIT));
        REQUIRE(launch && lg_launch_begin(launch) == LG_OK);
    }
}

static void test_too_many_contexts(void **state)
{
    (void)state;
    expect_exit(too_many_contexts, NULL, 0);
}

static void renamed_contexts(void *first)
{
    lg_session *session = start_session();
    for (int i = 0; i < LG_CONTEXTS_MAX; i++) {
        char name[32];
        lg_launch *launch;
        snprintf(name, sizeof name, "context %d", *(int *)first + i);
        lg_status status = lg_launch_prepare(session, name, NULL, &launch);
        REQUIRE(status == LG_OK);
        REQUIRE(lg_launch_begin(launch) == LG_OK);
        REQUIRE(lg_launch_finished(launch) == LG_OK);
    }
}

static void one_more_context(void *name)
{
    lg_launch *launch;
    lg_session *session = start_session();
    lg_status status = lg_launch_prepare(session, name, NULL, &launch);
    REQUIRE(status == LG_OK);
    lg_launch_begin(launch);
    abort();
}

/* A program that renames its contexts over the years: contexts at rest are replaced, one with a
 * streak is not. */
static void test_renamed_contexts(void **state)
{
    (void)state;
    int first = 0;
    expect_exit(renamed_contexts, &first, 0);
    expect_signal(one_more_context, "crashed", SIGABRT);
    /* one of the sixteen places is taken by a context with a streak */
    expect_exit(renamed_contexts, &(int){ 0 }, 92);
    assert_int_equal(ledger_context("crashed").streak, 1);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
    expect_signal(one_more_context, "crashed", SIGABRT);
    assert_int_equal(ledger_context("crashed").launches, 2);
}

/* ---- retention ---- */

static void start_keeping_three(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_launch *launch;
    options.keep_runs = 3;
    lg_session *session = start_with(options);
    lg_launch_options never = LG_LAUNCH_OPTIONS_INIT;
    never.repair_after = 1000;
    lg_launch_prepare(session, "main", &never, &launch);
    lg_launch_begin(launch);
    if (argument)
        abort();
}

static void test_retention(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        expect_signal(start_keeping_three, (void *)1, SIGABRT);
    /* Three ended runs, the first run of the streak, and the run that is alive during the
     * deletion. */
    assert_int_equal(count_runs(), 5);
    lg_reader_close(run_numbered(1));
    lg_reader_close(run_numbered(8));
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], PROBE) == 0)
        return probe();
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_directory_missing),     WITH_STATE(test_directory_is_file),     WITH_STATE(test_directory_is_link),
        WITH_STATE(test_links_of_another),
        WITH_STATE(test_directory_of_another),  WITH_STATE(test_directory_not_writable), WITH_STATE(test_disk_full_or_read_only),
        WITH_STATE(test_no_shared_files),
        WITH_STATE(test_file_size_limit),       WITH_STATE(test_directory_from_environment),
        WITH_STATE(test_failed_starts_are_no_suspicion), WITH_STATE(test_retried_start_heals), WITH_STATE(test_setuid_ignores_environment),
        WITH_STATE(test_ledger_empty),          WITH_STATE(test_ledger_random),         WITH_STATE(test_ledger_newer),
        WITH_STATE(test_ledger_newer_minor),
        WITH_STATE(test_ledger_cut),            WITH_STATE(test_ledger_one_slot_damaged), WITH_STATE(test_ledger_remnants),
        WITH_STATE(test_ledger_is_odd),
        WITH_STATE(test_run_file_flipped_or_cut), WITH_STATE(test_two_instances),       WITH_STATE(test_stale_lock),
        WITH_STATE(test_nonsense_options),      WITH_STATE(test_too_many_contexts), WITH_STATE(test_renamed_contexts),    
        WITH_STATE(test_retention),
    };
    return cmocka_run_group_tests_name("bad_input", tests, NULL, NULL);
}
