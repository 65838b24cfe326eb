/* The operating system: the kernel's log, where this user may read it. Not for the handler. */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The kernel returns one record a read, and EINVAL where the record does not fit (8192 bytes do,
 * since Linux 3.5). */
#define RECORD_BYTES 8192
#define RECORDS_MAX (1 << 18)

/* The name of the first pid namespace: the log has the numbers of that one. */
static const char first_namespace[] = "pid:[4026531836]";

static bool numbers_are_ours(void)
{
    char name[64];
    ssize_t size = readlink("/proc/self/ns/pid", name, sizeof name);
    return size == (ssize_t)strlen(first_namespace) && memcmp(name, first_namespace, (size_t)size) == 0;
}

/* "3,59803,45436248935,-;Memory cgroup out of memory: Killed process 5372 (player) total-vm:…": the
 * priority with the facility, a number, microseconds, flags. Another facility than 0 is a process
 * that wrote into the log. The words have stood there since Linux 2.6; before 5.2 without the
 * part up to the colon. */
static bool says_killed(const char *record, pid_t pid, uint64_t since_us)
{
    uint64_t priority, time_us, number;
    const char *time = strchr(record, ',');
    time = time ? strchr(time + 1, ',') : NULL;
    const char *text = time ? strchr(time, ';') : NULL;
    if (!text || !lg__os_number(record, 10, &priority) || priority > 7 || !lg__os_number(time + 1, 10, &time_us) || time_us < since_us)
        return false;
    static const char words[] = "Killed process ";
    const char *after = strstr(++text, ": Killed process ");
    const char *at = strncmp(text, words, sizeof words - 1) == 0 ? text : after ? after + 2 : NULL;
    return at && lg__os_number(at + sizeof words - 1, 10, &number) && number == (uint64_t)pid;
}

bool lg__os_kernel_log_killed(const char *path, pid_t pid, uint64_t since_ns)
{
    char text[RECORD_BYTES + 1];
    bool found = false;
    int file = numbers_are_ours() ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
    if (file < 0)
        return false;
    /* The log's clock is not corrected as CLOCK_MONOTONIC is: by at most 500 parts in a million. */
    uint64_t slack_ns = since_ns / 1000 + UINT64_C(1000000000);
    uint64_t since_us = since_ns > slack_ns ? (since_ns - slack_ns) / 1000 : 0;
    for (int records = 0; !found && records < RECORDS_MAX; records++) {
        ssize_t size = read(file, text, RECORD_BYTES);
        if (size < 0 && (errno == EPIPE || errno == EINTR)) /* the oldest records are gone */
            continue;
        if (size <= 0)
            break;
        text[size] = 0;
        for (char *line = text, *end; !found && *line; line = *end ? end + 1 : end) {
            end = line + strcspn(line, "\n");
            char kept = *end;
            *end = 0;
            found = says_killed(line, pid, since_us);
            *end = kept;
        }
    }
    close(file);
    return found;
}
