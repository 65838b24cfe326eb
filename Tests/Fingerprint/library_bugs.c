/* Faults in a shared library, which one place of the program calls. */
#include "bugs.h"

static const long *volatile list;

KEPT long call(long (*function)(const long *, long)) { long sum = function(list, 0); STAY; return sum; }
KEPT void show(long (*function)(const long *, long)) { call(function); STAY; }
static void sum(long unused) { (void)unused; show(library_sum); STAY; }
static void last(long unused) { (void)unused; show(library_last); STAY; }

const struct bug library_bugs[] = {
    { "library sum", sum, 0 },
    { "library last", last, 0 },
    { NULL, NULL, 0 },
};
