/* A signal that was sent to the process, and that the kernel gave to a thread of ours. */
#include "capture/capture.h"
#include "os/os.h"
#include "session/session.h"

static siginfo_t redirected;
static _Atomic bool is_redirected;

bool lg__signal_redirect(int signal, siginfo_t *info, void *ucontext)
{
    (void)ucontext;
    if (info->si_code > 0)
        return false; /* a fault belongs to the thread that made it */
    if (lg__capture_is_exempt()) {
        /* A handler of the program that still runs may go on: the signal waits for it then. */
        if (lg__capture_open_until(0))
            return true; /* the process is about to die of another one */
        /* The kernel lets a thread queue a siginfo to itself only: the first thread is sent a plain
         * signal and finds it here. */
        redirected = *info;
        atomic_store(&is_redirected, true);
        return lg__os_signal_send(lg__os_pid(), lg__os_pid(), signal) == 0;
    }
    if (info->si_code == SI_TKILL && info->si_signo == redirected.si_signo && atomic_exchange(&is_redirected, false))
        *info = redirected;
    return false;
}
