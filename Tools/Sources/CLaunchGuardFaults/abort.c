/* Section C: aborts of the program, the C library and the C++ runtime. */
#undef NDEBUG
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

#include "catalogue.h"

/* ---- of the program ---- */

LGF_WAY explicit_abort(void) { abort(); }

static void ignore_abort(void) { signal(SIGABRT, SIG_IGN); }
LGF_WAY abort_ignored_later(void)
{
    ignore_abort();
    abort();
}
static void return_from_handler(int signal)
{
    (void)signal;
    static const char said[] = "own handler: SIGABRT, returns\n";
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
}
static void handle_abort(void) { signal(SIGABRT, return_from_handler); }

LGF_WAY failed_assertion(void) { assert(lgf_zero == 1); }

static pthread_barrier_t barrier;
static void *abort_at_barrier(void *argument)
{
    pthread_barrier_wait(&barrier);
    abort();
    return argument;
}
LGF_WAY two_threads_abort(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, abort_at_barrier, NULL) != 0)
        lgf_skip("no thread can be made");
    abort_at_barrier(NULL);
}

/* ---- of the C library ---- */

/* The checking functions are called as compiled code calls them, so that no build option
 * matters. */
extern void *__memset_chk(void *to, int value, size_t size, size_t room);
extern int __printf_chk(int flag, const char *format, ...);
extern long __fdelt_chk(long descriptor);

LGF_WAY fortify_overflow(void)
{
    char *volatile eight = malloc(8);
    volatile size_t size = 32;
    __memset_chk(eight, lgf_zero, size, 8);
}
LGF_WAY fortify_format(void)
{
    char format[8] = "%n"; /* in writable memory, which the check looks for */
    int written;
    char *volatile writable = format;
    __printf_chk(1, writable, &written);
}
LGF_WAY fortify_fd_set(void) { __fdelt_chk(FD_SETSIZE + lgf_zero); }

LGF_WAY double_free(void)
{
    void *volatile block = malloc(40);
    void *volatile again = block;
    free(block);
    free(again);
}
LGF_WAY bad_free(void)
{
    char *volatile block = calloc(1, 64); /* the contents decide which check stops the program */
    volatile size_t inside = 8;
    if (block)
        free(block + inside);
}

/* The block comes from the top of the heap. After it lies the size of the rest of the heap. */
LGF_WAY heap_top_smashed(void)
{
    char *volatile block = malloc(100000);
    volatile char *end = block + malloc_usable_size(block);
    for (int i = 0; i < 8; i++)
        end[i] = 0x7f;
    void *volatile other = malloc(120000);
    free(other);
}
/* The size of the next block. */
LGF_WAY heap_next_smashed(void)
{
    char *volatile block = malloc(2000);
    char *volatile next = malloc(2000);
    char *volatile last = malloc(2000);
    free(next);
    memset(block + malloc_usable_size(block), 0x7f, sizeof(size_t));
    char *volatile other = malloc(1000);
    free(other);
    free(last);
}
static void *heap_thread(void *argument)
{
    for (;;)
        free(malloc(1000));
    return argument;
}
LGF_WAY heap_top_smashed_threads(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, heap_thread, NULL) != 0)
            lgf_skip("no thread can be made");
    lgf_sleep_ms(20);
    heap_top_smashed();
}

LGF_WAY malloc_null_write(void)
{
    struct rlimit limit = { 1u << 30, 1u << 30 };
    setrlimit(RLIMIT_AS, &limit);
    volatile size_t size = (size_t)1 << 40;
    *(volatile char *)malloc(size) = 1;
}

static void fault(void) { *(volatile int *)(uintptr_t)lgf_zero = 1; }
LGF_WAY not_reached(void) { lgf_wrong("LaunchGuard was started"); }

#define CPP .language = "C++"
#define NAMED_CPP(name_, summary_, run_) .name = (name_), .section = 'C', CPP, .summary = (summary_), .run = (run_)

const struct lgf_entry lgf_aborts[] = {
    { LGF_NAMED("abort", 'C', "calls abort()", explicit_abort), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT), .traits = LGF_CORE },
    { LGF_NAMED("abort-ignored", 'C', "calls abort() in a process that was started with SIGABRT ignored", explicit_abort),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT), .prepare = ignore_abort, .traits = LGF_PREPARES },
    { LGF_NAMED("abort-ignored-later", 'C', "ignores SIGABRT, then calls abort()", abort_ignored_later), LGF_UNSEEN(SIGABRT, 'Y') },
    { LGF_NAMED("abort-handler-returns", 'C', "calls abort() with an earlier handler that returns", explicit_abort),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT), .prepare = handle_abort, .traits = LGF_PREPARES },
    { LGF_NAMED("assert", 'C', "fails an assertion", failed_assertion),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_ASSERT), .message = "lgf_zero == 1" },
    { LGF_NAMED("two-threads-abort", 'C', "calls abort() on two threads at once", two_threads_abort),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("fortify-overflow", 'C', "fills 32 bytes of a buffer of 8, and is stopped", fortify_overflow),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_FORTIFY), .message = "buffer overflow detected" },
    { LGF_NAMED("fortify-format", 'C', "uses %n in a format that can be written, and is stopped", fortify_format),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_FORTIFY), .message = "%n in writable segment" },
    { LGF_NAMED("fortify-fd-set", 'C', "uses a descriptor that an fd_set cannot hold, and is stopped", fortify_fd_set),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_FORTIFY), .message = "terminated" },
    { LGF_NAMED("double-free", 'C', "frees a block twice", double_free),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_HEAP), .message = "double free", .traits = LGF_CORE },
    { LGF_NAMED("bad-free", 'C', "frees a pointer that is not a block", bad_free),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_HEAP), .message = "invalid" },
    { LGF_NAMED("heap-top-smashed", 'C', "overwrites the end of the heap; the heap's lock is held", heap_top_smashed),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_HEAP), .message = "corrupted top size" },
    { LGF_NAMED("heap-next-smashed", 'C', "overwrites the size of the next block of the heap", heap_next_smashed),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_HEAP), .message = "malloc()" },
    { LGF_NAMED("heap-top-smashed-threads", 'C', "overwrites the end of the heap while other threads use it", heap_top_smashed_threads),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_HEAP), .message = "corrupted top size", .traits = LGF_OWN_THREADS },
    { LGF_NAMED("malloc-null-write", 'C', "writes through what malloc() returned when there was no memory", malloc_null_write),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("fault-before-start", 'C', "faults before LaunchGuard is started, as a static constructor would", not_reached),
      .status = LGF_SIGNAL, .number = SIGSEGV, .record = LGF_RECORD_NONE, .ends = LGF_END_NO_RUN, .launch = 'N', .prepare = fault,
      .traits = LGF_PREPARES },
    { NAMED_CPP("pure-virtual", "calls a pure virtual function", lgf_pure_virtual), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_PURE_VIRTUAL) },
    { NAMED_CPP("uncaught-exception", "throws std::runtime_error, which no handler catches", lgf_uncaught_exception),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "out of luck", .traits = LGF_CORE,
      .sentence = "exception of type std::runtime_error: out of luck in (anonymous namespace)::throwError (cplusplus.cpp:" },
    { NAMED_CPP("uncaught-int", "throws 42, which no handler catches", lgf_uncaught_int),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "42", .sentence = "exception of type int: 42 in lgf_uncaught_int (cplusplus.cpp:" },
    { NAMED_CPP("uncaught-text", "throws a pointer to a text", lgf_thrown_text), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "out of luck", .sentence = "exception of type char const*: out of luck in lgf_thrown_text (cplusplus.cpp:" },
    { NAMED_CPP("uncaught-string", "throws a std::string", lgf_thrown_string), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "out of the small buffer", .sentence = "exception of type std::string: out of luck, and out of the small buffer in lgf_thrown_string" },
    { NAMED_CPP("nested-exception", "throws an exception that has another one as its cause", lgf_nested_exception),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "out of luck",
      .sentence = "exception of type std::logic_error: cannot start, caused by an exception of type std::runtime_error: out of luck in " },
    { NAMED_CPP("own-terminate-handler", "sets a terminate handler after the start, and throws", lgf_own_terminate_handler),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "out of luck", .sentence = "exception of type std::runtime_error: out of luck in " },
    { NAMED_CPP("abort-while-catching", "aborts in a handler that has caught an exception", lgf_abort_while_catching), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT),
      .sentence = "abort() in lgf_abort_while_catching (cplusplus.cpp:" },
    { NAMED_CPP("checked-index", "reads beyond the end of a std::vector that checks it", lgf_checked_index), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_ASSERT),
      .message = "Assertion", .sentence = "assertion `__n < this->size()' failed in lgf_checked_index (cplusplus.cpp:" },
    { NAMED_CPP("out-of-range", "asks a std::vector for an element that it lacks", lgf_out_of_range), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "vector::_M_range_check: __n (which is 7) >= this->size() (which is 3)", .sentence = "exception of type std::out_of_range: vector::_M_range_check: __n (which is 7) >= this->size() (which is 3) in lgf_out_of_range" },
    { NAMED_CPP("optional-empty", "asks an empty std::optional for its value", lgf_optional_empty), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "bad optional access", .sentence = "exception of type std::bad_optional_access: bad optional access in lgf_optional_empty" },
    { NAMED_CPP("variant-wrong", "asks a std::variant for a type that it does not hold", lgf_variant_wrong), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "std::get: wrong index for variant", .sentence = "exception of type std::bad_variant_access: std::get: wrong index for variant in lgf_variant_wrong" },
    { NAMED_CPP("number-of-text", "makes a number of a text that is none", lgf_number_of_text), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "stoi", .sentence = "exception of type std::invalid_argument: stoi in lgf_number_of_text" },
    { NAMED_CPP("function-empty", "calls an empty std::function", lgf_function_empty), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "bad_function_call", .sentence = "exception of type std::bad_function_call: bad_function_call in lgf_function_empty" },
    { NAMED_CPP("cast-wrong", "casts a reference to a class that the object is not of", lgf_cast_wrong), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "std::bad_cast", .sentence = "exception of type std::bad_cast: std::bad_cast in lgf_cast_wrong" },
    { NAMED_CPP("thread-not-joined", "destroys a std::thread that runs", lgf_thread_not_joined), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_TERMINATE),
      .traits = LGF_OWN_THREADS },
    { NAMED_CPP("join-itself", "joins a std::thread with itself", lgf_join_itself), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION),
      .message = "Resource deadlock avoided", .sentence = "exception of type std::system_error: Resource deadlock avoided in (anonymous namespace)::joinItself", .traits = LGF_OWN_THREADS },
    { NAMED_CPP("throw-in-destructor", "throws in a destructor while another exception is on its way", lgf_throw_in_destructor),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION) },
    { NAMED_CPP("uncaught-exception-thread", "throws on a std::thread", lgf_exception_on_thread),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "out of luck", .traits = LGF_OWN_THREADS },
    { NAMED_CPP("throw-through-noexcept", "throws out of a noexcept function", lgf_throw_through_noexcept),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "out of luck" },
    { NAMED_CPP("terminate", "calls std::terminate()", lgf_terminate), LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_TERMINATE) },
    { NAMED_CPP("bad-alloc", "allocates until std::bad_alloc, which no handler catches", lgf_out_of_memory),
      LGF_CRASH(SIGABRT, NO, LG_CRASH_ABORT_CPP_EXCEPTION), .message = "bad_alloc", .lasts_ms = 500 },
    { NAMED_CPP("throw-at-exit", "throws in a function that exit() calls", lgf_throw_at_exit), .status = LGF_SIGNAL,
      .number = SIGABRT, .kinds = { LG_CRASH_ABORT_CPP_EXCEPTION }, .record = LGF_RECORD_FULL, .address = LGF_ADDRESS_NO,
      .ends = LGF_END(CRASH), .launch = 'W', .message = "out of luck" },
    { .name = NULL },
};
