#include "target/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void request_free(struct request *request)
{
    curl_slist_free_all(request->headers);
    free(request->body);
    *request = (struct request){ .headers = NULL };
}

void request_hex(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

void request_uuid(const uint8_t uuid[16], char ret_text[37])
{
    static const uint8_t sizes[] = { 4, 2, 2, 2, 6 };
    for (size_t i = 0; i < sizeof sizes; i++) {
        request_hex(uuid, sizes[i], ret_text);
        uuid += sizes[i];
        ret_text += 2 * sizes[i];
        *ret_text++ = i + 1 < sizeof sizes ? '-' : 0;
    }
}

bool request_add_header(struct curl_slist **list, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct curl_slist *more = length > 0 && (size_t)length < sizeof line && !strpbrk(line, "\r\n") ? curl_slist_append(*list, line) : NULL;
    *list = more ? more : *list;
    return more;
}

#define GZIP_WINDOW (15 + 16) /* the largest, and the form of gzip */
#define MEMORY_LEVEL 8

static bool deflate_into(z_stream *stream, const struct request *request, char *packed, size_t room)
{
    stream->next_in = (Bytef *)request->body;
    stream->avail_in = (uInt)request->bytes;
    stream->next_out = (Bytef *)packed;
    stream->avail_out = (uInt)room;
    return deflate(stream, Z_FINISH) == Z_STREAM_END;
}

bool request_compress(struct request *request)
{
    const size_t room = request->bytes;
    z_stream stream = { .zalloc = Z_NULL };
    char *packed = room && room <= UINT32_MAX ? malloc(room) : NULL;
    if (!packed || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(packed);
        return false;
    }
    const bool fits = deflate_into(&stream, request, packed, room) && request_add_header(&request->headers, "Content-Encoding: gzip");
    if (fits) {
        free(request->body);
        request->body = packed;
        request->bytes = stream.total_out;
    } else {
        free(packed);
    }
    deflateEnd(&stream);
    return fits;
}

bool request_refuse(char ret_why[LG__REPORT_ERROR_BYTES], const char *why)
{
    snprintf(ret_why, LG__REPORT_ERROR_BYTES, "%s", why);
    return false;
}

bool request_endpoint(lg_delivery_target target, const char *text, struct lg__endpoint *ret_endpoint, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *wrong = lg__endpoint_parse(target, text, ret_endpoint);
    if (wrong)
        snprintf(ret_why, LG__REPORT_ERROR_BYTES, "the endpoint cannot be used: %s", wrong);
    return !wrong;
}

char *request_copy(const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, bytes, size);
        copy[size] = 0;
    }
    return copy;
}
