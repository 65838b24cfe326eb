/* Whether a word of a stack can be a return address. */
#include "walk/walk.h"

bool lg__caller_follows_call(uint64_t pc)
{
    uint8_t before[LG__ARCH_CALL_BYTES] = { 0 };
    size_t size = sizeof before;
    if (lg__memory_read(before, pc - size, size) != size) {
        size = pc % LG__PAGE; /* the first page of code may have nothing before it */
        if (size == 0 || size >= sizeof before || lg__memory_read(before + sizeof before - size, pc - size, size) != size)
            return false;
    }
    return lg__arch_follows_call(before);
}

bool lg__caller_is_in_code(uint64_t pc)
{
    /* the call may be the last instruction of the code */
    const struct lg__module_range *module = lg__loader_find(pc - 1);
    return !module || (pc > module->code_start && pc <= module->code_end);
}

bool lg__caller_is_one(uint64_t pc)
{
    return lg__caller_is_in_code(pc) && lg__caller_follows_call(pc);
}
