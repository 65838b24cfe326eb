/* Files of /proc, read in the handler: also where no descriptor is left, and where the root
 * directory has changed since the start. */
#include "capture/internal.h"

#define ERROR_PROCESS_FILES 24 /* EMFILE */
#define ERROR_SYSTEM_FILES 23  /* ENFILE */

static const char maps_path[] = "../maps";

/* Open since the start: the map of this process. No directory is kept: a descriptor of one leads
 * out of every chroot(). The descriptor is also the reserve: once it is closed, one other file can
 * be opened. */
static int maps = -1;
static uint64_t maps_identity LG__SMALL;
static bool is_spent LG__SMALL; /* given to a caller or closed by lg__files_open() */

#define ROOM 64 /* "/proc/self/task/NUMBER/status" and the like */

/* A relative path begins at the threads of this process. For what is above them the kernel does not
 * have to look them up. */
static const char *whole(const char *path, char room[ROOM])
{
    static const char prefix[] = "/proc/self/task/";
    const bool is_above = path[0] == '.' && path[1] == '.' && path[2] == '/';
    const char *rest = is_above ? path + 3 : path;
    const size_t before = sizeof prefix - 1 - (is_above ? 5 : 0), size = strlen(rest);
    if (path[0] == '/' || before + size >= ROOM)
        return path;
    memcpy(room, prefix, before);
    memcpy(room + before, rest, size + 1);
    return room;
}

static int open_path(const char *path)
{
    char room[ROOM];
    return lg__os_open(whole(path, room));
}

static void take_reserve(void)
{
    maps = lg__os_file_beyond(open_path(maps_path));
    maps_identity = maps < 0 ? 0 : lg__os_file_identity(maps);
}

/* The program may have closed all descriptors, and this number may be a file of its own by now. */
static bool have_maps(void)
{
    return maps >= 0 && !is_spent && maps_identity && lg__os_file_identity(maps) == maps_identity;
}

void lg__files_prepare(void)
{
    if (!have_maps())
        take_reserve();
}

int lg__files_open(const char *path)
{
    int file = open_path(path);
    if (file >= 0 || lg__memory_walker == LG__WALKER_WATCH || !have_maps())
        return file; /* the reserve is for a crash */
    if (file == -ERROR_PROCESS_FILES || file == -ERROR_SYSTEM_FILES) {
        lg__os_close(maps);
        is_spent = true;
        file = open_path(path);
    }
    return file;
}

int lg__files_open_map(void)
{
    const int file = lg__files_open(maps_path);
    if (file >= 0 || !have_maps())
        return file;
    is_spent = true;
    return maps;
}

/* Some lines have no bound, as that of a user's groups: they must not keep out what follows. */
#define LINE_BYTES 600u

static size_t read_whole(int file, char *to, size_t size)
{
    size_t done = 0, line = 0;
    if (file >= 0) {
        long wanted, count;
        do {
            wanted = (long)(size - 1 - done);
            count = wanted ? lg__os_read(file, to + done, (size_t)wanted) : 0;
            for (const char *at = to + done, *end = at + (count > 0 ? count : 0); at < end; at++) {
                line = *at == '\n' ? 0 : line + 1;
                if (line <= LINE_BYTES)
                    to[done++] = *at;
            }
        } while (count > 0 && count == wanted); /* the kernel makes such a file at once */
        lg__os_close(file);
    }
    to[done] = 0;
    return done;
}

uint64_t lg__files_size(const char *path)
{
    char room[ROOM];
    return lg__os_file_size(whole(path, room));
}

size_t lg__files_read(const char *path, char *to, size_t size)
{
    return read_whole(lg__files_open(path), to, size);
}

long lg__files_list_threads(bool (*each)(uint32_t number, void *argument), void *argument)
{
    int directory = lg__files_open(".");
    if (directory < 0)
        return directory;
    long count = lg__os_list_numbers(directory, each, argument);
    lg__os_close(directory);
    return count;
}

void lg__files_forget(void)
{
    if (have_maps())
        lg__os_close(maps);
    maps = -1;
    is_spent = false;
}

void lg__files_restore(void)
{
    if (!is_spent)
        return;
    is_spent = false;
    take_reserve();
}
