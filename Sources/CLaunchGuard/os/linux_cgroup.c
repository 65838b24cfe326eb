/* The operating system: the memory limits of this process, and the figures of its memory control
 * group. Not for the handler, which has code of its own (capture/). */
#include "os/os.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (4096 + 64)
#define TEXT_BYTES LG__CGROUPS_BYTES /* four times what memory.stat has */

static bool read_group_text(const char *path, char *text, size_t size)
{
    size_t done = 0, wanted = 0;
    ssize_t count = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return false;
    do {
        wanted = size - 1 - done;
        count = wanted ? read(file, text + done, wanted) : 0;
        done += count > 0 ? (size_t)count : 0;
    } while (count > 0 && (size_t)count == wanted); /* the kernel makes such a file at once */
    close(file);
    text[done] = 0;
    return count >= 0 && done > 0;
}

static bool read_in(const char *directory, const char *name, char *text, size_t size)
{
    char path[PATH_BYTES + 64];
    return lg__os_join(path, sizeof path, directory, "/", name, "") < sizeof path && read_group_text(path, text, size);
}

/* ---- the groups ---- */

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

/* A visitor of the groups of this process: a directory, the length of the mount's path before it,
 * and the version. It returns true to end the visit. */
typedef bool (*group_visitor)(char directory[PATH_BYTES], size_t mount_size, bool is_second, void *argument);

bool lg__os_cgroups(const char *root, char text[LG__CGROUPS_BYTES])
{
    static const char path[] = "/proc/self/cgroup";
    return root[0] ? read_in(root, path + 1, text, LG__CGROUPS_BYTES) : read_group_text(path, text, LG__CGROUPS_BYTES);
}

/* Each group of this process that may be one for memory, until one is taken. */
static bool visit_groups(const char *root, const char *text, group_visitor visit, void *argument)
{
    char directory[PATH_BYTES];
    /* Lines "number:controllers:/group"; the one without controllers is of version 2 (cgroups(7)).
     * Where the group's path is not one below the usual mount (a container that sees the host's
     * names) nothing is found, and nothing is claimed. */
    for (const char *line = text, *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        const char *controllers = memchr(line, ':', (size_t)(end - line));
        const char *group = controllers ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1)) : NULL;
        if (group) {
            size_t size = (size_t)(group - controllers - 1);
            bool is_second = size == 0;
            if (is_second || lists(controllers + 1, size, "memory")) {
                const size_t mount = lg__os_join(directory, sizeof directory, root, "/sys/fs/cgroup", is_second ? "" : "/memory", "");
                if (mount + (size_t)(end - group) < sizeof directory) {
                    memcpy(directory + mount, group + 1, (size_t)(end - group - 1));
                    directory[mount + (size_t)(end - group - 1)] = 0;
                    if (visit(directory, mount, is_second, argument))
                        return true;
                }
            }
        }
        if (!*end)
            break;
    }
    return false;
}

/* ---- processes that were ended ---- */

struct kills {
    uint64_t cgroup, count;
};

/* The kernel counts a kill in the cgroup of the process that it ended, and in version 2 also in all
 * groups above that one. Only kills in the very group of our process matter:
 * those of groups below are never ours. So memory.events.local comes first (Linux 5.2), then
 * memory.events; memory.oom_control of version 1 counts no kills of other groups. */
static bool count_in(char directory[PATH_BYTES], size_t mount_size, bool is_second, void *argument)
{
    static const char *const second[2] = { "memory.events.local", "memory.events" }, *const first[2] = { "memory.oom_control", NULL };
    const char *const *names = is_second ? second : first;
    struct kills *kills = argument;
    char text[1024];
    struct stat info;
    const size_t size = strlen(directory);
    (void)mount_size;
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    for (int i = 0; i < 2 && names[i]; i++) {
        const bool fits = lg__os_join(directory + size, PATH_BYTES - size, "/", names[i], "", "") < PATH_BYTES - size;
        const bool is_read = fits && read_group_text(directory, text, sizeof text);
        directory[size] = 0;
        if (!is_read || !lg__os_number(lg__os_text_after(text, "oom_kill "), 10, &kills->count))
            continue;
        kills->cgroup = info.st_ino;
        return true;
    }
    return false;
}

/* With room for the text that the caller does not have. */
__attribute__((noinline)) static bool read_and_count(struct kills *kills)
{
    char text[LG__CGROUPS_BYTES];
    return lg__os_cgroups("", text) && visit_groups("", text, count_in, kills);
}

bool lg__os_oom_kills(const char *cgroups, uint64_t *ret_cgroup, uint64_t *ret_count)
{
    struct kills kills;
    if (!(cgroups ? visit_groups("", cgroups, count_in, &kills) : read_and_count(&kills)))
        return false;
    *ret_cgroup = kills.cgroup;
    *ret_count = kills.count;
    return true;
}

/* ---- memory in use ---- */

struct nearest {
    uint64_t total; /* of the machine: a larger limit is none */
    unsigned exact_from;
    struct lg__os_memory memory;
    bool found;
};

static void consider(struct nearest *nearest, uint64_t used, uint64_t limit, bool of_cgroup)
{
    const struct lg__os_memory *before = &nearest->memory;
    if (nearest->found && (double)used / (double)limit <= (double)before->used / (double)before->limit)
        return;
    nearest->memory = (struct lg__os_memory){ used, limit, of_cgroup };
    nearest->found = true;
}

/* Memory that the kernel gives up before it ends a process: pages of files, which it can read
 * again. Memory that is shared, or belongs to a file system in memory, does not count. */
static uint64_t droppable(const char *directory, bool is_second)
{
    static const char *const second[] = { "inactive_file ", "active_file ", "slab_reclaimable " };
    static const char *const first[] = { "total_inactive_file ", "total_active_file " };
    char text[TEXT_BYTES];
    uint64_t sum = 0, value;
    if (!read_in(directory, "memory.stat", text, sizeof text))
        return 0;
    for (int i = 0; i < (is_second ? 3 : 2); i++)
        if (lg__os_number(lg__os_text_after(text, is_second ? second[i] : first[i]), 10, &value))
            sum += value;
    return sum;
}

static void consider_group(const char *directory, bool is_second, struct nearest *nearest)
{
    char text[64];
    uint64_t limit, used;
    if (!read_in(directory, is_second ? "memory.max" : "memory.limit_in_bytes", text, sizeof text) || !lg__os_number(text, 10, &limit) ||
        limit == 0 || limit > nearest->total) /* "max", or what version 1 says for it */
        return;
    if (!read_in(directory, is_second ? "memory.current" : "memory.usage_in_bytes", text, sizeof text) || !lg__os_number(text, 10, &used))
        return;
    if (used / nearest->exact_from >= limit / 100) {
        uint64_t files = droppable(directory, is_second);
        used -= files < used ? files : used;
    }
    consider(nearest, used, limit, true);
}

/* The group and all above it: each limit holds for the groups below it. */
static bool consider_groups(char directory[PATH_BYTES], size_t mount_size, bool is_second, void *argument)
{
    struct nearest *nearest = argument;
    size_t size = strlen(directory);
    for (;;) {
        while (size > mount_size && directory[size - 1] == '/')
            size--;
        directory[size] = 0;
        consider_group(directory, is_second, nearest);
        if (size <= mount_size)
            break;
        while (size > mount_size && directory[size - 1] != '/')
            size--;
    }
    return nearest->found;
}

/* "Key:   1234 kB" in bytes. */
static bool kilobytes(const char *text, const char *key, uint64_t *ret_bytes)
{
    if (!lg__os_number(lg__os_text_after(text, key), 10, ret_bytes))
        return false;
    *ret_bytes *= 1024;
    return true;
}

uint64_t lg__os_own_memory(void)
{
    char text[TEXT_BYTES];
    uint64_t bytes;
    return read_in("", "proc/self/status", text, sizeof text) && kilobytes(text, "RssAnon", &bytes) ? bytes : 0;
}

bool lg__os_memory(const char *root, unsigned exact_from, struct lg__os_memory *ret_memory)
{
    char text[TEXT_BYTES];
    struct lg__os_figures figures;
    lg__os_figures(&figures);
    struct nearest nearest = { .total = figures.memory_total, .exact_from = exact_from ? exact_from : 1 };
    const uint64_t unlimited = UINT64_MAX - 1;
    uint64_t size, total;
    if (!(lg__os_cgroups(root, text) && visit_groups(root, text, consider_groups, &nearest)) && (figures.virtual_limit < unlimited || figures.data_limit < unlimited) &&
        read_in(root, "proc/self/status", text, sizeof text)) {
        if (figures.virtual_limit < unlimited && figures.virtual_limit && kilobytes(text, "VmSize", &size))
            consider(&nearest, size, figures.virtual_limit, false);
        if (figures.data_limit < unlimited && figures.data_limit && kilobytes(text, "VmData", &size))
            consider(&nearest, size, figures.data_limit, false);
    }
    if (!nearest.found && read_in(root, "proc/meminfo", text, sizeof text) && kilobytes(text, "MemTotal", &total) && total &&
        kilobytes(text, "MemAvailable", &size))
        consider(&nearest, size < total ? total - size : 0, total, false);
    if (nearest.found)
        *ret_memory = nearest.memory;
    return nearest.found;
}
