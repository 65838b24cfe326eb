/* Annotations: the last value of each key. Many writers, no lock, no allocation, no system call. */
#ifndef LG_STORE_ANNOTATION_H
#define LG_STORE_ANNOTATION_H

#include <stdbool.h>

#include "launchguard/status.h"
#include "store/format.h"

#define LG__ANNOTATION_KEY_WORDS (LG__NAME_BYTES / sizeof(uint64_t))

/* A key as the writers compare it: the bytes after its end are zero. */
struct lg__annotation_key {
    uint64_t words[LG__ANNOTATION_KEY_WORDS];
};

/* The writers' own view, in memory: they read nothing back from the file, which may be damaged.
 * Zero at first. */
struct lg__annotation_memory {
    /* the last change that was announced, and whether it is still to be carried out */
    _Atomic uint64_t turn;
    _Atomic uint64_t current[LG__ANNOTATIONS];     /* of each slot, as in the file */
    _Atomic uint32_t redacted[LG__ANNOTATIONS];
    /* where to look for a free value: others rest meanwhile, for readers that are slow */
    _Atomic uint32_t next;
    _Atomic uint32_t taken[LG__ANNOTATION_VALUES]; /* 1: it is a slot's, or a writer fills it */
    _Atomic uint64_t keys[LG__ANNOTATION_VALUES][LG__ANNOTATION_KEY_WORDS];
};

struct lg__annotation_writer {
    struct lg__annotations *file;
    struct lg__annotation_memory *memory;
};

/* Make a key. False: it is empty, or longer than LG_ANNOTATION_KEY_MAX bytes. Handler. */
bool lg__annotation_key(const char *text, struct lg__annotation_key *ret_key);

/* Set the value of a key, cut to fit; NULL removes the key, but not its redaction. LG_OK;
 * LG_ERR_LIMIT: no slot is free, or writers that stand still for ever have all the values.
 * Handler. */
lg_status lg__annotation_put(const struct lg__annotation_writer *writer, const struct lg__annotation_key *key, const char *value);

/* Redact a key for good, whether it has a value or not. As above. Handler. */
lg_status lg__annotation_redact(const struct lg__annotation_writer *writer, const struct lg__annotation_key *key);

#endif
