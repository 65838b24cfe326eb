/* Guarded reads: a copy whose source faults ends there. */
#include "guard/guard.h"

#include <errno.h>

#include "launchguard/guard_memory.h"
#include "os/os.h"

bool lg__copy_failed(int signal, const siginfo_t *info, const void *ucontext)
{
    uint64_t site;
    return (signal == SIGSEGV || signal == SIGBUS) && lg__arch_copy_failed(ucontext, (uint64_t)(uintptr_t)info->si_addr, &site);
}

bool lg__copy_claim(const siginfo_t *info, void *ucontext)
{
    char text[LG_GUARD_TEXT_MAX + 1], address[24];
    const uint64_t at = (uint64_t)(uintptr_t)info->si_addr;
    uint64_t site;
    if (!lg_guard_is_working(LG_GUARD_MEMORY) || !lg__arch_copy_failed(ucontext, at, &site))
        return false;
    lg__hook_words(text, sizeof text, "a guarded read met an address that cannot be read: 0x%zx", (size_t)at);
    lg__hook_words(address, sizeof address, "0x%zx", (size_t)at);
    const lg_field fields[] = { { "address", address } };
    const struct lg__guard_fault fault = { LG_GUARD_MEMORY, site, ucontext, text, fields, 1 };
    if (!lg__event_claim(&fault))
        return false;
    lg__arch_go_on_at(ucontext, (uint64_t)(uintptr_t)lg__arch_copy_left);
    return true;
}

lg_status lg_guard_read(void *dst, const void *src, size_t size, size_t *ret_copied)
{
    const uint64_t site = lg__arch_code_address((uint64_t)(uintptr_t)__builtin_return_address(0));
    const size_t left = lg__arch_copy(dst, src, size, site);
    if (ret_copied)
        *ret_copied = size - left;
    if (left == 0)
        return LG_OK;
    errno = EFAULT;
    return LG_ERR_SYSTEM;
}
