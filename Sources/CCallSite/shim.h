/* Where a function was called from: Swift has no word for it. */
#ifndef LAUNCHGUARD_CCALLSITE_SHIM_H
#define LAUNCHGUARD_CCALLSITE_SHIM_H

/* The return address of the Swift function that calls this one. Always inlined, also in debug
 * builds: else the address were one in that function itself. */
static inline __attribute__((always_inline)) const void *_Nullable lg_shim_call_site(void)
{
    return __builtin_extract_return_addr(__builtin_return_address(0));
}

#endif
