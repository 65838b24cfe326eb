/* Calls every function of the public reader on one file, and aborts when the reader breaks a
 * promise of its documentation. */
#ifndef EXERCISE_H
#define EXERCISE_H

/* 1 if the file could be opened, else 0. */
int exercise(const char *path);

#endif
