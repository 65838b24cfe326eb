/* Does a handler leave a record where the crash has damaged what it stands on, or another thread holds what it needs?
 * bench-hostile DIR */
#include "peers.h"

#include <launchguard/launchguard.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS 3000

static const struct {
    const char *what, *name;
} cases[] = {
    { "fault", "plain" }, { "lock", "loader lock" }, { "smash", "smashed stack" }, { "jump", "wild pc" }, { "frame", "bad frame ptr" },
};
#define CASES (sizeof cases / sizeof cases[0])

static bool in_scene(uint64_t address)
{
    return address >= peer_shared->begin && address < peer_shared->end;
}

/* An address of the program's calls: as a number behind "0x" in text, or as a word in a file of addresses. */
static bool output_names_frame(void)
{
    static char output[1 << 20];
    ssize_t size = pread(peer_output, output, sizeof output - 1, 0);
    if (size <= 0)
        return false;
    output[size] = 0;
    for (ssize_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, output + i, sizeof word);
        if (in_scene(word))
            return true;
    }
    for (ssize_t i = 0; i + 2 < size; i++)
        if (output[i] == '0' && output[i + 1] == 'x' && isxdigit((unsigned char)output[i + 2]) &&
            in_scene(strtoull(output + i + 2, NULL, 16)))
            return true;
    return false;
}

static bool record_names_frame(void)
{
    static const lg_stage walks[] = { LG_STAGE_FRAMES, LG_STAGE_DWARF };
    lg_reader *reader;
    lg_crash_info crash;
    uint64_t pc;
    bool found = false;
    if (lg_reader_open(peer_shared->record, &reader) != LG_OK)
        return false;
    if (lg_reader_crash(reader, &crash) == LG_OK)
        found = in_scene(crash.pc);
    for (size_t walk = 0; walk < 2; walk++)
        for (uint32_t i = 0; !found && lg_reader_frame(reader, walks[walk], i, &pc) == LG_OK; i++)
            found = in_scene(pc);
    lg_reader_close(reader);
    return found;
}

static void print_verdict(enum peer peer, const char *what)
{
    struct peer_end end = peer_crash(peer, 64, 2, what, LIMIT_MS);
    bool named = peer_shared->record[0] ? record_names_frame() : output_names_frame();
    if (peer_shared->stamps[SCENE_FAULT] == 0)
        printf(" %-14s", "(no crash)");
    else
        printf(" %-14s", end.hung ? named ? "hangs, yes" : "hangs, no" : named ? "yes" : "no");
    fflush(stdout);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    peers_open(arguments[0], arguments[1]);
    printf("\nRecord left? \"yes\": it holds the address of at least one of the program's calls. \"hangs\": killed after %d s.\n  %-58s",
           LIMIT_MS / 1000, "");
    for (size_t i = 0; i < CASES; i++)
        printf(" %-14s", cases[i].name);
    printf("\n");
    for (int peer = NO_HANDLER + 1; peer < PEERS; peer++) {
        if (peer_missing((enum peer)peer)) {
            print_missing(peer_name((enum peer)peer), peer_missing((enum peer)peer));
            continue;
        }
        printf("  %-58s", peer_name((enum peer)peer));
        for (size_t i = 0; i < CASES; i++)
            print_verdict((enum peer)peer, cases[i].what);
        printf("\n");
    }
    return 0;
}
