#include "store/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/digest.h"
#include "store/path.h"
#include "store/write_all.h"

#define OVER ".over"
#define FOLDER_BYTES (3 * 64 + sizeof OVER)

/* The folder of a context: a byte that might mean something in a path becomes %XX. */
static void folder_name(const char *context, char ret_name[FOLDER_BYTES])
{
    char *to = ret_name;
    for (const char *from = context; *from && to < ret_name + 3 * 63; from++) {
        const bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') || (*from >= '0' && *from <= '9') || *from == '-' || *from == '_';
        if (plain)
            *to++ = *from;
        else
            to += sprintf(to, "%%%02X", (unsigned char)*from);
    }
    *to = 0;
}

static int open_folder(const char *state_directory, const char *context, bool make)
{
    char name[FOLDER_BYTES];
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int state = lg__path_open(state_directory);
    if (state < 0)
        return -1;
    if (make)
        mkdirat(state, "kept", 0700);
    int kept = openat(state, "kept", flags);
    close(state);
    if (kept < 0)
        return -1;
    folder_name(context, name);
    if (make)
        mkdirat(kept, name, 0700);
    int folder = openat(kept, name, flags);
    close(kept);
    return folder;
}

/* ---- one file ---- */

struct names {
    char data[40], about[40];
};

static struct names names_of(const char *path)
{
    static const uint8_t key[16] = "LG kept path 1";
    uint8_t digest[16];
    struct names names;
    lg__digest_keyed(key, path, strlen(path), digest);
    for (int i = 0; i < 16; i++)
        sprintf(names.data + 2 * i, "%02x", digest[i]);
    memcpy(names.about, names.data, 33);
    strcat(names.data, ".data");
    strcat(names.about, ".about");
    return names;
}

static uint32_t crc_of(const struct lg__kept *kept)
{
    return lg__crc32c(0, (const char *)kept + offsetof(struct lg__kept, kind), sizeof *kept - offsetof(struct lg__kept, kind));
}

/* The copy shares its blocks with the original where the file system can. */
static bool copy_data(int from, int to)
{
    char block[16384];
    if (ioctl(to, FICLONE, from) == 0)
        return fdatasync(to) == 0;
    for (;;) {
        ssize_t got = read(from, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || (got > 0 && !lg__write_all(to, block, (size_t)got)))
            return false;
        if (got == 0)
            return fdatasync(to) == 0;
    }
}

/* A new file, in place of one that an earlier call left half made. */
static int make_anew(int folder, const char *name)
{
    unlinkat(folder, name, 0);
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool is_kept(int folder, const char *path)
{
    return faccessat(folder, names_of(path).about, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool keep_data(int folder, const char *name, const char *path, uint64_t *ret_size)
{
    struct stat is;
    int from = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), to = from < 0 ? -1 : make_anew(folder, name);
    LG_FAULT_POINT("kept: copy begins");
    bool good = to >= 0 && copy_data(from, to) && fstat(to, &is) == 0;
    if (good)
        *ret_size = (uint64_t)is.st_size;
    const int error = errno;
    if (to >= 0) {
        close(to);
        if (!good)
            unlinkat(folder, name, 0); /* a full disk needs the space */
    }
    if (from >= 0)
        close(from);
    errno = error;
    return good;
}

/* `is`: NULL where nothing is there. */
static bool keep_one(int folder, const char *path, const struct stat *is)
{
    const struct names names = names_of(path);
    struct lg__kept kept;
    memset(&kept, 0, sizeof kept);
    memcpy(kept.magic, LG__KEPT_MAGIC, sizeof kept.magic);
    kept.kind = !is ? LG_KEPT_ABSENT : S_ISDIR(is->st_mode) ? LG_KEPT_DIRECTORY : LG_KEPT_FILE;
    kept.wall_ns = lg__os_clock_ns(CLOCK_REALTIME);
    strcpy(kept.path, path);
    if (is) {
        kept.mode = is->st_mode & 07777;
        kept.uid = is->st_uid;
        kept.gid = is->st_gid;
        kept.mtime_ns = (uint64_t)is->st_mtim.tv_sec * 1000000000u + (uint64_t)is->st_mtim.tv_nsec;
    }
    if (kept.kind == LG_KEPT_FILE && !keep_data(folder, names.data, path, &kept.size))
        return false;
    kept.crc = crc_of(&kept);
    LG_FAULT_POINT("kept: copied");
    int about = make_anew(folder, "new");
    LG_FAULT_POINT("kept: description begins");
    bool good = about >= 0 && lg__write_all(about, &kept, sizeof kept) && fdatasync(about) == 0;
    if (about >= 0)
        close(about);
    LG_FAULT_POINT("kept: described");
    return good && renameat(folder, "new", folder, names.about) == 0 && fsync(folder) == 0;
}

/* ---- a file or a directory ---- */

struct walk {
    uint64_t bytes;
    uint32_t count;
    bool too_deep;
};

/* Measure, or copy where `folder` is not −1: what is not kept yet. */
static bool walk_path(struct walk *walk, int folder, const char *path, unsigned depth)
{
    struct stat is;
    if (lstat(path, &is) != 0)
        return errno == ENOENT && (depth > 0 || folder < 0 || is_kept(folder, path) || keep_one(folder, path, NULL));
    if (!S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
        return true;
    walk->count++;
    walk->bytes += S_ISREG(is.st_mode) ? (uint64_t)is.st_size : 0;
    walk->too_deep = walk->too_deep || depth > LG__KEPT_DEPTH;
    if (walk->too_deep || walk->count > LG__KEPT_MOST)
        return true;
    if (folder >= 0 && !is_kept(folder, path) && !keep_one(folder, path, &is))
        return false;
    DIR *list = S_ISDIR(is.st_mode) ? opendir(path) : NULL;
    if (!list)
        return S_ISREG(is.st_mode);
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(list));) {
        char below[LG__KEPT_PATH_BYTES];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const int size = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        good = size < (int)sizeof below ? walk_path(walk, folder, below, depth + 1) : (errno = ENAMETOOLONG, false);
    }
    closedir(list);
    return good;
}

/* The path without links, whose last part need not be there. */
static bool find_path(const char *path, char ret_path[PATH_MAX])
{
    char above[PATH_MAX];
    if (realpath(path, ret_path))
        return true;
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if (errno != ENOENT || !*last || strlen(path) >= sizeof above)
        return false;
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    if (!realpath(above, ret_path) || strlen(ret_path) + strlen(last) + 2 > LG__KEPT_PATH_BYTES)
        return false;
    strcat(strcmp(ret_path, "/") == 0 ? ret_path : strcat(ret_path, "/"), last);
    return true;
}

static void add_size(const struct lg__kept *kept, void *walk)
{
    ((struct walk *)walk)->bytes += kept->size;
    ((struct walk *)walk)->count++;
}

lg_status lg__kept_add(const char *state_directory, const char *context, const char *path, uint64_t most_bytes)
{
    char found[PATH_MAX];
    struct walk before = { 0 }, more = { 0 }, made = { 0 };
    struct statvfs space;
    if (!find_path(path, found))
        return LG_ERR_SYSTEM;
    lg__crc32c_init();
    int folder = open_folder(state_directory, context, true);
    lg_status status = folder >= 0 && walk_path(&more, -1, found, 0) && fstatvfs(folder, &space) == 0 ? LG_OK : LG_ERR_SYSTEM;
    if (status == LG_OK) {
        lg__kept_visit(state_directory, context, add_size, &before);
        const uint64_t share = (uint64_t)space.f_bavail * space.f_frsize / LG__KEPT_SHARE;
        if (more.too_deep || before.count + more.count > LG__KEPT_MOST || before.bytes + more.bytes > most_bytes || more.bytes > share)
            status = LG_ERR_LIMIT;
    }
    if (status == LG_OK && !walk_path(&made, folder, found, 0))
        status = LG_ERR_SYSTEM;
    const int error = errno;
    if (folder >= 0)
        close(folder);
    errno = error;
    return status;
}

/* ---- what there is ---- */

static bool read_about(int folder, const char *name, struct lg__kept *ret_kept)
{
    struct stat is;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    bool good = fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_uid == geteuid() && read(file, ret_kept, sizeof *ret_kept) == (ssize_t)sizeof *ret_kept;
    close(file);
    return good && memcmp(ret_kept->magic, LG__KEPT_MAGIC, sizeof ret_kept->magic) == 0 && crc_of(ret_kept) == ret_kept->crc &&
           ret_kept->path[0] == '/' && memchr(ret_kept->path, 0, sizeof ret_kept->path) && ret_kept->kind >= LG_KEPT_FILE && ret_kept->kind <= LG_KEPT_ABSENT;
}

/* Each of them that can be read. LG_ERR_NOT_FOUND: there is none. */
static lg_status each(int folder, void (*visit)(const struct lg__kept *kept, void *user), void *user)
{
    struct lg__kept kept;
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    bool any = false;
    if (!list && copy >= 0)
        close(copy);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".about") != 0 || !read_about(folder, entry->d_name, &kept))
            continue;
        any = true;
        visit(&kept, user);
    }
    if (list)
        closedir(list);
    return any ? LG_OK : LG_ERR_NOT_FOUND;
}

lg_status lg__kept_visit(const char *state_directory, const char *context, void (*visit)(const struct lg__kept *kept, void *user), void *user)
{
    lg__crc32c_init();
    int folder = open_folder(state_directory, context, false);
    if (folder < 0)
        return errno == ENOENT ? LG_ERR_NOT_FOUND : LG_ERR_SYSTEM;
    lg_status status = each(folder, visit, user);
    close(folder);
    return status;
}

/* ---- putting back ---- */

struct back {
    int folder;
    uint32_t count;
    int error; /* errno of the first that failed; 0: none did */
};

static void note_result(struct back *back, bool good)
{
    if (good)
        back->count++;
    else if (!back->error)
        back->error = errno ? errno : EIO;
}

static void make_directories(const char *path)
{
    char part[LG__KEPT_PATH_BYTES];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(part, 0700);
        *slash = '/';
    }
}

/* Beside its place first, so that the place has the old file or the whole new one. */
static bool put_file(int folder, const struct lg__kept *kept)
{
    char beside[LG__KEPT_PATH_BYTES + 24];
    struct stat is;
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { (time_t)(kept->mtime_ns / 1000000000u), (long)(kept->mtime_ns % 1000000000u) } };
    snprintf(beside, sizeof beside, "%s.launchguard-undo", kept->path);
    make_directories(kept->path);
    int from = openat(folder, names_of(kept->path).data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), to = from < 0 ? -1 : make_anew(AT_FDCWD, beside);
    bool good = to >= 0 && fstat(from, &is) == 0 && (uint64_t)is.st_size == kept->size && copy_data(from, to) && fchmod(to, kept->mode) == 0;
    if (good && (fchown(to, kept->uid, kept->gid) != 0 || futimens(to, times) != 0))
        errno = 0; /* the content is what counts */
    LG_FAULT_POINT("kept: beside its place");
    good = good && rename(beside, kept->path) == 0;
    LG_FAULT_POINT("kept: back");
    const int error = errno;
    if (to >= 0) {
        close(to);
        if (!good)
            unlink(beside);
    }
    if (from >= 0)
        close(from);
    errno = error;
    return good;
}

static void put_back(const struct lg__kept *kept, void *user)
{
    struct back *back = user;
    errno = 0;
    if (kept->kind == LG_KEPT_FILE)
        note_result(back, put_file(back->folder, kept));
    else if (kept->kind == LG_KEPT_ABSENT)
        note_result(back, unlink(kept->path) == 0 || errno == ENOENT);
}

static void put_directory_back(const struct lg__kept *kept, void *user)
{
    if (kept->kind != LG_KEPT_DIRECTORY)
        return;
    make_directories(kept->path);
    mkdir(kept->path, 0700);
    note_result(user, chmod(kept->path, kept->mode) == 0);
}

lg_status lg__kept_put_back(const char *state_directory, const char *context, uint32_t *ret_count)
{
    struct back back = { .folder = open_folder(state_directory, context, false) };
    struct stat is;
    lg_status status = LG_OK;
    *ret_count = 0;
    lg__crc32c_init();
    if (back.folder < 0)
        return errno == ENOENT ? LG_ERR_NOT_FOUND : LG_ERR_SYSTEM;
    if (fstat(back.folder, &is) != 0)
        status = LG_ERR_SYSTEM;
    else if (is.st_uid != geteuid()) /* its paths are that user's word */
        status = LG_ERR_OWNER;
    else if ((status = each(back.folder, put_back, &back)) == LG_OK)
        each(back.folder, put_directory_back, &back); /* a mode may forbid what came before */
    close(back.folder);
    *ret_count = back.count;
    if (status == LG_OK && back.error) {
        errno = back.error;
        return LG_ERR_SYSTEM;
    }
    return status;
}

/* ---- the end ---- */

static int open_kept(const char *state_directory)
{
    char path[LG__KEPT_PATH_BYTES + 8];
    snprintf(path, sizeof path, "%s/kept", state_directory);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void lg__kept_over(const char *state_directory, const char *context)
{
    char name[FOLDER_BYTES], over[FOLDER_BYTES + sizeof OVER];
    int kept = open_kept(state_directory);
    if (kept < 0)
        return;
    folder_name(context, name);
    snprintf(over, sizeof over, "%s" OVER, name);
    renameat(kept, name, kept, over);
    close(kept);
}

static void remove_folder(int kept, const char *name)
{
    int folder = openat(kept, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = folder < 0 ? NULL : fdopendir(folder);
    if (!list && folder >= 0)
        close(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(folder, entry->d_name, 0);
    if (list)
        closedir(list);
    unlinkat(kept, name, AT_REMOVEDIR);
}

bool lg__kept_purge(const char *state_directory)
{
    int kept = open_kept(state_directory);
    DIR *list = kept < 0 ? NULL : fdopendir(kept);
    if (!list && kept >= 0)
        close(kept);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && dot != entry->d_name && strcmp(dot, OVER) == 0)
            remove_folder(kept, entry->d_name);
    }
    if (list)
        closedir(list);
    return kept >= 0;
}
