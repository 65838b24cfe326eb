/* Layer 2: code that programs have in common. For the fingerprint. */
#ifndef LG_READ_COMMON_H
#define LG_READ_COMMON_H

#include <stdbool.h>

/* A module is one that many programs load, by the name of its file. */
bool lg__common_module(const char *name);

#endif
