/* The walk by frame pointers shows a caller only where it points after a call, and the record says
 * which of its two walks shows the stack. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "os/os.h"

static lg_stack_info stack_of(lg_reader *reader, lg_stage stage)
{
    lg_stack_info stack;
    assert_int_equal(lg_reader_stack(reader, stage, &stack), LG_OK);
    return stack;
}

static lg_stack_choice choice_of(lg_reader *reader)
{
    lg_stack_choice choice;
    assert_int_equal(lg_reader_stack_choice(reader, &choice), LG_OK);
    assert_true(choice.reason[0]);
    return choice;
}

/* ---- forms of a call ---- */

struct form {
    bool is_call;
    uint8_t before[LG__ARCH_CALL_BYTES]; /* the last byte is the one before the address */
};

static const struct form forms[] = {
#if defined(__x86_64__)
    { true, { 0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4 } },                    /* call rel32 */
    { true, { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 } },        /* call *%rax */
    { true, { 0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd3 } },        /* call *%r11 */
    { true, { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x10 } },        /* call *(%rax) */
    { true, { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc8 } },        /* call *(%rax,%rcx,8) */
    { true, { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18 } },        /* call *0x18(%rax) */
    { true, { 0x90, 0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x08 } },        /* call *8(%rsp) */
    { true, { 0x90, 0x90, 0xff, 0x15, 1, 2, 3, 4 } },                    /* call *disp32(%rip) */
    { true, { 0x90, 0x90, 0xff, 0x90, 1, 2, 3, 4 } },                    /* call *disp32(%rax) */
    { true, { 0x90, 0xff, 0x94, 0x24, 1, 2, 3, 4 } },                    /* call *disp32(%rsp) */
    { true, { 0x90, 0xff, 0x14, 0x25, 1, 2, 3, 4 } },                    /* call *disp32 */
    { false, { 0x90, 0x90, 0x90, 0xe9, 1, 2, 3, 4 } },                   /* jmp rel32 */
    { false, { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0 } },       /* jmp *%rax */
    /* in the middle of calls, or after one */
    { false, { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x15 } },
    { false, { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x15, 1 } },
    { false, { 0x90, 0x90, 0x90, 0x90, 0xff, 0x94, 0x24, 1 } },
    { false, { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0, 0x90 } },
    { false, { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0x25 } },
    { false, { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd8 } },       /* a far call of nothing */
#elif defined(__aarch64__)
    { true, { 0, 0, 0, 0, 0x10, 0, 0, 0x94 } },        /* bl */
    { true, { 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x97 } },  /* bl backwards */
    { true, { 0, 0, 0, 0, 0, 0x02, 0x3f, 0xd6 } },     /* blr x16 */
    { true, { 0, 0, 0, 0, 0x1f, 0x0a, 0x3f, 0xd6 } },  /* blraaz x16 */
    { false, { 0, 0, 0, 0, 0x10, 0, 0, 0x14 } },       /* b */
    { false, { 0, 0, 0, 0, 0, 0x02, 0x1f, 0xd6 } },    /* br x16 */
    { false, { 0x10, 0, 0, 0x94, 0x1f, 0x20, 0x03, 0xd5 } }, /* one instruction after a call */
#endif
    { false, { 0 } },
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (lg__arch_follows_call(forms[i].before) != forms[i].is_call)
            fail_msg("form %zu is %sa call", i, forms[i].is_call ? "" : "not ");
}

/* ---- false callers ---- */

static void nothing(void) { __asm__ volatile(""); }

static __attribute__((noinline)) uint64_t behind_a_call(void)
{
    nothing();
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* Crash with this value in the register of frame pointers, which the function saves as any other:
 * unwind tables describe it by the stack pointer. */
#if defined(__x86_64__)
__asm__(".text\n"
        "    .p2align 4\n    nop\n    nop\n    nop\n    nop\n    nop\n    nop\n    nop\n    nop\n"
        "crash_without_frame:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %rbp, 0\n"
        "    movq %rdi, %rbp\n"
        "    movl $1, 0\n"
        "    popq %rbp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    .cfi_restore %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        "    .p2align 4\n    nop\n    nop\n"
        "crash_without_frame:\n"
        "    .cfi_startproc\n"
        "    str x29, [sp, #-16]!\n"
        "    .cfi_adjust_cfa_offset 16\n"
        "    .cfi_rel_offset x29, 0\n"
        "    mov x29, x0\n"
        "    mov x9, xzr\n"
        "    str wzr, [x9]\n"
        "    ldr x29, [sp], #16\n"
        "    .cfi_adjust_cfa_offset -16\n"
        "    .cfi_restore x29\n"
        "    ret\n"
        "    .cfi_endproc\n");
#endif
extern void crash_without_frame(uint64_t *frame);

enum word { A_CALLER, A_FUNCTION, IN_DATA, ON_STACK, A_NUMBER };

/* Data of the program that look like a call. Constants may be in the segment of the code. */
#if defined(__x86_64__)
static uint8_t data[16] = { 0xff, 0xd0, 0xe8, 0, 0, 0, 0, 0xff, 0xd0, 0xff, 0xd0 };
#elif defined(__aarch64__)
static uint32_t data[4] = { 0xd63f0000, 0xd63f0000, 0xd63f0000 };
#endif

static uint64_t word_of(enum word word, uint64_t *on_stack)
{
    switch (word) {
    case A_CALLER: return behind_a_call();
    case A_FUNCTION: return (uint64_t)(uintptr_t)crash_without_frame;
    case IN_DATA: return (uint64_t)(uintptr_t)data + 8 - (lg__arch == LG__ARCH_X86_64);
    case ON_STACK: return (uint64_t)(uintptr_t)(on_stack + 4); /* after zeros: no call by chance */
    default: return 0x1234;
    }
}

static void body_word(void *argument)
{
    uint64_t frames[8] = { 0 };
    const uint64_t false_caller = word_of((enum word)(intptr_t)argument, frames);
    start_session();
    frames[0] = (uint64_t)(uintptr_t)&frames[4];
    frames[1] = false_caller;
    frames[5] = behind_a_call();
    crash_without_frame(frames);
}

static void test_false_callers(void **state)
{
    (void)state;
    for (enum word word = A_CALLER; word <= A_NUMBER; word++) {
        state_make();
        expect_signal(body_word, (void *)(intptr_t)word, SIGSEGV);
        lg_reader *reader = newest_run();
        const lg_stack_info pointers = stack_of(reader, LG_STAGE_FRAMES);
        const lg_stack_choice choice = choice_of(reader);
        if (word == A_CALLER) {
            assert_int_equal(pointers.stored, 3);
            assert_int_equal(choice.disagree, 1);
        } else {
            if (pointers.stored != 1)
                fail_msg("word %d is shown as a caller", (int)word);
            assert_int_equal(pointers.truncated, 1);
            assert_non_null(strstr(pointers.reason, "not after a call"));
            assert_int_equal(choice.disagree, 0);
        }
        /* the tables know better */
        assert_int_equal(choice.stage, LG_STAGE_DWARF);
        assert_non_null(strstr(choice.reason, "tables describe every frame"));
        assert_int_equal(stack_of(reader, LG_STAGE_DWARF).truncated, 0);
        lg_reader_close(reader);
    }
}

/* ---- which walk is shown ---- */

#if defined(__x86_64__)
/* mov rbp, rdi; ud2 */
static const uint8_t code_without_tables[] = { 0x48, 0x89, 0xfd, 0x0f, 0x0b };
#elif defined(__aarch64__)
/* mov x29, x0; udf #0 */
static const uint32_t code_without_tables[] = { 0xaa0003fd, 0 };
#endif

/* More lies between the frame and the stack pointer than a step without a table believes. */
static __attribute__((noinline)) void far_away(void (*call)(uint64_t *), uint64_t *frames)
{
    char large[2 << 20];
    __asm__ volatile("" : : "r"(large) : "memory"); /* all of it is used */
    call(frames);
    __asm__ volatile("" : : "r"(large) : "memory");
}

static void body_without_tables(void *argument)
{
    (void)argument;
    uint64_t frames[8] = { 0 };
    void (*call)(uint64_t *);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code_without_tables, sizeof code_without_tables);
    memcpy(&call, &page, sizeof call);
    __builtin___clear_cache(page, (char *)page + sizeof code_without_tables);
    start_session();
    frames[0] = (uint64_t)(uintptr_t)&frames[4];
    frames[1] = frames[5] = behind_a_call();
    far_away(call, frames);
}

static void test_longer_walk(void **state)
{
    (void)state;
    expect_signal(body_without_tables, NULL, SIGILL);
    lg_reader *reader = newest_run();
    assert_int_equal(stack_of(reader, LG_STAGE_DWARF).stored, 1);
    assert_int_equal(stack_of(reader, LG_STAGE_FRAMES).stored, 3);
    const lg_stack_choice choice = choice_of(reader);
    assert_int_equal(choice.stage, LG_STAGE_FRAMES);
    assert_int_equal(choice.disagree, 0);
    assert_non_null(strstr(choice.reason, "broke off sooner"));
    lg_reader_close(reader);
}

/* Call a function without unwind tables, and with a frame pointer that leads nowhere. */
#if defined(__x86_64__)
__asm__(".text\ncall_without_tables:\n    pushq %rbp\n    movl $1, %ebp\n    callq *%rdi\n    popq %rbp\n    ret\n");
#elif defined(__aarch64__)
__asm__(".text\ncall_without_tables:\n    stp x29, x30, [sp, #-16]!\n    mov x29, #1\n    blr x0\n    ldp x29, x30, [sp], #16\n    ret\n");
#endif
extern void call_without_tables(void (*function)(void));

static volatile sig_atomic_t stands;

static __attribute__((noinline)) void stand(void)
{
    for (;;)
        stands = __builtin_frame_address(0) != NULL; /* so the function has a frame pointer */
}

static void *stand_in_thread(void *argument)
{
    if (argument)
        call_without_tables(stand);
    stand();
    return NULL;
}

static void body_of_thread(void *argument)
{
    start_session();
    in_thread(stand_in_thread, argument);
    wait_until(stands);
    crash();
}

/* Both walks of a thread end after as many frames: the tables know the function, too. */
static void test_equal_walks(void **state)
{
    lg_thread_info thread;
    lg_stack_info stack;
    lg_function function;
    expect_signal(body_of_thread, state, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_thread(reader, 0, &thread), LG_OK);
    assert_int_equal(lg_reader_thread_stack(reader, 0, &stack), LG_OK);
    assert_int_equal(stack.stored, 2);
    assert_int_equal(stack.truncated, 1);
    assert_int_equal(stack.method, LG_STAGE_DWARF);
    assert_int_equal(lg_reader_thread_function(reader, 0, 0, &function), LG_OK);
    assert_int_equal(thread.pc - function.offset, (uint64_t)(uintptr_t)stand);
    lg_reader_close(reader);
}

/* A thread's walk leads to the begin of the thread, whatever its libc has. */
static void test_whole_walk(void **state)
{
    (void)state;
    lg_stack_info stack;
    expect_signal(body_of_thread, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_thread_stack(reader, 0, &stack), LG_OK);
    assert_int_equal(stack.method, LG_STAGE_DWARF);
    assert_int_equal(stack.truncated, 0);
    assert_true(stack.stored >= 3);
    lg_reader_close(reader);
}

static void body_plain(void *argument)
{
    (void)argument;
    start_session();
    abort();
}

static void body_clean(void *argument)
{
    (void)argument;
    start_session();
}

static void test_plain(void **state)
{
    (void)state;
    lg_stack_choice choice;
    expect_signal(body_plain, NULL, SIGABRT);
    lg_reader *reader = newest_run();
    choice = choice_of(reader);
    assert_int_equal(choice.stage, LG_STAGE_DWARF);
    assert_int_equal(choice.disagree, 0);
    lg_reader_close(reader);
    assert_int_equal(lg_reader_stack_choice(NULL, &choice), LG_ERR_ARGUMENT);
    expect_exit(body_clean, NULL, 0);
    reader = newest_run();
    assert_int_equal(lg_reader_stack_choice(reader, &choice), LG_ERR_NOT_FOUND);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), WITH_STATE(test_plain), WITH_STATE(test_false_callers), WITH_STATE(test_longer_walk),
        WITH_STATE(test_equal_walks), WITH_STATE(test_whole_walk),
    };
    return cmocka_run_group_tests_name("callers", tests, NULL, NULL);
}
