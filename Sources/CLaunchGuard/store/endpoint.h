/* The address that reports go to. The program and the agent check it by this one rule, so that the
 * program refuses at its start what the agent could not use after a crash. */
#ifndef LG_STORE_ENDPOINT_H
#define LG_STORE_ENDPOINT_H

#include <stddef.h>

#include "launchguard/delivery.h"

/* Parts of the text: "SCHEME://HOST" and what follows, or the DSN
 * "SCHEME://KEY[:SECRET]@HOST/[PATH/]PROJECT". The host has its port. */
struct lg__endpoint {
    int scheme_bytes, key_bytes, host_bytes, path_bytes;
    const char *key, *host, *path; /* the path of a DSN ends with the slash before the project */
    const char *project;
};

/* NULL: the address can be used. Else what is wrong with it, for a person, without a word of it,
 * which may be a secret. */
const char *lg__endpoint_parse(lg_delivery_target target, const char *text, struct lg__endpoint *ret_endpoint);

#endif
