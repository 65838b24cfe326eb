/* Bugs that a program dies of, by name. The test builds the program in several ways. */
#ifndef BUGS_H
#define BUGS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* A function that stays one, where the build does not inline it on purpose. */
#ifdef INLINED
#define KEPT static inline __attribute__((always_inline))
#elif defined __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif
/* After a call: the call is neither made into a jump nor left out. */
#define STAY __asm__ volatile("" ::: "memory")

#ifdef __cplusplus
extern "C" {
#endif

typedef void way(long argument);
struct bug {
    const char *name;
    way *die;
    long argument;
};

/* Each list ends with a name that is NULL. */
extern const struct bug memory_bugs[], end_bugs[], stack_bugs[], hang_bugs[], cpp_bugs[], library_bugs[];

/* The heartbeat of the session, for the bugs that hang. */
void beat(void);
/* Whether LaunchGuard has stored all of a hang. */
int hangs(void);

/* In a thread with so much stack. */
void in_thread(way *die, long argument, size_t stack_bytes);

/* A function of the shared library. */
long library_sum(const long *list, long count);
long library_last(const long *list, long count);

/* A function of Swift, in the builds that have it. */
__attribute__((weak)) void swift_bug(const char *name);

#ifdef __cplusplus
}
#endif
#endif
