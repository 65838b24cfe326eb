/* The hook of the typed guards (Sources/CLaunchGuardGuards), a library of its own: all that they
 * use of the core beside its public functions, lg_guard_claim() above all. The shared library
 * exports these functions, under a version node of their own, for the typed guards of the same
 * release alone. */
#ifndef LG_GUARD_HOOK_H
#define LG_GUARD_HOOK_H

#include <stdbool.h>

#include "launchguard/guard.h"
#include "launchguard/guard_confine.h"
#include "os/fault_point.h"

/* Format into `to` without stdio, with a NUL, cut to `size` bytes: a guard may find its fault in a
 * signal handler. Handler. */
LG_API void lg__hook_words(char *to, size_t size, const char *format, ...) LG_PRINTF(3, 4);
/* The size of the beginning of a text that has at most `most` bytes and ends with a whole character
 * (UTF-8). Handler. */
LG_API size_t lg__hook_beginning(const char *text, size_t most);
/* lg__given_take() of the options of a confinement: the tables of options stand in one place. */
LG_API bool lg__hook_confinement_options(lg_confinement_options *own, const lg_confinement_options *given);
/* Whether a fault of a class at a site would be survived, but for the budget of the site. Records
 * nothing. Handler. */
LG_API int lg__hook_survives(lg_guard_class guard_class, const void *site);
/* The modules of today for the lists of places where guards hold. LG_OK or LG_ERR_SYSTEM. */
LG_API lg_status lg__hook_refresh(void);
/* The entries that stand for functions begin here, and end before `end`: one that goes on at 0 was
 * called through NULL. */
LG_API void lg__hook_entries(const void *begin, const void *end);
/* A function that returns 0, NULL, 0.0. */
LG_API const void *lg__hook_zero(void);

#endif
