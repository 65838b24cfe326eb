#include "store/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"

#define PATH_BYTES 4096
#define LINKS_MAX 40 /* as the kernel's own limit, path_resolution(7) */

struct walk {
    int at; /* descriptor of the directory reached so far */
    int links;
    char rest[2 * PATH_BYTES]; /* the path from there */
};

static int fail(int file, int error)
{
    if (file >= 0)
        close(file);
    errno = error;
    return -1;
}

static bool may_follow(int above, const struct stat *link, bool is_last)
{
    struct stat info;
    if (link->st_uid == 0 || link->st_uid == geteuid())
        return true;
    return !is_last && fstat(above, &info) == 0 && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

static bool go_to(struct walk *walk, int file)
{
    close(walk->at);
    walk->at = file;
    return file >= 0;
}

/* Put the target of a link before the rest of the path. */
static bool follow(struct walk *walk, int link, const char *after)
{
    char target[PATH_BYTES], whole[sizeof walk->rest];
    ssize_t size = readlinkat(link, "", target, sizeof target);
    if (size <= 0 || size == (ssize_t)sizeof target || ++walk->links > LINKS_MAX) {
        errno = size < 0 ? errno : ELOOP;
        return false;
    }
    int length = snprintf(whole, sizeof whole, "%.*s/%s", (int)size, target, after);
    if (length < 0 || (size_t)length >= sizeof whole) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(walk->rest, whole, (size_t)length + 1);
    return target[0] != '/' || go_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int open_part(int above, const char *name)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    int file = openat(above, name, flags);
    if (file >= 0 || errno != ENOENT || (mkdirat(above, name, 0700) != 0 && errno != EEXIST))
        return file;
    return openat(above, name, flags);
}

/* Follow one part of the path. false: errno says why. */
static bool step(struct walk *walk)
{
    struct stat info;
    char name[PATH_BYTES];
    const char *begin = walk->rest + strspn(walk->rest, "/"), *end = begin + strcspn(begin, "/"), *after = end + strspn(end, "/");
    if ((size_t)(end - begin) >= sizeof name) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(name, begin, (size_t)(end - begin));
    name[end - begin] = 0;
    int file = open_part(walk->at, name);
    if (file < 0)
        return false;
    bool is_link = fstat(file, &info) == 0 && S_ISLNK(info.st_mode), done;
    if (is_link) {
        errno = ELOOP;
        done = may_follow(walk->at, &info, *after == 0) && follow(walk, file, after);
        int error = errno;
        close(file);
        errno = error;
        return done;
    }
    memmove(walk->rest, after, strlen(after) + 1);
    return go_to(walk, file);
}

/* Part by part. */
__attribute__((noinline)) static int open_parts(const char *path)
{
    struct walk walk = { .links = 0 };
    size_t length = strlen(path);
    int file;
    if (length == 0 || length >= PATH_BYTES)
        return fail(-1, length == 0 ? ENOENT : ENAMETOOLONG);
    memcpy(walk.rest, path, length + 1);
    walk.at = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (walk.at >= 0 && walk.rest[strspn(walk.rest, "/")])
        if (!step(&walk))
            return fail(walk.at, errno);
    file = walk.at < 0 ? -1 : openat(walk.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file >= 0 ? (close(walk.at), file) : fail(walk.at, errno);
}

int lg__path_open(const char *path)
{
    const int file = lg__os_open_without_links(path);
    return file >= 0 ? file : open_parts(path);
}
