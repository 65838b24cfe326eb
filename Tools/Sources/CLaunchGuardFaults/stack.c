/* Section B: damage to the stack and to the context in which a handler has to run. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "catalogue.h"
#include "overflow.h"
#include "threads.h"

/* ---- overflow ---- */

int lgf_overflow(int depth)
{
    volatile char space[256];
    LGF_KEEP(space);
    space[0] = (char)depth;
    return lgf_zero ? 0 : lgf_overflow(depth + 1) + space[0];
}

LGF_WAY stack_overflow(void) { lgf_zero = lgf_overflow(0); }

static void *overflow_thread(void *argument)
{
    (void)argument;
    lgf_thread_begins();
    stack_overflow();
    return NULL;
}

static void run_on_thread(const pthread_attr_t *attributes, void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, attributes, body, NULL) != 0)
        lgf_skip("no thread can be made");
    pthread_join(thread, NULL);
}

LGF_WAY overflow_pthread(void) { run_on_thread(NULL, overflow_thread); }

static void disable_altstack(void)
{
    const stack_t none = { .ss_flags = SS_DISABLE };
    sigaltstack(&none, NULL);
}

LGF_WAY overflow_without_altstack(void)
{
    disable_altstack();
    stack_overflow();
}

LGF_WAY overflow_handler_on_stack(void)
{
    struct { /* of the kernel: the shared library would mend a loss by sigaction() at once */
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } action;
    syscall(SYS_rt_sigaction, SIGSEGV, NULL, &action, sizeof action.mask);
    action.flags &= ~(unsigned long)SA_ONSTACK;
    syscall(SYS_rt_sigaction, SIGSEGV, &action, NULL, sizeof action.mask);
    stack_overflow();
}

static void recurse_in_handler(int number)
{
    (void)number;
    stack_overflow();
}
static void fault_in_handler(int number)
{
    (void)number;
    *(volatile int *)(uintptr_t)lgf_zero = 1;
}
static void raise_on(size_t bytes, void (*handler)(int))
{
    const size_t guard = 65536;
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    uint8_t *base = mmap(NULL, guard + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = { .ss_sp = base + guard, .ss_size = bytes };
    if (base == MAP_FAILED || mprotect(base + guard, bytes, PROT_READ | PROT_WRITE) != 0 || sigaltstack(&stack, NULL) != 0)
        lgf_skip("no alternate stack can be made");
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}
LGF_WAY overflow_altstack(void) { raise_on(65536, recurse_in_handler); }
/* Room for what the kernel puts there twice, and little more. */
LGF_WAY fault_small_altstack(void) { raise_on(2 * (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024, fault_in_handler); }

/* Frames that begin to use their memory far above sp. */
static int overflow_by_large_frames(int depth)
{
    volatile char space[24 << 10];
    LGF_KEEP(space);
    space[sizeof space - 64] = (char)depth;
    return lgf_zero ? 0 : overflow_by_large_frames(depth + 1) + space[sizeof space - 64];
}

LGF_WAY overflow_large(void) { lgf_zero = overflow_by_large_frames(0); }

static void *overflow_large_thread(void *argument)
{
    (void)argument;
    lgf_thread_begins();
    overflow_large();
    return NULL;
}

LGF_WAY overflow_large_pthread(void) { run_on_thread(NULL, overflow_large_thread); }

LGF_WAY overflow_lowered_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0)
        lgf_skip("the limit of the stack is not known");
    limit.rlim_cur = 512 << 10;
    if (setrlimit(RLIMIT_STACK, &limit) != 0)
        lgf_skip("the limit of the stack cannot be lowered");
    stack_overflow();
}

/* The far end of 3 GiB of a stack is touched. */
LGF_WAY overflow_alloca(void)
{
    volatile size_t size = (size_t)3 << 30; /* clang gets a constant of more than 31 bits wrong */
    volatile char *space = __builtin_alloca(size);
    LGF_KEEP(space);
    space[0] = 1;
    lgf_zero = space[0] - 1;
}

#ifdef __GLIBC__ /* musl has no coroutines */
static ucontext_t before_coroutine, in_coroutine;

LGF_WAY overflow_coroutine(void)
{
    enum { GUARD = 1 << 20, STACK = 64 << 10 };
    char *base = mmap(NULL, GUARD + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + GUARD, STACK, PROT_READ | PROT_WRITE) != 0 || getcontext(&in_coroutine) != 0)
        lgf_skip("no memory for a stack");
    in_coroutine.uc_stack.ss_sp = base + GUARD;
    in_coroutine.uc_stack.ss_size = STACK;
    in_coroutine.uc_link = &before_coroutine;
    makecontext(&in_coroutine, overflow_large, 0);
    swapcontext(&before_coroutine, &in_coroutine);
}
#else
LGF_WAY overflow_coroutine(void) { lgf_skip("this libc has no coroutines"); }
#endif

/* A frame that reaches over the guard page. Only its far end is touched. */
LGF_WAY clash_small(void)
{
    volatile char big[200 * 1024];
    LGF_KEEP(big);
    big[0] = 1;
    lgf_zero = big[0] - 1;
}

static void *clash_thread(void *argument)
{
    (void)argument;
    lgf_thread_begins();
    clash_small();
    return NULL;
}

/* The smallest stack of AArch64 above 1 MiB that no code may touch: otherwise the memory below a
 * stack is a matter of chance. */
LGF_WAY stack_clash_pthread(void)
{
    enum { GUARD = 1 << 20, STACK = 128 << 10 };
    pthread_attr_t attributes;
    char *base = mmap(NULL, GUARD + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + GUARD, STACK, PROT_READ | PROT_WRITE) != 0 || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, base + GUARD, STACK) != 0)
        lgf_skip("no memory for a stack");
    run_on_thread(&attributes, clash_thread);
}

LGF_WAY stack_clash_main(void)
{
    volatile char big[9 << 20];
    LGF_KEEP(big);
    big[0] = 1;
    lgf_zero = big[0] - 1;
}

/* ---- registers and frames ---- */

LGF_WAY stack_pointer_garbage(void)
{
#if defined(__x86_64__)
    __asm__ volatile("movq $0x1000, %%rsp\n\tmovl $1, 0" ::: "memory");
#else
    __asm__ volatile("mov x9, #0x1000\n\tmov sp, x9\n\tmov x10, #0\n\tstr wzr, [x10]" ::: "x9", "x10", "memory");
#endif
}
LGF_WAY stack_pointer_garbage_without_altstack(void)
{
    disable_altstack();
    stack_pointer_garbage();
}
LGF_WAY frame_pointer_garbage(void)
{
#if defined(__x86_64__)
    __asm__ volatile("movq $0x123456789, %%rbp\n\tmovl $1, 0" ::: "memory");
#else
    __asm__ volatile("mov x29, #0x6789\n\tmovk x29, #0x2345, lsl #16\n\tmov x10, #0\n\tstr wzr, [x10]" ::: "x10", "memory");
#endif
}

static __attribute__((noinline)) void overwrite_callers(void)
{
    volatile char *at = __builtin_frame_address(0);
    for (int i = 0; i < 512; i++)
        at[i] = 0x41;
    *(volatile int *)(uintptr_t)lgf_zero = 1;
}
LGF_WAY frame_chain_overwritten(void)
{
    volatile char room[2048]; /* the first frames of a thread lie below its own data */
    LGF_KEEP(room);
    room[0] = room[sizeof room - 1] = 0;
    overwrite_callers();
    lgf_zero = room[0];
}

/* ---- the alternate stack ---- */

LGF_WAY altstack_small(void)
{
    static char room[1 << 20]; /* an overflow at the bottom damages no other data */
    unsigned long least = getauxval(AT_MINSIGSTKSZ);
    const stack_t small = { .ss_sp = room + sizeof room / 2, .ss_size = least > 2048 ? least : 2048 };
    if (sigaltstack(&small, NULL) != 0)
        lgf_skip("the kernel refuses so small an alternate stack");
    *(volatile int *)(uintptr_t)lgf_zero = 1;
}

static char *altstack(size_t size)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *base = mmap(NULL, size + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + guard, size, PROT_READ | PROT_WRITE) != 0)
        lgf_skip("no memory for a stack");
    const stack_t other = { .ss_sp = base + guard, .ss_size = size };
    if (sigaltstack(&other, NULL) != 0)
        lgf_skip("the kernel refuses the alternate stack");
    return base + guard;
}

LGF_WAY altstack_replaced(void)
{
    altstack(8192);
    *(volatile int *)(uintptr_t)lgf_zero = 1;
}
LGF_WAY altstack_unmapped(void)
{
    munmap(altstack(65536), 65536);
    *(volatile int *)(uintptr_t)lgf_zero = 1;
}

/* ---- the checks of the C library and the compiler ---- */

/* The checking functions are called as compiled code calls them, so that no build option
 * matters. */
extern _Noreturn void __stack_chk_fail(void);
LGF_WAY stack_smashing(void) { __stack_chk_fail(); }

extern _Noreturn void __longjmp_chk(jmp_buf environment, int value);
static jmp_buf dead;
static __attribute__((noinline)) int leave_frame(void)
{
    volatile char deeper[512];
    LGF_KEEP(deeper);
    deeper[0] = 0;
    return setjmp(dead) + deeper[0];
}
LGF_WAY longjmp_dead_frame(void)
{
    if (leave_frame() == 0)
        __longjmp_chk(dead, 1);
}

/* x86-64 moves sp below the stack before it writes there, and the kernel begins the stack anew for
 * the handler. AArch64 moves sp by the write, which has not happened: the kernel has no room. */
#if defined(__x86_64__)
#define OVERFLOW_OF_ALTSTACK LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW)
#else
#define OVERFLOW_OF_ALTSTACK \
    .status = LGF_SIGNAL, .number = SIGSEGV, .kinds = { LG_CRASH_STACK_OVERFLOW }, .record = LGF_RECORD_ANY, .launch = 'Y'
#endif

const struct lgf_entry lgf_stack[] = {
    { LGF_NAMED("stack-overflow", 'B', "recurses without end", stack_overflow),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW), .traits = LGF_CORE },
    { LGF_NAMED("stack-overflow-pthread", 'B', "recurses without end on a thread of its own", overflow_pthread),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("stack-overflow-large-frames", 'B', "recurses with frames of 24 KiB, whose upper ends are used first", overflow_large),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW) },
    { LGF_NAMED("stack-overflow-large-frames-pthread", 'B', "recurses with such frames on a thread of its own", overflow_large_pthread),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("stack-overflow-lowered-limit", 'B', "recurses after it lowered the limit of its stack", overflow_lowered_limit),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW) },
    { LGF_NAMED("stack-overflow-alloca", 'B', "takes 3 GiB of its stack", overflow_alloca), LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW) },
    { LGF_NAMED("stack-overflow-coroutine", 'B', "recurses on the stack of a coroutine", overflow_coroutine),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW) },
    { LGF_NAMED("stack-overflow-no-altstack", 'B', "recurses without end where no handler can run", overflow_without_altstack),
      LGF_UNSEEN(SIGSEGV, 'Y') },
    { LGF_NAMED("stack-overflow-altstack", 'B', "recurses in a handler on an alternate stack", overflow_altstack),
      OVERFLOW_OF_ALTSTACK },
    { LGF_NAMED("fault-small-altstack", 'B', "writes through a NULL pointer in a handler on an alternate stack that is full", fault_small_altstack),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("stack-overflow-handler-on-stack", 'B', "recurses after other code dropped SA_ONSTACK", overflow_handler_on_stack),
      LGF_UNSEEN(SIGSEGV, 'Y') },
    { LGF_NAMED("stack-clash-pthread", 'B', "has a frame that skips the guard page of a small stack", stack_clash_pthread),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("stack-clash-main", 'B', "has a frame of 9 MiB on a stack of 8 MiB", stack_clash_main),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW) },
    { LGF_NAMED("stack-pointer-garbage", 'B', "faults with a stack pointer that leads nowhere", stack_pointer_garbage),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("stack-pointer-garbage-no-altstack", 'B', "faults with a stack pointer that leads nowhere, where no handler can run", stack_pointer_garbage_without_altstack),
      LGF_UNSEEN(SIGSEGV, 'Y') },
    { LGF_NAMED("frame-pointer-garbage", 'B', "faults with a frame pointer that leads nowhere", frame_pointer_garbage),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("frame-chain-overwritten", 'B', "overwrites 512 bytes of its callers' frames and faults", frame_chain_overwritten),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("altstack-small", 'B', "faults with the smallest alternate stack that the kernel accepts", altstack_small),
      .status = LGF_SIGNAL, .number = SIGSEGV, .kinds = { LG_CRASH_NULL_WRITE }, .record = LGF_RECORD_ANY, .launch = 'Y' },
    { LGF_NAMED("altstack-replaced", 'B', "faults with a foreign alternate stack of 8 KiB", altstack_replaced),
      .status = LGF_SIGNAL, .number = SIGSEGV, .kinds = { LG_CRASH_NULL_WRITE }, .record = LGF_RECORD_HEADER,
      .address = LGF_ADDRESS_YES, .ends = LGF_END(CRASH), .launch = 'Y' },
    { LGF_NAMED("altstack-unmapped", 'B', "faults after other code unmapped the alternate stack", altstack_unmapped),
      LGF_UNSEEN(SIGSEGV, 'Y') },
    { LGF_NAMED("stack-smashing", 'B', "is stopped by the stack protector", stack_smashing),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_STACK_SMASH), .message = "stack smashing detected" },
    { LGF_NAMED("longjmp-dead-frame", 'B', "jumps to a frame that was left, and is stopped", longjmp_dead_frame),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_LONGJMP), .message = "longjmp causes uninitialized stack frame" },
    { .name = NULL },
};
