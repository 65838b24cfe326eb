/* Calls every function of the public reader on one file, and aborts when the reader breaks a
 * promise of its documentation. exercise_report.c makes a report of the file instead. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <stddef.h>

/* The most bytes that exercise() may allocate at once for a file of `size` bytes. */
size_t most_memory(size_t size);

/* 1 if the file could be opened, else 0. */
int exercise(const char *path);

#endif
