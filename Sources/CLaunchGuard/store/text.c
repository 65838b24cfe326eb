#include "store/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct output {
    char *at, *end;
    size_t lost; /* bytes that there was no room for */
};

struct conversion {
    bool left, zero, plus, space, alternate, has_precision;
    int width, precision;
    enum { LENGTH_INT, LENGTH_CHAR, LENGTH_SHORT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE, LENGTH_MAX, LENGTH_POINTER, LENGTH_LONG_DOUBLE } length;
};

/* Larger widths count as this: more than the room of any buffer. */
#define NUMBER_MAX 10000

/* The part of these bytes for which there is room. */
static size_t take_room(struct output *out, size_t size)
{
    size_t room = (size_t)(out->end - out->at);
    if (size <= room)
        return size;
    out->lost += size - room;
    return room;
}

/* Copy few bytes in few stores, as the next step reads them in words. */
static inline void put_text(struct output *out, const char *text, size_t size)
{
    char *to = out->at;
    size = take_room(out, size);
    out->at += size;
    if (size > 16) {
        memcpy(to, text, size);
    } else if (size >= 8) {
        memcpy(to, text, 8);
        memcpy(to + size - 8, text + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, text, 4);
        memcpy(to + size - 4, text + size - 4, 4);
    } else if (size) {
        to[0] = text[0];
        to[size / 2] = text[size / 2];
        to[size - 1] = text[size - 1];
    }
}

static void put_repeated(struct output *out, char c, int count)
{
    size_t size = count > 0 ? take_room(out, (size_t)count) : 0;
    memset(out->at, c, size);
    out->at += size;
}

/* One field: prefix (sign or 0x), zeros, body, blanks to the left or right. */
static void put_padded(struct output *out, const struct conversion *how, const char *prefix, int zeros, const char *body, size_t size)
{
    size_t prefix_size = strlen(prefix), length = prefix_size + (size_t)zeros + size;
    int padding = how->width > 0 && (size_t)how->width > length ? how->width - (int)length : 0;
    if (how->zero && !how->left) {
        zeros += padding;
        padding = 0;
    }
    if (!how->left)
        put_repeated(out, ' ', padding);
    put_text(out, prefix, prefix_size);
    put_repeated(out, '0', zeros);
    put_text(out, body, size);
    if (how->left)
        put_repeated(out, ' ', padding);
}

#define DIGITS_MAX 24

/* Decimal digits before an address, two at a time; returns their start. */
static inline char *decimal_before(uintmax_t value, char *at)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                "9899";
    for (; value >= 100; value /= 100)
        memcpy(at -= 2, pairs + value % 100 * 2, 2);
    if (value >= 10)
        return memcpy(at - 2, pairs + value * 2, 2);
    *--at = (char)('0' + value);
    return at;
}

/* Digits of a number into the end of a buffer; returns their start. */
static char *digits_of(uintmax_t value, unsigned base, bool upper, char *buffer_end)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    const unsigned shift = base == 16 ? 4 : 3;
    char *at = buffer_end;
    if (base == 10)
        return decimal_before(value, at);
    do
        *--at = digits[value & (base - 1)];
    while (value >>= shift);
    return at;
}

static void put_integer(struct output *out, struct conversion *how, uintmax_t value, unsigned base, bool upper, const char *sign)
{
    char buffer[DIGITS_MAX], *end = buffer + sizeof buffer, *start = digits_of(value, base, upper, end);
    size_t size = (size_t)(end - start);
    if (how->has_precision) {
        how->zero = false;
        if (how->precision == 0 && value == 0)
            size = 0;
    }
    int zeros = how->has_precision && (size_t)how->precision > size ? how->precision - (int)size : 0;
    const char *prefix = sign;
    if (how->alternate && base == 16 && value)
        prefix = upper ? "0X" : "0x";
    if (how->alternate && base == 8 && zeros == 0 && (value || !size))
        zeros = 1;
    put_padded(out, how, prefix, zeros, end - size, size);
}

static const char *sign_of(const struct conversion *how, bool negative)
{
    return negative ? "-" : how->plus ? "+" : how->space ? " " : "";
}

static double power_of_ten(int exponent)
{
    double result = 1, factor = exponent < 0 ? 0.1 : 10;
    if (exponent < 0) {
        /* Divide instead of multiplying by 0.1: fewer rounding errors. */
        factor = 10;
        for (int n = -exponent; n; n >>= 1, factor *= factor)
            if (n & 1)
                result /= factor;
        return result;
    }
    for (int n = exponent; n; n >>= 1, factor *= factor)
        if (n & 1)
            result *= factor;
    return result;
}

/* Fixed notation of 0 ≤ value < 1e18 with at most 17 decimals; returns the bytes written. */
static size_t write_fixed(double value, int decimals, bool point, char *to)
{
    uint64_t whole = (uint64_t)value;
    double scale = power_of_ten(decimals);
    double exact = (value - (double)whole) * scale;
    uint64_t fraction = (uint64_t)exact;
    double rest = exact - (double)fraction;
    /* ties to even, as printf */
    if (rest > 0.5 || (rest == 0.5 && ((decimals ? fraction : whole) & 1)))
        fraction++;
    if ((double)fraction >= scale) {
        whole++;
        fraction = 0;
    }
    char buffer[24];
    char *start = digits_of(whole, 10, false, buffer + sizeof buffer);
    size_t size = (size_t)(buffer + sizeof buffer - start);
    memcpy(to, start, size);
    if (decimals == 0 && !point)
        return size;
    to[size++] = '.';
    for (int i = decimals; i > 0; i--, fraction /= 10)
        to[size + (size_t)i - 1] = (char)('0' + fraction % 10);
    return size + (size_t)decimals;
}

static size_t trim_zeros(const char *text, size_t size)
{
    if (!memchr(text, '.', size))
        return size;
    while (text[size - 1] == '0')
        size--;
    return text[size - 1] == '.' ? size - 1 : size;
}

static double scaled_by(double value, int exponent)
{
    if (value == 0)
        return 0;
    return exponent > 300 || exponent < -300 ? value / power_of_ten(exponent / 2) / power_of_ten(exponent - exponent / 2) : value / power_of_ten(exponent);
}

/* Whether a value with this exponent has one more when it is rounded. */
static bool rounds_to_ten(double value, int exponent, int decimals)
{
    char text[64];
    write_fixed(scaled_by(value, exponent), decimals, true, text);
    return text[1] != '.';
}

/* Right to about 15 digits, which is what a breadcrumb needs. */
static void put_float(struct output *out, struct conversion *how, double value, char conversion)
{
    bool upper = conversion >= 'A' && conversion <= 'Z';
    char style = (char)(conversion | 0x20);
    bool negative = value < 0 || (value == 0 && 1 / value < 0);
    const char *sign = sign_of(how, negative);
    if (negative)
        value = -value;
    if (value != value || value > 1.7976931348623157e308) {
        const char *name = value != value ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
        how->zero = false;
        put_padded(out, how, sign, 0, name, 3);
        return;
    }
    int precision = !how->has_precision ? 6 : how->precision > 17 ? 17 : how->precision;
    int exponent = 0;
    if (value > 0) {
        double probe = value;
        for (; probe >= 1e16; exponent += 16) probe /= 1e16;
        for (; probe < 1e-15; exponent -= 16) probe *= 1e16;
        for (; probe >= 10; exponent++) probe /= 10;
        for (; probe < 1; exponent--) probe *= 10;
    }
    if (style == 'g') {
        if (precision == 0)
            precision = 1;
        exponent += rounds_to_ten(value, exponent, precision - 1);
        style = exponent < -4 || exponent >= precision ? 'e' : 'f';
        precision = style == 'e' ? precision - 1 : precision - 1 - exponent;
        if (precision > 17)
            precision = 17;
        conversion = 'g';
    }
    char text[64];
    size_t size;
    if (style == 'f' && value < 1e18) {
        size = write_fixed(value, precision, how->alternate, text);
        if (conversion == 'g' && !how->alternate)
            size = trim_zeros(text, size);
    } else {
        exponent += rounds_to_ten(value, exponent, precision);
        size = write_fixed(scaled_by(value, exponent), precision, how->alternate, text);
        if (conversion == 'g' && !how->alternate)
            size = trim_zeros(text, size);
        text[size++] = upper ? 'E' : 'e';
        text[size++] = exponent < 0 ? '-' : '+';
        unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
        if (magnitude >= 100)
            text[size++] = (char)('0' + magnitude / 100);
        text[size++] = (char)('0' + magnitude / 10 % 10);
        text[size++] = (char)('0' + magnitude % 10);
    }
    put_padded(out, how, sign, 0, text, size);
}

static uintmax_t next_unsigned(const struct conversion *how, va_list *arguments)
{
    switch (how->length) {
    case LENGTH_CHAR: return (unsigned char)va_arg(*arguments, unsigned);
    case LENGTH_SHORT: return (unsigned short)va_arg(*arguments, unsigned);
    case LENGTH_LONG: return va_arg(*arguments, unsigned long);
    case LENGTH_LONG_LONG: return va_arg(*arguments, unsigned long long);
    case LENGTH_SIZE: return va_arg(*arguments, size_t);
    case LENGTH_MAX: return va_arg(*arguments, uintmax_t);
    case LENGTH_POINTER: return (uintmax_t)va_arg(*arguments, ptrdiff_t);
    default: return va_arg(*arguments, unsigned);
    }
}

static intmax_t next_signed(const struct conversion *how, va_list *arguments)
{
    switch (how->length) {
    case LENGTH_CHAR: return (signed char)va_arg(*arguments, int);
    case LENGTH_SHORT: return (short)va_arg(*arguments, int);
    case LENGTH_LONG: return va_arg(*arguments, long);
    case LENGTH_LONG_LONG: return va_arg(*arguments, long long);
    case LENGTH_SIZE: return (intmax_t)va_arg(*arguments, ptrdiff_t);
    case LENGTH_MAX: return va_arg(*arguments, intmax_t);
    case LENGTH_POINTER: return va_arg(*arguments, ptrdiff_t);
    default: return va_arg(*arguments, int);
    }
}

static void put_string(struct output *out, struct conversion *how, const char *text)
{
    if (!text)
        text = "(null)";
    size_t size = 0;
    while ((!how->has_precision || size < (size_t)how->precision) && text[size])
        size++;
    how->zero = false;
    put_padded(out, how, "", 0, text, size);
}

static int parse_number(const char **at)
{
    int value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (value < NUMBER_MAX)
            value = value * 10 + (**at - '0');
    return value < NUMBER_MAX ? value : NUMBER_MAX;
}

static int given_number(va_list *arguments)
{
    int value = va_arg(*arguments, int);
    return value > NUMBER_MAX ? NUMBER_MAX : value < -NUMBER_MAX ? -NUMBER_MAX : value;
}

/* Flags, width and precision. */
static const char *parse_field(const char *at, struct conversion *how, va_list *arguments)
{
    for (;; at++) {
        if (*at == '-') how->left = true;
        else if (*at == '0') how->zero = true;
        else if (*at == '+') how->plus = true;
        else if (*at == ' ') how->space = true;
        else if (*at == '#') how->alternate = true;
        else break;
    }
    if (*at == '*') {
        at++;
        how->width = given_number(arguments);
        if (how->width < 0) {
            how->left = true;
            how->width = -how->width;
        }
    } else {
        how->width = parse_number(&at);
    }
    if (*at == '.') {
        at++;
        how->has_precision = true;
        if (*at == '*') {
            at++;
            how->precision = given_number(arguments);
            how->has_precision = how->precision >= 0;
        } else {
            how->precision = parse_number(&at);
        }
    }
    return at;
}

static const char *parse_length(const char *at, struct conversion *how)
{
    switch (*at) {
    case 'h':
        how->length = at[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
        return at + (at[1] == 'h' ? 2 : 1);
    case 'l':
        how->length = at[1] == 'l' ? LENGTH_LONG_LONG : LENGTH_LONG;
        return at + (at[1] == 'l' ? 2 : 1);
    case 'z': how->length = LENGTH_SIZE; return at + 1;
    case 'j': how->length = LENGTH_MAX; return at + 1;
    case 't': how->length = LENGTH_POINTER; return at + 1;
    case 'L': how->length = LENGTH_LONG_DOUBLE; return at + 1;
    default: return at;
    }
}

/* A number in decimal digits. */
static inline void put_decimal(struct output *out, bool negative, uintmax_t magnitude)
{
    char buffer[DIGITS_MAX], *start;
    if (out->end - out->at >= DIGITS_MAX) { /* to its place at once */
        *out->at = '-';
        out->at += negative;
        size_t size = 1;
        for (uintmax_t power = 10; size < 20 && magnitude >= power; power *= 10)
            size++;
        decimal_before(magnitude, out->at += size);
        return;
    }
    start = decimal_before(magnitude, buffer + sizeof buffer);
    if (negative)
        *--start = '-';
    put_text(out, start, (size_t)(buffer + sizeof buffer - start));
}

/* The common conversions, without flags, width and precision; `at` is after the percent sign.
 * Returns the address after the conversion; NULL: another one, nothing is done. */
static inline const char *put_plain(struct output *out, const char *at, va_list *arguments)
{
    static_assert(sizeof(long) == sizeof(long long) && sizeof(long) == sizeof(size_t), "one size of l, ll and z");
    char buffer[DIGITS_MAX], *end = buffer + sizeof buffer;
    bool longer = *at == 'l' || *at == 'z';
    at += longer + (at[0] == 'l' && at[1] == 'l');
    if (*at == 's') {
        const char *text = va_arg(*arguments, const char *);
        text = text ? text : "(null)";
        put_text(out, text, strlen(text));
    } else if (*at == 'd' || *at == 'i') {
        long value = longer ? va_arg(*arguments, long) : va_arg(*arguments, int);
        put_decimal(out, value < 0, value < 0 ? 0ul - (unsigned long)value : (unsigned long)value);
    } else if (*at == 'u') {
        put_decimal(out, false, longer ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned));
    } else if (*at == 'x') {
        const char *start = digits_of(longer ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned), 16, false, end);
        put_text(out, start, (size_t)(end - start));
    } else {
        return NULL;
    }
    return at + 1;
}

/* False: there is no such conversion. */
static bool put_any(struct output *out, struct conversion *how, char conversion, va_list *arguments)
{
    switch (conversion) {
    case 'd':
    case 'i': {
        intmax_t value = next_signed(how, arguments);
        uintmax_t magnitude = value < 0 ? (uintmax_t)0 - (uintmax_t)value : (uintmax_t)value;
        put_integer(out, how, magnitude, 10, false, sign_of(how, value < 0));
        return true;
    }
    case 'u': put_integer(out, how, next_unsigned(how, arguments), 10, false, ""); return true;
    case 'o': put_integer(out, how, next_unsigned(how, arguments), 8, false, ""); return true;
    case 'x': put_integer(out, how, next_unsigned(how, arguments), 16, false, ""); return true;
    case 'X': put_integer(out, how, next_unsigned(how, arguments), 16, true, ""); return true;
    case 'p':
        how->alternate = true;
        put_integer(out, how, (uintptr_t)va_arg(*arguments, void *), 16, false, "");
        return true;
    case 'c': {
        char c = (char)va_arg(*arguments, int);
        how->zero = false;
        put_padded(out, how, "", 0, &c, 1);
        return true;
    }
    case 's': put_string(out, how, va_arg(*arguments, const char *)); return true;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': {
        double value = how->length == LENGTH_LONG_DOUBLE ? (double)va_arg(*arguments, long double) : va_arg(*arguments, double);
        put_float(out, how, value, conversion);
        return true;
    }
    case '%': put_text(out, "%", 1); return true;
    default: return false;
    }
}

/* One conversion of any kind; `at` is after its percent sign. Returns the address after the
 * conversion; NULL: there is no such one. */
static const char *put_conversion(struct output *out, const char *at, va_list *arguments)
{
    struct conversion how = { 0 };
    at = parse_length(parse_field(at, &how, arguments), &how);
    return put_any(out, &how, *at, arguments) ? at + 1 : NULL;
}

size_t lg__text_format(char *to, size_t capacity, const char *format, va_list given)
{
    struct output out = { to, to + capacity, 0 };
    va_list arguments;
    va_copy(arguments, given);
    while (true) {
        const char *literal = format;
        while (*format && *format != '%')
            format++;
        put_text(&out, literal, (size_t)(format - literal));
        if (!*format)
            break;
        const char *next = put_plain(&out, format + 1, &arguments);
        if (!next) {
            struct output other = out; /* so that `out` stays in registers */
            next = put_conversion(&other, format + 1, &arguments);
            out = other;
        }
        if (!next) {
            /* Its arguments are not known, and so neither are those of the next conversion. */
            put_text(&out, format, strlen(format));
            break;
        }
        format = next;
    }
    va_end(arguments);
    return (size_t)(out.at - to) + out.lost;
}

size_t lg__text_beginning(const char *text, size_t most)
{
    size_t size = 0;
    while (size < most && text[size])
        size++;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}
