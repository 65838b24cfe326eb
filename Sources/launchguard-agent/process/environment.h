/* The environment of the agent has the variables of a list, whatever program started it. */
#ifndef AGENT_ENVIRONMENT_H
#define AGENT_ENVIRONMENT_H

/* Drop all other variables. Libraries may have read some before main(): the agent executes itself
 * once more without them, where it can. `argv`: of main(). */
void environment_reduce(char **argv);

#endif
