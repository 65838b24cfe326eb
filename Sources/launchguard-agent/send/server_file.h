/* spool/server: the waits of the server, and the clock of the spool, from one agent to the next. */
#ifndef AGENT_SERVER_FILE_H
#define AGENT_SERVER_FILE_H

#include <stdbool.h>

#include "policy/moment.h"

/* Without the file, or with a damaged one, all begins anew. Returns whether this is another boot
 * than that of the file. */
bool server_file_read(int spool, struct lg__server *ret_server);

/* Store it, with the clock as it is now. */
void server_file_write(int spool, struct lg__server *server);

struct moment server_file_now(const struct lg__server *server);

#endif
