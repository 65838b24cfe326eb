/* Home directories, which identify a user, in data that leave the machine. */
#ifndef LG_REPORT_HOME_H
#define LG_REPORT_HOME_H

#include <stddef.h>
#include <stdint.h>

/* Replace a home directory at the start of a path by "~". These are "/root", that of this process's
 * user, a name in /home, /var/home or /run/user, and one in /media, /run/media or /mnt, or in a
 * folder "home" below these. The result is in `buffer`, or is `path` itself. */
const char *lg__home_hide_path(const char *path, char *buffer, size_t room);

/* Replace each home directory by "~" where a word of the text begins with one, in place. Returns
 * the new size, which is never larger. */
size_t lg__home_hide(char *text, size_t size);

/* Overwrite the names of each home directory by asterisks where one stands in memory. */
void lg__home_blank(uint8_t *bytes, size_t size);

#endif
