/* Writes of another process into a run file: single words of its state. See foreign_file.h. */
#ifndef LG_SESSION_RUN_WORDS_H
#define LG_SESSION_RUN_WORDS_H

#include "session/foreign_file.h"

/* An open run file, which cannot be taken for another run until it is closed. */
struct lg__run_words {
    struct lg__foreign_file file;
    uint64_t state; /* offset of the state in the file */
};

/* Open the run file `name` in the folder `runs` (a descriptor), if the file still is that of
 * `uuid`, a text. LG_ERR_DAMAGED: it is not. */
lg_status lg__run_words_open(int runs, const char *name, const char *uuid, struct lg__run_words *ret_words);
void lg__run_words_close(const struct lg__run_words *words);

/* For an agent: store `attached`, and `reported`. Statuses as above, and LG_ERR_SYSTEM (errno).
 * lg__crc32c_init() was called. */
lg_status lg__run_words_attach(int runs, const char *name, const uint8_t uuid[16], bool attached);
lg_status lg__run_words_set_reported(int runs, const char *name, const uint8_t uuid[16], uint32_t reported);

#endif
