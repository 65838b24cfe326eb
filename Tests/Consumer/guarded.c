/* A program with typed guards: a handle outlives its object. guarded STATE */
#include <launchguard/launchguard.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_guard_options guards = LG_GUARD_OPTIONS_INIT;
    lg_session *session;
    lg_handles *handles;
    lg_handle handle;
    int object;
    options.app_id = "guarded";
    options.state_directory = argv[argc - 1];
    guards.policy = LG_GUARD_SURVIVE;
    if (lg_start(&options, &session) != LG_OK || lg_guard_start(session, &guards) != LG_OK)
        return 1;
    if (lg_handles_create("objects", &handles) != LG_OK || lg_handles_make(handles, &object, &handle) != LG_OK)
        return 2;
    lg_handles_release(handles, handle);
    printf("released: %p\n", lg_handles_get(handles, handle));
    return 0;
}
