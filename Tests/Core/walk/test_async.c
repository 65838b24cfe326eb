/* Callers that wait by Swift's `await`: what memory must look like for a chain of them, and that
 * nothing else gives one, whatever the stack says. */
#include "harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"

/* A frame with the address of a context where an asynchronous function keeps it, and nothing in the
 * register of contexts, which then calls a function. */
#if defined(__x86_64__)
__asm__(".text\n"
        "call_with_context:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    subq $16, %rsp\n"
        "    movq %r14, -16(%rbp)\n"
        "    .cfi_offset %r14, -32\n"
        "    xorl %r14d, %r14d\n"
        "    movq %rdi, -8(%rbp)\n"
        "    movq %rdx, %rdi\n"
        "    call *%rsi\n"
        "    movq -16(%rbp), %r14\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "crash_without_frame:\n"
        "    .cfi_startproc\n"
        "    movl $1, 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "crash_with_context:\n"
        "    .cfi_startproc\n"
        "    movq %rdi, %r14\n"
        "    movl $1, 0\n"
        "    ret\n"
        "    .cfi_endproc\n");
#elif defined(__aarch64__)
/* The linker finds only a global one of them by its place in the table of addresses. */
__asm__(".text\n"
        ".globl call_with_context\n.globl crash_without_frame\n.globl crash_with_context\n"
        "call_with_context:\n"
        "    .cfi_startproc\n"
        "    sub sp, sp, #32\n"
        "    stp x29, x30, [sp, #16]\n"
        "    add x29, sp, #16\n"
        "    .cfi_def_cfa x29, 16\n"
        "    .cfi_offset x29, -16\n"
        "    .cfi_offset x30, -8\n"
        "    str x22, [sp]\n"
        "    .cfi_offset x22, -32\n"
        "    mov x22, xzr\n"
        "    str x0, [sp, #8]\n"
        "    mov x0, x2\n"
        "    blr x1\n"
        "    ldr x22, [sp]\n"
        "    ldp x29, x30, [sp, #16]\n"
        "    add sp, sp, #32\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "crash_without_frame:\n"
        "    .cfi_startproc\n"
        "    mov x9, xzr\n"
        "    str wzr, [x9]\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "crash_with_context:\n"
        "    .cfi_startproc\n"
        "    mov x22, x0\n"
        "    mov x9, xzr\n"
        "    str wzr, [x9]\n"
        "    ret\n"
        "    .cfi_endproc\n");
#endif
/* Hidden: by the table of global offsets an assembler leads all labels to the first one. */
#define OF_ASSEMBLY extern __attribute__((visibility("hidden"))) void
OF_ASSEMBLY call_with_context(const void *context, void (*function)(void *), void *argument);
OF_ASSEMBLY crash_without_frame(void *unused);
/* The same with the context in the register of Swift. */
OF_ASSEMBLY crash_with_context(void *context);

struct context {
    struct context *parent;
    uint64_t resume_parent;
    uint8_t locals[16];
} __attribute__((aligned(16)));

/* Functions of the program; a caller goes on in one of these. */
static void first(void) { __asm__ volatile("nop"); }
static void second(void) { __asm__ volatile("nop; nop"); }
static void third(void) { __asm__ volatile("nop; nop; nop"); }

static uint64_t code(unsigned index)
{
    void (*const functions[])(void) = { first, second, third };
    return (uint64_t)(uintptr_t)functions[index % 3];
}

/* So many contexts, one the parent of the next; the outermost one has none. No frame has an address
 * there by chance, as it may have one of the heap. */
static struct context *chain(uint32_t count)
{
    struct context *contexts = mmap(NULL, count * sizeof *contexts, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint32_t i = 0; i < count; i++)
        contexts[i] = (struct context){ i + 1 < count ? &contexts[i + 1] : NULL, code(i), { 0 } };
    return contexts;
}

static void *unmapped(void)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    return page;
}

/* ---- memory that is no chain ---- */

enum garbage {
    NO_CONTEXT, SMALL_NUMBER, NOT_MAPPED, IMPOSSIBLE, MISALIGNED, LAST_BYTES, PARENT_NOT_MAPPED, PARENT_MISALIGNED, NO_CALLER, CALLER_ON_HEAP,
    CALLER_IN_DATA, LATER_CALLER_ON_STACK, OWN_PARENT, CIRCLE, LONG_CIRCLE, GARBAGES
};

static const void *garbage(enum garbage kind)
{
    static uint64_t data = 0;
    struct context *contexts = chain(20000);
    contexts[4].parent = NULL;
    switch (kind) {
    case NO_CONTEXT: return NULL;
    case SMALL_NUMBER: return (const void *)(uintptr_t)48;
    case NOT_MAPPED: return unmapped();
    case IMPOSSIBLE: return (const void *)(uintptr_t)UINT64_C(0x6161616161616160);
    case MISALIGNED: return (const uint8_t *)memmove((uint8_t *)contexts + 8, contexts, sizeof *contexts);
    case LAST_BYTES: return (const void *)(uintptr_t)(UINT64_MAX - 15);
    case PARENT_NOT_MAPPED: contexts[1].parent = unmapped(); break;
    case PARENT_MISALIGNED: contexts[1].parent = (struct context *)(void *)((uint8_t *)contexts + 8); break;
    case NO_CALLER: contexts[0].resume_parent = 0; break;
    case CALLER_ON_HEAP: contexts[0].resume_parent = (uint64_t)(uintptr_t)contexts; break;
    case CALLER_IN_DATA: contexts[0].resume_parent = (uint64_t)(uintptr_t)&data; break;
    case LATER_CALLER_ON_STACK: contexts[4].resume_parent = (uint64_t)(uintptr_t)&contexts; break;
    case OWN_PARENT: contexts[0].parent = contexts; break;
    case CIRCLE: contexts[4].parent = &contexts[2]; break;
    default: contexts[4].parent = &contexts[5], contexts[19999].parent = &contexts[3]; break;
    }
    return contexts;
}

static void body_garbage(void *argument)
{
    const void *context = garbage((enum garbage)(intptr_t)argument);
    start_session();
    call_with_context(context, crash_without_frame, NULL);
}

static lg_reader *crashed(void (*body)(void *), void *argument)
{
    expect_signal(body, argument, SIGSEGV);
    const lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.skipped, 0);
    assert_int_equal(crash.recrash_count, 0);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_stack_info stack;
    assert_int_equal(lg_reader_stack(reader, LG_STAGE_DWARF, &stack), LG_OK);
    assert_int_equal(stack.truncated, 0);
    return reader;
}

/* crash_without_frame() and call_with_context() */
#define FRAMES_OF_THE_CALL 2

static void test_garbage(void **state)
{
    (void)state;
    for (int kind = NO_CONTEXT; kind < GARBAGES; kind++) {
        lg_async_chain chain;
        state_make();
        lg_reader *reader = crashed(body_garbage, (void *)(intptr_t)kind);
        /* the memory of the frames further out may look like a chain by chance */
        for (uint32_t i = 0; lg_reader_async_chain(reader, i, &chain) == LG_OK; i++)
            if (chain.frame < FRAMES_OF_THE_CALL)
                fail_msg("garbage %d is taken for a chain, of frame %u", kind, chain.frame);
        lg_reader_close(reader);
    }
}

/* ---- chains ---- */

/* The chain with this number is of the frame whose pc it has, and has so many callers. */
static lg_async_chain chain_of(lg_reader *reader, uint32_t index, uint32_t callers)
{
    lg_async_chain chain;
    uint64_t pc;
    assert_int_equal(lg_reader_async_chain(reader, index, &chain), LG_OK);
    assert_int_equal(lg_reader_frame(reader, LG_STAGE_DWARF, chain.frame, &pc), LG_OK);
    assert_int_equal(pc, chain.pc);
    assert_int_equal(chain.count, callers);
    for (uint32_t i = 0; i < callers; i++) {
        assert_int_equal(lg_reader_async_caller(reader, index, i, &pc), LG_OK);
        assert_int_equal(pc, code(i));
    }
    assert_int_equal(lg_reader_async_caller(reader, index, callers, &pc), LG_ERR_NOT_FOUND);
    return chain;
}

static void body_chain(void *argument)
{
    static const void *context; /* no other frame has its address */
    context = chain((uint32_t)(uintptr_t)argument);
    start_session();
    call_with_context(context, crash_without_frame, NULL);
}

/* The function that crashes has no frame pointer of its own: the chain is of its caller. More
 * callers than have room are cut, however many there are. */
static void test_chain(void **state)
{
    static const uint32_t counts[] = { 1, 2, 7, 191, 192, 193, 1000, 200000 };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        lg_async_chain none;
        state_make();
        lg_reader *reader = crashed(body_chain, (void *)(uintptr_t)counts[i]);
        const lg_async_chain chain = chain_of(reader, 0, counts[i] > 192 ? 192 : counts[i]);
        assert_int_equal(chain.frame, 1);
        assert_int_equal(chain.truncated, counts[i] > 192);
        assert_true(lg_reader_async_chain(reader, 1, &none) == LG_ERR_NOT_FOUND || none.frame >= FRAMES_OF_THE_CALL);
        assert_int_equal(newest_crash(LG_STAGE_DONE).async_omitted, 0);
        lg_reader_close(reader);
    }
}

static void body_register(void *argument)
{
    static struct context *inner, *outer;
    inner = chain((uint32_t)(uintptr_t)argument);
    outer = chain(4);
    start_session();
    call_with_context(outer, crash_with_context, inner);
}

/* A function without a frame has its context in a register. */
static void test_register(void **state)
{
    (void)state;
    lg_reader *reader = crashed(body_register, (void *)3);
    assert_int_equal(chain_of(reader, 0, 3).frame, 0);
    assert_int_equal(chain_of(reader, 1, 4).frame, 1);
    lg_reader_close(reader);
}

struct nest {
    uint32_t depth, callers;
    const void *context; /* of all frames */
};

static void nest(void *argument)
{
    struct nest *left = argument;
    if (!left->depth--)
        crash_without_frame(NULL);
    call_with_context(left->context, nest, left);
}

static void body_nest(void *argument)
{
    ((struct nest *)argument)->context = chain(((struct nest *)argument)->callers);
    start_session();
    nest(argument);
}

/* More chains than have room, by their number and by their length. */
static void test_many_chains(void **state)
{
    (void)state;
    lg_reader *reader = crashed(body_nest, &(struct nest){ 20, 3, NULL });
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(chain_of(reader, i, 3).frame, 2 * i + 2);
    assert_int_equal(newest_crash(LG_STAGE_DONE).async_omitted, 4);
    lg_reader_close(reader);
    state_make();
    reader = crashed(body_nest, &(struct nest){ 4, 150, NULL });
    chain_of(reader, 0, 150), chain_of(reader, 1, 150);
    assert_true(chain_of(reader, 2, 399 - 2 * 152 - 2).truncated);
    assert_int_equal(newest_crash(LG_STAGE_DONE).async_omitted, 1);
    lg_reader_close(reader);
    state_make();
    reader = crashed(body_nest, &(struct nest){ 4000, 40000, NULL });
    assert_true(chain_of(reader, 0, 192).truncated);
    assert_int_equal(newest_crash(LG_STAGE_DONE).async_omitted, 3998);
    lg_reader_close(reader);
}

/* ---- other threads ---- */

/* What its stack leaves of the room of a thread, beside its first functions. */
static uint32_t words_left(const lg_stack_info *stack)
{
    const uint32_t taken = stack->stored + 1 + (stack->first < 24 ? stack->first : 24);
    return taken < 96 ? 96 - taken : 0;
}

/* The chains of a thread, as many as have room. `kind` 0: a thread of the crash. */
static void check_other(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, const struct nest *nest)
{
    lg_thread_info info;
    lg_stack_info stack;
    lg_async_chain chain;
    uint64_t pc, expected;
    assert_int_equal(kind ? lg_reader_snapshot_thread(reader, kind, thread, &info) : lg_reader_thread(reader, thread, &info), LG_OK);
    assert_int_equal(kind ? lg_reader_snapshot_stack(reader, kind, thread, &stack) : lg_reader_thread_stack(reader, thread, &stack), LG_OK);
    assert_int_equal(stack.method, LG_STAGE_DWARF);
    uint32_t left = words_left(&stack), index = 0;
    for (; index < nest->depth && left > 2; index++) {
        const uint32_t callers = nest->callers < left - 2 ? nest->callers : left - 2;
        assert_int_equal(kind ? lg_reader_snapshot_async_chain(reader, kind, thread, index, &chain)
                              : lg_reader_thread_async_chain(reader, thread, index, &chain), LG_OK);
        assert_int_equal(chain.count, callers);
        assert_int_equal(chain.truncated, callers < nest->callers);
        assert_int_equal(kind ? lg_reader_snapshot_frame(reader, kind, thread, chain.frame, &expected)
                              : lg_reader_thread_frame(reader, thread, chain.frame, &expected), LG_OK);
        assert_int_equal(chain.pc, expected);
        for (uint32_t i = 0; i < callers; i++) {
            assert_int_equal(kind ? lg_reader_snapshot_async_caller(reader, kind, thread, index, i, &pc)
                                  : lg_reader_thread_async_caller(reader, thread, index, i, &pc), LG_OK);
            assert_int_equal(pc, code(i));
        }
        left -= 2 + callers;
    }
    assert_int_equal(info.async_omitted, nest->depth - index);
    assert_int_equal(kind ? lg_reader_snapshot_async_chain(reader, kind, thread, index, &chain)
                          : lg_reader_thread_async_chain(reader, thread, index, &chain), LG_ERR_NOT_FOUND);
}

/* One chain, two of them of which the second is cut, more than have room, one that fills the room,
 * and none since the stack alone does. */
static const struct nest others[] = { { 1, 5, NULL }, { 2, 40, NULL }, { 20, 3, NULL }, { 1, 1000, NULL }, { 60, 2, NULL } };
#define OTHERS (sizeof others / sizeof others[0])
static _Atomic unsigned standing;

static void stand(void *argument)
{
    struct nest *left = argument;
    if (left->depth--)
        call_with_context(left->context, stand, left);
    atomic_fetch_add(&standing, 1);
    for (;;)
        pause();
}

static void *other(void *argument)
{
    const size_t number = (size_t)argument;
    static struct nest left[OTHERS];
    left[number] = others[number];
    left[number].context = chain(left[number].callers);
    prctl(PR_SET_NAME, (const char[]){ (char)('0' + number), 0 });
    stand(&left[number]);
    return NULL;
}

static void stand_all(void)
{
    for (size_t i = 0; i < OTHERS; i++)
        in_thread(other, (void *)i);
    wait_until(standing == OTHERS);
}

static void check_others(lg_reader *reader, lg_snapshot_kind kind, uint32_t stored)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < stored; i++) {
        lg_thread_info info;
        assert_int_equal(kind ? lg_reader_snapshot_thread(reader, kind, i, &info) : lg_reader_thread(reader, i, &info), LG_OK);
        /* its name is its number */
        if (info.name[0] < '0' || info.name[0] >= '0' + (int)OTHERS)
            continue;
        check_other(reader, kind, i, &others[info.name[0] - '0']);
        found++;
    }
    assert_int_equal(found, OTHERS);
}

static void body_others(void *argument)
{
    (void)argument;
    start_session();
    stand_all();
    crash_without_frame(NULL);
}

static void test_other_threads(void **state)
{
    (void)state;
    lg_threads_info threads;
    lg_reader *reader = crashed(body_others, NULL);
    assert_int_equal(lg_reader_threads(reader, &threads), LG_OK);
    check_others(reader, (lg_snapshot_kind)0, threads.stored);
    lg_reader_close(reader);
}

static void body_hang(void *argument)
{
    (void)argument;
    lg_snapshot_info snapshot;
    lg_options options = LG_OPTIONS_INIT;
    options.hang_launching_ms = options.hang_running_ms = 100;
    options.deadline_ms = 60000;
    lg__fault_patience = 20;
    lg_session *session = start_with(options);
    stand_all();
    lg_heartbeat(session);
    wait_until(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot) && snapshot.complete);
    kill(getpid(), SIGKILL);
}

static void test_hang(void **state)
{
    (void)state;
    lg_snapshot_info snapshot;
    expect_signal(body_hang, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    assert_int_equal(lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot), LG_OK);
    check_others(reader, LG_SNAPSHOT_HANG, snapshot.stored);
    lg_reader_close(reader);
}

static void body_none(void *argument)
{
    (void)argument;
    start_session();
    crash_without_frame(NULL);
}

static void test_none(void **state)
{
    (void)state;
    lg_async_chain chain;
    uint64_t pc;
    lg_reader *reader = crashed(body_none, NULL);
    assert_int_equal(lg_reader_async_caller(reader, 100, 0, &pc), lg_reader_async_chain(reader, 100, &chain));
    assert_int_not_equal(lg_reader_async_chain(reader, 100, &chain), LG_OK);
    assert_int_equal(lg_reader_async_chain(NULL, 0, &chain), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_none), WITH_STATE(test_garbage), WITH_STATE(test_chain), WITH_STATE(test_register), WITH_STATE(test_many_chains), WITH_STATE(test_other_threads),
        WITH_STATE(test_hang),
    };
    return cmocka_run_group_tests_name("async", tests, NULL, NULL);
}
