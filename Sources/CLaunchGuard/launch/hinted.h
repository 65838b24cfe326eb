/* Layer 4: the hint of the vendor in the terms of the launch machine. It names tasks and repairs
 * that the program registered, and a version: nothing else of it is ever used. Pure, as decide.h
 * says. */
#ifndef LG_LAUNCH_HINTED_H
#define LG_LAUNCH_HINTED_H

#include "launch/decide.h"

/* The hint that is in force for a launch with this policy, whose repairs are set. */
struct lg__hinted lg__hinted_find(const struct lg__hint *hint, const struct lg__ledger_context *context, const char *version, const struct lg__policy *policy,
                                  uint64_t wall_ns);

/* It holds the launches of this context and version. */
bool lg__hinted_holds(const struct lg__hint *hint, const char *context, const char *version, uint64_t wall_ns);

#endif
