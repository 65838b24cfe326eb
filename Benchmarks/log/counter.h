/* The CPU's cycle counter, where its rate is constant. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

static inline bool counter_steady(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

static inline uint64_t counter_read(void)
{
    return __rdtsc();
}

/* Read only after all earlier instructions are done. */
static inline uint64_t counter_read_in_order(void)
{
    _mm_lfence();
    return __rdtsc();
}
#else
static inline bool counter_steady(void)
{
    return false;
}

static inline uint64_t counter_read(void)
{
    return 0;
}

static inline uint64_t counter_read_in_order(void)
{
    return 0;
}
#endif

#endif
