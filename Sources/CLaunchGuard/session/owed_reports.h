/* The ended runs that delivery still owes a report. Retention deletes them last, and counts each
 * deleted one. */
#ifndef LG_SESSION_OWED_REPORTS_H
#define LG_SESSION_OWED_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

/* The settings of delivery from the spool, read when this was opened. */
struct lg__owed_reports {
    int spool; /* descriptor; −1: nothing is owed, and that cost one look */
    uint32_t ends;
    uint64_t from_ordinal;
};

/* `runs` is the folder of the runs. Nothing is owed without spool/config, where a person switched
 * delivery off, and where consent is withheld. */
struct lg__owed_reports lg__owed_reports_open(int runs);
void lg__owed_reports_close(const struct lg__owed_reports *owed);

/* Whether the run in the file `name` still has to become a report: its end is one of the configured
 * ends, no agent has finished the run, and consent may cover it. `directory` is the state
 * directory. */
bool lg__owed_reports_is(const struct lg__owed_reports *owed, const char *directory, const char *name);

/* Count the run in the tally. false: the tally could not be stored. */
bool lg__owed_reports_count(const struct lg__owed_reports *owed, const char *directory, const char *name);

#endif
