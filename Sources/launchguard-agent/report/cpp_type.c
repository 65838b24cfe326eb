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

/* A constructor or destructor: the name of the class again. */
static const char *take_special(struct name *name, const char *at)
{
    const char *colon = name->text + name->used;
    char part[128];
    while (colon > name->text && colon[-1] != ':')
        colon--;
    const size_t size = strlen(colon);
    const bool is_destructor = *at == 'D';
    if (!size || size + 2 > sizeof part || at[1] < '0' || at[1] > '9')
        return NULL;
    part[0] = '~';
    memcpy(part + 1, colon, size + 1);
    return add_part(name, part + !is_destructor, size + is_destructor) ? at + 2 : NULL;
}

bool cpp_type_function(const char *mangled, char *ret_name, size_t room)
{
    struct name name = { .text = ret_name, .room = room };
    const char *at = mangled + 2;
    ret_name[0] = 0;
    if (strncmp(mangled, "_Z", 2) != 0)
        return false;
    const bool is_nested = *at == 'N';
    at += is_nested;
    at += is_nested ? strspn(at, "rVKRO") : 0;
    if (strncmp(at, "St", 2) == 0) {
        if (!add(&name, "std", 3))
            return false;
        at += 2;
    }
    do {
        at += *at == 'L'; /* of one file alone */
        at = name.used && (*at == 'C' || *at == 'D') ? take_special(&name, at) : take_part(&name, at);
    } while (at && is_nested && *at != 'E');
    at += at && is_nested;
    return at && *at && *at != 'I'; /* what it takes stands after its name */
}
