/* Only in a test build: the agent kills or stops itself at the point that a test names. */
#ifndef AGENT_FAULT_H
#define AGENT_FAULT_H

/* LAUNCHGUARD_AGENT_FAULT: "POINT" or "POINT#N", the Nth time it is passed; "stop:" before it stops
 * the agent there; "list:FILE" appends the name of each point to FILE. Without LG_FAULT_POINTS it
 * does nothing. */
void fault_prepare(void);

#endif
