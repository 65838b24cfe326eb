/* Add data of the full part to the log record of OpenTelemetry. */
#ifndef AGENT_OTLP_FILL_H
#define AGENT_OTLP_FILL_H

#include <jansson.h>

/* Add all frames of the stack, its registers, the other threads, all modules and the annotations to
 * the record, and one record for each breadcrumb before it. */
void otlp_fill(json_t *records, json_t *record, const json_t *brief, const json_t *full);

#endif
