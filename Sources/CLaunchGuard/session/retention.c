/* The ended runs that are kept. A start that finds in the list of an earlier start the run that
 * gives way to it takes that file; only every eighth to sixteenth start looks at all runs. A start
 * that finds the file system full deletes runs until there is room. retention_choice.c knows the
 * order.
 *
 * A run that delivery still owes a report gives way after all others, only for want of bytes, and
 * is counted in the tally of the spool: no report is lost unnoticed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launchguard/reader.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "read/verdict.h"
#include "session/owed_reports.h"
#include "session/retention_choice.h"
#include "session/session.h"

/* Where a directory has more files than this, the next starts handle the rest. */
#define FILES_MAX 65536u

/* All runs together take no more than this part of their file system. */
#define SHARE 4u

static bool ends_in(const char *name, const char *end)
{
    size_t size = strlen(name), tail = strlen(end);
    return size > tail && strcmp(name + size - tail, end) == 0;
}

static bool parse_name(const char *name, uint64_t *ret_ordinal)
{
    if (strlen(name) >= LG__RUN_NAME_BYTES || !ends_in(name, ".lgrun"))
        return false;
    char *end;
    *ret_ordinal = strtoull(name, &end, 10);
    return end != name && *end == '-';
}

static bool is_living(int directory, const char *name)
{
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool living = file >= 0 && lg__map_locked(file);
    if (file >= 0)
        close(file);
    return living;
}

/* Delete a run, but not that of a living process. false: it is still there. */
static bool delete_run(int directory, const char *name)
{
    return !is_living(directory, name) && (unlinkat(directory, name, 0) == 0 || errno == ENOENT);
}

/* Delete a run that delivery owes a report, and count it. A start that dies in between finds the
 * run again, and does not count it twice. */
static bool give_way(const struct lg_session *session, const struct lg__owed_reports *owed, const char *name)
{
    bool is_owed = lg__owed_reports_is(owed, session->host.directory, name);
    bool counted = !is_owed || lg__owed_reports_count(owed, session->host.directory, name);
    LG_FAULT_POINT("retention: counted");
    if (!counted)
        lg__host_log(&session->host, LG_LEVEL_WARNING, "a run without a report gave way, and could not be counted: %s", name);
    return delete_run(session->runs_directory, name);
}

static uint32_t list_runs(int directory, struct lg__ended_run **ret_files)
{
    struct lg__ended_run *files = NULL;
    uint32_t count = 0, room = 0;
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    for (struct dirent *entry; count < FILES_MAX && (entry = readdir(stream));) {
        uint64_t ordinal;
        struct stat info;
        if (!parse_name(entry->d_name, &ordinal) || fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        if (count == room) {
            room = room ? 2 * room : 64;
            struct lg__ended_run *more = realloc(files, room * sizeof *files);
            if (!more)
                break;
            files = more;
        }
        files[count] = (struct lg__ended_run){ .ordinal = ordinal, .size = (uint64_t)info.st_blocks * 512u };
        memcpy(files[count].name, entry->d_name, strlen(entry->d_name) + 1);
        count++;
    }
    closedir(stream);
    *ret_files = files;
    return count;
}

/* The first runs of the streaks are kept beyond the limits. */
static void first_runs(const struct lg_session *session, uint64_t ret_firsts[LG__CONTEXTS])
{
    const struct lg__ledger_payload *payload = &session->host.ledger.payload;
    for (uint32_t i = 0; i < LG__CONTEXTS; i++)
        ret_firsts[i] = i < payload->context_count ? payload->contexts[i].first_ordinal : 0;
}

static bool is_first(const uint64_t firsts[LG__CONTEXTS], uint64_t ordinal)
{
    bool first = false;
    for (uint32_t i = 0; i < LG__CONTEXTS; i++)
        first |= firsts[i] && firsts[i] == ordinal;
    return first;
}

/* ---- the list ---- */

static bool is_listed(const struct lg_session *session, uint64_t ordinal)
{
    const struct lg__hot *hot = session->host.ledger.hot;
    uint64_t until = atomic_load(&hot->oldest_until);
    /* the page may be damaged: no list is longer */
    return ordinal < until && until - ordinal <= LG__FORESEEN_STARTS && hot->keep_runs == session->keep_runs &&
           hot->keep_bytes == session->keep_bytes;
}

/* The run that gives way to this one by the list. */
static bool find_listed(const struct lg_session *session, char ret_name[LG__RUN_NAME_BYTES])
{
    const struct lg__hot *hot = session->host.ledger.hot;
    uint64_t firsts[LG__CONTEXTS], index = session->ordinal - atomic_load(&hot->oldest_from);
    if (!session->host.ledger.primary || !is_listed(session, session->ordinal) || index >= LG__OLDEST)
        return false;
    const struct lg__hot_run *oldest = &hot->oldest[index];
    first_runs(session, firsts);
    /* the last run is still to be classified */
    if (is_first(firsts, oldest->ordinal) || oldest->ordinal >= session->host.ledger.payload.last_ordinal)
        return false;
    lg__run_name(oldest->ordinal, oldest->uuid, ret_name);
    return true;
}

bool lg__retention_oldest(const struct lg_session *session, char ret_name[LG__RUN_NAME_BYTES])
{
    if (!find_listed(session, ret_name))
        return false;
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    bool is_owed = lg__owed_reports_is(&owed, session->host.directory, ret_name);
    lg__owed_reports_close(&owed);
    return !is_owed;
}

static uint64_t most_bytes(const struct lg_session *session)
{
    struct statvfs info;
    uint64_t share = fstatvfs(session->runs_directory, &info) == 0 ? (uint64_t)info.f_blocks * info.f_frsize / SHARE : UINT64_MAX;
    return share && share < session->keep_bytes ? share : session->keep_bytes;
}

/* All ended runs together, without a look into their files. */
static bool are_too_large(const struct lg_session *session)
{
    struct lg__ended_run *files = NULL;
    uint64_t bytes = 0;
    uint32_t count = list_runs(session->runs_directory, &files);
    for (uint32_t i = 0; i < count; i++)
        bytes += files[i].ordinal == session->ordinal ? 0 : files[i].size;
    free(files);
    return bytes > most_bytes(session);
}

static bool is_last_owed(const struct lg_session *session, const struct lg__owed_reports *owed)
{
    const struct lg__ledger_payload *payload = &session->host.ledger.payload;
    const struct lg__ledger_run *last = payload->timeline_count ? &payload->timeline[payload->timeline_count - 1] : NULL;
    char name[LG__RUN_NAME_BYTES];
    if (!last)
        return false;
    lg__run_name(last->ordinal, last->uuid, name);
    return lg__owed_reports_is(owed, session->host.directory, name);
}

/* Delete the run that the list names, whose file could not be used. An owed run gives way for want
 * of bytes, and while all runs since the list are owed too. false: the list does not help. */
static bool delete_listed(const struct lg_session *session)
{
    char name[LG__RUN_NAME_BYTES];
    if (!find_listed(session, name))
        return true;
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    bool is_owed = lg__owed_reports_is(&owed, session->host.directory, name), valid = !is_owed || is_last_owed(session, &owed);
    if (!is_owed || (valid && are_too_large(session)))
        give_way(session, &owed, name);
    lg__owed_reports_close(&owed);
    return valid && !(is_owed && are_too_large(session));
}

/* List the next runs to give way. */
static void list_oldest(struct lg_session *session, struct lg__ended_run *kept, uint32_t count, uint64_t bytes)
{
    struct lg__hot *hot = session->host.ledger.hot;
    const struct lg__retention_limits limits = { session->keep_runs, most_bytes(session) };
    struct lg__retention_forecast forecast = lg__retention_choice_foresee(kept, count, &limits, bytes, session->host.run.map.size);
    atomic_store(&hot->oldest_until, 0);
    hot->keep_runs = session->keep_runs;
    hot->keep_bytes = session->keep_bytes;
    for (uint64_t i = 0; forecast.unused + i < forecast.starts; i++) {
        const struct lg__ended_run *run = &kept[count - 1 - i];
        hot->oldest[i].ordinal = run->ordinal;
        if (!lg__os_uuid(strchr(run->name, '-') + 1, hot->oldest[i].uuid))
            forecast.starts = forecast.unused + i;
    }
    atomic_store(&hot->oldest_from, session->ordinal + 1 + forecast.unused);
    LG_FAULT_POINT("retention: listed");
    atomic_store(&hot->oldest_until, session->ordinal + 1 + forecast.starts);
}

static void list_kept(struct lg_session *session, struct lg__ended_run *runs, uint32_t count)
{
    uint64_t bytes = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].gives_way)
            continue;
        bytes += runs[i].size;
        if (!runs[i].first)
            runs[kept++] = runs[i];
    }
    list_oldest(session, runs, kept, bytes);
}

/* A crashed process could not give unused blocks of its file back. A clean one has. */
static void trim_last(const struct lg_session *session)
{
    const struct lg__ledger_payload *payload = &session->host.ledger.payload;
    const struct lg__ledger_run *last = payload->timeline_count ? &payload->timeline[payload->timeline_count - 1] : NULL;
    char name[LG__RUN_NAME_BYTES];
    if (!last || last->end == LG_END_CLEAN)
        return;
    lg__run_name(last->ordinal, last->uuid, name);
    lg__map_trim_ended(session->runs_directory, name);
}

/* From the end: what a start that died has counted is then the next one to be counted. */
static void delete_chosen(const struct lg_session *session, const struct lg__owed_reports *owed, const struct lg__ended_run *runs, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        if (runs[i].gives_way) {
            give_way(session, owed, runs[i].name);
            LG_FAULT_POINT("retention: given way");
        }
}

/* ---- what is in the runs ---- */

/* Nothing is lost with a file that no reader opens. One of a newer version is kept like a bad end.
 * `ret_alive`: the process lives, also one that closed all descriptors, and the lock with them, as
 * a daemon does. */
static bool is_quiet(const struct lg_session *session, const char *name, bool *ret_alive)
{
    char path[4096 + 96];
    lg_reader *reader;
    struct lg__case file = { .crashed = false };
    lg_guards_info guards;
    *ret_alive = session->preloaded && is_living(session->runs_directory, name);
    snprintf(path, sizeof path, "%s/runs/%s", session->host.directory, name);
    lg_status status = *ret_alive ? LG_ERR_STATE : lg_reader_open(path, &reader);
    if (status != LG_OK)
        return status == LG_ERR_DAMAGED;
    bool quiet = lg__reader_case(reader, false, &file) == LG_OK && !file.crashed && !file.run.alive && !lg_end_is_bad(file.verdict.end) &&
                 !(lg_reader_guards(reader, &guards) == LG_OK && guards.survived);
    *ret_alive = session->preloaded && file.run.alive && !file.run.exec_marked;
    lg_reader_close(reader);
    return quiet;
}

/* The ended runs but this one, to be freed. A program that forks may have more living processes
 * than runs are kept. */
static struct lg__ended_run *ended_runs(struct lg_session *session, const struct lg__owed_reports *owed, uint32_t *ret_count)
{
    uint64_t firsts[LG__CONTEXTS];
    struct lg__ended_run *runs = NULL;
    uint32_t count = list_runs(session->runs_directory, &runs), ended = 0;
    pthread_mutex_lock(&session->host.lock);
    first_runs(session, firsts);
    pthread_mutex_unlock(&session->host.lock);
    for (uint32_t i = 0; i < count; i++) {
        struct lg__ended_run *run = &runs[i];
        bool alive;
        run->quiet = is_quiet(session, run->name, &alive);
        run->first = is_first(firsts, run->ordinal);
        run->owed = lg__owed_reports_is(owed, session->host.directory, run->name);
        if (run->ordinal != session->ordinal && !alive)
            runs[ended++] = *run;
    }
    *ret_count = ended;
    return runs;
}

/* A process that does not hold the ledger applies retention at one of so many starts. It never
 * deletes the run of the process that holds the ledger. */
#define SECONDARY_STARTS 16u

static void apply_beside_primary(struct lg_session *session)
{
    const struct lg__retention_limits limits = { session->keep_runs, most_bytes(session) };
    uint32_t count;
    if (session->ordinal % SECONDARY_STARTS)
        return;
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    struct lg__ended_run *runs = ended_runs(session, &owed, &count);
    lg__retention_choice_make(runs, count, &limits);
    for (uint32_t i = 0; i < count; i++)
        runs[i].gives_way &= runs[i].ordinal != session->host.ledger.payload.last_ordinal;
    delete_chosen(session, &owed, runs, count);
    lg__owed_reports_close(&owed);
    free(runs);
}

void lg__retention_apply(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    uint32_t count;
    if (!host->counts && session->preloaded)
        apply_beside_primary(session);
    if (!host->counts)
        return;
    trim_last(session);
    bool says_more = !is_listed(session, session->ordinal) || host->run.is_recycled || delete_listed(session);
    if (says_more && is_listed(session, session->ordinal + 1))
        return; /* the next start finds its run in the list */
    const struct lg__retention_limits limits = { session->keep_runs, most_bytes(session) };
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    struct lg__ended_run *runs = ended_runs(session, &owed, &count);
    lg__retention_choice_make(runs, count, &limits);
    LG_FAULT_POINT("retention: chosen");
    delete_chosen(session, &owed, runs, count);
    lg__owed_reports_close(&owed);
    list_kept(session, runs, count);
    free(runs);
}

bool lg__retention_make_room(struct lg_session *session, bool firsts_too)
{
    const uint64_t last = session->host.ledger.payload.last_ordinal;
    uint32_t count;
    bool deleted = false;
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    struct lg__ended_run *runs = ended_runs(session, &owed, &count);
    lg__retention_choice_order(runs, count, session->keep_runs);
    for (uint32_t i = count; i-- > 0 && !deleted;) {
        bool needed = last && runs[i].ordinal >= last; /* the last run is still to be classified */
        if (!needed && (firsts_too || !runs[i].first))
            deleted = give_way(session, &owed, runs[i].name);
    }
    lg__owed_reports_close(&owed);
    free(runs);
    return deleted;
}

void lg__retention_trim(const struct lg_session *session)
{
    struct lg__ended_run *runs = NULL;
    uint32_t count = list_runs(session->runs_directory, &runs);
    for (uint32_t i = 0; i < count; i++)
        lg__map_trim_ended(session->runs_directory, runs[i].name);
    free(runs);
}
