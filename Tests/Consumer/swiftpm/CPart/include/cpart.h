#ifndef CPART_H
#define CPART_H

#include <launchguard/launchguard.h>

/* The view of the C interface on the session that Swift started. */
int cpart_protection(void);
/* The library that throws C++ exceptions in this process. */
const char *cpart_thrower(void);
/* Flush the output, so that a crash does not lose it. */
void cpart_flush(void);

#endif
