/* Heartbeats: run loops that must come round, and the reaction when one does not.
 *
 * Decisions use words in memory; the run file has a copy, which may be damaged. A word belongs to
 * the thread that it is about and to the watch thread. Each of the two looks at the other's word
 * after it changed its own, so that one of them sees a heartbeat that came while a hang was
 * found. */
#include <pthread.h>

#include "capture/capture.h"
#include "launchguard/watch.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* A heartbeat also checks the handlers when the last check is older than this. */
#define CHECK_NS UINT64_C(1000000000)
/* Time is counted in slices; a slice is worth no more than it should have lasted. */
#define SLICE_PART 16u
#define SLICE_MAX_NS UINT64_C(250000000)
/* The watch looks at a new heartbeat for the first time when this part of the threshold has
 * passed. */
#define FIRST_PART 4u

static struct heartbeat {
    _Atomic int32_t tid;      /* 0: free */
    _Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC; 0: it pauses */
    /* used by the watch thread: */
    uint64_t seen_ns; /* the heartbeat that time is counted from */
    uint64_t last_ns, step_ns, counted_ns;
    uint8_t padding[64 - 48];
} heartbeats[LG__HEARTBEATS];
static_assert(sizeof(struct heartbeat) == 64, "a cache line each");

/* the session of these heartbeats: a process has one that is watched */
static struct lg_session *watched_session LG__SMALL;
static _Atomic uint64_t first_look_ns LG__SMALL; /* the age at which a heartbeat is looked at */
static pthread_key_t thread_end_key LG__SMALL; /* to know when a thread ends */
static bool thread_end_key_made LG__SMALL;

/* The calling thread's heartbeat, plus one; 0: none. Initial-exec: exists with the thread. */
static __thread uint32_t own_heartbeat __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
    return lg__os_clock_ns(CLOCK_MONOTONIC);
}

static struct lg__heartbeat *heartbeat_copy(const struct heartbeat *heartbeat)
{
    return &watched_session->host.run.pulse->heartbeats[heartbeat - heartbeats];
}

static unsigned heartbeat_number(const struct heartbeat *heartbeat)
{
    return (unsigned)(heartbeat - heartbeats);
}

static void heartbeat_name(const struct heartbeat *heartbeat, char name[16])
{
    memcpy(name, heartbeat_copy(heartbeat)->name, 15);
    name[15] = 0; /* whatever the file says */
}

/* ---- the length of a hang, for people ---- */

struct seconds { unsigned whole, tenths; };

static struct seconds seconds_since(uint64_t begin_ns)
{
    uint64_t now = now_ns(), tenths = (now > begin_ns ? now - begin_ns : 0) / 100000000;
    return (struct seconds){ (unsigned)(tenths / 10), (unsigned)(tenths % 10) };
}

static const char *thread_kind(int32_t tid)
{
    return tid == lg__os_pid() ? "main thread" : "thread";
}

/* ---- a hang is over ---- */

static void end_hang(struct lg_session *session, unsigned who, int32_t tid, const char *name, const char *how)
{
    uint64_t since_ns = lg__hang_end(&session->host, who);
    if (!since_ns)
        return;
    if (who < LG__HEARTBEATS)
        atomic_store(&session->host.run.pulse->heartbeats[who].hang_ns, 0);
    lg__snapshot_resolve(LG_SNAPSHOT_HANG, since_ns);
    struct seconds length = seconds_since(since_ns);
    lg__host_log(&session->host, LG_LEVEL_NOTICE, "%s \"%s\" (tid %d) %s after %u.%u s: the hang is over", thread_kind(tid), name, tid, how, length.whole,
                 length.tenths);
}

static void end_own_hang(struct heartbeat *heartbeat, const char *how)
{
    char name[16];
    heartbeat_name(heartbeat, name);
    end_hang(watched_session, heartbeat_number(heartbeat), atomic_load(&heartbeat->tid), name, how);
}

/* ---- threads come and go ---- */

static void free_heartbeat(struct heartbeat *heartbeat)
{
    atomic_store(&heartbeat_copy(heartbeat)->tid, 0);
    atomic_store(&heartbeat->beat_ns, 0);
    atomic_store(&heartbeat->tid, 0);
}

/* Called at the end of a thread. */
static void heartbeat_thread_ends(void *argument)
{
    struct heartbeat *heartbeat = argument;
    if (!own_heartbeat || !lg__host_unforked(&watched_session->host))
        return;
    own_heartbeat = 0;
    atomic_store(&heartbeat->beat_ns, 0);
    end_own_hang(heartbeat, "has ended");
    free_heartbeat(heartbeat);
}

static struct heartbeat *claim_heartbeat(int32_t tid)
{
    for (uint32_t i = 0; i < LG__HEARTBEATS; i++) {
        int32_t nobody = 0;
        if (!atomic_compare_exchange_strong(&heartbeats[i].tid, &nobody, tid))
            continue;
        struct lg__heartbeat *copy = heartbeat_copy(&heartbeats[i]);
        atomic_store(&copy->beat_ns, 0);
        atomic_store(&copy->hang_ns, 0);
        atomic_store(&copy->paused, 0);
        lg__os_thread_name(copy->name);
        atomic_store(&copy->tid, tid);
        own_heartbeat = i + 1;
        lg__log_thread_want(watched_session);
        if (thread_end_key_made)
            /* without it the watch finds out */
            pthread_setspecific(thread_end_key, &heartbeats[i]);
        return &heartbeats[i];
    }
    return NULL;
}

void lg__heartbeats_prepare(struct lg_session *session)
{
    watched_session = session;
    atomic_store(&first_look_ns, (uint64_t)session->hang_launching_ms * 1000000u / FIRST_PART);
    thread_end_key_made = thread_end_key_made || pthread_key_create(&thread_end_key, heartbeat_thread_ends) == 0;
}

/* ---- on the threads ---- */

/* The heartbeat of the calling thread; false: there is no room for one. */
static bool beat_now(struct lg_session *session, uint64_t now)
{
    struct heartbeat *heartbeat = own_heartbeat ? &heartbeats[own_heartbeat - 1] : claim_heartbeat(lg__os_tid());
    if (!heartbeat)
        return false;
    struct lg__heartbeat *copy = heartbeat_copy(heartbeat);
    atomic_store_explicit(&copy->beat_ns, now, memory_order_relaxed);
    if (atomic_load_explicit(&copy->paused, memory_order_relaxed))
        atomic_store_explicit(&copy->paused, 0, memory_order_relaxed);
    atomic_store(&heartbeat->beat_ns, now);
    if (atomic_load(&session->host.hangs[heartbeat_number(heartbeat)]))
        end_own_hang(heartbeat, "has come back");
    lg__wake_at(&session->host, now + atomic_load_explicit(&first_look_ns, memory_order_relaxed));
    return true;
}

/* A heartbeat of any thread is one of the launch. */
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
    bool watched = beat_now(session, now);
    lg__host_hand_over(host);
    if (watched)
        atomic_store_explicit(&host->heartbeat_tid, atomic_load_explicit(&heartbeats[own_heartbeat - 1].tid, memory_order_relaxed), memory_order_relaxed);
    return watched ? LG_OK : LG_ERR_LIMIT;
}

static void pause_own(struct lg_session *session)
{
    struct heartbeat *heartbeat = &heartbeats[own_heartbeat - 1];
    atomic_store_explicit(&heartbeat_copy(heartbeat)->paused, 1, memory_order_relaxed);
    atomic_store(&heartbeat->beat_ns, 0);
    if (atomic_load(&session->host.hangs[heartbeat_number(heartbeat)]))
        end_own_hang(heartbeat, "pauses");
    lg__host_hand_over(&session->host);
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
    if (!session->host.simulated && own_heartbeat)
        pause_own(session);
    return LG_OK;
}

/* ---- a call of ours waits on the thread ---- */

bool lg__heartbeats_hold(struct lg_session *session)
{
    bool beats = own_heartbeat && atomic_load(&heartbeats[own_heartbeat - 1].beat_ns);
    if (atomic_load(&session->host.hangs[LG__HANG_LAUNCH]))
        end_launch_hang(session);
    if (beats)
        pause_own(session);
    return beats;
}

void lg__heartbeats_go_on(struct lg_session *session, bool beats)
{
    atomic_store(&session->host.heartbeat_ns, now_ns()); /* of the launch */
    if (beats)
        lg_heartbeat(session);
}

/* ---- on the watch thread ---- */

static uint64_t hang_threshold_ns(const struct lg_session *session)
{
    return (uint64_t)(lg__session_launching(session) ? session->hang_launching_ms : session->hang_running_ms) * 1000000u;
}

/* The hang whose stacks are stored, while it lasts: they are not overwritten. */
static struct { unsigned who; uint64_t since_ns; } pictured;

static void snapshot_hang(struct lg_session *session, unsigned who, int32_t tid, const char *name, uint64_t since_ns)
{
    _Atomic uint64_t *hangs = session->host.hangs;
    if (pictured.since_ns && atomic_load(&hangs[pictured.who]) == pictured.since_ns)
        return;
    const struct lg__snapshot_wish wish = { LG_SNAPSHOT_HANG, tid, name, since_ns, 0 };
    pictured.who = who;
    pictured.since_ns = since_ns;
    lg__snapshot_take(&wish);
    if (atomic_load(&hangs[who]) != since_ns)
        /* it was over before the snapshot had begun */
        lg__snapshot_resolve(LG_SNAPSHOT_HANG, since_ns);
}

/* The thread of a heartbeat has ended without giving the heartbeat back; only the watch thread can
 * free it now. The tid is read again after the question to the kernel: meanwhile the thread may
 * have given the heartbeat back, and another thread may have it. */
static bool thread_is_gone(const struct heartbeat *heartbeat)
{
    int32_t tid = atomic_load(&heartbeat->tid);
    LG_FAULT_POINT("heartbeat: is gone?");
    return tid && lg__capture_thread_gone(tid) && atomic_load(&heartbeat->tid) == tid;
}

static void report_gone(struct lg_session *session, struct heartbeat *heartbeat)
{
    char name[16];
    heartbeat_name(heartbeat, name);
    lg__host_log(&session->host, LG_LEVEL_WARNING,
                 "the kernel ended thread \"%s\" (tid %d), which had a heartbeat, and no other thread, as a seccomp sandbox does",
                 name, atomic_load(&heartbeat->tid));
    atomic_store(&heartbeat->beat_ns, 0);
    end_own_hang(heartbeat, "is gone");
    free_heartbeat(heartbeat);
}

/* The heartbeat has stayed away for the threshold. Returns when to look again. */
static uint64_t report_hang(struct lg_session *session, struct heartbeat *heartbeat, uint64_t beat_ns, uint64_t threshold)
{
    unsigned who = heartbeat_number(heartbeat);
    int32_t tid = atomic_load(&heartbeat->tid);
    char name[16];
    if (thread_is_gone(heartbeat)) {
        report_gone(session, heartbeat);
        return LG__NEVER;
    }
    heartbeat->counted_ns = 0;
    if (lg__capture_traced())
        return threshold;
    heartbeat_name(heartbeat, name);
    atomic_store(&heartbeat_copy(heartbeat)->hang_ns, beat_ns);
    lg__hang_begin(&session->host, who, beat_ns);
    /* the heartbeat has just come, and its thread may not have seen the mark */
    if (atomic_load(&heartbeat->beat_ns) != beat_ns) {
        if (lg__hang_end(&session->host, who))
            atomic_store(&heartbeat_copy(heartbeat)->hang_ns, 0);
        return 0;
    }
    struct seconds length = seconds_since(beat_ns);
    snapshot_hang(session, who, tid, name, beat_ns);
    lg__host_log(&session->host, LG_LEVEL_WARNING, "%s \"%s\" (tid %d) has sent no heartbeat for %u.%u s: it hangs", thread_kind(tid), name, tid, length.whole,
                 length.tenths);
    return threshold;
}

/* Returns the nanoseconds until the next look. */
static uint64_t look_at_heartbeat(struct lg_session *session, struct heartbeat *heartbeat, uint64_t now, uint64_t threshold)
{
    uint64_t beat_ns = atomic_load(&heartbeat->beat_ns), first = threshold / FIRST_PART;
    uint64_t slice = threshold / SLICE_PART < SLICE_MAX_NS ? threshold / SLICE_PART : SLICE_MAX_NS;
    if (!beat_ns)
        return LG__NEVER;
    if (beat_ns != heartbeat->seen_ns) {
        uint64_t age = now > beat_ns ? now - beat_ns : 0;
        heartbeat->seen_ns = beat_ns;
        heartbeat->counted_ns = 0;
        heartbeat->last_ns = now;
        return heartbeat->step_ns = age + slice < first ? first - age : slice;
    }
    uint64_t passed = now - heartbeat->last_ns;
    heartbeat->counted_ns += passed < heartbeat->step_ns ? passed : heartbeat->step_ns;
    heartbeat->last_ns = now;
    /* said; it may still be ended by the kernel */
    if (atomic_load(&session->host.hangs[heartbeat_number(heartbeat)])) {
        if (heartbeat->counted_ns < threshold)
            return heartbeat->step_ns = threshold - heartbeat->counted_ns;
        heartbeat->counted_ns = 0;
        if (thread_is_gone(heartbeat))
            report_gone(session, heartbeat);
        return heartbeat->step_ns = threshold;
    }
    if (heartbeat->counted_ns >= threshold)
        return heartbeat->step_ns = report_hang(session, heartbeat, beat_ns, threshold);
    uint64_t left = threshold - heartbeat->counted_ns;
    /* Looked at early, because of another heartbeat: the rest of the first, long step. */
    if (passed < heartbeat->step_ns && heartbeat->step_ns - passed > slice)
        slice = heartbeat->step_ns - passed;
    return heartbeat->step_ns = slice < left ? slice : left;
}

/* A launch without a heartbeat: its own thread has marked it. */
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
    struct seconds length = seconds_since(since_ns);
    snapshot_hang(session, LG__HANG_LAUNCH, tid ? tid : lg__os_pid(), "", since_ns);
    lg__host_log(host, LG_LEVEL_WARNING, "no heartbeat for %u.%u s while launching: it hangs", length.whole, length.tenths);
}

uint64_t lg__heartbeats_look(struct lg_session *session)
{
    uint64_t sleep = LG__NEVER, threshold = hang_threshold_ns(session);
    atomic_store_explicit(&first_look_ns, threshold / FIRST_PART, memory_order_relaxed);
    look_at_launch(session);
    for (uint32_t i = 0; i < LG__HEARTBEATS; i++) {
        uint64_t next = atomic_load(&heartbeats[i].tid) ? look_at_heartbeat(session, &heartbeats[i], now_ns(), threshold) : LG__NEVER;
        sleep = next < sleep ? next : sleep;
    }
    return sleep;
}

void lg__heartbeats_check(struct lg_session *session)
{
    for (uint32_t i = 0; i < LG__HEARTBEATS; i++)
        if (thread_is_gone(&heartbeats[i]))
            report_gone(session, &heartbeats[i]);
}
