/* The operating system: the system below the process, and the service or container around it. Each
 * start asks, so few files are opened, and each of them once. Not for the handler. */
#include "os/os.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Copy bytes, cut to fit, with a NUL. */
static void copy_text(char *to, size_t to_size, const char *from, size_t size)
{
    size = size < to_size ? size : to_size - 1;
    memcpy(to, from, size);
    to[size] = 0;
}

/* false: the path does not fit. */
static bool join_paths(const char *root, const char *path, char whole[4096])
{
    const size_t root_size = strlen(root), path_size = strlen(path) + 1;
    if (root_size + path_size > 4096)
        return false;
    memcpy(whole, root, root_size);
    memcpy(whole + root_size, path, path_size);
    return true;
}

/* Bytes read; 0 for any failure. */
static size_t read_once(const char *root, const char *path, void *to, size_t size)
{
    char whole[4096];
    int file = join_paths(root, path, whole) ? lg__os_open(whole) : -1;
    if (file < 0)
        return 0;
    long count = lg__os_read(file, to, size);
    lg__os_close(file);
    return count > 0 ? (size_t)count : 0;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- os-release(5) ---- */

/* The value of one assignment as a shell would take it, where it expands nothing. false: a quote is
 * not closed. */
static bool take_value(const char *from, const char *end, char *to, size_t to_size)
{
    const char quote = from < end && (*from == '"' || *from == '\'') ? *from++ : 0;
    size_t size = 0;
    for (; from < end && (quote ? *from != quote : !is_space(*from)); from++) {
        if (*from == '\\' && quote != '\'' && from + 1 < end)
            from++;
        if (size < to_size - 1)
            to[size++] = *from;
    }
    to[size] = 0;
    return !quote || from < end;
}

void lg__os_release_value(const char *text, size_t size, const char *key, char *to, size_t to_size)
{
    const size_t key_size = strlen(key);
    const char *const after = text + size;
    char value[256];
    to[0] = 0;
    for (const char *line = text, *end; line < after; line = end < after ? end + 1 : end) {
        end = memchr(line, '\n', (size_t)(after - line));
        end = end ? end : after;
        while (line < end && is_space(*line))
            line++;
        if ((size_t)(end - line) >= key_size && memcmp(line, key, key_size) == 0 && take_value(line + key_size, end, value, sizeof value))
            copy_text(to, to_size, value, strlen(value));
    }
}

static void read_release(const char *root, struct lg__os_system *system)
{
    char text[4096];
    size_t size = read_once(root, "/etc/os-release", text, sizeof text);
    if (!size)
        size = read_once(root, "/usr/lib/os-release", text, sizeof text);
    if (size == sizeof text) /* its last line may be cut */
        while (size && text[size - 1] != '\n')
            size--;
    lg__os_release_value(text, size, "ID=", system->os_id, sizeof system->os_id);
    lg__os_release_value(text, size, "VERSION_ID=", system->os_version, sizeof system->os_version);
}

/* ---- the machine ---- */

static void read_model(const char *root, struct lg__os_system *system)
{
    char text[256];
    size_t size = 0;
    if (lg__arch == LG__ARCH_AARCH64) /* no other has a device tree in practice */
        size = read_once(root, "/proc/device-tree/model", text, sizeof text);
    if (!size)
        size = read_once(root, "/sys/class/dmi/id/product_name", text, sizeof text);
    size = strnlen(text, size);
    while (size && is_space(text[size - 1]))
        size--;
    copy_text(system->model, sizeof system->model, text, size);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool lg__os_hex_id(const char *text, size_t size, uint8_t ret_id[16])
{
    memset(ret_id, 0, 16);
    bool right = size >= 32 && (size == 32 || text[32] == '\n');
    for (size_t i = 0; right && i < 32; i++) {
        int value = hex_value(text[i]);
        right = value >= 0;
        ret_id[i / 2] = (uint8_t)(ret_id[i / 2] << 4 | (value & 15));
    }
    if (!right)
        memset(ret_id, 0, 16);
    return right;
}

/* Wipe the id: a crash record would store the stack with it. */
static void read_machine_id(const char *root, struct lg__os_system *system)
{
    char text[40];
    lg__os_hex_id(text, read_once(root, "/etc/machine-id", text, sizeof text), system->machine_id);
    explicit_bzero(text, sizeof text);
}

bool lg__os_release_mark(const char *root, struct lg__os_mark *ret_mark)
{
    char whole[4096];
    struct stat info;
    if (!join_paths(root, "/etc/os-release", whole) || stat(whole, &info) != 0)
        return false;
    *ret_mark = (struct lg__os_mark){ info.st_ino, (uint64_t)info.st_ctim.tv_sec * 1000000000u + (uint64_t)info.st_ctim.tv_nsec };
    return true;
}

void lg__os_system(const char *root, struct lg__os_system *ret_system)
{
    memset(ret_system, 0, sizeof *ret_system);
    read_release(root, ret_system);
    read_model(root, ret_system);
    read_machine_id(root, ret_system);
}

void lg__os_kernel(char release[64], char hardware[16])
{
    struct utsname names;
    release[0] = hardware[0] = 0;
    if (uname(&names) != 0)
        return;
    copy_text(release, 64, names.release, strlen(names.release));
    copy_text(hardware, 16, names.machine, strlen(names.machine));
}

/* ---- containers ---- */

static bool is_there(const char *root, const char *path)
{
    char whole[4096];
    return join_paths(root, path, whole) && access(whole, F_OK) == 0;
}

static const char *from_environment(const char *name)
{
    const char *value = lg__os_secure() ? NULL : getenv(name);
    return value && *value ? value : NULL;
}

void lg__os_container(const char *root, char name[32])
{
    const char *word = from_environment("container");
    if (!word)
        word = is_there(root, "/.dockerenv") ? "docker" : is_there(root, "/run/.containerenv") ? "podman" : NULL;
    if (!word)
        word = from_environment("KUBERNETES_SERVICE_HOST") ? "kubernetes" : "";
    copy_text(name, 32, word, strlen(word));
}

/* ---- the service or the parent of the process ---- */

static bool ends_with(const char *text, size_t size, const char *end)
{
    const size_t end_size = strlen(end);
    return size > end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

void lg__os_unit(const char *cgroups, char *to, size_t to_size)
{
    to[0] = 0;
    for (const char *line = cgroups, *end; *line && !to[0]; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *controllers = memchr(line, ':', (size_t)(end - line));
        /* version 2, or the hierarchy of systemd's own (cgroups(7)) */
        if (!controllers || (strncmp(controllers, "::/", 3) != 0 && strncmp(controllers, ":name=systemd:/", 15) != 0))
            continue;
        for (const char *part = controllers, *slash; part < end; part = slash) {
            part++;
            slash = memchr(part, '/', (size_t)(end - part));
            slash = slash ? slash : end;
            const size_t size = (size_t)(slash - part);
            if (ends_with(part, size, ".service") || ends_with(part, size, ".scope"))
                copy_text(to, to_size, part, size);
        }
    }
}

void lg__os_process_name(pid_t pid, char name[16])
{
    char path[LG__OS_PROCESS_PATH], text[16];
    lg__os_process_path(path, pid, "/comm");
    size_t size = pid > 0 ? read_once("", path, text, sizeof text) : 0;
    if (size && text[size - 1] == '\n')
        size--;
    copy_text(name, 16, text, size);
}

size_t lg__os_command_line(char *to, size_t size, bool *ret_cut)
{
    int file = lg__os_open("/proc/self/cmdline");
    size_t done = 0;
    long count = 0;
    char more;
    *ret_cut = false;
    if (file < 0)
        return 0;
    while (done < size && (count = lg__os_read(file, to + done, size - done)) > 0)
        done += (size_t)count;
    *ret_cut = done == size && lg__os_read(file, &more, 1) == 1;
    lg__os_close(file);
    return done;
}
