/** Version and linkage of the library. */
#ifndef LAUNCHGUARD_BASE_H
#define LAUNCHGUARD_BASE_H

#include <stddef.h>
#include <stdint.h>

/** Structures that a program gives begin with `size`, which their INIT macro sets, and grow at
 *  their ends. A program that was built with an older header gives a shorter structure, and what
 *  that one lacks has its default. A program that was built with a newer header gives a longer
 *  structure; a field in it that this library does not know is LG_ERR_OPTION, unless the field is
 *  zero. */

/** Version of this header; lg_version() returns the version of the library in use. scripts/release
 *  writes these lines, from which the build takes the version. */
#define LG_VERSION_MAJOR 0
#define LG_VERSION_MINOR 1
#define LG_VERSION_PATCH 0
#define LG_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define LG_API __attribute__((visibility("default")))
#define LG_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#error "LaunchGuard needs a compiler that understands GNU attributes (gcc 9 or clang 10, or newer)."
#endif

#ifdef __cplusplus
#define LG_BEGIN extern "C" {
#define LG_END }
#if __cplusplus >= 201402L
#define LG_CONSTEXPR constexpr
#else
#define LG_CONSTEXPR inline
#endif
/** C++: a structure with its size, and zero elsewhere. The INIT macros are made of it. They are
 *  values, so that fields are set by their names afterwards. */
template <class Structure>
LG_CONSTEXPR Structure lg_sized()
{
    Structure value = Structure();
    value.size = static_cast<uint32_t>(sizeof(Structure));
    return value;
}
#else
#define LG_BEGIN
#define LG_END
#endif

LG_BEGIN

/** Version of the library in use, for example "0.1.0".
 *
 *  @return a static string.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_version(void);

LG_END

#endif
