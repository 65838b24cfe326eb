/* Home directories, which identify a user, in data that leave the machine. */
#ifndef LG_REPORT_HOME_H
#define LG_REPORT_HOME_H

#include <stddef.h>
#include <stdint.h>

#include "launchguard/report.h"

/* Home directories are "/root", that of this process's user, a name in /home, /var/home or
 * /run/user, and one in /media, /run/media or /mnt, or in a folder "home" below these.
 * launchguard/report.h has the function for paths. */

/* Replace each home directory by "~" where a word of the text begins with one, in place. Returns
 * the new size, which is never larger. */
size_t lg__home_hide(char *text, size_t size);

/* Overwrite the names of each home directory by asterisks where one stands in memory. */
void lg__home_blank(uint8_t *bytes, size_t size);

#endif
