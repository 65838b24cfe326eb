/* A session with guards, in a child. */
#ifndef START_GUARDS_H
#define START_GUARDS_H

#include "harness.h"

#include <stdlib.h>

static __attribute__((unused)) lg_session *start_guards(lg_guard_policy policy, uint32_t budget)
{
    lg_session *session = start_session();
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.classes = LG_GUARDS_DEFAULT | LG_GUARDS(LG_GUARD_ARITHMETIC);
    options.policy = policy;
    options.budget = budget;
    options.quiet = 1;
    if (lg_guard_start(session, &options) != LG_OK)
        exit(98);
    return session;
}

#endif
