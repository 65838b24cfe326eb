/* A C program that links LaunchGuard, knows nothing of C++, and loads a C++ library. host LIBRARY
 * DIR */
#include <launchguard/launchguard.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call(const char *path)
{
    char library[4096] = "";
    int (*throw_and_catch)(char *);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "throw_and_catch") : NULL;
    if (!symbol)
        return fprintf(stderr, "%s\n", dlerror());
    memcpy(&throw_and_catch, &symbol, sizeof symbol);
    if (throw_and_catch(library) != 0)
        return fprintf(stderr, "C++ exceptions do not work\n");
    printf("%s\n", library);
    return 0;
}

int main(int count, char **arguments)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    if (count != 3)
        return 2;
    options.app_id = "org.example.consumer";
    options.state_directory = arguments[2];
    return lg_start(&options, &session) != LG_OK || call(arguments[1]) != 0;
}
