/* The CPU: x86-64. */
#if defined(__x86_64__)
#include "os/arch_inline.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#else /* of the libc's that do not ask the CPU */
#include <cpuid.h>
#endif
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>

const uint32_t lg__arch = LG__ARCH_X86_64;
const uint32_t lg__arch_pc = 16, lg__arch_sp = 7, lg__arch_fp = 6, lg__arch_async = 14;

/* In assembly, so that the place after the instruction has a name. */
__asm__(".text\n"
        ".globl lg__os_call\n.hidden lg__os_call\n.type lg__os_call, @function\n"
        "lg__os_call:\n"
        "    .cfi_startproc\n"
        "    movq %rdi, %rax\n    movq %rsi, %rdi\n    movq %rdx, %rsi\n    movq %rcx, %rdx\n    movq %r8, %r10\n"
        "    movq %r9, %r8\n    movq 8(%rsp), %r9\n    syscall\n"
        /* link-time optimisation may part the assembly from its readers */
        ".globl lg__arch_behind_call\n.hidden lg__arch_behind_call\n"
        "lg__arch_behind_call:\n"
        "    ret\n"
        ".size lg__os_call, . - lg__os_call\n"
        /* A request to valgrind: its number below the stack, and a sequence that does nothing
         * otherwise. Both functions have one row of the unwind tables. */
        ".globl lg__arch_is_simulated\n.hidden lg__arch_is_simulated\n.type lg__arch_is_simulated, @function\n"
        "lg__arch_is_simulated:\n"
        "    movq $0x1001, -48(%rsp)\n    leaq -48(%rsp), %rax\n    xorl %edx, %edx\n"
        "    rolq $3, %rdi\n    rolq $13, %rdi\n    rolq $61, %rdi\n    rolq $51, %rdi\n    xchgq %rbx, %rbx\n"
        "    movl %edx, %eax\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_is_simulated, . - lg__arch_is_simulated\n");
extern const char lg__arch_behind_call[] __attribute__((visibility("hidden")));

/* The stack of the new thread begins with the address of its function. Frame pointer and return
 * address are 0 there, so that a walk ends. */
__asm__(".text\n"
        ".globl lg__arch_thread_begin\n.hidden lg__arch_thread_begin\n.type lg__arch_thread_begin, @function\n"
        "lg__arch_thread_begin:\n"
        "    movq %r8, %r9\n    movq %rdx, %r8\n    movq %r9, %rdx\n    subq $16, %rsi\n    movq %rcx, (%rsi)\n    xorl %r10d, %r10d\n"
        "    movl $56, %eax\n    syscall\n"
        ".globl lg__arch_behind_clone\n.hidden lg__arch_behind_clone\n"
        "lg__arch_behind_clone:\n"
        "    testq %rax, %rax\n    jz 1f\n    ret\n"
        "1:  .cfi_startproc\n    .cfi_undefined rip\n    xorl %ebp, %ebp\n    callq *(%rsp)\n    hlt\n"
        "    .cfi_endproc\n"
        ".size lg__arch_thread_begin, . - lg__arch_thread_begin\n"
        ".globl lg__arch_call_on\n.hidden lg__arch_call_on\n.type lg__arch_call_on, @function\n"
        "lg__arch_call_on:\n"
        "    .cfi_startproc\n    pushq %rbp\n    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
        "    movq %rsp, %rbp\n    .cfi_def_cfa_register rbp\n"
        "    movq %rdx, %rsp\n    movq %rdi, %rax\n    movq %rsi, %rdi\n    callq *%rax\n    leave\n    .cfi_def_cfa rsp, 8\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_call_on, . - lg__arch_call_on\n"
        ".globl lg__arch_thread_end_if\n.hidden lg__arch_thread_end_if\n.type lg__arch_thread_end_if, @function\n"
        "lg__arch_thread_end_if:\n"
        "    movl %esi, %eax\n    lock cmpxchgl %edx, (%rdi)\n    jne 1f\n    movl $60, %eax\n    xorl %edi, %edi\n    syscall\n    hlt\n"
        "1:  ret\n"
        ".size lg__arch_thread_end_if, . - lg__arch_thread_end_if\n");
extern const char lg__arch_behind_clone[] __attribute__((visibility("hidden")));

const bool lg__arch_variables_below = true;

void *lg__arch_thread_pointer(void)
{
    void *pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* asm/prctl.h */
#define SET_FS 0x1002
#define GET_FS 0x1003

/* The bit of AT_HWCAP2 by which Linux 5.9 says that RDFSBASE may be used (Linux,
 * Documentation/arch/x86/x86_64/fsgs.rst). */
#define HWCAP2_FSGSBASE 2u
static bool has_base LG__SMALL;

void lg__arch_bind(void)
{
    has_base = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

bool lg__arch_thread_pointer_register(void **ret_pointer)
{
    if (has_base) {
        /* by its bytes: older assemblers want an option for the instruction */
        __asm__(".byte 0xf3, 0x48, 0x0f, 0xae, 0xc0" : "=a"(*ret_pointer)); /* rdfsbase rax */
        return true;
    }
    return lg__os_call(SYS_arch_prctl, GET_FS, (long)(uintptr_t)ret_pointer, 0, 0, 0, 0) == 0;
}

bool lg__arch_thread_pointer_is_set(void)
{
    void *pointer = NULL;
    return has_base && lg__arch_thread_pointer_register(&pointer) && pointer && (uintptr_t)pointer % sizeof pointer == 0;
}

void lg__arch_set_thread_pointer(void *pointer)
{
    lg__os_call(SYS_arch_prctl, SET_FS, (long)(uintptr_t)pointer, 0, 0, 0, 0);
}

bool lg__arch_has_thread_variables(void *const *pointer)
{
#ifdef __GLIBC__
    return pointer[0] == pointer && pointer[2] == pointer;
#else
    return pointer[0] == pointer; /* musl has its list of threads in word 2 */
#endif
}

void lg__arch_thread_variables(void *pointer)
{
    void **words = pointer;
    words[0] = pointer; /* System V ABI for AMD64, TLS: the word at %fs:0 */
    words[2] = pointer; /* libc's own, for pthread_self() */
}

bool lg__arch_refused(void *ucontext)
{
    greg_t *registers = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
    if (registers[REG_RIP] != (greg_t)(uintptr_t)lg__arch_behind_call && registers[REG_RIP] != (greg_t)(uintptr_t)lg__arch_behind_clone)
        return false;
    registers[REG_RAX] = -ENOSYS;
    return true;
}

/* Page fault error code bits (Intel SDM volume 3, 4.7). */
#define TRAP_PAGE_FAULT 14u
#define FAULT_PRESENT 1u
#define FAULT_WRITE 2u
#define FAULT_FETCH 16u

LG__FIRST void lg__arch_fault(const void *ucontext, struct lg__arch_fault *ret_fault)
{
    const greg_t *registers = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    ret_fault->pc = (uint64_t)registers[REG_RIP];
    ret_fault->sp = (uint64_t)registers[REG_RSP];
    ret_fault->fp = (uint64_t)registers[REG_RBP];
    ret_fault->trap = (uint64_t)registers[REG_TRAPNO];
    ret_fault->error = (uint64_t)registers[REG_ERR];
    ret_fault->access = LG__ACCESS_UNKNOWN;
    ret_fault->on_present_page = false;
    if (ret_fault->trap == TRAP_PAGE_FAULT) {
        ret_fault->access = ret_fault->error & FAULT_FETCH ? LG__ACCESS_FETCH : ret_fault->error & FAULT_WRITE ? LG__ACCESS_WRITE : LG__ACCESS_READ;
        ret_fault->on_present_page = ret_fault->error & FAULT_PRESENT;
    }
}

static uint32_t take_registers(const greg_t *from, uint64_t registers[LG__REGISTERS_MAX])
{
    /* DWARF numbering (System V ABI for AMD64, table 3.36): rax rdx rcx rbx rsi rdi rbp rsp r8…r15
     * rip, then rflags. */
    static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                     REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP, REG_EFL };
    for (uint32_t i = 0; i < sizeof order; i++)
        registers[i] = (uint64_t)from[order[i]];
    return sizeof order;
}

uint32_t lg__arch_registers(const void *ucontext, uint64_t registers[LG__REGISTERS_MAX])
{
    return take_registers(((const ucontext_t *)ucontext)->uc_mcontext.gregs, registers);
}

LG__FIRST void lg__arch_enter_handler(void)
{
    /* The kernel clears DF, RF and TF before a handler, but not AC (bit 18). */
    __asm__ volatile("pushfq\n\tandq $0xfffffffffffbffff, (%%rsp)\n\tpopfq" ::: "memory", "cc");
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
    registers[lg__arch_pc] = word_at_sp;
    registers[lg__arch_sp] += 8;
}

__asm__(".text\n"
        ".globl lg__arch_return_zero\n.hidden lg__arch_return_zero\n.type lg__arch_return_zero, @function\n"
        "lg__arch_return_zero:\n"
        "    .cfi_startproc\n"
        "    endbr64\n    xorl %eax, %eax\n    xorl %edx, %edx\n    xorps %xmm0, %xmm0\n    xorps %xmm1, %xmm1\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_return_zero, . - lg__arch_return_zero\n");

void lg__arch_go_on_at(void *ucontext, uint64_t pc)
{
    ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

const bool lg__arch_record_ends_frame = true;

bool lg__arch_is_signal_return(uint64_t pc, size_t (*read)(void *to, uint64_t from, size_t size))
{
    /* mov $15, %rax; syscall */
    static const uint8_t returns[] = { 0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0, 0, 0, 0x0f, 0x05 };
    uint8_t code[sizeof returns];
    return read(code, pc, sizeof code) == sizeof code && memcmp(code, returns, sizeof code) == 0;
}

bool lg__arch_leave_signal(uint64_t registers[LG__REGISTERS_MAX], size_t (*read)(void *to, uint64_t from, size_t size))
{
    gregset_t interrupted;
    const uint64_t context = registers[lg__arch_sp]; /* the handler took its return address off */
    if (read(interrupted, context + offsetof(ucontext_t, uc_mcontext.gregs), sizeof interrupted) != sizeof interrupted)
        return false;
    take_registers(interrupted, registers);
    return true;
}

uint64_t lg__arch_code_address(uint64_t word)
{
    return word;
}

/* One instruction copies. Where it faults, rsi and rdi are the next bytes and rcx is how many are
 * left; r8 is `site`. */
__asm__(".text\n"
        ".globl lg__arch_copy\n.hidden lg__arch_copy\n.type lg__arch_copy, @function\n"
        "lg__arch_copy:\n"
        "    .cfi_startproc\n"
        "    movq %rcx, %r8\n    movq %rdx, %rcx\n"
        ".globl lg__arch_copy_load\n.hidden lg__arch_copy_load\n"
        "lg__arch_copy_load:\n"
        "    rep movsb\n"
        ".globl lg__arch_copy_left\n.hidden lg__arch_copy_left\n"
        "lg__arch_copy_left:\n"
        "    movq %rcx, %rax\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_copy, . - lg__arch_copy\n");
extern const char lg__arch_copy_load[] __attribute__((visibility("hidden")));

/* Non-canonical addresses raise a trap of their own, which reports no address. Addresses below this
 * are canonical on every CPU. */
#define TRAP_GENERAL_PROTECTION 13u
#define ADDRESSES (UINT64_C(1) << 47)

bool lg__arch_copy_failed(const void *ucontext, uint64_t address, uint64_t *ret_site)
{
    const greg_t *registers = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    const uint64_t to = (uint64_t)registers[REG_RDI], from = (uint64_t)registers[REG_RSI], left = (uint64_t)registers[REG_RCX];
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    if (fault.pc != (uint64_t)(uintptr_t)lg__arch_copy_load)
        return false;
    *ret_site = (uint64_t)registers[REG_R8];
    if (fault.trap == TRAP_GENERAL_PROTECTION)
        return to < ADDRESSES && left <= ADDRESSES - to;
    return fault.access == LG__ACCESS_READ && address - from < left;
}

/* ---- operands (Intel SDM volume 2, 2.1.5, tables 2-2 and 2-3) ---- */

#define SP_COLUMN 7u
#define REX_B 1u
#define REX_X 2u
#define REX_W 8u
#define NO_BASE 5u  /* of a memory operand */
#define HAS_INDEX 4u
#define NO_INDEX 4u

struct operand {
    bool is_register;
    unsigned number;  /* of the register, in an instruction */
    uint64_t address; /* else */
};

static bool has_index_byte(uint8_t modrm)
{
    return modrm >> 6 != 3 && (modrm & 7) == HAS_INDEX;
}

/* Bytes of an operand from its ModRM byte on; an index byte must be there. */
static size_t operand_bytes(const uint8_t *modrm)
{
    const unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    const bool has_sib = has_index_byte(modrm[0]);
    const bool has_word = mod == 2 || (mod == 0 && (rm == NO_BASE || (has_sib && (modrm[1] & 7) == NO_BASE)));
    return 1u + has_sib + (has_word ? 4u : mod == 1 ? 1u : 0u);
}

static uint64_t value_of(const uint64_t registers[LG__REGISTERS_MAX], unsigned number)
{
    static const uint8_t columns[] = { 0, 2, 1, 3, 7, 6, 4, 5 };
    return registers[number < 8 ? columns[number] : number];
}

/* `at`: the address of the ModRM byte. `sp`: the stack pointer before the instruction. */
static struct operand operand(const uint8_t *modrm, unsigned rex, uint64_t at, const uint64_t registers[LG__REGISTERS_MAX], uint64_t sp)
{
    const unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    const bool has_sib = has_index_byte(modrm[0]);
    const uint8_t sib = has_sib ? modrm[1] : 0;
    const unsigned low = has_sib ? sib & 7u : rm, number = low | (rex & REX_B ? 8u : 0u);
    const unsigned index = (sib >> 3 & 7u) | (rex & REX_X ? 8u : 0u);
    const uint8_t *end = modrm + operand_bytes(modrm);
    const bool no_base = mod == 0 && low == NO_BASE;
    int32_t distance = 0;
    if (mod == 3)
        return (struct operand){ .is_register = true, .number = number };
    if (mod == 2 || no_base)
        memcpy(&distance, end - 4, sizeof distance);
    else if (mod == 1)
        distance = (int8_t)end[-1];
    uint64_t address = (uint64_t)(int64_t)distance;
    if (!no_base)
        address += number == 4 ? sp : value_of(registers, number);
    else if (!has_sib)
        address += at + operand_bytes(modrm);
    if (has_sib && index != NO_INDEX)
        address += value_of(registers, index) << (sib >> 6);
    return (struct operand){ .address = address };
}

/* ---- calls and jumps ---- */

static struct lg__arch_callee callee_of(const uint8_t *code, unsigned rex, uint64_t at, const uint64_t registers[LG__REGISTERS_MAX], uint64_t sp)
{
    const struct operand through = operand(code + 1, rex, at + 1, registers, sp);
    return through.is_register ? (struct lg__arch_callee){ LG__CALLEE_VALUE, value_of(registers, through.number) }
                               : (struct lg__arch_callee){ LG__CALLEE_SLOT, through.address };
}

static bool is_indirect(const uint8_t *code, unsigned extension)
{
    return code[0] == 0xff && (code[1] >> 3 & 7) == extension;
}
#define CALLS 2u /* extensions of the opcode: Intel SDM volume 2, table A-6 */
#define JUMPS 4u

size_t lg__arch_calls_before(const uint8_t before[LG__ARCH_CALL_BYTES], uint64_t next, const uint64_t registers[LG__REGISTERS_MAX],
                             struct lg__arch_callee ret_callees[LG__ARCH_CALLEES])
{
    /* call rel32 is E8 and 4 bytes; an indirect call is FF, a ModRM byte, and 0, 1, 2, 4 or 5 more.
     * A REX prefix may come before. */
    static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };
    const uint8_t *end = before + LG__ARCH_CALL_BYTES;
    const uint64_t sp = registers[SP_COLUMN] + sizeof(uint64_t); /* the return address was pushed */
    size_t count = 0;
    if (end[-5] == 0xe8) {
        int32_t distance;
        memcpy(&distance, end - 4, sizeof distance);
        ret_callees[count++] = (struct lg__arch_callee){ LG__CALLEE_CODE, next + (uint64_t)(int64_t)distance };
    }
    for (size_t i = 0; i < sizeof lengths; i++) {
        const uint8_t *code = end - lengths[i];
        if (!is_indirect(code, CALLS) || (lengths[i] == 2 && has_index_byte(code[1])) || 1 + operand_bytes(code + 1) != lengths[i])
            continue;
        ret_callees[count++] = callee_of(code, 0, next - lengths[i], registers, sp);
        if ((code[-1] & 0xf0) == 0x40)
            ret_callees[count++] = callee_of(code, code[-1], next - lengths[i], registers, sp);
    }
    return count;
}

bool lg__arch_jumps_at(const uint8_t code[LG__ARCH_STUB_BYTES], uint64_t address, const uint64_t registers[LG__REGISTERS_MAX],
                       struct lg__arch_callee *ret_callee)
{
    static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    static const uint8_t no_vectors[] = { 0x31, 0xc0 }; /* xor eax, eax */
    const uint8_t *at = code;
    if (memcmp(at, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    if (memcmp(at, no_vectors, sizeof no_vectors) == 0)
        at += sizeof no_vectors;
    at += *at == 0xf2; /* bnd */
    const unsigned rex = (*at & 0xf0) == 0x40 ? *at++ : 0;
    if (!is_indirect(at, JUMPS))
        return false;
    *ret_callee = callee_of(at, rex, address + (uint64_t)(at - code), registers, registers[SP_COLUMN]);
    return true;
}

/* ---- a division (Intel SDM volume 2, DIV and IDIV) ---- */

#define DIVISION_BYTES 15u /* of the longest instruction */

bool lg__arch_divides_by_other_than_zero(const uint64_t registers[LG__REGISTERS_MAX], size_t (*read)(void *to, uint64_t from, size_t size))
{
    uint8_t code[DIVISION_BYTES + 8] = { 0 };
    unsigned at = 0, rex = 0, size = 4;
    uint64_t value = 0;
    read(code, registers[lg__arch_pc], DIVISION_BYTES);
    if (code[at] == 0x66) {
        size = 2;
        at++;
    }
    if ((code[at] & 0xf0) == 0x40)
        rex = code[at++] & 0xfu;
    if ((code[at] != 0xf6 && code[at] != 0xf7) || (code[at + 1] & 0x30) != 0x30)
        return false;
    size = code[at] == 0xf6 ? 1 : rex & REX_W ? 8 : size;
    at++;
    const struct operand divisor = operand(code + at, rex, registers[lg__arch_pc] + at, registers, registers[SP_COLUMN]);
    if (divisor.is_register) /* ah, ch, dh and bh, where there is no prefix */
        value = size == 1 && at == 1 && divisor.number >= 4 ? value_of(registers, divisor.number - 4) >> 8 : value_of(registers, divisor.number);
    else if (at + operand_bytes(code + at) > DIVISION_BYTES || read(&value, divisor.address, size) != size)
        return false;
    return size == 8 ? value != 0 : (value & ((UINT64_C(1) << 8 * size) - 1)) != 0;
}

/* The registers that a function preserves (System V ABI for AMD64, figure 3.4), sp and the return
 * address. */
__asm__(".text\n"
        ".globl lg__arch_mark\n.hidden lg__arch_mark\n.type lg__arch_mark, @function\n"
        "lg__arch_mark:\n"
        "    movq %rbx, 0(%rdi)\n    movq %rbp, 8(%rdi)\n    movq %r12, 16(%rdi)\n    movq %r13, 24(%rdi)\n"
        "    movq %r14, 32(%rdi)\n    movq %r15, 40(%rdi)\n    leaq 8(%rsp), %rdx\n    movq %rdx, 48(%rdi)\n"
        "    movq (%rsp), %rdx\n    movq %rdx, 56(%rdi)\n    xorl %eax, %eax\n    ret\n"
        ".size lg__arch_mark, . - lg__arch_mark\n"
        ".globl lg__arch_jump\n.hidden lg__arch_jump\n.type lg__arch_jump, @function\n"
        "lg__arch_jump:\n"
        "    movq 0(%rdi), %rbx\n    movq 8(%rdi), %rbp\n    movq 16(%rdi), %r12\n    movq 24(%rdi), %r13\n"
        "    movq 32(%rdi), %r14\n    movq 40(%rdi), %r15\n    movq 48(%rdi), %rsp\n    movl $1, %eax\n"
        "    jmpq *56(%rdi)\n"
        ".size lg__arch_jump, . - lg__arch_jump\n");

void lg__arch_jump_on_return(void *ucontext, const struct lg__arch_mark *mark)
{
    greg_t *registers = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
    registers[REG_RIP] = (greg_t)(uintptr_t)lg__arch_jump;
    registers[REG_RDI] = (greg_t)(uintptr_t)mark;
}

void lg__arch_registers_of_mark(const struct lg__arch_mark *mark, uint64_t registers[LG__REGISTERS_MAX])
{
    /* rbx rbp r12…r15 rsp rip, as lg__arch_mark() stores them */
    static const uint8_t columns[] = { 3, 6, 12, 13, 14, 15, 7, 16 };
    memset(registers, 0, LG__REGISTERS_MAX * sizeof registers[0]);
    for (size_t i = 0; i < sizeof columns; i++)
        registers[columns[i]] = mark->words[i];
}

const char lg__arch_counter_source[] = "tsc";

uint64_t lg__arch_counter_hz(void)
{
    return 0;
}

/* libc asked the CPU when the program was loaded; under a hypervisor each CPUID of our own would
 * cost microseconds. */
#if __has_include(<sys/platform/x86.h>)
bool lg__arch_counter_invariant(void)
{
    return CPU_FEATURE_PRESENT(INVARIANT_TSC);
}

bool lg__arch_has_crc32c(void)
{
    return CPU_FEATURE_ACTIVE(SSE4_2);
}
#else
bool lg__arch_counter_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

bool lg__arch_has_crc32c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}
#endif

#else
typedef int lg__not_x86_64;
#endif
