/* A campaign: threads of a child call LaunchGuard without end, the child is killed at any moment,
 * its file is read; over and over, in rounds that a seed draws (Tests/Support/seeds.h).
 *
 * LAUNCHGUARD_CAMPAIGN_KILLS: the number of kills, 100 by default. */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include "harness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

/* The callers, in the child. */
struct party {
    void (*prepare)(lg_session *session);   /* once, before the threads begin */
    void *(*thread)(void *number);
    void (*on_signal)(int signal);          /* SIGUSR1 */
    void (*hook)(const char *point);
    /* the number of calls of this thread that have returned */
    uint64_t (*returned)(unsigned number);
};

/* Begin this round of a share of the kills, of at least one; false: all rounds are done. */
bool next_round(unsigned round, unsigned percent);
/* The next random number of the round. */
uint32_t draw(uint32_t below);
/* The command line that begins with the round. */
const char *repeat_round(void);

/* The error, for the message of the failure. */
extern char complaint[1024];
#define COMPLAIN(...) return snprintf(complaint, sizeof complaint, __VA_ARGS__), false

/* Start a child with this number of threads. */
pid_t begin(const struct party *party, const char *directory, unsigned threads, uint32_t ring_bytes);
/* Path of its run file, once it has started. */
const char *run_path(void);
/* Wait until the threads from this number on have returned from as many calls more; false: they do
 * not. */
bool wait_for(pid_t child, unsigned first, uint64_t more);
/* Kill the child; false: it had ended by itself. */
bool finish(pid_t child);

#endif
