/* Notes about the program, and the conditions that LaunchGuard can watch. */
#include <launchguard/launchguard.h>
#include <string.h>

static void drop_caches(const lg_memory *memory, void *user) {
    lg_log(user, LG_LEVEL_WARNING, "dropping caches at %u %%", memory->percent);
}

int main(void) {
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.watched";
    lg_session *session;
    lg_start(&options, &session);

    const char *text = "request failed";
    const lg_field fields[] = { { "url", "https://example.org/notes" }, { "token", "secret" } };
    lg_log_fields(session, LG_LEVEL_ERROR, "network", text, strlen(text), fields, 2);
    lg_annotate(session, "screen", "settings"); /* The last value of each key. */
    /* Keep the value out of every export, here and in fields. */
    lg_redact(session, "token");

    lg_memory_watch(session, 90, drop_caches, session);
    uint64_t deadline;
    /* If something kills the job after 30 s, the report shows its stack. */
    lg_deadline_begin(session, "upload", 30000, &deadline);
    lg_deadline_end(session, deadline);

    for (int event = 0; event < 3; event++)
        lg_heartbeat(session); /* Once in each round: a loop without a heartbeat for 5 s hangs. */
    lg_heartbeat_pause(session); /* Before the loop waits. */
    return 0;
}
