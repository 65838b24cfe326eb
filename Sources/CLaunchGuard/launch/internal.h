/* The launch: shared by the files of this folder. */
#ifndef LG_LAUNCH_INTERNAL_H
#define LG_LAUNCH_INTERNAL_H

#include "launch/hinted.h"
#include "launch/launch.h"
#include "launch/wish.h"
#include "launchguard/task.h"

struct lg__rung {
    char name[LG__NAME_BYTES];
    uint32_t impact, timeout_ms, attempts, flags;
    lg_repair_callback run;
    void *user;
};

struct lg__task {
    char key[LG__NAME_BYTES];
    uint32_t flags;
    lg_task_callback run;
    lg_protect_callback protect;
    lg_event_callback on_event;
    void *user;
    lg_task_state state;
    bool again; /* it runs, and was added anew meanwhile: it runs once more */
    /* by lg_launch_replay(): its place in the order of these calls; 0: not released */
    uint32_t released;
    uint32_t protected_in; /* the hold in which its protect action was called; 0: in none */
    char event[LG__NAME_BYTES]; /* last life-cycle event that it has not got yet; "" for none */
};

#define LG__STATUSES 64

/* One life of a launch, from its begin to its end. In a process there is one; in a simulated
 * session each simulated end takes it away, and the next begin makes another one (life.c). A thread
 * that works for a launch holds the life that it works for. After the end its stores there have no
 * effect. State that outlasts a life (the ledger, the run file, the tasks) changes only where
 * lg__life_current() is true. Lives are never freed: an answer may come late. */
struct lg__life {
    lg_launch *launch;
    struct lg__life *older;
    bool decided;       /* before, lg_launch_protect() is a part of the decision */
    bool finished;
    uint64_t finished_at_ns; /* in simulated time */
    bool done;          /* the tasks have run; only late ones may come */
    bool safe;          /* the tasks are those of safe mode, also when the launch is finished */
    bool mark_waits;    /* lg_launch_finished() was called while tasks were held */
    bool was_held;
    /* The phase of this hold whose work was begun: protect actions, or on_give_up.
     * LG_PHASE_NONE: none. */
    lg_phase holding;
    uint32_t holds;     /* so far, the present one included */
    bool driven;        /* a thread reports, repairs or runs tasks */
    bool repaired_beside; /* with LG_HOLD_NONE: a thread repairs while the tasks run */
    bool consented;     /* lg_launch_repair() was called in this hold */
    bool by_hand;       /* LG_DECISION_HOLD: nothing is tried before that call */
    enum lg__wish wish;
    uint32_t hold;      /* that an answer of the program is for; 0: none */
    uint32_t told;      /* the last one that on_hold was called for */
    uint32_t releases;
    uint64_t hold_left_ns; /* until the hold's deadline; 0: it has passed */
    char left_out[LG__NAME_BYTES]; /* task that the built-in rung leaves out */
    lg_status outcome;  /* of lg_launch_begin(), once done */
    lg_completion *completions; /* the newest first */
};

/* The window of a launch. */
struct lg__window {
    /* launching_ns of the state while time counts; 0: held, finished, or not begun */
    _Atomic uint64_t opened_ns;
    _Atomic uint64_t passed_for; /* the opened_ns whose window has passed */
    struct lg__life *_Atomic awaited; /* the last life that a thread waits in for the window */
    _Atomic bool idle; /* tasks are held, and none runs: the time that passes proves nothing */
    /* used by the one thread that counts: */
    uint64_t seen_ns, last_ns, counted_ns;
    uint32_t crashes; /* the latest crash when the window was over */
    bool is_over;
};

struct lg_launch {
    struct lg__host *host;
    lg_launch *older;   /* the one that was made before it */
    /* this process is a child of the one that made it: it only runs its tasks */
    bool forked;
    bool counts; /* protected by the ledger; else only the tasks run */
    bool secondary; /* prepared beside the primary, and for no other reason unprotected */
    uint32_t index; /* of its context in the ledger */
    char name[LG__NAME_BYTES];
    lg_launch_options options;
    struct lg__rung rungs[LG_REPAIRS_MAX]; /* the program's; rung i of the ladder is rungs[i − 1] */
    uint32_t rung_count;
    struct lg__state_context *state; /* in the run file, or in memory */
    struct lg__owner *owner;         /* the same */
    struct lg__state_context unprotected_state;
    struct lg__owner unprotected_owner;

    pthread_mutex_t lock; /* of all that follows; taken before the host's, never while holding it */
    pthread_cond_t changed; /* of life, wish, released; CLOCK_MONOTONIC */
    struct lg__life *life;  /* NULL: not begun */
    struct lg__life *lives; /* all that ever were, the newest first */
    struct lg__life first_life;
    uint64_t simulated_ends;
    bool by_key;
    _Atomic bool keeps; /* there may be copies of files that repairs changed */
    bool early; /* lg_launch_protect() was called before the decision */
    bool shielded; /* or it holds the launch now */
    char shield_reason[256];
    uint32_t holds; /* so far, each until its answer; never twice the same, also in another life */
    struct lg__task tasks[LG_TASKS_MAX];
    uint32_t task_count;
    char omitted[LG_TASKS_MAX][LG__NAME_BYTES]; /* keys that the program leaves out */
    uint32_t omitted_count;
    char hinted[LG__NAME_BYTES]; /* key that a hint of the vendor leaves out; "": none */

    _Atomic uint32_t now; /* lg_launch_state */
    _Atomic uint32_t streak;
    lg_launch_status unpublished[LG__STATUSES]; /* changes that on_status has not heard of */
    uint32_t unpublished_count;
    bool publishing;
    struct lg__window window;
    _Atomic uint32_t over; /* futex: changes when a thread that waits for the window must look */
};

/* ---- setup.c ---- */

/* A launch that was prepared beside the primary begins: protect it, if the primary has ended. */
void lg__setup_take_over(lg_launch *launch);

/* ---- launch.c ---- */

/* The state of this launch is stored. */
bool lg__launch_protects(const lg_launch *launch);

/* The gate: false when a simulated end has taken this life away, and nothing may be done for it any
 * more. Under the launch's lock. */
static inline bool lg__life_current(const struct lg__life *life)
{
    return life->launch->life == life;
}

/* Note the status that follows from the stored state, for lg__launch_publish(). Under the launch's
 * lock. */
void lg__launch_note_status(lg_launch *launch);

/* Pass waiting breadcrumbs to the program's logger, and call on_status if the status has changed.
 * The status follows from stored data, so that the last caller reports the current status. */
void lg__launch_publish(lg_launch *launch);

/* The stored phase; LG_PHASE_LAUNCHING for a launch without stored state. LG_PHASE_TERMINATING once
 * the session was stopped: then no launch is held any more. */
lg_phase lg__launch_phase(const lg_launch *launch);

/* Some task is in this state. Under the launch's lock. */
bool lg__launch_has_task(const lg_launch *launch, lg_task_state state);

/* A thread that waits while the launch is held looks this often whether it is interrupted. */
#define LG__LAUNCH_LOOK_NS UINT64_C(50000000)
/* The program was asked to end since the launch began, and the launch is held or halted. */
bool lg__launch_interrupted(const lg_launch *launch);

/* Change the stored context: the body runs under both locks, and its outcome is stored before
 * anything else happens. Nothing happens when the life is over. */
#define LG__WITH_CONTEXT(life, context) \
    for (struct lg__ledger_context *context = lg__launch_lock(life); context; context = lg__launch_store((life)->launch, context))
struct lg__ledger_context *lg__launch_lock(const struct lg__life *life);
struct lg__ledger_context *lg__launch_store(lg_launch *launch, struct lg__ledger_context *context);

/* The hint of the vendor, as it is. Under both locks. */
struct lg__hint lg__launch_hint(const lg_launch *launch);

/* A copy of it. */
void lg__launch_look(lg_launch *launch, struct lg__ledger_context *ret_context);

/* Take this much from the time until the hold's deadline. Under the launch's lock. */
void lg__launch_spend_hold(struct lg__life *life, uint64_t ns);

/* ---- life.c ---- */

/* Begin a life of a launch that has none. Under the launch's lock. NULL: no memory; never for the
 * first life. */
struct lg__life *lg__life_begin(lg_launch *launch);

/* ---- window.c ---- */

/* Count the time that one launch lives, and look for its heartbeat. Returns the nanoseconds until
 * the next look. On one thread at a time. */
uint64_t lg__window_look(lg_launch *launch, uint64_t now);

/* The time that finishes the launch; 0: none does. */
uint64_t lg__window_ns(const lg_launch *launch);
/* Nanoseconds to the end of a window that nobody counts; LG__NEVER: it is not open. */
uint64_t lg__window_left(const lg_launch *launch);
/* The window has passed, and so the launch is finished, even if that is not stored yet. */
bool lg__window_has_passed(const lg_launch *launch);
bool lg__window_finishes(const lg_launch *launch);
/* The same, or the mark of another process has finished the launch. */
bool lg__window_or_mark_finishes(const lg_launch *launch);
/* The window finishes the launch: note the phase in the run file, for a death from now on. Without
 * a lock. */
void lg__window_note(lg_launch *launch);
/* The launch is no longer launching. Under the launch's lock. */
void lg__window_close(lg_launch *launch);
/* A thread that waits for the window must look. */
void lg__window_wake(lg_launch *launch);

/* ---- confirm.c ---- */

/* The launch is finished. */
void lg__confirm_launch(struct lg__life *life);
/* The same where the window finished the launch, and that is not stored yet. */
void lg__confirm_window(lg_launch *launch);
/* The tasks have run: a mark that waits for them counts. */
void lg__confirm_tasks(struct lg__life *life);

/* ---- await.c ---- */

/* The launch begins to live, also after a hold: make sure that its time is counted. */
void lg__await_window(struct lg__life *life);

/* ---- hold.c ---- */

/* on_report, if it is to be called. */
void lg__hold_report(struct lg__life *life);

/* While the stored phase is held or halted: protect actions, repairs, wishes, deadline. Returns
 * with another phase, or when the run is over. */
void lg__hold_launch(struct lg__life *life);

/* ---- tasks.c: all under the launch's lock ---- */

/* 1 to LG_NAME_MAX bytes: of a key, and of any other name of a launch. */
bool lg__tasks_good_key(const char *key);
/* The task of that key; NULL: there is none. */
struct lg__task *lg__tasks_find(lg_launch *launch, const char *key);
/* The program leaves the task of that key out, or a hint does. */
bool lg__tasks_omits(const lg_launch *launch, const char *key);
/* Enough crashes happened in the task for it to be left out. */
bool lg__tasks_is_suspect(const struct lg__ledger_context *context, const struct lg__task *task);
/* The suspect task that may be left out; false: there is none. */
bool lg__tasks_suspect(const lg_launch *launch, const struct lg__ledger_context *context, char ret_key[LG__NAME_BYTES]);

/* The launch that a repair is of; NULL: not a repair. */
lg_launch *lg__callback_repairs(const lg_completion *done);

/* ---- protect.c ---- */

/* The launch is held, and the task has had no protect action in this hold. Under the launch's
 * lock. */
bool lg__protect_is_due(const struct lg__life *life, const struct lg__task *task);

/* Call the protect action of a task if it is due. Where several threads come, the first one calls
 * it. */
lg_status lg__protect_task(struct lg__life *life, uint32_t index);

/* The protect actions that are due, as one call. */
void lg__protect_tasks(struct lg__life *life);

/* lg_launch_protect() is the reason of the next hold. Under the launch's lock. */
void lg__protect_note(lg_launch *launch, const char *reason);

/* Protect actions are due, and the thread of the hold has to call them: with LG_CALLBACKS_CALLER,
 * when a task was added meanwhile. Under the launch's lock. */
bool lg__protect_wants_caller(const struct lg__life *life);

/* ---- custody.c ---- */

/* Run the tasks that are left, until there are none or the launch is held.
 *  @return LG_OK: none is left; LG_ERR_FAILED: none is left since an essential one failed;
 *          LG_ERR_STATE: it is held; LG_ERR_CLOSED: the run is over, or its end was announced. */
lg_status lg__custody_run(struct lg__life *life);

#endif
