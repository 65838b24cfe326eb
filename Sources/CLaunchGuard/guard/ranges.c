/* Where guards hold: sorted ranges of code that never change once they are in use. New ones take
 * the place of old ones by one exchange. The old ones are freed when no reader can have them; a
 * reader that stands still longer than we wait keeps them for good. */
#include "guard/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define ENTRIES_MAX 256u
#define RANGES_MAX 1024u
#define WAIT_NS UINT64_C(100000000)

struct range {
    uint64_t start, end;
};

enum list { DENIED, ALLOWED, PROGRAM, LISTS };

struct ranges {
    uint32_t count[LISTS];
    struct range ranges[LISTS][RANGES_MAX];
    /* what they were made of */
    uint32_t module_count[PROGRAM], function_count[PROGRAM];
    const void *functions[PROGRAM][ENTRIES_MAX];
    const char *modules[PROGRAM][ENTRIES_MAX]; /* in `names` */
    char program[4096];                        /* path of its folder, with the slash */
    char names[];
};

static _Atomic(struct ranges *) current;
static _Atomic uint32_t readers;

/* ---- making them ---- */

static void add_range(struct ranges *ranges, enum list list, uint64_t start, uint64_t end)
{
    if (ranges->count[list] < RANGES_MAX)
        ranges->ranges[list][ranges->count[list]++] = (struct range){ start, end };
}

static void add_code(const char *path, uint64_t start, uint64_t end, void *argument)
{
    struct ranges *ranges = argument;
    char executable[4096];
    const bool is_program = !path[0];
    if (is_program) {
        lg__os_executable(executable, sizeof executable);
        path = executable;
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (enum list list = DENIED; list <= ALLOWED; list++)
        for (uint32_t i = 0; i < ranges->module_count[list]; i++)
            if (strcmp(ranges->modules[list][i], name) == 0)
                add_range(ranges, list, start, end);
    const size_t folder = strlen(ranges->program);
    if (is_program || (folder && strncmp(path, ranges->program, folder) == 0))
        add_range(ranges, PROGRAM, start, end);
}

static int by_start(const void *a, const void *b)
{
    const struct range *first = a, *second = b;
    return (first->start > second->start) - (first->start < second->start);
}

/* Sort, and make one of those that overlap. */
static void settle(struct ranges *ranges, enum list list)
{
    struct range *all = ranges->ranges[list];
    uint32_t kept = 0;
    qsort(all, ranges->count[list], sizeof *all, by_start);
    for (uint32_t i = 0; i < ranges->count[list]; i++)
        if (kept && all[i].start <= all[kept - 1].end) {
            if (all[i].end > all[kept - 1].end)
                all[kept - 1].end = all[i].end;
        } else {
            all[kept++] = all[i];
        }
    ranges->count[list] = kept;
}

static void resolve(struct ranges *ranges)
{
    memset(ranges->count, 0, sizeof ranges->count);
    for (enum list list = DENIED; list <= ALLOWED; list++)
        for (uint32_t i = 0; i < ranges->function_count[list]; i++) {
            const uint64_t start = (uint64_t)(uintptr_t)ranges->functions[list][i];
            add_range(ranges, list, start, start + lg__os_function_bytes(ranges->functions[list][i]));
        }
    lg__os_each_code(add_code, ranges);
    for (enum list list = DENIED; list < LISTS; list++)
        settle(ranges, list);
}

static bool is_name(const char *name)
{
    return name && name[0] && !strchr(name, '/');
}

static lg_status check_lists(const lg_guard_lists *lists, size_t *ret_bytes)
{
    const uint32_t counts[] = { lists->denied_module_count, lists->allowed_module_count, lists->denied_function_count, lists->allowed_function_count };
    const char *const *modules[] = { lists->denied_modules, lists->allowed_modules };
    const void *const *functions[] = { lists->denied_functions, lists->allowed_functions };
    *ret_bytes = 0;
    for (size_t i = 0; i < 4; i++)
        if (counts[i] > ENTRIES_MAX)
            return LG_ERR_LIMIT;
    for (size_t list = 0; list < 2; list++) {
        if ((counts[list] && !modules[list]) || (counts[2 + list] && !functions[list]))
            return LG_ERR_OPTION;
        for (uint32_t i = 0; i < counts[list]; i++) {
            if (!is_name(modules[list][i]))
                return LG_ERR_OPTION;
            *ret_bytes += strlen(modules[list][i]) + 1;
        }
        for (uint32_t i = 0; i < counts[2 + list]; i++)
            if (!functions[list][i])
                return LG_ERR_OPTION;
    }
    return LG_OK;
}

static void take_modules(struct ranges *ranges, enum list list, const char *const *modules, uint32_t count, char **names)
{
    ranges->module_count[list] = count;
    for (uint32_t i = 0; i < count; i++) {
        ranges->modules[list][i] = strcpy(*names, modules[i]);
        *names += strlen(modules[i]) + 1;
    }
}

static void take_functions(struct ranges *ranges, enum list list, const void *const *functions, uint32_t count)
{
    ranges->function_count[list] = count;
    for (uint32_t i = 0; i < count; i++)
        ranges->functions[list][i] = functions[i];
}

static lg_status make_ranges(const lg_guard_lists *lists, struct ranges **ret)
{
    size_t bytes;
    lg_status status = check_lists(lists, &bytes);
    if (status != LG_OK)
        return status;
    struct ranges *ranges = calloc(1, sizeof *ranges + bytes);
    if (!ranges)
        return LG_ERR_SYSTEM;
    char *names = ranges->names;
    take_modules(ranges, DENIED, lists->denied_modules, lists->denied_module_count, &names);
    take_modules(ranges, ALLOWED, lists->allowed_modules, lists->allowed_module_count, &names);
    take_functions(ranges, DENIED, lists->denied_functions, lists->denied_function_count);
    take_functions(ranges, ALLOWED, lists->allowed_functions, lists->allowed_function_count);
    lg__os_executable(ranges->program, sizeof ranges->program);
    char *slash = strrchr(ranges->program, '/');
    if (slash)
        slash[1] = 0;
    resolve(ranges);
    *ret = ranges;
    return LG_OK;
}

/* ---- in use ---- */

static struct ranges *enter(void)
{
    atomic_fetch_add(&readers, 1);
    return atomic_load(&current);
}

static void leave(void)
{
    atomic_fetch_sub(&readers, 1);
}

static void give_up(struct ranges *old)
{
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    const uint32_t nobody = 0;
    while (atomic_load(&readers)) {
        if (lg__os_clock_ns(CLOCK_MONOTONIC) > until)
            return;
        lg__os_futex_wait(&nobody, 0, 100000);
    }
    free(old);
}

lg_status lg__ranges_set(const lg_guard_lists *lists)
{
    static const lg_guard_lists none = LG_GUARD_LISTS_INIT;
    struct ranges *ranges;
    lg_status status = make_ranges(lists ? lists : &none, &ranges);
    if (status == LG_OK)
        give_up(atomic_exchange(&current, ranges));
    return status;
}

lg_status lg__ranges_refresh(void)
{
    struct ranges *old = enter(), *ranges = NULL;
    lg_status status = LG_OK;
    if (old) {
        const lg_guard_lists lists = { sizeof lists, old->module_count[ALLOWED], old->module_count[DENIED], old->function_count[ALLOWED],
                                       old->function_count[DENIED], old->modules[ALLOWED], old->modules[DENIED], old->functions[ALLOWED],
                                       old->functions[DENIED] };
        status = make_ranges(&lists, &ranges);
    }
    /* do not replace lists that were set meanwhile: those know today's modules */
    const bool is_taken = ranges && atomic_compare_exchange_strong(&current, &(struct ranges *){ old }, ranges);
    leave();
    if (is_taken)
        give_up(old);
    else
        free(ranges);
    return status;
}

static bool contains(const struct ranges *ranges, enum list list, uint64_t address)
{
    uint32_t low = 0, high = ranges->count[list];
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const struct range *range = &ranges->ranges[list][middle];
        if (address >= range->start && address < range->end)
            return true;
        if (address < range->start)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

bool lg__ranges_hold(lg_guard_class guard_class, uint64_t address)
{
    const struct ranges *ranges = enter();
    bool holds = false;
    if (ranges && !contains(ranges, DENIED, address)) {
        const bool has_allowed = ranges->module_count[ALLOWED] || ranges->function_count[ALLOWED];
        holds = has_allowed ? contains(ranges, ALLOWED, address) : guard_class != LG_GUARD_NULL_CALL || contains(ranges, PROGRAM, address);
    }
    leave();
    return holds;
}
