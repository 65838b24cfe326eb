/* A report on its way, the request that carries it, and functions for all makers of requests. */
#ifndef AGENT_REQUEST_H
#define AGENT_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "launchguard/delivery.h"
#include "store/endpoint.h"
#include "store/format_report.h"

#define AGENT_NAME "launchguard-agent/" LG_VERSION_STRING

/* PART_WHOLE: both in one. */
enum part { PART_BRIEF, PART_FULL, PART_WHOLE };

/* A report as it is sent. */
struct letter {
    struct lg__report_header header;
    const char *brief; /* header.brief_bytes; whole JSON */
    const char *full;  /* header.full_bytes; JSON, or a minidump where the flags say so */
    const char *via;   /* "agent", "wait" or "tool"; NULL: it becomes a file */
};

struct request {
    char url[LG_ENDPOINT_MAX + 64];
    struct curl_slist *headers; /* of this request, content type included; without credentials */
    char *body;                 /* of malloc() */
    size_t bytes;
};

void request_free(struct request *request);

/* Note the reason for a missing request. Returns false. */
bool request_refuse(char ret_why[LG__REPORT_ERROR_BYTES], const char *why);

/* The parts of the endpoint; false: it cannot be used. */
bool request_endpoint(lg_delivery_target target, const char *text, struct lg__endpoint *ret_endpoint, char ret_why[LG__REPORT_ERROR_BYTES]);

/* Compress the body, and say so in a header. false: it stays as it is, because it would not become
 * smaller, or there is no memory. */
bool request_compress(struct request *request);

/* Append a header. false: no memory, too long, or a line break in it. */
bool request_add_header(struct curl_slist **list, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Two digits for each byte, and a NUL. */
void request_hex(const uint8_t *bytes, size_t size, char *ret_text);
void request_uuid(const uint8_t uuid[16], char ret_text[37]);

/* Bytes in memory of malloc(), and a NUL; NULL: no memory. */
char *request_copy(const char *bytes, size_t size);

#endif
