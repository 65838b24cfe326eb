#include "process/agent_log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int folder = -1, file = -1;
static bool to_stderr;

void agent_log_open(int spool, bool also_stderr)
{
    folder = spool;
    to_stderr = also_stderr;
    file = openat(spool, "agent.log", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
}

static void turn_over(void)
{
    struct stat info;
    if (fstat(file, &info) != 0 || info.st_size < AGENT_LOG_BYTES_MAX)
        return;
    if (renameat(folder, "agent.log", folder, "agent.log.1") != 0)
        return;
    close(file);
    agent_log_open(folder, to_stderr);
}

void agent_log(const char *format, ...)
{
    char line[1024];
    struct timespec now;
    struct tm parts;
    va_list arguments;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t size = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &parts);
    size += (size_t)snprintf(line + size, sizeof line - size, ".%03ldZ ", now.tv_nsec / 1000000);
    size_t begin = size;
    va_start(arguments, format);
    int length = vsnprintf(line + size, sizeof line - size - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size = size + (size_t)length < sizeof line - 1 ? size + (size_t)length : sizeof line - 2;
    for (size_t i = begin; i < size; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[size++] = '\n';
    if (file >= 0) {
        turn_over();
        if (file >= 0 && write(file, line, size) < 0)
            return; /* a full disk loses lines, and no report */
    }
    if (to_stderr && write(STDERR_FILENO, line + begin, size - begin) < 0)
        return;
}
