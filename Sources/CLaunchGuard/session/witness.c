/* lg_witness(): a supervisor stores the wait status of a process that it has waited for, and
 * lg_witness_stderr() what that process said.
 *
 * The files are those of another process: see foreign_file.h. A witness writes its three
 * fields, the word of the ledger for a clean end, and the tail of standard error, nothing else. */
#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchguard/reader.h"
#include "launchguard/session.h"
#include "session/run_words.h"
#include "session/witnessed_run.h"
#include "store/crc32c.h"
#include "store/run.h"

/* Take back a clean end of the run in the ledger, which the wait status replaces. A ledger that no
 * start uses has none. */
static lg_status withdraw_clean_end(int runs, uint64_t ordinal)
{
    struct lg__header header;
    struct lg__foreign_file ledger;
    uint64_t noted = 0;
    lg_status status = lg__foreign_file_open(runs, "../ledger.lg", &ledger);
    if (status != LG_OK)
        return status == LG_ERR_NOT_FOUND || status == LG_ERR_LINK || status == LG_ERR_DAMAGED || status == LG_ERR_OWNER ? LG_OK : status;
    if (lg__foreign_file_header(&ledger, LG__MAGIC_LEDGER, LG__LEDGER_MAJOR, &header) == LG_OK) {
        const struct lg__section *hot = lg__foreign_file_section(&ledger, &header, LG__SECTION_HOT, sizeof(struct lg__hot));
        uint64_t at = hot ? hot->offset + offsetof(struct lg__hot, clean_end.ordinal) : 0;
        if (hot && lg__foreign_file_read(&ledger, at, &noted, sizeof noted) && noted == ordinal)
            lg__foreign_file_write(&ledger, at, &(uint64_t){ 0 }, sizeof noted);
    }
    lg__foreign_file_close(&ledger);
    return LG_OK;
}

/* A later start has stored the end of the run in the ledger. Secondary runs are in no ledger. */
static bool is_classified(const char *state_directory, const struct lg__witnessed_run *found)
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

static lg_status store_wait_status(const char *state_directory, int runs, const struct lg__run_words *words, const struct lg__witnessed_run *found, int32_t wait_status)
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
    const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (!lg__foreign_file_write(&words->file, words->state + offsetof(struct lg__state, witness_status), &wait_status, sizeof wait_status) ||
        !lg__foreign_file_write(&words->file, words->state + offsetof(struct lg__state, witnessed_ns), &now, sizeof now) ||
        !lg__foreign_file_write(&words->file, at, &witnessed, sizeof witnessed))
        return LG_ERR_SYSTEM;
    return LG_OK;
}

/* Byte number n is at n modulo the size of the tail. */
static bool store_bytes(const struct lg__foreign_file *file, uint64_t tail, const char *bytes, size_t size, uint64_t total)
{
    const uint64_t first = (total - size) % LG__TAIL_BYTES, to = tail + offsetof(struct lg__tail, bytes);
    const size_t straight = size < LG__TAIL_BYTES - first ? size : (size_t)(LG__TAIL_BYTES - first);
    return lg__foreign_file_write(file, to + first, bytes, straight) && lg__foreign_file_write(file, to, bytes + straight, size - straight);
}

static lg_status store_stderr(const struct lg__foreign_file *file, const char *bytes, size_t size, uint64_t total)
{
    struct lg__header header;
    uint64_t before = 0;
    lg_status status = lg__foreign_file_header(file, LG__MAGIC_RUN, LG__RUN_MAJOR, &header);
    if (status != LG_OK)
        return status;
    const struct lg__section *tail = lg__foreign_file_section(file, &header, LG__SECTION_TAIL, sizeof(struct lg__tail));
    if (!tail)
        return LG_ERR_NOT_FOUND;
    if (!lg__foreign_file_read(file, tail->offset, &before, sizeof before))
        return LG_ERR_DAMAGED;
    if (before)
        return LG_ERR_ALREADY;
    const bool stored = store_bytes(file, tail->offset, bytes, size, total) &&
                        lg__foreign_file_write(file, tail->offset + offsetof(struct lg__tail, begun), &total, sizeof total) &&
                        lg__foreign_file_write(file, tail->offset, &total, sizeof total);
    return stored ? LG_OK : LG_ERR_SYSTEM;
}

/* The run file of a process that has ended, under the lock of its folder. */
struct opened {
    int runs;
    struct lg__witnessed_run found;
    struct lg__run_words words;
};

static lg_status open_ended(const char *state_directory, int32_t pid, struct opened *ret_opened)
{
    struct opened *opened = ret_opened;
    lg_status status = lg__witnessed_run_folder(state_directory, &opened->runs);
    if (status != LG_OK)
        return status;
    lg__crc32c_init();
    status = lg__witnessed_run_find(opened->runs, state_directory, pid, &opened->found);
    if (status == LG_OK && opened->found.info.alive)
        status = LG_ERR_STATE;
    /* The lock excludes a second witness, and the next start while it classifies the run. The lock
     * ends with the descriptor. */
    if (status == LG_OK && !lg__map_flock(opened->runs, LOCK_EX))
        status = LG_ERR_SYSTEM;
    if (status == LG_OK)
        status = lg__run_words_open(opened->runs, opened->found.name, opened->found.info.uuid, &opened->words);
    if (status != LG_OK) {
        int error = errno;
        close(opened->runs);
        errno = error;
    }
    return status;
}

static lg_status close_ended(const struct opened *opened, lg_status status)
{
    int error = errno;
    lg__run_words_close(&opened->words);
    close(opened->runs);
    errno = error;
    return status;
}

lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status)
{
    struct opened opened;
    if (!state_directory || !*state_directory || pid <= 0 || (!WIFEXITED(wait_status) && !WIFSIGNALED(wait_status)))
        return LG_ERR_ARGUMENT;
    lg_status status = open_ended(state_directory, pid, &opened);
    if (status != LG_OK)
        return status;
    return close_ended(&opened, store_wait_status(state_directory, opened.runs, &opened.words, &opened.found, wait_status));
}

lg_status lg_witness_stderr(const char *state_directory, int32_t pid, const char *bytes, size_t size, uint64_t total)
{
    struct opened opened;
    if (!state_directory || !*state_directory || pid <= 0 || !bytes || !size || total < size)
        return LG_ERR_ARGUMENT;
    if (size > LG__TAIL_BYTES) {
        bytes += size - LG__TAIL_BYTES;
        size = LG__TAIL_BYTES;
    }
    lg_status status = open_ended(state_directory, pid, &opened);
    if (status != LG_OK)
        return status;
    return close_ended(&opened, store_stderr(&opened.words.file, bytes, size, total));
}
