/* The spool: the reports that wait to be sent, and the files by which program and agent
 * communicate.
 *
 *   spool/config     where reports go: delivery_config.h; the program writes it
 *   spool/consent    whether they may: the same
 *   spool/off        switches delivery off; a person makes it
 *   spool/agent      locked while an agent lives; its pid and version in text
 *   spool/agent.log
 *   spool/nudge      "wait": the program waits; "tool": a person does, and reports that are due later
 *                    are tried now; "all": also those that are held or were given up
 *   spool/server     what the agent knows of the server; struct lg__server
 *   spool/telling    the report that on_delivered is called for; only the program uses the file
 *   spool/requests/UUID  text of a request for a report of a living run
 *   spool/tally      runs that gave way unreported
 *   spool/tmp new sent held dead   PRIORITY-ORDINAL-UUID.lgreport
 *
 * A report is written below tmp, and moves by rename. Only the agent writes reports. */
#ifndef LG_STORE_SPOOL_H
#define LG_STORE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/delivery.h"
#include "store/consent.h"
#include "store/problem.h"
#include "store/report.h"

/* Name of the folder of a state: "new", "sent", "held", "dead". */
const char *lg__spool_folder(lg_delivery_state state);

/* Open the spool of a state directory, and make it with all its folders (0700) where `make` says
 * so. Returns a descriptor; −1 with the problem noted. */
int lg__spool_open(int state_directory, const char *path, bool make, struct lg__problem *problem);

/* Whether an agent lives. */
bool lg__spool_agent_lives(int spool);

/* Whether a person switched delivery off. */
bool lg__spool_is_off(int spool);

/* Replace a small file as a whole, by rename. `durable`: it survives a power cut when the call
 * returns, for which the call waits many milliseconds; else the process alone. */
lg_status lg__spool_write(int spool, const char *name, const void *bytes, size_t size, bool durable);

/* Read a small file: at most `room` − 1 bytes, and a NUL. −1: there is none, or no plain file. */
long lg__spool_read(int spool, const char *name, char *buffer, size_t room);

#endif
