/* No handler, and the two usual handlers around backtrace() of libc.
 *
 * Modes: none, frames (addresses only), cold, warm (names; backtrace() called once before or
 * not). */
#include "scene.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void by_backtrace(int signal)
{
    void *frames[600];
    scene_stamp(SCENE_ENTRY);
    int count = backtrace(frames, 600);
    if (strcmp(scene.mode, "frames") != 0)
        backtrace_symbols_fd(frames, count, STDERR_FILENO);
    else if (write(STDERR_FILENO, frames, (size_t)count * sizeof frames[0]) < 0)
        _exit(2);
    scene_stamp(SCENE_DONE);
    raise(signal); /* SA_RESETHAND: ends the process */
}

int main(int count, char **arguments)
{
    void *frames[4];
    scene_open(count, arguments);
    if (strcmp(scene.mode, "frames") == 0 || strcmp(scene.mode, "warm") == 0)
        backtrace(frames, 4); /* loads libgcc_s */
    if (strcmp(scene.mode, "none") != 0) {
        struct sigaction action = { .sa_handler = by_backtrace, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
        sigaction(SIGSEGV, &action, NULL);
    }
    scene_play();
}
