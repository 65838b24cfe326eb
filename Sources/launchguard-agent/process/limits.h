/* The scheduling, the limits, the working directory and the umask of the agent are its own,
 * whatever program started it. */
#ifndef AGENT_LIMITS_H
#define AGENT_LIMITS_H

/* Take them as far as this user may. */
void limits_reset(void);

#endif
