#include "watch/status_process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/sandbox_calls.h"

#define NAME "launchguard-status"
#define ANSWER_MS 1000
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

struct question {
    int32_t pid;
    uint64_t start_ticks;
};
struct answer {
    struct question to;
    int32_t found, wait_status;
};

static int agents_end = -1;
static pid_t child;

/* The arguments stand in one piece of memory. Those who look for agents by them find one. */
static void take_name(char **argv)
{
    size_t room = 0;
    prctl(PR_SET_NAME, NAME, 0, 0, 0);
    for (size_t i = 0; argv && argv[i] && argv[i] == argv[0] + room; i++)
        room += strlen(argv[i]) + 1;
    if (!room)
        return;
    memset(argv[0], 0, room);
    memcpy(argv[0], NAME, room < sizeof NAME ? room - 1 : sizeof NAME);
}

static void close_others(int kept)
{
    const int end = dup2(kept, STDIN_FILENO);
    if (end < 0)
        _exit(1);
    if (syscall(SYS_close_range, STDIN_FILENO + 1, UINT_MAX, 0) == 0)
        return;
    for (int file = STDIN_FILENO + 1; file < sysconf(_SC_OPEN_MAX); file++)
        close(file);
}

static _Noreturn void serve(char **argv, int end)
{
    struct question question;
    take_name(argv);
    close_others(end);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)sandbox_calls_refuse(false);
    while (read(STDIN_FILENO, &question, sizeof question) == sizeof question) {
        struct answer answer;
        memset(&answer, 0, sizeof answer);
        answer.to = question;
        int status = 0;
        answer.found = (int32_t)proc_stat_find(question.pid, question.start_ticks, &status);
        answer.wait_status = status;
        if (write(STDIN_FILENO, &answer, sizeof answer) != sizeof answer)
            break;
    }
    _exit(0);
}

void status_process_begin(char **argv)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    child = fork();
    if (child == 0)
        serve(argv, ends[1]);
    close(ends[1]);
    if (child > 0)
        agents_end = ends[0];
    else
        close(ends[0]);
}

void status_process_end(void)
{
    if (agents_end < 0)
        return;
    close(agents_end);
    agents_end = -1;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

static bool is_same(const struct question *one, const struct question *other)
{
    return one->pid == other->pid && one->start_ticks == other->start_ticks;
}

/* An answer that came too late may wait for the next question. */
static bool ask(const struct question *question, struct answer *ret_answer)
{
    struct pollfd answered = { .fd = agents_end, .events = POLLIN };
    if (send(agents_end, question, sizeof *question, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof *question)
        return false;
    while (poll(&answered, 1, ANSWER_MS) == 1 && recv(agents_end, ret_answer, sizeof *ret_answer, MSG_DONTWAIT) == sizeof *ret_answer)
        if (is_same(&ret_answer->to, question))
            return true;
    return false;
}

enum proc_stat status_process_find(int32_t pid, uint64_t start_ticks, int *ret_wait_status)
{
    struct question question;
    struct answer answer;
    memset(&question, 0, sizeof question);
    question.pid = pid;
    question.start_ticks = start_ticks;
    if (agents_end < 0 || !ask(&question, &answer))
        return proc_stat_find(pid, start_ticks, ret_wait_status);
    if (answer.found == PROC_STAT_STATUS)
        *ret_wait_status = answer.wait_status;
    return (enum proc_stat)answer.found;
}
