/** Guarded arrays, arithmetic and strings.
 *
 *  Each operation looks first whether it can be done. Where it can, that look is all that the guard
 *  costs: a comparison or two, and no call. Where it cannot, the guard asks lg_guard_claim(). A
 *  fault that is survived has the result that stands at the operation below. In all other cases the
 *  operation is the plain one: that is so before lg_guard_start(), after lg_guard_stop(), and with
 *  LG_GUARD_REPORT.
 *
 *  The classes are LG_GUARD_CONTAINER, LG_GUARD_ARITHMETIC and LG_GUARD_STRING. The site of an
 *  event is the place in the program where the operation was compiled into; a loop that the
 *  compiler unrolls has several.
 *
 *      uint32_t *pixel = LG_GUARD_AT(pixels, count, index);
 *      if (pixel)
 *          *pixel = colour;
 *      size_t bytes = lg_guard_mul_size(width, lg_guard_mul_size(height, 4));
 *
 *  Not claimed: that a count is the true one, that a pointer is valid, that a result that was
 *  survived is of use. Shifts lose bits as plain ones do.
 *
 *  All functions here: Threads: safe.  Signals: safe.  After fork: the plain operation.
 *  Allocates: no.
 */
#ifndef LAUNCHGUARD_GUARD_CHECKED_H
#define LAUNCHGUARD_GUARD_CHECKED_H

#include <launchguard/guard.h>

/** Inline without optimisation, too: else all events of an operation would have one site. */
#define LG_GUARD_INLINE static inline __attribute__((always_inline))

LG_BEGIN

/* ---- the faults that the operations below report; other operations may report them, too ---- */

/* They are not marked as cold: gcc would move their calls out of the function, where neither its
 * name nor a list of functions finds them. */

/** An index is not below a count.
 *
 *  @return as lg_guard_claim(), for class LG_GUARD_CONTAINER; the site is the caller.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API int lg_guard_claim_index(size_t index, size_t count);

/** An operation has no result in a type.
 *
 *  @param type       for example "int32_t"; NUL-terminated, as `operation` is.
 *  @param operation  for example "+".
 *  @return as lg_guard_claim(), for class LG_GUARD_ARITHMETIC; the site is the caller.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API int lg_guard_claim_signed(const char *type, const char *operation, int64_t left, int64_t right);

/** lg_guard_claim_signed() for unsigned types.
 *
 *  @return as lg_guard_claim().
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API int lg_guard_claim_unsigned(const char *type, const char *operation, uint64_t left, uint64_t right);

/** A string is NULL.
 *
 *  @return as lg_guard_claim(), for class LG_GUARD_STRING; the site is the caller.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API int lg_guard_claim_null(void);

/** A range leaves a text of `size` bytes.
 *
 *  @return as lg_guard_claim(), for class LG_GUARD_STRING; the site is the caller.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API int lg_guard_claim_range(size_t offset, size_t length, size_t size);

/* ---- arrays ---- */

/** Address of an element of an array of `count` elements of `size` bytes. Survived: NULL. Plain:
 *  the address that base[index] has, wherever that is. */
LG_GUARD_INLINE void *lg_guard_at(const void *base, size_t count, size_t size, size_t index)
{
    if (__builtin_expect(index >= count, 0) && lg_guard_claim_index(index, count))
        return NULL;
    return (void *)((uintptr_t)base + index * size);
}

/** The same with the type of the array, which may be an array or a pointer. `array` is evaluated
 *  once. */
#define LG_GUARD_AT(array, count, index) ((__typeof__(&(array)[0]))lg_guard_at((array), (count), sizeof((array)[0]), (index)))

/* ---- arithmetic ---- */

/** For each row X(name, type, unsigned type, smallest, largest, unsigned or signed, its wide type)
 *  the following functions, for example lg_guard_add_int32(). Plain: the result modulo the range of
 *  the type, as the CPU and -fwrapv have it. Survived: see each.
 *
 *    add, sub, mul (a, b)  the nearest value of the type
 *    neg (a)               the nearest value of the type
 *    div, rem (a, b)       by zero: 0; of the smallest value by −1: the largest value, remainder 0.
 *                          Plain: the real division, which on x86-64 ends in SIGFPE, and on AArch64
 *                          gives 0, or the smallest value
 *    shl, shr (a, bits)    by the bits of the type or more: as if shifted bit by bit: 0, or −1 for
 *                          shr of a negative value. Plain: by `bits` modulo the bits of the type */
#define LG_GUARD_INTEGER_TABLE(X)                                          \
    X(int32, int32_t, uint32_t, INT32_MIN, INT32_MAX, signed, int64_t)     \
    X(int64, int64_t, uint64_t, INT64_MIN, INT64_MAX, signed, int64_t)     \
    X(uint32, uint32_t, uint32_t, 0, UINT32_MAX, unsigned, uint64_t)       \
    X(uint64, uint64_t, uint64_t, 0, UINT64_MAX, unsigned, uint64_t)       \
    X(size, size_t, size_t, 0, SIZE_MAX, unsigned, uint64_t)

#define LG_GUARD_WRAPPING(name, type, kind, wide, verb, operation, nearest)                                       \
    LG_GUARD_INLINE type lg_guard_##verb##_##name(type a, type b)                                                 \
    {                                                                                                             \
        type result;                                                                                              \
        if (__builtin_expect(__builtin_##verb##_overflow(a, b, &result), 0) &&                                    \
            lg_guard_claim_##kind(#type, operation, (wide)a, (wide)b))                                            \
            return nearest;                                                                                       \
        return result;                                                                                            \
    }

/* The plain division reads its divisor anew: a compiler that knows it would drop the division. */
#define LG_GUARD_DIVIDING(name, type, smallest, kind, wide, verb, operation, nearest)                             \
    LG_GUARD_INLINE type lg_guard_##verb##_##name(type a, type b)                                                 \
    {                                                                                                             \
        if (__builtin_expect(b == 0 || (smallest != 0 && b == (type)-1 && a == smallest), 0)) {                   \
            volatile type divisor = b;                                                                            \
            return lg_guard_claim_##kind(#type, #operation, (wide)a, (wide)b) ? nearest : (type)(a operation divisor); \
        }                                                                                                         \
        return (type)(a operation b);                                                                             \
    }

#define LG_GUARD_INTEGER_FUNCTIONS(name, type, utype, smallest, largest, kind, wide)                              \
    LG_GUARD_WRAPPING(name, type, kind, wide, add, "+", (b > 0 ? largest : smallest))                             \
    LG_GUARD_WRAPPING(name, type, kind, wide, sub, "-", (b > 0 ? smallest : largest))                             \
    LG_GUARD_WRAPPING(name, type, kind, wide, mul, "*", ((a > 0) == (b > 0) ? largest : smallest))                \
    LG_GUARD_DIVIDING(name, type, smallest, kind, wide, div, /, (b == 0 ? 0 : largest))                           \
    LG_GUARD_DIVIDING(name, type, smallest, kind, wide, rem, %, 0)                                                \
    LG_GUARD_INLINE type lg_guard_neg_##name(type a)                                                              \
    {                                                                                                             \
        return lg_guard_sub_##name(0, a);                                                                         \
    }                                                                                                             \
    LG_GUARD_INLINE type lg_guard_shl_##name(type a, unsigned bits)                                               \
    {                                                                                                             \
        const unsigned width = 8 * sizeof a;                                                                      \
        if (__builtin_expect(bits >= width, 0) && lg_guard_claim_##kind(#type, "<<", (wide)a, (wide)bits))        \
            return 0;                                                                                             \
        return (type)((utype)a << bits % width);                                                                  \
    }                                                                                                             \
    LG_GUARD_INLINE type lg_guard_shr_##name(type a, unsigned bits)                                               \
    {                                                                                                             \
        const unsigned width = 8 * sizeof a;                                                                      \
        if (__builtin_expect(bits >= width, 0) && lg_guard_claim_##kind(#type, ">>", (wide)a, (wide)bits))        \
            return (type)(a >> (width - 1) >> 1);                                                                 \
        return (type)(a >> bits % width);                                                                         \
    }

LG_GUARD_INTEGER_TABLE(LG_GUARD_INTEGER_FUNCTIONS)

/* ---- strings ---- */

/** A string that may be NULL. Survived: "". Plain: NULL. */
LG_GUARD_INLINE const char *lg_guard_str(const char *text)
{
    if (__builtin_expect(!text, 0)) {
        const char *volatile plain = text; /* a compiler that sees NULL drops its use */
        return lg_guard_claim_null() ? "" : plain;
    }
    return text;
}

/** An offset into a text of `size` bytes; its end is one. Survived: `size`. Plain: as it is. */
LG_GUARD_INLINE size_t lg_guard_offset(size_t offset, size_t size)
{
    return __builtin_expect(offset > size, 0) && lg_guard_claim_range(offset, 0, size) ? size : offset;
}

/** A part of a text, in bytes. */
typedef struct lg_guard_part {
    size_t offset, length;
} lg_guard_part;

/** A part of a text of `size` bytes. Survived: what of it lies in the text. Plain: as it is. */
LG_GUARD_INLINE lg_guard_part lg_guard_range(size_t offset, size_t length, size_t size)
{
    lg_guard_part part = { offset, length };
    if (__builtin_expect(offset > size || length > size - offset, 0) && lg_guard_claim_range(offset, length, size)) {
        part.offset = offset < size ? offset : size;
        part.length = length < size - part.offset ? length : size - part.offset;
    }
    return part;
}

/** The character at *at that is not ASCII, or not there; lg_guard_utf8() calls it.
 *
 *  @return as lg_guard_utf8().
 *
 *  Threads: safe.  Signals: safe.  After fork: the plain operation.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API uint32_t lg_guard_utf8_beyond_ascii(const char *bytes, size_t size, size_t *at);

/** Return the next character of a text in UTF-8, and move *at to the byte after it.
 *
 *    bytes that are no character  Survived: U+FFFD for as many bytes as Unicode recommends (the
 *                                 longest beginning of a character, or one byte). Plain: as the
 *                                 first byte says, whatever follows it, also beyond the end.
 *    *at is not below `size`      Survived: 0, and *at stays. Plain: a read beyond the end. */
LG_GUARD_INLINE uint32_t lg_guard_utf8(const char *bytes, size_t size, size_t *at)
{
    if (__builtin_expect(*at < size && (unsigned char)bytes[*at] < 0x80, 1))
        return (unsigned char)bytes[(*at)++];
    return lg_guard_utf8_beyond_ascii(bytes, size, at);
}

/** Copy a string into a buffer of `room` bytes, with a NUL. Use it where snprintf() would cut a
 *  character of UTF-8 into pieces, or print a NULL as "(null)", without a report.
 *
 *    the string is longer  Survived: cut at the end of a character; nothing where `room` is 0.
 *                          Plain: copied whole, beyond the buffer.
 *    the string is NULL    Survived: "". Plain: read from address 0.
 *
 *  @param to    holds `room` bytes, and none of the string.
 *  @param from  NUL-terminated.
 *  @return bytes copied, without the NUL.
 *
 *  Threads: safe.  Signals: safe.  After fork: the plain operation.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API size_t lg_guard_copy(char *to, size_t room, const char *from);

LG_END

#endif
