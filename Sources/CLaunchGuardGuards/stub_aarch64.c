/* The CPU: AArch64. Entries that stand for functions of any type. */
#if defined(__aarch64__)
#include "guards.h"

__attribute__((used, visibility("hidden"))) const void *(*lg__stub_target)(uint32_t index, const void *caller);

/* Each entry has 16 bytes and leaves its number in x16, which a call may change on its way
 * (AAPCS64, 6.1.1). The rest keeps all registers that a call may pass arguments in; x8 is the place
 * of a result in memory. A target of 0 makes the last jump a call through NULL. The hints are bti c
 * and bti jc. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl lg__stub_entries\n.hidden lg__stub_entries\n.type lg__stub_entries, %function\n"
        "lg__stub_entries:\n"
        "    .cfi_startproc\n"
        "    .set lg__stub_number, 0\n"
        "    .rept 64\n"
        "    hint #34\n    mov w16, #lg__stub_number\n    b lg__stub_enter\n    nop\n"
        "    .set lg__stub_number, lg__stub_number + 1\n"
        "    .endr\n"
        "    .cfi_endproc\n"
        ".size lg__stub_entries, . - lg__stub_entries\n"
        ".type lg__stub_enter, %function\n"
        "lg__stub_enter:\n"
        "    .cfi_startproc\n"
        "    stp x29, x30, [sp, #-224]!\n    .cfi_def_cfa_offset 224\n    .cfi_offset 29, -224\n    .cfi_offset 30, -216\n"
        "    mov x29, sp\n"
        "    stp x0, x1, [sp, #16]\n    stp x2, x3, [sp, #32]\n    stp x4, x5, [sp, #48]\n    stp x6, x7, [sp, #64]\n    str x8, [sp, #80]\n"
        "    stp q0, q1, [sp, #96]\n    stp q2, q3, [sp, #128]\n    stp q4, q5, [sp, #160]\n    stp q6, q7, [sp, #192]\n"
        "    mov w0, w16\n    mov x1, x30\n"
        "    adrp x9, lg__stub_target\n    ldr x9, [x9, :lo12:lg__stub_target]\n    blr x9\n    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n    ldp x2, x3, [sp, #32]\n    ldp x4, x5, [sp, #48]\n    ldp x6, x7, [sp, #64]\n    ldr x8, [sp, #80]\n"
        "    ldp q0, q1, [sp, #96]\n    ldp q2, q3, [sp, #128]\n    ldp q4, q5, [sp, #160]\n    ldp q6, q7, [sp, #192]\n"
        "    ldp x29, x30, [sp], #224\n    .cfi_def_cfa_offset 0\n    .cfi_restore 29\n    .cfi_restore 30\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size lg__stub_enter, . - lg__stub_enter\n");
extern const uint8_t lg__stub_entries[] __attribute__((visibility("hidden")));

void lg__stub_open(const void *(*target)(uint32_t index, const void *caller))
{
    lg__stub_target = target;
}

const void *lg__stub_entry(uint32_t index)
{
    return lg__stub_entries + 16 * index;
}
#else
typedef int lg__no_stubs_of_aarch64;
#endif
