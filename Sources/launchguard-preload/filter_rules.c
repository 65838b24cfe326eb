/* The filter runs on values that are known or not. Its jumps lead forward alone, so that one pass
 * in the order of the instructions sees every path to each of them. A condition on a value that is
 * not known has both results. */
#include "filter_rules.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

#include "store/map.h"
#include "walk/walk.h"

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/* The accumulator ahead of an instruction. The index register and the scratch memory, which few
 * filters use, are never known. */
struct at {
    uint32_t value;
    bool is_known, is_reached;
};

static void reach(struct at *next, struct at from)
{
    from.is_known &= !next->is_reached || (next->is_known && next->value == from.value);
    *next = from;
}

static void load(struct at *at, const struct sock_filter *rule, uint32_t call)
{
    const bool is_of_call = BPF_MODE(rule->code) == BPF_ABS && rule->k == offsetof(struct seccomp_data, nr);
    const bool is_machine = BPF_MODE(rule->code) == BPF_ABS && rule->k == offsetof(struct seccomp_data, arch);
    at->is_known = is_of_call || is_machine || BPF_MODE(rule->code) == BPF_IMM;
    at->value = is_of_call ? call : is_machine ? MACHINE : rule->k;
}

static void calculate(struct at *at, const struct sock_filter *rule)
{
    const uint32_t by = rule->k;
    at->is_known &= BPF_SRC(rule->code) == BPF_K;
    switch (BPF_OP(rule->code)) {
    case BPF_ADD: at->value += by; break;
    case BPF_SUB: at->value -= by; break;
    case BPF_AND: at->value &= by; break;
    case BPF_OR: at->value |= by; break;
    case BPF_XOR: at->value ^= by; break;
    case BPF_LSH: at->value = by < 32 ? at->value << by : 0; break;
    case BPF_RSH: at->value = by < 32 ? at->value >> by : 0; break;
    default: at->is_known = false;
    }
}

static bool holds(uint32_t value, const struct sock_filter *rule)
{
    switch (BPF_OP(rule->code)) {
    case BPF_JEQ: return value == rule->k;
    case BPF_JGT: return value > rule->k;
    case BPF_JGE: return value >= rule->k;
    default: return value & rule->k;
    }
}

static bool passes(struct at at, const struct sock_filter *rule)
{
    const bool is_fixed = BPF_RVAL(rule->code) == BPF_K;
    const uint32_t answer = (is_fixed ? rule->k : at.value) & SECCOMP_RET_ACTION_FULL;
    return (is_fixed || at.is_known) && (answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG);
}

static bool allows(const struct sock_filter *rules, size_t count, uint32_t call, struct at *places)
{
    memset(places, 0, count * sizeof *places);
    places[0] = (struct at){ 0, true, true };
    for (size_t i = 0; i < count; i++) {
        const struct sock_filter *rule = &rules[i];
        struct at at = places[i];
        size_t then = i + 1, otherwise = i + 1;
        if (!at.is_reached)
            continue;
        if (BPF_CLASS(rule->code) == BPF_RET) {
            if (!passes(at, rule))
                return false;
            continue;
        }
        if (BPF_CLASS(rule->code) == BPF_JMP && BPF_OP(rule->code) == BPF_JA) {
            then = otherwise += rule->k;
        } else if (BPF_CLASS(rule->code) == BPF_JMP) {
            const bool is_known = at.is_known && BPF_SRC(rule->code) == BPF_K, is_true = holds(at.value, rule);
            then += is_known && !is_true ? rule->jf : rule->jt;
            otherwise += is_known && is_true ? rule->jt : rule->jf;
        } else if (BPF_CLASS(rule->code) == BPF_LD) {
            load(&at, rule, call);
        } else if (BPF_CLASS(rule->code) == BPF_ALU) {
            calculate(&at, rule);
        } else if (BPF_CLASS(rule->code) == BPF_MISC && BPF_MISCOP(rule->code) == BPF_TXA) {
            at.is_known = false;
        }
        if (then >= count || otherwise >= count)
            return false; /* the kernel will refuse it */
        reach(&places[then], at);
        if (otherwise != then)
            reach(&places[otherwise], at);
    }
    return true;
}

bool lg__filter_rules_allow(const void *filter, const long *calls, size_t count)
{
    struct room {
        struct sock_filter rules[BPF_MAXINSNS];
        struct at places[BPF_MAXINSNS];
    } *room;
    struct sock_fprog given;
    struct lg__map map;
    if (lg__memory_copy(&given, (uint64_t)(uintptr_t)filter, sizeof given) != sizeof given || given.len == 0 || given.len > BPF_MAXINSNS ||
        !lg__map_anonymous(sizeof *room, &map))
        return false;
    room = (struct room *)(void *)map.base;
    const size_t bytes = given.len * sizeof *given.filter;
    bool allowed = lg__memory_copy(room->rules, (uint64_t)(uintptr_t)given.filter, bytes) == bytes;
    for (size_t i = 0; i < count && allowed; i++)
        allowed = allows(room->rules, given.len, (uint32_t)calls[i], room->places);
    lg__map_free(&map);
    return allowed;
}
