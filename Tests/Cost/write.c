/* The program whose instructions test_cost.py counts. write DIR text|format COUNT; prints the clock
 * of the entries. */
#include <launchguard/launchguard.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/format.h"
#include "waiting.h"

/* The watch thread permits the counter a moment after the start. */
static const char *wait_for_clock(const char *path)
{
    struct lg__header header;
    uint32_t turn = 0;
    int file = open(path, O_RDONLY);
    for (int ms = 0; ms < 3000 && !turn; ms++) {
        if (pread(file, &header, sizeof header, 0) != sizeof header)
            exit(3);
        for (uint32_t i = 0; i < header.section_count; i++)
            if (header.sections[i].kind == LG__SECTION_STATE &&
                pread(file, &turn, sizeof turn, (off_t)(header.sections[i].offset + offsetof(struct lg__state, clock_turn))) != sizeof turn)
                exit(3);
        rest(1);
    }
    close(file);
    return turn ? "counter" : "kernel";
}

int main(int count, char **arguments)
{
    static const char text[41] = "the quick brown fox jumps over lazy dogs";
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    if (count != 4)
        return 2;
    options.app_id = "org.example.cost";
    options.state_directory = arguments[1];
    if (lg_start(&options, &session) != LG_OK)
        return 1;
    puts(wait_for_clock(lg_session_run_path(session)));
    for (int i = 0; i < atoi(arguments[3]); i++)
        if (strcmp(arguments[2], "text") == 0)
            lg_log_write(session, LG_LEVEL_INFO, text, 40);
        else
            lg_log(session, LG_LEVEL_INFO, "opened %s: %u rows in %u ms, code %d", "notes.db", 41u, 12u, -3);
    return 0;
}
