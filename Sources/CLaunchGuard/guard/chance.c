/* The one first chance of all guards that need the handler. */
#include "guard/guard.h"

bool lg__chance_claim(int signal, siginfo_t *info, void *ucontext)
{
    /* before the mappings: a guarded read of one says so, and reads no zeros */
    if (lg__copy_failed(signal, info, ucontext))
        return lg__copy_claim(info, ucontext);
    return lg__mapping_claim(signal, info, ucontext) || lg__null_call_claim(signal, info, ucontext);
}
