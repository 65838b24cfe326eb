/* Little memory while the agent waits, which is nearly always. */
#ifndef AGENT_REST_H
#define AGENT_REST_H

/* Give back the pages of program code; the next use reads them from the page cache again. */
void rest_give_back(void);

#endif
