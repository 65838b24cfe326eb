// A handler around Boost's safe_dump_to(), which writes addresses to a file: here the file after
// standard error.
#include "scene.h"

#include <boost/stacktrace.hpp>
#include <csignal>

static void by_boost(int signal)
{
    scene_stamp(SCENE_ENTRY);
    boost::stacktrace::safe_dump_to("/proc/self/fd/2");
    scene_stamp(SCENE_DONE);
    raise(signal); // SA_RESETHAND: ends the process
}

int main(int count, char **arguments)
{
    struct sigaction action = {};
    scene_open(count, arguments);
    action.sa_handler = by_boost;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(SIGSEGV, &action, nullptr);
    scene_play();
}
