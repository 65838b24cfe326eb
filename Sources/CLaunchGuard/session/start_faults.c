/* LaunchGuard must not be the reason why a program does not start. After two starts in a row that
 * ended in a fault of their own, the next ones protect nothing; then one start tries again. */
#include "capture/capture.h"
#include "os/os.h"
#include "session/session.h"
#include "store/ledger_payload.h"

/* Faults in a row from which on starts are left out: 4 of them, then 8, and so on to 64. */
#define FAULTS_MAX 2u
#define DOUBLINGS_MAX 6u
/* A start is tried, however many are left out, when the last fault is so long ago. */
#define LONG_AGO_NS (UINT64_C(24) * 3600 * 1000000000u)
/* Starts in a row that did not complete, without a fault that a handler saw. So many are no
 * accident: a filter of system calls ends the process at one of ours, for example. */
#define UNSEEN_MAX 16u

/* of the start that is under way; NULL and 0: none is */
static struct lg__hot *_Atomic hot_of_start LG__SMALL;
static _Atomic int32_t starting_tid LG__SMALL;

static void note_fault(struct lg__hot_faults *faults)
{
    uint32_t count = atomic_load(&faults->count) + 1u;
    uint32_t doublings = count < DOUBLINGS_MAX ? count : DOUBLINGS_MAX;
    atomic_store(&faults->wall_ns, lg__os_clock_ns(CLOCK_REALTIME));
    atomic_store(&faults->left, (uint16_t)(count < FAULTS_MAX ? 0 : 1u << doublings));
    atomic_store(&faults->count, (uint16_t)(count <= UINT16_MAX ? count : UINT16_MAX));
}

static void forget(struct lg__hot *hot)
{
    atomic_store(&hot->starting, 0);
    atomic_store(&hot->faults.count, 0);
    atomic_store(&hot->faults.left, 0);
    atomic_store(&hot->faults.wall_ns, 0);
}

/* The wall clock may have jumped: then one try comes too early. */
static bool is_long_ago(uint64_t wall_ns)
{
    uint64_t now = lg__os_clock_ns(CLOCK_REALTIME);
    return (now > wall_ns ? now - wall_ns : wall_ns - now) >= LONG_AGO_NS;
}

bool lg__start_faults_begin(struct lg__host *host, const struct lg__identity *identity)
{
    struct lg__hot *hot = host->ledger.hot;
    struct lg__hot_faults *faults = &hot->faults;
    uint32_t program = lg__ledger_payload_program(identity->app_version, identity->build_id, identity->build_id_size);
    if (faults->program != program) {
        forget(hot);
        faults->program = program;
    }
    if (atomic_load(&hot->starting) >= UNSEEN_MAX) {
        atomic_store(&hot->starting, UNSEEN_MAX - 1);
        if (!atomic_load(&faults->count))
            note_fault(faults);
        note_fault(faults);
    }
    uint32_t left = atomic_load(&faults->left);
    if (left && !is_long_ago(atomic_load(&faults->wall_ns))) {
        atomic_store(&faults->left, (uint16_t)(left - 1));
        lg__problem_say(&host->problem, LG_ERR_DISABLED,
                        "%s: LaunchGuard did not survive its own start %u times in a row and disabled itself; it tries again after %u more starts, "
                        "after a day, or with a new program version",
                        host->directory, atomic_load(&faults->count), left - 1);
        return false;
    }
    atomic_fetch_add(&hot->starting, 1);
    atomic_store(&starting_tid, lg__os_tid());
    atomic_store(&hot_of_start, hot);
    return true;
}

static bool is_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP || signal == SIGABRT || signal == SIGSYS;
}

bool lg__start_faults_fault(int signal, siginfo_t *info, void *ucontext)
{
    (void)ucontext;
    struct lg__hot *hot = atomic_load(&hot_of_start);
    /* A signal from another process does not count, nor the program's own crash on another
     * thread. */
    bool sent = info->si_code <= 0 && !(info->si_code == SI_TKILL && info->si_pid == lg__os_pid());
    if (!hot || !is_crash(signal) || sent || atomic_load(&starting_tid) != lg__os_tid())
        return false;
    atomic_store(&hot_of_start, NULL);
    atomic_store(&hot->starting, 0);
    note_fault(&hot->faults);
    return false;
}

void lg__start_faults_end(void)
{
    struct lg__hot *hot = atomic_exchange(&hot_of_start, NULL);
    if (hot)
        forget(hot);
}

void lg__start_faults_survived(void)
{
    struct lg__hot *hot = atomic_exchange(&hot_of_start, NULL);
    if (hot)
        atomic_store(&hot->starting, 0);
}
