/* What the files of the targets share. */
#ifndef AGENT_TARGET_PARTS_H
#define AGENT_TARGET_PARTS_H

#include "target.h"

/* Note why there is no request. Returns false. */
bool target_refuse(char ret_why[LG__REPORT_ERROR_BYTES], const char *why);

/* Whether the endpoint is an address without a user name. */
bool target_is_address(const char *endpoint, char ret_why[LG__REPORT_ERROR_BYTES]);

/* Append a header. false: no memory, too long, or a line break in it. */
bool target_add_header(struct curl_slist **list, const char *format, ...) __attribute__((format(printf, 2, 3)));

void target_uuid(const uint8_t uuid[16], char ret_text[37]);

/* Bytes in memory of malloc(), and a NUL; NULL: no memory. */
char *target_copy(const char *bytes, size_t size);

#endif
