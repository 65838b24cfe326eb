/* spool/config: where reports go. A text of lines "key=value"; the first line names the format and
 * its version. The program writes it, the agent reads it. */
#ifndef LG_STORE_DELIVERY_CONFIG_H
#define LG_STORE_DELIVERY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/delivery.h"
#include "store/hint.h"

#define LG__CONFIG_MAX 8192

struct lg__delivery_config {
    lg_delivery_options options; /* the numbers of it that an agent needs; the texts are below */
    char endpoint[LG_ENDPOINT_MAX + 1];
    char credential_file[1024];
    char ca_file[1024];
    char hint_key[LG__HINT_KEY_TEXT]; /* "": none */
};

/* Returns the bytes of the text; 0: it does not fit, or a value holds a line break. */
size_t lg__delivery_config_format(const struct lg__delivery_config *config, char *buffer, size_t room);

/* false: the text is no configuration, is of a newer version, or has a wrong value; `ret_wrong`
 * says which, for a person. Unknown keys are skipped. */
bool lg__delivery_config_parse(const char *text, struct lg__delivery_config *ret_config, char ret_wrong[128]);

/* Whether a run with this end becomes a report. `launching`: a launch was under way. */
bool lg__delivery_config_wants(uint32_t ends, lg_end end, bool launching);

/* Whether a server of that kind takes both parts in one request, and the first one alone only where
 * that request is too large; and whether the first part alone comes next, by the flags of the
 * report. */
bool lg__delivery_config_is_whole(lg_delivery_target target);
bool lg__delivery_config_first_next(lg_delivery_target target, uint32_t flags);

#endif
