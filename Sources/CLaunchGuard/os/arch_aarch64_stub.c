/* The CPU: AArch64. Entries that stand for functions of any type. */
#if defined(__aarch64__)
#include "os/os.h"

__attribute__((used, visibility("hidden"))) uint64_t (*lg__arch_stub_target)(uint32_t index, uint64_t caller);

/* Each entry has 16 bytes and leaves its number in x16, which a call may change on its way
 * (AAPCS64, 6.1.1). The rest keeps all registers that a call may pass arguments in; x8 is the place
 * of a result in memory. A target of 0 makes the last jump a call through NULL. The hints are bti c
 * and bti jc. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl lg__arch_stubs\n.hidden lg__arch_stubs\n.type lg__arch_stubs, %function\n"
        "lg__arch_stubs:\n"
        "    .cfi_startproc\n"
        "    .set lg__stub_number, 0\n"
        "    .rept 64\n"
        "    hint #34\n    mov w16, #lg__stub_number\n    b lg__arch_stub_enter\n    nop\n"
        "    .set lg__stub_number, lg__stub_number + 1\n"
        "    .endr\n"
        "    .cfi_endproc\n"
        ".size lg__arch_stubs, . - lg__arch_stubs\n"
        ".type lg__arch_stub_enter, %function\n"
        "lg__arch_stub_enter:\n"
        "    .cfi_startproc\n"
        "    stp x29, x30, [sp, #-224]!\n    .cfi_def_cfa_offset 224\n    .cfi_offset 29, -224\n    .cfi_offset 30, -216\n"
        "    mov x29, sp\n"
        "    stp x0, x1, [sp, #16]\n    stp x2, x3, [sp, #32]\n    stp x4, x5, [sp, #48]\n    stp x6, x7, [sp, #64]\n    str x8, [sp, #80]\n"
        "    stp q0, q1, [sp, #96]\n    stp q2, q3, [sp, #128]\n    stp q4, q5, [sp, #160]\n    stp q6, q7, [sp, #192]\n"
        "    mov w0, w16\n    mov x1, x30\n"
        "    adrp x9, lg__arch_stub_target\n    ldr x9, [x9, :lo12:lg__arch_stub_target]\n    blr x9\n    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n    ldp x2, x3, [sp, #32]\n    ldp x4, x5, [sp, #48]\n    ldp x6, x7, [sp, #64]\n    ldr x8, [sp, #80]\n"
        "    ldp q0, q1, [sp, #96]\n    ldp q2, q3, [sp, #128]\n    ldp q4, q5, [sp, #160]\n    ldp q6, q7, [sp, #192]\n"
        "    ldp x29, x30, [sp], #224\n    .cfi_def_cfa_offset 0\n    .cfi_restore 29\n    .cfi_restore 30\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size lg__arch_stub_enter, . - lg__arch_stub_enter\n"
        ".globl lg__arch_return_zero\n.hidden lg__arch_return_zero\n.type lg__arch_return_zero, %function\n"
        "lg__arch_return_zero:\n"
        "    .cfi_startproc\n"
        "    hint #38\n    mov x0, xzr\n    mov x1, xzr\n    movi v0.2d, #0\n    movi v1.2d, #0\n    movi v2.2d, #0\n    movi v3.2d, #0\n    ret\n"
        "    .cfi_endproc\n"
        ".size lg__arch_return_zero, . - lg__arch_return_zero\n");
extern const uint8_t lg__arch_stubs[] __attribute__((visibility("hidden")));

void lg__arch_stub_open(uint64_t (*target)(uint32_t index, uint64_t caller))
{
    lg__arch_stub_target = target;
}

const void *lg__arch_stub(uint32_t index)
{
    return lg__arch_stubs + 16 * index;
}
#else
typedef int lg__no_stubs_of_aarch64;
#endif
