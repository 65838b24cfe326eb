/* The table of fields as JSON: shapes, names and kinds of crash. `test_schema.py` reads it. */
#include <stdio.h>
#include <string.h>

#include "launchguard/record.h"
#include "report/table.h"

static void string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

/* A form without a type of its own has that of its function, or of its names. */
static const char *type_of(const struct lg__field *field)
{
    switch (field->form) {
    case LG__FORM_TEXT:
    case LG__FORM_TEXT_IF:
    case LG__FORM_PATH_IF: return "string";
    case LG__FORM_NUMBER:
    case LG__FORM_NUMBER_IF: return "number";
    case LG__FORM_SIGNED:
    case LG__FORM_SIGNED_IF: return "integer";
    case LG__FORM_ADDRESS:
    case LG__FORM_ADDRESS_IF: return "address";
    case LG__FORM_TIME_IF:
    case LG__FORM_MOMENT_IF: return "time";
    case LG__FORM_BOOL:
    case LG__FORM_TRUE_IF: return "boolean";
    case LG__FORM_SIGNAL:
    case LG__FORM_SIGNAL_IF: return "signal";
    case LG__FORM_NAME:
    case LG__FORM_NAME_IF: return field->names->name;
    case LG__FORM_STRING:
    case LG__FORM_STRING_IF:
    case LG__FORM_VALUE:
    case LG__FORM_MAY_BE:
    case LG__FORM_ADDED:
    case LG__FORM_END: break;
    }
    return field->type;
}

static int is_always(const struct lg__field *field)
{
    if (field->leaves != LG__LEAVES)
        return 0;
    switch (field->form) {
    case LG__FORM_STRING:
    case LG__FORM_TEXT:
    case LG__FORM_NUMBER:
    case LG__FORM_SIGNED:
    case LG__FORM_ADDRESS:
    case LG__FORM_BOOL:
    case LG__FORM_SIGNAL:
    case LG__FORM_NAME:
    case LG__FORM_VALUE: return 1;
    default: return 0;
    }
}

static void write_field(const struct lg__field *field)
{
    static const char *const leaves[] = { [LG__LEAVES] = "always", [LG__LEAVES_ON_WISH] = "on wish", [LG__LEAVES_IN_DUMP] = "in a minidump",
                                          [LG__LEAVES_NEVER] = "never" };
    printf("\n    {\"name\": \"%s\", \"type\": \"%s\", \"unit\": \"%s\", \"always\": %s, \"leaves\": \"%s\", \"sentence\": ", field->name, type_of(field),
           field->unit, is_always(field) ? "true" : "false", leaves[field->leaves]);
    string(field->sentence);
    putchar('}');
}

static const struct lg__kind kinds[] = {
#define KIND(identifier, value, name, what, sentence) { name, sentence },
    LG_CRASH_TABLE(KIND)
#undef KIND
    { NULL, NULL },
};

static const char *sentence_of(const struct lg__kind *kind)
{
    for (const struct lg__kind *of = kinds; !kind->sentence; of++)
        if (strcmp(of->name, kind->name) == 0)
            return of->sentence;
    return kind->sentence;
}

static void write_kinds(const char *key, const struct lg__kind *all)
{
    printf("], \"%s\": [", key);
    for (const struct lg__kind *kind = all; kind->name; kind++) {
        printf("%s\n  {\"name\": \"%s\", \"sentence\": ", kind == all ? "" : ",", kind->name);
        string(sentence_of(kind));
        putchar('}');
    }
}

int main(void)
{
    printf("{\"shapes\": [");
    for (size_t i = 0; lg__shapes_all[i]; i++) {
        const struct lg__shape *shape = lg__shapes_all[i];
        printf("%s\n  {\"name\": \"%s\", \"sentence\": ", i ? "," : "", shape->name);
        string(shape->sentence);
        printf(", \"fields\": [");
        for (const struct lg__field *field = shape->fields; field->form != LG__FORM_END; field++) {
            if (field != shape->fields)
                putchar(',');
            write_field(field);
        }
        printf("]}");
    }
    printf("], \"names\": [");
    for (size_t i = 0; lg__shapes_names[i]; i++) {
        const struct lg__names *names = lg__shapes_names[i];
        printf("%s\n  {\"name\": \"%s\", \"sentence\": ", i ? "," : "", names->name);
        string(names->sentence);
        printf(", \"isOpen\": %s, \"names\": [", names->other ? "false" : "true");
        const char *comma = "";
        for (unsigned j = 0; j < names->count; j++)
            if (names->names[j]) {
                printf("%s\"%s\"", comma, names->names[j]);
                comma = ", ";
            }
        if (names->other && names->other[0])
            printf("%s\"%s\"", comma, names->other);
        printf("]}");
    }
    write_kinds("kinds", kinds);
    write_kinds("finer", lg__kinds_finer);
    printf("], \"lines\": [");
    for (size_t i = 0; lg__shapes_lines[i]; i++)
        printf("%s\"%s\"", i ? ", " : "", lg__shapes_lines[i]->name);
    printf("]}\n");
    return 0;
}
