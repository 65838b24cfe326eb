/* The begin of a generated program: PROGRAM STATE APP BUG WAY. */
#define _GNU_SOURCE
#include <launchguard/launchguard.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int program(int bug, int way);

int main(int count, char **arguments)
{
    static const struct rlimit no_core = { 0, 0 };
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    if (count != 5)
        return 90;
    alarm(100);
    setrlimit(RLIMIT_CORE, &no_core);
    options.state_directory = arguments[1];
    options.app_id = arguments[2];
    if (lg_start(&options, &session) != LG_OK)
        return 91;
    return program(atoi(arguments[3]), atoi(arguments[4]));
}
