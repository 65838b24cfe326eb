/** Guards for plugins: tables of functions with gaps, and calls through NULL.
 *
 *  A host calls a plugin through pointers: those that dlsym() returned, or a table of operations
 *  that the plugin handed over. A plugin may lack some of the functions. lg_guard_fill() fills the
 *  gaps with the host's own fallbacks, or with stubs that return 0, and the first call of each
 *  is an event of class LG_GUARD_SYMBOL. The site of the event is the place of the call.
 *
 *  For calls through NULL where no table was filled there is the class LG_GUARD_NULL_CALL: such a
 *  call returns 0. It is off by default, needs the crash handlers, and holds only in the code that
 *  lg_guard_lists says. Direct calls and tail calls are survived; a jump to any other address, and
 *  an access to data through NULL, are crashes as ever.
 *
 *  Caveats
 *  - A caller of a stub, or of NULL, gets 0 in the registers that hold results. It gets no valid
 *    structure that is returned in memory (larger than 16 bytes, as a rule), and on x86-64 no long
 *    double and no vector of more than 16 bytes. A function of such a type needs a fallback.
 *  - A host that compares pointers of its table with NULL to learn what a plugin can do compares
 *    them before the table is filled.
 */
#ifndef LAUNCHGUARD_GUARD_PLUGIN_H
#define LAUNCHGUARD_GUARD_PLUGIN_H

#include <launchguard/guard.h>

/** A function of any type. */
typedef void (*lg_guard_function)(void);

/** Functions that can be missing at the same time, in all plugins. A function that is missing again
 *  in a module of the same name, with the same fallback, counts once. */
#define LG_GUARD_MISSING_MAX 64

/** One function of a table; LG_GUARD_ROW and LG_GUARD_ROW_REQUIRED make it. */
typedef struct lg_guard_row {
    const char *symbol;         /**< name for dlsym(), and for people */
    void *pointer;              /**< address of the function pointer to fill */
    lg_guard_function fallback; /**< of the type of that pointer; NULL: a stub that returns 0 */
    uint32_t is_required;       /**< 1: nothing is filled when the function is missing */
} lg_guard_row;

/** A function that may be missing: its name, the function pointer, and a fallback of the same type
 *  or NULL. The compiler compares the types. */
#define LG_GUARD_ROW(symbol, pointer, fallback)         \
    {                                                   \
        (symbol), &(pointer), (lg_guard_function)(fallback), 0 * sizeof((pointer) == (fallback)) \
    }
/** A function without which the plugin is of no use. */
#define LG_GUARD_ROW_REQUIRED(symbol, pointer) \
    {                                          \
        (symbol), &(pointer), 0, 1             \
    }

LG_BEGIN

/** Fill a table of functions.
 *
 *  With a handle each pointer gets what dlsym() finds there. Without one the pointers hold what the
 *  plugin has stored, and only those that are NULL are filled. A function that is missing is
 *  replaced by one that asks the guards when it is called: while LG_GUARD_SYMBOL is on and
 *  survives, the call goes on in the fallback, with all its arguments, or returns 0. The first such
 *  call is an event and one of the budget of its site; later ones are neither. Otherwise the call
 *  is a call through NULL: while guards are off, stopped, or denied for the caller, in a forked
 *  child, with LG_GUARD_REPORT, and beyond the budget. With LG_GUARD_FATAL the program ends at the
 *  call.
 *
 *  The table can be filled before guards are started, and again when the plugin was loaded again.
 *  The modules of today become known to the lists of the guards.
 *
 *  @param handle       of dlopen(), for this call; NULL: the pointers are filled already, but for
 *                      gaps.
 *  @param rows         `count` rows; copied, with their symbols. Fallbacks stay callable as long as
 *                      the table is used.
 *  @param ret_missing  the symbol of the first row that is required and missing; may be NULL.
 *                      Untouched but for LG_ERR_NOT_FOUND.
 *  @return LG_OK; LG_ERR_NOT_FOUND: a required function is missing; LG_ERR_LIMIT: more than
 *          LG_GUARD_MISSING_MAX functions are missing; LG_ERR_SYSTEM: no memory (errno);
 *          LG_ERR_ARGUMENT. When the call fails, nothing is filled.
 *
 *  Threads: safe, for different tables.  Signals: unsafe.  After fork: fills, and calls of missing
 *  functions are calls through NULL.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_fill(void *handle, const lg_guard_row *rows, size_t count, const char **ret_missing);

LG_END

#endif
