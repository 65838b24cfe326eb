#include "report/home.h"

#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Home directory of the user of this process, without a slash at its end; "": none. Asked once, and
 * only of the environment and of /etc/passwd, since a name service may be far away. */
static const char *own_home(void)
{
    static char home[PATH_MAX];
    static bool known;
    if (known)
        return home;
    known = true;
    const char *variable = secure_getenv("HOME");
    if (variable && variable[0] == '/') {
        snprintf(home, sizeof home, "%s", variable);
    } else {
        FILE *file = fopen("/etc/passwd", "re");
        for (struct passwd *entry; file && (entry = fgetpwent(file));)
            if (entry->pw_uid == geteuid() && entry->pw_dir && entry->pw_dir[0] == '/') {
                snprintf(home, sizeof home, "%s", entry->pw_dir);
                break;
            }
        if (file)
            fclose(file);
    }
    for (size_t length = strlen(home); length && home[length - 1] == '/'; length--)
        home[length - 1] = 0;
    return home;
}

/* A byte of a name in a text. Any other byte that may follow a path ends the name. */
static bool is_name(char byte)
{
    unsigned char c = (unsigned char)byte;
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c && strchr("._@+-", c));
}

static bool ends_name(const char *text, size_t size, size_t at, bool is_path)
{
    return at >= size || (is_path ? text[at] == '/' : !is_name(text[at]));
}

/* Length of the folder and of a name in it at the start of this text; 0: they are not there. */
static size_t name_in(const char *folder, const char *text, size_t size, bool is_path)
{
    size_t length = strlen(folder);
    if (size <= length || memcmp(text, folder, length) != 0)
        return 0;
    while (length < size && text[length] == '/')
        length++;
    const size_t name = length;
    while (!ends_name(text, size, length, is_path))
        length++;
    return length > name ? length : 0;
}

/* Length of the home directory at the start of this text; 0: there is none. */
static size_t home_at(const char *text, size_t size, bool is_path)
{
    static const char *const folders[] = { "/home/", "/var/home/", "/run/user/" }, *const mounts[] = { "/media/", "/run/media/", "/mnt/" };
    const char *own = own_home();
    size_t length = strlen(own);
    if (length > 1 && size >= length && memcmp(text, own, length) == 0 && ends_name(text, size, length, is_path))
        return length;
    if (size >= 5 && memcmp(text, "/root", 5) == 0 && ends_name(text, size, 5, is_path))
        return 5;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if ((length = name_in(folders[i], text, size, is_path)))
            return length;
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        if (!(length = name_in(mounts[i], text, size, is_path)))
            continue;
        /* homes on the disk */
        for (size_t at = strlen(mounts[i]) - 1; at < size && text[at] == '/';) {
            const size_t home = name_in("/home/", text + at, size - at, is_path);
            if (home)
                return at + home;
            while (!ends_name(text, size, ++at, is_path)) {}
        }
        return length;
    }
    return 0;
}

const char *lg_path_without_home(const char *path, char *buffer, size_t room)
{
    size_t home = home_at(path, strlen(path), true);
    if (!home)
        return path;
    snprintf(buffer, room, "~%s", path + home);
    return buffer;
}

/* A path may begin after this byte; also after an option of one letter, as in "-I/home". */
static bool is_start(const char *text, size_t at)
{
    if (at == 0 || !(is_name(text[at - 1]) || text[at - 1] == '~'))
        return true;
    return at >= 2 && text[at - 2] == '-' && (at == 2 || !is_name(text[at - 3]));
}

size_t lg__home_hide(char *text, size_t size)
{
    size_t used = 0;
    bool start = true;
    for (size_t i = 0; i < size;) {
        /* the old text is at and after `i`, the new text before `used` */
        size_t home = text[i] == '/' && start ? home_at(text + i, size - i, false) : 0;
        text[used++] = home ? '~' : text[i];
        i += home ? home : 1;
        start = is_start(text, used);
    }
    return used;
}

void lg__home_blank(uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    for (size_t i = 0; i < size;) {
        const size_t home = text[i] == '/' && is_start(text, i) ? home_at(text + i, size - i, false) : 0;
        for (size_t k = i; k < i + home; k++)
            if (bytes[k] != '/')
                bytes[k] = '*';
        i += home ? home : 1;
    }
}
