/* Add data of the full part to the event of Sentry. */
#ifndef AGENT_SENTRY_FILL_H
#define AGENT_SENTRY_FILL_H

#include <jansson.h>

/* Sentry takes events of 1 MiB; this leaves room for what it adds. */
#define SENTRY_EVENT_MAX 1000000u

/* Add all frames of the stack, its registers, the other threads, all modules with a build id,
 * annotations and breadcrumbs. Then the modules that no frame names are left out, after these the
 * outermost frames of the other threads, half of them at a time, and after these the oldest
 * breadcrumbs, until the event fits. */
void sentry_fill(json_t *event, const json_t *brief, const json_t *full);

#endif
