#define _GNU_SOURCE
#include "cpart.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int cpart_protection(void)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    /* A process has one session: this is the handle of the session that runs. */
    return lg_start(&options, &session) == LG_ERR_ALREADY ? (int)lg_session_protection(session) : -1;
}

const char *cpart_thrower(void)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");
    return symbol && dladdr(symbol, &info) ? info.dli_fname : "";
}

void cpart_flush(void)
{
    fflush(NULL);
}
