#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that dies on purpose leaves no core. */
__attribute__((constructor)) static void leave_no_core(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
}

static char directory[512];
static pid_t owner; /* the owner of the directory: a child's exit() does not remove it */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void state_remove(void)
{
    if (directory[0] && owner == getpid())
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    directory[0] = 0;
}

const char *state_make(void)
{
    static bool registered;
    state_remove();
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/launchguard-test-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(directory));
    owner = getpid();
    if (!registered)
        atexit(state_remove);
    registered = true;
    return directory;
}

const char *state_path(const char *name)
{
    static char paths[10][1024];
    static unsigned next;
    char *path = paths[next++ % 10];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

int make_state(void **state)
{
    (void)state;
    state_make();
    return 0;
}

int remove_state(void **state)
{
    (void)state;
    state_remove();
    return 0;
}

pid_t any_child(pid_t parent)
{
    DIR *proc = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; !found && proc && (entry = readdir(proc));) {
        char path[300], text[512] = "";
        snprintf(path, sizeof path, "/proc/%.200s/stat", entry->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC), of = 0;
        ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
        if (file >= 0)
            close(file);
        char *name_end = size > 0 ? strrchr(text, ')') : NULL;
        if (name_end && sscanf(name_end + 1, " %*c %d", &of) == 1 && of == parent)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(proc);
    return found;
}

void end_children(void)
{
    for (pid_t child; (child = any_child(getpid())) > 0;) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

void plain_signals(void)
{
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
}

struct death run_child(void (*body)(void *), void *argument)
{
    struct death death = { 0, 0, false };
    fflush(NULL);
    uint64_t begin = now_ns();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* no child is left when the test itself is killed */
        plain_signals();
        body(argument);
        exit(0);
    }
    int file = (int)syscall(SYS_pidfd_open, child, 0);
    assert_true(file >= 0);
    struct pollfd wait = { .fd = file, .events = POLLIN };
    int ready;
    do
        ready = poll(&wait, 1, LIMIT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        death.late = true;
        kill(child, SIGKILL);
    }
    close(file);
    assert_int_equal(waitpid(child, &death.status, 0), child);
    death.ms = (double)(now_ns() - begin) / 1e6;
    return death;
}

void expect_death(struct death death, int signal)
{
    assert_false(death.late);
    if (!WIFSIGNALED(death.status))
        fail_msg("the child was to die of signal %d, but exited with %d", signal, WEXITSTATUS(death.status));
    assert_int_equal(WTERMSIG(death.status), signal);
}

void expect_signal(void (*body)(void *), void *argument, int signal)
{
    expect_death(run_child(body, argument), signal);
}

void expect_exit(void (*body)(void *), void *argument, int code)
{
    struct death death = run_child(body, argument);
    assert_false(death.late);
    if (!WIFEXITED(death.status))
        fail_msg("the child was to exit with %d, but died of signal %d", code, WTERMSIG(death.status));
    assert_int_equal(WEXITSTATUS(death.status), code);
}

lg_session *start_with(lg_options options)
{
    lg_session *session;
    options.app_id = options.app_id ? options.app_id : "org.example.test";
    options.state_directory = options.state_directory ? options.state_directory : directory;
    /* a thread has a tenth of it for an answer */
    options.deadline_ms = options.deadline_ms ? options.deadline_ms : 60000;
#ifdef EMULATED
    /* the emulator translates the handler first */
    options.deadline_ms = options.deadline_ms < 6000 ? 10 * options.deadline_ms : 60000;
#endif
    lg_status status = lg_start(&options, &session);
    if (status != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL) {
        fprintf(stderr, "lg_start: %s: %s\n", lg_status_name(status), lg_session_message(session));
        _exit(99);
    }
    return session;
}

lg_session *start_version(const char *version)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_version = version;
    return start_with(options);
}

lg_session *start_session(void)
{
    return start_version("1.0");
}

lg_session *start_keeping_stderr(void)
{
    lg_options options = LG_OPTIONS_INIT;
    int file = open(state_path("stderr"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
    options.keep_stderr = 1;
    return start_with(options);
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

void skip_because(const char *reason)
{
    print_message("[  REASON  ] skipped: %s\n", reason);
    skip();
}

static void body_looks_as_nobody(void *argument)
{
    struct stat info;
    _exit(setgid(65534) == 0 && setuid(65534) == 0 && stat(argument, &info) == 0 ? 0 : 1);
}

void skip_without_two_users(void)
{
    if (geteuid() != 0)
        skip_because("only root can be two users");
    if (run_child(body_looks_as_nobody, directory).status != 0)
        skip_because("another user may not enter TMPDIR");
}
