#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/slice.h"
#include "target/target.h"

bool http_request(const char *endpoint, const struct letter *letter, enum part part, struct request *request, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const struct lg__report_header *header = &letter->header;
    const char *text = part == PART_FULL ? letter->full + header->full_taken : letter->brief;
    const size_t bytes = part == PART_FULL ? slice_bytes(header) : header->brief_bytes;
    struct lg__endpoint parts;
    if (!request_endpoint(LG_TARGET_HTTP, endpoint, &parts, ret_why))
        return false;
    if (snprintf(request->url, sizeof request->url, "%s", endpoint) >= (int)sizeof request->url)
        return request_refuse(ret_why, "the endpoint is too long");
    request->body = request_copy(text, bytes);
    request->bytes = bytes;
    bool whole = request->body && request_add_header(&request->headers, "Content-Type: application/json");
    if (part == PART_FULL && slice_is_one_of_many(header))
        whole = whole && request_add_header(&request->headers, "Content-Range: bytes %" PRIu32 "-%zu/%" PRIu32, header->full_taken, header->full_taken + bytes - 1, header->full_bytes);
    if (!whole)
        return request_refuse(ret_why, "no memory");
    return true;
}
