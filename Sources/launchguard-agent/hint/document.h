/* The document of a hint: a small JSON object. */
#ifndef AGENT_DOCUMENT_H
#define AGENT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "store/format_ledger.h"

struct hint_document {
    char app[LG__NAME_BYTES];
    char device[33]; /* as `machineID` of a report; "": all devices */
    lg_hint said;
};

/* Every member must be known, once there, and of its type. Returns NULL, or what is wrong. */
const char *document_parse(const char *text, size_t size, struct hint_document *ret_document);

/* What it asks for, for a person. */
void document_words(const lg_hint *said, char *ret_words, size_t room);

#endif
