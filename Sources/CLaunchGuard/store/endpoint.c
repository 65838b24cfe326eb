#include "store/endpoint.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define KEY_MAX 128

static bool has_blank(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return true;
    return false;
}

/* The first bytes of `text` that are all in `set`. */
static bool is_of(const char *set, const char *text, int bytes)
{
    return bytes > 0 && strspn(text, set) >= (size_t)bytes;
}

/* Bytes of the name, without the port; 0: it is none. */
static int name_bytes(const char *host, int bytes)
{
    char address[INET6_ADDRSTRLEN], binary[16];
    if (host[0] != '[') {
        const size_t name = strspn(host, LETTERS "-._~");
        return (int)name <= bytes ? (int)name : 0;
    }
    const char *end = memchr(host, ']', (size_t)bytes);
    const size_t size = end ? (size_t)(end - host) - 1 : sizeof address;
    if (size >= sizeof address)
        return 0;
    memcpy(address, host + 1, size);
    address[size] = 0;
    return inet_pton(AF_INET6, address, binary) == 1 ? (int)size + 2 : 0;
}

static bool is_port(const char *port, int bytes)
{
    const long number = bytes <= 5 && is_of(DIGITS, port, bytes) ? strtol(port, NULL, 10) : 0;
    return number > 0 && number <= UINT16_MAX;
}

static const char *take_project(struct lg__endpoint *endpoint)
{
    const char *slash = strrchr(endpoint->path, '/');
    if (!slash || !is_of(DIGITS, slash + 1, (int)strlen(slash + 1)))
        return "a DSN ends with \"/\" and the number of a project";
    endpoint->project = slash + 1;
    endpoint->path_bytes = (int)(endpoint->project - endpoint->path);
    return is_of(LETTERS "/.-_~", endpoint->path, endpoint->path_bytes) ? NULL : "the path of a DSN has letters and digits alone";
}

const char *lg__endpoint_parse(lg_delivery_target target, const char *text, struct lg__endpoint *ret_endpoint)
{
    struct lg__endpoint endpoint = { .scheme_bytes = strncmp(text, "https://", 8) == 0 ? 5 : 4 };
    if (endpoint.scheme_bytes == 4 && strncmp(text, "http://", 7) != 0)
        return "it does not begin with \"https://\" or \"http://\"";
    if (has_blank(text))
        return "it has a blank or a control character";
    const char *authority = text + endpoint.scheme_bytes + 3;
    const size_t bytes = strcspn(authority, "/?#");
    const char *at = memchr(authority, '@', bytes);
    endpoint.key = authority;
    endpoint.key_bytes = at ? (int)strcspn(authority, ":@") : 0;
    endpoint.host = at ? at + 1 : authority;
    endpoint.path = authority + bytes;
    endpoint.host_bytes = (int)(endpoint.path - endpoint.host);
    if (target != LG_TARGET_SENTRY && at)
        return "it has a user name or a password; put them into a credential_file, as a header";
    if (target == LG_TARGET_SENTRY && (endpoint.key_bytes > KEY_MAX || !is_of(LETTERS "-_", endpoint.key, endpoint.key_bytes)))
        return "it is no DSN of Sentry, \"https://KEY@HOST/PROJECT\": the key is missing, or has other characters than letters and digits";
    const int name = name_bytes(endpoint.host, endpoint.host_bytes);
    if (name == 0)
        return "it names no host";
    if (name < endpoint.host_bytes && (endpoint.host[name] != ':' || !is_port(endpoint.host + name + 1, endpoint.host_bytes - name - 1)))
        return "after the host stands no port, which is a number from 1 to 65535";
    const char *wrong = target == LG_TARGET_SENTRY ? take_project(&endpoint) : NULL;
    *ret_endpoint = endpoint;
    return wrong;
}
