#include "policy/moment.h"

#include <string.h>

#include "policy/fate.h"

/* No wait is longer: a stored moment that is further away was stored by another clock. */
#define WAIT_MAX_NS (PAUSE_MAX_NS + HOUR_NS)

uint64_t moment_on(const struct lg__server *server, const uint8_t boot[16], uint64_t steady_ns)
{
    if (memcmp(server->boot, boot, sizeof server->boot) != 0)
        return server->on_ns + steady_ns;
    return server->on_ns + (steady_ns > server->steady_ns ? steady_ns - server->steady_ns : 0);
}

struct lg__due moment_after(struct moment now, uint64_t wait_ns)
{
    return wait_ns ? (struct lg__due){ now.wall_ns + wait_ns, now.on_ns + wait_ns } : (struct lg__due){ 0, 0 };
}

uint64_t moment_left(struct lg__due due, struct moment now)
{
    if (due.wall_ns <= now.wall_ns || due.on_ns <= now.on_ns || due.on_ns - now.on_ns > WAIT_MAX_NS)
        return 0;
    const uint64_t wall = due.wall_ns - now.wall_ns, on = due.on_ns - now.on_ns;
    return wall < on ? wall : on;
}

uint64_t moment_since(const struct lg__report_header *header, struct moment now)
{
    const uint64_t wall = now.wall_ns > header->made_ns ? now.wall_ns - header->made_ns : 0;
    const uint64_t on = now.on_ns > header->since_on_ns ? now.on_ns - header->since_on_ns : 0;
    return wall > on ? wall : on;
}
