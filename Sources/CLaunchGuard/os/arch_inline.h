/* The CPU: functions that are so small that a call would cost more. The rest is in arch_*.c. */
#ifndef LG_OS_ARCH_INLINE_H
#define LG_OS_ARCH_INLINE_H

#include <signal.h>
#include <stdint.h>

/* A function on the way to the first commit of a crash: linkers put all such functions together, in
 * one page or two, of which none was used for long. */
#define LG__FIRST __attribute__((hot))

/* A handler that the kernel calls, with siginfo and context also where other code took SA_SIGINFO
 * from its action. That siginfo is not filled. AArch64's kernel leaves out both arguments then: the
 * entry takes them from the frame of the signal, which is at the stack pointer where the handler
 * returns into rt_sigreturn(). */
#if defined(__aarch64__)
#define LG__ARCH_HANDLER(name)                                                                                                   \
    __attribute__((used, visibility("hidden"))) void name##_entered(int signal, siginfo_t *info, void *ucontext);                \
    __asm__(".text\n.balign 16\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n"                   \
            "    .cfi_startproc\n    hint #34\n    mov x9, sp\n    add x10, sp, #128\n"                                          \
            "    cmp x1, x9\n    ccmp x2, x10, #0, eq\n    b.eq 1f\n"                                                            \
            "    ldr w11, [x30]\n    movz w12, #0x1168\n    movk w12, #0xd280, lsl #16\n    cmp w11, w12\n    b.ne 1f\n"         \
            "    mov x1, x9\n    mov x2, x10\n"                                                                                  \
            "1:  b " #name "_entered\n    .cfi_endproc\n.size " #name ", . - " #name "\n");                                      \
    void name##_entered(int signal, siginfo_t *info, void *ucontext)
#else
#define LG__ARCH_HANDLER(name) void name(int signal, siginfo_t *info, void *ucontext)
#endif

/* The first call of a thread. Where libc has no unwind tables (musl), the caller is the outermost
 * frame of a walk, and the call none in its place. */
#if defined(__GLIBC__) || !defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define LG__ARCH_FIRST_CALL(result, call) ((result) = (call))
#else
#if defined(__aarch64__)
#define LG__ARCH_OUTERMOST ".cfi_undefined x30"
#else
#define LG__ARCH_OUTERMOST ".cfi_undefined rip"
#endif
#define LG__ARCH_FIRST_CALL(result, call)         \
    do {                                          \
        __asm__ volatile(LG__ARCH_OUTERMOST);     \
        (result) = (call);                        \
        __asm__ volatile("" : "+r"(result));      \
    } while (0)
#endif

/* The counter that runs at one rate on all cores. The CPU may read the counter early, before
 * earlier instructions of the program are done: a thread that takes a lock may read it before
 * another thread has released that lock. Handler. */
static inline uint64_t lg__arch_counter(void);
/* The same after all earlier instructions: that costs more than everything else about an entry.
 * Handler. */
static inline uint64_t lg__arch_counter_ordered(void);

/* CRC-32C step over 8, 4, 2 or 1 bytes by the CPU's instruction; only where lg__arch_has_crc32c().
 * Handler. */
static inline uint64_t lg__arch_crc32c_8(uint64_t crc, uint64_t bytes);
static inline uint64_t lg__arch_crc32c_4(uint64_t crc, uint32_t bytes);
static inline uint64_t lg__arch_crc32c_2(uint64_t crc, uint16_t bytes);
static inline uint64_t lg__arch_crc32c_1(uint64_t crc, uint8_t byte);

#if defined(__x86_64__)

static inline uint64_t lg__arch_counter(void)
{
    uint64_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return high << 32 | low;
}

static inline uint64_t lg__arch_counter_ordered(void)
{
    __asm__ volatile("lfence" : : : "memory");
    return lg__arch_counter();
}

/* In assembly: the builtins want the whole function compiled for a CPU that has the instruction. */
static inline uint64_t lg__arch_crc32c_8(uint64_t crc, uint64_t bytes)
{
    __asm__("crc32q %1, %0" : "+r"(crc) : "r"(bytes));
    return crc;
}

static inline uint64_t lg__arch_crc32c_4(uint64_t crc, uint32_t bytes)
{
    __asm__("crc32l %1, %k0" : "+r"(crc) : "r"(bytes));
    return crc;
}

static inline uint64_t lg__arch_crc32c_2(uint64_t crc, uint16_t bytes)
{
    __asm__("crc32w %1, %k0" : "+r"(crc) : "r"(bytes));
    return crc;
}

static inline uint64_t lg__arch_crc32c_1(uint64_t crc, uint8_t byte)
{
    __asm__("crc32b %1, %k0" : "+r"(crc) : "q"(byte));
    return crc;
}

#elif defined(__aarch64__)

static inline uint64_t lg__arch_counter(void)
{
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count) : : "memory");
    return count;
}

static inline uint64_t lg__arch_counter_ordered(void)
{
    __asm__ volatile("isb" : : : "memory");
    return lg__arch_counter();
}

static inline uint64_t lg__arch_crc32c_8(uint64_t crc, uint64_t bytes)
{
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(bytes));
    return crc;
}

static inline uint64_t lg__arch_crc32c_4(uint64_t crc, uint32_t bytes)
{
    __asm__(".arch_extension crc\n\tcrc32cw %w0, %w0, %w1" : "+r"(crc) : "r"(bytes));
    return crc;
}

static inline uint64_t lg__arch_crc32c_2(uint64_t crc, uint16_t bytes)
{
    __asm__(".arch_extension crc\n\tcrc32ch %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)bytes));
    return crc;
}

static inline uint64_t lg__arch_crc32c_1(uint64_t crc, uint8_t byte)
{
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)byte));
    return crc;
}

#endif
#endif
