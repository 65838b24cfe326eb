/* A library that lacks a function, made in memory. */
#ifndef LAUNCHGUARD_FAULTS_LAZY_H
#define LAUNCHGUARD_FAULTS_LAZY_H

/* Load it with lazy binding and call the function that it lacks. */
void lgf_call_missing_function(void);

#endif
