/* Records of crashes that have damaged the stack, or that happen while another thread holds a lock
 * which the handler needs.
 *
 * bench-hostile DIR */
#include "peers.h"
#include "record.h"

#include <stdio.h>

#define LIMIT_MS 3000

static const struct {
    const char *what, *name;
} cases[] = {
    { "fault", "plain" }, { "lock", "loader lock" }, { "smash", "smashed stack" }, { "jump", "wild pc" }, { "frame", "bad frame ptr" },
};
#define CASES (sizeof cases / sizeof cases[0])

/* Of a crash of LaunchGuard's that has a record. */
static unsigned kept;

static void print_verdict(enum peer peer, const char *what)
{
    struct peer_end end = peer_crash(peer, 64, 2, what, LIMIT_MS);
    bool named = record_frames() > 0;
    if (peer_shared->stamps[SCENE_FAULT] == 0)
        printf(" %13s", "(no crash)");
    else
        printf(" %13s", end.hung ? named ? "hangs, yes" : "hangs, no" : named ? "yes" : "no");
    fflush(stdout);
    kept += named && !end.hung && peer <= LG_ALL_SHARED;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    peers_open(arguments[0], arguments[1]);
    printf("\nRecord left? \"yes\": it holds the address of at least one of the program's calls. \"hangs\": killed after %d s.\n  %-58s",
           LIMIT_MS / 1000, "");
    for (size_t i = 0; i < CASES; i++)
        printf(" %13s", cases[i].name);
    printf("\n");
    for (int peer = LG_ALL; peer < PEERS; peer++) {
        if (peer_missing((enum peer)peer)) {
            print_missing(peer_name((enum peer)peer), peer_missing((enum peer)peer));
            continue;
        }
        printf("  %-58s", peer_name((enum peer)peer));
        for (size_t i = 0; i < CASES; i++)
            print_verdict((enum peer)peer, cases[i].what);
        printf("\n");
    }
    put_figure("records", kept, NULL);
    return 0;
}
