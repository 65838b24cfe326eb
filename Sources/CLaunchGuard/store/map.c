#include "store/map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/path.h"

/* Maps that may be healed. Written at start, read in the handler. */
#define HEALABLE_MAX 4
static struct {
    _Atomic(uint8_t *) base;
    _Atomic size_t size;
} healable[HEALABLE_MAX] LG__SMALL;
static _Atomic size_t page_size LG__SMALL; /* of the kernel */
static _Atomic unsigned healed_pages;

static void heal_register(const struct lg__map *map)
{
    atomic_store(&page_size, lg__os_page_size());
    for (int i = 0; i < HEALABLE_MAX; i++) {
        uint8_t *none = NULL;
        if (atomic_compare_exchange_strong(&healable[i].base, &none, map->base)) {
            atomic_store(&healable[i].size, map->size);
            return;
        }
    }
}

static void heal_forget(const struct lg__map *map)
{
    for (int i = 0; i < HEALABLE_MAX; i++)
        if (atomic_load(&healable[i].base) == map->base) {
            atomic_store(&healable[i].size, 0);
            atomic_store(&healable[i].base, NULL);
        }
}

uint8_t *lg__map_page_of(uint8_t *base, size_t size, size_t page_bytes, const void *address)
{
    const uintptr_t first = (uintptr_t)base, at = (uintptr_t)address;
    return base && at >= first && at - first < size ? base + ((at - first) & ~(uintptr_t)(page_bytes - 1)) : NULL;
}

/* The page of an address in one of them; NULL: it is in none. */
static uint8_t *healable_page(const void *address)
{
    for (int i = 0; i < HEALABLE_MAX; i++) {
        uint8_t *base = atomic_load(&healable[i].base);
        /* the size is set later, and cleared sooner */
        uint8_t *page = lg__map_page_of(base, atomic_load(&healable[i].size), atomic_load(&page_size), address);
        if (page)
            return page;
    }
    return NULL;
}

bool lg__map_holds(const void *address)
{
    return healable_page(address) != NULL;
}

bool lg__map_heal(const void *address)
{
    uint8_t *page = healable_page(address);
    if (!page || lg__os_pages_replace(page, atomic_load(&page_size), PROT_READ | PROT_WRITE) != 0)
        return false;
    atomic_fetch_add(&healed_pages, 1);
    return true;
}

unsigned lg__map_healed(void)
{
    return atomic_load_explicit(&healed_pages, memory_order_relaxed);
}

/* A descriptor for a directory of ours or −1. */
static int check_directory(int file, const char *path, bool is_link_refused, uint64_t *ret_identity, struct lg__problem *problem)
{
    struct stat info;
    if (file < 0) {
        int error = errno;
        lg_status status = lg__problem_from_errno(error);
        /* O_DIRECTORY|O_NOFOLLOW reports a link as ENOTDIR; keep the two apart. */
        if (is_link_refused && error == ENOTDIR && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            status = LG_ERR_LINK;
        lg__problem_set(problem, status, path, error);
        return -1;
    }
    if (fstat(file, &info) != 0) {
        lg__problem_set(problem, LG_ERR_SYSTEM, path, errno);
    } else if (info.st_uid != geteuid()) {
        lg__problem_set(problem, LG_ERR_OWNER, path, 0);
    } else {
        if (ret_identity)
            *ret_identity = lg__os_identity(info.st_dev, info.st_ino);
        return lg__os_file_beyond(file);
    }
    close(file);
    return -1;
}

int lg__map_directory(const char *path, struct lg__problem *problem)
{
    return check_directory(lg__path_open(path), path, false, NULL, problem);
}

int lg__map_subdirectory(int parent, const char *name, const char *path, uint64_t *ret_identity, struct lg__problem *problem)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int file = openat(parent, name, flags);
    if (file < 0 && errno == ENOENT) {
        if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST) {
            lg__problem_set(problem, lg__problem_from_errno(errno), path, errno);
            return -1;
        }
        file = openat(parent, name, flags);
    }
    return check_directory(file, path, true, ret_identity, problem);
}

/* The return of a piece costs about 65 µs (ext4), whatever its size is: smaller ones stay. */
#define TRIM_MIN ((off_t)96 << 10)

/* posix_fallocate with SIGXFSZ held back: a file size limit is then an error code, not the end of
 * the program. */
static int preallocate(int file, size_t size)
{
    const uint64_t before = lg__os_signals_blocked();
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    lg__os_signal_block(SIGXFSZ, true);
    int error = posix_fallocate(file, 0, (off_t)size);
    if (error == EFBIG && !(before >> (SIGXFSZ - 1) & 1)) {
        const struct timespec at_once = { 0, 0 };
        while (sigtimedwait(&limit, NULL, &at_once) == SIGXFSZ) {}
    }
    lg__os_signals_set(before);
    return error;
}

lg_status lg__map_create(int directory, const char *name, const char *path, size_t size, struct lg__map *ret_map,
                         struct lg__problem *problem)
{
    int file = lg__os_file_beyond(openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file < 0)
        return lg__problem_set(problem, lg__problem_from_errno(errno), path, errno);
    /* Locked before it has a size, so that no process takes it for the file of an ended run. */
    lg__map_lock(file);
    int error = preallocate(file, size);
    lg_status status = error ? lg__problem_set(problem, lg__problem_from_errno(error), path, error)
                             : lg__map_file(file, lg__os_file_identity(file), path, size, ret_map, problem);
    /* To read ahead at each first touch would cost the start several times what the touch does. */
    if (status == LG_OK)
        madvise(ret_map->base, size, MADV_RANDOM);
    if (status != LG_OK) {
        unlinkat(directory, name, 0);
        close(file);
    }
    return status;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

#define PIECE_SMALL ((size_t)4 * LG__PAGE)

static bool holds_nothing(int file, off_t from, off_t to)
{
    uint8_t bytes[LG__PAGE];
    for (off_t at = from; at < to; at += LG__PAGE) {
        const size_t size = to - at < LG__PAGE ? (size_t)(to - at) : LG__PAGE;
        if (pread(file, bytes, size, at) != (ssize_t)size || !is_zero(bytes, size))
            return false;
    }
    return true;
}

/* Give back the pieces of at least so many bytes that hold nothing. A small piece between two holes
 * may hold nothing: a reader saw it as part of a hole, and it counts as data since then. */
static void give_back(int file, off_t size, off_t least)
{
    off_t from = lseek(file, 0, SEEK_HOLE), at = from;
    while (from >= 0 && from < size) {
        off_t to = lseek(file, at, SEEK_DATA);
        to = to < 0 || to > size ? size : to; /* the last hole */
        off_t next = to < size ? lseek(file, to, SEEK_HOLE) : size;
        next = next < 0 ? size : next;
        if (to < size && next - to <= (off_t)PIECE_SMALL && holds_nothing(file, to, next)) {
            at = next;
            continue;
        }
        LG_FAULT_POINT("map: hole found");
        if (to - from >= least)
            fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
        from = at = next;
    }
}

void lg__map_trim(const struct lg__map *map)
{
    /* the number may have become one of the program */
    if (map->file >= 0 && lg__os_file_identity(map->file) == map->identity)
        give_back(map->file, (off_t)map->size, TRIM_MIN);
}

void lg__map_trim_ended(int directory, const char *name)
{
    struct stat info;
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && !lg__map_locked(file))
        give_back(file, info.st_size, LG__PAGE);
    close(file);
}

/* A file with more used bytes is deleted, as clearing it would take too long. */
#define CLEAR_MAX ((size_t)1 << 20)

/* A small piece is what every life writes. In a larger one, pages that hold nothing stay as they
 * are: each page that is written costs more than the look at it, and a write to the disk later. */
static void clear_piece(const struct lg__map *map, size_t from, size_t to)
{
    const bool is_small = to - from <= PIECE_SMALL;
    for (size_t at = from; at < to; at += LG__PAGE) {
        const size_t end = to - at < LG__PAGE ? to : at + LG__PAGE;
        if (is_small || !holds_nothing(map->file, (off_t)at, (off_t)end))
            memset((uint8_t *)map->base + at, 0, end - at);
    }
}

/* Make all content zero. */
static bool clear(const struct lg__map *map)
{
    size_t total = 0;
    off_t from = lseek(map->file, 0, SEEK_DATA), to = 0;
    for (; from >= 0 && (size_t)from < map->size; from = lseek(map->file, to, SEEK_DATA)) {
        to = lseek(map->file, from, SEEK_HOLE);
        if (to <= from)
            return false;
        size_t size = ((size_t)to < map->size ? (size_t)to : map->size) - (size_t)from;
        if ((total += size) > CLEAR_MAX)
            return false;
        clear_piece(map, (size_t)from, (size_t)from + size);
    }
    if (from < 0 && errno != ENXIO)
        return false;
    /* what a reader has seen of the holes would be taken for data once they have blocks */
    posix_fadvise(map->file, to, 0, POSIX_FADV_DONTNEED);
    return true;
}

/* A file as lg__map_create() made it, that no other name shows. */
static bool is_whole(int file, size_t size, uint64_t *ret_identity)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return false;
    *ret_identity = lg__os_identity(info.st_dev, info.st_ino);
    return S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_nlink == 1 && (info.st_mode & 07777) == 0600 && (size_t)info.st_size == size;
}

static void give_up(int directory, const char *name, struct lg__map *map)
{
    unlinkat(directory, name, 0);
    heal_forget(map);
    munmap(map->base, map->size);
    close(map->file);
}

void lg__map_set_aside(const char *path, const char *spare)
{
    (void)!linkat(AT_FDCWD, path, AT_FDCWD, spare, 0);
    LG_FAULT_POINT("set aside: linked");
}

/* Another process may have taken the file before the lock, and have given it another name. */
static bool has_name(int directory, const char *name, uint64_t identity)
{
    struct stat info;
    return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && lg__os_identity(info.st_dev, info.st_ino) == identity;
}

/* A start that dies here leaves the old run, a file without its magic, or the new run. */
bool lg__map_recycle(int directory, const char *ended, const char *name, size_t size, struct lg__map *ret_map)
{
    struct lg__problem ignored = { .status = LG_OK };
    uint64_t identity;
    int file = lg__os_file_beyond(openat(directory, ended, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file < 0)
        return false;
    LG_FAULT_POINT("recycle: opened");
    /* The process of the run holds one lock, readers and witnesses the other. */
    const bool is_mine = lg__map_lock(file), is_usable = is_whole(file, size, &identity);
    if (is_mine && !is_usable)
        unlinkat(directory, ended, 0);
    if (!is_mine || !is_usable || flock(file, LOCK_EX | LOCK_NB) != 0 || !has_name(directory, ended, identity) ||
        lg__map_file(file, identity, ended, size, ret_map, &ignored) != LG_OK) {
        close(file);
        return false;
    }
    madvise(ret_map->base, size, MADV_RANDOM);
    LG_FAULT_POINT("recycle: taken");
    /* the magic, with which every file of ours begins */
    atomic_store((_Atomic uint64_t *)ret_map->base, 0);
    LG_FAULT_POINT("recycle: without magic");
    bool cleared = clear(ret_map);
    LG_FAULT_POINT("recycle: cleared");
    /* no limit on the size of files matters: the file does not grow */
    if (!cleared || posix_fallocate(file, 0, (off_t)size) != 0 || renameat(directory, ended, directory, name) != 0) {
        give_up(directory, ended, ret_map);
        return false;
    }
    LG_FAULT_POINT("recycle: renamed");
    return true;
}

void lg__map_show(const struct lg__map *map)
{
    if (map->file >= 0)
        flock(map->file, LOCK_UN);
}

lg_status lg__map_file(int file, uint64_t identity, const char *path, size_t size, struct lg__map *ret_map, struct lg__problem *problem)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        return lg__problem_set(problem, LG_ERR_SYSTEM, path, errno);
    *ret_map = (struct lg__map){ base, size, file, identity };
    heal_register(ret_map);
    return LG_OK;
}

bool lg__map_anonymous(size_t size, struct lg__map *ret_map)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return false;
    *ret_map = (struct lg__map){ base, size, -1, 0 };
    return true;
}

void lg__map_free(const struct lg__map *anonymous)
{
    munmap(anonymous->base, anonymous->size);
}

static struct flock whole_file(void)
{
    return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

bool lg__map_lock(int file)
{
    struct flock lock = whole_file();
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool lg__map_locked(int file)
{
    struct flock lock = whole_file();
    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Two processes that write to one file wait for each other for at most these tries. */
#define FLOCK_TRIES 50
#define FLOCK_WAIT_NS 2000000L

bool lg__map_flock(int file, int how)
{
    const struct timespec wait = { 0, FLOCK_WAIT_NS };
    for (int tries = 0; tries < FLOCK_TRIES; tries++) {
        if (flock(file, how | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&wait, NULL);
    }
    return false;
}

void lg__map_abandon(struct lg__map *map)
{
    if (!map->base || map->file < 0)
        return;
    heal_forget(map);
    if (mmap(map->base, map->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        lg__os_close_ours(map->file, map->identity);
    map->file = -1;
}
