/* The spool: the reports that wait to be sent, and the files by which program and agent
 * communicate.
 *
 *   spool/config     where reports go: delivery_config.h; the program writes it
 *   spool/consent    whether they may: the same
 *   spool/off        switches delivery off; a person makes it
 *   spool/metered    lets only first parts go
 *   spool/agent      locked by agents, byte by byte; pid and version of the one at work, in text
 *   spool/agent.log
 *   spool/nudge      "wait": the program waits; "tool": a person does, and what is due later is
 *                    tried now; "all": also what is held or was given up
 *   spool/server     what the agent knows of the server; struct lg__server
 *   spool/telling    the report that on_delivered is called for; only the program uses the file
 *   spool/requests/UUID  text of a request for a report of a living run
 *   spool/tally      runs that gave way unreported
 *   spool/tmp new sent held dead   PRIORITY-ORDINAL-UUID.lgreport
 *
 * A report is written below tmp, and moves by rename. Only the agent writes reports.
 *
 * Who withholds consent stores the word, then takes flock(LOCK_EX) of the folder, and deletes. Who
 * makes or moves a report or a request, or sends, takes LOCK_SH first, then reads the word. So
 * nothing comes after the deletion.
 *
 * An agent that serves takes what comes. Before it ends it lets that byte go, and then looks once
 * more at everything. Whoever wants an agent leaves a sign first (the file of a run, a request, a
 * word of consent), and then looks at the byte. So the agent sees the sign, or the other one sees
 * no agent, and starts one, which waits for the end of the agent at work. */
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

/* The bytes of spool/agent that agents lock. */
enum lg__agent_byte {
    LG__AGENT_WORKS, /* one agent works, until it has ended */
    LG__AGENT_WAITS, /* one agent waits to be the next; the one at work ends after its request */
    /* the agent at work takes what comes, for programs of its version */
    LG__AGENT_SERVES = 2 + (LG_VERSION_MAJOR * 1000 + LG_VERSION_MINOR) * 1000 + LG_VERSION_PATCH
};

/* Whether an agent lives. */
bool lg__spool_agent_lives(int spool);

/* Whether an agent of this version lives and takes what comes: none has to be started. */
bool lg__spool_agent_serves(int spool);

/* Whether a person switched delivery off. */
bool lg__spool_is_off(int spool);

/* Whether somebody says that each byte costs. */
bool lg__spool_is_metered(int spool);

/* Replace a small file as a whole, by rename. `durable`: it survives a power cut when the call
 * returns, for which the call waits many milliseconds; else the process alone. */
lg_status lg__spool_write(int spool, const char *name, const void *bytes, size_t size, bool durable);

/* Read a small file: at most `room` − 1 bytes, and a NUL. −1: there is none, or no plain file. */
long lg__spool_read(int spool, const char *name, char *buffer, size_t room);

#endif
