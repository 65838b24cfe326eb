/* lg_witness(): a supervisor stores the wait status of a process that it has waited for.
 *
 * The files are those of another process: see foreign_file.h. Nothing is written but the two fields
 * of the witness and the word by which the ledger tells a clean end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchguard/reader.h"
#include "launchguard/session.h"
#include "os/os.h"
#include "session/run_words.h"
#include "store/crc32c.h"
#include "store/run.h"

struct found {
    char name[LG__RUN_NAME_BYTES];
    lg_run_info info;
    uint64_t newest; /* number of the newest file */
    lg_status why;   /* why that one cannot be read; LG_OK: it can */
};

static bool this_boot(const lg_run_info *info)
{
    uint8_t now[LG__UUID_BYTES];
    char text[37];
    if (!lg__os_boot_id(now))
        return true;
    lg__run_uuid_text(now, text);
    return strcmp(text, info->boot_id) == 0;
}

static void consider_run_file(const char *state_directory, const char *name, int32_t pid, struct found *found)
{
    char path[4096 + 96], *end;
    lg_reader *reader;
    lg_run_info info;
    size_t size = strlen(name);
    uint64_t ordinal = strtoull(name, &end, 10);
    if (size >= LG__RUN_NAME_BYTES || size < 6 || strcmp(name + size - 6, ".lgrun") != 0 || end == name || *end != '-')
        return;
    int length = snprintf(path, sizeof path, "%s/runs/%s", state_directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    lg_status status = lg_reader_open(path, &reader);
    if (status == LG_OK) {
        status = lg_reader_run(reader, &info);
        lg_reader_close(reader);
    }
    if (ordinal > found->newest) {
        found->newest = ordinal;
        found->why = status;
    }
    if (status == LG_OK && info.pid == pid && this_boot(&info) && (!found->name[0] || info.ordinal > found->info.ordinal)) {
        memcpy(found->name, name, size + 1);
        found->info = info;
    }
}

/* The newest run of a process, of this boot. A damaged or newer file is reported only where it is
 * the newest of all: it may be the one. */
static lg_status find_run(int runs, const char *state_directory, int32_t pid, struct found *ret_found)
{
    memset(ret_found, 0, sizeof *ret_found);
    int copy = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        errno = error;
        return lg__foreign_file_status(error);
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        consider_run_file(state_directory, entry->d_name, pid, ret_found);
    closedir(stream);
    if (ret_found->name[0])
        return ret_found->info.alive ? LG_ERR_STATE : LG_OK;
    return ret_found->why != LG_OK ? ret_found->why : LG_ERR_NOT_FOUND;
}

/* The ledger may tell a clean end of the run, which the wait status is to replace. A ledger that no
 * start uses tells nothing. */
static lg_status withdraw_clean_end(int runs, uint64_t ordinal)
{
    struct lg__header header;
    struct lg__foreign_file ledger;
    uint64_t told = 0;
    lg_status status = lg__foreign_file_open(runs, "../ledger.lg", &ledger);
    if (status != LG_OK)
        return status == LG_ERR_NOT_FOUND || status == LG_ERR_LINK || status == LG_ERR_DAMAGED || status == LG_ERR_OWNER ? LG_OK : status;
    if (lg__foreign_file_header(&ledger, LG__MAGIC_LEDGER, LG__LEDGER_MAJOR, &header) == LG_OK) {
        const struct lg__section *hot = lg__foreign_file_section(&ledger, &header, LG__SECTION_HOT, sizeof(struct lg__hot));
        uint64_t at = hot ? hot->offset + offsetof(struct lg__hot, clean_end.ordinal) : 0;
        if (hot && lg__foreign_file_read(&ledger, at, &told, sizeof told) && told == ordinal)
            lg__foreign_file_write(&ledger, at, &(uint64_t){ 0 }, sizeof told);
    }
    lg__foreign_file_close(&ledger);
    return LG_OK;
}

/* A later start has said in the ledger how the run ended. Secondary runs are in no ledger. */
static bool is_classified(const char *state_directory, const struct found *found)
{
    char path[4096 + 96];
    lg_reader *reader;
    lg_ledger_info ledger = { .last_ordinal = 0 };
    snprintf(path, sizeof path, "%s/ledger.lg", state_directory);
    if (found->info.secondary || lg_reader_open(path, &reader) != LG_OK)
        return false;
    if (lg_reader_ledger(reader, &ledger) != LG_OK)
        ledger.last_ordinal = 0;
    lg_reader_close(reader);
    return ledger.last_ordinal > found->info.ordinal;
}

static lg_status store_wait_status(const char *state_directory, int runs, const struct lg__run_words *words, const struct found *found, int32_t wait_status)
{
    const uint64_t at = words->state + offsetof(struct lg__state, witnessed);
    uint32_t witnessed = 1;
    if (!lg__foreign_file_read(&words->file, at, &witnessed, sizeof witnessed))
        return LG_ERR_DAMAGED;
    if (witnessed || is_classified(state_directory, found))
        return LG_ERR_ALREADY;
    lg_status status = withdraw_clean_end(runs, found->info.ordinal);
    if (status != LG_OK)
        return status;
    witnessed = 1;
    if (!lg__foreign_file_write(&words->file, words->state + offsetof(struct lg__state, witness_status), &wait_status, sizeof wait_status) ||
        !lg__foreign_file_write(&words->file, at, &witnessed, sizeof witnessed))
        return LG_ERR_SYSTEM;
    return LG_OK;
}

lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status)
{
    char path[4096 + 8];
    struct stat info;
    struct found found;
    if (!state_directory || !*state_directory || pid <= 0 || (!WIFEXITED(wait_status) && !WIFSIGNALED(wait_status)))
        return LG_ERR_ARGUMENT;
    int length = snprintf(path, sizeof path, "%s/runs", state_directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return LG_ERR_NOT_FOUND;
    int runs = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (runs < 0) {
        int error = errno;
        /* O_DIRECTORY|O_NOFOLLOW reports a link as ENOTDIR. */
        if (error == ENOTDIR && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            return LG_ERR_LINK;
        errno = error;
        return lg__foreign_file_status(error);
    }
    lg__crc32c_init();
    lg_status status = find_run(runs, state_directory, pid, &found);
    struct lg__run_words words;
    /* The lock keeps two witnesses apart, and the next start away while it classifies the run. It
     * goes with the descriptor. */
    if (status == LG_OK && !lg__map_flock(runs, LOCK_EX))
        status = LG_ERR_SYSTEM;
    if (status == LG_OK && (status = lg__run_words_open(runs, found.name, found.info.uuid, &words)) == LG_OK) {
        status = store_wait_status(state_directory, runs, &words, &found, wait_status);
        lg__run_words_close(&words);
    }
    int error = errno;
    close(runs);
    errno = error;
    return status;
}
