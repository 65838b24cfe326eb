/* LaunchGuard. Modes: text, format, both with the defaults; kept, with a lane that holds as many
 * entries as are counted. */
#include "writer.h"

#include <launchguard/launchguard.h>

#include <stddef.h>

static lg_session *session;

static void open_with(const char *directory, uint32_t ring_bytes)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = directory;
    options.ring_bytes = ring_bytes;
    if (lg_start(&options, &session) != LG_OK)
        writer_fail(lg_session_message(session));
}

static void open_usual(const char *directory)
{
    open_with(directory, 0);
}

static void open_large(const char *directory)
{
    open_with(directory, 2 << 20);
}

static void append_text(const char *text)
{
    lg_log_write(session, LG_LEVEL_INFO, text, TEXT_BYTES);
}

static void append_format(const char *text)
{
    (void)text;
    lg_log(session, LG_LEVEL_INFO, "opened %s: %u rows in %u ms, code %d", writer_arguments.name, writer_arguments.rows,
           writer_arguments.milliseconds, writer_arguments.code);
}

const struct writer writers[] = {
    { "text", open_usual, append_text, 0, NULL },
    { "format", open_usual, append_format, 0, NULL },
    { "kept", open_large, append_text, 0, NULL },
    { 0 },
};
