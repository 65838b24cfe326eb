/** Guards: chosen faults are neutralised and reported, instead of ending the program.
 *
 *  A guard is a call or a type that the program uses on purpose; LaunchGuard guards no other code.
 *  This header is the switchboard of all guards. The guards themselves:
 *
 *    guard_memory.h    mappings of files that may be cut short; reads that may fault
 *
 *  and, in a library of their own (-llaunchguard-guards), the typed guards:
 *
 *    guard_plugin.h    tables of functions with gaps; calls through NULL
 *    guard_observers.h observers with owners
 *    guard_checked.h   arrays, arithmetic, strings
 *    guard_confine.h   calls that belong to one thread
 *    guard_handles.h   handles that know that their object is gone
 *
 *  Each class of guards is on or off, and has a policy. All of this can be changed at any time and
 *  from any thread. While a class is off, or after lg_guard_stop(), each of its operations does
 *  what the unguarded operation does: it crashes where that crashes.
 *
 *  Every event leaves a breadcrumb of category "guard" and an entry in the run file, which says
 *  where it happened, how often, and what was done. A run with an event that it survived is
 *  *degraded*: its timeline says so. That changes no streak.
 */
#ifndef LAUNCHGUARD_GUARD_H
#define LAUNCHGUARD_GUARD_H

#include <launchguard/log.h>

/** X(identifier, value, "name", "the faults of this class") */
#define LG_GUARD_CLASS_TABLE(X)                                                                \
    X(LG_GUARD_MEMORY, 1, "memory", "a mapped file is shorter than its mapping, or a guarded read reaches no memory") \
    X(LG_GUARD_SYMBOL, 2, "symbol", "a function that a plugin lacks is called through its table")     \
    X(LG_GUARD_NULL_CALL, 3, "null-call", "a function is called through a NULL pointer")              \
    X(LG_GUARD_OBSERVER, 4, "observer", "an observer is added twice, removed twice, or its owner is gone") \
    X(LG_GUARD_TIMER, 5, "timer", "a timer or dispatch source is used out of order, or its owner is gone") \
    X(LG_GUARD_CONTAINER, 6, "container", "an index or key is outside of a container")                \
    X(LG_GUARD_ARITHMETIC, 7, "arithmetic", "a result does not fit, or a divisor is zero")            \
    X(LG_GUARD_STRING, 8, "string", "a string is NULL, not valid, or shorter than a range")           \
    X(LG_GUARD_CONFINEMENT, 9, "confinement", "a call that belongs to one thread comes from another") \
    X(LG_GUARD_HANDLE, 10, "handle", "a handle is used after its object was released")

/** Class of a guard. Values are stored and never change. */
typedef enum lg_guard_class {
#define LG_GUARD_CLASS_ENUM(identifier, value, name, message) identifier = value,
    LG_GUARD_CLASS_TABLE(LG_GUARD_CLASS_ENUM)
#undef LG_GUARD_CLASS_ENUM
    LG_GUARD_CLASS_NONE = 0
} lg_guard_class;

/** A set of classes has the bit of each class. */
#define LG_GUARDS(guard_class) (UINT32_C(1) << (guard_class))
#define LG_GUARDS_ALL UINT32_C(0x7fe)
/** All but LG_GUARD_NULL_CALL, which changes what an instruction of any function does, and
 * LG_GUARD_ARITHMETIC, after whose faults the program goes on with a wrong number. */
#define LG_GUARDS_DEFAULT (LG_GUARDS_ALL & ~LG_GUARDS(LG_GUARD_NULL_CALL) & ~LG_GUARDS(LG_GUARD_ARITHMETIC))

/** Policy for the faults of a class. The event is reported in each case. */
typedef enum lg_guard_policy {
    LG_GUARD_SURVIVE = 1, /**< the fault is neutralised, and the program goes on */
    LG_GUARD_REPORT = 2,  /**< the operation goes on as without its guard */
    /** the program ends at once by abort(), also where the operation without its guard would have
     *  gone on */
    LG_GUARD_FATAL = 3
} lg_guard_policy;

/** Where NDEBUG is not defined, a fault that a guard finds ends the program: the bug is not hidden
 *  from its author. */
#ifdef NDEBUG
#define LG_GUARD_POLICY_DEFAULT LG_GUARD_SURVIVE
#else
#define LG_GUARD_POLICY_DEFAULT LG_GUARD_FATAL
#endif

/** X(identifier, value, "name"): what was done. */
#define LG_GUARD_ACTION_TABLE(X)                                                                    \
    X(LG_GUARD_SURVIVED, 1, "survived")   /* the fault was neutralised */                           \
    X(LG_GUARD_REPORTED, 2, "reported")   /* by the policy: recorded, and left as it was */         \
    X(LG_GUARD_ENDED, 3, "ended")         /* by the policy: the program was ended */                \
    X(LG_GUARD_EXHAUSTED, 4, "exhausted") /* the budget of the site was spent: left as it was */

/** Action on a fault. Values are stored and never change. */
typedef enum lg_guard_action {
#define LG_GUARD_ACTION_ENUM(identifier, value, name) identifier = value,
    LG_GUARD_ACTION_TABLE(LG_GUARD_ACTION_ENUM)
#undef LG_GUARD_ACTION_ENUM
} lg_guard_action;

/** Default of lg_guard_options.budget. */
#define LG_GUARD_BUDGET 100
/** Longest text of an event, and of a field's key or value, in bytes without the NUL. */
#define LG_GUARD_TEXT_MAX 159
#define LG_GUARD_FIELD_MAX 63
/** Most fields of an event. Further ones are in the breadcrumb alone. */
#define LG_GUARD_FIELDS_MAX 4
/** Most frames of an event. */
#define LG_GUARD_FRAMES_MAX 32
/** Sites that a run counts separately; all others count together, under site 0. */
#define LG_GUARD_SITES_MAX 31

/** An event, as on_event gets it. */
typedef struct lg_guard_event {
    uint32_t size;                /**< of this structure */
    lg_guard_class guard_class;
    lg_guard_action action;
    int32_t tid;                  /**< of the thread that met the fault */
    char thread_name[16];
    uint64_t time_ns;             /**< CLOCK_MONOTONIC */
    /** address of the code that met the fault; 0: beyond LG_GUARD_SITES_MAX */
    uint64_t site;
    uint64_t count;               /**< events at this site so far */
    uint64_t skipped;             /**< of them, those since the last call but this one */
    const char *text;             /**< NUL-terminated; this and the rest: of the first event here */
    const lg_field *fields;       /**< `field_count` */
    size_t field_count;
    /** `frame_count`, innermost first: return addresses, but the first */
    const uint64_t *frames;
    size_t frame_count;
} lg_guard_event;

/** Called for events, on a thread of LaunchGuard that may block. It gets the first event of
 *  a site at once, and later ones at most once a second, with their count. It may call any function
 *  of LaunchGuard, lg_guard_stop() included. A crash in it is a crash of the program. Calls never
 *  overlap. lg_stop() reports the events that are left on the thread that calls it, unless another
 *  call of on_event lasts longer than 0.2 s.
 *
 *  An event that ended the program is in the run file alone.
 *
 *  @param event  borrowed during the call, with all it refers to. */
typedef void (*lg_guard_callback)(const lg_guard_event *event, void *user);

/** Options of lg_guard_start(). Zero means the default, everywhere. */
typedef struct lg_guard_options {
    uint32_t size;              /**< sizeof(lg_guard_options) */
    uint32_t classes;           /**< classes that are on; default LG_GUARDS_DEFAULT */
    /** policy of all classes; LG_GUARD_OPTIONS_INIT sets LG_GUARD_POLICY_DEFAULT of the file that
     *  uses it; 0: LG_GUARD_FATAL */
    lg_guard_policy policy;
    /** faults that are survived at one site in a minute, 1 to 1000000; default LG_GUARD_BUDGET */
    uint32_t budget;
    uint32_t quiet;             /**< 1: no line on standard error */
    lg_guard_callback on_event; /**< called for events; may be NULL */
    void *user;                 /**< handed to on_event */
} lg_guard_options;

#ifdef __cplusplus
/** C++: what LG_GUARD_OPTIONS_INIT is. */
LG_CONSTEXPR lg_guard_options lg_guard_options_with(lg_guard_policy policy)
{
    lg_guard_options options = lg_sized<lg_guard_options>();
    options.policy = policy;
    return options;
}
#define LG_GUARD_OPTIONS_INIT lg_guard_options_with(LG_GUARD_POLICY_DEFAULT)
#else
#define LG_GUARD_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_guard_options), .policy = LG_GUARD_POLICY_DEFAULT }
#endif

/** Where guards of C hold. A module is a file name without its folder, for example "libfilter.so";
 *  a function is its address: calls in it, from its first to its last byte, where its module names
 *  it (a function that is not exported is known by its address alone, and has one byte).
 *
 *  Deny goes before allow. Without any allowed module or function, guards that the program calls
 *  hold everywhere, and LG_GUARD_NULL_CALL in the program itself and in the modules below the
 *  folder of the program. */
typedef struct lg_guard_lists {
    uint32_t size;                        /**< sizeof(lg_guard_lists) */
    /** numbers of names and addresses in the lists below */
    uint32_t allowed_module_count, denied_module_count, allowed_function_count, denied_function_count;
    const char *const *allowed_modules, *const *denied_modules;       /**< NUL-terminated names */
    const void *const *allowed_functions, *const *denied_functions;   /**< addresses */
} lg_guard_lists;

#ifdef __cplusplus
#define LG_GUARD_LISTS_INIT lg_sized<lg_guard_lists>()
#else
#define LG_GUARD_LISTS_INIT { .size = (uint32_t)sizeof(lg_guard_lists) }
#endif

LG_BEGIN

/** Start the guards. Before this call each guarded operation is the unguarded one.
 *
 *  @param session  from lg_start(); borrowed.
 *  @param options  copied; NULL: LG_GUARD_OPTIONS_INIT of a file with NDEBUG undefined.
 *  @return LG_OK; LG_ERR_ALREADY: they are started, and nothing changes; LG_ERR_UNPROTECTED: the
 *          session has no handlers: the guards that need one (guard_memory.h, LG_GUARD_NULL_CALL)
 *          stay off, all others work; LG_ERR_OPTION; LG_ERR_ARGUMENT; LG_ERR_CLOSED; LG_ERR_FORKED;
 *          LG_ERR_SYSTEM: no thread for on_event (errno), and the guards stay off.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: a thread that sleeps.
 *  Durable: the table of modules in the run file is replaced, as by lg_modules_refresh().
 */
LG_API lg_status lg_guard_start(lg_session *session, const lg_guard_options *options);

/** Stop the guards. From now on each guarded operation is the unguarded one. Events that wait are
 *  still reported. Tables of observers, handles and registered mappings stay as they are.
 *  The call does not wait for on_event, and may come from there. Guards can be started again.
 *
 *  @return LG_OK, also where they are stopped; LG_ERR_ARGUMENT; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_stop(lg_session *session);

/** Change the set of classes that are on.
 *
 *  @param classes  set of classes; 0: none.
 *  @return LG_OK; LG_ERR_STATE: the guards are not started; LG_ERR_UNPROTECTED: as for
 *          lg_guard_start(); LG_ERR_OPTION: no such class; LG_ERR_ARGUMENT; LG_ERR_CLOSED;
 *          LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_set_classes(lg_session *session, uint32_t classes);

/** Change the policy of some classes.
 *
 *  @return LG_OK; LG_ERR_STATE; LG_ERR_OPTION: no such class or policy; LG_ERR_ARGUMENT;
 *          LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_set_policy(lg_session *session, uint32_t classes, lg_guard_policy policy);

/** Replace the lists of places where guards hold. Modules that are not loaded yet hold from the
 *  next call of this function, or of lg_guard_fill(), on.
 *
 *  @param lists  copied; NULL: no lists.
 *  @return LG_OK; LG_ERR_STATE; LG_ERR_LIMIT: more than 256 entries; LG_ERR_OPTION: an entry is
 *          NULL, or a module's name is empty or has a slash; LG_ERR_SYSTEM: no memory (errno), the
 *          lists stay as they were; LG_ERR_ARGUMENT; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_set_lists(lg_session *session, const lg_guard_lists *lists);

/** The set of classes that are on; 0 before the start, after the stop and in forked children. Read
 *  it by lg_guard_is_working(). */
LG_API extern uint32_t lg_guard_working;

/** Whether a class is on: one relaxed load.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: nothing is stored.
 */
static inline int lg_guard_is_working(lg_guard_class guard_class)
{
    return (__atomic_load_n(&lg_guard_working, __ATOMIC_RELAXED) & LG_GUARDS(guard_class)) != 0;
}

/** Report a fault that was found before it happens, and ask what to do about it. The call is for
 *  guards that a program or another language writes; all typed guards use it.
 *
 *  @param site    address of the code that met the fault, NULL: that of the caller. Events are
 *                 counted by it.
 *  @param text    one line for people, NUL-terminated, cut to LG_GUARD_TEXT_MAX bytes.
 *  @param fields  `count` fields; may be NULL when `count` is 0.
 *  @return 1: neutralise the fault, and go on; 0: do what the unguarded operation does. With
 *          LG_GUARD_FATAL the call does not return.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API int lg_guard_claim(lg_guard_class guard_class, const void *site, const char *text, const lg_field *fields, size_t count);

/** Name of a class, for example "null-call"; "unknown" for a value that is not in the table.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_guard_class_name(lg_guard_class guard_class);

/** Name of an action: "survived", "reported", "ended", "exhausted" or "unknown".
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_guard_action_name(lg_guard_action action);

LG_END

#endif
