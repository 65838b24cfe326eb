#include <stdio.h>
#include <string.h>

#include "target/target.h"

bool http_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *text = part == PART_FULL ? letter->full : letter->brief;
    size_t bytes = part == PART_FULL ? letter->header.full_bytes : letter->header.brief_bytes;
    struct lg__endpoint parts;
    if (!request_endpoint(LG_TARGET_HTTP, endpoint, &parts, ret_why))
        return false;
    if (snprintf(request->url, sizeof request->url, "%s", endpoint) >= (int)sizeof request->url)
        return request_refuse(ret_why, "the endpoint is too long");
    request->body = request_copy(text, bytes);
    request->bytes = bytes;
    if (!request->body || !request_add_header(&request->headers, "Content-Type: application/json"))
        return request_refuse(ret_why, "no memory");
    return true;
}
