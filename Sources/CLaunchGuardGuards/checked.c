/* The faults of guarded arrays, arithmetic and ranges. The operations are in the public header, and
 * call these functions when they meet a fault. */
#include "launchguard/guard_checked.h"

#include "guards.h"

#define NUMBER 24 /* bytes of any number in decimal digits, and a NUL */

int lg_guard_claim_index(size_t index, size_t count)
{
    char text[LG_GUARD_TEXT_MAX + 1], of_index[NUMBER], of_count[NUMBER];
    lg__hook_words(of_index, sizeof of_index, "%zu", index);
    lg__hook_words(of_count, sizeof of_count, "%zu", count);
    lg__hook_words(text, sizeof text, "index %s is outside of an array of %s", of_index, of_count);
    const lg_field fields[] = { { "index", of_index }, { "count", of_count } };
    return lg_guard_claim(LG_GUARD_CONTAINER, __builtin_return_address(0), text, fields, 2);
}

static int lg__checked_claim_operation(const void *site, const char *type, const char *operation, const char *left, const char *right)
{
    char text[LG_GUARD_TEXT_MAX + 1];
    lg__hook_words(text, sizeof text, "%s %s %s has no result in %s", left, operation, right, type);
    const lg_field fields[] = { { "left", left }, { "operation", operation }, { "right", right }, { "type", type } };
    return lg_guard_claim(LG_GUARD_ARITHMETIC, site, text, fields, 4);
}

int lg_guard_claim_signed(const char *type, const char *operation, int64_t left, int64_t right)
{
    char of_left[NUMBER], of_right[NUMBER];
    lg__hook_words(of_left, sizeof of_left, "%lld", (long long)left);
    lg__hook_words(of_right, sizeof of_right, "%lld", (long long)right);
    return lg__checked_claim_operation(__builtin_return_address(0), type, operation, of_left, of_right);
}

int lg_guard_claim_unsigned(const char *type, const char *operation, uint64_t left, uint64_t right)
{
    char of_left[NUMBER], of_right[NUMBER];
    lg__hook_words(of_left, sizeof of_left, "%llu", (unsigned long long)left);
    lg__hook_words(of_right, sizeof of_right, "%llu", (unsigned long long)right);
    return lg__checked_claim_operation(__builtin_return_address(0), type, operation, of_left, of_right);
}

int lg_guard_claim_null(void)
{
    return lg_guard_claim(LG_GUARD_STRING, __builtin_return_address(0), "a string is NULL", NULL, 0);
}

int lg_guard_claim_range(size_t offset, size_t length, size_t size)
{
    char text[LG_GUARD_TEXT_MAX + 1], of_offset[NUMBER], of_length[NUMBER], of_size[NUMBER];
    lg__hook_words(of_offset, sizeof of_offset, "%zu", offset);
    lg__hook_words(of_length, sizeof of_length, "%zu", length);
    lg__hook_words(of_size, sizeof of_size, "%zu", size);
    lg__hook_words(text, sizeof text, "%s bytes at offset %s leave a text of %s bytes", of_length, of_offset, of_size);
    const lg_field fields[] = { { "offset", of_offset }, { "length", of_length }, { "size", of_size } };
    return lg_guard_claim(LG_GUARD_STRING, __builtin_return_address(0), text, fields, 3);
}
