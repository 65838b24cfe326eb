#include "send/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 16384

void credentials_free(struct credentials *credentials)
{
    curl_slist_free_all(credentials->headers);
    *credentials = (struct credentials){ .headers = NULL };
}

static bool refuse(char ret_why[LG__REPORT_ERROR_BYTES], const char *why)
{
    snprintf(ret_why, LG__REPORT_ERROR_BYTES, "the credential file %s", why);
    return false;
}

static bool take_line(const char *line, int number, struct credentials *credentials, char ret_why[LG__REPORT_ERROR_BYTES])
{
    const char *colon = strchr(line, ':');
    size_t name = colon ? (size_t)(colon - line) : 0;
    if (!line[0] || line[0] == '#')
        return true;
    if (name == 0 || strcspn(line, " \t") < name) {
        char why[64];
        snprintf(why, sizeof why, "has no \"Name: value\" in line %d", number);
        return refuse(ret_why, why);
    }
    if (name == 8 && strncasecmp(line, "endpoint", 8) == 0) {
        const char *value = colon + 1 + strspn(colon + 1, " \t");
        if (strlen(value) >= sizeof credentials->endpoint)
            return refuse(ret_why, "has an endpoint that is too long");
        memcpy(credentials->endpoint, value, strlen(value) + 1);
        return true;
    }
    struct curl_slist *more = curl_slist_append(credentials->headers, line);
    if (!more)
        return refuse(ret_why, "does not fit into memory");
    credentials->headers = more;
    return true;
}

bool credentials_read(const char *path, struct credentials *ret_credentials, char ret_why[LG__REPORT_ERROR_BYTES])
{
    char text[FILE_MAX + 1];
    struct stat info;
    *ret_credentials = (struct credentials){ .headers = NULL };
    if (!path[0])
        return true;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return refuse(ret_why, errno == ENOENT ? "does not exist" : "cannot be opened by this user");
    bool plain = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    ssize_t size = plain ? read(file, text, sizeof text) : -1;
    close(file);
    if (!plain)
        return refuse(ret_why, "is no regular file");
    if (info.st_mode & 077)
        return refuse(ret_why, "may be read by others; its mode must be 0600");
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return refuse(ret_why, "belongs to another user");
    if (size < 0 || size > FILE_MAX)
        return refuse(ret_why, "is larger than 16 KiB, or cannot be read");
    text[size] = 0;
    int number = 1;
    for (char *line = text; *line; number++) {
        char *end = strchrnul(line, '\n'), *next = *end ? end + 1 : end;
        while (end > line && (end[-1] == '\r' || end[-1] == ' '))
            end--;
        *end = 0;
        if (!take_line(line, number, ret_credentials, ret_why)) {
            explicit_bzero(text, sizeof text);
            credentials_free(ret_credentials);
            return false;
        }
        line = next;
    }
    explicit_bzero(text, sizeof text);
    return true;
}
