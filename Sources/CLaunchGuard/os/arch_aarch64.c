/* The CPU: AArch64. */
#if defined(__aarch64__)
#include "os/os.h"

#include <ucontext.h>

const uint32_t lg__arch = LG__ARCH_AARCH64;

long lg__os_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

void lg__arch_fault(const void *ucontext, struct lg__arch_fault *ret_fault)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;
    ret_fault->pc = machine->pc;
    ret_fault->sp = machine->sp;
    ret_fault->fp = machine->regs[29];
    ret_fault->trap = 0;
    ret_fault->error = 0;
}

uint32_t lg__arch_registers(const void *ucontext, uint64_t registers[LG__REGISTERS_MAX])
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;
    for (uint32_t i = 0; i < 31; i++)
        registers[i] = machine->regs[i];
    registers[31] = machine->sp;
    registers[32] = machine->pc;
    registers[33] = machine->pstate;
    return 34;
}

void lg__arch_enter_handler(void) {}

void lg__arch_unblock_on_return(void *ucontext, int signal)
{
    sigdelset(&((ucontext_t *)ucontext)->uc_sigmask, signal);
}

void lg__arch_return_to_caller(void *ucontext, uint64_t word_at_sp)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;
    (void)word_at_sp; /* a call leaves the return address in the link register */
    machine->pc = machine->regs[30];
}

lg__arch_crc32c_function lg__arch_crc32c(void)
{
    return NULL;
}

#else
typedef int lg__not_aarch64;
#endif
