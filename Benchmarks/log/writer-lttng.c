/* LTTng-UST: a tracepoint, recorded into the ring buffers of a session that lttng.sh made. Modes:
 * text, format (four fields). */
#include "writer.h"

#include <stddef.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints.h"

static void append_text(const char *text)
{
    lttng_ust_tracepoint(launchguard_bench, text, 30, text);
}

static void append_format(const char *text)
{
    (void)text;
    lttng_ust_tracepoint(launchguard_bench, format, 30, writer_arguments.name, writer_arguments.rows, writer_arguments.milliseconds,
                         writer_arguments.code);
}

/* Registering has a time limit. A tracepoint that is off would cost nothing. */
static void open_session(const char *directory)
{
    (void)directory;
    if (!lttng_ust_tracepoint_enabled(launchguard_bench, text) || !lttng_ust_tracepoint_enabled(launchguard_bench, format))
        writer_fail("no session records this");
}

const struct writer writers[] = {
    { "text", open_session, append_text, 0, NULL },
    { "format", open_session, append_format, 0, NULL },
    { 0 },
};
