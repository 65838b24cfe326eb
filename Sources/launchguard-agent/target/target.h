/* The kinds of servers and their requests. One file a target; nothing here uses the network. */
#ifndef AGENT_TARGET_H
#define AGENT_TARGET_H

#include "policy/fate.h"
#include "store/delivery_config.h"
#include "target/request.h"

/* Lines of the credential file. */
struct credentials {
    char endpoint[LG_ENDPOINT_MAX + 1]; /* replaces that of the configuration; "": none */
    struct curl_slist *headers;         /* "Name: value" */
};

/* Build the request for one part. false: `ret_why` says why it cannot be, for a person; it names no
 * secret. The request's memory is freed by request_free(), also after false. */
bool target_request(const struct lg__delivery_config *config, const struct credentials *credentials, const struct letter *letter, enum part part,
                    struct request *ret_request, char ret_why[LG__REPORT_ERROR_BYTES]);

/* Whether the second part is of the form that the target takes: a minidump, or JSON. */
bool target_takes_second(lg_delivery_target target, uint32_t flags);
/* Whether the servers of that kind take a body in gzip. All endpoints of Sentry do (its developer
 * documentation, "Request Compression"), and a receiver of OTLP/HTTP must. A plain server, and one
 * of minidumps, may not: Crashpad's and Socorro's do, Breakpad's knows no encoding. */
bool target_compresses(const struct lg__delivery_config *config);
/* Bytes of the second part in the next request that has some: all, or a slice. */
uint32_t target_second_bytes(lg_delivery_target target, const struct lg__report_header *header);
/* The request that comes next, by the flags of the report. */
enum part target_part(lg_delivery_target target, uint32_t flags);
/* Flags of a part that was delivered. */
uint32_t target_flags(enum part part);

/* Reads the body of a positive answer. A portal answers as well, with a page of its own: where the
 * kind of server has a form for its answers, only that form is one. `why`: what is wrong. */
enum reply target_reply(lg_delivery_target target, const char *body, size_t bytes, char why[LG__REPORT_ERROR_BYTES]);

/* Headers that every target has: Idempotency-Key, X-Request-Id (both: uuid of the report, with
 * "/full" for the second part, and "/full/OFFSET" for a slice of it),
 * X-LaunchGuard-Part, -Via, -Attempt, -Ordinal, -Fingerprint, -More.
 * NULL: no memory. */
struct curl_slist *target_headers(const struct letter *letter, enum part part);

/* ---- one each ---- */

bool http_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES]);
bool sentry_request(const char *dsn, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES]);
bool otlp_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES]);
bool minidump_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES]);

/* ---- bodies alone, into request->body and request->bytes ---- */

bool sentry_body(const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES]);
bool otlp_body(const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES]);

#endif
