#include "policy/hint.h"

#include <string.h>
#include <strings.h>

enum hint_verdict hint_judge(struct lg__hint *stored, const char *app, const char *device, const lg_hint *said, const struct hint_place *place,
                             struct moment now)
{
    const bool same_key = memcmp(stored->key, place->key, sizeof stored->key) == 0;
    if (strcmp(app, place->app) != 0)
        return HINT_OTHER_APP;
    if (device[0] && strcasecmp(device, place->device) != 0)
        return HINT_OTHER_DEVICE;
    if (same_key && said->serial <= stored->said.serial)
        return said->serial == stored->said.serial ? HINT_KNOWN : HINT_OLD;
    if (said->expires_ns <= now.wall_ns)
        return HINT_EXPIRED;
    memset(stored, 0, sizeof *stored);
    stored->expires_on_ns = now.on_ns + HINT_ON_NS;
    memcpy(stored->key, place->key, sizeof stored->key);
    stored->said = *said;
    return HINT_TAKEN;
}

bool hint_withdraw(struct lg__hint *stored, const uint8_t *key, struct moment now)
{
    const bool is_signed = key && memcmp(stored->key, key, sizeof stored->key) == 0;
    /* the clock of a spool that was deleted begins anew */
    const bool is_over = now.on_ns >= stored->expires_on_ns || stored->expires_on_ns - now.on_ns > HINT_ON_NS + DAY_NS;
    if (stored->said.kind == LG_HINT_WITHDRAWN || (is_signed && !is_over))
        return false;
    stored->said.kind = LG_HINT_WITHDRAWN;
    memset(stored->said.name, 0, sizeof stored->said.name);
    return true;
}
