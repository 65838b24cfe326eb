/* Guarded types without their guards: what is checked is done, and a handle is the pointer. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <stdlib.h>
#include <string.h>

#include "launchguard/launchguard.h"

/* ---- arrays, arithmetic, strings ---- */

int lg_guard_claim_index(size_t index, size_t count)
{
    return 0;
}

int lg_guard_claim_signed(const char *type, const char *operation, int64_t left, int64_t right)
{
    return 0;
}

int lg_guard_claim_unsigned(const char *type, const char *operation, uint64_t left, uint64_t right)
{
    return 0;
}

int lg_guard_claim_null(void)
{
    return 0;
}

int lg_guard_claim_range(size_t offset, size_t length, size_t size)
{
    return 0;
}

uint32_t lg_guard_utf8_beyond_ascii(const char *bytes, size_t size, size_t *at)
{
    const unsigned char *text = (const unsigned char *)bytes + *at;
    const unsigned more = text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;
    uint32_t code = more ? text[0] & (0x3fu >> more) : text[0];
    for (unsigned i = 1; i <= more; i++)
        code = code << 6 | (text[i] & 0x3f);
    *at += 1 + more;
    return code;
}

size_t lg_guard_copy(char *to, size_t room, const char *from)
{
    const size_t size = strlen(from);
    memcpy(to, from, size + 1);
    return size;
}

/* ---- handles ---- */

struct lg_handles {
    char unused;
};

lg_status lg_handles_create(const char *name, lg_handles **ret_handles)
{
    if (!ret_handles)
        return LG_ERR_ARGUMENT;
    lg_handles *handles = malloc(sizeof *handles);
    if (!handles)
        return LG_ERR_SYSTEM;
    *ret_handles = handles;
    return LG_OK;
}

void lg_handles_destroy(lg_handles *handles)
{
    free(handles);
}

lg_status lg_handles_make(lg_handles *handles, void *object, lg_handle *ret_handle)
{
    if (!handles || !object || !ret_handle)
        return LG_ERR_ARGUMENT;
    *ret_handle = (lg_handle)(uintptr_t)object;
    return LG_OK;
}

void *lg_handles_get(const lg_handles *handles, lg_handle handle)
{
    return handles ? (void *)(uintptr_t)handle : NULL;
}

void *lg_handles_release(lg_handles *handles, lg_handle handle)
{
    return lg_handles_get(handles, handle);
}
#endif
