/* Calls every function of the public reader on one file and aborts when a promise of its documentation is broken. */
#ifndef EXERCISE_H
#define EXERCISE_H

/* 1 if the file could be opened, else 0. */
int exercise(const char *path);

#endif
