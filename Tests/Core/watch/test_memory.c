/* Memory that runs short, in a real control group and from files made for the purpose: which
 * callback is called, and the end for lack of memory. */
#include "ending_program.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchguard/watch.h"
#include "os/fault_point.h"
#include "os/os.h"

#define LIMIT_BYTES 50331648u
#define MIB (1u << 20)

static char group[4096 + 64];

static bool store(const char *name, const char *value)
{
    char path[sizeof group + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool stored = file >= 0 && write(file, value, strlen(value)) == (ssize_t)strlen(value);
    if (file >= 0)
        close(file);
    return stored;
}

static bool make_group(const char *mount, const char *prefix, const char *limit)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *at = strstr(line, prefix);
        if (!at || (prefix[0] == '0' && at != line))
            continue;
        found = true;
        snprintf(group, sizeof group, "%s%s/launchguard-test-%d", mount, at + strlen(prefix), (int)getpid());
    }
    if (file)
        fclose(file);
    if (!found || mkdir(group, 0700) != 0)
        return false;
    if (store(limit, "50331648")) {
        store("memory.swap.max", "0");
        return true;
    }
    rmdir(group);
    return false;
}

/* Remove the group when the test is over, however it ends: this process lives as long as any other
 * process has the other end of the pipe. */
static void leave_janitor(void)
{
    int end[2];
    char byte;
    fflush(NULL);
    assert_int_equal(pipe(end), 0); /* inherited by all children */
    pid_t janitor = fork();
    assert_true(janitor >= 0);
    if (janitor == 0) {
        plain_signals();
        setsid();
        close(end[1]);
        (void)!read(end[0], &byte, 1);
        for (int i = 0; i < 5000 && rmdir(group) != 0; i++)
            rest(10); /* the last child is still leaving the group */
        _exit(0);
    }
    close(end[0]);
}

static bool second; /* the group is of version 2 */

/* One group for all tests. */
static void need_group(void)
{
    static bool made;
    if (geteuid() != 0)
        skip_because("only root makes a cgroup");
    if (made)
        return;
    second = make_group("/sys/fs/cgroup", "0::", "memory.max");
    if (!second)
        print_message("[  REASON  ] cgroups of version 2 have no memory controller here: version 2 is tested only with files made for the purpose\n");
    if (!second && !make_group("/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes"))
        skip_because("no cgroup with a memory limit can be made");
    leave_janitor();
    made = true;
}

static void join_group(void)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    if (!store("cgroup.procs", number))
        _exit(95);
}

static void body_eats(void *argument)
{
    join_group();
    begin();
    wait_until(newest_info().oom_known); /* the preparing thread reads it */
    static volatile char *block; /* the compiler must not leave out memory that is never read */
    size_t page = 0;
    while (!argument) {
        if (page % (1 << 20) == 0)
            block = malloc(1 << 20);
        block[page % (1 << 20)] = 1;
        page += 4096;
    }
    raise(SIGKILL);
}

/* From here on the process reads as a user who may not read the kernel's log. */
static void hide_kernel_log(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(83);
    if (access("/dev/kmsg", F_OK) == 0 && mount("/dev/null", "/dev/kmsg", NULL, MS_BIND, NULL) != 0)
        _exit(82);
}

static bool can_read_kernel_log(void)
{
    char record[8192];
    int file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool can = file >= 0 && (read(file, record, sizeof record) > 0 || errno == EPIPE);
    if (file >= 0)
        close(file);
    return can;
}

/* The next start, in the group, with the kernel's log. */
static void body_in_group(void *argument)
{
    (void)argument;
    join_group();
    begin();
}

/* The same without it. */
static void body_in_group_blind(void *argument)
{
    hide_kernel_log();
    body_in_group(argument);
}

static void expect_next(void (*next)(void *), lg_end end, lg_evidence evidence, bool counted)
{
    expect_exit(next, NULL, 0);
    expect_end(last_of_timeline(), end, evidence);
    assert_int_equal(last_of_timeline().counted, counted);
}

static void test_memory(void **state)
{
    (void)state;
    need_group();
    expect_signal(body_eats, NULL, SIGKILL);
    uint64_t kills = newest_info().oom_kills;
    assert_int_equal(newest_info().oom_known, 1);
    /* The count does not say which process of the group it was. */
    expect_next(body_in_group_blind, LG_END_UNKNOWN, LG_EVIDENCE_OOM_COUNTER, false);
    /* Kills that the group counted before the start were others. */
    expect_signal(body_eats, "is killed", SIGKILL);
    assert_int_equal(newest_info().oom_kills, kills + 1);
    expect_next(body_in_group, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, true);
    /* A run outside of the group has no part in the group's count, which is larger than that of its
     * own group. */
    expect_signal(body, WAY(KILL), SIGKILL);
    expect_next(body_in_group, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, true);
    /* A witness knows that it was SIGKILL, and not whose. */
    struct death death = run_child(body_eats, NULL);
    assert_int_equal(WTERMSIG(death.status), SIGKILL);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    expect_next(body_in_group_blind, LG_END_KILLED, LG_EVIDENCE_OOM_COUNTER, false);
}

static void test_named_in_the_kernel_log(void **state)
{
    (void)state;
    need_group();
    if (!can_read_kernel_log())
        skip_because("this user may not read the kernel's log");
    expect_signal(body_eats, NULL, SIGKILL);
    /* the log can be read from anywhere */
    assert_int_equal(newest_verdict().end, LG_END_OOM);
    assert_int_equal(newest_verdict().evidence, LG_EVIDENCE_KERNEL_LOG);
    expect_next(body_in_group, LG_END_OOM, LG_EVIDENCE_KERNEL_LOG, true);
    assert_int_equal(ledger_context("main").streak, 1);
    struct death death = run_child(body_eats, NULL);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    expect_next(body_in_group, LG_END_OOM, LG_EVIDENCE_KERNEL_LOG, true);
}

static void test_kernel_log(void **state)
{
    (void)state;
    const uint64_t start = UINT64_C(500000000000); /* with the slack: 498.5 s in the log */
    static const struct {
        const char *text;
        bool names;
    } rows[] = {
        { "3,1,600000000,-;Memory cgroup out of memory: Killed process 4711 (player) total-vm:54592kB\n", true },
        { "3,1,498500000,-;Out of memory: Killed process 4711 (player) total-vm:54592kB\n", true },
        { "3,1,600000000,-;Killed process 4711 (player) total-vm:54592kB\n", true },
        { "6,1,600000000,-;player invoked oom-killer\n DEVICE=+x\n3,2,600000001,-;Out of memory: Killed process 4711 (player)\n", true },
        { "3,1,498499999,-;Out of memory: Killed process 4711 (player)\n", false }, /* before */
        { "3,1,600000000,-;Out of memory: Killed process 47110 (player)\n", false }, /* others */
        { "3,1,600000000,-;Out of memory: Killed process 471 (player)\n", false },
        /* a process wrote it */
        { "11,1,600000000,-;Out of memory: Killed process 4711 (player)\n", false },
        { "3,1,600000000,-;Killed process [4711]: segfault at 0\n", false }, /* its name */
        { "3,1,600000000;Out of memory: Killed process 4711", true },
        { "3,1;Out of memory: Killed process 4711 (player)\n", false },
        { "nonsense", false },
        { "", false },
    };
    char expected[64];
    ssize_t size = readlink("/proc/self/ns/pid", expected, sizeof expected - 1);
    expected[size > 0 ? size : 0] = 0;
    if (strcmp(expected, "pid:[4026531836]") != 0)
        skip_because("the kernel's log has the numbers of another pid namespace");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *file = fopen(state_path("log"), "we");
        assert_non_null(file);
        fputs(rows[i].text, file);
        fclose(file);
        if (lg__os_kernel_log_killed(state_path("log"), 4711, start) != rows[i].names)
            fail_msg("row %zu: %s", i, rows[i].text);
    }
    assert_false(lg__os_kernel_log_killed(state_path("nowhere"), 4711, start));
}

/* ---- lg_memory_watch() in that group ---- */

static volatile char *eaten;
static size_t eaten_bytes;
static int asked[2]; /* pipe on which the callback reports its call */
static _Atomic int calls;

/* Allocate this many more bytes. */
static void eat(size_t bytes)
{
    if (!eaten) {
        eaten = mmap(NULL, 4 * (size_t)LIMIT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (eaten == MAP_FAILED)
            _exit(94);
    }
    for (size_t end = eaten_bytes + bytes; eaten_bytes < end; eaten_bytes += 4096)
        eaten[eaten_bytes] = 1;
}

static void give_back(void)
{
    madvise((void *)(uintptr_t)eaten, eaten_bytes, MADV_DONTNEED);
    eaten_bytes = 0;
}

/* The mark, the breadcrumb and the stacks are there before the callback is called. The stacks are
 * taken once. */
static void on_memory(const lg_memory *memory, void *user)
{
    lg_run_info info = newest_info();
    bool right = user == &asked && memory->limit == LIMIT_BYTES && memory->of_cgroup == 1 && memory->used >= LIMIT_BYTES / 10 * 7 &&
                 memory->percent == memory->used * 100 / memory->limit && info.memory_near_ns > info.monotonic_ns &&
                 info.memory_used == memory->used && info.memory_limit == memory->limit;
    static lg_log_entry entry;
    lg_log_info log;
    lg_reader *reader = newest_run();
    bool said = false;
    lg_reader_log(reader, &log);
    for (uint64_t i = 0; !said && lg_reader_log_entry(reader, i, &entry) == LG_OK; i++)
        said = strstr(entry.text, "memory is near its limit: ") != NULL;
    lg_reader_close(reader);
    lg_snapshot_info snapshot;
    right = right && newest_snapshot(LG_SNAPSHOT_MEMORY, &snapshot) && snapshot.sequence == 1 && snapshot.stored >= 1 &&
            (calls == 0) == (snapshot.resolved_ns == 0);
    calls++;
    (void)!write(asked[1], right && said ? "y" : "n", 1);
}

static _Atomic unsigned looks;

static void count_looks(const char *point)
{
    looks += strcmp(point, "memory: looks") == 0;
}

/* The watch has looked at the memory as it is now. */
static void wait_for_look(void)
{
    const unsigned before = looks;
    wait_until(looks >= before + 2);
}

static void begin_watched(void)
{
    join_group();
    begin();
    lg__fault_hook = count_looks;
    lg__fault_patience = 100; /* the stacks of a busy machine are there before the callback, too */
    wait_until(newest_info().oom_known);
    if (pipe2(asked, O_CLOEXEC) != 0 || lg_memory_watch(session, 70, on_memory, &asked) != LG_OK)
        _exit(93);
    if (lg_memory_watch(session, 70, on_memory, &asked) != LG_ERR_ALREADY)
        _exit(92);
}

static void wait_for_callback(void)
{
    char answer = 0;
    while (read(asked[0], &answer, 1) != 1)
        continue;
    if (answer != 'y')
        _exit(91);
}

/* Below the threshold no callback comes. Above it the callback comes before the kernel ends the
 * process. */
static void body_is_warned(void *argument)
{
    begin_watched();
    eat(20 * MIB);
    wait_for_look();
    if (newest_info().memory_near_ns)
        _exit(90);
    eat(20 * MIB);
    wait_for_callback();
    if (strcmp(argument, "eats on") == 0)
        eat(3 * (size_t)LIMIT_BYTES);
    if (strcmp(argument, "gives back") == 0) {
        /* near the limit again, without another callback */
        for (int marks = 0; marks < 2; marks++) {
            const uint64_t seen = newest_info().memory_near_ns;
            wait_until(newest_info().memory_near_ns != seen);
        }
        if (calls != 1)
            _exit(84);
        give_back();
        wait_until(!newest_info().memory_near_ns);
        eat(40 * MIB); /* and the callback comes again */
        wait_for_callback();
        give_back();
        wait_until(!newest_info().memory_near_ns);
    }
    raise(SIGKILL);
}

static void body_outside_group(void *argument)
{
    hide_kernel_log();
    lg_verdict verdict = newest_verdict();
    if (verdict.end != LG_END_UNKNOWN || verdict.evidence != LG_EVIDENCE_NEAR_MEMORY_LIMIT || verdict.monotonic_ns != (uintptr_t)argument)
        _exit(78);
}

static void test_warned_before_the_end(void **state)
{
    (void)state;
    need_group();
    expect_signal(body_is_warned, "eats on", SIGKILL);
    lg_run_info info = newest_info();
    assert_int_equal(info.memory_limit, LIMIT_BYTES);
    assert_true(info.memory_used >= LIMIT_BYTES / 10 * 7 && info.memory_used <= LIMIT_BYTES);
    assert_true(info.memory_own > LIMIT_BYTES / 2 && info.memory_own <= info.memory_used);
    /* From outside the group the kill cannot be seen: only the nearness of the limit is known. */
    expect_exit(body_outside_group, (void *)(uintptr_t)info.memory_near_ns, 0);
    expect_next(body_in_group_blind, LG_END_OOM, LG_EVIDENCE_MEMORY_SHARE, true);
    assert_int_equal(last_of_timeline().verdict.monotonic_ns, info.memory_near_ns);
    /* Killed by another process: the reason stays unknown. */
    expect_signal(body_is_warned, "is killed", SIGKILL);
    expect_exit(body_in_group, NULL, 0);
    expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NEAR_MEMORY_LIMIT);
    assert_int_equal(ledger_context("main").unknown, 1);
}

/* Another process of the group is ended for lack of memory, and then this innocent program is
 * killed, as supervisors do with the rest of a group. */
static void body_beside_another(void *argument)
{
    int status;
    join_group();
    if (argument)
        begin_watched();
    else
        begin();
    if (argument)
        eat(28 * MIB); /* more than half, and less than the warning */
    const uint64_t before = newest_info().oom_kills;
    fflush(NULL);
    pid_t other = fork();
    if (other == 0) {
        int adjust = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (write(adjust, "1000", 4) != 4)
            _exit(81);
        eaten = NULL;
        eat(4 * (size_t)LIMIT_BYTES);
        _exit(80);
    }
    if (waitpid(other, &status, 0) != other || !WIFSIGNALED(status))
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 79);
    if (argument) {
        eat(8 * MIB); /* near the limit now */
        wait_until(newest_info().memory_near_ns && newest_info().oom_kills != before);
    }
    wait_until(!newest_info().forked_ns); /* and not right after the fork */
    raise(SIGKILL);
}

static void test_another_was_ended(void **state)
{
    (void)state;
    need_group();
    for (int runs = 0; runs < 6; runs++) { /* more than any threshold */
        expect_signal(body_beside_another, NULL, SIGKILL);
        expect_next(body_in_group, LG_END_UNKNOWN, LG_EVIDENCE_OOM_COUNTER, false);
    }
    assert_int_equal(ledger_context("main").streak, 0);
    assert_int_equal(ledger_context("main").unknown, 0);
    assert_int_equal(ledger_context("main").mode, LG_LAUNCH_MODE_NORMAL);
    /* A program that watches its memory outlives the other one's end, and knows that it did. */
    expect_signal(body_beside_another, "watches", SIGKILL);
    assert_true(newest_info().memory_own > LIMIT_BYTES / 2);
    expect_next(body_in_group_blind, LG_END_UNKNOWN, LG_EVIDENCE_NEAR_MEMORY_LIMIT, true);
}

static void test_warning_withdrawn(void **state)
{
    (void)state;
    need_group();
    expect_signal(body_is_warned, "gives back", SIGKILL);
    assert_int_equal(newest_info().memory_near_ns, 0);
    assert_int_equal(newest_info().memory_limit, 0); /* the figures are gone with their mark */
    lg_snapshot_info snapshot;
    assert_true(newest_snapshot(LG_SNAPSHOT_MEMORY, &snapshot) && snapshot.resolved_ns > snapshot.taken_ns);
    expect_exit(body_in_group, NULL, 0);
    expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
}

/* Memory that the kernel would free first does not count: the program reads a file larger than the
 * limit, and is not near the limit. */
static void body_reads_much(void *argument)
{
    static char block[MIB];
    const char *path = argument;
    begin_watched();
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 96; i++)
        if (file < 0 || write(file, block, sizeof block) != (ssize_t)sizeof block)
            _exit(89);
    fsync(file);
    lseek(file, 0, SEEK_SET);
    while (read(file, block, sizeof block) > 0)
        continue;
    struct lg__os_memory raw, exact;
    if (!lg__os_memory("", 100, &raw) || !lg__os_memory("", 1, &exact))
        _exit(88);
    if (raw.used < LIMIT_BYTES / 2)
        _exit(87); /* the files are not in memory: the test would prove nothing */
    if (exact.limit != LIMIT_BYTES || exact.used > LIMIT_BYTES / 2)
        _exit(86);
    wait_for_look();
    if (newest_info().memory_near_ns)
        _exit(85);
    raise(SIGKILL);
}

static void test_cached_files_are_not_in_use(void **state)
{
    (void)state;
    need_group();
    struct death death = run_child(body_reads_much, (void *)(uintptr_t)state_path("large"));
    assert_false(death.late);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 87)
        skip_because("files are not cached here");
    assert_false(WIFEXITED(death.status));
}

/* ---- states of a machine, made of files ---- */

static char root[600];

static void put(const char *path, const char *text)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
    }
    FILE *file = fopen(whole, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void new_machine(void)
{
    state_make();
    snprintf(root, sizeof root, "%s", state_path("root"));
    assert_int_equal(mkdir(root, 0700), 0);
    put("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    4000000 kB\n");
    put("proc/self/status", "Name:\tx\nVmPeak:\t  900000 kB\nVmSize:\t  800000 kB\nVmData:\t  300000 kB\n");
    put("proc/self/cgroup", "0::/\n");
}

#define expect_room(used_, limit_, of_cgroup_) expect_room_at(used_, limit_, of_cgroup_, 1, __LINE__)
static void expect_room_at(uint64_t used, uint64_t limit, bool of_cgroup, unsigned exact_from, int line)
{
    struct lg__os_memory memory;
    if (!lg__os_memory(root, exact_from, &memory))
        fail_msg("line %d: no figures", line);
    if (memory.used != used || memory.limit != limit || memory.of_cgroup != of_cgroup)
        fail_msg("line %d: %llu of %llu%s", line, (unsigned long long)memory.used, (unsigned long long)memory.limit, memory.of_cgroup ? " of a cgroup" : "");
}

static void test_version_2(void **state)
{
    (void)state;
    new_machine();
    put("proc/self/cgroup", "1:name=systemd:/x\n0::/system.slice/app.service\n");
    put("sys/fs/cgroup/system.slice/app.service/memory.max", "max\n");
    put("sys/fs/cgroup/system.slice/app.service/memory.current", "1000\n");
    /* no limit of a group: the machine's limit applies */
    expect_room(12000000 * UINT64_C(1024), 16000000 * UINT64_C(1024), false);
    put("sys/fs/cgroup/system.slice/app.service/memory.max", "1000000\n");
    put("sys/fs/cgroup/system.slice/app.service/memory.current", "600000\n");
    expect_room(600000, 1000000, true);
    put("sys/fs/cgroup/system.slice/app.service/memory.stat",
        "anon 100\nfile 5\nkernel 7\ninactive_anon 900000\nactive_anon 1\ninactive_file 200000\nactive_file 70000\nslab_reclaimable 30000\nslab 999\n");
    expect_room(300000, 1000000, true);
    expect_room_at(300000, 1000000, true, 60, __LINE__);
    /* so far from the limit no exact figure is read */
    expect_room_at(600000, 1000000, true, 61, __LINE__);
    /* The parent group is nearer to its own limit. */
    put("sys/fs/cgroup/system.slice/memory.max", "2000000\n");
    put("sys/fs/cgroup/system.slice/memory.current", "1500000\n");
    expect_room(1500000, 2000000, true);
    put("sys/fs/cgroup/memory.max", "3000000\n"); /* the root of a container has a limit */
    put("sys/fs/cgroup/memory.current", "2700000\n");
    expect_room(2700000, 3000000, true);
    /* More file cache than memory in use: figures of two moments. */
    put("sys/fs/cgroup/memory.stat", "inactive_file 9000000\n");
    put("sys/fs/cgroup/system.slice/memory.max", "max\n");
    expect_room(300000, 1000000, true);
    /* A limit that exceeds the machine's memory is no limit; nor is one that is invalid, or one
     * without a figure in use. */
    put("sys/fs/cgroup/memory.max", "max\n");
    put("sys/fs/cgroup/system.slice/app.service/memory.max", "9000000000000000\n");
    expect_room(12000000 * UINT64_C(1024), 16000000 * UINT64_C(1024), false);
    put("sys/fs/cgroup/system.slice/app.service/memory.max", "0\n");
    expect_room(12000000 * UINT64_C(1024), 16000000 * UINT64_C(1024), false);
    put("sys/fs/cgroup/system.slice/app.service/memory.max", "1000000\n");
    put("sys/fs/cgroup/system.slice/app.service/memory.current", "nonsense\n");
    expect_room(12000000 * UINT64_C(1024), 16000000 * UINT64_C(1024), false);
}

static void test_version_1(void **state)
{
    (void)state;
    new_machine();
    put("proc/self/cgroup", "5:cpu,memory:/a/b\n4:memoryx:/c\n0::/\n");
    put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "700000\n");
    put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "700001\n");
    put("sys/fs/cgroup/memory/c/memory.usage_in_bytes", "700000\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000000\n");
    put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "800000\n");
    put("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\nactive_file 2\nhierarchical_memory_limit 5\ntotal_inactive_file 100000\ntotal_active_file 200000\n");
    expect_room(500000, 1000000, true);
    put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "710000\n");
    expect_room(700000, 710000, true);
    put("proc/self/cgroup", "5:cpu,memory:/nowhere\n");
    expect_room(12000000 * UINT64_C(1024), 16000000 * UINT64_C(1024), false);
}

static void body_own_limits(void *argument)
{
    (void)argument;
    struct lg__os_memory memory;
    const struct rlimit space = { 2048000000, 2048000000 }, data = { 409600000, 409600000 }, more = { 4096000000, 4096000000 };
    if (setrlimit(RLIMIT_AS, &space) != 0 || !lg__os_memory(root, 1, &memory) || memory.used != 819200000 || memory.limit != 2048000000)
        _exit(1);
    if (setrlimit(RLIMIT_DATA, &more) != 0 || !lg__os_memory(root, 1, &memory) || memory.limit != 2048000000)
        _exit(2);
    if (setrlimit(RLIMIT_DATA, &data) != 0 || !lg__os_memory(root, 1, &memory) || memory.used != 307200000 || memory.limit != 409600000 || memory.of_cgroup)
        _exit(3);
    /* A group's limit comes first. */
    put("sys/fs/cgroup/memory.max", "3000000\n");
    put("sys/fs/cgroup/memory.current", "3\n");
    if (!lg__os_memory(root, 1, &memory) || memory.limit != 3000000 || !memory.of_cgroup)
        _exit(4);
}

static void test_own_limits(void **state)
{
    (void)state;
    new_machine();
    expect_exit(body_own_limits, NULL, 0);
}

/* ---- lg_memory_unwatch() ---- */

static _Atomic int entered, returned;

static void take_long(const lg_memory *memory, void *user)
{
    (void)memory, (void)user;
    entered++;
    pass_time(200, "lg_memory_unwatch() is called meanwhile, as a rule");
    returned++;
}

static void end_own_watch(const lg_memory *memory, void *user)
{
    (void)memory, (void)user;
    if (lg_memory_unwatch(session) != LG_OK)
        _exit(70);
    returned++;
}

/* One percent is always in use. */
static void body_unwatch(void *argument)
{
    (void)argument;
    begin();
    if (lg_memory_unwatch(NULL) != LG_ERR_ARGUMENT || lg_memory_unwatch(session) != LG_ERR_NOT_FOUND)
        _exit(71);
    for (int watch = 1; watch <= 3; watch++) {
        if (lg_memory_watch(session, 1, take_long, NULL) != LG_OK)
            _exit(72);
        wait_until(entered >= watch);
        if (lg_memory_unwatch(session) != LG_OK || returned != watch || newest_info().memory_near_ns)
            _exit(73);
    }
    returned = 0;
    if (lg_memory_watch(session, 1, end_own_watch, NULL) != LG_OK)
        _exit(74);
    lg_status status;
    while ((status = lg_memory_watch(session, 100, take_long, NULL)) != LG_OK) {
        if (status != LG_ERR_ALREADY)
            _exit(75);
        rest(1);
    }
    if (returned != 1 || newest_info().memory_near_ns || lg_memory_unwatch(session) != LG_OK || entered != 3)
        _exit(76);
    pid_t child = fork();
    if (child == 0)
        _exit(lg_memory_unwatch(session) == LG_ERR_FORKED ? 0 : 1);
    if (waitpid(child, &(int){ 0 }, 0) != child || lg_stop(session) != LG_OK || lg_memory_unwatch(session) != LG_ERR_CLOSED)
        _exit(77);
}

static void test_unwatch(void **state)
{
    (void)state;
    expect_exit(body_unwatch, NULL, 0);
}

static void body_arguments(void *argument)
{
    (void)argument;
    lg_session *none, *simulated;
    lg_options nonsense = LG_OPTIONS_INIT;
    if (lg_start(&nonsense, &none) != LG_ERR_OPTION || lg_memory_watch(none, 90, NULL, NULL) != LG_ERR_UNPROTECTED)
        _exit(1);
    begin();
    if (lg_memory_watch(NULL, 90, NULL, NULL) != LG_ERR_ARGUMENT || lg_memory_watch(session, 0, NULL, NULL) != LG_ERR_ARGUMENT ||
        lg_memory_watch(session, 101, NULL, NULL) != LG_ERR_ARGUMENT)
        _exit(2);
    if (lg_simulate_start(&simulated) != LG_OK || lg_memory_watch(simulated, 90, NULL, NULL) != LG_OK)
        _exit(3);
    pid_t child = fork();
    if (child == 0)
        _exit(lg_memory_watch(session, 90, NULL, NULL) == LG_ERR_FORKED ? 0 : 1);
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(4);
    /* Without a callback there are the mark and the breadcrumb alone. One percent is always
     * in use. */
    if (lg_memory_watch(session, 1, NULL, NULL) != LG_OK)
        _exit(5);
    wait_until(newest_info().memory_near_ns);
    if (lg_stop(session) != LG_OK || lg_memory_watch(session, 90, NULL, NULL) != LG_ERR_CLOSED)
        _exit(6);
}

static void test_arguments(void **state)
{
    (void)state;
    expect_exit(body_arguments, NULL, 0);
}

static void test_nothing_to_be_known(void **state)
{
    (void)state;
    struct lg__os_memory memory = { 1, 2, true };
    new_machine();
    put("proc/meminfo", "MemTotal: 5 kB\n");
    assert_false(lg__os_memory(root, 1, &memory));
    put("proc/meminfo", "MemTotal: 0 kB\nMemAvailable: 0 kB\n");
    assert_false(lg__os_memory(root, 1, &memory));
    snprintf(root, sizeof root, "%s", state_path("nowhere"));
    assert_false(lg__os_memory(root, 1, &memory));
    assert_int_equal(memory.limit, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_memory),
        WITH_STATE(test_named_in_the_kernel_log),
        WITH_STATE(test_another_was_ended),
        WITH_STATE(test_kernel_log),
        WITH_STATE(test_warned_before_the_end),
        WITH_STATE(test_warning_withdrawn),
        WITH_STATE(test_cached_files_are_not_in_use),
        WITH_STATE(test_version_2),
        WITH_STATE(test_version_1),
        WITH_STATE(test_own_limits),
        WITH_STATE(test_unwatch), WITH_STATE(test_arguments),
        WITH_STATE(test_nothing_to_be_known),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
