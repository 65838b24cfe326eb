/* Redacted values in the bytes around a stack pointer are overwritten, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/secrets.h"

#define ANNOTATION "password"
#define FIELD "token"

static const char *annotation_value, *field_value;

lg_status __wrap_lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret);
lg_status __wrap_lg_reader_log(lg_reader *reader, lg_log_info *ret);
lg_status __wrap_lg_reader_log_entry(lg_reader *reader, uint64_t index, lg_log_entry *ret);
lg_status __wrap_lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t number, lg_log_field *ret);

lg_status __wrap_lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret)
{
    (void)reader;
    if (index != 3)
        return LG_ERR_NOT_FOUND;
    *ret = (lg_annotation){ .key = ANNOTATION, .redacted = 1, .size = (uint32_t)strlen(annotation_value) };
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
    *ret = (lg_log_entry){ .field_count = 2 };
    return LG_OK;
}

/* One that is redacted, and one that is not. */
lg_status __wrap_lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t number, lg_log_field *ret)
{
    const char *value = number ? field_value : "says what the program worked on";
    (void)reader;
    (void)index;
    memset(ret, 0, sizeof *ret);
    snprintf(ret->key, sizeof ret->key, "%s", number ? FIELD : "subject");
    ret->value_size = (uint32_t)snprintf(ret->value, sizeof ret->value, "%s", value);
    return LG_OK;
}

static void assert_blanked(const char *annotation, const char *field, const char *before, const char *after)
{
    static const lg_report_options options = { .size = sizeof options, .left_out = LG_REPORT_BREADCRUMBS };
    char keys[2][64] = { ANNOTATION, FIELD };
    struct lg__report report = { .options = &options, .redacted = keys, .redacted_count = 2, .redacted_known = true };
    char bytes[256];
    annotation_value = annotation;
    field_value = field;
    snprintf(bytes, sizeof bytes, "%s", before);
    assert_true(lg__secrets_blank(&report, (uint8_t *)bytes, strlen(bytes)));
    assert_string_equal(bytes, after);
}

static void test_values(void **state)
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
    struct lg__report report = { .redacted_known = false };
    uint8_t bytes[] = "bytes";
    (void)state;
    assert_false(lg__secrets_blank(&report, bytes, sizeof bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values), cmocka_unit_test(test_not_known) };
    return cmocka_run_group_tests_name("secrets", tests, NULL, NULL);
}
