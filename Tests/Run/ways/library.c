/* A native library that kills a Java VM and node as soon as they load it. */
#include <stdlib.h>

__attribute__((constructor)) static void load(void)
{
#ifdef ABORT
    abort();
#else
    *(volatile int *)0 = 1;
#endif
}
