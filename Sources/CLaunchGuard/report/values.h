/* Values of a report that need more than the member of a structure. */
#ifndef LG_REPORT_VALUES_H
#define LG_REPORT_VALUES_H

#include "report/table.h"

/* The form of a signal's name with the longest number. */
#define LG__SIGNAL_NAME_BYTES 24u

/* "SIGSEGV". */
const char *lg__values_signal_name(int number, char buffer[LG__SIGNAL_NAME_BYTES]);
/* "SEGV_MAPERR"; NULL: the code has no name. */
const char *lg__values_code_name(int number, int code);
/* What happened, as a noun; "": the signal says it. */
const char *lg__values_what(lg_crash_kind kind);

void lg__values_number(struct lg__report *report, uint64_t number);
void lg__values_kind(struct lg__report *report, lg_crash_kind kind);
/* ISO 8601 of nanoseconds since 1970, in UTC; false for 0. */
#define LG__TIME_BYTES 64u
bool lg__values_time_text(uint64_t wall_ns, char ret_text[LG__TIME_BYTES]);
/* Nothing for 0. */
void lg__values_time(struct lg__report *report, uint64_t wall_ns);
/* The time of a moment on the run's monotonic clock; nothing where it is not known. */
void lg__values_moment(struct lg__report *report, uint64_t monotonic_ns);
/* Every text of the program and of its system, and every path, goes through these: redacted values
 * in it are hidden, and home directories may become "~". */
void lg__values_text(struct lg__report *report, const char *bytes, size_t size);
/* The same of a text that has lost its beginning. */
void lg__values_late_text(struct lg__report *report, const char *bytes, size_t size);
void lg__values_path(struct lg__report *report, const char *path);
/* The same text in memory of malloc(), for what is no JSON. `size`: in and out. NULL: no memory. */
char *lg__values_plain(struct lg__report *report, const char *bytes, size_t *size);
char *lg__values_plain_path(struct lg__report *report, const char *path, size_t *ret_size);
/* Whether home directories become "~". */
bool lg__values_hide_home(const struct lg__report *report);
void lg__values_name(struct lg__report *report, const struct lg__names *names, uint64_t number);

#endif
