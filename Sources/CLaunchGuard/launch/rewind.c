/* Simulated runs: a launch is brought back to its begin, and time passes at a word. */
#include "launch/internal.h"
#include "os/os.h"

void lg__launch_rewind(lg_launch *launch, lg_end end)
{
    pthread_mutex_lock(&launch->lock);
    pthread_mutex_lock(&launch->host->lock);
    struct lg__book_context *context = lg__ledger_context(&launch->host->ledger.book, launch->name);
    if (end == LG_END_UPGRADE && context) {
        lg__decide_reset(context);
    } else if (context) {
        struct lg__last_end last = { .end = end, .ordinal = launch->epoch + 1, .when = lg__host_now(launch->host) };
        last.task = atomic_load(&launch->state->task_set) ? launch->state->task : NULL;
        lg__decide_account(context, &last);
    }
    lg__ledger_store(&launch->host->ledger);
    lg__callback_abort(launch);
    launch->epoch++;
    if (context)
        atomic_store(&launch->streak, context->streak);
    pthread_mutex_unlock(&launch->host->lock);
    launch->step = PREPARED;
    launch->finished = launch->window_over = launch->window_begun = launch->was_held = launch->holding = launch->driven = launch->repaired_beside =
        launch->consented = false;
    launch->wish = NO_WISH;
    launch->releases = 0;
    launch->left_out[0] = 0;
    for (uint32_t i = 0; i < launch->task_count; i++) {
        launch->tasks[i].state = LG_TASK_HELD;
        launch->tasks[i].released = 0;
        launch->tasks[i].event[0] = 0;
    }
    atomic_store(&launch->state->marked, 0);
    atomic_store(&launch->state->task_set, 0);
    lg__launch_note_status(launch); /* before whoever waits for this run returns */
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->lock);
    lg__launch_tell(launch);
    atomic_fetch_add(&launch->over, 1);
    lg__os_futex_wake((const uint32_t *)&launch->over);
}

void lg__launch_pass(lg_launch *launch, uint64_t passed_ns)
{
    pthread_mutex_lock(&launch->lock);
    lg_phase phase = lg__launch_phase(launch);
    if (!lg__callback_pass(launch, passed_ns) && (phase == LG_PHASE_HELD || phase == LG_PHASE_HALTED)) {
        lg__launch_spend_hold(launch, launch->epoch, passed_ns);
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
}
