#include "store/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/crc32c.h"
#include "store/map.h"

/* The last row counts all runs without a row of their own. */
#define OTHERS (LG__TALLY_ROWS - 1)

static uint32_t crc_of(const struct lg__tally_row *row)
{
    return lg__crc32c(0, row, offsetof(struct lg__tally_row, crc));
}

static bool read_whole(int file, struct lg__tally *ret_tally)
{
    struct stat info;
    return fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == sizeof *ret_tally &&
           pread(file, ret_tally, sizeof *ret_tally, 0) == (ssize_t)sizeof *ret_tally &&
           memcmp(ret_tally->magic, LG__MAGIC_TALLY, sizeof ret_tally->magic) == 0;
}

static bool is_empty(int file)
{
    struct stat info;
    return fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/* Another process may have put the file aside before it was locked. */
static bool is_there(int spool, int file)
{
    struct stat named, opened;
    return fstatat(spool, "tally", &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Open and lock the tally, and read it. A damaged one is put aside. −1 (errno). */
static int open_tally(int spool, bool make, struct lg__tally *ret_tally)
{
    for (int tries = 0; tries < 4; tries++) {
        int file = openat(spool, "tally", O_RDWR | (make ? O_CREAT : 0) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
        if (file < 0 && (errno == ENOENT || errno == EACCES || errno == EROFS))
            return -1;
        bool locked = file >= 0 && lg__map_flock(file, LOCK_EX);
        if (locked && is_there(spool, file)) {
            if (read_whole(file, ret_tally))
                return file;
            if (is_empty(file)) {
                *ret_tally = (struct lg__tally){ .rows = { { .count = 0 } } };
                memcpy(ret_tally->magic, LG__MAGIC_TALLY, sizeof ret_tally->magic);
                if (pwrite(file, ret_tally, sizeof *ret_tally, 0) == (ssize_t)sizeof *ret_tally)
                    return file;
                int error = errno;
                (void)!ftruncate(file, 0);
                close(file);
                errno = error;
                return -1;
            }
        }
        if (file < 0 || (locked && is_there(spool, file)))
            renameat(spool, "tally", spool, "tally.damaged");
        if (file >= 0)
            close(file);
        LG_FAULT_POINT("tally: put aside");
        if (file >= 0 && !locked)
            break;
    }
    errno = EAGAIN;
    return -1;
}

static bool is_used(const struct lg__tally_row *row)
{
    return row->count && row->crc == crc_of(row);
}

static uint32_t row_of(const struct lg__tally *tally, const uint8_t fingerprint[16])
{
    uint32_t unused = OTHERS;
    for (uint32_t i = OTHERS; i-- > 0;) {
        if (!is_used(&tally->rows[i]))
            unused = i;
        else if (memcmp(tally->rows[i].fingerprint, fingerprint, 16) == 0)
            return i;
    }
    return unused;
}

static bool write_row(int file, uint32_t index, struct lg__tally_row *row)
{
    row->crc = crc_of(row);
    return pwrite(file, row, sizeof *row, (off_t)(offsetof(struct lg__tally, rows) + index * sizeof *row)) == (ssize_t)sizeof *row;
}

bool lg__tally_add(int spool, const struct lg__tally_row *run)
{
    struct lg__tally tally;
    int file = open_tally(spool, true, &tally);
    if (file < 0)
        return false;
    LG_FAULT_POINT("tally: locked");
    uint32_t index = row_of(&tally, run->fingerprint);
    struct lg__tally_row *row = &tally.rows[index];
    if (!is_used(row)) {
        *row = (struct lg__tally_row){ .first_ns = run->first_ns };
        if (index != OTHERS)
            memcpy(row->fingerprint, run->fingerprint, sizeof row->fingerprint);
    }
    bool stored = row->count && memcmp(row->uuid, run->uuid, sizeof row->uuid) == 0;
    if (!stored) {
        row->count++;
        row->last_ns = run->first_ns;
        row->ordinal = run->ordinal;
        row->end = run->end;
        memcpy(row->uuid, run->uuid, sizeof row->uuid);
        stored = write_row(file, index, row);
    }
    int error = errno;
    close(file);
    errno = error;
    return stored;
}

uint32_t lg__tally_read(int spool, struct lg__tally_row ret_rows[LG__TALLY_ROWS])
{
    struct lg__tally tally;
    uint32_t count = 0;
    int file = open_tally(spool, false, &tally);
    if (file < 0)
        return 0;
    close(file);
    for (uint32_t i = 0; i < LG__TALLY_ROWS; i++)
        if (is_used(&tally.rows[i]))
            ret_rows[count++] = tally.rows[i];
    return count;
}

static bool subtract(int file, struct lg__tally *tally, const struct lg__tally_row *taken)
{
    static const uint8_t others[16];
    for (uint32_t i = 0; i < LG__TALLY_ROWS; i++) {
        struct lg__tally_row *row = &tally->rows[i];
        /* the row of the others alone has a fingerprint of zeros */
        if (!is_used(row) || memcmp(row->fingerprint, taken->fingerprint, 16) != 0 || (i == OTHERS) != (memcmp(row->fingerprint, others, 16) == 0))
            continue;
        row->count -= taken->count < row->count ? taken->count : row->count;
        row->first_ns = row->count ? taken->last_ns : 0;
        return write_row(file, i, row);
    }
    return true;
}

bool lg__tally_take(int spool, const struct lg__tally_row *rows, uint32_t count)
{
    struct lg__tally tally;
    int file = open_tally(spool, false, &tally);
    if (file < 0)
        return errno == ENOENT;
    bool taken = true;
    for (uint32_t i = 0; i < count; i++) {
        taken &= subtract(file, &tally, &rows[i]);
        LG_FAULT_POINT("tally: row taken");
    }
    close(file);
    return taken;
}
