/* The ledger: one file an application; counters, ladder state and the timeline of its last runs.
 *
 * One process, the primary, writes the ledger. It works on a private copy, the payload, and stores
 * the used part of the payload into the older of two slots: a death at any moment leaves the old or
 * the new payload, never a mixture. */
#ifndef LG_STORE_LEDGER_H
#define LG_STORE_LEDGER_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/format.h"
#include "store/map.h"

struct lg__ledger {
    struct lg__map map;
    /* shared by all processes of the application; NULL: no ledger could be mapped */
    struct lg__hot *hot;
    struct lg__found_machine *machine; /* stored by the primary */
    struct lg__slot *slots[2];
    unsigned current;    /* slot of the payload */
    uint64_t generation;
    bool primary;        /* this process may store */
    struct lg__ledger_payload payload;
};

/* A process as the word in `primary` of the hot page. */
uint64_t lg__ledger_process(pid_t pid, uint64_t start_ticks, const uint8_t boot_id[16]);

/* True if that word is of a living process of this boot. */
bool lg__ledger_process_alive(uint64_t process, const uint8_t boot_id[16]);

/* Open the ledger of a state directory and become its primary if no living process is, unless
 *  `process` is 0; create it where there is none. A damaged or newer one is kept aside under
 *  another name, and its readable parts are taken over.
 *
 *  @param ret_ledger  zeroed memory; only the used part of its payload is touched.
 *  @return LG_OK; LG_ERR_SECONDARY: usable for its hot page only; LG_ERR_DAMAGED, LG_ERR_NEWER:
 *          usable, a fresh file in place of the unusable one (problem says which);
 *          LG_ERR_STATE: it belongs to another application and is as it was, no problem is noted;
 *          any other: no ledger. */
lg_status lg__ledger_open(int directory, const char *path, const char *app_id, uint64_t process, const uint8_t boot_id[16],
                          struct lg__ledger *ret_ledger, struct lg__problem *problem);

/* Read the payload again if the primary has stored since. For a process that is not the primary. */
void lg__ledger_refresh(struct lg__ledger *ledger);

/* Become the primary of a ledger that was opened beside one. false: a living process is the
 * primary, or the payload is damaged, which lg__ledger_open() mends. */
bool lg__ledger_claim(struct lg__ledger *ledger, uint64_t process, const uint8_t boot_id[16]);

/* A ledger in memory, for a session without files. */
bool lg__ledger_anonymous(struct lg__ledger *ret_ledger);

/* Store the payload. Not for two threads at once. */
void lg__ledger_store(struct lg__ledger *ledger);

/* The context of that name; a missing one is made. NULL: there is no room. */
struct lg__ledger_context *lg__ledger_find_context(struct lg__ledger_payload *payload, const char *name);

#endif
