/* The tracepoints of LTTng-UST: level and 40 bytes; level and four arguments. LTTng includes this
 * file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER launchguard_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints.h"

#if !defined(TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACEPOINTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(launchguard_bench, text,
    LTTNG_UST_TP_ARGS(int, level, const char *, text),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, level, level) lttng_ust_field_array_text(char, text, text, 40)))

LTTNG_UST_TRACEPOINT_EVENT(launchguard_bench, format,
    LTTNG_UST_TP_ARGS(int, level, const char *, name, unsigned, rows, unsigned, milliseconds, int, code),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, level, level) lttng_ust_field_string(name, name)
        lttng_ust_field_integer(unsigned, rows, rows) lttng_ust_field_integer(unsigned, milliseconds, milliseconds)
        lttng_ust_field_integer(int, code, code)))

#endif

#include <lttng/tracepoint-event.h>
