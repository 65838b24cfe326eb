/* Run loops that have to come round: the heartbeats of threads, and what is done when one stays away.
 *
 * What is decided by lies in memory; the run file has a copy, which may be damaged. A word belongs to the thread that it is about and to the watch
 * thread, and each looks at the other's after it changed its own: one of the two sees that a heartbeat came when a hang was just found. */
#include <pthread.h>

#include "capture/capture.h"
#include "launchguard/watch.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* A heartbeat looks after the handlers when the last look is longer ago. */
#define CHECK_NS UINT64_C(1000000000)
/* Time is counted in slices: each is worth no more than it should have lasted. */
#define SLICE_PART 16u
#define SLICE_MAX_NS UINT64_C(250000000)
/* A new heartbeat is looked at for the first time when this part of the threshold has passed. */
#define FIRST_PART 4u

#define NO_HEART UINT32_MAX

static struct heart {
    _Atomic int32_t tid;      /* 0: free */
    _Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC; 0: it pauses */
    /* Of the watch thread: */
    uint64_t seen_ns; /* the heartbeat that time is counted from */
    uint64_t last_ns, step_ns, lived_ns;
    uint8_t padding[64 - 48];
} hearts[LG__HEARTS];
static_assert(sizeof(struct heart) == 64, "a cache line each");

static struct lg_session *of; /* whose hearts these are: the process has one session that is watched */
static _Atomic uint64_t first_look_ns; /* a heartbeat is looked at after so long */
static pthread_key_t key; /* to know when a thread ends */
static bool key_made;

/* The calling thread's heart, plus one; 0: none. Initial-exec: exists with the thread. */
static __thread uint32_t mine __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
    return lg__os_clock_ns(CLOCK_MONOTONIC);
}

static struct lg__heart *copy_of(const struct heart *heart)
{
    return &of->host.run.pulse->hearts[heart - hearts];
}

static unsigned number_of(const struct heart *heart)
{
    return (unsigned)(heart - hearts);
}

static void name_of(const struct heart *heart, char name[16])
{
    memcpy(name, copy_of(heart)->name, 15);
    name[15] = 0; /* whatever the file says */
}

/* ---- the length of a hang, for people ---- */

struct seconds { unsigned whole, tenths; };

static struct seconds since(uint64_t begin_ns)
{
    uint64_t now = now_ns(), tenths = (now > begin_ns ? now - begin_ns : 0) / 100000000;
    return (struct seconds){ (unsigned)(tenths / 10), (unsigned)(tenths % 10) };
}

static const char *kind_of(int32_t tid)
{
    return tid == lg__os_pid() ? "main thread" : "thread";
}

/* ---- a hang is over ---- */

static void end_hang(struct lg_session *session, unsigned who, int32_t tid, const char *name, const char *how)
{
    uint64_t since_ns = lg__hang_end(&session->host, who);
    if (!since_ns)
        return;
    if (who < LG__HEARTS)
        atomic_store(&session->host.run.pulse->hearts[who].hang_ns, 0);
    lg__snapshot_resolve(LG_SNAPSHOT_HANG, since_ns);
    struct seconds length = since(since_ns);
    lg__host_log(&session->host, LG_LEVEL_NOTICE, "%s \"%s\" (tid %d) %s after %u.%u s: the hang is over", kind_of(tid), name, tid, how, length.whole,
                 length.tenths);
}

static void end_own_hang(struct heart *heart, const char *how)
{
    char name[16];
    name_of(heart, name);
    end_hang(of, number_of(heart), atomic_load(&heart->tid), name, how);
}

/* ---- threads come and go ---- */

static void free_heart(struct heart *heart)
{
    atomic_store(&copy_of(heart)->tid, 0);
    atomic_store(&heart->beat_ns, 0);
    atomic_store(&heart->tid, 0);
}

/* At the end of a thread. */
static void let_go(void *argument)
{
    struct heart *heart = argument;
    if (!mine || !lg__host_owned(&of->host))
        return;
    mine = 0;
    atomic_store(&heart->beat_ns, 0);
    end_own_hang(heart, "has ended");
    free_heart(heart);
}

static struct heart *claim(int32_t tid)
{
    for (uint32_t i = 0; i < LG__HEARTS; i++) {
        int32_t nobody = 0;
        if (!atomic_compare_exchange_strong(&hearts[i].tid, &nobody, tid))
            continue;
        struct lg__heart *copy = copy_of(&hearts[i]);
        atomic_store(&copy->beat_ns, 0);
        atomic_store(&copy->hang_ns, 0);
        atomic_store(&copy->paused, 0);
        lg__os_thread_name(copy->name);
        atomic_store(&copy->tid, tid);
        mine = i + 1;
        if (key_made)
            pthread_setspecific(key, &hearts[i]); /* without it the watch finds out */
        return &hearts[i];
    }
    return NULL;
}

void lg__hearts_prepare(struct lg_session *session)
{
    of = session;
    atomic_store(&first_look_ns, (uint64_t)session->hang_launching_ms * 1000000u / FIRST_PART);
    key_made = key_made || pthread_key_create(&key, let_go) == 0;
}

/* ---- on the threads ---- */

/* The heartbeat of the calling thread; false: there is no room for one. */
static bool beat(struct lg_session *session, uint64_t now)
{
    struct heart *heart = mine ? &hearts[mine - 1] : claim(lg__os_tid());
    if (!heart)
        return false;
    struct lg__heart *copy = copy_of(heart);
    atomic_store_explicit(&copy->beat_ns, now, memory_order_relaxed);
    if (atomic_load_explicit(&copy->paused, memory_order_relaxed))
        atomic_store_explicit(&copy->paused, 0, memory_order_relaxed);
    atomic_store(&heart->beat_ns, now);
    if (atomic_load(&session->host.hangs[number_of(heart)]))
        end_own_hang(heart, "has come back");
    lg__wake_at(&session->host, now + atomic_load_explicit(&first_look_ns, memory_order_relaxed));
    return true;
}

/* Whoever's heart beats, the launch is alive. */
static void end_launch_hang(struct lg_session *session)
{
    int32_t tid = lg__os_tid();
    char name[16];
    lg__os_thread_name(name);
    end_hang(session, LG__HANG_LAUNCH, tid, name, "has sent the launch's heartbeat");
}

lg_status lg_heartbeat(lg_session *session)
{
    static _Atomic uint64_t checked_ns;
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    struct lg__host *host = &session->host;
    lg__capture_called();
    uint64_t now = now_ns(), last = atomic_load_explicit(&checked_ns, memory_order_relaxed);
    atomic_store_explicit(&host->heartbeat_paused, false, memory_order_relaxed);
    atomic_store(&host->heartbeat_ns, now);
    if (atomic_load(&host->hangs[LG__HANG_LAUNCH]))
        end_launch_hang(session);
    if (host->simulated)
        return LG_OK;
    if ((!last || now - last > CHECK_NS) && atomic_compare_exchange_strong(&checked_ns, &last, now))
        lg__capture_check(true);
    bool watched = beat(session, now);
    if (watched)
        atomic_store_explicit(&host->heartbeat_tid, atomic_load_explicit(&hearts[mine - 1].tid, memory_order_relaxed), memory_order_relaxed);
    return watched ? LG_OK : LG_ERR_LIMIT;
}

lg_status lg_heartbeat_pause(lg_session *session)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    atomic_store(&session->host.heartbeat_paused, true);
    if (atomic_load(&session->host.hangs[LG__HANG_LAUNCH]))
        end_launch_hang(session);
    if (session->host.simulated || !mine)
        return LG_OK;
    struct heart *heart = &hearts[mine - 1];
    atomic_store_explicit(&copy_of(heart)->paused, 1, memory_order_relaxed);
    atomic_store(&heart->beat_ns, 0);
    if (atomic_load(&session->host.hangs[number_of(heart)]))
        end_own_hang(heart, "pauses");
    return LG_OK;
}

/* ---- on the watch thread ---- */

static uint64_t threshold_ns(const struct lg_session *session)
{
    const struct lg__state *state = session->host.run.state;
    uint32_t count = atomic_load(&state->context_count);
    for (uint32_t i = 0; i < count && i < LG__CONTEXTS; i++)
        if (lg__phase_launching((lg_phase)atomic_load(&state->contexts[i].phase)))
            return (uint64_t)session->hang_launching_ms * 1000000u;
    return (uint64_t)session->hang_running_ms * 1000000u;
}

/* The hang whose stacks are there, while it lasts: they are not overwritten. */
static struct { unsigned who; uint64_t since_ns; } pictured;

static void take_snapshot(struct lg_session *session, unsigned who, int32_t tid, const char *name, uint64_t since_ns)
{
    _Atomic uint64_t *hangs = session->host.hangs;
    if (pictured.since_ns && atomic_load(&hangs[pictured.who]) == pictured.since_ns)
        return;
    const struct lg__snapshot_wish wish = { LG_SNAPSHOT_HANG, tid, name, since_ns };
    pictured.who = who;
    pictured.since_ns = since_ns;
    lg__snapshot_take(&wish);
    if (atomic_load(&hangs[who]) != since_ns)
        lg__snapshot_resolve(LG_SNAPSHOT_HANG, since_ns); /* it was over before the snapshot had begun */
}

/* Its thread has ended, and has not let go of it, so that nobody but this thread will: looked at again after the kernel was asked, for the thread may have
 * let go while it was, and the heart be free, or another's. */
static bool is_gone(const struct heart *heart)
{
    int32_t tid = atomic_load(&heart->tid);
    LG_FAULT_POINT("heart: is gone?");
    return tid && lg__thread_gone(tid) && atomic_load(&heart->tid) == tid;
}

static void say_gone(struct lg_session *session, struct heart *heart)
{
    char name[16];
    name_of(heart, name);
    lg__host_log(&session->host, LG_LEVEL_WARNING,
                 "thread \"%s\" (tid %d) with a heartbeat is gone without having ended: the kernel ended this thread alone, as a sandbox (seccomp) asks for",
                 name, atomic_load(&heart->tid));
    atomic_store(&heart->beat_ns, 0);
    end_own_hang(heart, "is gone");
    free_heart(heart);
}

/* It has stayed away for the threshold. Returns when to look again. */
static uint64_t stays_away(struct lg_session *session, struct heart *heart, uint64_t beat_ns, uint64_t threshold)
{
    unsigned who = number_of(heart);
    int32_t tid = atomic_load(&heart->tid);
    char name[16];
    if (is_gone(heart)) {
        say_gone(session, heart);
        return LG__NEVER;
    }
    heart->lived_ns = 0;
    if (lg__capture_traced())
        return threshold;
    name_of(heart, name);
    atomic_store(&copy_of(heart)->hang_ns, beat_ns);
    lg__hang_begin(&session->host, who, beat_ns);
    if (atomic_load(&heart->beat_ns) != beat_ns) { /* it has just come, and may not have seen the mark */
        if (lg__hang_end(&session->host, who))
            atomic_store(&copy_of(heart)->hang_ns, 0);
        return 0;
    }
    struct seconds length = since(beat_ns);
    take_snapshot(session, who, tid, name, beat_ns);
    lg__host_log(&session->host, LG_LEVEL_WARNING, "%s \"%s\" (tid %d) has had no heartbeat for %u.%u s: it hangs", kind_of(tid), name, tid, length.whole,
                 length.tenths);
    return threshold;
}

/* Returns how long until it has to be looked at again. */
static uint64_t look(struct lg_session *session, struct heart *heart, uint64_t now, uint64_t threshold)
{
    uint64_t beat_ns = atomic_load(&heart->beat_ns), first = threshold / FIRST_PART;
    uint64_t slice = threshold / SLICE_PART < SLICE_MAX_NS ? threshold / SLICE_PART : SLICE_MAX_NS;
    if (!beat_ns)
        return LG__NEVER;
    if (beat_ns != heart->seen_ns) {
        uint64_t age = now > beat_ns ? now - beat_ns : 0;
        heart->seen_ns = beat_ns;
        heart->lived_ns = 0;
        heart->last_ns = now;
        return heart->step_ns = age + slice < first ? first - age : slice;
    }
    uint64_t passed = now - heart->last_ns;
    heart->lived_ns += passed < heart->step_ns ? passed : heart->step_ns;
    heart->last_ns = now;
    if (atomic_load(&session->host.hangs[number_of(heart)])) { /* said; it may still be ended by the kernel */
        if (heart->lived_ns < threshold)
            return heart->step_ns = threshold - heart->lived_ns;
        heart->lived_ns = 0;
        if (is_gone(heart))
            say_gone(session, heart);
        return heart->step_ns = threshold;
    }
    if (heart->lived_ns >= threshold)
        return heart->step_ns = stays_away(session, heart, beat_ns, threshold);
    uint64_t left = threshold - heart->lived_ns;
    /* Looked at before its time, for another's sake: the rest of the first, long step. */
    if (passed < heart->step_ns && heart->step_ns - passed > slice)
        slice = heart->step_ns - passed;
    return heart->step_ns = slice < left ? slice : left;
}

/* A launch whose heartbeat stays away: its own thread has marked it. */
static void look_at_launch(struct lg_session *session)
{
    static uint64_t said_ns;
    struct lg__host *host = &session->host;
    uint64_t since_ns = atomic_load(&host->hangs[LG__HANG_LAUNCH]);
    if (pictured.who == LG__HANG_LAUNCH && pictured.since_ns && since_ns != pictured.since_ns) {
        lg__snapshot_resolve(LG_SNAPSHOT_HANG, pictured.since_ns); /* the launch is finished */
        pictured.since_ns = 0;
    }
    if (!since_ns || since_ns == said_ns || lg__capture_traced())
        return;
    said_ns = since_ns;
    int32_t tid = atomic_load(&host->heartbeat_tid);
    struct seconds length = since(since_ns);
    take_snapshot(session, LG__HANG_LAUNCH, tid ? tid : lg__os_pid(), "", since_ns);
    lg__host_log(host, LG_LEVEL_WARNING, "no heartbeat for %u.%u s while launching: it hangs", length.whole, length.tenths);
}

uint64_t lg__hearts_look(struct lg_session *session)
{
    uint64_t sleep = LG__NEVER, threshold = threshold_ns(session);
    atomic_store_explicit(&first_look_ns, threshold / FIRST_PART, memory_order_relaxed);
    look_at_launch(session);
    for (uint32_t i = 0; i < LG__HEARTS; i++) {
        uint64_t next = atomic_load(&hearts[i].tid) ? look(session, &hearts[i], now_ns(), threshold) : LG__NEVER;
        sleep = next < sleep ? next : sleep;
    }
    return sleep;
}

void lg__hearts_check(struct lg_session *session)
{
    for (uint32_t i = 0; i < LG__HEARTS; i++)
        if (is_gone(&hearts[i]))
            say_gone(session, &hearts[i]);
}
