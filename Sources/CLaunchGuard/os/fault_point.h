/* Fault points: places where tests make this library itself fail. Compiled into test builds
 * only. */
#ifndef LG_OS_FAULT_POINT_H
#define LG_OS_FAULT_POINT_H

#ifdef LG_FAULT_POINTS
/* Set by a test; called with the name of each point that is passed. */
extern void (*lg__fault_hook)(const char *point);
#define LG_FAULT_POINT(name)      \
    do {                          \
        if (lg__fault_hook)       \
            lg__fault_hook(name); \
    } while (0)
#else
#define LG_FAULT_POINT(name) ((void)0)
#endif

#endif
