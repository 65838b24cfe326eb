/* Functions without a frame pointer: one with unwind data for debuggers alone, one with none. */
    .cfi_sections .debug_frame
    .text
    .globl asm_no_frame
    .type asm_no_frame, @function
asm_no_frame:
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    sub $80, %rsp
    .cfi_adjust_cfa_offset 80
    mov %rdi, %rbx
    mov $5, %edi
    call *%rbx
    add $80, %rsp
    .cfi_adjust_cfa_offset -80
    pop %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size asm_no_frame, .-asm_no_frame

    .globl asm_bare_leaf
    .type asm_bare_leaf, @function
asm_bare_leaf:
    movl $1, (%rdi)
    xor %eax, %eax
    ret
    .size asm_bare_leaf, .-asm_bare_leaf
    .section .note.GNU-stack,"",@progbits
