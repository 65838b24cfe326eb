/* Layer 2: the innermost places of the program in a walk. For the coarse key. */
#ifndef LG_READ_INNERMOST_H
#define LG_READ_INNERMOST_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/reader.h"

/* A walk: of the crashed thread, or of a thread of the snapshot of the hang. */
struct lg__innermost_walk {
    lg_reader *reader;
    bool of_hang;
    lg_stage stage;  /* of a crash */
    uint32_t thread; /* of the snapshot */
    uint32_t from;   /* the first frame that counts */
    uint32_t most;   /* so many places, at most LG__INNERMOST_MAX */
    /* the thread may be anywhere in its innermost function, whose begin stands for that place */
    bool anywhere;
    /* the stack was used up: of the calls that recur, in no order of their own */
    bool overflowed;
};

struct lg__innermost_place {
    char module[256];  /* file name */
    char build_id[65]; /* "": the module has none */
    uint64_t bytes;    /* that the module covers */
    uint64_t address;  /* in the file of the module */
};

#define LG__INNERMOST_FEW 5u
#define LG__INNERMOST_MAX 12u /* through a runtime whose functions count as the program's */

/* Whether an address is of this module rather than of the one found before, or NULL: of modules
 * within each other it is of the innermost, which begins last. */
static inline bool lg__innermost_takes(const lg_module *module, const lg_module *found, uint64_t address)
{
    return address >= module->start && address < module->end && (!found || module->start > found->start);
}

/* Whether the name of a module's file begins so. */
bool lg__innermost_has_module(lg_reader *reader, const char *begin);

/* Each place once, the innermost one first. Returns how many. */
uint32_t lg__innermost(const struct lg__innermost_walk *walk, struct lg__innermost_place ret_places[LG__INNERMOST_MAX]);

#endif
