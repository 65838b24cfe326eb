// A library that is loaded after the start: the C++ runtime comes with it, and so does a message
// that is kept as GLib keeps it.
#include <cstdlib>
#include <stdexcept>

extern "C" {
char *__glib_assert_msg;

void late_throw(void) { throw std::runtime_error("from a late library"); }

void late_assert(void)
{
    static char text[] = "Store:ERROR:store.c:12:open_store: assertion failed: (store != NULL)";
    __glib_assert_msg = text;
    std::abort();
}
}
