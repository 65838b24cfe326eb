/* What an executed program inherits of signals: those that the process ignores, and those that the
 * thread blocks. While LaunchGuard keeps its handlers of faults, the kernel has others than the
 * program wants (capture/mask.c, capture/interpose_signals.c); it has the program's own while a
 * program is executed.
 *
 * The caller may be a signal handler, or a child that shares the memory of its parent: all is on
 * the stack. */
#include "preload.h"

#include <string.h>

#include "capture/capture.h"
#include "capture/internal.h"
#include "os/os.h"

static const int faults[LG__INHERITED_FAULTS] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

void lg__inherit_begin(struct lg__inherited *ret_kept)
{
    ret_kept->ignored = 0;
    ret_kept->is_masked = false;
    if (lg__capture_is_confined())
        return;
    for (unsigned i = 0; i < LG__INHERITED_FAULTS; i++) {
        struct sigaction action;
        if (sigaction(faults[i], NULL, &action) != 0 || action.sa_handler != SIG_IGN || lg__libc_sigaction(faults[i], NULL, &ret_kept->actions[i]) != 0)
            continue;
        if (ret_kept->actions[i].sa_handler != SIG_IGN && lg__libc_sigaction(faults[i], &action, NULL) == 0)
            ret_kept->ignored |= 1u << i;
    }
    sigset_t wanted;
    uint64_t mask;
    ret_kept->mask = lg__os_signals_blocked();
    if (sigprocmask(SIG_BLOCK, NULL, &wanted) != 0)
        return;
    memcpy(&mask, &wanted, sizeof mask);
    if (mask != ret_kept->mask) {
        ret_kept->is_masked = true;
        lg__os_signals_set(mask);
    }
}

void lg__inherit_end(const struct lg__inherited *kept)
{
    if (kept->is_masked)
        lg__os_signals_set(kept->mask);
    for (unsigned i = 0; i < LG__INHERITED_FAULTS; i++)
        if (kept->ignored & 1u << i)
            lg__libc_sigaction(faults[i], &kept->actions[i], NULL);
}
