/* One HTTP request at a time, while the agent also waits for other things. Time, memory and the
 * number of connections are bounded, whatever the server does: it follows no redirect, and reads no
 * more of an answer than it needs.
 *
 * Each request has a connection of its own. On one that was used before, libcurl sends a request
 * that got no answer again, at once and uncounted; and what an earlier answer left behind would be
 * taken for the answer. */
#ifndef AGENT_SENDER_H
#define AGENT_SENDER_H

#include <curl/curl.h>

#include "hint/signature.h"
#include "policy/fate.h"
#include "target/target.h"

#define CONNECT_MS 5000L
/* A request takes at most this long, and a second more for so many bytes of its body. */
#define REQUEST_MS 30000L
#define SLOW_BYTES_PER_S 8192L
#define ANSWER_BYTES_MAX (64 * 1024)

struct sender {
    CURLM *multi;
    CURL *easy;              /* NULL: no request is under way */
    struct curl_slist *headers;
    struct request request;
    lg_delivery_target target;
    struct answer answer;
    char body[ANSWER_BYTES_MAX]; /* of the answer */
    size_t body_bytes;
    size_t answer_bytes; /* headers and body */
    char hint[HINT_HEADER_ROOM]; /* the header of the answer; "": none */
    unsigned hints;
    char error[CURL_ERROR_SIZE];
};

bool sender_open(struct sender *ret_sender);
void sender_close(struct sender *sender);

/* Begin a request to such a server; takes over `request`. false: no memory. */
bool sender_begin(struct sender *sender, lg_delivery_target target, struct request *request, const struct credentials *credentials, const char *ca_file);
void sender_cancel(struct sender *sender);

/* Wait for the network and for `others` at most so long, and go on. true: the answer is there, or
 * none will come; `ret_why` says what went wrong, for a person, "" where nothing did. */
bool sender_step(struct sender *sender, struct curl_waitfd *others, unsigned count, int timeout_ms, struct answer *ret_answer,
                 char ret_why[LG__REPORT_ERROR_BYTES]);

#endif
