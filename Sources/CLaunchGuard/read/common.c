/* Code that programs have in common: libc, the runtimes and libraries of C++, Swift and Rust, and
 * LaunchGuard. The one list of what is no code of the program's own: for headline, place,
 * fingerprint and page. */
#include "read/common.h"

#include <stddef.h>
#include <string.h>

#include "launchguard/reader.h"

#define BEGINS(text, begin) (strncmp(text, begin, strlen(begin)) == 0)

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The lists are texts: each pointer of a table would cost 32 bytes of the library. Their words have
 * a blank between them. Returns the word after the first *size bytes, and its size; NULL: there is
 * none. */
static const char *next_word(const char *list, size_t *size)
{
    list += *size;
    list += *list == ' ';
    *size = strcspn(list, " ");
    return *size ? list : NULL;
}

static bool begins_with_one(const char *text, const char *begins)
{
    for (size_t size = 0; (begins = next_word(begins, &size));)
        if (strncmp(text, begins, size) == 0)
            return true;
    return false;
}

static bool is_one(const char *text, size_t text_size, const char *names)
{
    for (size_t size = 0; (names = next_word(names, &size));)
        if (size == text_size && memcmp(text, names, size) == 0)
            return true;
    return false;
}

/* ---- modules ---- */

/* By the begin of their names. No letter follows there, unless the name is that of a family. */
bool lg__common_module(const char *name)
{
    static const char one[] =
        "ld-linux ld-musl ld.so ld64.so linux-vdso [vdso] libc libm libdl librt libpthread libgcc_s libstdc++ libc++ libc++abi"
        " libunwind liblaunchguard launchguard-preload libdispatch libBlocksRuntime libasan libtsan libubsan libclang_rt libstd-"
        " libTesting libXCTest";
    static const char family[] = "libswift libFoundation lib_Foundation lib_Testing";
    const char *word = one;
    for (size_t size = 0; (word = next_word(word, &size));)
        if (strncmp(name, word, size) == 0 && (word[size - 1] == '-' || !is_letter(name[size])))
            return true;
    return begins_with_one(name, family);
}

/* ---- functions, by linker name or as a person writes it ---- */

static bool is_of_libc_or_cplusplus(const char *name)
{
    static const char functions[] =
        "_start abort raise gsignal tgkill exit pthread_kill malloc_printerr _int_free _int_malloc _int_realloc malloc_consolidate"
        " unlink_chunk sysmalloc tcache_thread_shutdown memcpy memmove memset memcmp memchr strlen strcmp strncmp strcpy strncpy"
        " strcat strchr strrchr strdup malloc calloc realloc free qsort bsearch puts printf fprintf vfprintf snprintf vsnprintf"
        " sprintf start_thread clone clone3";
    static const char begins[] = "_ZSt _ZNSt _ZNKSt _ZN9__gnu_cxx _ZNK9__gnu_cxx _ZN10__cxxabiv1 _ZNK10__cxxabiv1 std:: __gnu_cxx::";
    /* C leaves names with such a begin to the implementation. "_Z" begins every name of C++, "_R"
     * every name of Rust. */
    const bool reserved = name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z' && name[1] != 'Z' && name[1] != 'R'));
    return reserved || is_one(name, strlen(name), functions) || begins_with_one(name, begins);
}

/* ---- Rust ---- */

static const char crates[] = "std core alloc panic_unwind panic_abort std_detect __rustc";

/* A number and as many letters; Rust has "_" between where the name begins with one. Returns what
 * follows; NULL: no such name. */
static const char *take_name(const char *at, const char **ret_name, size_t *ret_size)
{
    size_t size = 0;
    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++)
        size = size < 100000 ? size * 10 + (size_t)(*at - '0') : size;
    at += at[0] == '_' && at[1] == '_';
    if (strlen(at) < size)
        return NULL;
    *ret_name = at;
    *ret_size = size;
    return at + size;
}

/* A disambiguator: "s", letters and digits, "_". */
static const char *skip_number(const char *at)
{
    const char *end = at;
    if (*at != 's')
        return at;
    for (end++; is_digit(*end) || is_letter(*end); end++) {}
    return *end == '_' ? end + 1 : at;
}

/* Symbols of version 0 (RFC 2603): the crate is at the root of the path. */
static bool is_of_rust_now(const char *at)
{
    const char *name;
    size_t size;
    for (;;)
        switch (*at) {
        case 'N':
            if (!at[1])
                return false;
            at += 2;
            break;
        case 'I':
        case 'Y': at++; break;
        case 'M':
        case 'X': at = skip_number(at + 1); break;
        case 'C': return take_name(skip_number(at + 1), &name, &size) && is_one(name, size, crates);
        default: return false;
        }
}

/* The older symbols look like those of C++, and end in a digest: 17h, 16 digits, E. */
static bool is_of_rust_before(const char *at)
{
    static const char types[] = "_$LT$std.. _$LT$core.. _$LT$alloc.. _$LT$$u5b$ _$LT$str$u20$ _$LT$$RF$";
    const char *digest = strstr(at, "17h"), *name;
    size_t size;
    while (digest && strspn(digest + 3, "0123456789abcdef") != 16)
        digest = strstr(digest + 1, "17h");
    if (!digest || digest[19] != 'E' || !take_name(at, &name, &size))
        return false;
    return is_one(name, size, crates) || begins_with_one(name, types);
}

static bool is_of_rust(const char *name)
{
    static const char functions[] = "rust_begin_unwind rust_panic rust_eh_personality";
    static const char written[] =
        "core::option:: core::result:: core::panicking:: core::slice:: core::str:: core::ops:: core::fmt:: core::cell:: core::iter::"
        " core::num:: core::ptr:: alloc::vec:: alloc::string:: alloc::boxed:: alloc::rc:: alloc::sync:: <core:: <alloc:: <std::";
    return (BEGINS(name, "_R") && is_of_rust_now(name + 2)) || (BEGINS(name, "_ZN") && is_of_rust_before(name + 3)) ||
           is_one(name, strlen(name), functions) || begins_with_one(name, written);
}

/* ---- Swift ---- */

static bool is_module_of_swift(const char *name, size_t size)
{
    static const char modules[] =
        "_Concurrency _StringProcessing Synchronization Foundation FoundationEssentials FoundationInternationalization Dispatch Glibc"
        " Testing LaunchGuard LaunchGuardGuards LaunchGuardObservers LaunchGuardLogging LaunchGuardService LaunchGuardMetrics";
    return is_one(name, size, modules);
}

/* After a type, a name goes on with the module of an extension, and "E". */
static bool is_extension(const char *at)
{
    const char *name;
    size_t size;
    while ((at = take_name(at, &name, &size)))
        if (*at == 'E')
            return true;
        else if (*at && strchr("VCOPa", *at))
            at++;
        else
            return false;
    return false;
}

static bool is_of_swift(const char *name)
{
    static const char begins[] = "_ZN5swift $ss swift_ _swift_ dispatch_ _dispatch_";
    const char *module, *after;
    size_t size;
    if (begins_with_one(name, begins))
        return true;
    if (BEGINS(name, "$sS") && name[3])
        return !is_extension(name + 4);
    after = BEGINS(name, "$s") ? take_name(name + 2, &module, &size) : NULL;
    return after && is_module_of_swift(module, size) && !is_extension(after);
}

/* ---- files of source ---- */

static bool is_source(const char *file)
{
    static const char parts[] =
        "/rustc/ /include/c++/ /libstdc++-v3/ /library/std/src/ /library/core/src/ /library/alloc/src/ /stdlib/public/"
        " /Sources/CLaunchGuard/ /Sources/CLaunchGuardGuards/ /Sources/LaunchGuard/ /Sources/LaunchGuardGuards/"
        " /Sources/launchguard-preload/";
    const char *word = parts;
    for (size_t size = 0; (word = next_word(word, &size));)
        if (memmem(file, strlen(file), word, size))
            return true;
    return false;
}

int lg_code_is_common(const char *module, const char *function, const char *file)
{
    const char *slash = module ? strrchr(module, '/') : NULL;
    return (module && lg__common_module(slash ? slash + 1 : module)) ||
           (function && (BEGINS(function, "lg_") || is_of_libc_or_cplusplus(function) || is_of_rust(function) || is_of_swift(function))) ||
           (file && is_source(file));
}
