/* The one first chance of all guards that need the handler. */
#include "guard/guard.h"

bool lg__chance_claim(int signal, siginfo_t *info, void *ucontext)
{
    return lg__null_call_claim(signal, info, ucontext);
}
