/* Files of /proc, read in the handler: also where no descriptor is left, and where the root
 * directory has changed since the start. */
#include "capture/internal.h"

#define ERROR_PROCESS_FILES 24 /* EMFILE */
#define ERROR_SYSTEM_FILES 23  /* ENFILE */

/* Open since the start: the directory of this process's threads, from which all other files are
 * reached. The descriptor is also the reserve: once it is closed, one other file can be opened. */
static int tasks_directory = -1;
static uint64_t tasks_identity;
static bool is_spent; /* closed by lg__files_open() */

void lg__files_prepare(void)
{
    if (tasks_directory >= 0 && lg__os_file_identity(tasks_directory) == tasks_identity)
        return;
    tasks_directory = lg__os_file_beyond(lg__os_open(-1, "/proc/self/task"));
    tasks_identity = tasks_directory < 0 ? 0 : lg__os_file_identity(tasks_directory);
}

/* The program may have closed all descriptors, and this number may be a file of its own by now. */
static bool have_tasks(void)
{
    return tasks_directory >= 0 && !is_spent && tasks_identity && lg__os_file_identity(tasks_directory) == tasks_identity;
}

static int open_from(const char *path)
{
    static const char prefix[] = "/proc/self/task/";
    char whole[64];
    size_t size = strlen(path);
    if (path[0] == '/')
        return lg__os_open(-1, path);
    if (have_tasks())
        return lg__os_open(tasks_directory, path);
    if (sizeof prefix + size > sizeof whole)
        return -1;
    memcpy(whole, prefix, sizeof prefix - 1);
    memcpy(whole + sizeof prefix - 1, path, size + 1);
    return lg__os_open(-1, whole);
}

int lg__files_open(const char *path)
{
    int file = open_from(path);
    if (lg__memory_walker == LG__WALKER_WATCH)
        return file; /* the reserve is for a crash */
    if ((file == -ERROR_PROCESS_FILES || file == -ERROR_SYSTEM_FILES) && have_tasks()) {
        lg__os_close(tasks_directory);
        is_spent = true;
        file = open_from(path);
    }
    return file;
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
    return have_tasks() ? lg__os_file_size(tasks_directory, path) : 0;
}

size_t lg__files_read(const char *path, char *to, size_t size)
{
    return read_whole(lg__files_open(path), to, size);
}

long lg__files_list_threads(bool (*each)(uint32_t number, void *argument), void *argument)
{
    /* The watch thread lists by a descriptor of its own: a crash may be in the middle of the
     * same. */
    if (lg__memory_walker != LG__WALKER_WATCH && have_tasks())
        return lg__os_list_numbers(tasks_directory, each, argument);
    int directory = lg__files_open(".");
    if (directory < 0)
        return directory;
    long count = lg__os_list_numbers(directory, each, argument);
    lg__os_close(directory);
    return count;
}

void lg__files_forget(void)
{
    if (have_tasks())
        lg__os_close(tasks_directory);
    tasks_directory = -1;
    is_spent = false;
}

void lg__files_restore(void)
{
    if (!is_spent)
        return;
    is_spent = false;
    tasks_directory = lg__os_file_beyond(lg__os_open(-1, "/proc/self/task"));
    tasks_identity = tasks_directory < 0 ? 0 : lg__os_file_identity(tasks_directory);
}
