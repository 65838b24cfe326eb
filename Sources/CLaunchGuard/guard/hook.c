/* What the typed guards use of the core. */
#include "guard/hook.h"

#include <stdarg.h>

#include "guard/guard.h"
#include "os/os.h"
#include "store/given.h"
#include "store/text.h"

void lg__hook_words(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t whole = lg__text_format(to, size - 1, format, arguments);
    va_end(arguments);
    to[whole < size - 1 ? whole : size - 1] = 0;
}

size_t lg__hook_beginning(const char *text, size_t most)
{
    return lg__text_beginning(text, most);
}

bool lg__hook_confinement_options(lg_confinement_options *own, const lg_confinement_options *given)
{
    return lg__given_take(&lg__given_confinement_options, own, given, NULL);
}

int lg__hook_survives(lg_guard_class guard_class, const void *site)
{
    return lg__event_survives(guard_class, (uint64_t)(uintptr_t)site);
}

lg_status lg__hook_refresh(void)
{
    return lg__ranges_refresh();
}

void lg__hook_entries(const void *begin, const void *end)
{
    lg__null_call_entries((uint64_t)(uintptr_t)begin, (uint64_t)(uintptr_t)end);
}

const void *lg__hook_zero(void)
{
    return (const void *)(uintptr_t)lg__arch_return_zero;
}
