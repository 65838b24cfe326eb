/* C++ exceptions beside LaunchGuard, whose libunwind exports the same names as the system's
 * unwinder. */
#ifndef THROWS_H
#define THROWS_H

#ifdef __cplusplus
extern "C"
#endif
/* Throw and catch; returns 0 on success. Stores the library that throws for this code. */
int throw_and_catch(char library[4096]);

#endif
