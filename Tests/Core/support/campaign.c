#include "campaign.h"
#include "seeds.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"

/* ---- what is drawn ---- */

static uint64_t round_seed, drawn;

bool next_round(unsigned round, unsigned percent)
{
    const char *wanted = getenv("LAUNCHGUARD_CAMPAIGN_KILLS");
    bool is_left = seed_of_round(round, 1 + (wanted ? strtoul(wanted, NULL, 10) : 100) * percent / 100, &round_seed);
    drawn = 0;
    return is_left;
}

uint32_t draw(uint32_t below)
{
    return (uint32_t)(mix_seed(mix_seed(round_seed) + drawn++) >> 33) % below;
}

const char *repeat_round(void)
{
    return repeat_command(round_seed);
}

/* ---- the child ---- */

char complaint[1024];

static const struct party *now;
static unsigned threads_now;
static struct {
    _Atomic uint32_t started;
    char path[4096];
} *seen;

static void call_for_ever(const char *directory, uint32_t ring_bytes)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.campaign";
    options.state_directory = directory;
    options.ring_bytes = ring_bytes;
    options.keep_runs = 2;
    options.stack_bytes = 4096;
    if (lg_start(&options, &session) != LG_OK)
        _exit(99);
    snprintf(seen->path, sizeof seen->path, "%s", lg_session_run_path(session));
    const struct sigaction action = { .sa_handler = now->on_signal, .sa_flags = SA_RESTART };
    sigaction(SIGUSR1, &action, NULL);
    now->prepare(session);
    lg__fault_hook = now->hook;
    for (uintptr_t i = 0; i < threads_now; i++)
        in_thread(now->thread, (void *)i);
    atomic_store(&seen->started, 1);
    wait_for_ever(NULL);
}

pid_t begin(const struct party *party, const char *directory, unsigned threads, uint32_t ring_bytes)
{
    if (!seen)
        seen = shared_memory(sizeof *seen);
    memset(seen, 0, sizeof *seen);
    now = party;
    threads_now = threads;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        plain_signals();
        call_for_ever(directory, ring_bytes);
    }
    return child;
}

const char *run_path(void)
{
    return seen->path;
}

bool wait_for(pid_t child, unsigned first, uint64_t more)
{
    uint64_t until[64];
    for (unsigned i = first; i < threads_now; i++)
        until[i] = now->returned(i) + more;
    for (int ms = 0; ms < LIMIT_MS; ms++) {
        bool all = atomic_load(&seen->started);
        for (unsigned i = first; i < threads_now; i++)
            all &= now->returned(i) >= until[i];
        int status;
        if (all)
            return true;
        if (waitpid(child, &status, WNOHANG) == child)
            COMPLAIN("the child ended by itself: status %#x", (unsigned)status);
        rest(1);
    }
    COMPLAIN("the threads make no progress");
}

bool finish(pid_t child)
{
    int status;
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        COMPLAIN("the child ended by itself: status %#x", (unsigned)status);
    return true;
}
