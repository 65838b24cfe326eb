/* A program without a dynamic linker that crashes: lone STATE_DIRECTORY. */
#include <launchguard/launchguard.h>

#include <signal.h>
#include <unistd.h>

static volatile int zero;

static __attribute__((noinline)) void crash(void)
{
    *(volatile int *)(uintptr_t)zero = 1;
}

int main(int count, char **arguments)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = arguments[count - 1];
    if (lg_start(&options, &session) != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL)
        return 99;
    crash();
    return 0;
}
