/* The one first chance of all guards that need the handler. */
#include "guard/guard.h"

bool lg__chance_claim(int signal, siginfo_t *info, void *ucontext)
{
    (void)signal, (void)info, (void)ucontext;
    return false;
}
