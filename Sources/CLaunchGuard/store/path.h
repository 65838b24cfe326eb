/* The path of the state directory, and which links in it are followed. */
#ifndef LG_STORE_PATH_H
#define LG_STORE_PATH_H

/* Open a directory; the missing ones of the path are made with mode 0700. A link in the path is
 * followed where root or this user owns it. Another user's link is followed only in the middle of
 * the path, and only where the directory above it is not writable by the group or by all: nobody
 * else may have put it there. A descriptor or −1; ELOOP: a link is not followed. */
int lg__path_open(const char *path);

#endif
