/* Processes and signals for Swift on Linux: code that needs fork(), and types that Swift cannot
 * use.
 *
 * The caller has one thread. All signals are blocked there from lg_shim_take_signals() on. */
#ifndef LAUNCHGUARD_CPROCESS_SHIM_H
#define LAUNCHGUARD_CPROCESS_SHIM_H

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

extern char *program_invocation_name; /* of glibc and musl; a macro hides it */

/* The signals as the process was given them. */
typedef struct lg_shim_signals {
    sigset_t mask;
    int ignores_children; /* SIGCHLD was ignored: the kernel would keep no wait status */
} lg_shim_signals;

static inline void lg_shim_take_signals(lg_shim_signals *ret_given)
{
    sigset_t all;
    struct sigaction given;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &ret_given->mask);
    ret_given->ignores_children = sigaction(SIGCHLD, NULL, &given) == 0 && given.sa_handler == SIG_IGN;
    signal(SIGCHLD, SIG_DFL);
}

/* Put the process's number into "NAME=…", which has room for it. */
static inline void lg_shim_put_number(char *variable, pid_t number)
{
    char digits[12];
    int count = 0;
    char *at = strchr(variable, '=') + 1;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *at++ = digits[--count];
    *at = 0;
}

typedef struct lg_shim_program {
    const char *path;
    char **arguments;   /* argv[0] first, NULL at the end, and room for one more in front */
    char **environment;
    char **own_numbers; /* variables of the environment that hold the process's number; NULL ends */
    int leads;          /* the program gets a process group of its own: lg_shim_leads() */
} lg_shim_program;

/* End with the parent, as a program ends by the SIGKILL that its number gets. false: the parent has
 * ended already. A parent in another pid namespace has the number 0. */
static inline int lg_shim_end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const pid_t now = getppid();
    return now == parent || now == 0;
}

/* Whether the program is to lead a process group, as this process does: programs such as timeout
 * and setsid do something else in the group of another one. Where a stream leads to another program
 * and there is a terminal, that program may be in the group of this process, and needs the terminal
 * with it: `launchguard run A | less`. */
static inline int lg_shim_leads(void)
{
    struct stat stream;
    if (getpgrp() != getpid())
        return 0;
    const int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return 1;
    close(terminal);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fstat(file, &stream) == 0 && (S_ISFIFO(stream.st_mode) || S_ISSOCK(stream.st_mode)))
            return 0;
    return 1;
}

/* Give the terminal to a process group if another one has it. SIGTTOU is blocked. Returns whether
 * the terminal was there to give. */
static inline int lg_shim_move_terminal(pid_t from, pid_t to)
{
    const int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return 0;
    const int moved = tcgetpgrp(terminal) == from && tcsetpgrp(terminal, to) == 0;
    close(terminal);
    return moved;
}

/* The work of the new process until it executes the program. */
static inline void lg_shim_become(const lg_shim_program *program, const lg_shim_signals *given, pid_t parent)
{
    if (!lg_shim_end_with(parent))
        _exit(127);
    if (program->leads && setpgid(0, 0) == 0)
        lg_shim_move_terminal(getpgid(parent), getpid());
    for (char **variable = program->own_numbers; *variable; variable++)
        lg_shim_put_number(*variable, getpid());
    if (given->ignores_children)
        signal(SIGCHLD, SIG_IGN);
    sigprocmask(SIG_SETMASK, &given->mask, NULL);
    execve(program->path, program->arguments, program->environment);
    if (errno != ENOEXEC)
        return;
    /* A script without a first line that names an interpreter: as execvp() does. */
    char **shell = program->arguments - 1;
    shell[0] = (char *)"/bin/sh";
    shell[1] = (char *)program->path;
    execve(shell[0], shell, program->environment);
}

/* Start a program. Returns 0, or the system's error number of its exec. Not by posix_spawn(), which
 * can neither let a signal be ignored again nor end the program with its parent. */
static inline int lg_shim_start_program(const lg_shim_program *program, const lg_shim_signals *given, pid_t *ret_process)
{
    volatile int error = 0;
    const pid_t parent = getpid();
    /* Orphans among its descendants become children of this process, also those of its first
     * moment. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t process = vfork();
    if (process == 0) {
        lg_shim_become(program, given, parent);
        error = errno;
        _exit(127);
    }
    if (process < 0)
        return errno;
    if (error)
        waitpid(process, NULL, 0);
    *ret_process = process;
    return error;
}

#ifndef O_TMPFILE /* which not every importer of this header asks for */
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

/* Whether files of a folder can be mapped so that programs share them: 0 or the system's error
 * number; −1: no file can be made there. Leaves nothing. */
static inline int lg_shim_shares_files(const char *folder)
{
    char path[4096];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), error = 0;
    if (file < 0) { /* not every file system has files without a name */
        snprintf(path, sizeof path, "%s/.launchguard-XXXXXX", folder);
        file = mkostemp(path, O_CLOEXEC);
        if (file < 0)
            return -1;
        unlink(path);
    }
    void *memory = ftruncate(file, 4096) == 0 ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : NULL;
    if (memory == MAP_FAILED)
        error = errno;
    else if (memory)
        munmap(memory, 4096);
    close(file);
    return error;
}

/* Whether a program's file has capabilities. */
static inline int lg_shim_has_capabilities(const char *path)
{
    return getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Wait for the next signal. */
static inline siginfo_t lg_shim_next_signal(void)
{
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    while (sigwaitinfo(&all, &info) < 0)
        ;
    return info;
}

/* The same for a time at most. 0: none came. */
static inline int lg_shim_next_signal_within(long milliseconds, siginfo_t *ret_info)
{
    const struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    sigset_t all;
    sigfillset(&all);
    return sigtimedwait(&all, ret_info, &time) > 0;
}

/* Whether something accepts connections within a second, at a numeric address or "localhost". */
static inline int lg_shim_accepts(const char *host, unsigned port)
{
    const struct addrinfo numeric = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
    char service[8];
    struct addrinfo *found = NULL;
    int accepts = 0;
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, service, &numeric, &found) != 0)
        return 0;
    const int file = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file >= 0) {
        struct pollfd answer = { file, POLLOUT, 0 };
        int error = connect(file, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
        socklen_t size = sizeof error;
        if (error == EINPROGRESS && poll(&answer, 1, 1000) == 1)
            getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size);
        accepts = error == 0;
        close(file);
    }
    freeaddrinfo(found);
    return accepts;
}

/* Whether a signal waits to be taken. */
static inline int lg_shim_waits(int number)
{
    sigset_t waiting;
    return sigpending(&waiting) == 0 && sigismember(&waiting, number) == 1;
}

/* Whether no shell would make this process go on: its parent is not of its session. */
static inline int lg_shim_is_orphaned(void)
{
    const pid_t parent = getppid(); /* 0: in another pid namespace */
    return parent == 0 || getsid(parent) != getsid(0);
}

/* Send a signal on, with its value where it has one. */
static inline void lg_shim_pass_on(pid_t process, siginfo_t *info)
{
    if (info->si_code != SI_QUEUE || syscall(SYS_rt_sigqueueinfo, process, info->si_signo, info) != 0)
        kill(process, info->si_signo);
}

/* Run the default action of a signal on this process now, without libc's wrapper, which another
 * library may have replaced. Returns where that action does not end the process: after a stop. */
static inline void lg_shim_take_default(int number)
{
    const unsigned long action[8] = { 0 };
    sigset_t one, before;
    syscall(SYS_rt_sigaction, number, action, NULL, (size_t)8);
    sigemptyset(&one);
    sigaddset(&one, number);
    /* Send the signal while it is blocked: it merges with one that waits already. */
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* End by a signal, without a core file: that is the program's. Returns in process 1 of a namespace,
 * which the kernel protects. */
static inline void lg_shim_die(int number)
{
    const struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    lg_shim_take_default(number);
}

/* The signal that a child was stopped by since the last question; 0: it was not. */
static inline int lg_shim_stop_signal(pid_t process)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)process, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid ? info.si_status : 0;
}

/* A child that has ended and was not waited for yet, which stays so; 0: there is none. Each stop of
 * a child that asked to be traced is reported here too: it is taken, and kept in `ret_stop` where
 * the child is the program. */
static inline pid_t lg_shim_ended_child(pid_t program, int *ret_stop)
{
    siginfo_t info;
    for (;;) {
        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
            return 0;
        if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
            return info.si_pid;
        const int stop = lg_shim_stop_signal(info.si_pid);
        if (info.si_pid == program && stop)
            *ret_stop = stop;
    }
}

/* A traced child stops by any signal, this process by these alone. */
static inline int lg_shim_as_stop(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU ? number : SIGSTOP;
}

/* Whether so many bytes more fit into a file. A write beyond the limit on the size of files is a
 * signal to the process. */
static inline int lg_shim_has_room(int file, size_t size)
{
    struct rlimit limit;
    struct stat info;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return 1;
    return (uint64_t)info.st_size + size <= limit.rlim_cur;
}

#define LG_SHIM_KEPT_FILE 3

/* Close all files but two (-1: none), which are LG_SHIM_KEPT_FILE and the next one then. The
 * standard streams lead to /dev/null. */
static inline void lg_shim_release_files(int kept, int also)
{
    int files[] = { kept, also };
    const int last = LG_SHIM_KEPT_FILE + 2;
    for (int i = 0; i < 2; i++)
        files[i] = files[i] < 0 ? -1 : fcntl(files[i], F_DUPFD_CLOEXEC, last);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = 0; stream < LG_SHIM_KEPT_FILE && null >= 0; stream++)
        if (stream != null)
            dup2(null, stream);
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            syscall(SYS_dup3, files[i], LG_SHIM_KEPT_FILE + i, O_CLOEXEC);
        else
            close(LG_SHIM_KEPT_FILE + i);
    if (syscall(SYS_close_range, last, ~0u, 0u) == 0)
        return;
    for (long file = sysconf(_SC_OPEN_MAX); file-- > last;) /* a kernel before 5.9 */
        close((int)file);
}

/* A set of signals that came. The bits of SIGKILL and SIGSTOP, which no process hears, record
 * whether SIGCONT or a stop came last: each of the two kinds drops waiting signals of the other. */
#define LG_SHIM_BIT(number) (UINT64_C(1) << ((number) - 1))
#define LG_SHIM_CONTINUED_LAST LG_SHIM_BIT(SIGKILL)
#define LG_SHIM_STOPPED_LAST LG_SHIM_BIT(SIGSTOP)
#define LG_SHIM_LAST (LG_SHIM_CONTINUED_LAST | LG_SHIM_STOPPED_LAST)

static inline uint64_t lg_shim_hear(uint64_t seen, int number)
{
    if (number == SIGCONT)
        seen = (seen & ~LG_SHIM_LAST) | LG_SHIM_CONTINUED_LAST;
    else if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        seen = (seen & ~LG_SHIM_LAST) | LG_SHIM_STOPPED_LAST;
    return seen | LG_SHIM_BIT(number);
}

/* Add signals that came after `heard`. */
static inline uint64_t lg_shim_join(uint64_t heard, uint64_t later)
{
    return (later & LG_SHIM_LAST ? heard & ~LG_SHIM_LAST : heard) | later;
}

#define LG_SHIM_STOPS (LG_SHIM_BIT(SIGTSTP) | LG_SHIM_BIT(SIGTTIN) | LG_SHIM_BIT(SIGTTOU))

/* Whether the group got a signal that is taken now. If the group got a signal of the opposite kind
 * since, that signal dropped the listener's report, and the signal that it undoes need not be
 * passed on. */
static inline int lg_shim_was_for_group(uint64_t heard, int number)
{
    const uint64_t other = number == SIGCONT ? LG_SHIM_STOPS : LG_SHIM_BIT(number) & LG_SHIM_STOPS ? LG_SHIM_BIT(SIGCONT) : 0;
    return (heard & (LG_SHIM_BIT(number) | other)) != 0;
}

/* Take a signal out, and with it the earlier signals of the opposite kind, which never come
 * here. */
static inline uint64_t lg_shim_taken(uint64_t heard, int number)
{
    if (number == SIGCONT && !(heard & LG_SHIM_STOPPED_LAST))
        heard &= ~LG_SHIM_STOPS;
    if (LG_SHIM_BIT(number) & LG_SHIM_STOPS && !(heard & LG_SHIM_CONTINUED_LAST))
        heard &= ~LG_SHIM_BIT(SIGCONT);
    return heard & ~LG_SHIM_BIT(number);
}

/* Show a process of the tool by its name: `pkill -f "launchguard run"` means the parent alone. */
static inline void lg_shim_as_own(const char *name)
{
    prctl(PR_SET_NAME, name, 0, 0, 0);
    memset(program_invocation_name, '-', strlen(program_invocation_name));
}

/* The listener: a process of the same group that reports signals to the whole group.
 *
 * The kernel goes through a group from its newest member to its oldest. So a signal that was sent
 * to the group waits in the listener before this process sees its own, and the program, which is
 * older than the listener, has it too. */
static inline void lg_shim_listen(int given_channel, int notices, pid_t parent)
{
    const int channel = LG_SHIM_KEPT_FILE;
    const struct timespec now = { 0, 0 };
    sigset_t all;
    char question;
    lg_shim_as_own("lg-listener");
    lg_shim_release_files(given_channel, notices);
    if (!lg_shim_end_with(parent))
        _exit(0);
    sigfillset(&all);
    while (read(channel, &question, 1) == 1) {
        uint64_t seen = 0;
        for (int number; (number = sigtimedwait(&all, NULL, &now)) > 0;)
            seen = lg_shim_hear(seen, number);
        if (write(channel, &seen, sizeof seen) != sizeof seen)
            break;
    }
    _exit(0);
}

/* The guard of a program that leads a group of its own: a SIGSTOP or SIGKILL to the group of the
 * tool, which the tool cannot see, is seen in its listener by the guard, the listener's parent, and
 * is done to the group of the program. The guard is in neither group. */
static inline void lg_shim_guard(int channel, int notices, pid_t parent, pid_t group)
{
    const struct timespec most = { 1, 0 };
    sigset_t end;
    siginfo_t seen;
    setpgid(0, 0);
    const pid_t guard = getpid(), listener = fork();
    if (listener == 0) {
        setpgid(0, parent);
        lg_shim_listen(channel, notices, guard);
    }
    lg_shim_as_own("lg-guard");
    lg_shim_release_files(-1, -1);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    while (listener > 0 && waitid(P_PID, (id_t)listener, &seen, WEXITED | WSTOPPED) == 0) {
        if (seen.si_code == CLD_STOPPED)
            kill(-group, SIGSTOP);
        /* Somebody may have ended the listener alone. */
        if (seen.si_code == CLD_KILLED && getppid() == parent)
            sigtimedwait(&end, NULL, &most);
        if (seen.si_code == CLD_KILLED && getppid() != parent)
            kill(-group, SIGKILL);
    }
    _exit(0);
}

/* Start the listener; under a guard where the program leads a group: its number, else 0. Returns
 * the channel to the listener, or -1. The listener keeps `notices` open (-1: there are none): the
 * last close of an inotify waits some milliseconds for the kernel, which this process does not. */
static inline int lg_shim_start_listener(pid_t group, int notices)
{
    int ends[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    const pid_t process = fork();
    if (process == 0 && group) {
        close(ends[0]);
        lg_shim_guard(ends[1], notices, parent, group);
    }
    if (process == 0)
        lg_shim_listen(ends[1], notices, parent);
    close(ends[1]);
    if (process > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* The signals that were sent to the whole group since the last question, signal 1 in bit 0. A
 * listener that is stopped or gone knows of none. */
static inline uint64_t lg_shim_heard_by_listener(int channel)
{
    struct pollfd answer = { channel, POLLIN, 0 };
    uint64_t heard, late = 0;
    /* Answers that came too late for their question. */
    while (recv(channel, &heard, sizeof heard, MSG_DONTWAIT) == sizeof heard)
        late = lg_shim_join(late, heard);
    if (send(channel, "?", 1, MSG_DONTWAIT) != 1 || poll(&answer, 1, 1000) != 1 || recv(channel, &heard, sizeof heard, MSG_DONTWAIT) != sizeof heard)
        return late;
    return lg_shim_join(late, heard);
}
#endif

#endif
