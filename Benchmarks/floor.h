/* The least work of any start that leaves marks in two mapped files and handles crashes: in the
 * steady state open and map two files, one store in each, one rt_sigaction for each signal, one
 * sigaltstack. */
#ifndef FLOOR_H
#define FLOOR_H

#include <stdbool.h>

/* Prepare the paths, which are not measured. */
void floor_prepare(const char *directory);

/* `make`: make the directory, one inside, and the files first. */
bool floor_start(const char *directory, bool make);

#endif
