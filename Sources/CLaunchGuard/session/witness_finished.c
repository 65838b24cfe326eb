/* lg_witness_finished(): a supervisor marks the launch of a living process as finished. The mark is
 * the one that the program itself leaves by lg_launch_finished(). No thread in the program waits
 * for it, since a program that calls setns() or fork() may have one thread only. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launchguard/query.h"
#include "session/run_words.h"
#include "session/witnessed_run.h"
#include "store/crc32c.h"

static lg_status store_mark(const struct lg__run_words *words, const char *context)
{
    struct lg__state_context stored;
    for (uint32_t i = 0; i < LG__CONTEXTS; i++) {
        const uint64_t at = words->state + offsetof(struct lg__state, contexts) + i * sizeof stored;
        if (!lg__foreign_file_read(&words->file, at, &stored, sizeof stored))
            return LG_ERR_DAMAGED;
        if (atomic_load(&stored.used) != 1 || strncmp(stored.name, context, sizeof stored.name) != 0)
            continue;
        if (atomic_load(&stored.phase) != LG_PHASE_LAUNCHING || atomic_load(&stored.finish) == LG_FINISH_TIME)
            return atomic_load(&stored.phase) == LG_PHASE_FINISHED ? LG_OK : LG_ERR_STATE;
        return lg__foreign_file_write(&words->file, at + offsetof(struct lg__state_context, marked), &(uint32_t){ 1 }, sizeof(uint32_t)) ? LG_OK : LG_ERR_SYSTEM;
    }
    return LG_ERR_NOT_FOUND;
}

lg_status lg_witness_finished(const char *state_directory, int32_t pid, const char *context)
{
    struct lg__witnessed_run found;
    struct lg__run_words words;
    int runs;
    if (!state_directory || !*state_directory || pid <= 0 || !context || !*context)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__witnessed_run_folder(state_directory, &runs);
    if (status != LG_OK)
        return status;
    lg__crc32c_init();
    status = lg__witnessed_run_find(runs, state_directory, pid, &found);
    if (status == LG_OK && !found.info.alive)
        status = LG_ERR_STATE;
    if (status == LG_OK && (status = lg__run_words_open(runs, found.name, found.info.uuid, &words)) == LG_OK) {
        status = store_mark(&words, context);
        lg__run_words_close(&words);
    }
    int error = errno;
    close(runs);
    errno = error;
    return status;
}
