/* Which guards are on. */
#include "guard/guard.h"

uint32_t lg_guard_working;

/* By class; changed live. */
static _Atomic uint32_t policies[32];

void lg__switch_set(uint32_t classes)
{
    __atomic_store_n(&lg_guard_working, classes & LG_GUARDS_ALL, __ATOMIC_RELEASE);
}

void lg__switch_off(void)
{
    lg__switch_set(0);
}

void lg__switch_set_policy(uint32_t classes, lg_guard_policy policy)
{
    for (unsigned i = 0; i < 32; i++)
        if (classes >> i & 1)
            atomic_store_explicit(&policies[i], (uint32_t)policy, memory_order_relaxed);
}

lg_guard_policy lg__switch_policy(lg_guard_class guard_class)
{
    return (lg_guard_policy)atomic_load_explicit(&policies[guard_class], memory_order_relaxed);
}
