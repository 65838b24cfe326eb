/* The CPU: AArch64. */
#if defined(__aarch64__)
#include "os/arch_inline.h"
#include "os/os.h"

#include <asm/hwcap.h>
#include <assert.h>
#include <errno.h>
#include <sys/auxv.h>
#include <ucontext.h>

static_assert(sizeof(siginfo_t) == 128, "LG__ARCH_HANDLER: the context is after it in the frame");

const uint32_t lg__arch = LG__ARCH_AARCH64;
const uint32_t lg__arch_pc = 32, lg__arch_sp = 31, lg__arch_fp = 29, lg__arch_async = 22;

/* In assembly, so that the place after the instruction has a name. */
__asm__(".text\n"
        ".globl lg__os_call\n.hidden lg__os_call\n.type lg__os_call, %function\n"
        "lg__os_call:\n"
        "    .cfi_startproc\n"
        "    mov x8, x0\n    mov x0, x1\n    mov x1, x2\n    mov x2, x3\n    mov x3, x4\n    mov x4, x5\n    mov x5, x6\n    svc 0\n"
        /* link-time optimisation may part the assembly from its readers */
        ".globl lg__arch_behind_call\n.hidden lg__arch_behind_call\n"
        "lg__arch_behind_call:\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size lg__os_call, . - lg__os_call\n");
extern const char lg__arch_behind_call[] __attribute__((visibility("hidden")));

/* A request to valgrind: its number below the stack, and a sequence that does nothing otherwise. */
__asm__(".text\n"
        ".globl lg__arch_is_simulated\n.hidden lg__arch_is_simulated\n.type lg__arch_is_simulated, %function\n"
        "lg__arch_is_simulated:\n"
        "    .cfi_startproc\n"
        "    sub sp, sp, #48\n    .cfi_def_cfa_offset 48\n"
        "    mov x3, #0x1001\n    str x3, [sp]\n    mov x3, #0\n    mov x4, sp\n"
        "    ror x12, x12, #3\n    ror x12, x12, #13\n    ror x12, x12, #51\n    ror x12, x12, #61\n    orr x10, x10, x10\n"
        "    add sp, sp, #48\n    .cfi_def_cfa_offset 0\n    mov x0, x3\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_is_simulated, . - lg__arch_is_simulated\n");

/* Frame pointer and return address of the new thread are 0, so that a walk ends. The exclusive
 * store is the last access to memory of a thread that ends. */
__asm__(".text\n"
        ".globl lg__arch_thread_begin\n.hidden lg__arch_thread_begin\n.type lg__arch_thread_begin, %function\n"
        "lg__arch_thread_begin:\n"
        "    str x3, [x1, #-16]!\n    mov x3, x2\n    mov x2, x4\n    mov x4, xzr\n    mov x8, #220\n    svc 0\n"
        ".globl lg__arch_behind_clone\n.hidden lg__arch_behind_clone\n"
        "lg__arch_behind_clone:\n"
        "    cbz x0, 1f\n    ret\n"
        "1:  .cfi_startproc\n    .cfi_undefined x30\n    mov x29, xzr\n    mov x30, xzr\n    ldr x1, [sp], #16\n    blr x1\n    brk #1\n"
        "    .cfi_endproc\n"
        ".size lg__arch_thread_begin, . - lg__arch_thread_begin\n"
        ".globl lg__arch_call_on\n.hidden lg__arch_call_on\n.type lg__arch_call_on, %function\n"
        "lg__arch_call_on:\n"
        "    .cfi_startproc\n    stp x29, x30, [sp, #-16]!\n    .cfi_def_cfa_offset 16\n    .cfi_offset x29, -16\n    .cfi_offset x30, -8\n"
        "    mov x29, sp\n    .cfi_def_cfa_register x29\n    mov sp, x2\n    mov x9, x0\n    mov x0, x1\n    blr x9\n"
        "    mov sp, x29\n    .cfi_def_cfa_register sp\n    ldp x29, x30, [sp], #16\n    .cfi_def_cfa_offset 0\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_call_on, . - lg__arch_call_on\n"
        ".globl lg__arch_thread_end_if\n.hidden lg__arch_thread_end_if\n.type lg__arch_thread_end_if, %function\n"
        "lg__arch_thread_end_if:\n"
        "1:  ldaxr w3, [x0]\n    cmp w3, w1\n    b.ne 2f\n    stlxr w4, w2, [x0]\n    cbnz w4, 1b\n    mov x8, #93\n    mov x0, xzr\n    svc 0\n"
        "2:  clrex\n    ret\n"
        ".size lg__arch_thread_end_if, . - lg__arch_thread_end_if\n");
extern const char lg__arch_behind_clone[] __attribute__((visibility("hidden")));

const bool lg__arch_variables_below = false;

void *lg__arch_thread_pointer(void)
{
    void *pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

void lg__arch_bind(void) {}

bool lg__arch_thread_pointer_register(void **ret_pointer)
{
    *ret_pointer = lg__arch_thread_pointer();
    return true;
}

bool lg__arch_thread_pointer_is_set(void)
{
    return lg__arch_thread_pointer();
}

void lg__arch_set_thread_pointer(void *pointer)
{
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
}

bool lg__arch_has_thread_variables(void *const *pointer)
{
    (void)pointer; /* none are expected */
    return true;
}

void lg__arch_thread_variables(void *pointer)
{
    (void)pointer; /* none: the variables' places are known from the pointer alone */
}

bool lg__arch_refused(void *ucontext)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;
    if (machine->pc != (uintptr_t)lg__arch_behind_call && machine->pc != (uintptr_t)lg__arch_behind_clone)
        return false;
    machine->regs[0] = (uint64_t)-ENOSYS;
    return true;
}

/* The syndrome of the fault, from the blocks after the registers (asm/sigcontext.h); 0: the kernel
 * does not give it. */
static uint64_t syndrome_of(const mcontext_t *machine)
{
    const uint8_t *at = machine->__reserved, *end = at + sizeof machine->__reserved;
    struct _aarch64_ctx head;
    while ((size_t)(end - at) >= sizeof(struct esr_context)) {
        memcpy(&head, at, sizeof head);
        if (head.magic == ESR_MAGIC)
            return ((const struct esr_context *)(const void *)at)->esr;
        if (head.magic == 0 || head.size < sizeof head || head.size > (size_t)(end - at))
            break;
        at += head.size;
    }
    return 0;
}

/* Exception classes 0x20 and 0x24: aborts of an instruction and of data from EL0; bit 6 of the
 * latter's: a write; status 0b0011xx: the page is there, and its rights refuse (Arm ARM,
 * D17.2.37). */
static enum lg__access access_of(uint64_t syndrome)
{
    switch (syndrome >> 26 & 0x3f) {
    case 0x20: return LG__ACCESS_FETCH;
    case 0x24: return syndrome & 0x40 ? LG__ACCESS_WRITE : LG__ACCESS_READ;
    default: return LG__ACCESS_UNKNOWN;
    }
}

static bool is_refused_by_page(uint64_t syndrome)
{
    return access_of(syndrome) != LG__ACCESS_UNKNOWN && (syndrome & 0x3c) == 0x0c;
}

LG__FIRST void lg__arch_fault(const void *ucontext, struct lg__arch_fault *ret_fault)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;
    ret_fault->pc = machine->pc;
    ret_fault->sp = machine->sp;
    ret_fault->fp = machine->regs[29];
    ret_fault->trap = 0;
    ret_fault->error = syndrome_of(machine);
    ret_fault->access = access_of(ret_fault->error);
    ret_fault->on_present_page = is_refused_by_page(ret_fault->error);
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

const bool lg__arch_record_ends_frame = false;

bool lg__arch_is_signal_return(uint64_t pc, size_t (*read)(void *to, uint64_t from, size_t size))
{
    static const uint32_t returns[] = { 0xd2801168, 0xd4000001 }; /* mov x8, #139; svc #0 */
    uint32_t code[2];
    return read(code, pc, sizeof code) == sizeof code && memcmp(code, returns, sizeof code) == 0;
}

bool lg__arch_leave_signal(uint64_t registers[LG__REGISTERS_MAX], size_t (*read)(void *to, uint64_t from, size_t size))
{
    uint64_t interrupted[33]; /* x0…x30, sp, pc */
    /* of the kernel's frame: siginfo, then the context */
    const uint64_t context = registers[lg__arch_sp] + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs);
    static_assert(offsetof(mcontext_t, pc) - offsetof(mcontext_t, regs) == sizeof interrupted - sizeof interrupted[0], "one piece");
    if (read(interrupted, context, sizeof interrupted) != sizeof interrupted)
        return false;
    memcpy(registers, interrupted, sizeof interrupted);
    return true;
}

/* Pointer authentication signs in bits whose number depends on the kernel: the CPU takes them out.
 * The instruction, xpaclri, does nothing on a CPU without. */
uint64_t lg__arch_code_address(uint64_t word)
{
    register uint64_t address __asm__("x30") = word;
    __asm__("hint #7" : "+r"(address));
    return address;
}

/* Bytes up to a multiple of 16 in the source, 16 bytes at a time, the rest: a load that faults is
 * at the first byte that cannot be read. x1 is the next byte, x2 how many are left, x3 `site`. */
__asm__(".text\n"
        ".globl lg__arch_copy\n.hidden lg__arch_copy\n.type lg__arch_copy, %function\n"
        "lg__arch_copy:\n"
        "    .cfi_startproc\n"
        "1:  cbz x2, 4f\n    tst x1, #15\n    b.eq 2f\n"
        ".globl lg__arch_copy_first\n.hidden lg__arch_copy_first\n"
        "lg__arch_copy_first:\n"
        "    ldrb w4, [x1]\n    strb w4, [x0], #1\n    add x1, x1, #1\n    sub x2, x2, #1\n    b 1b\n"
        "2:  cmp x2, #16\n    b.lo 3f\n"
        ".globl lg__arch_copy_load\n.hidden lg__arch_copy_load\n"
        "lg__arch_copy_load:\n"
        "    ldp x4, x5, [x1]\n    stp x4, x5, [x0], #16\n    add x1, x1, #16\n    sub x2, x2, #16\n    b 2b\n"
        "3:  cbz x2, 4f\n"
        ".globl lg__arch_copy_last\n.hidden lg__arch_copy_last\n"
        "lg__arch_copy_last:\n"
        "    ldrb w4, [x1]\n    strb w4, [x0], #1\n    add x1, x1, #1\n    sub x2, x2, #1\n    b 3b\n"
        ".globl lg__arch_copy_left\n.hidden lg__arch_copy_left\n"
        "lg__arch_copy_left:\n"
        "4:  mov x0, x2\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_copy, . - lg__arch_copy\n");
extern const char lg__arch_copy_first[] __attribute__((visibility("hidden")));
extern const char lg__arch_copy_load[] __attribute__((visibility("hidden")));
extern const char lg__arch_copy_last[] __attribute__((visibility("hidden")));

bool lg__arch_copy_failed(const void *ucontext, uint64_t address, uint64_t *ret_site)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;
    (void)address; /* these instructions only load */
    *ret_site = machine->regs[3];
    return machine->pc == (uintptr_t)lg__arch_copy_first || machine->pc == (uintptr_t)lg__arch_copy_load || machine->pc == (uintptr_t)lg__arch_copy_last;
}

size_t lg__arch_calls_before(const uint8_t before[LG__ARCH_CALL_BYTES], uint64_t next, const uint64_t registers[LG__REGISTERS_MAX],
                             struct lg__arch_callee ret_callees[LG__ARCH_CALLEES])
{
    uint32_t code;
    memcpy(&code, before + LG__ARCH_CALL_BYTES - sizeof code, sizeof code);
    const uint32_t number = code >> 5 & 31;
    if ((code & 0xfc000000) == 0x94000000) { /* bl */
        const int64_t distance = (int64_t)((uint64_t)code << 38) >> 36;
        ret_callees[0] = (struct lg__arch_callee){ LG__CALLEE_CODE, next - sizeof code + (uint64_t)distance };
        return 1;
    }
    /* blr; blraaz and blrabz; blraa and blrab. The call overwrites x30. */
    const bool indirect = (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfffff81f) == 0xd63f081f || (code & 0xfffff800) == 0xd73f0800;
    if (!indirect || number == 31)
        return 0;
    ret_callees[0] = (struct lg__arch_callee){ LG__CALLEE_VALUE, lg__arch_code_address(registers[number]) };
    return 1;
}

bool lg__arch_jumps_at(const uint8_t code[LG__ARCH_STUB_BYTES], uint64_t address, const uint64_t registers[LG__REGISTERS_MAX],
                       struct lg__arch_callee *ret_callee)
{
    (void)address;
    /* br, at the begin, after bti, or as the stub does: adrp, ldr, add, br */
    for (size_t at = 0; at < LG__ARCH_STUB_BYTES; at += sizeof(uint32_t)) {
        uint32_t instruction;
        memcpy(&instruction, code + at, sizeof instruction);
        const bool prepares = instruction == 0xd503245f || (instruction & 0x9f00001f) == 0x90000010 || (instruction & 0xffc003ff) == 0xf9400211 ||
                              (instruction & 0xff8003ff) == 0x91000210;
        if ((instruction & 0xfffffc1f) == 0xd61f0000 && (instruction >> 5 & 31) < 31) {
            *ret_callee = (struct lg__arch_callee){ LG__CALLEE_VALUE, lg__arch_code_address(registers[instruction >> 5 & 31]) };
            return true;
        }
        if (!prepares)
            return false;
    }
    return false;
}

/* The registers that a function preserves (AAPCS64, 6.1): x19…x30, sp, the low halves of v8…v15. */
__asm__(".text\n"
        ".globl lg__arch_mark\n.hidden lg__arch_mark\n.type lg__arch_mark, %function\n"
        "lg__arch_mark:\n"
        "    stp x19, x20, [x0, 0]\n    stp x21, x22, [x0, 16]\n    stp x23, x24, [x0, 32]\n    stp x25, x26, [x0, 48]\n"
        "    stp x27, x28, [x0, 64]\n    stp x29, x30, [x0, 80]\n    mov x2, sp\n    str x2, [x0, 96]\n"
        "    stp d8, d9, [x0, 104]\n    stp d10, d11, [x0, 120]\n    stp d12, d13, [x0, 136]\n    stp d14, d15, [x0, 152]\n"
        "    mov w0, 0\n    ret\n"
        ".globl lg__arch_jump\n.hidden lg__arch_jump\n.type lg__arch_jump, %function\n"
        "lg__arch_jump:\n"
        "    ldp x19, x20, [x0, 0]\n    ldp x21, x22, [x0, 16]\n    ldp x23, x24, [x0, 32]\n    ldp x25, x26, [x0, 48]\n"
        "    ldp x27, x28, [x0, 64]\n    ldp x29, x30, [x0, 80]\n    ldr x2, [x0, 96]\n    mov sp, x2\n"
        "    ldp d8, d9, [x0, 104]\n    ldp d10, d11, [x0, 120]\n    ldp d12, d13, [x0, 136]\n    ldp d14, d15, [x0, 152]\n"
        "    mov w0, 1\n    ret\n");

void lg__arch_jump_on_return(void *ucontext, const struct lg__arch_mark *mark)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;
    machine->pc = (uintptr_t)lg__arch_jump;
    machine->regs[0] = (uintptr_t)mark;
}

void lg__arch_registers_of_mark(const struct lg__arch_mark *mark, uint64_t registers[LG__REGISTERS_MAX])
{
    /* x19…x30 and sp, as lg__arch_mark() stores them; its return address is in x30 */
    memset(registers, 0, LG__REGISTERS_MAX * sizeof registers[0]);
    memcpy(&registers[19], mark->words, 12 * sizeof registers[0]);
    registers[lg__arch_sp] = mark->words[12];
    registers[lg__arch_pc] = mark->words[11];
}

uint64_t lg__arch_blocked(const void *ucontext)
{
    /* the kernel's 64 signals */
    return *(const uint64_t *)(const void *)&((const ucontext_t *)ucontext)->uc_sigmask;
}

static uint64_t *mask_of(void *ucontext)
{
    return (uint64_t *)(void *)&((ucontext_t *)ucontext)->uc_sigmask; /* the kernel's 64 signals */
}

void lg__arch_unblock_on_return(void *ucontext, int signal)
{
    *mask_of(ucontext) &= ~(UINT64_C(1) << (signal - 1));
}

void lg__arch_block_on_return(void *ucontext, int signal)
{
    *mask_of(ucontext) |= UINT64_C(1) << (signal - 1);
}

void lg__arch_return_to_caller(uint64_t registers[LG__REGISTERS_MAX], uint64_t word_at_sp)
{
    (void)word_at_sp; /* a call leaves the return address in the link register */
    registers[lg__arch_pc] = registers[30];
}

__asm__(".text\n"
        ".globl lg__arch_return_zero\n.hidden lg__arch_return_zero\n.type lg__arch_return_zero, %function\n"
        "lg__arch_return_zero:\n"
        "    .cfi_startproc\n"
        "    hint #38\n    mov x0, xzr\n    mov x1, xzr\n    movi v0.2d, #0\n    movi v1.2d, #0\n    movi v2.2d, #0\n    movi v3.2d, #0\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_return_zero, . - lg__arch_return_zero\n");

void lg__arch_go_on_at(void *ucontext, uint64_t pc)
{
    ((ucontext_t *)ucontext)->uc_mcontext.pc = pc;
}

bool lg__arch_divides_by_other_than_zero(const uint64_t registers[LG__REGISTERS_MAX], size_t (*read)(void *to, uint64_t from, size_t size))
{
    (void)registers, (void)read;
    return false; /* a division raises no signal */
}

const char lg__arch_counter_source[] = "arch_sys_counter";

uint64_t lg__arch_counter_hz(void)
{
    uint64_t hz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

bool lg__arch_counter_invariant(void)
{
    return true; /* Arm ARM, D12.1 */
}

bool lg__arch_has_crc32c(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

#else
typedef int lg__not_aarch64;
#endif
