/* The operating system: facts about a process, by raw calls that also work in the crash handler. */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

/* The members of the kernel's struct stat that have the same place on x86-64 and on AArch64, and
 * more room than the rest of it takes. */
struct stat_begin {
    uint64_t device, inode, other[4];
    int64_t size;
    uint8_t rest[256];
};

/* As getdents64(2) gives it; libc's struct dirent64 has the same layout. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

int lg__os_open(const char *path)
{
    return (int)lg__os_call(SYS_openat, AT_FDCWD, (long)(uintptr_t)path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0, 0, 0);
}

long lg__os_read_at(int file, void *to, size_t size, uint64_t at)
{
    return lg__os_call(SYS_pread64, file, (long)(uintptr_t)to, (long)size, (long)at, 0, 0);
}

long lg__os_read(int file, void *to, size_t size)
{
    return lg__os_call(SYS_read, file, (long)(uintptr_t)to, (long)size, 0, 0, 0);
}

void lg__os_close(int file)
{
    lg__os_call(SYS_close, file, 0, 0, 0, 0, 0);
}

int lg__os_bytes_waiting(int file)
{
    int count = 0;
    return lg__os_call(SYS_ioctl, file, FIONREAD, (long)(uintptr_t)&count, 0, 0, 0) == 0 ? count : 0;
}

static long identity_of(int file, uint64_t *ret_identity)
{
    struct stat_begin status;
    long result = lg__os_call(SYS_fstat, file, (long)(uintptr_t)&status, 0, 0, 0, 0);
    *ret_identity = result == 0 ? lg__os_identity(status.device, status.inode) : 0;
    return result;
}

uint64_t lg__os_file_identity(int file)
{
    uint64_t identity;
    identity_of(file, &identity);
    return identity;
}

bool lg__os_file_is(int file, uint64_t identity)
{
    uint64_t now;
    long result = identity_of(file, &now);
    return result == 0 ? now == identity : result != -EBADF;
}

void lg__os_close_ours(int file, uint64_t identity)
{
    if (file >= 0 && identity && lg__os_file_identity(file) == identity)
        lg__os_close(file);
}

static int first_number = 3;

void lg__os_files_from(int number)
{
    first_number = number;
}

int lg__os_file_beyond(int file)
{
    if (file < 0 || file >= first_number)
        return file;
    long moved = lg__os_call(SYS_fcntl, file, F_DUPFD_CLOEXEC, first_number, 0, 0, 0);
    if (moved < 0)
        return file;
    lg__os_close(file);
    return (int)moved;
}

uint64_t lg__os_file_size(const char *path)
{
    struct stat_begin status;
    return lg__os_call(SYS_newfstatat, AT_FDCWD, (long)(uintptr_t)path, (long)(uintptr_t)&status, 0, 0, 0) == 0 ? (uint64_t)status.size : 0;
}

long lg__os_list_numbers(int directory, bool (*each)(uint32_t number, void *argument), void *argument)
{
    _Alignas(8) char buffer[1024];
    long count = 0, size;
    lg__os_call(SYS_lseek, directory, 0, SEEK_SET, 0, 0, 0);
    while ((size = lg__os_call(SYS_getdents64, directory, (long)(uintptr_t)buffer, sizeof buffer, 0, 0, 0)) > 0)
        for (long at = 0; at < size;) {
            const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
            uint64_t number;
            at += entry->size;
            if (!lg__os_number(entry->name, 10, &number))
                continue;
            count++;
            if (!each((uint32_t)number, argument))
                return count;
        }
    return size < 0 ? size : count;
}

static uint64_t limit_of(int resource)
{
    struct rlimit now;
    if (lg__os_call(SYS_prlimit64, 0, resource, 0, (long)(uintptr_t)&now, 0, 0) != 0)
        return UINT64_MAX;
    return now.rlim_cur == RLIM_INFINITY ? UINT64_MAX - 1 : now.rlim_cur;
}

static uint64_t time_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

void lg__os_figures(struct lg__os_figures *ret_figures)
{
    struct rusage usage;
    struct sysinfo system;
    memset(ret_figures, 0xff, sizeof *ret_figures);
    if (lg__os_call(SYS_getrusage, RUSAGE_SELF, (long)(uintptr_t)&usage, 0, 0, 0, 0) == 0) {
        ret_figures->resident_peak = (uint64_t)usage.ru_maxrss * 1024;
        ret_figures->user_ns = time_ns(&usage.ru_utime);
        ret_figures->system_ns = time_ns(&usage.ru_stime);
        ret_figures->faults_minor = (uint64_t)usage.ru_minflt;
        ret_figures->faults_major = (uint64_t)usage.ru_majflt;
    }
    ret_figures->virtual_limit = limit_of(RLIMIT_AS);
    ret_figures->data_limit = limit_of(RLIMIT_DATA);
    ret_figures->stack_limit = limit_of(RLIMIT_STACK);
    ret_figures->descriptor_limit = limit_of(RLIMIT_NOFILE);
    ret_figures->cpu_limit = limit_of(RLIMIT_CPU);
    if (lg__os_call(SYS_sysinfo, (long)(uintptr_t)&system, 0, 0, 0, 0, 0) == 0) {
        ret_figures->memory_total = system.totalram * (uint64_t)system.mem_unit;
        ret_figures->memory_free = system.freeram * (uint64_t)system.mem_unit;
        ret_figures->swap_total = system.totalswap * (uint64_t)system.mem_unit;
        ret_figures->swap_free = system.freeswap * (uint64_t)system.mem_unit;
        ret_figures->load = system.loads[0] * 100 >> SI_LOAD_SHIFT;
        ret_figures->uptime = (uint64_t)system.uptime;
    }
}

/* The kernel compares user and system time as its ticks count them, which is the clock
 * CPUCLOCK_PROF of the process (linux/posix-timers.h). */
#define CPUCLOCK_PROF_SELF (~0 * 8)

bool lg__os_cpu_limit(uint64_t *ret_limit_s, uint64_t *ret_used_ns)
{
    struct rlimit now;
    struct timespec used;
    if (lg__os_call(SYS_prlimit64, 0, RLIMIT_CPU, 0, (long)(uintptr_t)&now, 0, 0) != 0 || now.rlim_max == RLIM_INFINITY ||
        lg__os_call(SYS_clock_gettime, CPUCLOCK_PROF_SELF, (long)(uintptr_t)&used, 0, 0, 0, 0) != 0)
        return false;
    *ret_limit_s = now.rlim_max ? now.rlim_max : 1; /* as the kernel takes it */
    *ret_used_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
    return true;
}

/* The kernel's number for the clock CPUCLOCK_SCHED of a thread (linux/posix-timers.h). */
#define CPUCLOCK_SCHED_OF(tid) (~(long)(tid) * 8 + 6)

uint64_t lg__os_thread_cpu_ns(pid_t tid)
{
    struct timespec used;
    if (lg__os_call(SYS_clock_gettime, CPUCLOCK_SCHED_OF(tid), (long)(uintptr_t)&used, 0, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

unsigned lg__os_processors(void)
{
    uint64_t set[16];
    unsigned count = 0;
    long size = lg__os_call(SYS_sched_getaffinity, lg__os_call(SYS_getpid, 0, 0, 0, 0, 0, 0), sizeof set, (long)(uintptr_t)set, 0, 0, 0);
    for (long i = 0; i < size / (long)sizeof set[0]; i++)
        for (uint64_t left = set[i]; left; left &= left - 1)
            count++;
    /* more than it knows, or a sandbox: as many as can be */
    return count ? count : (unsigned)(8 * sizeof set);
}

/* proc(5): the third field is the state, and the last one the status. */
bool lg__os_first_thread_status(int *ret_status)
{
    char text[1024], *end = text;
    int file = lg__os_open("/proc/self/stat");
    long size = file < 0 ? -1 : lg__os_read(file, text, sizeof text - 1);
    uint64_t status;
    if (file >= 0)
        lg__os_close(file);
    if (size <= 0)
        return false;
    text[size] = 0;
    for (char *at = text; *at; at++)
        end = *at == ')' ? at : end; /* the name before it may hold anything */
    if (end[0] != ')' || end[1] != ' ' || end[2] != 'Z')
        return false;
    char *last = text + size - 1;
    *last = 0; /* the new line */
    while (last > end && last[-1] != ' ')
        last--;
    *ret_status = lg__os_number(last, 10, &status) ? (int)status : 0;
    return true;
}
