#include "send/permit.h"

#include <errno.h>
#include <sys/file.h>

#include "store/map.h"
#include "store/spool.h"

bool permit_take(struct permit *permit, uint64_t ordinal)
{
    if (!permit->out && !lg__map_flock(permit->spool, LOCK_SH))
        return false;
    permit->out++;
    /* Under the lock: a word that comes after this look waits for the return of the permit. */
    const struct lg__consent consent = lg__consent_read(permit->spool);
    if (consent.given && ordinal >= consent.from_ordinal && !lg__spool_is_off(permit->spool))
        return true;
    permit_return(permit);
    errno = EPERM;
    return false;
}

void permit_return(struct permit *permit)
{
    if (--permit->out == 0)
        flock(permit->spool, LOCK_UN);
}
