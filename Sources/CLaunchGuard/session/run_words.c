#include "session/run_words.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include "store/crc32c.h"
#include "store/map.h"
#include "store/run.h"

/* Where the state is, in a file that is still that of the run. */
static lg_status locate_state(const struct lg__foreign_file *file, const char *uuid, uint64_t *ret_state)
{
    struct lg__header header;
    struct lg__identity identity;
    char text[37];
    lg_status status = lg__foreign_file_header(file, LG__MAGIC_RUN, LG__RUN_MAJOR, &header);
    if (status != LG_OK)
        return status;
    const struct lg__section *state = lg__foreign_file_section(file, &header, LG__SECTION_STATE, sizeof(struct lg__state));
    const struct lg__section *who = lg__foreign_file_section(file, &header, LG__SECTION_IDENTITY, sizeof identity);
    if (!state || !who || !lg__foreign_file_read(file, who->offset, &identity, sizeof identity) ||
        identity.crc != lg__crc32c(0, &identity, offsetof(struct lg__identity, crc)))
        return LG_ERR_DAMAGED;
    lg__run_uuid_text(identity.uuid, text);
    if (strcmp(text, uuid) != 0)
        return LG_ERR_DAMAGED; /* another file is in its place now */
    *ret_state = state->offset;
    return LG_OK;
}

lg_status lg__run_words_open(int runs, const char *name, const char *uuid, struct lg__run_words *ret_words)
{
    struct lg__run_words words = { .state = 0 };
    lg_status status = lg__foreign_file_open(runs, name, &words.file);
    if (status != LG_OK)
        return status;
    /* The lock keeps the file from being taken for another run, and goes with the descriptor. */
    status = lg__map_flock(words.file.file, LOCK_SH) ? locate_state(&words.file, uuid, &words.state) : LG_ERR_SYSTEM;
    if (status == LG_OK)
        *ret_words = words;
    else
        lg__foreign_file_close(&words.file);
    return status;
}

void lg__run_words_close(const struct lg__run_words *words)
{
    lg__foreign_file_close(&words->file);
}

static lg_status store_word(int runs, const char *name, const uint8_t uuid[16], size_t at, uint32_t value)
{
    struct lg__run_words words;
    char text[37];
    lg__run_uuid_text(uuid, text);
    lg_status status = lg__run_words_open(runs, name, text, &words);
    if (status != LG_OK)
        return status;
    if (!lg__foreign_file_write(&words.file, words.state + at, &value, sizeof value))
        status = LG_ERR_SYSTEM;
    lg__run_words_close(&words);
    return status;
}

lg_status lg__run_words_attach(int runs, const char *name, const uint8_t uuid[16], bool attached)
{
    return store_word(runs, name, uuid, offsetof(struct lg__state, attached), attached);
}

lg_status lg__run_words_set_reported(int runs, const char *name, const uint8_t uuid[16], uint32_t reported)
{
    return store_word(runs, name, uuid, offsetof(struct lg__state, reported), reported);
}
