/* Calls through NULL: such a call returns 0. */
#include <stdatomic.h>
#include <string.h>

#include "guard/guard.h"
#include "os/os.h"

static __attribute__((no_sanitize("address", "thread"))) uint64_t word_at(uint64_t sp)
{
    return sp & 7 || lg__os_readable(sp) != 1 ? 0 : *(const uint64_t *)(uintptr_t)sp;
}

static bool are_readable(uint64_t address, size_t size)
{
    if (address > UINT64_MAX - size)
        return false;
    for (uint64_t word = address & ~UINT64_C(7); word < address + size; word += sizeof(uint64_t))
        if (lg__os_readable(word) != 1)
            return false;
    return true;
}

static __attribute__((no_sanitize("address", "thread"))) void read_bytes(uint64_t address, uint8_t *ret_bytes, size_t size)
{
    const volatile uint8_t *bytes = (const uint8_t *)(uintptr_t)address;
    for (size_t i = 0; i < size; i++)
        ret_bytes[i] = bytes[i];
}

static _Atomic uint64_t entries_begin, entries_end;

void lg__null_call_entries(uint64_t begin, uint64_t end)
{
    atomic_store(&entries_begin, begin);
    atomic_store(&entries_end, end);
}

static bool is_null(uint64_t function)
{
    return function == 0 || (function >= atomic_load(&entries_begin) && function < atomic_load(&entries_end));
}

/* The function; no address where the word cannot be read. */
static uint64_t function_of(const struct lg__arch_callee *callee)
{
    uint64_t function = UINT64_MAX;
    if (callee->through != LG__CALLEE_SLOT)
        return callee->value;
    if (are_readable(callee->value, sizeof function))
        read_bytes(callee->value, (uint8_t *)&function, sizeof function);
    return function;
}

/* That call went to 0, or to a function that begins with a jump to 0. */
static bool goes_to_null(const struct lg__arch_callee *callee, const uint64_t registers[LG__REGISTERS_MAX])
{
    uint8_t code[LG__ARCH_STUB_BYTES];
    struct lg__arch_callee jump;
    const uint64_t function = function_of(callee);
    if (is_null(function))
        return true;
    if (!are_readable(function, sizeof code))
        return false;
    read_bytes(function, code, sizeof code);
    return lg__arch_jumps_at(code, function, registers, &jump) && is_null(function_of(&jump));
}

/* Before `next` is a call that went to 0. A smashed stack may "return" to 0, and have any return
 * address at sp: the call before that one went to the function that has just returned. */
static bool follows_null_call(uint64_t next, const uint64_t registers[LG__REGISTERS_MAX])
{
    uint8_t before[LG__ARCH_CALL_BYTES];
    struct lg__arch_callee callees[LG__ARCH_CALLEES];
    if (!are_readable(next - sizeof before, sizeof before))
        return false;
    read_bytes(next - sizeof before, before, sizeof before);
    const size_t count = lg__arch_calls_before(before, next, registers, callees);
    for (size_t i = 0; i < count; i++)
        if (goes_to_null(&callees[i], registers))
            return true;
    return false;
}

bool lg__null_call_claim(int signal, const siginfo_t *info, void *ucontext)
{
    struct lg__arch_fault fault;
    if (signal != SIGSEGV || info->si_addr || !lg_guard_is_working(LG_GUARD_NULL_CALL))
        return false;
    lg__arch_fault(ucontext, &fault);
    if (fault.pc != 0 || (fault.access != LG__ACCESS_FETCH && fault.access != LG__ACCESS_UNKNOWN))
        return false;
    uint64_t at_fault[LG__REGISTERS_MAX], returned[LG__REGISTERS_MAX];
    lg__arch_registers(ucontext, at_fault);
    memcpy(returned, at_fault, sizeof returned);
    lg__arch_return_to_caller(returned, word_at(fault.sp));
    const uint64_t caller = lg__arch_code_address(returned[lg__arch_pc]);
    /* first ask whether guards hold there: then the address is code */
    if (!caller || !lg__ranges_hold(LG_GUARD_NULL_CALL, caller) || !follows_null_call(caller, at_fault))
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
