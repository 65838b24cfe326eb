/* A mapped file: created without surprises, preallocated, locked, and healed when its file is cut
 * under it. */
#ifndef LG_STORE_MAP_H
#define LG_STORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/problem.h"

struct lg__map {
    void *base; /* page-aligned */
    size_t size;
    int file; /* holds the lock; −1: anonymous memory */
    uint64_t identity; /* of the file: its number may have become one of the program */
};

/* Open a directory of ours, creating it (0700) with its missing parents. Own uid; links in its path
 * as in path.h. Returns a descriptor or −1 with the problem noted. */
int lg__map_directory(const char *path, struct lg__problem *problem);

/* The same for one directory inside another, which is not a link. `ret_identity`: that of the file;
 * may be NULL. */
int lg__map_subdirectory(int parent, const char *name, const char *path, uint64_t *ret_identity, struct lg__problem *problem);

/* Create a file of `size` zero bytes (0600), preallocated, mapped and locked. `path` is for
 * messages only. */
lg_status lg__map_create(int directory, const char *name, const char *path, size_t size, struct lg__map *ret_map,
                         struct lg__problem *problem);

/* The same from a spare file or that of an ended run, which costs less than a new one. Its content
 * is made zero, the magic first, and its name becomes `name`. `size` is the file's own. false: the
 * file is not there, another process holds it, somebody reads it, or it is not to be used; one that
 * cannot be used, or has lost its magic, loses its name then. Nobody can read the file until
 * lg__map_show(). */
bool lg__map_recycle(int directory, const char *ended, const char *name, size_t size, struct lg__map *ret_map);

/* Give a file a second name, for lg__map_recycle() once that is its only one and its process has
 * ended. Nothing happens where something has that name. */
void lg__map_set_aside(const char *path, const char *spare);

/* The file has its header: let readers open it. */
void lg__map_show(const struct lg__map *map);

/* Give the empty blocks back, in large pieces, at the end of the run. A later write gets new
 * blocks, or the page is healed where there are none. */
void lg__map_trim(const struct lg__map *map);

/* The same for the file of a process that has ended, also of small pieces. */
void lg__map_trim_ended(int directory, const char *name);

/* Map an open file with that identity. */
lg_status lg__map_file(int file, uint64_t identity, const char *path, size_t size, struct lg__map *ret_map, struct lg__problem *problem);

/* Memory that behaves like a mapped file, for a session without files. false: no memory. */
bool lg__map_anonymous(size_t size, struct lg__map *ret_map);
void lg__map_free(const struct lg__map *anonymous);

/* Try to take the write lock of a file for its open file description; released when the process
 * ends. */
bool lg__map_lock(int file);

/* True if another process holds the lock. */
bool lg__map_locked(int file);

/* flock() a file or a folder, with some patience; false: another process keeps the lock. */
bool lg__map_flock(int file, int how);

/* An address lies in a mapped file of ours. Handler. */
bool lg__map_holds(const void *address);

/* The page of the kernel with an address, in a mapping; NULL: the address is outside. Handler. */
uint8_t *lg__map_page_of(uint8_t *base, size_t size, size_t page_bytes, const void *address);

/* A SIGBUS at this address: if it lies in a mapped file of ours, replace its page by memory and
 * return true: the access can be repeated. Counts into `healed` below. Handler. */
bool lg__map_heal(const void *address);

/* Pages healed so far in this process. Handler. */
unsigned lg__map_healed(void);

/* In a forked child: let go of the parent's files. The addresses stay valid, their content becomes
 * private zeros. */
void lg__map_abandon(struct lg__map *map);

#endif
