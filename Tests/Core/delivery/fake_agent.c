/* An agent for tests. The file "plan" in the state directory says what it does:
 *
 *   leave    it ends at once
 *   stay     it takes the lock, and does nothing
 *   deliver  it takes the lock; what is in spool/new goes to spool/sent, requests are deleted, and
 *            ended runs are marked as reported; then there is a file "passed"
 *
 * While it lives it follows another plan as soon as there is one.
 * It adds a line with its pid to the file "agents", and ends after two minutes whatever happens. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "launchguard/reader.h"
#include "session/run_words.h"
#include "store/crc32c.h"
#include "store/map.h"
#include "store/run.h"
#include "store/spool.h"

static void each(const char *folder, void (*act)(const char *name))
{
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (entry->d_name[0] != '.')
            act(entry->d_name);
    if (stream)
        closedir(stream);
}

static void send_one(const char *name)
{
    char from[512], to[512];
    snprintf(from, sizeof from, "spool/new/%s", name);
    snprintf(to, sizeof to, "spool/sent/%s", name);
    rename(from, to);
}

static void drop_request(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "spool/requests/%s", name);
    unlink(path);
}

static void settle_run(const char *name)
{
    uint8_t uuid[16];
    const char *at = strchr(name, '-');
    int runs = open("runs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; at && i < 16; i++) {
        unsigned byte = 0;
        at += *at == '-';
        sscanf(at, "%2x", &byte);
        uuid[i] = (uint8_t)byte;
        at += 2;
    }
    if (at)
        lg__run_words_set_reported(runs, name, uuid, LG_REPORTED_SPOOLED);
    close(runs);
}

static bool plans(const char *what)
{
    char plan[32] = "";
    int file = open("plan", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, plan, sizeof plan - 1);
    if (file >= 0)
        close(file);
    return size > 0 && strcmp(plan, what) == 0;
}

int main(int count, char **arguments)
{
    alarm(120);
    if (count != 3 || strcmp(arguments[1], "--state") != 0 || chdir(arguments[2]) != 0)
        return 2;
    lg__crc32c_init();
    int agents = open("agents", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dprintf(agents, "%d\n", (int)getpid());
    if (plans("leave"))
        return 0;
    int lock = open("spool/agent", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!lg__map_lock(lock))
        return 0;
    for (;; rest(1)) {
        if (!plans("deliver"))
            continue;
        each("runs", settle_run);
        each("spool/requests", drop_request);
        each("spool/new", send_one);
        close(open("passed", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
}
