/* The ended runs that are kept. A start that finds the oldest one in the list of an earlier start
 * takes its file; only every sixteenth start or so looks at all runs. A start that finds the file
 * system full deletes the oldest ones until there is room.
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
#include "session/owed_reports.h"
#include "session/session.h"

/* Where a directory has more files than this, the next starts handle the rest. */
#define FILES_MAX 65536u

/* After this many starts at the latest a start looks at all runs: those of processes that did not
 * hold the ledger, and remains of a start that died, are deleted then. */
#define LIST_STARTS 256u

/* All runs together take no more than this part of their file system. */
#define SHARE 4u

struct run_file {
    uint64_t ordinal;
    uint64_t size; /* on the disk */
    bool owed;     /* a report, and there is room for the run */
    bool gives_way;
    char name[LG__RUN_NAME_BYTES];
};

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

static int newest_first(const void *left, const void *right)
{
    const struct run_file *a = left, *b = right;
    return a->ordinal > b->ordinal ? -1 : a->ordinal < b->ordinal;
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

static uint32_t list_runs(int directory, struct run_file **ret_files)
{
    struct run_file *files = NULL;
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
            struct run_file *more = realloc(files, room * sizeof *files);
            if (!more)
                break;
            files = more;
        }
        files[count].ordinal = ordinal;
        files[count].owed = files[count].gives_way = false;
        files[count].size = (uint64_t)info.st_blocks * 512u;
        memcpy(files[count].name, entry->d_name, strlen(entry->d_name) + 1);
        count++;
    }
    closedir(stream);
    if (count)
        qsort(files, count, sizeof *files, newest_first);
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
    return ordinal < until && until - ordinal <= LIST_STARTS && hot->keep_runs == session->keep_runs &&
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
    struct run_file *files = NULL;
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

/* The part of a name after the ordinal. */
static bool parse_uuid(const char *name, uint8_t ret_uuid[16])
{
    const char *at = strchr(name, '-') + 1;
    for (int i = 0; i < 16; i++, at += 2) {
        unsigned byte;
        at += *at == '-';
        if (sscanf(at, "%2x", &byte) != 1)
            return false;
        ret_uuid[i] = (uint8_t)byte;
    }
    return true;
}

/* The newest of the owed runs for which there is room. Returns their bytes. */
static uint64_t keep_owed(const struct lg_session *session, const struct lg__owed_reports *owed, const uint64_t firsts[LG__CONTEXTS], struct run_file *files,
                          uint32_t count)
{
    uint64_t bytes = 0, most = most_bytes(session);
    for (uint32_t i = 0; owed->spool >= 0 && i < count && bytes <= most; i++) {
        if (files[i].ordinal == session->ordinal || is_first(firsts, files[i].ordinal) || !lg__owed_reports_is(owed, session->host.directory, files[i].name))
            continue;
        bytes += files[i].size;
        files[i].owed = bytes <= most;
    }
    return bytes <= most ? bytes : most;
}

/* The runs that are kept. */
struct kept {
    /* those that give way last come first: owed ones, then the others, each newest first; without
     * the first runs of the streaks */
    const struct run_file *files;
    uint32_t owed;
    uint32_t count;
    uint64_t bytes;
};

/* List the oldest runs for the next starts, each of which adds a run of the size of this one. */
static void list_oldest(struct lg_session *session, const struct kept *kept)
{
    struct lg__hot *hot = session->host.ledger.hot;
    const uint64_t own = session->host.run.map.size, most = most_bytes(session), others = kept->count - kept->owed;
    uint64_t unused = others < session->keep_runs ? session->keep_runs - others : 0;
    atomic_store(&hot->oldest_until, 0);
    hot->keep_runs = session->keep_runs;
    hot->keep_bytes = session->keep_bytes;
    uint64_t starts = 0, bytes = kept->bytes;
    for (uint32_t listed = 0; starts < LIST_STARTS; starts++) {
        bytes += own;
        /* from now on each start needs the bytes of an older run */
        if (kept->owed && bytes > most && starts < unused)
            unused = starts;
        if (starts >= unused) {
            if (listed == LG__OLDEST || listed == kept->count)
                break;
            const struct run_file *file = &kept->files[kept->count - 1 - listed];
            if (!parse_uuid(file->name, hot->oldest[listed].uuid))
                break;
            hot->oldest[listed].ordinal = file->ordinal;
            bytes -= file->size;
            listed++;
        }
        /* the size of the owed runs is measured when one of them has to give way */
        if (bytes > most && !kept->owed)
            break;
    }
    atomic_store(&hot->oldest_from, session->ordinal + 1 + unused);
    LG_FAULT_POINT("retention: listed");
    atomic_store(&hot->oldest_until, session->ordinal + 1 + starts);
}

static void list_kept(struct lg_session *session, const uint64_t firsts[LG__CONTEXTS], const struct run_file *files, uint32_t count)
{
    struct run_file *ordered = malloc((count + 1) * sizeof *ordered);
    struct kept kept = { .files = ordered };
    for (int others = 0; ordered && others < 2; others++)
        for (uint32_t i = 0; i < count; i++) {
            if (files[i].ordinal == session->ordinal || files[i].gives_way || files[i].owed == others)
                continue;
            kept.bytes += files[i].size;
            if (!is_first(firsts, files[i].ordinal))
                ordered[kept.count++] = files[i];
            kept.owed += files[i].owed;
        }
    if (ordered)
        list_oldest(session, &kept);
    free(ordered);
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

/* The runs that give way. The newest ended one and the first ones of the streaks never do. */
static void choose(const struct lg_session *session, const struct lg__owed_reports *owed, const uint64_t firsts[LG__CONTEXTS], struct run_file *files, uint32_t count)
{
    uint64_t bytes = keep_owed(session, owed, firsts, files, count), most = most_bytes(session);
    uint32_t kept = 0;
    bool newest = true;
    for (uint32_t i = 0; i < count; i++) {
        if (files[i].ordinal == session->ordinal)
            continue; /* this run has not ended */
        bool first = is_first(firsts, files[i].ordinal);
        bytes += files[i].owed ? 0 : files[i].size;
        files[i].gives_way = !files[i].owed && !first && !newest && (kept >= session->keep_runs || bytes > most);
        kept += !files[i].owed && !first && !files[i].gives_way;
        newest &= first;
    }
}

/* The oldest first: what a start that died has counted is then the next one to be counted. */
static void delete_chosen(const struct lg_session *session, const struct lg__owed_reports *owed, const struct run_file *files, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        if (files[i].gives_way) {
            give_way(session, owed, files[i].name);
            LG_FAULT_POINT("retention: given way");
        }
}

/* The process of a run lives, also one that closed all descriptors, and the lock with them, as a
 * daemon does. */
static bool has_process(const struct lg_session *session, const char *name)
{
    char path[4096 + 96];
    lg_reader *reader;
    lg_run_info info;
    snprintf(path, sizeof path, "%s/runs/%s", session->host.directory, name);
    if (is_living(session->runs_directory, name))
        return true;
    if (lg_reader_open(path, &reader) != LG_OK)
        return false;
    bool alive = lg_reader_run(reader, &info) == LG_OK && info.alive && !info.exec_marked;
    lg_reader_close(reader);
    return alive;
}

/* A program that forks may have more living processes than runs are kept. */
static uint32_t drop_living(const struct lg_session *session, struct run_file *files, uint32_t count)
{
    uint32_t ended = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!has_process(session, files[i].name))
            files[ended++] = files[i];
    return ended;
}

/* A process that does not hold the ledger applies retention at one of so many starts. It never
 * deletes the run of the process that holds the ledger. */
#define SECONDARY_STARTS 16u

static void apply_beside_primary(const struct lg_session *session)
{
    uint64_t firsts[LG__CONTEXTS];
    struct run_file *files = NULL;
    if (session->ordinal % SECONDARY_STARTS)
        return;
    uint32_t count = list_runs(session->runs_directory, &files);
    count = drop_living(session, files, count);
    first_runs(session, firsts);
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    choose(session, &owed, firsts, files, count);
    for (uint32_t i = 0; i < count; i++)
        files[i].gives_way &= files[i].ordinal != session->host.ledger.payload.last_ordinal;
    delete_chosen(session, &owed, files, count);
    lg__owed_reports_close(&owed);
    free(files);
}

void lg__retention_apply(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    uint64_t firsts[LG__CONTEXTS];
    struct run_file *files = NULL;
    if (!host->counts && session->preloaded)
        apply_beside_primary(session);
    if (!host->counts)
        return;
    trim_last(session);
    bool says_more = !is_listed(session, session->ordinal) || delete_listed(session);
    if (says_more && is_listed(session, session->ordinal + 1))
        return; /* the next start finds its run in the list */
    uint32_t count = list_runs(session->runs_directory, &files);
    if (session->preloaded)
        count = drop_living(session, files, count);
    pthread_mutex_lock(&host->lock);
    first_runs(session, firsts);
    pthread_mutex_unlock(&host->lock);
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    choose(session, &owed, firsts, files, count);
    LG_FAULT_POINT("retention: chosen");
    delete_chosen(session, &owed, files, count);
    lg__owed_reports_close(&owed);
    list_kept(session, firsts, files, count);
    free(files);
}

bool lg__retention_make_room(const struct lg_session *session, bool firsts_too)
{
    const struct lg__ledger_payload *payload = &session->host.ledger.payload;
    uint64_t firsts[LG__CONTEXTS];
    struct run_file *files = NULL;
    bool deleted = false;
    uint32_t count = list_runs(session->runs_directory, &files);
    struct lg__owed_reports owed = lg__owed_reports_open(session->runs_directory);
    first_runs(session, firsts);
    for (int owed_too = 0; owed_too <= (owed.spool >= 0) && !deleted; owed_too++)
        for (uint32_t i = count; i-- > 0 && !deleted;) {
            /* the last run is still to be classified */
            bool needed = payload->last_ordinal && files[i].ordinal >= payload->last_ordinal;
            if (!needed && (firsts_too || !is_first(firsts, files[i].ordinal)) &&
                (owed_too || !lg__owed_reports_is(&owed, session->host.directory, files[i].name)))
                deleted = give_way(session, &owed, files[i].name);
        }
    lg__owed_reports_close(&owed);
    free(files);
    return deleted;
}

void lg__retention_trim(const struct lg_session *session)
{
    struct run_file *files = NULL;
    uint32_t count = list_runs(session->runs_directory, &files);
    for (uint32_t i = 0; i < count; i++)
        lg__map_trim_ended(session->runs_directory, files[i].name);
    free(files);
}
