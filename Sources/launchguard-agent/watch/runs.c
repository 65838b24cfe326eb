#include "watch/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchguard/session.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "process/agent_log.h"
#include "session/run_words.h"
#include "store/map.h"
#include "watch/exit_status.h"

/* A file that is being made is readable a moment later: at the latest this long after it appeared,
 * and on a busy machine or a slow disk as long as its maker has it locked. */
#define MAKING_NS UINT64_C(2000000000)
#define LOOK_MS 20
#define LOOK_LATER_MS 500
/* The parent of a process that ended waits for it, or does not. */
#define STATUS_NS UINT64_C(2000000000)
#define STATUS_MS 5

bool runs_open(int state_directory, const char *path, struct runs *ret_runs)
{
    *ret_runs = (struct runs){ .state_directory = path };
    ret_runs->folder = openat(state_directory, "runs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return ret_runs->folder >= 0;
}

lg_reader *runs_reader(const struct runs *runs, const char *name)
{
    char path[4096 + 96];
    lg_reader *reader;
    int length = snprintf(path, sizeof path, "%s/runs/%s", runs->state_directory, name);
    return length > 0 && (size_t)length < sizeof path && lg_reader_open(path, &reader) == LG_OK ? reader : NULL;
}

static bool parse(const char *name, struct known_run *ret_run)
{
    char same[LG__RUN_NAME_BYTES], *end;
    size_t size = strlen(name);
    if (size >= sizeof ret_run->name || size < 43 || strcmp(name + size - 6, ".lgrun") != 0)
        return false;
    *ret_run = (struct known_run){ .pidfd = -1 };
    ret_run->ordinal = strtoull(name, &end, 10);
    if (*end != '-')
        return false;
    const char *at = end + 1;
    for (int i = 0; i < 16; i++, at += 2) {
        unsigned byte;
        at += *at == '-';
        if (sscanf(at, "%2x", &byte) != 1)
            return false;
        ret_run->uuid[i] = (uint8_t)byte;
    }
    lg__run_name(ret_run->ordinal, ret_run->uuid, same);
    memcpy(ret_run->name, name, size + 1);
    return strcmp(same, name) == 0;
}

static struct known_run *find(struct runs *runs, const char *name)
{
    for (uint32_t i = 0; i < runs->count; i++)
        if (strcmp(runs->list[i].name, name) == 0)
            return &runs->list[i];
    return NULL;
}

static void let_go(struct known_run *run)
{
    if (run->pidfd >= 0)
        close(run->pidfd);
    run->pidfd = -1;
}

static void store_word(const struct runs *runs, const char *name, uint64_t ordinal, const uint8_t uuid[16], uint32_t word)
{
    lg_status status = lg__run_words_set_reported(runs->folder, name, uuid, word);
    if (status != LG_OK && status != LG_ERR_NOT_FOUND)
        agent_log("run %llu: the word of its report cannot be stored: %s", (unsigned long long)ordinal, lg_status_message(status));
}

void runs_settle(struct runs *runs, struct known_run *run, lg_reported reported, uint64_t in)
{
    store_word(runs, run->name, run->ordinal, run->uuid, (uint32_t)reported | (uint32_t)in << LG__REPORTED_SHIFT);
    run->state = RUN_SETTLED;
}

void runs_note(const struct runs *runs, uint64_t ordinal, const uint8_t uuid[16], lg_reported reported)
{
    char name[LG__RUN_NAME_BYTES];
    lg__run_name(ordinal, uuid, name);
    store_word(runs, name, ordinal, uuid, reported);
}

/* Begin to wait for the end of a process. The mark in the run file comes first; others believe it
 * only while this agent lives. */
static void attach(struct runs *runs, struct known_run *run, const lg_run_info *info)
{
    run->state = RUN_ALIVE;
    run->pid = info->pid;
    run->start_ticks = info->start_ticks;
    run->pidfd = exit_status_open(info->pid, info->start_ticks);
    if (run->pidfd < 0)
        return; /* ended, or in another pid namespace: the next look shows which */
    lg_status status = lg__run_words_attach(runs->folder, run->name, run->uuid, true);
    LG_FAULT_POINT("witness: attached");
    agent_log("run %llu: waiting for the end of process %d%s%s", (unsigned long long)run->ordinal, (int)info->pid,
              status == LG_OK ? "" : ", unannounced: ", status == LG_OK ? "" : lg_status_message(status));
}

/* The time begins at the first question. */
static bool has_lasted(struct known_run *run, uint64_t least_ns)
{
    const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    run->since_ns = run->since_ns ? run->since_ns : now;
    return now - run->since_ns >= least_ns;
}

/* The process of the run lives, and has the file locked. */
static bool is_being_made(const struct runs *runs, const struct known_run *run)
{
    int file = openat(runs->folder, run->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool locked = file >= 0 && lg__map_locked(file);
    if (file >= 0)
        close(file);
    return locked;
}

static void read_state(struct runs *runs, struct known_run *run)
{
    lg_run_info info;
    lg_reader *reader = runs_reader(runs, run->name);
    lg_status status = reader ? lg_reader_run(reader, &info) : LG_ERR_DAMAGED;
    lg_reader_close(reader);
    if (status != LG_OK) {
        if (has_lasted(run, MAKING_NS) && !is_being_made(runs, run)) {
            run->state = RUN_DAMAGED;
            agent_log("run %llu: its file cannot be read, and gives no report", (unsigned long long)run->ordinal);
        }
        return;
    }
    run->since_ns = 0;
    if (info.alive)
        attach(runs, run, &info);
    else
        run->state = info.reported == LG_REPORTED_NOT ? RUN_OWED : RUN_SETTLED;
}

static void add(struct runs *runs, const char *name)
{
    struct known_run run;
    struct known_run *old = find(runs, name);
    if (old) {
        old->seen = true;
        return;
    }
    if (!parse(name, &run))
        return;
    if (runs->count == runs->room) {
        uint32_t room = runs->room ? 2 * runs->room : 64;
        struct known_run *more = realloc(runs->list, room * sizeof *more);
        if (!more)
            return;
        runs->list = more;
        runs->room = room;
    }
    run.seen = true;
    runs->list[runs->count++] = run;
}

void runs_scan(struct runs *runs)
{
    int copy = openat(runs->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (uint32_t i = 0; i < runs->count; i++)
        runs->list[i].seen = false;
    for (struct dirent *entry; (entry = readdir(stream));)
        add(runs, entry->d_name);
    closedir(stream);
    for (uint32_t i = 0; i < runs->count;)
        if (!runs->list[i].seen) {
            let_go(&runs->list[i]);
            runs->list[i] = runs->list[--runs->count];
        } else {
            i++;
        }
}

/* The process has ended: store how, before the next start classifies the run. */
static void witness(struct runs *runs, struct known_run *run)
{
    int wait_status = 0;
    lg_status status;
    switch (exit_status_read(run->pidfd, run->pid, run->start_ticks, &wait_status)) {
    case EXIT_STATUS_LATER:
        if (!has_lasted(run, STATUS_NS))
            return;
        agent_log("run %llu: process %d has ended, and its status is not to be had", (unsigned long long)run->ordinal, (int)run->pid);
        break;
    case EXIT_STATUS_NEVER:
        agent_log("run %llu: process %d has ended; this kernel reports its status only to its parent", (unsigned long long)run->ordinal,
                  (int)run->pid);
        break;
    case EXIT_STATUS_KNOWN:
        LG_FAULT_POINT("witness: status known");
        status = lg_witness(runs->state_directory, run->pid, wait_status);
        LG_FAULT_POINT("witness: status stored");
        agent_log("run %llu: process %d ended with %s %d%s%s", (unsigned long long)run->ordinal, (int)run->pid,
                  WIFSIGNALED(wait_status) ? "signal" : "status", WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status),
                  status == LG_OK ? "" : "; not stored: ", status == LG_OK ? "" : lg_status_message(status));
        break;
    }
    let_go(run);
    run->since_ns = 0;
    run->state = RUN_UNREADABLE;
    read_state(runs, run);
}

int runs_look(struct runs *runs)
{
    int next = -1;
    for (uint32_t i = 0; i < runs->count; i++) {
        struct known_run *run = &runs->list[i];
        if (run->state == RUN_ALIVE && run->pidfd >= 0 && run->ended)
            witness(runs, run);
        else if (run->state == RUN_UNREADABLE || (run->state == RUN_ALIVE && run->pidfd < 0))
            read_state(runs, run);
        int again = run->state == RUN_ALIVE && run->ended && run->pidfd >= 0 ? STATUS_MS
                    : run->state == RUN_UNREADABLE                           ? (has_lasted(run, MAKING_NS) ? LOOK_LATER_MS : LOOK_MS)
                    : run->state == RUN_ALIVE && run->pidfd < 0              ? 1000 : -1;
        if (again >= 0 && (next < 0 || again < next))
            next = again;
    }
    return next;
}

uint32_t runs_alive(const struct runs *runs)
{
    uint32_t alive = 0;
    for (uint32_t i = 0; i < runs->count; i++)
        alive += runs->list[i].state == RUN_ALIVE;
    return alive;
}
