#include "store/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/map.h"
#include "store/write_all.h"

static const char folders[][9] = { "tmp", "new", "sent", "held", "dead", "requests" };

const char *lg__spool_folder(lg_delivery_state state)
{
    switch (state) {
    case LG_DELIVERY_PENDING: return "new";
    case LG_DELIVERY_SENT:
    case LG_DELIVERY_TOLD: return "sent";
    case LG_DELIVERY_HELD: return "held";
    case LG_DELIVERY_DEAD: return "dead";
    }
    return "dead";
}

int lg__spool_open(int state_directory, const char *path, bool make, struct lg__problem *problem)
{
    char folder_path[4096 + 96];
    snprintf(folder_path, sizeof folder_path, "%s/spool", path);
    if (!make) {
        int spool = openat(state_directory, "spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (spool < 0)
            lg__problem_set(problem, lg__problem_from_errno(errno), folder_path, errno);
        return spool;
    }
    int spool = lg__map_subdirectory(state_directory, "spool", folder_path, NULL, problem);
    for (size_t i = 0; spool >= 0 && i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(folder_path, sizeof folder_path, "%s/spool/%s", path, folders[i]);
        int folder = lg__map_subdirectory(spool, folders[i], folder_path, NULL, problem);
        if (folder < 0) {
            close(spool);
            return -1;
        }
        close(folder);
    }
    return spool;
}

/* ---- small files ---- */

/* `size` 0: any byte from `byte` on. */
static bool agent_has(int spool, off_t byte, off_t size)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = size };
    int file = openat(spool, "agent", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool has = file >= 0 && fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (file >= 0)
        close(file);
    return has;
}

bool lg__spool_agent_lives(int spool)
{
    return agent_has(spool, LG__AGENT_WORKS, 0);
}

bool lg__spool_agent_serves(int spool)
{
    return agent_has(spool, LG__AGENT_SERVES, 1);
}

bool lg__spool_is_off(int spool)
{
    return faccessat(spool, "off", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool lg__spool_is_metered(int spool)
{
    return faccessat(spool, "metered", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

lg_status lg__spool_write(int spool, const char *name, const void *bytes, size_t size, bool durable)
{
    char temporary[96];
    /* two writers never write the same file */
    snprintf(temporary, sizeof temporary, "tmp/%s.%d", name, (int)gettid());
    for (char *at = temporary + 4; *at; at++)
        *at = *at == '/' ? '.' : *at;
    unlinkat(spool, temporary, 0); /* of a process that died here */
    int file = openat(spool, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return lg__problem_from_errno(errno);
    LG_FAULT_POINT("spool: file made");
    bool written = lg__write_all(file, bytes, size) && (!durable || fsync(file) == 0);
    int error = errno;
    close(file);
    LG_FAULT_POINT("spool: file written");
    if (written && renameat(spool, temporary, spool, name) == 0) {
        if (durable)
            fsync(spool);
        return LG_OK;
    }
    error = written ? errno : error;
    unlinkat(spool, temporary, 0);
    errno = error;
    return lg__problem_from_errno(error);
}

long lg__spool_read(int spool, const char *name, char *buffer, size_t room)
{
    struct stat info;
    int file = openat(spool, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    ssize_t size = fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? pread(file, buffer, room - 1, 0) : -1;
    close(file);
    if (size < 0)
        return -1;
    buffer[size] = 0;
    return size;
}
