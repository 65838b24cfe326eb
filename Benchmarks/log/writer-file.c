/* One write(2) for each entry, to the end of a file. Modes: text, format (snprintf). */
#include "writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct entry {
    struct timespec time;
    uint32_t level, thread;
    char text[TEXT_BYTES];
};
_Static_assert(sizeof(struct entry) == 64, "as the others");

static int file;
static _Thread_local uint32_t thread;

static void open_file(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/appended", directory);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        writer_fail(path);
}

static void finish(struct entry *entry)
{
    if (!thread)
        thread = (uint32_t)gettid();
    clock_gettime(CLOCK_MONOTONIC, &entry->time);
    entry->level = 30;
    entry->thread = thread;
    if (write(file, entry, sizeof *entry) != sizeof *entry)
        writer_fail("write");
}

static void append_text(const char *text)
{
    struct entry entry;
    memcpy(entry.text, text, TEXT_BYTES);
    finish(&entry);
}

static void append_format(const char *text)
{
    (void)text;
    struct entry entry;
    snprintf(entry.text, TEXT_BYTES, "opened %s: %u rows in %u ms, code %d", writer_arguments.name, writer_arguments.rows,
             writer_arguments.milliseconds, writer_arguments.code);
    finish(&entry);
}

const struct writer writers[] = {
    { "text", open_file, append_text, 0, NULL },
    { "format", open_file, append_format, 0, NULL },
    { 0 },
};
