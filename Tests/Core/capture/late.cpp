// A library that is loaded after the start: the C++ runtime comes with it, and so does a message
// that is kept as GLib keeps it.
#include <cstdlib>
#include <stdexcept>

extern "C" {
char *__glib_assert_msg;

void late_throw(void) { throw std::runtime_error("from a late library"); }

/* A damaged type, which has itself as a base, thirty-two times. */
void *__cxa_allocate_exception(size_t) throw();
void __cxa_throw(void *, void *, void (*)(void *)) __attribute__((noreturn));
extern const char multiple_bases[] __asm__("_ZTVN10__cxxabiv121__vmi_class_type_infoE");
static struct {
    const void *table;
    const char *name;
    unsigned flags, count;
    struct {
        void *type;
        long offset;
    } bases[32];
} cycle;

void late_throw_cycle(void)
{
    cycle.table = multiple_bases + 2 * sizeof(void *);
    cycle.name = "6Cyclic";
    cycle.count = 32;
    for (auto &base : cycle.bases)
        base.type = &cycle;
    std::set_terminate(std::abort);
    __cxa_throw(__cxa_allocate_exception(16), &cycle, nullptr);
}

void late_assert(void)
{
    static char text[] = "Store:ERROR:store.c:12:open_store: assertion failed: (store != NULL)";
    __glib_assert_msg = text;
    std::abort();
}
}
