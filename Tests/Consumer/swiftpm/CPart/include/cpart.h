#ifndef CPART_H
#define CPART_H

#include <launchguard/launchguard.h>

/* What the C interface says of the session that Swift started. */
int cpart_protection(void);
/* The library that throws C++ exceptions in this process. */
const char *cpart_thrower(void);
/* What was printed so far is not lost in a crash. */
void cpart_flush(void);

#endif
