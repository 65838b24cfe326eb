#include "target/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool request_refuse(char ret_why[LG__REPORT_ERROR_BYTES], const char *why)
{
    snprintf(ret_why, LG__REPORT_ERROR_BYTES, "%s", why);
    return false;
}

bool request_is_address(const char *endpoint, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *host = strncmp(endpoint, "https://", 8) == 0 ? endpoint + 8 : strncmp(endpoint, "http://", 7) == 0 ? endpoint + 7 : NULL;
    if (!host)
        return request_refuse(ret_why, "the endpoint does not begin with \"https://\" or \"http://\"");
    size_t length = strcspn(host, "/?#");
    if (memchr(host, '@', length))
        return request_refuse(ret_why, "the endpoint holds a user name; put credentials into the credential file");
    if (length == 0 || host[0] == ':')
        return request_refuse(ret_why, "the endpoint names no host");
    for (const char *c = endpoint; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F)
            return request_refuse(ret_why, "the endpoint holds a space or a control character");
    CURLU *parts = curl_url();
    bool is_whole = parts && curl_url_set(parts, CURLUPART_URL, endpoint, 0) == CURLUE_OK;
    curl_url_cleanup(parts);
    return is_whole || request_refuse(ret_why, "the endpoint is no whole address");
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
