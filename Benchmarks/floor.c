#include "floor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES 65536
#define STACK_BYTES 65536

/* Those that a session takes. */
static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ, SIGQUIT, SIGPIPE, SIGTERM, SIGINT, SIGHUP };

/* As the kernel reads it. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static void handler(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
}

static bool map_one(const char *path, bool make)
{
    long file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0 || (make && syscall(SYS_fallocate, file, 0, 0L, (long)FILE_BYTES) != 0))
        return false;
    volatile char *map = (volatile char *)syscall(SYS_mmap, NULL, (long)FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
    if ((void *)map == MAP_FAILED)
        return false;
    map[0] = 1;
    return true;
}

static char runs_path[512], ledger_path[512], run_path[512];

void floor_prepare(const char *directory)
{
    snprintf(runs_path, sizeof runs_path, "%s/runs", directory);
    snprintf(ledger_path, sizeof ledger_path, "%s/ledger", directory);
    snprintf(run_path, sizeof run_path, "%s/runs/run", directory);
    syscall(SYS_getpid); /* binds the symbol */
}

bool floor_start(const char *directory, bool make)
{
    static char stack[STACK_BYTES];
    if (make && (syscall(SYS_mkdirat, AT_FDCWD, directory, 0700) != 0 || syscall(SYS_mkdirat, AT_FDCWD, runs_path, 0700) != 0))
        return false;
    if (!map_one(ledger_path, make) || !map_one(run_path, make))
        return false;
    const stack_t alternate = { .ss_sp = stack, .ss_size = STACK_BYTES };
    if (syscall(SYS_sigaltstack, &alternate, NULL) != 0)
        return false;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        const struct kernel_action action = { .handler = handler, .flags = SA_SIGINFO | SA_ONSTACK, .mask = UINT64_MAX };
        if (syscall(SYS_rt_sigaction, signals[i], &action, NULL, sizeof action.mask) != 0)
            return false;
    }
    return true;
}
