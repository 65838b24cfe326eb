#include "process/rest.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>

void rest_give_back(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (!maps)
        return;
    while (fgets(line, sizeof line, maps)) {
        uintptr_t low, high;
        char rights[5], path[2];
        /* Code of a file is never written to, so that nothing is lost. Data that looks read-only
         * may have been relocated. */
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %1s", &low, &high, rights, path) == 4 && rights[0] == 'r' &&
            rights[1] == '-' && rights[2] == 'x' && path[0] == '/')
            madvise((void *)low, high - low, MADV_DONTNEED);
    }
    fclose(maps);
}
