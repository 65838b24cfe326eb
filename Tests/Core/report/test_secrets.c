/* Redacted values in texts and in the bytes around a stack pointer are hidden, and nothing else
 * is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launchguard/guard_record.h"
#include "report/secrets.h"

#define ANNOTATION "password"
#define FIELD "token"

enum { MORE = 6 };
static const char *annotation_value, *field_value;
static char more[MORE][16]; /* values of further fields; "": none */

static bool is_cut, is_known = true;

lg_status __wrap_lg_reader_annotations_used(lg_reader *reader, uint64_t *ret);
lg_status __wrap_lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret);
lg_status __wrap_lg_reader_redacted(lg_reader *reader, const char *key);
lg_status __wrap_lg_reader_log(lg_reader *reader, lg_log_info *ret);
lg_status __wrap_lg_reader_log_entry(lg_reader *reader, uint64_t index, lg_log_entry *ret);
lg_status __wrap_lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t number, lg_log_field *ret);
lg_status __wrap_lg_reader_guard(lg_reader *reader, uint32_t index, lg_guard_info *ret);
lg_status __wrap_lg_reader_guard_field(lg_reader *reader, uint32_t index, uint32_t number, lg_guard_field *ret);

lg_status __wrap_lg_reader_annotations_used(lg_reader *reader, uint64_t *ret)
{
    (void)reader;
    *ret = UINT64_C(1) << 3 | UINT64_C(1) << 9;
    return LG_OK;
}

lg_status __wrap_lg_reader_redacted(lg_reader *reader, const char *key)
{
    (void)reader;
    (void)key;
    return is_known ? LG_ERR_NOT_FOUND : LG_ERR_DAMAGED;
}

lg_status __wrap_lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret)
{
    (void)reader;
    *ret = (lg_annotation){ .key = FIELD, .redacted = 1 };
    if (index == 9) /* a key without a value */
        return LG_OK;
    *ret = (lg_annotation){ .key = ANNOTATION, .redacted = 1, .size = (uint32_t)strlen(annotation_value), .cut = is_cut };
    snprintf(ret->value, sizeof ret->value, "%s", annotation_value);
    return LG_OK;
}

lg_status __wrap_lg_reader_log(lg_reader *reader, lg_log_info *ret)
{
    (void)reader;
    *ret = (lg_log_info){ .entries = 1 };
    return LG_OK;
}

lg_status __wrap_lg_reader_log_entry(lg_reader *reader, uint64_t index, lg_log_entry *ret)
{
    (void)reader;
    (void)index;
    *ret = (lg_log_entry){ .field_count = 2 + MORE };
    return LG_OK;
}

/* One that is redacted, and one that is not. */
lg_status __wrap_lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t number, lg_log_field *ret)
{
    const char *value = number > 1 ? more[number - 2] : number ? field_value : "says what the program worked on";
    (void)reader;
    (void)index;
    memset(ret, 0, sizeof *ret);
    snprintf(ret->key, sizeof ret->key, "%s", number ? FIELD : "subject");
    ret->value_size = (uint32_t)snprintf(ret->value, sizeof ret->value, "%s", value);
    return LG_OK;
}

#define GUARD_FIELD "value-in-a-guard-event"

lg_status __wrap_lg_reader_guard(lg_reader *reader, uint32_t index, lg_guard_info *ret)
{
    (void)reader;
    *ret = (lg_guard_info){ .described = 1, .field_count = 1 };
    return index ? LG_ERR_NOT_FOUND : LG_OK;
}

lg_status __wrap_lg_reader_guard_field(lg_reader *reader, uint32_t index, uint32_t number, lg_guard_field *ret)
{
    (void)reader;
    (void)index;
    (void)number;
    *ret = (lg_guard_field){ .key = FIELD, .value = GUARD_FIELD };
    return LG_OK;
}

/* ---- memory ---- */

static void assert_blanked(const char *annotation, const char *field, const char *before, const char *after)
{
    char bytes[256];
    annotation_value = annotation;
    field_value = field;
    struct lg__secrets *secrets = lg__secrets_read(NULL, NULL);
    snprintf(bytes, sizeof bytes, "%s", before);
    assert_true(lg__secrets_memory_blank(secrets, (uint8_t *)bytes, strlen(bytes)));
    assert_string_equal(bytes, after);
    lg__secrets_free(secrets);
}

static void test_memory(void **state)
{
    (void)state;
    assert_blanked("hunter2!", "t0ken-of-a-server", "..hunter2!..t0ken-of-a-server..", "..********..*****************..");
    /* eight bytes in a row of a longer one */
    assert_blanked("-", "t0ken-of-a-server", "of-a-ser|t0ken-o|", "********|t0ken-o|");
    /* the whole of a short one; none of one that is shorter still */
    assert_blanked("abcd", "xyz", "abc abcd abcde xyz", "abc **** ****e xyz");
    /* what is not redacted stays */
    assert_blanked("-", "-", "says what the program worked on", "says what the program worked on");
    assert_blanked("hunter2!", "-", "", "");
    assert_blanked("hunter2!", "-", "h", "h");
}

/* Where it is not known what is redacted, the bytes do not leave the machine. */
static void test_not_known(void **state)
{
    uint8_t bytes[] = "bytes";
    (void)state;
    annotation_value = field_value = "-";
    is_known = false;
    struct lg__secrets *secrets = lg__secrets_read(NULL, NULL);
    is_known = true;
    assert_false(lg__secrets_memory_blank(secrets, bytes, sizeof bytes));
    assert_true(lg__secrets_hides(secrets, "any"));
    lg__secrets_free(secrets);
}

/* ---- texts ---- */

static void assert_text(const char *before, const char *after, bool begins_late)
{
    char *text = strdup(before);
    struct lg__secrets *secrets = lg__secrets_read(NULL, NULL);
    text[lg__secrets_text_hide(secrets, text, strlen(text), begins_late)] = 0;
    assert_string_equal(text, after);
    lg__secrets_free(secrets);
    free(text);
}

static void assert_hidden(const char *annotation, const char *field, const char *before, const char *after)
{
    annotation_value = annotation;
    field_value = field;
    assert_text(before, after, false);
}

static void test_values(void **state)
{
    (void)state;
    assert_hidden("hunter2!", "t0ken-of-a-server", "a hunter2! and xt0ken-of-a-servery", "a *** and x***y");
    assert_hidden("-", "-", "not " GUARD_FIELD ".", "not ***.");
    /* a short one is a value as a word, a shorter one is none */
    assert_hidden("1234", "abc", "pin 1234, 0x12345, 1234: abc", "pin ***, 0x12345, ***: abc");
    assert_hidden("t0ken-of-a-server", "t0ken-of-a-", "t0ken-of-a-client or t0ken-of-a-server", "***client or ***");
    /* overlaps, neighbours, and a value in a value */
    assert_hidden("abcdabcdab", "-", "xabcdabcdabcdabx", "x***x");
    assert_hidden("one-secret", "secret-two", "one-secret-two", "***");
    assert_hidden("one-secret", "two-secret", "one-secrettwo-secret", "***");
    assert_hidden("in the middle", "put in the middle of it", "put in the middle; put in the middle of it", "put ***; ***");
    /* as JSON has it */
    assert_hidden("a \"quoted\" one", "line\none", "{\"x\":\"a \\\"quoted\\\" one\",\"y\":\"line\\none\"}", "{\"x\":\"***\",\"y\":\"***\"}");
    assert_hidden("hunter2!", "t0ken-of-a-server", "", "");
    assert_hidden("hunter2!", "t0ken-of-a-server", "nothing here", "nothing here");
    assert_hidden("caf\xc3\xa9-\xff", "-", "in caf\xc3\xa9-\xff there", "in *** there");
}

static void test_parts_of_values(void **state)
{
    (void)state;
    annotation_value = "t0ken-of-a-server";
    field_value = "-";
    assert_text("cut: t0ken-of-a", "cut: ***", false);
    assert_text("cut: t0ken-o", "cut: t0ken-o", false);
    assert_text("n-of-a-server is what is left", "*** is what is left", true);
    assert_text("a-server is less", "*** is less", true);
    assert_text("-server is less still", "-server is less still", true);
    assert_text("n-of-a-server", "n-of-a-server", false);
    /* a value of which the record has the beginning */
    is_cut = true;
    assert_text("t0ken-of-a-server-and-more, more", "*** more", false);
    is_cut = false;
}

static void test_keys(void **state)
{
    static const char *const texts[][2] = {
        { "token=abc&x=1", "token=***&x=1" }, { "a token=abc b", "a token=*** b" }, { "token = abc b", "token = *** b" },
        { "Token: Basic abc, more", "Token: ***, more" }, { "TOKEN: a b\nc", "TOKEN: ***\nc" }, { "{\"token\":\"a b\",\"x\":1}", "{\"token\":\"***\",\"x\":1}" },
        { "{\"token\": 12345}", "{\"token\": ***}" }, { "{'token': 'a\\'b', 'c'}", "{'token': '***', 'c'}" },
        { "{\\\"token\\\":\\\"a\\\\\\\"b\\\",\\\"x\\\"}", "{\\\"token\\\":\\\"***\\\",\\\"x\\\"}" },
        { "token=\"not closed", "token=\"***" }, { "tokens=abc, mytoken=abc", "tokens=abc, mytoken=abc" }, { "token::read() token", "token::read() token" },
        { "token=", "token=" }, { "token", "token" }, { "token=>x y", "token=>* y" }, { "token:", "token:" }, { "password=1 token=token=2", "password=* token=***" },
        { "auth.token=abc", "auth.token=***" }, { "\\", "\\" }, { "token\\", "token\\" }, { "token=\\", "token=*" },
    };
    (void)state;
    annotation_value = field_value = "-";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_text(texts[i][0], texts[i][1], false);
}

/* ---- by chance: the same as a search for each value at each place ---- */

static bool is_letter(char c)
{
    return c == 'a' || c == 'b';
}

static void hide_simply(const char *text, char *ret_hidden)
{
    const size_t size = strlen(text);
    bool marks[64] = { false };
    for (size_t i = 0; i < MORE; i++) {
        const size_t length = strlen(more[i]);
        for (size_t at = 0; length >= 4 && at < size; at++) {
            const size_t rest = size - at < length ? size - at : length;
            if (memcmp(text + at, more[i], rest) != 0 || (rest < length && rest < 8))
                continue;
            const bool is_in_word = (at && is_letter(text[at]) && is_letter(text[at - 1])) ||
                                    (at + length < size && is_letter(text[at + length - 1]) && is_letter(text[at + length]));
            for (size_t k = 0; k < rest && (length >= 8 || !is_in_word); k++)
                marks[at + k] = true;
        }
    }
    for (size_t at = 0; at < size; at++) {
        if (!marks[at])
            *ret_hidden++ = text[at];
        else if (at == 0 || !marks[at - 1])
            ret_hidden = stpcpy(ret_hidden, "***");
    }
    *ret_hidden = 0;
}

static void test_by_chance(void **state)
{
    static const char letters[] = "aab-";
    uint32_t random = 1;
    char text[64], hidden[256];
    (void)state;
#define NEXT(n) (random = random * 1664525u + 1013904223u, (random >> 16) % (n))
    annotation_value = field_value = "";
    for (unsigned round = 0; round < 100000; round++) {
        memset(more, 0, sizeof more);
        for (unsigned i = 0; i < MORE; i++)
            for (unsigned k = 0, length = NEXT(14); k < length; k++)
                more[i][k] = letters[NEXT(4)];
        const unsigned length = NEXT(40);
        for (unsigned k = 0; k < length; k++)
            text[k] = letters[NEXT(4)];
        text[length] = 0;
        hide_simply(text, hidden);
        assert_text(text, hidden, false);
    }
    memset(more, 0, sizeof more);
#undef NEXT
}

/* A text that is made to be slow takes no time to speak of: without a bound these take minutes. */
static void test_long_texts(void **state)
{
    enum { SIZE = 1 << 20 };
    static const char *const parts[] = { "token=", "token:", "token=\\\"", "a", "aaaaaaaaaaaaaaab" };
    char value[LG_ANNOTATION_VALUE_MAX + 1], *text = malloc(SIZE + 1);
    (void)state;
    memset(value, 'a', sizeof value - 1);
    value[sizeof value - 1] = 0;
    annotation_value = value;
    field_value = "-";
    is_cut = true;
    struct lg__secrets *secrets = lg__secrets_read(NULL, NULL);
    is_cut = false;
    alarm(300);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (size_t at = 0; at < SIZE; at++)
            text[at] = parts[i][at % strlen(parts[i])];
        assert_true(lg__secrets_text_hide(secrets, text, SIZE, true) <= SIZE);
    }
    alarm(0);
    lg__secrets_free(secrets);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory), cmocka_unit_test(test_not_known), cmocka_unit_test(test_values),
        cmocka_unit_test(test_parts_of_values), cmocka_unit_test(test_keys), cmocka_unit_test(test_by_chance), cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests_name("secrets", tests, NULL, NULL);
}
