/* The kind of a crash: from signal, code, trap number and addresses alone. Nothing is guessed,
 * nothing is read. */
#include "capture/internal.h"

/* SEGV_MTEAERR and SEGV_MTESERR, which older headers lack (asm-generic/siginfo.h). */
#define CODE_TAG_ASYNCHRONOUS 8
#define CODE_TAG_SYNCHRONOUS 9

/* Below this an address is a field of a NULL object. */
#define NULL_OBJECT_BYTES 65536u
#define OVERFLOW_ABOVE_SP 4096u
/* One step may leave a stack this far below its end: by one huge frame. */
#define OVERFLOW_BEYOND (UINT64_C(64) << 20)
#define ADDRESS_END (UINT64_C(1) << 56) /* of user space, on every CPU */

/* The stack pointer itself leads nowhere. */
LG__FIRST static bool is_bad_stack(const struct lg__arch_fault *fault)
{
    return fault->sp < NULL_OBJECT_BYTES || fault->sp >= ADDRESS_END;
}

LG__FIRST static uint32_t classify_segv(const siginfo_t *info, const struct lg__arch_fault *fault, uint64_t address, uint64_t stack_low)
{
    bool fetch = fault->access == LG__ACCESS_UNKNOWN ? address == fault->pc : fault->access == LG__ACCESS_FETCH;
    if (info->si_code == SI_KERNEL)
        return LG_CRASH_NON_CANONICAL;
    if (info->si_code == SEGV_PKUERR)
        return LG_CRASH_PKEY;
    if (info->si_code == CODE_TAG_ASYNCHRONOUS || info->si_code == CODE_TAG_SYNCHRONOUS)
        return LG_CRASH_TAG;
    if (fetch && address == fault->pc)
        return address == 0 ? LG_CRASH_JUMP_NULL : info->si_code == SEGV_ACCERR ? LG_CRASH_EXEC_NX : LG_CRASH_JUMP_BAD;
    if (is_bad_stack(fault) && address - (fault->sp - LG__RED_ZONE) <= LG__RED_ZONE + OVERFLOW_ABOVE_SP)
        return LG_CRASH_BAD_STACK;
    /* a large frame may begin to use the memory far above sp */
    bool near_sp = address + LG__OVERFLOW_BELOW_SP >= fault->sp && (stack_low || address <= fault->sp + OVERFLOW_ABOVE_SP);
    bool below_stack = stack_low && address < stack_low + LG__PAGE && address + OVERFLOW_BEYOND >= stack_low;
    if (near_sp && (below_stack || !stack_low))
        return LG_CRASH_STACK_OVERFLOW;
    if (address == 0 && fault->access != LG__ACCESS_UNKNOWN)
        return fault->access == LG__ACCESS_WRITE ? LG_CRASH_NULL_WRITE : LG_CRASH_NULL_READ;
    if (address < NULL_OBJECT_BYTES)
        return LG_CRASH_NULL_OFFSET;
    if (info->si_code == SEGV_ACCERR) {
        if (fault->access == LG__ACCESS_WRITE && fault->on_present_page)
            return LG_CRASH_READONLY_WRITE;
        return LG_CRASH_PROTECTED;
    }
    return info->si_code == SEGV_MAPERR ? LG_CRASH_UNMAPPED : LG_CRASH_OTHER;
}

LG__FIRST static uint32_t classify_bus(const siginfo_t *info, const struct lg__arch_fault *fault)
{
    switch (info->si_code) {
    case BUS_ADRERR: return LG_CRASH_BUS_FILE;
    case BUS_MCEERR_AR:
    case BUS_MCEERR_AO: return LG_CRASH_HWPOISON;
    /* x86: a wild pointer in a register that is used for the stack */
    case SI_KERNEL: return is_bad_stack(fault) ? LG_CRASH_BAD_STACK : LG_CRASH_BUS;
    default: return LG_CRASH_BUS;
    }
}

LG__FIRST static uint32_t classify_sent(const siginfo_t *info, pid_t self)
{
    if (info->si_signo == SIGQUIT)
        return LG_CRASH_QUIT;
    if (!lg__fixed_has_sender(info))
        return info->si_code == SI_TIMER ? LG_CRASH_SIGNAL_SELF : LG_CRASH_OTHER;
    /* The kernel sends these two to the writer in the writer's own name. */
    if (info->si_code == SI_USER && info->si_pid == self && info->si_signo == SIGXFSZ)
        return LG_CRASH_LIMIT_FSIZE;
    if (info->si_code == SI_USER && info->si_pid == self && info->si_signo == SIGPIPE)
        return LG_CRASH_PIPE;
    if (info->si_code == SI_QUEUE)
        return LG_CRASH_SIGNAL_QUEUED;
    if (info->si_signo == SIGABRT && info->si_code == SI_TKILL && info->si_pid == self)
        return LG_CRASH_ABORT;
    return info->si_pid == self ? LG_CRASH_SIGNAL_SELF : LG_CRASH_SIGNAL_EXTERNAL;
}

LG__FIRST void lg__classify(const siginfo_t *info, const struct lg__arch_fault *fault, uint64_t stack_low, pid_t self,
                  struct lg__crash_header *header)
{
    header->signal = info->si_signo;
    header->code = info->si_code;
    header->flags = 0;
    header->kind = LG_CRASH_OTHER;
    header->syscall_number = -1;
    if (info->si_code <= 0) {
        /* Sent: si_addr would alias pid and uid. */
        if (lg__fixed_has_sender(info)) {
            header->flags = LG__CRASH_HAS_SENDER;
            header->sender_pid = info->si_pid;
            header->sender_uid = info->si_uid;
        }
        header->kind = classify_sent(info, self);
        return;
    }
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    /* SI_KERNEL comes with address 0, which is none; so does an alignment check of x86. */
    if (info->si_code != SI_KERNEL && !(lg__arch == LG__ARCH_X86_64 && info->si_signo == SIGBUS && info->si_code == BUS_ADRALN)) {
        header->flags = LG__CRASH_HAS_ADDRESS;
        header->address = address;
    }
    switch (info->si_signo) {
    case SIGSEGV:
        header->kind = classify_segv(info, fault, address, stack_low);
        break;
    case SIGBUS:
        header->kind = classify_bus(info, fault);
        break;
    case SIGFPE:
        header->kind = info->si_code == FPE_INTDIV || info->si_code == FPE_INTOVF ? LG_CRASH_INT_DIVIDE : LG_CRASH_FLOAT;
        break;
    case SIGILL:
        header->kind = LG_CRASH_ILLEGAL;
        break;
    case SIGTRAP:
        header->kind = info->si_code == TRAP_TRACE || info->si_code == TRAP_BRANCH ? LG_CRASH_SINGLE_STEP : LG_CRASH_BREAKPOINT;
        break;
    case SIGSYS:
        header->kind = LG_CRASH_SYSCALL;
        header->flags = LG__CRASH_HAS_SYSCALL;
        header->address = 0;
        header->syscall_number = info->si_syscall;
        header->syscall_arch = info->si_arch;
        break;
    case SIGXCPU:
        header->kind = LG_CRASH_LIMIT_CPU;
        break;
    case SIGQUIT: /* from the terminal */
        header->kind = LG_CRASH_QUIT;
        break;
    default:
        break;
    }
}
