/* What the instructions before an address say about a return to it. */
#include "internal.h"

#include <string.h>

#define BEFORE 7u /* the longest call of x86-64 */

/* The bytes before an address, from the file of its module. */
static bool bytes_before(const struct stack_walk *walk, uint64_t pc, uint8_t *ret_bytes, size_t size)
{
    const struct module *module = stack_walk_module_at(walk, pc - 1);
    for (size_t i = 0; module && i < module->count; i++)
        if (module_file_is_code(&module->files[i], pc - 1 - module->place.bias) &&
            module_file_read(&module->files[i], pc - size - module->place.bias, ret_bytes, size))
            return true;
    return false;
}

/* FF /2 of x86-64, which ends where the bytes end: its length follows from its second byte. */
static bool is_indirect(const uint8_t *bytes)
{
    for (unsigned length = 2; length <= BEFORE; length++) {
        const uint8_t *call = bytes + BEFORE - length;
        if (call[0] != 0xff || (call[1] >> 3 & 7) != 2)
            continue;
        const unsigned how = call[1] >> 6, base = call[1] & 7;
        unsigned needed = 2 + (how == 1 ? 1 : how == 2 ? 4 : 0);
        if (how != 3 && base == 4 && length > 2)
            needed += 1 + (how == 0 && (call[2] & 7) == 5 ? 4u : 0u);
        if (how == 0 && base == 5)
            needed += 4;
        if (needed == length)
            return true;
    }
    return false;
}

static bool x86_64(const struct stack_walk *walk, uint64_t pc, uint64_t *ret_target)
{
    uint8_t bytes[BEFORE];
    int32_t distance;
    if (!bytes_before(walk, pc, bytes, sizeof bytes))
        return false;
    if (bytes[2] == 0xe8) {
        memcpy(&distance, bytes + 3, sizeof distance);
        const uint64_t target = pc + (uint64_t)(int64_t)distance;
        if (stack_walk_module_at(walk, target)) {
            *ret_target = target;
            return true;
        }
    }
    return is_indirect(bytes);
}

static bool aarch64(const struct stack_walk *walk, uint64_t pc, uint64_t *ret_target)
{
    uint32_t call;
    if (pc % 4 != 0 || !bytes_before(walk, pc, (uint8_t *)&call, sizeof call))
        return false;
    if (call >> 26 == 0x25) /* bl: a signed number of instructions */
        *ret_target = pc - 4 + (uint64_t)((int64_t)((uint64_t)call << 38) >> 36);
    return call >> 26 == 0x25 || (call & 0xfefff800) == 0xd63f0000; /* blr and its kin */
}

bool call_returns_to(const struct stack_walk *walk, uint64_t pc, uint64_t *ret_target)
{
    *ret_target = 0;
    return walk->is_aarch64 ? aarch64(walk, pc, ret_target) : x86_64(walk, pc, ret_target);
}
