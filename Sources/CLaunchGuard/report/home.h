/* Home directories, which identify a user, in data that leave the machine. */
#ifndef LG_REPORT_HOME_H
#define LG_REPORT_HOME_H

#include <stddef.h>

/* Replace a home directory at the start of a path by "~": "/home/NAME", "/root", "/var/home/NAME",
 * and the home directory of this process's user. The result is in `buffer`, or is `path` itself. */
const char *lg__home_hide_path(const char *path, char *buffer, size_t room);

/* Replace each home directory by "~" where a word of the text begins with one, in place. Returns
 * the new size, which is never larger. */
size_t lg__home_hide(char *text, size_t size);

#endif
