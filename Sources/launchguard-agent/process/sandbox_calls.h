/* System calls that the kernel refuses to the agent: to trace, to execute,
 * to mount, to change rights of files, and what faults of kernels are reached by.
 *
 * The list names what is refused and not what is allowed. What the agent calls is decided by libc,
 * by resolvers that an administrator configures (they are loaded into the agent), and by libraries
 * of TLS: with a list of allowed calls another version of these finds no address or opens no
 * connection, and reports do not leave the machine. */
#ifndef AGENT_SANDBOX_CALLS_H
#define AGENT_SANDBOX_CALLS_H

#include <stdbool.h>

/* For this thread and those that it makes, for good; no_new_privs is set. The calls return EPERM.
 * `sends`: Internet sockets, those of the machine's own services and those that list addresses can
 * be made; without it none. false: errno says why there is no filter. */
bool sandbox_calls_refuse(bool sends);

#endif
