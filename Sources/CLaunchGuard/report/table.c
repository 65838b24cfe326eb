#include "report/table.h"

#include <string.h>

#include "report/values.h"

static uint64_t unsigned_at(const void *member, size_t size)
{
    uint64_t eight;
    uint32_t four;
    if (size == sizeof eight) {
        memcpy(&eight, member, sizeof eight);
        return eight;
    }
    memcpy(&four, member, sizeof four);
    return four;
}

static int64_t signed_at(const void *member, size_t size)
{
    uint64_t value = unsigned_at(member, size);
    return size == sizeof(int32_t) ? (int32_t)value : (int64_t)value;
}

static void write_string(struct lg__report *report, const struct lg__field *field, const void *member)
{
    const char *string;
    memcpy(&string, member, sizeof string);
    if (string || field->form == LG__FORM_STRING)
        lg__json_string(&report->json, string ? string : "");
}

static void write_text(struct lg__report *report, const struct lg__field *field, const char *text)
{
    if (field->form == LG__FORM_PATH_IF)
        lg__values_path(report, text);
    else
        lg__values_text(report, text, strnlen(text, field->size));
}

static bool stays(const struct lg__report *report, const struct lg__field *field)
{
    return report->options->for_sending && field->leaves != LG__LEAVES && (field->leaves != LG__LEAVES_ON_WISH || !report->options->keep_home);
}

static void write(struct lg__report *report, const struct lg__field *field, const void *of)
{
    struct lg__json *json = &report->json;
    const void *member = (const char *)of + field->at;
    if (stays(report, field))
        return;
    json->key = field->name;
    switch (field->form) {
    case LG__FORM_STRING:
    case LG__FORM_STRING_IF: write_string(report, field, member); break;
    case LG__FORM_TEXT_IF:
    case LG__FORM_PATH_IF:
        if (!*(const char *)member)
            break;
        /* fall through */
    case LG__FORM_TEXT: write_text(report, field, member); break;
    case LG__FORM_NUMBER_IF:
        if (!unsigned_at(member, field->size))
            break;
        /* fall through */
    case LG__FORM_NUMBER: lg__values_number(report, unsigned_at(member, field->size)); break;
    case LG__FORM_SIGNED_IF:
        if (!unsigned_at(member, field->size))
            break;
        /* fall through */
    case LG__FORM_SIGNED: lg__json_signed(json, signed_at(member, field->size)); break;
    case LG__FORM_ADDRESS_IF:
        if (!unsigned_at(member, field->size))
            break;
        /* fall through */
    case LG__FORM_ADDRESS: lg__json_address(json, unsigned_at(member, field->size)); break;
    case LG__FORM_TIME_IF: lg__values_time(report, unsigned_at(member, field->size)); break;
    case LG__FORM_MOMENT_IF: lg__values_moment(report, unsigned_at(member, field->size)); break;
    case LG__FORM_TRUE_IF:
        if (!unsigned_at(member, field->size))
            break;
        /* fall through */
    case LG__FORM_BOOL: lg__json_bool(json, unsigned_at(member, field->size)); break;
    case LG__FORM_SIGNAL_IF:
        if (!unsigned_at(member, field->size))
            break;
        /* fall through */
    case LG__FORM_SIGNAL: lg__table_signal(report, (int)signed_at(member, field->size)); break;
    case LG__FORM_NAME_IF:
        if (!unsigned_at(member, field->size))
            break;
        /* fall through */
    case LG__FORM_NAME: lg__values_name(report, field->names, unsigned_at(member, field->size)); break;
    case LG__FORM_VALUE:
    case LG__FORM_MAY_BE: field->value(report, of); break;
    case LG__FORM_ADDED:
    case LG__FORM_END: break;
    }
}

void lg__table_members(struct lg__report *report, const struct lg__shape *shape, const void *of)
{
    for (const struct lg__field *field = shape->fields; field->form != LG__FORM_END; field++)
        write(report, field, of);
}

void lg__table_object(struct lg__report *report, const struct lg__shape *shape, const void *of)
{
    lg__json_open(&report->json);
    lg__table_members(report, shape, of);
    lg__json_close(&report->json);
}

/* ---- signals ---- */

static void signal_name(struct lg__report *report, const void *of)
{
    char buffer[LG__SIGNAL_NAME_BYTES];
    lg__json_string(&report->json, lg__values_signal_name((int)*(const int64_t *)of, buffer));
}

static void signal_number(struct lg__report *report, const void *of)
{
    lg__json_signed(&report->json, *(const int64_t *)of);
}

static const struct lg__field signal_fields[] = {
    VALUE("number", signal_number, "integer", "", "Its number on the machine of the run."),
    VALUE("name", signal_name, "string", "", "Its name, for example SIGSEGV."),
    LAST,
};
const struct lg__shape lg__shape_signal = { "signal", LG__SENTENCE("A signal."), signal_fields };

void lg__table_signal(struct lg__report *report, int number)
{
    const int64_t of = number;
    lg__table_object(report, &lg__shape_signal, &of);
}
