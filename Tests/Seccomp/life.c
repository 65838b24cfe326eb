/* life STATE WAY [NUMBER...]: a program that uses what a session has, and ends: crash, abort, exit.
 *
 * Between the marks that the supervisor knows, only LaunchGuard works. With numbers, a filter ends
 * the process at a system call that is not among them, from lg_start() on. */
#include <launchguard/launchguard.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mark.h"

static void *wait_for_ever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static void allow_only(char **numbers, int count)
{
    struct sock_filter code[600];
    unsigned short at = 0;
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count && at < 590; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(numbers[i]), 0, 1);
        code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const struct sock_fprog filter = { at, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(90);
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    if (count > 3)
        allow_only(arguments + 3, count - 3);

    mark(START);
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.life";
    options.state_directory = arguments[1];
    options.keep_stderr = 1;
    options.hang_running_ms = 60000;
    lg_session *session;
    lg_launch *launch;
    lg_start(&options, &session);
    if (lg_session_protection(session) != LG_PROTECTION_FULL)
        fprintf(stderr, "not protected: %s\n", lg_session_message(session)), _exit(91);
    lg_launch_prepare(session, "main", NULL, &launch);
    lg_launch_begin(launch);

    mark(LIFE);
    const lg_field fields[] = { { "key", "value" } };
    lg_log(session, LG_LEVEL_INFO, "a breadcrumb");
    lg_log_fields(session, LG_LEVEL_INFO, "category", "text", 4, fields, 1);
    lg_annotate(session, "key", "value");
    lg_heartbeat(session);
    uint64_t deadline;
    lg_deadline_begin(session, "job", 60000, &deadline);
    lg_deadline_end(session, deadline);
    lg_memory_watch(session, 99, NULL, NULL);
    lg_modules_refresh(session);
    lg_launch_finished(launch);
    lg_heartbeat_pause(session);

    if (strcmp(arguments[2], "exit") == 0) {
        mark(EXIT);
        exit(0);
    }
    mark(CRASH);
    if (strcmp(arguments[2], "abort") == 0)
        abort();
    *(volatile int *)NULL = 1;
    return 92;
}
