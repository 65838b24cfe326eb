/* Instructions that a compiler does not make: a breakpoint, none that exists, and a crash with this
 * value in the frame pointer or the stack pointer. */
#ifndef WILD_H
#define WILD_H

#if defined(__x86_64__)
#define BREAKPOINT() __asm__ volatile("int3")
#define ILLEGAL() __asm__ volatile("ud2")
#define CRASH_WITH_FRAME(pointer) __asm__ volatile("movq %0, %%rbp\n\tmovl $1, 0" : : "r"((uint64_t)(uintptr_t)(pointer)) : "memory")
#define CRASH_WITH_STACK(pointer) __asm__ volatile("movq %0, %%rsp\n\tmovl $1, 0" : : "r"((uint64_t)(uintptr_t)(pointer)) : "memory")
#elif defined(__aarch64__)
#define BREAKPOINT() __asm__ volatile("brk #0")
#define ILLEGAL() __asm__ volatile("udf #0")
#define CRASH_WITH_FRAME(pointer) __asm__ volatile("mov x29, %0\n\tstr wzr, [%1]" : : "r"((uint64_t)(uintptr_t)(pointer)), "r"(UINT64_C(0)) : "memory")
#define CRASH_WITH_STACK(pointer) __asm__ volatile("mov sp, %0\n\tstr wzr, [%1]" : : "r"((uint64_t)(uintptr_t)(pointer)), "r"(UINT64_C(0)) : "memory")
#endif

#endif
