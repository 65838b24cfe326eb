/* Redacted values in bytes of memory. */
#ifndef LG_REPORT_SECRETS_H
#define LG_REPORT_SECRETS_H

#include "report/part.h"

/* Overwrite by asterisks every eight bytes in a row that are also in a redacted value, and the
 * whole value where it has four to seven bytes. False: the redacted values are not known, and the
 * bytes must not leave the machine. */
bool lg__secrets_blank(struct lg__report *report, uint8_t *bytes, size_t size);

#endif
