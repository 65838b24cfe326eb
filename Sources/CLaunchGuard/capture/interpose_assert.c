/* A failed assertion of libstdc++ (_GLIBCXX_ASSERTIONS), which says on standard error alone what
 * failed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

typedef void (*fail_function)(const char *, int, const char *, const char *);

void lg__interpose_assert_fail(const char *file, int line, const char *function, const char *condition)
    __asm__("_ZSt21__glibcxx_assert_failPKciS0_S0_") __attribute__((visibility("default"), noreturn));

/* The text that libstdc++ writes, in the form of assert(). */
void lg__interpose_assert_fail(const char *file, int line, const char *function, const char *condition)
{
    char text[1024];
    fail_function real;
    void *found = dlsym(RTLD_NEXT, "_ZSt21__glibcxx_assert_failPKciS0_S0_");
    if (file && condition) {
        snprintf(text, sizeof text, "%s:%d: %s: Assertion `%s' failed.", file, line, function ? function : "", condition);
        lg__capture_say(LG_MESSAGE_LIBC, text);
    }
    memcpy(&real, &found, sizeof real);
    if (real)
        real(file, line, function, condition);
    /* a runtime that is linked statically, whose place this function took */
    if (file && condition)
        fprintf(stderr, "%s:%d: %s: Assertion '%s' failed.\n", file, line, function ? function : "", condition);
    abort();
}
