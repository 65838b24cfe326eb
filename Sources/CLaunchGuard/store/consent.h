/* spool/consent: whether reports may leave the machine. */
#ifndef LG_STORE_CONSENT_H
#define LG_STORE_CONSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/status.h"

struct lg__consent {
    bool given;
    uint64_t from_ordinal; /* runs before this one are never sent */
};

/* Without the file, or with a damaged one, consent is not given. */
struct lg__consent lg__consent_read(int spool);
lg_status lg__consent_write(int spool, const struct lg__consent *consent, bool durable);

#endif
