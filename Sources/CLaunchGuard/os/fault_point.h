/* Fault points: places where tests make this library itself fail. Compiled into test builds
 * only. */
#ifndef LG_OS_FAULT_POINT_H
#define LG_OS_FAULT_POINT_H

#ifdef LG_FAULT_POINTS
#include <stddef.h>

/* Set by a test; called with the name of each point that is passed. */
extern void (*lg__fault_hook)(const char *point);
/* The kernel's pages are at least that large. A larger page is a number of smaller ones, but where
 * a mapping ends in the middle of one. */
extern size_t lg__fault_page_bytes;
/* Multiplies the times that LaunchGuard waits for other threads at most, where a test is not about
 * such a time. */
extern unsigned lg__fault_patience;
#define LG_PATIENCE(ns) (lg__fault_patience * (ns))
#define LG_FAULT_POINT(name)      \
    do {                          \
        if (lg__fault_hook)       \
            lg__fault_hook(name); \
    } while (0)
#else
#define LG_PATIENCE(ns) (ns)
#define LG_FAULT_POINT(name) ((void)0)
#endif

#endif
