/* Structures that a program gives: they begin with their size, and grow at their ends. Each has a
 * table of its fields that are numbers. The checks, the defaults and the test of everything that
 * documents or sets an option come from the table: a new option is its field, one line here and its
 * use. */
#ifndef LG_STORE_GIVEN_H
#define LG_STORE_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest limit of a crash handler that was there before. */
#define LG__GIVEN_HANDLER_MAX_MS 3600000
/* The longest limits of a launch, so that the nanoseconds of a gap are a number of 64 bits. */
#define LG__GIVEN_DAY_MS 86400000
#define LG__GIVEN_GAP_MAX_MS (INT64_MAX / 1000000)
/* The most good launches in safe mode before a trial, whatever number of trials failed. */
#define LG__GIVEN_RETRY_RUNS_MAX 8
#define LG__GIVEN_WRONG_BYTES 256

/* A field that is a number. */
struct lg__given_field {
    const char *name;
    uint16_t at;
    uint8_t size; /* 4 or 8 */
    bool is_signed;
    bool is_set;        /* `most` is a set of bits, and each subset of it is right */
    const char *values; /* what the constants for the field are called; NULL: there are none */
    uint64_t normal;    /* what 0 stands for; 0: itself */
    uint64_t least, most;
};

struct lg__given {
    const char *name; /* of the structure */
    uint32_t size;
    uint32_t count;
    const struct lg__given_field *fields;
};

extern const struct lg__given lg__given_options, lg__given_launch_options, lg__given_repair, lg__given_task, lg__given_delivery_options,
    lg__given_guard_options, lg__given_guard_lists, lg__given_confinement_options, lg__given_report_options, lg__given_minidump_options;

/* The field with this name; NULL: there is none. */
const struct lg__given_field *lg__given_find(const struct lg__given *structure, const char *name, size_t size);

/* The number of a field. Setting returns false where it is not within the bounds; 0 is a number
 * like others. */
uint64_t lg__given_number(const struct lg__given_field *field, const void *structure);
bool lg__given_set(const struct lg__given_field *field, void *structure, uint64_t number);

/* Copy what the program gave over the defaults in `own`, check the numbers, and replace each 0 that
 * stands for a default. A shorter structure is that of an older header: what it lacks keeps its
 * default. A longer one is that of a newer header, and has to be zero beyond `own`. Returns whether
 * all is right; `ret_wrong` (of LG__GIVEN_WRONG_BYTES, or NULL) says in words what is not. */
bool lg__given_take(const struct lg__given *structure, void *own, const void *given, char *ret_wrong);

#endif
