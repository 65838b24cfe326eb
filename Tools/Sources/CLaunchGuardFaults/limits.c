/* Section D: limits of resources, sandboxes, the kernel's killer. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue.h"
#include "cgroup.h"
#include "files.h"
#include "seccomp.h"

static void limit(int resource, rlim_t soft, rlim_t hard)
{
    const struct rlimit value = { soft, hard };
    if (setrlimit(resource, &value) != 0)
        lgf_skip("the limit cannot be set");
}

static void spin(void)
{
    while (!lgf_zero) {}
}

LGF_WAY cpu_soft(void)
{
    limit(RLIMIT_CPU, 1, 10);
    spin();
}
static void ignore_cpu(void) { signal(SIGXCPU, SIG_IGN); }
LGF_WAY cpu_hard(void)
{
    signal(SIGXCPU, SIG_IGN);
    limit(RLIMIT_CPU, 1, 2);
    spin();
}

LGF_WAY file_size(void)
{
    static const char block[4096];
    int file = lgf_nameless_file(0);
    limit(RLIMIT_FSIZE, 65536, RLIM_INFINITY);
    while (write(file, block, sizeof block) > 0) {}
}
static void small_files(void) { limit(RLIMIT_FSIZE, 4096, RLIM_INFINITY); }
LGF_WAY start_without_files(void)
{
    /* A ledger that is there already protects alone. */
    lg_protection protection = lg_session_protection(lgf_session);
    if (lgf_options.guard && (lgf_start_status == LG_OK || (protection != LG_PROTECTION_NONE && protection != LG_PROTECTION_LAUNCH)))
        lgf_wrong("the start did not fail");
}

LGF_WAY no_descriptors(void)
{
    limit(RLIMIT_NOFILE, 64, 64);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {}
    lgf_zero = *(volatile int *)(uintptr_t)lgf_zero;
}

/* ---- sandbox ---- */

void lgf_filter(uint32_t outcome)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, outcome),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        lgf_skip("the kernel has no seccomp filters");
}

void lgf_filtered_call(void) { syscall(SYS_getppid); }

LGF_WAY seccomp_trap(void)
{
    lgf_filter(SECCOMP_RET_TRAP);
    lgf_filtered_call();
}
LGF_WAY seccomp_kill_process(void)
{
    lgf_filter(SECCOMP_RET_KILL_PROCESS);
    lgf_filtered_call();
}
static void *filtered_thread(void *argument)
{
    lgf_filter(SECCOMP_RET_KILL_THREAD);
    lgf_filtered_call();
    lgf_wrong("the thread goes on");
    return argument;
}
LGF_WAY seccomp_kill_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, filtered_thread, NULL) != 0)
        lgf_skip("no thread can be made");
    lgf_sleep_ms(50);
}

/* ---- memory ---- */

static void join_small_cgroup(void) { lgf_cgroup_limit_memory(32u << 20); }
LGF_WAY out_of_memory(void)
{
    for (size_t size = 0; size < (size_t)1 << 30; size += 1 << 20) {
        volatile char *block = malloc(1 << 20);
        for (size_t i = 0; block && i < 1 << 20; i += 4096)
            block[i] = 1;
    }
    lgf_wrong("1 GiB fits into 32 MiB");
}
/* The kernel ends another process of the group, and later somebody this one. */
LGF_WAY out_of_memory_beside(void)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        lgf_skip("no process can be made");
    if (child == 0) {
        FILE *first = fopen("/proc/self/oom_score_adj", "we");
        if (first && fputs("1000", first) >= 0 && fclose(first) == 0)
            out_of_memory();
        _exit(1);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        lgf_wrong("the kernel did not end the child");
    raise(SIGKILL);
}

#define A_SECOND_OF_CPU_MS 20000 /* at most: other processes use the CPUs as well */

const struct lgf_entry lgf_limits[] = {
    { LGF_NAMED("limit-cpu", 'D', "uses more CPU time than its soft limit", cpu_soft), LGF_CRASH(SIGXCPU, NO, LG_CRASH_LIMIT_CPU),
      .lasts_ms = A_SECOND_OF_CPU_MS },
    { LGF_NAMED("limit-cpu-hard", 'D', "ignores SIGXCPU and reaches the hard limit", cpu_hard), LGF_UNSEEN(SIGKILL, 'Y'),
      .prepare = ignore_cpu, .traits = LGF_PREPARES, .lasts_ms = 2 * A_SECOND_OF_CPU_MS },
    { LGF_NAMED("limit-file-size", 'D', "writes more than a file may have", file_size),
      LGF_CRASH(SIGXFSZ, NO, LG_CRASH_LIMIT_FSIZE) },
    { LGF_NAMED("limit-file-size-start", 'D', "may not make files large enough for LaunchGuard", start_without_files),
      LGF_EXITS(0, LGF_END_NO_RUN, 'N'), .prepare = small_files, .traits = LGF_PREPARES },
    { LGF_NAMED("no-descriptors", 'D', "reads through a NULL pointer when no descriptor is left", no_descriptors),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ) },
    { LGF_NAMED("seccomp-trap", 'D', "makes a system call that its sandbox traps", seccomp_trap),
      LGF_CRASH(SIGSYS, NO, LG_CRASH_SYSCALL), .needs = LGF_NEEDS_SECCOMP },
    { LGF_NAMED("seccomp-kill-process", 'D', "makes a system call for which its sandbox kills it", seccomp_kill_process),
      LGF_UNSEEN(SIGSYS, 'Y'), .needs = LGF_NEEDS_SECCOMP },
    { LGF_NAMED("seccomp-kill-thread", 'D', "loses a thread to its sandbox and lives on", seccomp_kill_thread),
      LGF_EXITS(0, LGF_END(CLEAN), 'N'), .needs = LGF_NEEDS_SECCOMP, .traits = LGF_OWN_THREADS },
    { LGF_NAMED("oom-cgroup", 'D', "uses more memory than its cgroup has", out_of_memory), .status = LGF_SIGNAL, .number = SIGKILL,
      .record = LGF_RECORD_NONE, .ends = LGF_END(OOM) | LGF_END_SILENT, .launch = 'Y', .prepare = join_small_cgroup,
      .needs = LGF_NEEDS_ROOT | LGF_NEEDS_CGROUP, .traits = LGF_PREPARES, .lasts_ms = 1000 },
    { LGF_NAMED("oom-beside", 'D', "outlives a child that used more memory than their cgroup has, and is killed", out_of_memory_beside),
      LGF_UNSEEN(SIGKILL, 'W'), .prepare = join_small_cgroup, .needs = LGF_NEEDS_ROOT | LGF_NEEDS_CGROUP,
      .traits = LGF_PREPARES | LGF_OWN_THREADS, .lasts_ms = 1000 },
    { .name = NULL },
};
