/* A program with a main loop of GLib, as GTK has it: a loop that stands still is known by name. */
#include <glib.h>
#include <launchguard/launchguard.h>
#include <string.h>

/* Once in each half second the loop comes round: that is its heartbeat. */
static gboolean beat(gpointer session) {
    lg_heartbeat(session);
    return G_SOURCE_CONTINUE;
}

/* Messages that GLib would only print go to the ring log as well. */
static GLogWriterOutput log_both(GLogLevelFlags level, const GLogField *fields, gsize count, gpointer session) {
    for (gsize i = 0; i < count; i++)
        if (strcmp(fields[i].key, "MESSAGE") == 0)
            lg_log(session, level & G_LOG_LEVEL_WARNING ? LG_LEVEL_WARNING : LG_LEVEL_INFO, "%s", (const char *)fields[i].value);
    return g_log_writer_default(level, fields, count, NULL);
}

static GMutex library; /* Another thread has it, and waits for this one. */

static gboolean open_file(gpointer name) {
    g_warning("opening %s", (const char *)name);
    g_mutex_lock(&library); /* The bug: the loop waits here, and serves nothing. */
    g_mutex_unlock(&library);
    return G_SOURCE_REMOVE;
}

static gpointer keep(gpointer unused) {
    g_mutex_lock(&library);
    g_usleep(G_MAXULONG);
    return unused;
}

int main(void) {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.editor";
    options.hang_running_ms = 1000; /* Above the time between two heartbeats. */
    lg_session *session;
    lg_start(&options, &session);
    g_log_set_writer_func(log_both, session, NULL);

    GMainLoop *loop = g_main_loop_new(NULL, FALSE); /* With GTK: its own, in g_application_run(). */
    g_timeout_add(500, beat, session);
    g_thread_unref(g_thread_new("library", keep, NULL));
    g_timeout_add(1500, open_file, "letter.odt");
    g_main_loop_run(loop);
    return 0;
}
