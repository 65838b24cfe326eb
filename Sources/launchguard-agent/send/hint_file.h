/* The hint of the vendor in the ledger: its agent writes it, and the next launch reads it. */
#ifndef AGENT_HINT_FILE_H
#define AGENT_HINT_FILE_H

#include "policy/moment.h"
#include "store/delivery_config.h"

/* A positive answer came with this header: store the hint where its signature, its document and the
 * policy allow it. The log says what became of it. */
void hint_file_take(const char *state_directory, const struct lg__delivery_config *config, const char *header, struct moment now);

/* Withdraw the stored hint where it is over, or the configuration has no longer its key. */
void hint_file_look(const char *state_directory, const struct lg__delivery_config *config, struct moment now);

#endif
