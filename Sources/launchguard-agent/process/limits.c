#include "process/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IOPRIO_WHO_PROCESS 1
#define SLACK_NS 50000UL
/* Processes of the largest machines. */
#define CPU_BYTES 1024

/* No more than the hard limit allows. A core of the agent would hold credentials. Some programs
 * take memory, or time, for each descriptor that is allowed. */
static void reset_limits(void)
{
    static const struct {
        int resource;
        rlim_t soft;
    } limits[] = {
        { RLIMIT_AS, RLIM_INFINITY }, { RLIMIT_CORE, 0 }, { RLIMIT_CPU, RLIM_INFINITY }, { RLIMIT_DATA, RLIM_INFINITY },
        { RLIMIT_FSIZE, RLIM_INFINITY }, { RLIMIT_NICE, RLIM_INFINITY }, { RLIMIT_NOFILE, 4096 }, { RLIMIT_NPROC, RLIM_INFINITY },
        { RLIMIT_STACK, (rlim_t)8 << 20 },
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i].resource, &limit) != 0)
            continue;
        limit.rlim_cur = limits[i].soft < limit.rlim_max ? limits[i].soft : limit.rlim_max;
        setrlimit(limits[i].resource, &limit);
    }
}

/* 0, or as near to it as this user may come. */
static void reset_nice(void)
{
    errno = 0;
    const int now = getpriority(PRIO_PROCESS, 0);
    if (now < 0 && errno == 0)
        setpriority(PRIO_PROCESS, 0, 0);
    for (int nice = 0; nice < now && setpriority(PRIO_PROCESS, 0, nice) != 0; nice++) {}
}

static void reset_scheduling(void)
{
    const struct sched_param none = { .sched_priority = 0 };
    unsigned char all[CPU_BYTES];
    memset(all, 0xff, sizeof all);
    sched_setscheduler(0, SCHED_OTHER, &none);
    syscall(SYS_sched_setaffinity, 0, sizeof all, all);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, 0);
    prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
    reset_nice();
}

static void reset_oom_score(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, "0", 1); /* an administrator may have set a least value */
    close(file);
}

void limits_reset(void)
{
    reset_limits(); /* before the priority, which one of them bounds */
    reset_scheduling();
    reset_oom_score();
    umask(077);
    (void)!chdir("/");
}
