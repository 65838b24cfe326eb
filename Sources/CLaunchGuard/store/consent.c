#include "store/consent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/spool.h"

struct lg__consent lg__consent_read(int spool)
{
    struct lg__consent consent = { .given = false };
    char text[64], given[8];
    uint64_t from;
    if (lg__spool_read(spool, "consent", text, sizeof text) > 0 && sscanf(text, "%7s %" SCNu64, given, &from) == 2) {
        consent.given = strcmp(given, "given") == 0;
        consent.from_ordinal = from;
    }
    return consent;
}

lg_status lg__consent_write(int spool, const struct lg__consent *consent, bool durable)
{
    char text[64];
    int size = snprintf(text, sizeof text, "%s %" PRIu64 "\n", consent->given ? "given" : "none", consent->from_ordinal);
    return lg__spool_write(spool, "consent", text, (size_t)size, durable);
}
