/* spool/server: the waits of the server, and the clock of the spool. */
#ifndef LG_STORE_SERVER_H
#define LG_STORE_SERVER_H

#include <stdbool.h>

#include "store/format_report.h"

/* false: there is none, or it is damaged. */
bool lg__server_read(int spool, struct lg__server *ret_server);

/* As it is to be written. */
void lg__server_seal(struct lg__server *server);

#endif
