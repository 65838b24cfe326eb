/* The ended runs that are kept. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"

/* More files than this in one directory are dealt with at the next starts. */
#define FILES_MAX 65536u

struct run_file {
    uint64_t ordinal;
    uint64_t size;
    char name[LG__RUN_NAME_BYTES];
};

static bool parse_name(const char *name, uint64_t *ret_ordinal)
{
    size_t size = strlen(name);
    if (size >= LG__RUN_NAME_BYTES || size < 6 || strcmp(name + size - 6, ".lgrun") != 0)
        return false;
    char *end;
    *ret_ordinal = strtoull(name, &end, 10);
    return end != name && *end == '-';
}

static int newest_first(const void *left, const void *right)
{
    const struct run_file *a = left, *b = right;
    return a->ordinal > b->ordinal ? -1 : a->ordinal < b->ordinal;
}

static uint32_t list_runs(int directory, struct run_file **ret_files)
{
    struct run_file *files = NULL;
    uint32_t count = 0, room = 0;
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    for (struct dirent *entry; count < FILES_MAX && (entry = readdir(stream));) {
        uint64_t ordinal;
        struct stat info;
        if (!parse_name(entry->d_name, &ordinal) || fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        if (count == room) {
            room = room ? 2 * room : 64;
            struct run_file *more = realloc(files, room * sizeof *files);
            if (!more)
                break;
            files = more;
        }
        files[count].ordinal = ordinal;
        files[count].size = (uint64_t)info.st_size;
        memcpy(files[count].name, entry->d_name, strlen(entry->d_name) + 1);
        count++;
    }
    closedir(stream);
    *ret_files = files;
    return count;
}

static bool is_alive(int directory, const char *name)
{
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool locked = file >= 0 && lg__map_locked(file);
    if (file >= 0)
        close(file);
    return locked;
}

void lg__retention_apply(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    uint64_t firsts[LG__CONTEXTS];
    struct run_file *files = NULL;
    if (!host->counts)
        return;
    uint32_t count = list_runs(session->runs_directory, &files);
    if (count) {
        qsort(files, count, sizeof *files, newest_first);
        pthread_mutex_lock(&host->lock);
        for (uint32_t i = 0; i < LG__CONTEXTS; i++)
            firsts[i] = i < host->ledger.payload.context_count ? host->ledger.payload.contexts[i].first_ordinal : 0;
        pthread_mutex_unlock(&host->lock);
    }
    uint64_t bytes = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (files[i].ordinal == session->ordinal)
            continue; /* this run has not ended */
        bool first = false;
        for (uint32_t c = 0; c < LG__CONTEXTS; c++)
            first |= firsts[c] && firsts[c] == files[i].ordinal;
        bytes += files[i].size;
        if (first || (kept < session->keep_runs && bytes <= session->keep_bytes)) {
            kept++;
            continue;
        }
        if (!is_alive(session->runs_directory, files[i].name))
            unlinkat(session->runs_directory, files[i].name, 0);
    }
    free(files);
}
