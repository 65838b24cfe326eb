/* What a confined agent cannot do any more, one row an act, and what it still can. Rows without
 * Landlock are left out where the kernel has none. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "os/os.h"
#include "process/sandbox.h"
#include "watch/exit_status.h"
#include "watch/status_process.h"

/* The folder "state" is that of the agent, and "other" is not. */
#define IN(name) state_path("state/" name)
#define OUT(name) state_path("other/" name)

static pid_t neighbour; /* a process that is not confined */
static char text[] = "text";

static long opened(const char *path, int flags)
{
    const int file = open(path, flags | O_CLOEXEC, 0600);
    return file < 0 ? -1 : close(file);
}

static long has_socket(int family, int type, int protocol)
{
    const int file = socket(family, type, protocol);
    return file < 0 ? -1 : close(file);
}

/* ---- what Landlock refuses, from its version on ---- */

static long make_a_file(void) { return opened(OUT("new"), O_WRONLY | O_CREAT); }
static long write_to_a_file(void) { return opened(OUT("file"), O_WRONLY); }
static long append_to_a_file(void) { return opened(OUT("file"), O_WRONLY | O_APPEND); }
static long write_by_a_link(void) { return opened(IN("link"), O_WRONLY); }
static long cut_a_file(void) { return opened(OUT("long"), O_RDONLY | O_TRUNC); }
static long delete_a_file(void) { return unlink(OUT("doomed")); }
static long make_a_folder(void) { return mkdir(OUT("folder"), 0700); }
static long delete_a_folder(void) { return rmdir(OUT("empty")); }
static long move_a_file_out(void) { return rename(IN("to-move"), OUT("moved")); }
static long move_a_file_in(void) { return rename(OUT("to-take"), IN("taken")); }
static long link_a_file_in(void) { return link(OUT("file"), IN("linked")); }
static long make_a_folder_in_the_state_directory(void) { return mkdir(IN("folder"), 0700); }
static long change_the_process_by_proc(void) { return opened("/proc/self/oom_score_adj", O_WRONLY); }
static long signal_another_process(void) { return kill(neighbour, 0); }

static long make_a_socket_file(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", OUT("s"));
    const int bound = bind(file, (const struct sockaddr *)&address, sizeof address);
    return close(file), bound;
}

static long take_a_port(void)
{
    const struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    const int bound = bind(file, (const struct sockaddr *)&any, sizeof any);
    return close(file), bound;
}

/* ---- what the filter refuses ---- */

static long execute(void)
{
    char *const nothing[] = { NULL };
    return execve("/nonexistent", nothing, nothing);
}

static long execute_a_descriptor(void)
{
    char *const nothing[] = { NULL };
    return syscall(SYS_execveat, -1, "nonexistent", nothing, nothing, 0);
}

/* Attaching would stop the test, where nothing is confined. */
static long trace(void) { return ptrace(PTRACE_PEEKDATA, neighbour, NULL, NULL); }

static long read_memory(void)
{
    char bytes[sizeof text];
    const struct iovec here = { bytes, sizeof bytes }, there = { text, sizeof text };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 ? -1 : 0;
}

static long write_memory(void)
{
    const struct iovec here = { text, sizeof text }, there = here;
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) < 0 ? -1 : 0;
}

static long take_a_descriptor(void)
{
    const int process = (int)syscall(434 /* pidfd_open */, neighbour, 0);
    const long taken = process < 0 ? 0 : syscall(438 /* pidfd_getfd */, process, 1000, 0);
    return taken; /* 1000: EBADF without a filter */
}

static long change_rights(void) { return chmod(OUT("file"), 0600); }
static long change_rights_of_a_descriptor(void) { return fchmod(STDIN_FILENO + 1000, 0600); }
static long change_the_owner(void) { return chown(OUT("file"), geteuid(), getegid()); }
static long set_an_attribute(void) { return setxattr(OUT("absent"), "user.x", "", 0, 0); }
static long cut_by_name(void) { return truncate(OUT("file"), 1); }
static long make_a_link(void) { return symlink("/", IN("new-link")); }
static long make_a_pipe(void) { return mkfifo(IN("pipe"), 0600); }
static long change_the_personality(void) { return personality(0xffffffff) < 0 ? -1 : 0; }
static long clone_3(void) { return syscall(435, NULL, 0); }
static long wait_for_connections(void) { return listen(-1, 1); }
static long take_a_connection(void) { return accept(-1, NULL, NULL); }
static long make_a_ring(void) { return syscall(425, 0, NULL); }
static long take_a_key(void) { return syscall(SYS_keyctl, -1); }
static long ask_for_packets(void) { return has_socket(AF_PACKET, SOCK_RAW, 0); }
static long ask_for_a_cipher(void) { return has_socket(AF_ALG, SOCK_SEQPACKET, 0); }

static long make_a_namespace(void) { return unshare(CLONE_NEWUSER); }
static long enter_a_namespace(void) { return setns(-1, 0); }
static long clone_into_a_namespace(void)
{
    const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    return child < 0 ? -1 : (waitpid((pid_t)child, NULL, 0), 0);
}
static long mount_a_disk(void) { return mount("none", OUT("empty"), "tmpfs", 0, NULL); }
static long open_a_tree(void) { return syscall(428, AT_FDCWD, "/", 1u | O_CLOEXEC); }
static long change_the_root(void) { return chroot("/"); }
static long load_a_module(void) { return syscall(SYS_init_module, NULL, 0, ""); }
static long load_a_kernel(void) { return syscall(SYS_kexec_load, 0, 0, NULL, 0); }
static long load_bpf(void) { return syscall(SYS_bpf, 1000, NULL, 0); }
static long count_events(void) { return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0); }
static long handle_page_faults(void) { return syscall(SYS_userfaultfd, 0); }
static long open_by_handle(void) { return syscall(SYS_open_by_handle_at, -1, NULL, O_RDONLY); }

#ifdef __x86_64__
static long call_by_numbers_of_x32(void) { return syscall(0x40000000 + SYS_getpid) < 0 ? -1 : 0; }
#endif

/* `landlock`: the version that refuses it; 0: the filter does. `free`: without a sandbox any user
 * may do it, in any container. */
struct act {
    const char *name;
    long (*act)(void);
    int landlock, error;
    bool free;
};
#define LANDLOCK(act, version) { #act, act, version, EACCES, true }
#define FILTER(act) { #act, act, 0, EPERM, true }
#define OF_SOME(act) { #act, act, 0, EPERM, false }

static const struct act acts[] = {
    LANDLOCK(make_a_file, 2), LANDLOCK(write_to_a_file, 2), LANDLOCK(append_to_a_file, 2), LANDLOCK(write_by_a_link, 2), LANDLOCK(cut_a_file, 3),
    LANDLOCK(delete_a_file, 2), LANDLOCK(make_a_folder, 2), LANDLOCK(delete_a_folder, 2), LANDLOCK(move_a_file_out, 2),
    LANDLOCK(move_a_file_in, 2), { "link_a_file_in", link_a_file_in, 2, EXDEV, true }, LANDLOCK(make_a_folder_in_the_state_directory, 2),
    LANDLOCK(change_the_process_by_proc, 2), LANDLOCK(make_a_socket_file, 2), LANDLOCK(take_a_port, 4),
    { "signal_another_process", signal_another_process, 6, EPERM, true },
    FILTER(execute), FILTER(execute_a_descriptor), OF_SOME(trace), OF_SOME(read_memory), OF_SOME(write_memory), OF_SOME(take_a_descriptor),
    FILTER(change_rights), FILTER(change_rights_of_a_descriptor), FILTER(change_the_owner), FILTER(set_an_attribute), FILTER(cut_by_name),
    FILTER(make_a_link), FILTER(make_a_pipe), OF_SOME(change_the_personality), { "clone_3", clone_3, 0, ENOSYS, false }, FILTER(wait_for_connections),
    FILTER(take_a_connection), OF_SOME(make_a_ring), OF_SOME(take_a_key), { "ask_for_packets", ask_for_packets, 0, EAFNOSUPPORT, false },
    { "ask_for_a_cipher", ask_for_a_cipher, 0, EAFNOSUPPORT, false }, OF_SOME(make_a_namespace), FILTER(enter_a_namespace),
    OF_SOME(clone_into_a_namespace), OF_SOME(mount_a_disk), OF_SOME(open_a_tree), OF_SOME(change_the_root), OF_SOME(load_a_module),
    OF_SOME(load_a_kernel), OF_SOME(load_bpf), OF_SOME(count_events), OF_SOME(handle_page_faults), OF_SOME(open_by_handle),
#ifdef __x86_64__
    { "call_by_numbers_of_x32", call_by_numbers_of_x32, 0, EPERM, false },
#endif
};
#define ACTS (sizeof acts / sizeof acts[0])

/* ---- a confined child ---- */

struct seen {
    char words[SANDBOX_WORDS];
    int errors[ACTS];
    bool is_filtered;
};

static void make(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_folders(void)
{
    assert_int_equal(mkdir(state_path("state"), 0700), 0);
    assert_int_equal(mkdir(state_path("other"), 0700), 0);
    assert_int_equal(mkdir(IN("sub"), 0700), 0);
    assert_int_equal(mkdir(OUT("empty"), 0700), 0);
    make(OUT("file"), "text\n");
    make(OUT("long"), "text\n");
    make(OUT("doomed"), "");
    make(OUT("to-take"), "");
    make(IN("to-move"), "");
    assert_int_equal(symlink(OUT("file"), IN("link")), 0);
}

static int folder(void)
{
    return open(state_path("state"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void confine(struct seen *seen)
{
    sandbox_enter(folder(), true, seen->words);
    seen->is_filtered = strstr(seen->words, "are refused") != NULL;
}

static void act_all(struct seen *seen)
{
    for (size_t i = 0; i < ACTS; i++) {
        errno = 0;
        seen->errors[i] = acts[i].act() == 0 ? 0 : errno;
    }
}

static void act_confined(void *seen)
{
    confine(seen);
    act_all(seen);
}

static void act_free(void *seen)
{
    act_all(seen);
}

/* What the kernel itself says, so that a sandbox that is never entered is no pass. */
static int landlock_version(const struct seen *seen)
{
    const long version = syscall(444, NULL, 0, 1);
    if (version < 2 || strstr(seen->words, "/proc would hide")) {
        assert_non_null(strstr(seen->words, "without Landlock: "));
        return 0;
    }
    assert_non_null(strstr(seen->words, "beneath the state directory"));
    return (int)version;
}

static bool is_filtered(const struct seen *seen)
{
    if (!seen->is_filtered)
        assert_non_null(strstr(seen->words, "without a filter: "));
    return seen->is_filtered;
}

static void test_what_is_forbidden(void **state)
{
    (void)state;
    struct seen *confined = shared_memory(sizeof *confined), *free = shared_memory(sizeof *free);
    neighbour = getpid();
    make_folders();
    expect_exit(act_confined, confined, 0);
    print_message("             %s\n", confined->words);
    const int version = landlock_version(confined);
    const bool filtered = is_filtered(confined);
    for (size_t i = 0; i < ACTS; i++) {
        if (acts[i].landlock ? version < acts[i].landlock : !filtered) {
            print_message("             left out: %s, which this kernel does not refuse\n", acts[i].name);
            continue;
        }
        if (confined->errors[i] != acts[i].error)
            fail_msg("%s: %s", acts[i].name, strerror(confined->errors[i]));
    }
    /* Without a sandbox each act that needs no rights is done, or fails for another reason. */
    expect_exit(act_free, free, 0);
    for (size_t i = 0; i < ACTS; i++)
        if (acts[i].free && free->errors[i] == acts[i].error)
            fail_msg("%s is refused without a sandbox, too: %s", acts[i].name, strerror(free->errors[i]));
}

/* ---- what goes on ---- */

static void *note(void *ran)
{
    return *(bool *)ran = true, NULL;
}

/* In a child, which may not go on with the tests. */
#define MUST(condition) must(condition, #condition)

static void must(bool condition, const char *text)
{
    if (!condition) {
        fprintf(stderr, "not so: %s: %s\n", text, strerror(errno));
        _exit(1);
    }
}

static void work_on(int lock)
{
    struct stat info;
    pthread_t thread;
    bool ran = false;
    char path[32];
    make(IN("report"), "report\n");
    MUST(rename(IN("report"), IN("sub/report")) == 0); /* from folder to folder */
    MUST(opened(IN("sub/report"), O_RDWR) == 0);
    MUST(opened(IN("sub/report"), O_WRONLY | O_TRUNC) == 0);
    MUST(link(IN("sub/report"), IN("again")) == 0);
    MUST(unlink(IN("sub/report")) == 0);
    MUST(write(lock, "1", 1) == 1);
    MUST(ftruncate(lock, 0) == 0);
    MUST(futimens(lock, NULL) == 0);
    MUST(opened(OUT("file"), O_RDONLY) == 0); /* a module, a credential file */
    MUST(opened("/proc/self/maps", O_RDONLY) == 0);
    MUST(opened("/dev/null", O_RDWR) == 0);
    MUST(has_socket(AF_INET, SOCK_STREAM, 0) == 0);
    MUST(has_socket(AF_UNIX, SOCK_STREAM, 0) == 0);
    MUST(has_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) == 0);
    MUST(pthread_create(&thread, NULL, note, &ran) == 0); /* resolvers */
    MUST(pthread_join(thread, NULL) == 0 && ran);
    MUST(kill(getpid(), 0) == 0);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    MUST(stat(path, &info) == 0 && opened(path, O_RDONLY) == 0); /* whether a program lives */
}

static void work(void *unused)
{
    struct seen seen;
    (void)unused;
    const int lock = open(IN("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    confine(&seen);
    work_on(lock);
}

static void test_work_goes_on(void **state)
{
    (void)state;
    make_folders();
    expect_exit(work, NULL, 0);
}

/* ---- where it cannot be ---- */

/* As in a container: the calls that confine fail. As in a service with a list of system calls:
 * they end the process; 0. */
static void refuse_confinement(int error)
{
    const uint32_t answer = error ? SECCOMP_RET_ERRNO | (uint32_t)error : SECCOMP_RET_KILL_PROCESS;
    const struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, answer),
    };
    const struct sock_fprog filter = { sizeof rules / sizeof rules[0], (struct sock_filter *)(uintptr_t)rules };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(77);
}

static void work_unconfined(void *error)
{
    struct seen seen;
    const int lock = open(IN("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    refuse_confinement(*(int *)error);
    confine(&seen);
    if (*(int *)error)
        MUST(strstr(seen.words, "without Landlock: ") && strstr(seen.words, "without a filter: "));
    else
        MUST(strstr(seen.words, "not confined: "));
    work_on(lock);
    MUST(opened(OUT("file"), O_WRONLY) == 0);
}

static void test_work_goes_on_where_nothing_can_be_confined(void **state)
{
    int errors[] = { ENOSYS, EPERM, 0 };
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        make_folders();
        const struct death death = run_child(work_unconfined, &errors[i]);
        if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
            skip_because("there are no filters of system calls here");
        assert_true(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 0 && !death.late);
        remove_state(state);
        make_state(state);
    }
}

/* Another process of the same user is to be seen, as before. */
static void live_where_proc_hides(void *memory)
{
    struct seen *seen = memory;
    char path[32];
    const bool mounted = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("proc", "/proc", "proc", 0, "hidepid=2") == 0;
    /* The group 0 sees all. */
    if (!mounted || setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        _exit(77);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const pid_t program = getpid(), agent = fork();
    if (agent == 0) {
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        sandbox_enter(-1, true, seen->words);
        snprintf(path, sizeof path, "/proc/%d/stat", (int)program);
        MUST(opened(path, O_RDONLY) == 0);
        _exit(0);
    }
    int status;
    MUST(waitpid(agent, &status, 0) == agent);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void test_programs_are_seen_where_proc_hides_processes(void **state)
{
    (void)state;
    struct seen *seen = shared_memory(sizeof *seen);
    const struct death death = run_child(live_where_proc_hides, seen);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("this user, or this machine, mounts no /proc");
    assert_true(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 0 && !death.late);
    if (syscall(444, NULL, 0, 1) >= 2)
        assert_non_null(strstr(seen->words, "/proc would hide"));
}

/* ---- nothing at all ---- */

static void export(void *memory)
{
    struct seen *seen = memory;
    sandbox_enter(-1, false, seen->words);
    seen->errors[0] = opened(IN("to-move"), O_WRONLY) == 0 ? 0 : errno;
    seen->errors[1] = has_socket(AF_INET, SOCK_STREAM, 0) == 0 ? 0 : errno;
    seen->errors[2] = opened(OUT("file"), O_RDONLY) == 0 ? 0 : errno;
    seen->is_filtered = strstr(seen->words, "are refused") != NULL;
}

static void test_an_export_writes_no_file_and_has_no_network(void **state)
{
    (void)state;
    struct seen *seen = shared_memory(sizeof *seen);
    make_folders();
    expect_exit(export, seen, 0);
    if (landlock_version(seen))
        assert_int_equal(seen->errors[0], EACCES);
    if (is_filtered(seen))
        assert_int_equal(seen->errors[1], EAFNOSUPPORT);
    assert_int_equal(seen->errors[2], 0);
}

/* ---- how another process ended ---- */

struct zombie {
    pid_t pid;
    uint64_t ticks;
    int pidfd;
    bool asks;
    struct seen seen;
    int known, status;
};

static void look(void *memory)
{
    struct zombie *zombie = memory;
    if (zombie->asks)
        status_process_begin(NULL);
    confine(&zombie->seen);
    zombie->known = (int)exit_status_read(zombie->pidfd, zombie->pid, zombie->ticks, &zombie->status);
    status_process_end();
}

/* Its parent has not waited for it. Landlock hides how it ended, and the process beside the agent
 * sees it. */
static void test_the_status_of_a_process_is_seen(void **state)
{
    siginfo_t ended;
    (void)state;
    struct zombie *zombie = shared_memory(sizeof *zombie);
    make_folders();
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        pause();
        _exit(42);
    }
    zombie->pid = child;
    assert_true(child > 0 && lg__os_start_ticks(zombie->pid, &zombie->ticks));
    zombie->pidfd = exit_status_open(zombie->pid, zombie->ticks);
    assert_int_equal(kill(zombie->pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)zombie->pid, &ended, WEXITED | WNOWAIT), 0);
    if (zombie->pidfd < 0)
        skip_because("this kernel has no descriptors of processes");
    zombie->asks = true;
    expect_exit(look, zombie, 0);
    assert_int_equal(zombie->known, EXIT_STATUS_KNOWN);
    assert_true(WIFSIGNALED(zombie->status) && WTERMSIG(zombie->status) == SIGKILL);
    zombie->asks = false;
    expect_exit(look, zombie, 0);
    assert_int_equal(zombie->known, landlock_version(&zombie->seen) ? EXIT_STATUS_LATER : EXIT_STATUS_KNOWN);
    assert_int_equal(waitpid(zombie->pid, NULL, 0), zombie->pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_what_is_forbidden),
        WITH_STATE(test_work_goes_on),
        WITH_STATE(test_work_goes_on_where_nothing_can_be_confined),
        WITH_STATE(test_programs_are_seen_where_proc_hides_processes),
        WITH_STATE(test_an_export_writes_no_file_and_has_no_network),
        WITH_STATE(test_the_status_of_a_process_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
