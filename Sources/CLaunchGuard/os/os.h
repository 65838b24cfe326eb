/* Layer 0: one header for every primitive of the operating system and of the CPU.
 *
 * Nothing here knows what a run, a ledger or a record is. Functions marked "handler" may run inside
 * the crash handler: they make raw system calls only, touch neither errno nor thread-local storage,
 * take no lock and allocate nothing. The file linux.c holds the system, arch_*.c and arch_inline.h
 * the CPU; no other file asks which system or CPU it is on. */
#ifndef LG_OS_H
#define LG_OS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

/* Small memory that a start, or a crash, writes to first: beside initialized variables, on pages
 * that exist. */
#define LG__SMALL __attribute__((section(".data.lg_small")))

/* The unit of our files. The pages of the kernel are as large, or a multiple. */
#define LG__PAGE 4096u
#define LG__UUID_BYTES 16u

/* The handler calls only those libc functions that lg__os_bind() calls before. So even a program
 * that binds lazily has resolved them, and the handler never runs the dynamic linker. The shared
 * library is linked with -z now anyway. */
void lg__os_bind(void);

/* Raw system call; returns the kernel's value, −errno on failure. Handler. */
long lg__os_call(long number, long a, long b, long c, long d, long e, long f);

/* Call a function once, with the status of the process, when the process passes through exit().
 * Where libc does not pass the status (musl), that is 0. */
void lg__os_at_exit(void (*at_exit)(int status, void *argument), void *argument);

/* Ids by raw system call: never cached, so also right in a forked or vforked child. Handler. */
pid_t lg__os_pid(void);
pid_t lg__os_tid(void);

/* Nanoseconds of a CLOCK_*; 0 if the clock does not exist. Handler (vdso). */
uint64_t lg__os_clock_ns(int clock);

/* Whether this process may read the counter of the CPU. A forbidden read is a fault. */
bool lg__os_counter_allowed(void);
/* Whether the kernel itself takes its time from that counter, which is the best test whether the
 * counter can be trusted. Reads a file. */
bool lg__os_counter_trusted(void);

/* Wait while *word == seen, at most `timeout_ns` (UINT64_MAX: for ever). Returns early at any time.
 * Handler. */
void lg__os_futex_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns);
/* Wake all that wait on word. Handler. */
void lg__os_futex_wake(const uint32_t *word);

/* Whether the 8 bytes at an address (a multiple of 8) can be read: 1 or 0; −1 when the system
 * refuses to answer. Handler. */
int lg__os_readable(uint64_t address);

/* A flag of the kernel on x86-64: the return from a handler goes through code of libc. */
#define LG__SA_RESTORER UINT64_C(0x04000000)
/* Set the default disposition of a signal. Handler. */
void lg__os_signal_default(int signal);
/* Block or unblock one signal on the calling thread. Handler. */
void lg__os_signal_block(int signal, bool block);
/* The signals by which libc asks each of its threads for something, and waits for the answer. */
#define LG__OS_OF_LIBC (UINT64_C(3) << (32 - 1))
/* Change the mask of the calling thread (SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK): bit n − 1 for signal
 * n. Handler. */
void lg__os_signals_change(int how, uint64_t signals);
/* Block exactly these signals on the calling thread: bit n − 1 for signal n. Handler. */
void lg__os_signals_set(uint64_t blocked);
/* Queue a signal with its original siginfo to a thread of this process. 0 or −errno. Handler. */
long lg__os_signal_queue(pid_t pid, pid_t tid, int signal, const siginfo_t *info);
/* The same to the process. Handler. */
long lg__os_signal_queue_process(pid_t pid, int signal, const siginfo_t *info);
/* Send a signal to a thread of this process; 0 only asks whether it exists. 0 or −errno.
 * Handler. */
long lg__os_signal_send(pid_t pid, pid_t tid, int signal);
/* End the process at once, all threads. Handler. */
_Noreturn void lg__os_exit(int status);
/* Name the calling thread; 15 bytes. Handler. */
void lg__os_thread_rename(const char *name);
/* Name of the calling thread, 16 bytes with NUL. Handler. */
void lg__os_thread_name(char name[16]);

/* Address and flags of the handler that is installed for a signal. */
struct lg__os_disposition {
    uintptr_t handler;
    unsigned long flags;
};
/* Install a handler by the system call alone: also for the signals that libc keeps for itself.
 * `like` is a signal that libc installed a handler for; bit n − 1 of `mask` is signal n. Gives the
 * earlier handler. 0 or −errno. Handler. */
long lg__os_signal_take(int signal, const struct lg__os_disposition *to, uint64_t mask, int like, struct lg__os_disposition *ret_before);
/* The disposition of a signal now. Handler. */
struct lg__os_disposition lg__os_signal_now(int signal);
/* Queue a signal with a value to a thread of this process. 0 or −errno. Handler. */
long lg__os_signal_ask(pid_t pid, pid_t tid, int signal, uint64_t value);
/* Signals that the calling thread blocks: bit n − 1 for signal n. Handler. */
uint64_t lg__os_signals_blocked(void);
/* Signals that wait until the calling thread unblocks them. Handler. */
uint64_t lg__os_signals_pending(void);

/* Send `signal` to a thread of this process (tid; 0: to the process) `after_ns` from now, and from
 * then on at the interval `again_ns` (0: once), with si_code SI_TIMER and `value`. The number of
 * the timer or −errno. Handler. */
long lg__os_timer_begin(pid_t tid, int signal, uint64_t value, uint64_t after_ns, uint64_t again_ns);
/* Delete a timer; its signal may still be on its way. Handler. */
void lg__os_timer_end(long timer);

/* Whether the calling thread runs on its alternate stack, and where that is; 0 and 0: it has none.
 * Handler. */
bool lg__os_on_alternate_stack(uintptr_t *ret_low, uintptr_t *ret_high);

/* ---- linux_thread.c: a thread that libc does not know ----
 *
 * Such a thread does not keep the process alive when the program's own threads have ended, and a
 * signal handler can make it with a few system calls. The thread begins with thread-local variables
 * that are zero. It may call the functions that the handler may call. */
struct lg__os_thread {
    void *stack_top;
    uint8_t *local; /* thread-local variables and control block */
    size_t local_bytes;
    void *pointer;  /* the thread pointer */
    bool is_used;
};
/* Reserve its memory. */
bool lg__os_thread_reserve(struct lg__os_thread *ret_thread, size_t stack_bytes);
/* Give the calling thread, where its thread pointer is not one of libc's, another one and variables
 * of its own, in memory of the size that lg__os_thread_reserve() found. false: nothing was changed.
 * Uses no thread-local variable. Handler. */
struct lg__os_borrowed {
    void *lost; /* thread pointer */
    void *memory;
    size_t size;
};
bool lg__os_thread_borrow(struct lg__os_borrowed *ret_borrowed);
void lg__os_thread_give_back(const struct lg__os_borrowed *borrowed);
/* Begin a thread; one at a time in the same memory. `run` does not return. The caller blocks
 * signals, and the thread begins with the same ones. The number of the thread is stored before the
 * thread runs. 0 or −errno. Handler. */
long lg__os_thread_begin(struct lg__os_thread *thread, void (*run)(void), int32_t *ret_tid);
/* If *word reads `expected`, store `desired` and end the calling thread, which
 * lg__os_thread_begin() began. Else return. A kept thread returns when it is begun again, too.
 * Handler. */
void lg__os_thread_end_if(uint32_t *word, uint32_t expected, uint32_t desired);

/* ---- linux_thread_kept.c: a thread of libc instead, under ThreadSanitizer ---- */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LG__KEEPS_THREAD 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define LG__KEEPS_THREAD 1
#endif
#ifndef LG__KEEPS_THREAD
#define LG__KEEPS_THREAD 0
#endif
/* Around code that may interrupt the sanitizer's runtime: an instrumented store of an atomic would
 * wait for ever for a lock that the interrupted code has. With clang. */
#if LG__KEEPS_THREAD && defined(__clang__)
#define LG__NOT_INSTRUMENTED_BEGIN \
    _Pragma("clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)")
#define LG__NOT_INSTRUMENTED_END _Pragma("clang attribute pop")
#else
#define LG__NOT_INSTRUMENTED_BEGIN
#define LG__NOT_INSTRUMENTED_END
#endif
/* Make the thread, once in a process. Not handler. */
bool lg__os_kept_make(void);
/* lg__os_thread_begin() and lg__os_thread_end_if() of the thread. Handler. */
long lg__os_kept_begin(void (*run)(void), int32_t *ret_tid);
void lg__os_kept_wait_if(uint32_t *word, uint32_t expected, uint32_t desired);

/* Whether the first thread of the process has ended, and others go on. Known at once where
 * lg__os_first_thread_note() was called on that thread before; else the kernel's files are read. */
void lg__os_first_thread_note(void);
bool lg__os_first_thread_ended(void);
/* The status of the first thread, in the form of waitpid(). false: the thread has not ended, or its
 * status is not known. */
bool lg__os_first_thread_status(int *ret_status);

/* ---- linux_proc.c: facts about a process, from files of the kernel ---- */

/* Open for reading. A descriptor or −errno. Handler. */
int lg__os_open(const char *path);
/* Bytes read, 0 at the end, −errno. Handler. */
long lg__os_read(int file, void *to, size_t size);
/* The same from a place in the file. */
long lg__os_read_at(int file, void *to, size_t size, uint64_t at);
void lg__os_close(int file);
/* Bytes that wait in a pipe; 0 for any failure. Handler. */
int lg__os_bytes_waiting(int file);
/* Identity of the file of a descriptor; 0 for none. Handler. */
uint64_t lg__os_file_identity(int file);
/* The same from what stat(2) says. */
static inline uint64_t lg__os_identity(uint64_t device, uint64_t inode)
{
    return inode ^ device << 48;
}
/* Whether a descriptor still stands for that file; true also where a sandbox refuses to answer.
 * Handler. */
bool lg__os_file_is(int file, uint64_t identity);
/* Close a descriptor that was open for a while, unless the program has closed it meanwhile and the
 * number is a file of the program. Handler. */
void lg__os_close_ours(int file, uint64_t identity);
/* Move a descriptor beyond 0, 1 and 2, without which a program may have been started: the program
 * would write its output to our file. Negative numbers stay as they are. Handler. */
int lg__os_file_beyond(int file);
/* From now on, move descriptors to this number or a larger one. Shells and daemons use the low ones
 * as they like, and hand some on by number. */
void lg__os_files_from(int number);
/* Size of a file, 0 for any failure. Handler. */
uint64_t lg__os_file_size(const char *path);
/* Call `each` for every entry of an open directory whose name is a number, until it returns false.
 * Entries, or −errno. Handler. */
long lg__os_list_numbers(int directory, bool (*each)(uint32_t number, void *argument), void *argument);
/* The number at the begin of a text, in base 10 or 16; untouched if there is none. Handler. */
bool lg__os_number(const char *text, unsigned base, uint64_t *ret_number);
/* The 16 bytes at the begin of a text: two hexadecimal digits each, with dashes between them or
 * not. false: they are not there. */
bool lg__os_uuid(const char *text, uint8_t ret_bytes[LG__UUID_BYTES]);
/* The text after `key` at the begin of a line: "Key:  value"; "" if there is no such line.
 * Handler. */
const char *lg__os_text_after(const char *text, const char *key);

/* Figures that need no file. UINT64_MAX: not known; UINT64_MAX − 1 of a limit: unlimited.
 * Handler. */
struct lg__os_figures {
    uint64_t resident_peak, user_ns, system_ns, faults_minor, faults_major;
    uint64_t virtual_limit, data_limit, stack_limit, descriptor_limit, cpu_limit;
    uint64_t memory_total, memory_free, swap_total, swap_free, load, uptime;
};
void lg__os_figures(struct lg__os_figures *ret_figures);

/* The hard limit of CPU time of this process, and the time used, by the clock that the kernel
 * compares with it. false: there is no limit. Handler. */
bool lg__os_cpu_limit(uint64_t *ret_limit_s, uint64_t *ret_used_ns);
/* CPU time of a thread of this process since the thread began; 0: the calling thread. Returns 0
 * where it is unknown. Handler. */
uint64_t lg__os_thread_cpu_ns(pid_t tid);
/* Processors that this process may run on at the same time, at least 1. Handler. */
unsigned lg__os_processors(void);

/* Bytes of a page of the kernel: 4, 16 or 64 KiB. Rights and mappings change by whole pages. */
size_t lg__os_page_size(void);
/* The next multiple of a page. */
size_t lg__os_to_pages(size_t size);
/* Replace whole pages of the kernel by private anonymous zero pages with this protection (PROT_*).
 * 0 or −errno. Handler. */
long lg__os_pages_replace(void *pages, size_t size, int protection);
/* Map private anonymous zero pages; NULL: the kernel refuses. Handler. */
void *lg__os_pages_new(size_t size);
/* Whether whole pages of the kernel can be read, or written to, now. The call brings the pages in.
 * false also where the kernel cannot answer (before Linux 5.14). Handler. */
bool lg__os_pages_there(void *pages, size_t size, bool to_write);

/* Boot id of the kernel; false if it cannot be read. */
bool lg__os_boot_id(uint8_t ret_id[LG__UUID_BYTES]);
/* Start time of a process in clock ticks since boot; false if there is no such process. The number
 * is that of /proc. */
bool lg__os_start_ticks(pid_t pid, uint64_t *ret_ticks);
/* Whether that process is being ended: by exit(), or by a signal, whose core dump may take long. */
bool lg__os_is_ending(pid_t pid);
/* This process as /proc has it. Its number is not its pid where /proc is of another pid
 * namespace. */
struct lg__os_process {
    pid_t pid, parent;
    uint64_t start_ticks;
    uint64_t touched; /* signals without their default action, of 1 to 31: bit n − 1 for signal n */
};
bool lg__os_self(struct lg__os_process *ret_self);
/* The control groups of this process, as the kernel writes them: the text of /proc/self/cgroup with
 * a NUL. `root` goes before the path: "" but in tests. false: unknown. */
#define LG__CGROUPS_BYTES 8192u
bool lg__os_cgroups(const char *root, char text[LG__CGROUPS_BYTES]);
/* The number of processes of this process's memory control group that the kernel has ended for lack
 * of memory since the group was made, and the inode of the group's directory, which no other group
 * of this boot has. `cgroups` is the text of lg__os_cgroups(); NULL: it is read. false: unknown. */
bool lg__os_oom_kills(const char *cgroups, uint64_t *ret_cgroup, uint64_t *ret_count);
/* Whether the kernel's log says that the kernel ended this process for lack of memory, at
 * CLOCK_MONOTONIC `since_ns` or later. `path`: "/dev/kmsg" but in tests. false also where this user
 * may not read the log, and in a pid namespace other than the first, whose numbers are not those of
 * the log. */
bool lg__os_kernel_log_killed(const char *path, pid_t pid, uint64_t since_ns);
/* Memory in use and the nearest limit that applies: of the memory control groups of this process,
 * the one nearest to its limit; else RLIMIT_AS or RLIMIT_DATA against the process's own size; else
 * the machine's memory. Cached files, which the kernel drops before it ends a process, do not count
 * as used in a group that uses `exact_from` percent of its limit or more; below that no caller
 * needs the exact figure. `root` goes before the paths: "" but in tests. false: unknown. */
struct lg__os_memory {
    uint64_t used, limit; /* bytes */
    bool of_cgroup;
};
/* Memory of this process that no other process has and no file gives back (RssAnon); 0: unknown. */
uint64_t lg__os_own_memory(void);
bool lg__os_memory(const char *root, unsigned exact_from, struct lg__os_memory *ret_memory);
/* Open a directory whose path has no link anywhere. A descriptor or −1, also where the kernel
 * cannot promise that (before Linux 5.6, a sandbox). */
int lg__os_open_without_links(const char *path);
/* Random bytes that need not be secret but must not repeat. */
void lg__os_random(void *bytes, size_t size);
/* True in a program that runs with more rights than its caller (AT_SECURE): its environment is not
 * to be trusted. */
bool lg__os_secure(void);
/* Smallest alternate stack that the kernel's signal frame needs (AT_MINSIGSTKSZ). */
size_t lg__os_min_altstack(void);
/* Whether the process has a limit of addresses (RLIMIT_AS). */
bool lg__os_addresses_are_limited(void);
/* Whether mapped and untouched memory is free where addresses are: it counts neither against
 * RLIMIT_DATA nor against the system's limit of promised memory. */
bool lg__os_untouched_is_free(void);
/* Map private pages without access, like anonymous ones, but with a name in the memory map: a
 * program that tests or saves its anonymous memory leaves them alone. MAP_FAILED: without
 * /dev/zero, for example. */
void *lg__os_map_named(size_t size);
/* Map `size` bytes, the first and the last `guard` of them without access. NULL: no memory.
 * Handler. */
void *lg__os_map_guarded(size_t size, size_t guard);
/* sigaltstack() of the calling thread: 0 or −errno. Handler. */
long lg__os_altstack(const stack_t *to, stack_t *ret_before);
/* The line of the memory map that holds an address, or the gap between two lines. */
#define LG__OS_NAME_BYTES 4096
struct lg__os_mapping {
    uint64_t low, high;
    uint64_t file_low; /* where its file's first byte is mapped; 0: no file, or not mapped */
    bool is_mapped;    /* else a gap */
    char name[LG__OS_NAME_BYTES]; /* "" where it has none, or a longer one */
};
/* false: the map cannot be read. Reads it from its begin on, a microsecond a line. Handler. */
bool lg__os_mapping_at(uint64_t address, struct lg__os_mapping *ret_mapping);
/* Bounds of the calling thread's stack; false if unknown. */
bool lg__os_stack_bounds(uint64_t *ret_low, uint64_t *ret_high);
/* The same from the memory map, without libc: libc allocates for the answer, and the first
 * allocation of a thread gives it an arena, of 64 MiB of addresses with glibc. */
bool lg__os_stack_bounds_by_map(uint64_t *ret_low, uint64_t *ret_high);
/* Call `each` with every executable segment of every loaded module; the path of the program itself
 * is "". Under the lock of the loader. */
void lg__os_each_code(void (*each)(const char *path, uint64_t start, uint64_t end, void *argument), void *argument);
/* Bytes of the function that begins at an address; 1 where no module names it. */
uint64_t lg__os_function_bytes(const void *function);
/* Path of the program's file, "" if unknown; also where the loader was called with the program as
 * an argument. Of one that does not fit, LG__CUT and its end. */
void lg__os_executable(char *path, size_t size);
/* Put up to four texts together, without the printf() of libc, whose pages a start would be the
 * first to need. Cut where `size` ends. Returns the length of the whole. */
size_t lg__os_join(char *to, size_t size, const char *first, const char *second, const char *third, const char *fourth);
/* The digits of a number, at least so many, with a NUL. Returns where in the room they begin. */
#define LG__OS_DIGITS 24
char *lg__os_digits(uint64_t number, size_t least, char ret_room[LG__OS_DIGITS]);
/* "/proc/" number name, with a name of at most 8 bytes. */
#define LG__OS_PROCESS_PATH 32
void lg__os_process_path(char to[LG__OS_PROCESS_PATH], pid_t pid, const char *name);
/* The path, or what fits of it: LG__CUT and its end. */
void lg__os_path_end(char *to, size_t size, const char *path);
/* In place of the begin of a path. The name of a file is at the end. */
#define LG__CUT "…"
/* Program headers of the executable and its load bias; NULL if unknown. */
const void *lg__os_program_headers(size_t *ret_count, uint64_t *ret_bias);

/* ---- linux_spawn.c: a program that is independent of this process ---- */

/* Start a program whose end this process never sees by wait() or SIGCHLD, and that shares nothing
 * with it but limits, scheduling and the working directory: a session of its own, no descriptor but
 * /dev/null as 0, 1 and 2, default dispositions, no blocked signal. Where this process is init, or
 * a subreaper, the program is its child all the same. Returns 0, or errno; the program has begun
 * then. */
int lg__os_spawn_detached(const char *path, char *const argv[], char *const envp[]);

/* ---- linux_system.c: the system that the process runs on ---- */

/* Texts have a NUL, are cut to fit, and may hold any bytes; "": unknown. `root` goes before all
 * paths: "" but in tests. */

/* Facts from files about the machine and the distribution. */
struct lg__os_system {
    char model[64];          /* by the device tree, or by the firmware (DMI) */
    char os_id[32];          /* ID and VERSION_ID of os-release(5) */
    char os_version[32];
    uint8_t machine_id[16];  /* machine-id(5), which must not leave the machine; 0: unknown */
};
void lg__os_system(const char *root, struct lg__os_system *ret_system);
/* While the machine runs and this stays the same, the facts above stay the same. false: unknown. */
struct lg__os_mark {
    uint64_t inode, changed_ns;
};
bool lg__os_release_mark(const char *root, struct lg__os_mark *ret_mark);
/* Release of the kernel, and the hardware as of uname(2): "x86_64". */
void lg__os_kernel(char release[64], char hardware[16]);
/* The maker of the container, by the variable or file that it leaves as a mark. "": there is no
 * mark. A namespace alone has none. */
void lg__os_container(const char *root, char name[32]);
/* The value of `key` ("ID=") in a text in the format of os-release(5), without its quotes; the last
 * one counts. "": there is none. */
void lg__os_release_value(const char *text, size_t size, const char *key, char *to, size_t to_size);
/* The innermost service or scope of systemd in the text of lg__os_cgroups(). "": there is none. */
void lg__os_unit(const char *cgroups, char *to, size_t to_size);
/* Parse 32 hex digits, with or without a line end. false, and all zero: the text is something
 * else. */
bool lg__os_hex_id(const char *text, size_t size, uint8_t ret_id[16]);
/* The name of a process, by its number in /proc. "": unknown. */
void lg__os_process_name(pid_t pid, char name[16]);
/* The arguments of this process, each with a NUL; *ret_cut: there are more bytes. Returns the bytes
 * stored; 0: unknown. */
size_t lg__os_command_line(char *to, size_t size, bool *ret_cut);

/* Protect memory whose content a forked child must not inherit: the child reads zeros. false if the
 * kernel is too old. */
bool lg__os_wipe_on_fork(void *pages, size_t size);

/* ---- CPU (arch_*.c) ---- */

#define LG__ARCH_X86_64 1u
#define LG__ARCH_AARCH64 2u
#define LG__REGISTERS_MAX 40u

/* The CPU: LG__ARCH_*. */
extern const uint32_t lg__arch;

/* The part of the interrupted context that the handler needs. */
struct lg__arch_fault {
    uint64_t pc, sp, fp;
    uint64_t trap;  /* x86-64 trap number, else 0 */
    /* x86-64 page fault error code; on AArch64 the syndrome if the kernel gives it; else 0 */
    uint64_t error;
    /* of a page fault */
    enum lg__access { LG__ACCESS_UNKNOWN, LG__ACCESS_READ, LG__ACCESS_WRITE, LG__ACCESS_FETCH } access;
    /* refused by the rights of a page that is there; false also where the CPU does not say so */
    bool on_present_page;
};

/* Read and write the interrupted context; `ucontext` is the third argument of a signal handler.
 * Handler. */
void lg__arch_fault(const void *ucontext, struct lg__arch_fault *ret_fault);
/* The stack pointer alone. */
static inline uint64_t lg__arch_interrupted_sp(const void *ucontext)
{
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    return context.sp;
}
/* All integer registers in the order of docs/FORMAT.md; returns how many. Handler. */
uint32_t lg__arch_registers(const void *ucontext, uint64_t registers[LG__REGISTERS_MAX]);
/* Places of the instruction pointer, the stack pointer and the frame pointer among them. */
extern const uint32_t lg__arch_pc, lg__arch_sp, lg__arch_fp;
extern const uint32_t lg__arch_async; /* context of an asynchronous function of Swift */
/* If a SIGSYS came from lg__os_call(), by the answer of a sandbox, make the call fail with ENOSYS.
 * False: the signal came from elsewhere. Handler. */
bool lg__arch_refused(void *ucontext);
/* Clear CPU state that would make the handler itself fault (the x86 alignment check flag).
 * Handler. */
void lg__arch_enter_handler(void);
/* The signal mask that the return from the handler restores: take one signal out of it. Handler. */
void lg__arch_unblock_on_return(void *ucontext, int signal);
/* Put one signal into that mask. Handler. */
void lg__arch_block_on_return(void *ucontext, int signal);

/* The signals that the interrupted code blocked: bit n − 1 for signal n. Handler. */
uint64_t lg__arch_blocked(const void *ucontext);

/* Change copied registers as if the function at pc had just returned: for a pc that cannot be
 * executed, reached by a call. `word_at_sp` is what the stack holds at sp: the return address,
 * where calls push it. Handler. */
void lg__arch_return_to_caller(uint64_t registers[LG__REGISTERS_MAX], uint64_t word_at_sp);

/* Whether the code at pc is the call of rt_sigreturn(2) to which a signal handler returns: not
 * every libc and kernel has unwind tables for it. `read` copies memory, and returns the number of
 * bytes that it could copy. Handler. */
bool lg__arch_is_signal_return(uint64_t pc, size_t (*read)(void *to, uint64_t from, size_t size));
/* There, with sp as the handler left it: change the registers to those that the signal interrupted.
 * false: they cannot be read. Handler. */
bool lg__arch_leave_signal(uint64_t registers[LG__REGISTERS_MAX], size_t (*read)(void *to, uint64_t from, size_t size));
/* Where a function keeps a frame pointer, its frame ends after the two words there; else the words
 * are at its lower end. */
extern const bool lg__arch_record_ends_frame;

/* The address of code in a return address, without the CPU's signature. Handler. */
uint64_t lg__arch_code_address(uint64_t word);
/* What a call or a jump goes through: a register with that value, the word at that address, or code
 * at that address. */
struct lg__arch_callee {
    enum { LG__CALLEE_VALUE, LG__CALLEE_SLOT, LG__CALLEE_CODE } through;
    uint64_t value;
};
/* The calls that the bytes before `next` can be, where the registers are as the call left them:
 * instructions have no fixed begin. Returns their number. Handler. */
#define LG__ARCH_CALL_BYTES 8u
#define LG__ARCH_CALLEES 12u
size_t lg__arch_calls_before(const uint8_t before[LG__ARCH_CALL_BYTES], uint64_t next, const uint64_t registers[LG__REGISTERS_MAX],
                             struct lg__arch_callee ret_callees[LG__ARCH_CALLEES]);
static inline bool lg__arch_follows_call(const uint8_t before[LG__ARCH_CALL_BYTES])
{
    static const uint64_t registers[LG__REGISTERS_MAX];
    struct lg__arch_callee callees[LG__ARCH_CALLEES];
    return lg__arch_calls_before(before, 0, registers, callees) > 0;
}
/* The indirect jump that a function begins with, as the stub of a function in another module does.
 * Handler. */
#define LG__ARCH_STUB_BYTES 24u
bool lg__arch_jumps_at(const uint8_t code[LG__ARCH_STUB_BYTES], uint64_t address, const uint64_t registers[LG__REGISTERS_MAX],
                       struct lg__arch_callee *ret_callee);
/* Whether the instruction at pc is a division of integers by a value other than 0: its result does
 * not fit. `read` copies memory, and returns the number of bytes that it could copy. */
bool lg__arch_divides_by_other_than_zero(const uint64_t registers[LG__REGISTERS_MAX], size_t (*read)(void *to, uint64_t from, size_t size));

/* Copy. Returns how many bytes are left: 0, unless a handler let the copy go on at
 * lg__arch_copy_left. The places do not overlap. `site` is for the handler. */
size_t lg__arch_copy(void *to, const void *from, size_t size, uint64_t site);
extern const char lg__arch_copy_left[] __attribute__((visibility("hidden")));
/* The interrupted context is inside a copy that cannot read its source; `address` is that of the
 * fault. Handler. */
bool lg__arch_copy_failed(const void *ucontext, uint64_t address, uint64_t *ret_site);

/* setjmp() and longjmp() without the signal mask, the pointer guard and the checks of libc.
 * lg__arch_mark() returns 0, and once more 1 when lg__arch_jump() is called while its caller has
 * not returned. Handler. */
struct lg__arch_mark {
    uint64_t words[22];
};
int lg__arch_mark(struct lg__arch_mark *mark) __attribute__((returns_twice));
_Noreturn void lg__arch_jump(const struct lg__arch_mark *mark);
/* Whether valgrind simulates the CPU: 1 or 0. Handler. */
int lg__arch_is_simulated(void);
/* Make the interrupted code call lg__arch_jump() when the handler returns. Handler. */
void lg__arch_jump_on_return(void *ucontext, const struct lg__arch_mark *mark);
/* The registers that a mark holds, as lg__arch_registers(); the others are 0. Handler. */
void lg__arch_registers_of_mark(const struct lg__arch_mark *mark, uint64_t registers[LG__REGISTERS_MAX]);

/* ---- calls through NULL ---- */

/* A function that returns 0, NULL, 0.0: all registers that hold results are 0. Handler. */
void lg__arch_return_zero(void);
/* Let the interrupted context go on at an address. Handler. */
void lg__arch_go_on_at(void *ucontext, uint64_t pc);

/* ---- for linux_thread.c ---- */

/* Find out how the thread pointer can be read. Called once, before
 * lg__arch_thread_pointer_register(). */
void lg__arch_bind(void);
void *lg__arch_thread_pointer(void);
/* The same, where the pointer may lead nowhere; false: a sandbox refuses. And another one.
 * Handler. */
bool lg__arch_thread_pointer_register(void **ret_pointer);
/* The thread pointer may lead somewhere. Makes no system call; false also where the answer would
 * need one. Handler. */
bool lg__arch_thread_pointer_is_set(void);
void lg__arch_set_thread_pointer(void *pointer);
/* Whether the words that compiled code expects are at a thread pointer, which can be read.
 * Handler. */
bool lg__arch_has_thread_variables(void *const *pointer);
/* Thread-local variables lie below the thread pointer; else above it. */
extern const bool lg__arch_variables_below;
/* Write the words that compiled code expects at a thread pointer. Handler. */
void lg__arch_thread_variables(void *pointer);
/* Call a function on another stack, whose end is `stack_top`, a multiple of 16. Handler. */
void lg__arch_call_on(void (*function)(void *argument), void *argument, void *stack_top);
/* clone(2) with these flags; the new thread calls `run`. Number of the thread or −errno.
 * Handler. */
long lg__arch_thread_begin(long flags, void *stack_top, void *pointer, void (*run)(void), int32_t *ret_tid);
/* If *word reads `expected`, store `desired` and end the calling thread, which touches no memory
 * after the store: a new thread may have its stack. Else return. Handler. */
void lg__arch_thread_end_if(uint32_t *word, uint32_t expected, uint32_t desired);

/* The counter that arch_inline.h reads: the kernel's name for it as a source of time, its rate
 * where the CPU gives it (else 0), and whether it runs on at one rate in all states of the CPU. */
extern const char lg__arch_counter_source[];
uint64_t lg__arch_counter_hz(void);
bool lg__arch_counter_invariant(void);

/* Whether the CPU has the instructions for CRC-32C that arch_inline.h uses. */
bool lg__arch_has_crc32c(void);

#endif
