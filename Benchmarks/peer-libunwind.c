/* libunwind's cursor over its own process, used once before the crash. The addresses are written as
 * they are. */
#define UNW_LOCAL_ONLY
#include "scene.h"

#include <libunwind.h>
#include <signal.h>
#include <unistd.h>

static size_t walk(unw_context_t *context, int flags, uint64_t *frames, size_t room)
{
    unw_cursor_t cursor;
    size_t count = 0;
    unw_word_t pc;
    if (unw_init_local2(&cursor, context, flags) != 0)
        return 0;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
            break;
        frames[count++] = pc;
    } while (count < room && unw_step(&cursor) > 0);
    return count;
}

static void by_libunwind(int signal, siginfo_t *info, void *context)
{
    uint64_t frames[600];
    (void)info;
    scene_stamp(SCENE_ENTRY);
    size_t count = walk(context, UNW_INIT_SIGNAL_FRAME, frames, 600);
    if (write(STDERR_FILENO, frames, count * sizeof frames[0]) < 0)
        _exit(2);
    scene_stamp(SCENE_DONE);
    raise(signal); /* SA_RESETHAND: ends the process */
}

int main(int count, char **arguments)
{
    uint64_t frames[4];
    unw_context_t here;
    struct sigaction action = { .sa_sigaction = by_libunwind, .sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_SIGINFO };
    scene_open(count, arguments);
    unw_getcontext(&here);
    walk(&here, 0, frames, 4);
    sigaction(SIGSEGV, &action, NULL);
    scene_play();
}
