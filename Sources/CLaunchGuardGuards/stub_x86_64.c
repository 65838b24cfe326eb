/* The CPU: x86-64. Entries that stand for functions of any type. */
#if defined(__x86_64__)
#include "guards.h"

#include <cpuid.h>

__attribute__((used, visibility("hidden"))) const void *(*lg__stub_target)(uint32_t index, const void *caller);

/* The vector registers as XSAVE names them: SSE, AVX, opmask, the upper halves of the first 16 of
 * AVX-512. 0: the system does not save them so. */
#define VECTORS 0x66u
__attribute__((used, visibility("hidden"))) uint32_t lg__stub_vectors;

/* Each entry has 16 bytes and leaves its number in r11, which no call passes anything in (System V
 * ABI for AMD64, figure 3.4). The rest keeps all registers that a call may pass arguments in; r10
 * is the static chain, and al the number of vector registers. 2688 bytes hold all that XSAVE
 * stores up to AVX-512; XRSTOR wants the header, 64 bytes at 512, to be 0 where XSAVE does not
 * write. A target of 0 makes the last jump a call through NULL. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl lg__stub_entries\n.hidden lg__stub_entries\n.type lg__stub_entries, @function\n"
        "lg__stub_entries:\n"
        "    .cfi_startproc\n"
        "    .set lg__stub_number, 0\n"
        "    .rept 64\n"
        "    endbr64\n    movl $lg__stub_number, %r11d\n    jmp lg__stub_enter\n    .balign 16\n"
        "    .set lg__stub_number, lg__stub_number + 1\n"
        "    .endr\n"
        "    .cfi_endproc\n"
        ".size lg__stub_entries, . - lg__stub_entries\n"
        ".type lg__stub_enter, @function\n"
        "lg__stub_enter:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n    .cfi_def_cfa_offset 16\n    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n    .cfi_def_cfa_register %rbp\n"
        "    pushq %rax\n    pushq %rdi\n    pushq %rsi\n    pushq %rdx\n    pushq %rcx\n    pushq %r8\n    pushq %r9\n    pushq %r10\n"
        "    subq $2688, %rsp\n    andq $-64, %rsp\n"
        "    xorl %edx, %edx\n    movl lg__stub_vectors(%rip), %eax\n    testl %eax, %eax\n    jz 1f\n"
        "    movq %rdx, 512(%rsp)\n    movq %rdx, 520(%rsp)\n    movq %rdx, 528(%rsp)\n    movq %rdx, 536(%rsp)\n"
        "    movq %rdx, 544(%rsp)\n    movq %rdx, 552(%rsp)\n    movq %rdx, 560(%rsp)\n    movq %rdx, 568(%rsp)\n"
        "    xsave64 (%rsp)\n    jmp 2f\n"
        "1:  fxsave64 (%rsp)\n"
        "2:  movl %r11d, %edi\n    movq 8(%rbp), %rsi\n    callq *lg__stub_target(%rip)\n    movq %rax, %r11\n"
        "    xorl %edx, %edx\n    movl lg__stub_vectors(%rip), %eax\n    testl %eax, %eax\n    jz 3f\n"
        "    xrstor64 (%rsp)\n    jmp 4f\n"
        "3:  fxrstor64 (%rsp)\n"
        "4:  movq -8(%rbp), %rax\n    movq -16(%rbp), %rdi\n    movq -24(%rbp), %rsi\n    movq -32(%rbp), %rdx\n"
        "    movq -40(%rbp), %rcx\n    movq -48(%rbp), %r8\n    movq -56(%rbp), %r9\n    movq -64(%rbp), %r10\n"
        "    leaveq\n    .cfi_def_cfa %rsp, 8\n    .cfi_restore %rbp\n"
        "    jmpq *%r11\n"
        "    .cfi_endproc\n"
        ".size lg__stub_enter, . - lg__stub_enter\n");
extern const uint8_t lg__stub_entries[] __attribute__((visibility("hidden")));

static uint32_t vectors(void)
{
    unsigned a, b, c, d;
    uint32_t low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low & VECTORS;
}

void lg__stub_open(const void *(*target)(uint32_t index, const void *caller))
{
    lg__stub_vectors = vectors();
    lg__stub_target = target;
}

const void *lg__stub_entry(uint32_t index)
{
    return lg__stub_entries + 16 * index;
}
#else
typedef int lg__no_stubs_of_x86_64;
#endif
