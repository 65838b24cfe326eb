/* supervise PROGRAM [ARGUMENT...]: run a program, let each of its system calls pass, and print the
 * phase and the number of each one that it made, how often it made it, then its wait status.
 *
 * By notifications of a seccomp filter and not by ptrace(): a process that is traced is recorded as
 * one under a debugger. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "mark.h"

#define CALLS 1024
#define LIMIT_S 60

static void become(char **command, _Atomic int *listener)
{
    struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF) };
    const struct sock_fprog filter = { 1, code };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIMIT_S);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        _exit(97);
    const long file = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    /* the next call waits for the supervisor */
    atomic_store(listener, file < 0 ? -errno : (int)file);
    if (file < 0)
        _exit(97);
    execv(command[0], command);
    _exit(98);
}

int main(int count, char **arguments)
{
    static unsigned made[PHASES][CALLS];
    enum phase phase = BEFORE;
    int status;
    if (count < 2)
        return 2;
    _Atomic int *listener = mmap(NULL, sizeof *listener, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();
    if (child == 0)
        become(arguments + 1, listener);
    while (!atomic_load(listener) && waitpid(child, &status, WNOHANG) == 0)
        sched_yield();
    if (atomic_load(listener) <= 0) {
        fprintf(stderr, "no notifications of system calls here: %s\n", strerror(-atomic_load(listener)));
        return 77;
    }
    const int process = (int)syscall(SYS_pidfd_open, child, 0);
    const int file = (int)syscall(SYS_pidfd_getfd, process, atomic_load(listener), 0);
    if (file < 0) {
        perror("pidfd_getfd");
        kill(child, SIGKILL);
        return 77;
    }
    struct pollfd ready[] = { { file, POLLIN, 0 }, { process, POLLIN, 0 } };
    while (poll(ready, 2, -1) > 0 && !(ready[1].revents & POLLIN)) {
        struct seccomp_notif call;
        memset(&call, 0, sizeof call);
        if (!(ready[0].revents & POLLIN) || ioctl(file, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue;
        struct seccomp_notif_resp answer = { .id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        if (call.data.nr == SYS_getpriority && call.data.args[0] == MARK)
            phase = call.data.args[1] < PHASES ? (enum phase)call.data.args[1] : BEFORE;
        else if (call.data.nr >= 0 && call.data.nr < CALLS)
            made[phase == BEFORE || (pid_t)call.pid == child ? phase : THREAD][call.data.nr]++;
        ioctl(file, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    waitpid(child, &status, 0);
    for (int i = START; i < PHASES; i++)
        for (int number = 0; number < CALLS; number++)
            if (made[i][number])
                printf("%d %d %u\n", i, number, made[i][number]);
    printf("status %d\n", status);
    return 0;
}
