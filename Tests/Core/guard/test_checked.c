/* Guarded arrays, arithmetic and strings: each fault with and without its guard, results at the
 * edges of each type, UTF-8 against the cases of the Unicode Standard, and what is not claimed. */
#include "guarded.h"

#include <launchguard/guard_checked.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

/* Numbers that the compiler does not know. */
static volatile int64_t unknown;
/* The unused result of a computation. */
static volatile int64_t result;

/* The end of a page after which nothing can be read or written. */
static char *edge(size_t before)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + page, page, PROT_NONE);
    return pages + page - before;
}

/* ---- the four showings ---- */

static void meet_index(void)
{
    int *numbers = (int *)(void *)edge(4 * sizeof(int));
    int *number = LG_GUARD_AT(numbers, 4, (size_t)unknown + 4);
    if (number)
        *number = 1;
}

static void meet_negative_index(void)
{
    /* before them nothing can be written */
    int *numbers = (int *)(void *)(edge(0) + sysconf(_SC_PAGESIZE));
    int *number = LG_GUARD_AT(numbers, 4, (size_t)(unknown - 1));
    if (number)
        *number = 1;
}

static void meet_division(void)
{
    result = lg_guard_div_int32(7, (int32_t)unknown);
}

static void meet_quotient(void)
{
    result = lg_guard_div_int64(INT64_MIN + unknown, unknown - 1);
}

static void meet_remainder(void)
{
    result = (int64_t)lg_guard_rem_size(7, (size_t)unknown);
}

/* A size that wraps makes a buffer that is too small. */
static void meet_overflow(void)
{
    const uint32_t count = lg_guard_mul_uint32(UINT32_C(0x10000001) + (uint32_t)unknown, 16);
    char *buffer = edge(16);
    if (count == 16)
        for (uint32_t i = 0; i < 17; i++)
            ((volatile char *)buffer)[i] = 1;
}

static void meet_null(void)
{
    const char *text = unknown ? "text" : NULL;
    result = (int64_t)strlen(lg_guard_str(text));
}

static void meet_range(void)
{
    char *text = memset(edge(4), 'x', 4);
    const lg_guard_part part = lg_guard_range(2, 6 + (size_t)unknown, 4);
    for (size_t i = 0; i < part.length; i++)
        result = ((volatile char *)text)[part.offset + i] - 'x';
}

static void meet_bad_utf8(void)
{
    char *text = memcpy(edge(2), "a\xe2", 2); /* two bytes are missing */
    size_t at = 0;
    while (at < 2)
        result = lg_guard_utf8(text, 2, &at) == 0;
}

static void meet_long_string(void)
{
    result = (int64_t)lg_guard_copy(edge(4), 4, "four");
}

static void meet_null_copy(void)
{
    static const char *volatile text;
    result = (int64_t)lg_guard_copy(edge(4), 4, text);
}

#define SHOW(name, death, says)                                        \
    static void test_##name(void **state)                              \
    {                                                                  \
        (void)state;                                                   \
        show((struct fault){ meet_##name, death, says, WITHOUT });     \
    }

SHOW(index, SIGSEGV, "index 4 is outside of an array of 4")
SHOW(negative_index, SIGSEGV, "index 18446744073709551615 is outside of an array of 4")
#if defined(__x86_64__)
#define DIVIDES_BADLY SIGFPE
#else
#define DIVIDES_BADLY 0
#endif
SHOW(division, DIVIDES_BADLY, "7 / 0 has no result in int32_t")
SHOW(quotient, DIVIDES_BADLY, "-9223372036854775808 / -1 has no result in int64_t")
SHOW(remainder, DIVIDES_BADLY, "7 % 0 has no result in size_t")
SHOW(overflow, SIGSEGV, "268435457 * 16 has no result in uint32_t")
SHOW(null, SIGSEGV, "a string is NULL")
SHOW(range, SIGSEGV, "6 bytes at offset 2 leave a text of 4 bytes")
SHOW(bad_utf8, SIGSEGV, "the bytes e2 at offset 1 are no UTF-8")
SHOW(long_string, SIGSEGV, "a string of 4 bytes goes into a buffer of 4")
SHOW(null_copy, SIGSEGV, "a string is NULL")

/* ---- results, in this process ---- */

static lg_session *session;
static uint64_t *events; /* that were reported */

static void on_event(const lg_guard_event *event, void *user)
{
    (void)user;
    __atomic_fetch_add(events, 1 + event->skipped, __ATOMIC_SEQ_CST);
}

/* In a child: an assertion that fails exits with the line. */
#define EXPECT(condition) ((condition) ? (void)0 : exit_with(__LINE__, #condition))

static void exit_with(int line, const char *condition)
{
    fprintf(stderr, "line %d: %s\n", line, condition);
    _exit(1);
}

static void start_counting(bool is_survived)
{
    session = start_session();
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.classes = LG_GUARDS_DEFAULT | LG_GUARDS(LG_GUARD_ARITHMETIC);
    options.policy = is_survived ? LG_GUARD_SURVIVE : LG_GUARD_REPORT;
    options.budget = 1000000;
    options.quiet = 1;
    options.on_event = on_event;
    EXPECT(lg_guard_start(session, &options) == LG_OK);
}

/* By a second way: in 128 bits, where each result has room. */
typedef __int128 wide;

static const int64_t around[] = { 0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 63, 64, 65, INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1, UINT32_MAX,
                                  (int64_t)UINT32_MAX + 1, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, 46341, 65536, 3037000500, 4294967296 };
#define AROUND (sizeof around / sizeof around[0])

static unsigned faults;

static bool is_within(wide exact, wide smallest, wide largest) { return exact >= smallest && exact <= largest; }

static wide nearest(wide exact, wide smallest, wide largest)
{
    faults += !is_within(exact, smallest, largest);
    return exact < smallest ? smallest : exact > largest ? largest : exact;
}

#define EACH_RESULT(name, type, utype, smallest, largest, kind, widest)                                                  \
    static NOINLINE void check_##name(bool is_survived)                                                                  \
    {                                                                                                                    \
        for (size_t i = 0; i < AROUND * AROUND; i++) {                                                                   \
            volatile type first = (type)around[i % AROUND], second = (type)around[i / AROUND];                           \
            const type a = first, b = second;                                                                            \
            const wide sum = nearest((wide)a + b, smallest, largest), less = nearest((wide)a - b, smallest, largest),    \
                       product = nearest(a > 0 && b > 0 && (wide)largest / a < b ? (wide)largest + 1 : (wide)a * b, smallest, largest), minus = nearest(-(wide)a, smallest, largest);  \
            EXPECT(lg_guard_add_##name(a, b) == (is_survived ? (type)sum : (type)((utype)a + (utype)b)));                \
            EXPECT(lg_guard_sub_##name(a, b) == (is_survived ? (type)less : (type)((utype)a - (utype)b)));               \
            EXPECT(lg_guard_mul_##name(a, b) == (is_survived ? (type)product : (type)((utype)a * (utype)b)));            \
            EXPECT(lg_guard_neg_##name(a) == (is_survived ? (type)minus : (type)(0 - (utype)a)));                        \
            const wide quotient = b ? (wide)a / b : 0;                                                                    \
            const bool has_quotient = b != 0 && is_within(quotient, smallest, largest);                                    \
            if (has_quotient || is_survived) {                                                                           \
                EXPECT(lg_guard_div_##name(a, b) == (has_quotient ? (type)((wide)a / b) : b ? (type)largest : 0));       \
                EXPECT(lg_guard_rem_##name(a, b) == (has_quotient ? (type)((wide)a % b) : 0));                           \
                faults += 2 * !has_quotient;                                                                             \
            }                                                                                                            \
            const unsigned bits = (unsigned)(i / AROUND) * 3, width = 8 * sizeof a;                                      \
            const bool fits = bits < width;                                                                              \
            faults += 2 * !fits;                                                                                         \
            utype left = (utype)a;                                                                                       \
            type right = a;                                                                                              \
            for (unsigned n = 0; n < (is_survived || fits ? bits : bits % width); n++) {                                 \
                left = (utype)(left << 1);                                                                               \
                right = (type)(right >> 1);                                                                              \
            }                                                                                                            \
            EXPECT(lg_guard_shl_##name(a, bits) == (type)left);                                                          \
            EXPECT(lg_guard_shr_##name(a, bits) == right);                                                               \
        }                                                                                                                \
    }

LG_GUARD_INTEGER_TABLE(EACH_RESULT)

#define CHECK_EACH(name, type, utype, smallest, largest, kind, widest) check_##name(is_survived);

static void body_arithmetic(void *argument)
{
    const bool is_survived = argument != NULL;
    start_counting(is_survived);
    LG_GUARD_INTEGER_TABLE(CHECK_EACH)
    EXPECT(faults > 1000);
    lg_stop(session); /* reports the remaining events */
    if (*events != faults) {
        fprintf(stderr, "%llu events of %u faults\n", (unsigned long long)*events, faults);
        _exit(2);
    }
}

static void test_results(void **state)
{
    (void)state;
    expect_exit(body_arithmetic, "survived", 0);
    *events = 0;
    expect_exit(body_arithmetic, NULL, 0);
}

static void body_values(void *argument)
{
    const bool is_survived = argument != NULL;
    int numbers[4] = { 0, 1, 2, 3 };
    start_counting(is_survived);
    EXPECT(LG_GUARD_AT(numbers, 4, 0) == numbers && LG_GUARD_AT(numbers, 4, 3) == numbers + 3 && *events == 0);
    for (volatile size_t i = 4; i < 6; i++)
        EXPECT(LG_GUARD_AT(numbers, 4, i) == (is_survived ? NULL : (void *)((char *)numbers + i * sizeof(int))));
    EXPECT(lg_guard_offset(4, 4) == 4);
    EXPECT(lg_guard_offset(5, 4) == (is_survived ? 4 : 5));
    static const size_t parts[][5] = { /* offset, length, size; what is left */
        { 0, 4, 4, 0, 4 }, { 4, 0, 4, 4, 0 }, { 1, 2, 4, 1, 2 }, { 1, 4, 4, 1, 3 }, { 4, 1, 4, 4, 0 }, { 5, 0, 4, 4, 0 },
        { 2, SIZE_MAX, 4, 2, 2 }, { SIZE_MAX, SIZE_MAX, 4, 4, 0 }, { 0, 1, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const lg_guard_part part = lg_guard_range(parts[i][0], parts[i][1], parts[i][2]);
        EXPECT(part.offset == parts[i][is_survived ? 3 : 0] && part.length == parts[i][is_survived ? 4 : 1]);
    }
    const char *text = "text", *volatile none = NULL;
    EXPECT(lg_guard_str(text) == text);
    EXPECT(is_survived ? strcmp(lg_guard_str(none), "") == 0 : lg_guard_str(none) == NULL);
    char room[8];
    EXPECT(lg_guard_copy(room, 5, "four") == 4 && strcmp(room, "four") == 0);
    if (is_survived) {
        EXPECT(lg_guard_copy(room, 3, "four") == 2 && strcmp(room, "fo") == 0);
        EXPECT(lg_guard_copy(room, 4, "a\xe2\x82\xac") == 1 && strcmp(room, "a") == 0);
        EXPECT(lg_guard_copy(room, 5, "a\xe2\x82\xac") == 4 && strcmp(room, "a\xe2\x82\xac") == 0);
        EXPECT(lg_guard_copy(room, 1, "four") == 0 && room[0] == 0);
        room[0] = 'x';
        EXPECT(lg_guard_copy(room, 0, "four") == 0 && room[0] == 'x');
        EXPECT(lg_guard_copy(room, 4, none) == 0 && room[0] == 0);
    } else {
        EXPECT(lg_guard_copy(room, 3, "four") == 4 && strcmp(room, "four") == 0);
    }
    lg_stop(session);
    EXPECT(*events == 2 + 1 + 6 + 1 + (is_survived ? 5 : 1));
}

static void test_values(void **state)
{
    (void)state;
    expect_exit(body_values, "survived", 0);
    *events = 0;
    expect_exit(body_values, NULL, 0);
}

/* ---- UTF-8 ---- */

#define R 0xfffd

/* From the Unicode Standard, section 3.9: its table of well-formed sequences, and its examples of
 * U+FFFD for maximal subparts (tables 3-8 to 3-11 of version 16). */
static const struct {
    const char *bytes;
    uint32_t codes[16]; /* 0 ends them */
} cases[] = {
    { "\x41\xc3\xb1\x42", { 0x41, 0xf1, 0x42 } },
    { "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", { 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff } },
    { "\xed\x9f\xbf\xee\x80\x80", { 0xd7ff, 0xe000 } },
    { "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", { R, R, R, R, R, R, R, R, 0x41 } }, /* too long */
    { "\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", { R, R, R, R, R, R, R, R, 0x41 } }, /* surrogates */
    { "\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", { R, R, R, R, R, 0x41, R, R, 0x42 } }, /* too large */
    { "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", { R, R, R, R, 0x41 } }, /* cut short */
    { "\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", { 0x61, R, R, R, 0x62, R, 0x63, R, R, 0x64 } },
    { "\xc1\xbf", { R, R } },
    { "\xf5\x80\x80\x80", { R, R, R, R } },
    { "\xf8\x88\x80\x80\x80", { R, R, R, R, R } },
    { "\xfe\xff", { R, R } },
    { "\xc2", { R } },
    { "\xe0\xa0", { R } },
    { "\xf0\x90\x80", { R } },
    { "\xe0\x9f\xbf", { R, R, R } },
    { "\xf0\x8f\xbf\xbf", { R, R, R, R } },
    { "\xf4\x90\x80\x80", { R, R, R, R } },
    { "\xc2\x41", { R, 0x41 } },
    { "\xe2\x82\x41", { R, 0x41 } },
    { "\xe2\x82\xac", { 0x20ac } },
};

/* The encoding as the standard defines it, bit by bit. */
static size_t encode(uint32_t code, char *to)
{
    const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t firsts[] = { 0, 0xc0, 0xe0, 0xf0 };
    to[0] = (char)(firsts[more] | code >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return 1 + more;
}

static void body_utf8(void *argument)
{
    const bool is_survived = argument != NULL;
    start_counting(is_survived);
    for (uint32_t code = 0; code <= 0x10ffff; code++)
        if (code < 0xd800 || code > 0xdfff) {
            char bytes[4];
            size_t at = 0, size = encode(code, bytes);
            EXPECT(lg_guard_utf8(bytes, size, &at) == code && at == size);
        }
    EXPECT(*events == 0);
    uint64_t expected = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && is_survived; i++) {
        const size_t size = strlen(cases[i].bytes);
        size_t at = 0, number = 0;
        for (; at < size; number++) {
            const uint32_t code = lg_guard_utf8(cases[i].bytes, size, &at);
            expected += code == R;
            if (code != cases[i].codes[number]) {
                fprintf(stderr, "case %zu, character %zu: U+%04X\n", i, number, code);
                _exit(1);
            }
        }
        EXPECT(cases[i].codes[number] == 0);
    }
    size_t at = 1;
    if (is_survived) {
        EXPECT(lg_guard_utf8("a", 1, &at) == 0 && at == 1);
    } else {
        EXPECT(lg_guard_utf8("a", 1, &at) == 0 && at == 2); /* the NUL after it */
        at = 0;
        EXPECT(lg_guard_utf8("\xc0\xaf", 2, &at) == '/' && at == 2); /* as trusting decoders do */
        expected++;
    }
    lg_stop(session);
    EXPECT(*events == expected + 1);
}

static void test_utf8(void **state)
{
    (void)state;
    expect_exit(body_utf8, "survived", 0);
    *events = 0;
    expect_exit(body_utf8, NULL, 0);
}

/* ---- sites: each place of the program is one ---- */

static uint64_t *places;

static void on_place(const lg_guard_event *event, void *user)
{
    (void)user;
    for (int i = 0; i < 8; i++)
        if (!places[i] || places[i] == event->site) {
            places[i] = event->site;
            break;
        }
}

static NOINLINE void two_places(size_t index)
{
    char array[2] = { 0 };
    EXPECT(!lg_guard_at(array, 2, 1, index));
    EXPECT(!lg_guard_at(array, 2, 1, index + 1));
}

static void body_places(void *argument)
{
    (void)argument;
    session = start_session();
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = LG_GUARD_SURVIVE;
    options.quiet = 1;
    options.on_event = on_place;
    EXPECT(lg_guard_start(session, &options) == LG_OK);
    for (volatile int i = 0; i < 3; i++)
        two_places((size_t)unknown + 2);
    lg_stop(session);
    const uint64_t function = (uint64_t)(uintptr_t)two_places;
    EXPECT(places[0] && places[1] && !places[2]);
    EXPECT(places[0] > function && places[0] < function + 1024);
    EXPECT(places[1] > function && places[1] < function + 1024);
}

static void test_places(void **state)
{
    (void)state;
    places = shared_memory(8 * sizeof *places);
    expect_exit(body_places, NULL, 0);
}

/* ---- not claimed ---- */

/* The guard believes the count. */
static void body_wrong_count(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    char *array = edge(4);
    *(volatile char *)lg_guard_at(array, 5, 1, (size_t)unknown + 4) = 1;
}

static void test_a_wrong_count_is_believed(void **state)
{
    (void)state;
    expect_signal(body_wrong_count, NULL, SIGSEGV);
    assert_false(said("is outside of an array"));
}

static void body_no_string(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    result = (int64_t)strlen(lg_guard_str((const char *)(uintptr_t)(unknown + 8)));
}

static void test_a_wild_string_is_no_string(void **state)
{
    (void)state;
    expect_signal(body_no_string, NULL, SIGSEGV);
    assert_false(said("a string is NULL"));
}

static void body_lost_bits(void *argument)
{
    (void)argument;
    start_counting(true);
    EXPECT(lg_guard_shl_uint32(UINT32_C(0x80000001), 1) == 2);
    EXPECT(lg_guard_shl_int32(1, 31) == INT32_MIN);
    lg_stop(session);
    EXPECT(*events == 0);
}

static void test_a_shift_loses_bits(void **state)
{
    (void)state;
    expect_exit(body_lost_bits, NULL, 0);
}

static int make(void **state)
{
    events = shared_memory(sizeof *events);
    *events = 0;
    return make_state(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make, remove_state)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_index), TEST(test_negative_index), TEST(test_division), TEST(test_quotient), TEST(test_remainder), TEST(test_overflow),
        TEST(test_null), TEST(test_range), TEST(test_bad_utf8), TEST(test_long_string), TEST(test_null_copy),
        TEST(test_results), TEST(test_values), TEST(test_utf8), TEST(test_places),
        TEST(test_a_wrong_count_is_believed), TEST(test_a_wild_string_is_no_string), TEST(test_a_shift_loses_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
