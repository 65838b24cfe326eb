// A consumer in C++: exceptions work before and after the start, and come from the system's
// unwinder.
#include <launchguard/launchguard.h>
#include <launchguard/reader.h>

#include <cstdio>
#include <cstring>
#include <sys/resource.h>

#include "throws.h"

static int check(const char *path)
{
    lg_reader *reader;
    lg_verdict verdict;
    if (lg_reader_open(path, &reader) != LG_OK || lg_reader_verdict(reader, &verdict) != LG_OK)
        return 1;
    lg_reader_close(reader);
    std::printf("that run: %s\n", lg_end_name(verdict.end));
    return verdict.end != LG_END_CRASH;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    if (std::strcmp(arguments[1], "check") == 0)
        return check(arguments[2]);
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    char before[4096] = "", after[4096] = "";
    if (throw_and_catch(before) != 0)
        return 1;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.consumer";
    options.state_directory = arguments[1];
    lg_session *session;
    if (lg_start(&options, &session) != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL)
        return 1;
    if (throw_and_catch(after) != 0)
        return 1;
    std::printf("%s\n%s\n%s\n", before, after, lg_session_run_path(session));
    std::fflush(stdout);
    static int *volatile nowhere;
    *nowhere = 1;
}
