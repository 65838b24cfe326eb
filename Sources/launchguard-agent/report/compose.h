/* The contents of a report: two JSON texts, made once from the run file, by the public reader.
 *
 * The brief part has at most LG__REPORT_BRIEF_MAX bytes: what died, where, how often. It goes
 * first. The full part has the fields and names of `launchguard inspect --json --no-symbols`,
 * without data that must not leave the machine, so that the same programs read both. */
#ifndef AGENT_COMPOSE_H
#define AGENT_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/ledger.h"

/* Facts that are not in the run file. */
struct facts {
    char uuid[37];          /* identity of the report */
    char run_uuid[37];
    const char *reason;     /* of a request; NULL: the run ended */
    lg_verdict verdict;     /* LG_END_RUNNING for a report of a living run */
    char fingerprint[33];
    bool launching;         /* a launch was under way */
    char context[64];       /* its context; "": none */
    char task[64];          /* task of that context that ran; "": none */
    uint32_t streak;        /* consecutive launch crashes of that context, this one included */
    uint64_t made_ns;       /* CLOCK_REALTIME */
    uint64_t ended_ns;      /* CLOCK_REALTIME; 0: not known */
    bool keep_home;
};

/* Both return JSON in memory of malloc(), or NULL without memory. The brief part is valid JSON at
 * any size: it leaves frames out first. */
char *compose_brief(lg_reader *reader, const struct facts *facts, size_t *ret_bytes);
/* At most LG__REPORT_FULL_MAX bytes: it leaves the oldest breadcrumbs out first. */
char *compose_full(lg_reader *reader, const struct facts *facts, size_t *ret_bytes);

/* A minidump in the place of the full part, also of a run without stacks. At most
 * LG__REPORT_FULL_MAX bytes. */
char *compose_dump(lg_reader *reader, const struct facts *facts, size_t *ret_bytes);

/* The brief part for `count` runs that gave way before they had a report. The call uses the
 * identities, the fingerprint, the end and `made_ns` of the facts; `ordinal` is that of the last
 * run. */
char *compose_counted(const struct facts *facts, const char *state_directory, uint64_t ordinal, uint64_t count, size_t *ret_bytes);

#endif
