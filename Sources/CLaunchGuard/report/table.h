/* The table of fields: each field of a report with its place in the values of the reader, and its
 * meaning. The JSON, its schema and the page of fields come from the table. A new field is one
 * line. */
#ifndef LG_REPORT_TABLE_H
#define LG_REPORT_TABLE_H

#include <stddef.h>

#include "report/part.h"

/* How the member of a structure is written. A form with _IF leaves out 0 and "". */
enum lg__form {
    LG__FORM_END,
    LG__FORM_STRING, /* pointer to characters with a NUL; _IF leaves out NULL alone */
    LG__FORM_STRING_IF,
    LG__FORM_TEXT, /* array of characters with a NUL */
    LG__FORM_TEXT_IF,
    LG__FORM_PATH_IF, /* the same; a home directory may become "~" */
    LG__FORM_NUMBER,
    LG__FORM_NUMBER_IF,
    LG__FORM_SIGNED,
    LG__FORM_SIGNED_IF,
    LG__FORM_ADDRESS,
    LG__FORM_ADDRESS_IF,
    LG__FORM_TIME_IF,   /* nanoseconds since 1970 */
    LG__FORM_MOMENT_IF, /* CLOCK_MONOTONIC, as a time of the run */
    LG__FORM_BOOL,
    LG__FORM_TRUE_IF,
    LG__FORM_SIGNAL,
    LG__FORM_SIGNAL_IF,
    LG__FORM_NAME, /* a number that has a name; one without a name is written as a number */
    LG__FORM_NAME_IF,
    LG__FORM_VALUE,  /* a function writes the value */
    LG__FORM_MAY_BE, /* a function writes the value, or nothing */
    LG__FORM_ADDED,
};

/* Whether a field is in a report that leaves the machine (lg_report_options.for_sending). */
enum lg__leaves {
    LG__LEAVES,
    LG__LEAVES_ON_WISH, /* says who the user is: with keep_home */
    LG__LEAVES_IN_DUMP, /* only as a part of a minidump: lg_reader_minidump() */
    LG__LEAVES_NEVER,
};

/* The library leaves out data that only the schema and the page of fields need. */
#ifdef LG_REPORT_TABLE
#define LG__DOCUMENTED(...) __VA_ARGS__
#define LG__DOCUMENT(type_, unit_, sentence_) .type = type_, .unit = unit_, .sentence = sentence_,
#define LG__SENTENCE(sentence) sentence
#else
#define LG__DOCUMENTED(...)
#define LG__DOCUMENT(type_, unit_, sentence_)
#define LG__SENTENCE(sentence) NULL
#endif

/* Names of the numbers from 0 on; NULL: the number has none. */
struct lg__names {
    const char *name;     /* of the type, in the schema */
    const char *sentence; /* LG__SENTENCE() */
    const char *const *names;
    unsigned count;
    /* name for all other numbers; NULL: the number itself; "": they are not written */
    const char *other;
};

struct lg__field {
    const char *name;
    enum lg__form form;
    enum lg__leaves leaves;
    unsigned short at, size; /* of the member */
    const struct lg__names *names;
    void (*value)(struct lg__report *report, const void *of);
    LG__DOCUMENTED(
    /* of a value: name of a shape, of names, or of a plain type; in brackets: a list of it */
    const char *type;
    const char *unit; /* "" without one */
    const char *sentence;)
};

/* An object of the report. */
struct lg__shape {
    const char *name;
    const char *sentence; /* LG__SENTENCE() */
    const struct lg__field *fields; /* the last one is LG__FORM_END */
};

/* A row of the table. `OF` is the structure whose members the rows have. */
#define LG__MEMBER(member) .at = offsetof(OF, member), .size = sizeof(((OF *)NULL)->member)
#define FIELD_THAT(leaves_, form_, name_, member, unit_, sentence_) \
    { .name = name_, .form = LG__FORM_##form_, .leaves = LG__##leaves_, LG__MEMBER(member), LG__DOCUMENT(NULL, unit_, sentence_) }
#define FIELD(...) FIELD_THAT(LEAVES, __VA_ARGS__)
#define STRING(name_, member, type_, sentence_) \
    { .name = name_, .form = LG__FORM_STRING, LG__MEMBER(member), LG__DOCUMENT(type_, "", sentence_) }
#define STRING_IF(name_, member, type_, sentence_) \
    { .name = name_, .form = LG__FORM_STRING_IF, LG__MEMBER(member), LG__DOCUMENT(type_, "", sentence_) }
#define NAMED(name_, member, names_, sentence_) \
    { .name = name_, .form = LG__FORM_NAME, LG__MEMBER(member), .names = names_, LG__DOCUMENT(NULL, "", sentence_) }
#define NAMED_IF(name_, member, names_, sentence_) \
    { .name = name_, .form = LG__FORM_NAME_IF, LG__MEMBER(member), .names = names_, LG__DOCUMENT(NULL, "", sentence_) }
#define VALUE(name_, value_, type_, unit_, sentence_) \
    { .name = name_, .form = LG__FORM_VALUE, .value = value_, LG__DOCUMENT(type_, unit_, sentence_) }
#define MAY_BE_THAT(leaves_, name_, value_, type_, unit_, sentence_) \
    { .name = name_, .form = LG__FORM_MAY_BE, .leaves = LG__##leaves_, .value = value_, LG__DOCUMENT(type_, unit_, sentence_) }
#define MAY_BE(...) MAY_BE_THAT(LEAVES, __VA_ARGS__)
/* A reader of the JSON adds it: it is never written here. */
#define ADDED_THAT(leaves_, name_, type_, sentence_) \
    { .name = name_, .form = LG__FORM_ADDED, .leaves = LG__##leaves_, LG__DOCUMENT(type_, "", sentence_) }
#define ADDED(...) ADDED_THAT(LEAVES_NEVER, __VA_ARGS__)
#define LAST { .form = LG__FORM_END }

/* Write an object whose members are those of the shape. */
void lg__table_object(struct lg__report *report, const struct lg__shape *shape, const void *of);
/* The same without the braces. */
void lg__table_members(struct lg__report *report, const struct lg__shape *shape, const void *of);

void lg__table_signal(struct lg__report *report, int number);

/* Every shape and all names, for generators; the last one is NULL. */
extern const struct lg__shape *const lg__shapes_all[];
extern const struct lg__names *const lg__shapes_names[];

#ifdef LG_REPORT_TABLE
/* The shapes whose objects are lines of their own. */
extern const struct lg__shape *const lg__shapes_lines[];

/* The kinds of a crash that follow from symbols; one that a record can have, too, has no sentence
 * here. The last one has no name. */
struct lg__kind {
    const char *name, *sentence;
};
extern const struct lg__kind lg__kinds_finer[];
#endif

#endif
