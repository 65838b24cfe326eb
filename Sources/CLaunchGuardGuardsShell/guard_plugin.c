/* Tables of functions: a gap stays a gap. */
#ifndef LG_CORE
#include <dlfcn.h>
#include <string.h>

#include "launchguard/launchguard.h"

static void *find(void *handle, const lg_guard_row *row)
{
    void *function;
    if (handle)
        return dlsym(handle, row->symbol);
    memcpy(&function, row->pointer, sizeof function);
    return function;
}

lg_status lg_guard_fill(void *handle, const lg_guard_row *rows, size_t count, const char **ret_missing)
{
    if (!rows && count)
        return LG_ERR_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!rows[i].symbol || !rows[i].pointer)
            return LG_ERR_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_required && !find(handle, &rows[i])) {
            if (ret_missing)
                *ret_missing = rows[i].symbol;
            return LG_ERR_NOT_FOUND;
        }
    for (size_t i = 0; i < count; i++) {
        void *function = find(handle, &rows[i]);
        memcpy(rows[i].pointer, &function, sizeof function);
    }
    return LG_OK;
}
#endif
