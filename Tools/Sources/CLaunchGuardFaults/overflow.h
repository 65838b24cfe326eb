/* Recursion that ends only with the stack. */
#ifndef LAUNCHGUARD_FAULTS_OVERFLOW_H
#define LAUNCHGUARD_FAULTS_OVERFLOW_H

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winfinite-recursion"
#endif

__attribute__((noinline)) int lgf_overflow(int depth);

#endif
