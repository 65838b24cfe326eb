/* The redacted keys of a run, their values, and how these are kept out of texts and memory. */
#ifndef LG_REPORT_SECRETS_H
#define LG_REPORT_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/annotate.h"
#include "launchguard/reader.h"

/* A shorter value stays where it stands on its own: it is everywhere. */
#define LG__SECRET_LEAST 4u
/* A shorter value is a secret only where no letter or digit is beside it, and fewer bytes of a
 * longer one are none. */
#define LG__SECRET_LONG 8u

struct lg__secret {
    char *bytes;
    uint32_t size;
    uint32_t shorter; /* place + 1 of the longest other one that this one begins with; 0: none */
    bool is_cut;      /* the program's value was longer */
};

struct lg__secrets {
    bool is_known; /* no other key is redacted */
    uint32_t key_count;
    char keys[LG_ANNOTATIONS_MAX][LG_ANNOTATION_KEY_MAX + 1];
    struct lg__secret *values; /* by their bytes; none twice */
    uint32_t count, room;
    /* a bit of the first two bytes of each, and of the first byte of each key, large or small: most
     * of a text begins neither */
    uint8_t begins[65536 / 8], begins_key[256 / 8];
};

/* Ask after the contents that the answer is for: a key of a living program may be redacted, and
 * used, in between. The values are those of annotations, and of fields of breadcrumbs and guard
 * events. `log`: the snapshot of the reader; NULL: one is taken where a key is redacted. NULL: no
 * memory. */
struct lg__secrets *lg__secrets_read(lg_reader *reader, const lg_log_info *log);
void lg__secrets_free(struct lg__secrets *secrets);

/* Whether the value of a key must not leave the machine. */
bool lg__secrets_hides(const struct lg__secrets *secrets, const char *key);

/* Replace each redacted value, and what follows a redacted key as key=value, key: value or
 * "key":"value", by three asterisks, in place. `begins_late`: the text has lost its beginning, and
 * may begin in the middle of a value. Returns the new size, which is not larger. */
size_t lg__secrets_text_hide(const struct lg__secrets *secrets, char *text, size_t size, bool begins_late);

/* Overwrite by asterisks every eight bytes in a row that are also in a redacted value, and the
 * whole value where it has four to seven bytes. False: the redacted values are not known, and the
 * bytes must not leave the machine. */
bool lg__secrets_memory_blank(const struct lg__secrets *secrets, uint8_t *bytes, size_t size);

#endif
