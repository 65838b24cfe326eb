#include "session/witnessed_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "session/foreign_file.h"

lg_status lg__witnessed_run_folder(const char *state_directory, int *ret_runs)
{
    char path[4096 + 8];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/runs", state_directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return LG_ERR_NOT_FOUND;
    *ret_runs = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_runs >= 0)
        return LG_OK;
    int error = errno;
    /* O_DIRECTORY|O_NOFOLLOW reports a link as ENOTDIR. */
    if (error == ENOTDIR && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return LG_ERR_LINK;
    errno = error;
    return lg__foreign_file_status(error);
}

static bool this_boot(const lg_run_info *info)
{
    uint8_t now[LG__UUID_BYTES];
    char text[37];
    if (!lg__os_boot_id(now))
        return true;
    lg__run_uuid_text(now, text);
    return strcmp(text, info->boot_id) == 0;
}

static void consider_run_file(const char *state_directory, const char *name, int32_t pid, struct lg__witnessed_run *found)
{
    char path[4096 + 96], *end;
    lg_reader *reader;
    lg_run_info info;
    size_t size = strlen(name);
    uint64_t ordinal = strtoull(name, &end, 10);
    if (size >= LG__RUN_NAME_BYTES || size < 6 || strcmp(name + size - 6, ".lgrun") != 0 || end == name || *end != '-')
        return;
    int length = snprintf(path, sizeof path, "%s/runs/%s", state_directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    lg_status status = lg_reader_open(path, &reader);
    if (status == LG_OK) {
        status = lg_reader_run(reader, &info);
        lg_reader_close(reader);
    }
    if (ordinal > found->newest) {
        found->newest = ordinal;
        found->why = status;
    }
    if (status == LG_OK && info.pid == pid && this_boot(&info) && (!found->name[0] || info.ordinal > found->info.ordinal)) {
        memcpy(found->name, name, size + 1);
        found->info = info;
    }
}

lg_status lg__witnessed_run_find(int runs, const char *state_directory, int32_t pid, struct lg__witnessed_run *ret_found)
{
    memset(ret_found, 0, sizeof *ret_found);
    int copy = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        errno = error;
        return lg__foreign_file_status(error);
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        consider_run_file(state_directory, entry->d_name, pid, ret_found);
    closedir(stream);
    if (ret_found->name[0])
        return LG_OK;
    return ret_found->why != LG_OK ? ret_found->why : LG_ERR_NOT_FOUND;
}
