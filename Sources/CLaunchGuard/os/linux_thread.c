/* A thread of the kernel in this process that libc does not know. */
#include "os/os.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* libc's structure of a thread lies beside the thread pointer, with the canary of the stack
 * protector on x86-64. */
#define CONTROL_BYTES LG__PAGE
/* Room for the thread-local variables of a module whose first variable is at a known place. */
#define MODULE_BYTES 65536u

/* A thread-local variable of the module that holds this code. */
static __thread char own_variable __attribute__((tls_model("initial-exec")));

static size_t distance(const void *variable, const void *pointer)
{
    uintptr_t a = (uintptr_t)variable, b = (uintptr_t)pointer;
    return a < b ? b - a : a - b;
}

bool lg__os_on_alternate_stack(uintptr_t *ret_low, uintptr_t *ret_high)
{
    stack_t stack;
    *ret_low = *ret_high = 0;
    if (lg__os_call(SYS_sigaltstack, 0, (long)(uintptr_t)&stack, 0, 0, 0, 0) != 0 || stack.ss_flags & SS_DISABLE)
        return false;
    *ret_low = (uintptr_t)stack.ss_sp;
    *ret_high = *ret_low + stack.ss_size;
    return stack.ss_flags & SS_ONSTACK;
}

static size_t variables_bytes LG__SMALL; /* of a thread; 0: not known */

bool lg__os_thread_reserve(struct lg__os_thread *ret_thread, size_t stack_bytes)
{
    const void *pointer = lg__arch_thread_pointer();
    size_t own = distance(&own_variable, pointer), of_libc = distance(&errno, pointer);
    size_t variables = variables_bytes = lg__os_to_pages((own > of_libc ? own : of_libc) + MODULE_BYTES);
    size_t stack = lg__os_to_pages(stack_bytes), local = variables + CONTROL_BYTES, guard = lg__os_page_size();
    uint8_t *base = mmap(NULL, guard + stack + local, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (mprotect(base, guard, PROT_NONE) != 0) {
        munmap(base, guard + stack + local);
        return false;
    }
    uint8_t *low = base + guard + stack;
    *ret_thread = (struct lg__os_thread){
        .stack_top = low,
        .local = low,
        .local_bytes = local,
        .pointer = low + (lg__arch_variables_below ? variables : CONTROL_BYTES),
    };
    return !LG__KEEPS_THREAD || lg__os_kept_make();
}

static bool is_lost(void *pointer)
{
    const uintptr_t address = (uintptr_t)pointer;
    return !address || address % sizeof pointer || lg__os_readable(address) == 0 || !lg__arch_has_thread_variables(pointer);
}

bool lg__os_thread_borrow(struct lg__os_borrowed *ret_borrowed)
{
    void *lost;
    if (!variables_bytes || !lg__arch_thread_pointer_register(&lost) || !is_lost(lost))
        return false;
    const size_t size = variables_bytes + CONTROL_BYTES;
    long memory = lg__os_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory < 0 && memory > -4096)
        return false;
    *ret_borrowed = (struct lg__os_borrowed){ lost, (void *)(uintptr_t)memory, size };
    uint8_t *pointer = (uint8_t *)ret_borrowed->memory + (lg__arch_variables_below ? variables_bytes : CONTROL_BYTES);
    lg__arch_thread_variables(pointer);
    lg__arch_set_thread_pointer(pointer);
    return true;
}

void lg__os_thread_give_back(const struct lg__os_borrowed *borrowed)
{
    lg__arch_set_thread_pointer(borrowed->lost);
    lg__os_call(SYS_munmap, (long)(uintptr_t)borrowed->memory, (long)borrowed->size, 0, 0, 0, 0);
}

long lg__os_thread_begin(struct lg__os_thread *thread, void (*run)(void), int32_t *ret_tid)
{
    if (LG__KEEPS_THREAD)
        return lg__os_kept_begin(run, ret_tid);
    const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID;
    /* An earlier thread left its variables there, its number among them. */
    if (thread->is_used)
        lg__os_call(SYS_madvise, (long)(uintptr_t)thread->local, (long)thread->local_bytes, MADV_DONTNEED, 0, 0, 0);
    thread->is_used = true;
    lg__arch_thread_variables(thread->pointer);
    long result = lg__arch_thread_begin(flags, thread->stack_top, thread->pointer, run, ret_tid);
    return result < 0 ? result : 0;
}

void lg__os_thread_end_if(uint32_t *word, uint32_t expected, uint32_t desired)
{
    if (LG__KEEPS_THREAD)
        lg__os_kept_wait_if(word, expected, desired);
    else
        lg__arch_thread_end_if(word, expected, desired);
}

/* libc has the kernel clear a thread's number when that thread ends. */
static _Atomic(const int32_t *) first_thread;

void lg__os_first_thread_note(void)
{
    int32_t *word = NULL;
    if (lg__os_tid() == lg__os_pid() && lg__os_call(SYS_prctl, PR_GET_TID_ADDRESS, (long)(uintptr_t)&word, 0, 0, 0, 0) == 0 && word &&
        *word == lg__os_pid())
        atomic_store(&first_thread, word);
}

bool lg__os_first_thread_ended(void)
{
    const int32_t *word = atomic_load(&first_thread);
    int status;
    return word ? __atomic_load_n(word, __ATOMIC_RELAXED) == 0 : lg__os_first_thread_status(&status);
}
