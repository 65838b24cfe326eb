/* The credential file: secrets that are in no argument, no log and no report. */
#ifndef AGENT_CREDENTIALS_H
#define AGENT_CREDENTIALS_H

#include "target/target.h"

/* Read the file at `path`; "": there is none. false: it cannot be used, and `ret_why` says why,
 * without a word of its content. */
bool credentials_read(const char *path, struct credentials *ret_credentials, char ret_why[LG__REPORT_ERROR_BYTES]);
void credentials_free(struct credentials *credentials);

#endif
