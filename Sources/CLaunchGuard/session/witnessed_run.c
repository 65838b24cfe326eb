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

/* The newest run file whose name is below `limit`; false: there is none. */
static bool next_name(DIR *stream, const char *limit, char ret_name[LG__RUN_NAME_BYTES])
{
    *ret_name = 0;
    rewinddir(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        const char *name = entry->d_name;
        size_t size = strlen(name);
        if (size < LG__RUN_NAME_BYTES && size > 6 && strcmp(name + size - 6, ".lgrun") == 0 && strcmp(name, limit) < 0 && strcmp(name, ret_name) > 0)
            memcpy(ret_name, name, size + 1);
    }
    return *ret_name;
}

static lg_status read_run(const char *state_directory, const char *name, lg_run_info *ret_info)
{
    char path[4096 + 96];
    lg_reader *reader;
    /* it fits, as the folder could be opened */
    snprintf(path, sizeof path, "%s/runs/%s", state_directory, name);
    lg_status status = lg_reader_open(path, &reader);
    if (status == LG_OK) {
        status = lg_reader_run(reader, ret_info);
        lg_reader_close(reader);
    }
    return status;
}

/* Each file costs a look at all names. */
#define FILES_MAX 1024u

/* The newest file comes first: it is the run of the process nearly always. */
lg_status lg__witnessed_run_find(int runs, const char *state_directory, int32_t pid, struct lg__witnessed_run *ret_found)
{
    struct lg__witnessed_run *found = ret_found;
    lg_status first = LG_OK, status;
    char limit[LG__RUN_NAME_BYTES] = "~"; /* beyond all names, which begin with a number */
    int copy = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        errno = error;
        return lg__foreign_file_status(error);
    }
    for (unsigned files = 0; next_name(stream, limit, found->name); files++) {
        if (files == FILES_MAX) {
            found->name[0] = 0;
            break;
        }
        status = read_run(state_directory, found->name, &found->info);
        if (status == LG_OK && found->info.pid == pid && this_boot(&found->info))
            break;
        if (*limit == '~')
            first = status;
        memcpy(limit, found->name, sizeof limit);
    }
    closedir(stream);
    return found->name[0] ? LG_OK : first != LG_OK ? first : LG_ERR_NOT_FOUND;
}
