/* The operating system: Linux. */
#include "os/fault_point.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LG_FAULT_POINTS
void (*lg__fault_hook)(const char *point);
size_t lg__fault_page_bytes;
unsigned lg__fault_patience = 1;
#endif

#ifndef sigev_notify_thread_id /* of the libc's that have no name for it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Size of the kernel's signal set, which is not that of sigset_t. */
#define KERNEL_SIGSET_BYTES 8

/* struct sigaction as the kernel has it on x86-64; AArch64 ignores the restorer. */
struct kernel_sigaction {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

void lg__os_bind(void)
{
    lg__arch_bind();
    /* Sizes that the compiler does not know, so that it makes calls of them. */
    static volatile size_t some = 8;
    static volatile bool sink LG__SMALL;
    char from[16] = "0123456", to[16];
    memcpy(to, from, some);
    memmove(to + 1, to, some);
    memset(to, to[some], some);
    sink = memcmp(from, to, some) == 0;
    sink = memchr(from, to[0], some) == from;
    sink = strlen(from) == some;
    sink = lg__os_clock_ns(CLOCK_MONOTONIC) == 0;
    sink = errno == 0;
    (void)sink;
}

pid_t lg__os_pid(void)
{
    return (pid_t)lg__os_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

pid_t lg__os_tid(void)
{
    return (pid_t)lg__os_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

uint64_t lg__os_clock_ns(int clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool lg__os_counter_allowed(void)
{
    int mode = PR_TSC_ENABLE;
    /* older kernels allow it to every process */
    lg__os_call(SYS_prctl, PR_GET_TSC, (long)(uintptr_t)&mode, 0, 0, 0, 0);
    return mode != PR_TSC_SIGSEGV;
}

bool lg__os_counter_trusted(void)
{
    char name[32] = "";
    int file = lg__os_open("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (file < 0)
        return false;
    long got = lg__os_read(file, name, sizeof name);
    lg__os_close(file);
    size_t size = strlen(lg__arch_counter_source);
    return got == (long)size + 1 && memcmp(name, lg__arch_counter_source, size) == 0 && name[size] == '\n';
}

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
}

void lg__os_futex_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec timeout = time_of(timeout_ns);
    lg__os_call(SYS_futex, (long)(uintptr_t)word, FUTEX_WAIT_PRIVATE, (long)seen,
                timeout_ns == UINT64_MAX ? 0 : (long)(uintptr_t)&timeout, 0, 0);
}

void lg__os_futex_wake(const uint32_t *word)
{
    lg__os_call(SYS_futex, (long)(uintptr_t)word, FUTEX_WAKE_PRIVATE, INT32_MAX, 0, 0, 0);
}

int lg__os_readable(uint64_t address)
{
    /* The kernel copies the set before it looks at the operation, which does not exist: EFAULT or
     * EINVAL, and nothing changes. Six times cheaper than process_vm_readv(), and allowed where
     * that is not. */
    if (lg__arch_is_simulated())
        return 1; /* valgrind prints a line; no handler asks there */
    long place = address ? (long)address : 8; /* none at NULL: nothing to copy */
    long result = lg__os_call(SYS_rt_sigprocmask, -1, place, 0, KERNEL_SIGSET_BYTES, 0, 0);
    return result == -EINVAL ? 1 : result == -EFAULT ? 0 : -1;
}

void lg__os_signal_default(int signal)
{
    struct kernel_sigaction action = { 0, 0, 0, 0 };
    /* that code stays known, for lg__os_signal_take() */
    lg__os_call(SYS_rt_sigaction, signal, 0, (long)(uintptr_t)&action, KERNEL_SIGSET_BYTES, 0, 0);
    action = (struct kernel_sigaction){ (uintptr_t)SIG_DFL, action.flags & LG__SA_RESTORER, action.restorer, 0 };
    lg__os_call(SYS_rt_sigaction, signal, (long)(uintptr_t)&action, 0, KERNEL_SIGSET_BYTES, 0, 0);
}

void lg__os_signals_change(int how, uint64_t signals)
{
    lg__os_call(SYS_rt_sigprocmask, how, (long)(uintptr_t)&signals, 0, KERNEL_SIGSET_BYTES, 0, 0);
}

void lg__os_signals_set(uint64_t blocked)
{
    lg__os_signals_change(SIG_SETMASK, blocked);
}

void lg__os_signal_block(int signal, bool block)
{
    lg__os_signals_change(block ? SIG_BLOCK : SIG_UNBLOCK, UINT64_C(1) << (signal - 1));
}

long lg__os_signal_queue_process(pid_t pid, int signal, const siginfo_t *info)
{
    return lg__os_call(SYS_rt_sigqueueinfo, pid, signal, (long)(uintptr_t)info, 0, 0, 0);
}

long lg__os_signal_queue(pid_t pid, pid_t tid, int signal, const siginfo_t *info)
{
    return lg__os_call(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)(uintptr_t)info, 0, 0);
}

long lg__os_signal_send(pid_t pid, pid_t tid, int signal)
{
    return lg__os_call(SYS_tgkill, pid, tid, signal, 0, 0, 0);
}

long lg__os_signal_take(int signal, const struct lg__os_disposition *to, uint64_t mask, int like, struct lg__os_disposition *ret_before)
{
    struct kernel_sigaction model = { 0, 0, 0, 0 }, before = { 0, 0, 0, 0 }, action;
    lg__os_call(SYS_rt_sigaction, like, 0, (long)(uintptr_t)&model, KERNEL_SIGSET_BYTES, 0, 0);
    action = (struct kernel_sigaction){ to->handler, to->flags | (model.flags & LG__SA_RESTORER), model.restorer, mask };
    long result = lg__os_call(SYS_rt_sigaction, signal, (long)(uintptr_t)&action, (long)(uintptr_t)&before, KERNEL_SIGSET_BYTES, 0, 0);
    if (result == 0)
        *ret_before = (struct lg__os_disposition){ before.handler, before.flags };
    return result;
}

struct lg__os_disposition lg__os_signal_now(int signal)
{
    struct kernel_sigaction action = { 0, 0, 0, 0 };
    lg__os_call(SYS_rt_sigaction, signal, 0, (long)(uintptr_t)&action, KERNEL_SIGSET_BYTES, 0, 0);
    return (struct lg__os_disposition){ action.handler, action.flags };
}

long lg__os_signal_ask(pid_t pid, pid_t tid, int signal, uint64_t value)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = pid;
    info.si_value.sival_ptr = (void *)(uintptr_t)value;
    return lg__os_signal_queue(pid, tid, signal, &info);
}

long lg__os_timer_begin(pid_t tid, int signal, uint64_t value, uint64_t after_ns, uint64_t again_ns)
{
    struct sigevent event;
    int timer = -1; /* the kernel's type */
    memset(&event, 0, sizeof event);
    event.sigev_signo = signal;
    event.sigev_notify = tid ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
    event.sigev_notify_thread_id = tid;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)value;
    long result = lg__os_call(SYS_timer_create, CLOCK_MONOTONIC, (long)(uintptr_t)&event, (long)(uintptr_t)&timer, 0, 0, 0);
    if (result != 0)
        return result;
    const struct itimerspec time = { .it_value = time_of(after_ns), .it_interval = time_of(again_ns) };
    result = lg__os_call(SYS_timer_settime, timer, 0, (long)(uintptr_t)&time, 0, 0, 0);
    if (result == 0)
        return timer;
    lg__os_timer_end(timer);
    return result;
}

void lg__os_timer_end(long timer)
{
    lg__os_call(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}

uint64_t lg__os_signals_pending(void)
{
    uint64_t pending = 0;
    lg__os_call(SYS_rt_sigpending, (long)(uintptr_t)&pending, KERNEL_SIGSET_BYTES, 0, 0, 0, 0);
    return pending;
}

uint64_t lg__os_signals_blocked(void)
{
    uint64_t set = 0;
    lg__os_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)(uintptr_t)&set, KERNEL_SIGSET_BYTES, 0, 0);
    return set;
}

_Noreturn void lg__os_exit(int status)
{
    for (;;)
        lg__os_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

void lg__os_thread_rename(const char *name)
{
    lg__os_call(SYS_prctl, PR_SET_NAME, (long)(uintptr_t)name, 0, 0, 0, 0);
}

void lg__os_thread_name(char name[16])
{
    memset(name, 0, 16);
    lg__os_call(SYS_prctl, PR_GET_NAME, (long)(uintptr_t)name, 0, 0, 0, 0);
    name[15] = 0;
}

size_t lg__os_page_size(void)
{
    size_t size = getauxval(AT_PAGESZ);
    size = size ? size : LG__PAGE;
#ifdef LG_FAULT_POINTS
    size = size < lg__fault_page_bytes ? lg__fault_page_bytes : size;
#endif
    return size;
}

size_t lg__os_to_pages(size_t size)
{
    const size_t page = lg__os_page_size();
    return (size + page - 1) & ~(page - 1);
}

long lg__os_pages_replace(void *pages, size_t size, int protection)
{
    long result = lg__os_call(SYS_mmap, (long)(uintptr_t)pages, (long)size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result < 0 && result > -4096 ? result : 0;
}

void *lg__os_pages_new(size_t size)
{
    const long result = lg__os_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

/* MADV_POPULATE_READ and MADV_POPULATE_WRITE; not every libc has names for them. */
#define POPULATE_READ 22
#define POPULATE_WRITE 23

bool lg__os_pages_there(void *pages, size_t size, bool to_write)
{
    return lg__os_call(SYS_madvise, (long)(uintptr_t)pages, (long)size, to_write ? POPULATE_WRITE : POPULATE_READ, 0, 0, 0) == 0;
}

static ssize_t read_text_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t count = read(file, text, size - 1);
    close(file);
    if (count >= 0)
        text[count] = 0;
    return count;
}

bool lg__os_boot_id(uint8_t ret_id[LG__UUID_BYTES])
{
    /* Asked for several times a start, and the same as long as any process lives. Two threads at
     * once write the same bytes. */
    static uint8_t known[LG__UUID_BYTES] LG__SMALL;
    static _Atomic bool is_known LG__SMALL;
    if (is_known) {
        memcpy(ret_id, known, sizeof known);
        return true;
    }
    char text[64];
    uint8_t id[LG__UUID_BYTES];
    if (read_text_file("/proc/sys/kernel/random/boot_id", text, sizeof text) < 0 || !lg__os_uuid(text, id))
        return false;
    memcpy(known, id, sizeof id);
    is_known = true;
    memcpy(ret_id, id, sizeof id);
    return true;
}

/* Fields of proc(5), by their numbers there. */
enum { STAT_STATE = 3, STAT_PARENT, STAT_THREADS = 20, STAT_START = 22, STAT_IGNORED = 33, STAT_CAUGHT, STAT_FIELDS };

static bool read_stat(const char *path, struct lg__os_process *ret_process)
{
    char text[1024];
    uint64_t fields[STAT_FIELDS] = { 0 };
    if (read_text_file(path, text, sizeof text) <= 0)
        return false;
    /* The first field is the number. The second is the name in parentheses and may hold anything;
     * the fields after the last ')' are the state and numbers. */
    const char *field = strrchr(text, ')');
    if (!field || field[1] != ' ' || field[2] == 'X')
        return false;
    const bool first_ended = *++field && field[1] == 'Z';
    for (int number = STAT_STATE; number < STAT_FIELDS; number++) {
        lg__os_number(field + 1 + (field[1] == '-'), 10, &fields[number]);
        if (!(field = strchr(field + 1, ' ')) && number < STAT_START)
            return false;
        if (!field)
            break;
    }
    /* The first thread may end before others do. */
    if (first_ended && fields[STAT_THREADS] < 2)
        return false;
    uint64_t pid = 0;
    lg__os_number(text, 10, &pid);
    *ret_process = (struct lg__os_process){ (pid_t)pid, (pid_t)fields[STAT_PARENT], fields[STAT_START],
                                            fields[STAT_IGNORED] | fields[STAT_CAUGHT] };
    return true;
}

bool lg__os_start_ticks(pid_t pid, uint64_t *ret_ticks)
{
    char path[LG__OS_PROCESS_PATH];
    struct lg__os_process process;
    lg__os_process_path(path, pid, "/stat");
    if (!read_stat(path, &process))
        return false;
    *ret_ticks = process.start_ticks;
    return true;
}

/* PF_EXITING, PF_DUMPCORE and PF_SIGNALED of the kernel's sched.h. The ninth field of proc(5). */
#define ENDING (0x4ul | 0x200ul | 0x400ul)

bool lg__os_is_ending(pid_t pid)
{
    char path[LG__OS_PROCESS_PATH], text[1024];
    lg__os_process_path(path, pid, "/stat");
    const char *field = read_text_file(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    for (int number = 2; field && number < 9; number++)
        field = strchr(field + 1, ' ');
    return field && strtoul(field + 1, NULL, 10) & ENDING;
}

bool lg__os_self(struct lg__os_process *ret_self)
{
    return read_stat("/proc/self/stat", ret_self);
}

/* openat2(2), with a flag of linux/openat2.h: older headers lack both. */
#define OPENAT2 437
#define RESOLVE_WITHOUT_LINKS 0x04

int lg__os_open_without_links(const char *path)
{
    const struct { uint64_t flags, mode, resolve; } how = { O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_WITHOUT_LINKS };
    if (lg__arch_is_simulated())
        return -1; /* valgrind prints a warning of a call that it does not know */
    return (int)syscall(OPENAT2, AT_FDCWD, path, &how, sizeof how);
}

void lg__os_random(void *bytes, size_t size)
{
    if (lg__os_call(SYS_getrandom, (long)(uintptr_t)bytes, (long)size, 1 /* GRND_NONBLOCK */, 0, 0, 0) == (long)size)
        return;
    /* A kernel that has no randomness yet (early boot): clocks and ids are distinct enough. */
    uint64_t state = lg__os_clock_ns(CLOCK_REALTIME) ^ (uint64_t)lg__os_pid() << 40 ^ lg__os_clock_ns(CLOCK_MONOTONIC) << 20;
    for (size_t i = 0; i < size; i++) {
        /* Knuth, MMIX */
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ((uint8_t *)bytes)[i] = (uint8_t)(state >> 56);
    }
}

bool lg__os_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

size_t lg__os_min_altstack(void)
{
    unsigned long size = getauxval(AT_MINSIGSTKSZ);
    return size ? size : 8192;
}

bool lg__os_addresses_are_limited(void)
{
    struct rlimit addresses;
    return getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
}

bool lg__os_untouched_is_free(void)
{
    struct rlimit data;
    char strict = '2'; /* proc(5): overcommit_memory */
    if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY)
        return false;
    const int file = lg__os_open("/proc/sys/vm/overcommit_memory");
    if (file < 0)
        return false;
    const bool is_known = lg__os_read(file, &strict, 1) == 1;
    lg__os_close(file);
    return is_known && strict != '2';
}

void *lg__os_map_named(size_t size)
{
    const int file = lg__os_open("/dev/zero");
    if (file < 0)
        return MAP_FAILED;
    void *pages = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    lg__os_close(file);
    if (pages != MAP_FAILED)
        madvise(pages, size, MADV_NOHUGEPAGE);
    return pages;
}

void *lg__os_map_guarded(size_t size, size_t guard)
{
    const long base = lg__os_call(SYS_mmap, 0, (long)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base < 0 && base > -4096)
        return NULL;
    if (lg__os_call(SYS_mprotect, base + (long)guard, (long)(size - 2 * guard), PROT_READ | PROT_WRITE, 0, 0, 0) == 0)
        return (void *)(uintptr_t)base;
    lg__os_call(SYS_munmap, base, (long)size, 0, 0, 0, 0);
    return NULL;
}

long lg__os_altstack(const stack_t *to, stack_t *ret_before)
{
    return lg__os_call(SYS_sigaltstack, (long)(uintptr_t)to, (long)(uintptr_t)ret_before, 0, 0, 0, 0);
}

bool lg__os_stack_bounds(uint64_t *ret_low, uint64_t *ret_high)
{
    if (lg__os_tid() == lg__os_pid()) {
        /* For the first thread pthread_getattr_np() would read /proc/self/maps. The kernel puts the
         * program's file name last on its stack, and lets the stack grow down from there to the
         * limit. */
        struct rlimit limit;
        const char *last = (const char *)getauxval(AT_EXECFN);
        if (!last)
            return false;
        uint64_t end = ((uint64_t)(uintptr_t)last + strlen(last) + LG__PAGE) & ~(uint64_t)(LG__PAGE - 1);
        if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= end)
            return false;
        *ret_low = end - limit.rlim_cur;
        *ret_high = end;
        return true;
    }
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
    pthread_attr_destroy(&attributes);
    if (!known)
        return false;
    *ret_low = (uint64_t)(uintptr_t)low;
    *ret_high = *ret_low + size;
    return true;
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

bool lg__os_wipe_on_fork(void *pages, size_t size)
{
    return madvise(pages, size, MADV_WIPEONFORK) == 0;
}

#ifdef __GLIBC__
void lg__os_at_exit(void (*at_exit)(int status, void *argument), void *argument)
{
    on_exit(at_exit, argument);
}
#else
static void (*the_at_exit)(int status, void *argument);
static void *the_argument;

static void pass_through_exit(void)
{
    the_at_exit(0, the_argument);
}

void lg__os_at_exit(void (*at_exit)(int status, void *argument), void *argument)
{
    the_at_exit = at_exit;
    the_argument = argument;
    atexit(pass_through_exit);
}
#endif
