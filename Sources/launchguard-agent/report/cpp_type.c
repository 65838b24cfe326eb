#include "report/cpp_type.h"

#include <stdlib.h>
#include <string.h>

struct name {
    char *text;
    size_t used, room;
};

static bool add(struct name *name, const char *bytes, size_t size)
{
    if (size >= name->room - name->used)
        return false;
    memcpy(name->text + name->used, bytes, size);
    name->used += size;
    name->text[name->used] = 0;
    return true;
}

static bool add_part(struct name *name, const char *bytes, size_t size)
{
    static const char nameless[] = "(anonymous namespace)";
    if (name->used && !add(name, "::", 2))
        return false;
    return size > 8 && memcmp(bytes, "_GLOBAL_", 8) == 0 ? add(name, nameless, sizeof nameless - 1) : add(name, bytes, size);
}

/* A length and so many bytes. */
static const char *take_part(struct name *name, const char *at)
{
    char *text;
    const unsigned long size = *at >= '1' && *at <= '9' ? strtoul(at, &text, 10) : 0;
    return size && size <= strlen(text) && add_part(name, text, size) ? text + size : NULL;
}

bool cpp_type_name(const char *mangled, char *ret_name, size_t room)
{
    struct name name = { .text = ret_name, .room = room };
    const bool is_nested = *mangled == 'N';
    const char *at = mangled + is_nested;
    ret_name[0] = 0;
    if (strncmp(at, "St", 2) == 0) {
        if (!add(&name, "std", 3))
            return false;
        at += 2;
    }
    do
        at = take_part(&name, at);
    while (at && is_nested && *at != 'E');
    return at && strcmp(at, is_nested ? "E" : "") == 0;
}
