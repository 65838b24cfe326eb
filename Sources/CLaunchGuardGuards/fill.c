/* Tables of functions with gaps. A function that is missing is an entry of precompiled code, with a
 * number; each call of an entry is decided here. */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guards.h"
#include "launchguard/guard_plugin.h"

static_assert(LG_GUARD_MISSING_MAX == LG__STUBS, "guard_plugin.h");

/* Never freed: a pointer to its entry may be anywhere. */
static struct missing {
    _Atomic uint32_t is_ready; /* the rest but the last stays as it is then */
    lg_guard_function fallback;
    char *symbol, *module;
    char text[LG_GUARD_TEXT_MAX + 1];
    _Atomic uint32_t is_told;
} missing[LG__STUBS];
static _Atomic uint32_t missing_count;

/* ---- a call. Handler. ---- */

static bool lg__fill_is_survived(struct missing *is, const void *caller)
{
    if (atomic_load_explicit(&is->is_told, memory_order_relaxed) && lg__hook_survives(LG_GUARD_SYMBOL, caller))
        return true;
    const lg_field fields[] = { { "symbol", is->symbol }, { "module", is->module }, { "instead", is->fallback ? "the fallback" : "0" } };
    if (!lg_guard_claim(LG_GUARD_SYMBOL, caller, is->text, fields, sizeof fields / sizeof fields[0]))
        return false;
    atomic_store_explicit(&is->is_told, 1, memory_order_relaxed);
    return true;
}

static const void *lg__fill_target_of(uint32_t index, const void *caller)
{
    struct missing *is = &missing[index];
    if (!lg_guard_is_working(LG_GUARD_SYMBOL) || !lg__fill_is_survived(is, caller))
        return NULL;
    return is->fallback ? (const void *)(uintptr_t)is->fallback : lg__hook_zero();
}

/* ---- filling ---- */

static bool is_same(const struct missing *is, const lg_guard_row *row, const char *module)
{
    return is->fallback == row->fallback && strcmp(is->symbol, row->symbol) == 0 && strcmp(is->module, module) == 0;
}

static lg_status add_missing(const lg_guard_row *row, const char *module, uint32_t *ret_index)
{
    char *symbol = strdup(row->symbol), *owner = strdup(module);
    uint32_t index = atomic_load(&missing_count);
    lg_status status = symbol && owner ? LG_OK : LG_ERR_SYSTEM;
    while (status == LG_OK)
        if (index >= LG__STUBS)
            status = LG_ERR_LIMIT;
        else if (atomic_compare_exchange_weak(&missing_count, &index, index + 1))
            break;
    if (status != LG_OK) {
        free(symbol);
        free(owner);
        return status;
    }
    struct missing *is = &missing[index];
    is->fallback = row->fallback;
    is->symbol = symbol;
    is->module = owner;
    snprintf(is->text, sizeof is->text, "%s(), which %s lacks, is called", symbol, owner[0] ? owner : "a table");
    atomic_store_explicit(&is->is_ready, 1, memory_order_release);
    *ret_index = index;
    return LG_OK;
}

/* Two threads at once may add the same function twice: that does no harm. */
static lg_status entry_of(const lg_guard_row *row, const char *module, const void **ret_entry)
{
    uint32_t index = 0;
    while (index < LG__STUBS && !(atomic_load_explicit(&missing[index].is_ready, memory_order_acquire) && is_same(&missing[index], row, module)))
        index++;
    const lg_status status = index < LG__STUBS ? LG_OK : add_missing(row, module, &index);
    if (status == LG_OK)
        *ret_entry = lg__stub_entry(index);
    return status;
}

/* What dlsym() finds, without a trace in dlerror(); NULL: nothing. */
static const void *symbol_of(void *handle, const char *name)
{
    const void *symbol = dlsym(handle, name);
    if (!symbol)
        dlerror();
    return symbol;
}

/* File name of a module, by its handle of dlopen(), without the folder; "" if unknown. */
static void name_module(void *handle, char *name, size_t size)
{
    const struct link_map *map = NULL;
    const char *path = handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name ? map->l_name : "";
    const char *slash = strrchr(path, '/');
    lg__hook_words(name, size, "%s", slash ? slash + 1 : path);
}

static const void *find(void *handle, const lg_guard_row *row)
{
    const void *function;
    if (handle)
        return symbol_of(handle, row->symbol);
    memcpy(&function, row->pointer, sizeof function);
    return function;
}

static lg_status check_rows(void *handle, const lg_guard_row *rows, size_t count, const char **ret_missing)
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
    return LG_OK;
}

/* Look at all rows; `stores`: and fill their pointers. */
static lg_status fill_rows(void *handle, const lg_guard_row *rows, size_t count, bool stores)
{
    char module[LG_GUARD_FIELD_MAX + 1];
    name_module(handle, module, sizeof module);
    for (size_t i = 0; i < count; i++) {
        const void *function = find(handle, &rows[i]);
        const lg_status status = function ? LG_OK : entry_of(&rows[i], module, &function);
        if (status != LG_OK)
            return status;
        if (stores)
            memcpy(rows[i].pointer, &function, sizeof function);
    }
    return LG_OK;
}

lg_status lg_guard_fill(void *handle, const lg_guard_row *rows, size_t count, const char **ret_missing)
{
    lg_status status = check_rows(handle, rows, count, ret_missing);
    if (status != LG_OK)
        return status;
    if (lg__hook_refresh() != LG_OK)
        return LG_ERR_SYSTEM;
    lg__stub_open(lg__fill_target_of);
    lg__hook_entries(lg__stub_entry(0), lg__stub_entry(LG__STUBS));
    status = fill_rows(handle, rows, count, false);
    return status == LG_OK ? fill_rows(handle, rows, count, true) : status;
}
