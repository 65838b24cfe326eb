#include "report/demangle.h"

#ifdef LAUNCHGUARD_IBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* libiberty keeps some 64 bytes of stack for each byte of a name. */
#define MANGLED_MAX 2048

struct name {
    char *text;
    size_t used, room;
    jmp_buf full;
};

/* A few bytes can stand for a name of gigabytes. libiberty holds no memory here, and goes on until
 * it is left. */
static void add(const char *bytes, size_t size, void *user)
{
    struct name *name = user;
    if (size >= name->room - name->used)
        longjmp(name->full, 1);
    memcpy(name->text + name->used, bytes, size);
    name->used += size;
}

static bool demangle(int (*by)(const char *, int, demangle_callbackref, void *), const char *mangled, int options, char *ret_name, size_t room)
{
    struct name name = { .text = ret_name, .room = room };
    if (strlen(mangled) > MANGLED_MAX || setjmp(name.full) || !by(mangled, options, add, &name))
        return false;
    ret_name[name.used] = 0;
    return name.used > 0;
}

bool demangle_function(const char *mangled, char *ret_name, size_t room)
{
    return demangle(rust_demangle_callback, mangled, 0, ret_name, room) || demangle(cplus_demangle_v3_callback, mangled, 0, ret_name, room);
}

bool demangle_type(const char *mangled, char *ret_name, size_t room)
{
    return demangle(cplus_demangle_v3_callback, mangled, DMGL_PARAMS | DMGL_TYPES, ret_name, room);
}

#else

bool demangle_function(const char *mangled, char *ret_name, size_t room)
{
    (void)mangled, (void)ret_name, (void)room;
    return false;
}

bool demangle_type(const char *mangled, char *ret_name, size_t room)
{
    return demangle_function(mangled, ret_name, room);
}

#endif
