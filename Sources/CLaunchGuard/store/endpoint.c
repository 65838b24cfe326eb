#include "store/endpoint.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define KEY_MAX 128

static const char plain[] = DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~/";

/* Whether so many bytes are there, and all are in `set`. */
static bool is_of(const char *set, const char *text, int bytes)
{
    return bytes > 0 && strspn(text, set) >= (size_t)bytes;
}

static bool is_ipv6(const char *bytes, size_t size)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (size >= sizeof text)
        return false;
    memcpy(text, bytes, size);
    text[size] = 0;
    return inet_pton(AF_INET6, text, &address) == 1;
}

/* A name, or an address of IPv6 in brackets; and perhaps a port. */
static bool is_host(const char *host, int bytes)
{
    int end = (int)strspn(host, plain);
    if (host[0] == '[') {
        const char *bracket = memchr(host, ']', (size_t)bytes);
        if (!bracket || !is_ipv6(host + 1, (size_t)(bracket - host - 1)))
            return false;
        end = (int)(bracket - host) + 1;
    }
    const int port = bytes - end - 1; /* bytes of it */
    const char *digits = host + end + 1;
    return end > 0 && bytes > 0 && (port < 0 || (host[end] == ':' && is_of(DIGITS, digits, port) && strtoull(digits, NULL, 10) - 1 < UINT16_MAX));
}

static bool parse(const char *text, bool is_dsn, struct lg__endpoint *endpoint)
{
    endpoint->scheme_bytes = strncmp(text, "https", 5) == 0 ? 5 : 4;
    if (strncmp(text, "http", 4) != 0 || strncmp(text + endpoint->scheme_bytes, "://", 3) != 0)
        return false;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return false;
    endpoint->key = text + endpoint->scheme_bytes + 3;
    endpoint->path = endpoint->key + strcspn(endpoint->key, "/?#");
    const char *at = memchr(endpoint->key, '@', (size_t)(endpoint->path - endpoint->key)), *slash = strrchr(endpoint->path, '/');
    endpoint->host = at ? at + 1 : endpoint->key;
    endpoint->host_bytes = (int)(endpoint->path - endpoint->host);
    if (!is_host(endpoint->host, endpoint->host_bytes))
        return false;
    if (!is_dsn)
        return true;
    if (!at || !slash)
        return false;
    endpoint->key_bytes = (int)strcspn(endpoint->key, ":@");
    endpoint->project = slash + 1;
    endpoint->path_bytes = (int)(slash + 1 - endpoint->path);
    return endpoint->key_bytes <= KEY_MAX && is_of(plain, endpoint->key, endpoint->key_bytes) && is_of(plain, endpoint->path, endpoint->path_bytes) &&
           is_of(DIGITS, endpoint->project, (int)strlen(endpoint->project));
}

const char *lg__endpoint_parse(lg_delivery_target target, const char *text, struct lg__endpoint *ret_endpoint)
{
    const bool is_dsn = target == LG_TARGET_SENTRY, is_whole = parse(text, is_dsn, ret_endpoint);
    if (!is_whole)
        return is_dsn ? "it is no DSN of Sentry, which has the form \"https://KEY@HOST/PROJECT\"; the project is a number"
                      : "it is no address, which has the form \"https://HOST[:PORT]/PATH\" or \"http://…\", without blanks";
    if (!is_dsn && ret_endpoint->host != ret_endpoint->key)
        return "it has a user name or a password; put them into a credential_file, as a header";
    return NULL;
}
