/* Leave the program's service unit: a service manager that stops the unit ends all processes in
 * it. */
#ifndef AGENT_SCOPE_H
#define AGENT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

/* The service unit in the text of /proc/PID/cgroup. `ret_user`: a unit of a user's own manager.
 * false: the process is in no service unit. */
bool scope_unit(const char *cgroups, char *ret_unit, size_t room, bool *ret_user);

/* Ask systemd for a transient scope with this process in it, where the process is in a service
 * unit, for at most a third of a second; and log the result. */
void scope_leave_unit(void);

#endif
