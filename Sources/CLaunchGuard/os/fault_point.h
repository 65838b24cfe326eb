/* Fault points: places where tests make this library itself fail. Compiled into test builds
 * only. */
#ifndef LG_OS_FAULT_POINT_H
#define LG_OS_FAULT_POINT_H

#ifdef LG_FAULT_POINTS
#include <stddef.h>

/* Set by a test; called with the name of each point that is passed. */
extern void (*lg__fault_hook)(const char *point);
/* The kernel's pages are at least that large. Tests treat a larger page as several of these, except
 * where a mapping ends within a page. */
extern size_t lg__fault_page_bytes;
/* Multiplies the time limits of waits for other threads, in tests that are not about such a
 * limit. */
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
