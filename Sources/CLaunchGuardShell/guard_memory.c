/* No page is replaced; a guarded read is a copy. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <string.h>

#include "launchguard/launchguard.h"

lg_status lg_guard_map(lg_session *session, void *base, size_t size, int protection)
{
    return session && base && size ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_guard_unmap(lg_session *session, void *base)
{
    return session && base ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

size_t lg_guard_map_lost(const void *base)
{
    return 0;
}

lg_status lg_guard_read(void *dst, const void *src, size_t size, size_t *ret_copied)
{
    memcpy(dst, src, size);
    if (ret_copied)
        *ret_copied = size;
    return LG_OK;
}
#endif
