/* Now, by the two clocks of delivery. No jump of the wall clock makes a report older, and a device
 * without a clock of its own waits by the time that it was on. */
#ifndef AGENT_MOMENT_H
#define AGENT_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format_report.h"

#define SECOND_NS UINT64_C(1000000000)
#define HOUR_NS (UINT64_C(3600) * SECOND_NS)
#define DAY_NS (24 * HOUR_NS)

struct moment {
    uint64_t wall_ns; /* CLOCK_REALTIME */
    uint64_t on_ns;   /* that the device was on; never less than before */
};

/* The time that the device was on, at `steady_ns` of CLOCK_MONOTONIC in the boot `boot`, by what
 * was stored last. */
uint64_t moment_on(const struct lg__server *server, const uint8_t boot[16], uint64_t steady_ns);

/* While reports wait, the time is stored this often: a power cut loses no more of it. */
#define KEEP_NS (600 * SECOND_NS)

struct lg__due moment_after(struct moment now, uint64_t wait_ns);

/* Nanoseconds until it is due at the latest, if no clock jumps. */
uint64_t moment_left(struct lg__due due, struct moment now);
static inline bool moment_is_due(struct lg__due due, struct moment now)
{
    return moment_left(due, now) == 0;
}

/* How long ago a report was made: at `made_ns` of the wall clock, which may have been wrong, and at
 * `since_on_ns`. */
uint64_t moment_since(const struct lg__report_header *header, struct moment now);

#endif
