/* The operating system: the memory control group of this process. Not for the handler, which has paths of its own (capture/process.c). */
#include "os/os.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_whole(const char *path, char *text, size_t size)
{
    size_t done = 0;
    ssize_t count = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return false;
    while (done < size - 1 && (count = read(file, text + done, size - 1 - done)) > 0)
        done += (size_t)count;
    close(file);
    text[done] = 0;
    return count >= 0 && done > 0;
}

/* The count in one directory. The kernel counts a kill in the cgroup of the process that it ended, and in version 2 also in all groups above
 * that one. What is asked for are kills in the very group that our process is in: those of groups below are never ours. So memory.events.local
 * comes first (Linux 5.2), memory.events where that is missing; memory.oom_control of version 1 counts no other group's. */
static bool count_in(const char *directory, const char *const names[2], uint64_t *ret_cgroup, uint64_t *ret_count)
{
    char path[4096 + 64], text[1024];
    struct stat info;
    uint64_t count;
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    for (int i = 0; i < 2 && names[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        if (!read_whole(path, text, sizeof text) || !lg__os_number(lg__os_text_after(text, "oom_kill "), 10, &count))
            continue;
        *ret_cgroup = info.st_ino;
        *ret_count = count;
        return true;
    }
    return false;
}

/* Whether a list "cpu,memory" has a name in it. */
static bool lists(const char *list, size_t size, const char *name)
{
    size_t length = strlen(name);
    while (size >= length) {
        const char *comma = memchr(list, ',', size);
        size_t part = comma ? (size_t)(comma - list) : size;
        if (part == length && memcmp(list, name, length) == 0)
            return true;
        if (!comma)
            return false;
        size -= part + 1;
        list = comma + 1;
    }
    return false;
}

bool lg__os_oom_kills(uint64_t *ret_cgroup, uint64_t *ret_count)
{
    static const char *const second[2] = { "memory.events.local", "memory.events" }, *const first[2] = { "memory.oom_control", NULL };
    char text[8192], directory[4096];
    if (!read_whole("/proc/self/cgroup", text, sizeof text))
        return false;
    /* Lines "number:controllers:/group"; the one without controllers is of version 2 (cgroups(7)). Where the group's path is not one below the
     * usual mount (a container that sees the host's names) nothing is found, and nothing is claimed. */
    for (char *line = text, *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        char *controllers = memchr(line, ':', (size_t)(end - line));
        char *group = controllers ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1)) : NULL;
        if (group) {
            size_t size = (size_t)(group - controllers - 1);
            bool is_second = size == 0;
            if (is_second || lists(controllers + 1, size, "memory")) {
                int written = snprintf(directory, sizeof directory, "/sys/fs/cgroup%s%.*s", is_second ? "" : "/memory", (int)(end - group - 1), group + 1);
                if (written > 0 && (size_t)written < sizeof directory && count_in(directory, is_second ? second : first, ret_cgroup, ret_count))
                    return true;
            }
        }
        if (!*end)
            break;
    }
    return false;
}
