/* The annotations of a run, as the public reader shows them. */
#ifndef ANNOTATIONS_H
#define ANNOTATIONS_H

#include "harness.h"

/* The annotation with this key, asserted to be there once at most; false: there is none. */
bool annotation_of(lg_reader *reader, const char *key, lg_annotation *ret_annotation);
/* How many keys there are. */
uint32_t annotation_count(lg_reader *reader);

#endif
