/* What the public reader shows of the annotations of a run. */
#ifndef ANNOTATIONS_H
#define ANNOTATIONS_H

#include "harness.h"

/* What there is of one key, asserted to be there once at most; false: nothing. */
bool annotation_of(lg_reader *reader, const char *key, lg_annotation *ret_annotation);
/* How many keys there are. */
uint32_t annotation_count(lg_reader *reader);

#endif
