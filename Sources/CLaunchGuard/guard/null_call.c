/* Calls through NULL: such a call returns 0. */
#include "guard/guard.h"
#include "os/os.h"

static __attribute__((no_sanitize("address", "thread"))) uint64_t word_at(uint64_t sp)
{
    return sp & 7 || lg__os_readable(sp) != 1 ? 0 : *(const uint64_t *)(uintptr_t)sp;
}

/* Where the function that was to begin at 0 would return to; 0: it cannot be read. */
static uint64_t caller_of(const void *ucontext, uint64_t sp)
{
    uint64_t registers[LG__REGISTERS_MAX];
    lg__arch_registers(ucontext, registers);
    lg__arch_return_to_caller(registers, word_at(sp));
    return lg__arch_code_address(registers[lg__arch_pc]);
}

static bool is_call(uint64_t next)
{
    const uint8_t *before = (const uint8_t *)(uintptr_t)(next - LG__ARCH_CALL_BYTES);
    const uint64_t first = (next - LG__ARCH_CALL_BYTES) & ~UINT64_C(7), last = (next - 1) & ~UINT64_C(7);
    return lg__os_readable(first) == 1 && lg__os_readable(last) == 1 && lg__arch_follows_call(before);
}

bool lg__null_call_claim(int signal, const siginfo_t *info, void *ucontext)
{
    struct lg__arch_fault fault;
    if (signal != SIGSEGV || info->si_addr || !lg_guard_is_working(LG_GUARD_NULL_CALL))
        return false;
    lg__arch_fault(ucontext, &fault);
    if (fault.pc != 0 || (fault.access != LG__ACCESS_FETCH && fault.access != LG__ACCESS_UNKNOWN))
        return false;
    const uint64_t caller = caller_of(ucontext, fault.sp);
    /* first ask whether guards hold there: then the address is code, and can be read */
    if (!caller || !lg__ranges_hold(LG_GUARD_NULL_CALL, caller) || !is_call(caller))
        return false;
    const struct lg__guard_fault null_call = {
        .guard_class = LG_GUARD_NULL_CALL,
        .site = caller,
        .ucontext = ucontext,
        .text = "a function is called through NULL",
    };
    if (!lg__event_claim(&null_call))
        return false;
    lg__arch_go_on_at(ucontext, (uint64_t)(uintptr_t)lg__arch_return_zero);
    return true;
}
