/* Ways to end and to live on, of a program that knows nothing of LaunchGuard. Its output
 * and its end must be the same with the library preloaded. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiting.h"

extern char **environ;
static const char *self;

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(99);
}

static void *volatile nowhere = (void *)0x10;

static void fault(void)
{
    *(volatile int *)nowhere = 1;
}

static void take(int signal, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, NULL);
}

/* ---- handlers of a fault ---- */

static void print_and_raise(int number)
{
    say("handler\n");
    signal(number, SIG_DFL);
    raise(number);
}

static void print_and_abort(int number)
{
    (void)number;
    say("handler\n");
    abort();
}

static void print_and_leave(int number)
{
    (void)number;
    say("handler\n");
    _exit(7);
}

static void print_and_exit(int number)
{
    (void)number;
    say("handler\n");
    exit(8);
}

/* As deep as the program's own stack allows, and not more. */
static void need_much(int number)
{
    volatile char much[6 << 20];
    for (size_t i = 0; i < sizeof much; i += 4096)
        much[sizeof much - 1 - i] = (char)number;
    print_and_abort(much[0] == number ? number : 0);
}

static void reset_and_return(int number)
{
    say("handler\n");
    signal(number, SIG_DFL);
}

static void print_and_execute(int number)
{
    (void)number;
    say("handler\n");
    execl(self, self, "nothing", NULL);
}

static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void *fault_here(void *argument)
{
    fault();
    return argument;
}

static void *late(void *argument)
{
    (void)argument;
    take(SIGSEGV, print_and_raise, 0);
    fault();
    return NULL;
}

static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void own_stack(void)
{
    static char memory[65536];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };
    stack_t now;
    sigaltstack(&stack, NULL);
    sigaltstack(NULL, &now);
    say(now.ss_sp == memory ? "own stack\n" : "another stack\n");
    take(SIGSEGV, print_and_raise, SA_ONSTACK);
    overflow(0);
}

/* As a virtual machine does for each null that it meets. */
static void recover(long times)
{
    take(SIGSEGV, jump, SA_NODEFER);
    for (volatile long i = 0; i < times; i++)
        if (sigsetjmp(back, 1) == 0)
            fault();
    say("recovered\n");
}

/* A handler that has recovered from a thousand faults, and then does something else. */
static void *page;
static long recoveries;
static void (*then)(int);

static void return_or(int number)
{
    if (recoveries++ < 1000)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    else
        then(number);
}

static void often(void (*last)(int), int flags)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    then = last;
    take(SIGSEGV, return_or, flags);
    for (long i = 0; i < 1000; i++) {
        mprotect(page, 4096, PROT_NONE);
        *(volatile int *)page = 1;
    }
    fault();
}

/* Blocked as a rule, so that it comes when the handler returns. */
static void raise_and_go_on(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    say("goes on\n");
}

static void raise_and_leave(int number)
{
    raise_and_go_on(number);
    _exit(9);
}

static void fault_within(int number)
{
    (void)number;
    say("handler\n");
    *(volatile int *)((char *)nowhere + 16) = 1;
}

static void kill_and_return(int number)
{
    signal(number, SIG_DFL);
    kill(getpid(), number);
}

/* Threads that recover over and over, while the first one has a fault from which it does not. */
#define HEALERS 4
static char *pages;
static atomic_long healed[HEALERS];

static void return_or_abort(int number, siginfo_t *info, void *context)
{
    (void)context;
    const size_t at = (size_t)((char *)info->si_addr - pages);
    if (at < HEALERS * 4096)
        mprotect(pages + at / 4096 * 4096, 4096, PROT_READ | PROT_WRITE);
    else
        print_and_abort(number);
}

static void *heal(void *argument)
{
    while (mprotect(argument, 4096, PROT_NONE) == 0)
        *(volatile int *)argument = 1, atomic_fetch_add(&healed[((char *)argument - pages) / 4096], 1);
    return NULL;
}

static void healers(unsigned milliseconds)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = return_or_abort;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    pages = mmap(NULL, HEALERS * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < HEALERS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, heal, pages + i * 4096);
    }
    /* All of them have left the handler of their first fault, which has the whole record. */
    for (int i = 0; i < HEALERS; i++)
        wait_until(atomic_load(&healed[i]) >= 250);
    pass_time(milliseconds, "the crash comes at any moment of what the others do");
    fault();
}

static const struct {
    const char *how;
    void (*last)(int);
    int flags;
} oftens[] = {
    { "often-raise", print_and_raise, 0 },         { "often-abort", print_and_abort, 0 },          { "often-leave", print_and_leave, 0 },
    { "often-exit", print_and_exit, 0 },           { "often-reset", reset_and_return, 0 },         { "often-execute", print_and_execute, 0 },
    { "often-raise-go-on", raise_and_go_on, 0 },   { "often-raise-leave", raise_and_leave, 0 },    { "often-fault", fault_within, 0 },
    { "often-kill", kill_and_return, 0 },          { "often-raise-open", raise_and_go_on, SA_NODEFER },
};

/* ---- what the program sees of itself ---- */

/* SIGSTKFLT, which nothing sends, stands for the faults in a mask (launchguard(7)). */
static void show_action(int number)
{
    char line[128];
    struct sigaction now;
    memset(&now, 0, sizeof now);
    sigaction(number, NULL, &now);
    snprintf(line, sizeof line, "%d: %d %d %x %d %d\n", number, now.sa_handler == SIG_DFL, now.sa_handler == print_and_leave, (unsigned)now.sa_flags,
             now.sa_restorer != NULL, number != SIGSTKFLT && sigismember(&now.sa_mask, number));
    say(line);
}

static void show_actions(void)
{
    for (int number = 1; number < SIGRTMIN; number++) {
        show_action(number);
        if (signal(number, SIG_IGN) == SIG_ERR)
            continue;
        signal(number, print_and_leave);
        show_action(number);
        take(number, print_and_leave, SA_RESTART);
        show_action(number);
        signal(number, SIG_DFL);
        show_action(number);
    }
}

static void show_surroundings(void)
{
    char line[64];
    int low = open("/dev/null", O_RDONLY), threads = 0;
    sigset_t blocked;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "Threads:", 8) == 0)
            threads = atoi(line + 8);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    snprintf(line, sizeof line, "%d %d %d %d\n", low, threads, sigismember(&blocked, SIGSEGV), errno);
    say(line);
    for (char **variable = environ; *variable; variable++)
        puts(*variable);
}

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define RULES(array) { sizeof array / sizeof array[0], array }

/* All but the calls that the program needs to end; all but some that LaunchGuard does not make,
 * also by their arguments; a call that it makes, by its arguments. */
static struct sock_filter strict[] = { LOAD(nr), IF(SYS_exit_group, 1, 0), KILL, ALLOW };
static struct sock_filter generous[] = {
    LOAD(arch), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xffff), IF(0, 9, 0), LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 7, 0), IF(SYS_ptrace, 6, 0), IF(SYS_personality, 0, 3),
    LOAD(args[0]), IF(0x0008, 3, 0), LOAD(nr), IF(SYS_openat, 0, 0), ALLOW, KILL,
};
static struct sock_filter by_argument[] = { LOAD(nr), IF(SYS_openat, 0, 2), LOAD(args[2]), IF(O_PATH, 1, 0), ALLOW, KILL };
static const struct {
    const char *name;
    struct sock_fprog filter;
} filters[] = { { "strict", RULES(strict) }, { "generous", RULES(generous) }, { "by-argument", RULES(by_argument) } };

static int set_filter(const char *how, const struct sock_fprog *filter)
{
    return strncmp(how, "prctl", 5) == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter)
                                         : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter);
}

/* `how`: the call, and the name of the filter. A question whether there are filters comes first. */
static void confine(const char *how)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || set_filter(how, NULL) == 0)
        _exit(99);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (strstr(how, filters[i].name) && set_filter(how, &filters[i].filter) != 0)
            _exit(99);
}

/* ---- children ---- */

static void await(pid_t pid)
{
    char line[64];
    int status = -1;
    waitpid(pid, &status, 0);
    snprintf(line, sizeof line, "child: %x\n", (unsigned)status);
    say(line);
}

static void forked(const char *how)
{
    const pid_t pid = fork();
    if (pid)
        return await(pid);
    if (strcmp(how, "crash") == 0)
        fault();
    if (strcmp(how, "grandchild") == 0)
        forked("crash");
    if (strcmp(how, "execute") == 0)
        execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
    if (strcmp(how, "missing") == 0) {
        execlp("no-such-program", "no-such-program", (char *)NULL);
        execl("/no/such/program", "program", (char *)NULL);
        execle("/etc", "etc", (char *)NULL, environ);
        say(strerror(errno));
        fault();
    }
    _exit(strcmp(how, "leave") == 0 ? 6 : 0);
}

static void vforked(const char *how)
{
    const pid_t pid = vfork();
    if (pid == 0) {
        if (strcmp(how, "execute") == 0)
            execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
        execl("/no/such/program", "program", (char *)NULL);
        _exit(6);
    }
    await(pid);
}

static void spawned(void)
{
    char *arguments[] = { (char *)"sh", (char *)"-c", (char *)"exit 5", NULL };
    pid_t pid = -1;
    posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ);
    await(pid);
}

static void *fork_there(void *argument)
{
    forked(argument);
    return NULL;
}

/* The thread that forked is the only one of the child, and has had a fault from which it
 * recovered. */
static void forked_on_a_thread(void)
{
    pthread_t thread;
    recover(3);
    signal(SIGSEGV, SIG_DFL);
    pthread_create(&thread, NULL, fork_there, (void *)"crash");
    pthread_join(thread, NULL);
}

/* The parent leaves inside of daemon(). */
static void become_daemon(void)
{
    say("daemon\n");
    if (daemon(1, 1) != 0)
        _exit(98);
    alarm(60);
    fault();
}

static void first_process(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        _exit(98);
    const pid_t pid = fork();
    if (pid == 0) {
        kill(getpid(), SIGTERM);
        say("lives\n");
        fault();
    }
    await(pid);
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "", *argument = count > 2 ? arguments[2] : "";
    pthread_t thread;
    self = arguments[0];
    for (size_t i = 0; i < sizeof oftens / sizeof *oftens; i++)
        if (strcmp(how, oftens[i].how) == 0)
            often(oftens[i].last, oftens[i].flags);
    if (strcmp(how, "fault") == 0)
        fault();
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "raise") == 0)
        take(SIGSEGV, print_and_raise, 0), fault();
    else if (strcmp(how, "handler-abort") == 0)
        take(SIGSEGV, print_and_abort, 0), fault();
    else if (strcmp(how, "handler-leave") == 0)
        take(SIGSEGV, print_and_leave, 0), fault();
    else if (strcmp(how, "handler-exit") == 0)
        take(SIGSEGV, print_and_exit, 0), fault();
    else if (strcmp(how, "handler-reset") == 0)
        take(SIGSEGV, reset_and_return, 0), fault();
    else if (strcmp(how, "handler-once") == 0)
        take(SIGSEGV, print_and_abort, (int)SA_RESETHAND), fault();
    else if (strcmp(how, "handler-large") == 0)
        take(SIGSEGV, need_much, 0), fault();
    else if (strcmp(how, "handler-large-on-a-thread") == 0)
        take(SIGSEGV, need_much, 0), pthread_create(&thread, NULL, fault_here, NULL), pthread_join(thread, NULL);
    else if (strcmp(how, "handler-execute") == 0)
        take(SIGSEGV, print_and_execute, SA_NODEFER), fault();
    else if (strcmp(how, "ignore") == 0)
        signal(SIGSEGV, SIG_IGN), fault();
    else if (strcmp(how, "late") == 0)
        pthread_create(&thread, NULL, late, NULL), pthread_join(thread, NULL);
    else if (strcmp(how, "own-stack") == 0)
        own_stack();
    else if (strcmp(how, "recover") == 0)
        recover(atol(argument));
    else if (strcmp(how, "healers") == 0)
        healers((unsigned)atol(argument));
    else if (strcmp(how, "recover-then-die") == 0)
        recover(100), take(SIGSEGV, print_and_raise, 0), fault();
    else if (strcmp(how, "actions") == 0)
        show_actions();
    else if (strcmp(how, "surroundings") == 0)
        show_surroundings();
    else if (strcmp(how, "fork") == 0)
        forked(argument);
    else if (strcmp(how, "fork-on-a-thread") == 0)
        forked_on_a_thread();
    else if (strcmp(how, "vfork") == 0)
        vforked(argument);
    else if (strcmp(how, "spawn") == 0)
        spawned();
    else if (strcmp(how, "first-process") == 0)
        first_process();
    else if (strcmp(how, "daemon") == 0)
        become_daemon();
    else if (strcmp(how, "leave") == 0)
        _exit(atoi(argument));
    else if (strcmp(how, "leave-by-call") == 0)
        recover(3), syscall(SYS_exit_group, atoi(argument));
    else if (strcmp(how, "leave-iso") == 0)
        _Exit(atoi(argument));
    else if (strcmp(how, "quick-exit") == 0)
        quick_exit(atoi(argument));
    else if (strcmp(how, "confined-exit") == 0)
        confine(argument), exit(3);
    else if (strcmp(how, "confined-leave") == 0)
        confine(argument), _exit(3);
    else if (strcmp(how, "confined-fork") == 0)
        confine(argument), forked(arguments[3]);
    else if (strcmp(how, "exit") == 0)
        exit(atoi(argument));
    else if (strcmp(how, "kill") == 0)
        kill(getpid(), atoi(argument));
    else if (strcmp(how, "execute") == 0)
        execvp(arguments[2], arguments + 2);
    else if (strcmp(how, "cannot-execute") == 0)
        execv("/etc/passwd", arguments), execv("/etc", arguments), fault();
    else if (strcmp(how, "killed-after") == 0) {
        if (strcmp(argument, "vfork") == 0)
            vforked("execute"), vforked("fails");
        else
            execv("/etc", arguments), execlp("no-such-program", "program", (char *)NULL);
        kill(getpid(), SIGKILL);
    }
    else if (strcmp(how, "closes-all") == 0)
        syscall(SYS_close_range, 3, ~0u, 0), say(open("/dev/null", O_RDONLY) == 3 ? "three\n" : "another\n"), fault();
    return strcmp(how, "nothing") == 0 ? 0 : 97;
}
