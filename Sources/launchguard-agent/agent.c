#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "composer.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "process/agent_log.h"
#include "process/owner.h"
#include "process/place.h"
#include "process/rest.h"
#include "process/sandbox.h"
#include "process/scope.h"
#include "send/attempts.h"
#include "send/hint_file.h"
#include "send/server_file.h"
#include "store/crc32c.h"
#include "watch/runs.h"
#include "watch/status_process.h"

/* The agent stays so long without a process to wait for and a report to send, in case the program
 * is started again. */
#define LINGER_NS (UINT64_C(10) * 1000000000)
/* While a report is held, the agent looks this often for a change of the credential file. */
#define HELD_LOOK_NS (UINT64_C(300) * 1000000000)
/* A run that finds no room in the spool is tried again this often, for so long. */
#define FULL_LOOK_MS 60000
#define FULL_NS (UINT64_C(2) * 3600 * 1000000000)
/* The process that started the agent ends a moment later, and the agent has its parent then. */
#define ADOPTED_NS UINT64_C(2000000000)
#define ADOPTED_LOOK_MS 20
#define WAITS_MAX 1024
/* An agent that is to end does so after its request. */
#define PLACE_MS ((unsigned)REQUEST_MS + 5000)
/* No exit status. */
#define GOES_ON (-1)
#define REST_MS 1000

struct agent {
    const struct agent_options *options;
    struct lg__delivery_config config;
    int state, spool, lock, notify;
    bool serves;            /* programs that look find an agent that takes what comes */
    struct runs runs;
    struct mailbox mailbox;
    struct composer composer;
    struct attempts attempts;
    bool changed;           /* something in the directory */
    uint64_t full_since_ns; /* CLOCK_MONOTONIC; a run is owed that finds no room; 0: none is */
};

/* ---- configuration ---- */

static bool read_config(struct agent *agent)
{
    char text[LG__CONFIG_MAX], wrong[128];
    if (lg__spool_read(agent->spool, "config", text, sizeof text) < 0) {
        agent_log("there is no spool/config: no program has said where reports go");
        return false;
    }
    if (!lg__delivery_config_parse(text, &agent->config, wrong)) {
        agent_log("spool/config cannot be used: %s", wrong);
        return false;
    }
    return true;
}

static bool may_send(struct agent *agent)
{
    agent->composer.consent = lg__consent_read(agent->spool);
    return agent->composer.consent.given && !lg__spool_is_off(agent->spool);
}

/* ---- the place ---- */

static void serve(struct agent *agent, bool serves)
{
    if (agent->serves != serves)
        place_serve(agent->lock, serves);
    agent->serves = serves;
}

/* ---- the parent ---- */

/* A program that is process 1 of its namespace, or a subreaper, takes orphans in. It may wait for
 * all of its children, and the agent must not wait for its end then. */
static bool is_child_of_program(const struct agent *agent)
{
    const pid_t parent = getppid();
    for (uint32_t i = 0; i < agent->runs.count; i++) {
        const struct known_run *run = &agent->runs.list[i];
        if (run->state == RUN_ALIVE && run->pidfd >= 0 && run->pid == parent)
            return true;
    }
    return false;
}

/* Milliseconds until the next look for the parent; −1: none is needed. */
static int look_for_parent(struct agent *agent, uint64_t begun)
{
    if (!agent->attempts.once && is_child_of_program(agent)) {
        agent_log("the program has become the parent of the agent, which sends what is due, and ends");
        agent->attempts.once = true;
        serve(agent, false);
    }
    return !agent->attempts.once && getppid() == getsid(0) && lg__os_clock_ns(CLOCK_MONOTONIC) - begun < ADOPTED_NS ? ADOPTED_LOOK_MS : -1;
}

/* ---- the loop ---- */

static void watch_folder(const struct agent *agent, const char *name, uint32_t events)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", agent->options->state_directory, name);
    if (length > 0 && (size_t)length < sizeof path)
        inotify_add_watch(agent->notify, path, events | IN_ONLYDIR | IN_DONT_FOLLOW);
}

static void drain_notifications(struct agent *agent)
{
    char buffer[4096];
    while (read(agent->notify, buffer, sizeof buffer) > 0)
        agent->changed = true;
}

static int sooner(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static void cancel(struct agent *agent)
{
    if (!agent->attempts.sender.easy)
        return;
    sender_cancel(&agent->attempts.sender);
    permit_return(&agent->mailbox.permit);
}

/* The user withheld consent, and the program died before it had deleted the reports, or this agent
 * was stopped meanwhile. */
static void drop_refused(struct agent *agent)
{
    for (uint32_t i = 0; i < agent->mailbox.count;) {
        struct mail *mail = &agent->mailbox.mails[i];
        if (mail->state != LG_DELIVERY_SENT && mail->parts.ordinal < agent->composer.consent.from_ordinal)
            mailbox_drop(&agent->mailbox, mail);
        else
            i++;
    }
}

/* Do all work but the network's. `ret_next`: milliseconds until the next time; −1: never. false:
 * nothing may be sent, or nobody knows where to. */
static bool work(struct agent *agent, int *ret_next)
{
    *ret_next = -1;
    bool was_changed = agent->changed;
    if (agent->changed) {
        agent->changed = false;
        const uint64_t from_ordinal = agent->composer.consent.from_ordinal;
        if (!may_send(agent)) {
            cancel(agent);
            mailbox_refresh(&agent->mailbox);
            drop_refused(agent);
            agent_log("the user has not consented, or delivery is switched off: the agent ends");
            return false;
        }
        if (!read_config(agent)) {
            cancel(agent);
            return false;
        }
        if (agent->composer.consent.from_ordinal > from_ordinal)
            cancel(agent); /* the user has said no in between */
        if (agent->attempts.sender.easy) {
            agent->changed = was_changed; /* again when the request is over */
        } else {
            mailbox_refresh(&agent->mailbox);
            attempts_set_server(&agent->attempts);
            hint_file_look(agent->options->state_directory, &agent->config, server_file_now(&agent->attempts.server));
            attempts_look_at_meter(&agent->attempts);
            attempts_take_nudge(&agent->attempts);
        }
        drop_refused(agent);
        runs_scan(&agent->runs);
    }
    *ret_next = runs_look(&agent->runs);
    if (!composer_work(&agent->composer, server_file_now(&agent->attempts.server))) {
        agent->full_since_ns = 0;
        return true;
    }
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (!agent->full_since_ns)
        agent_log("the spool has no room for a report: a run stays owed");
    agent->full_since_ns = agent->full_since_ns ? agent->full_since_ns : now;
    if (now - agent->full_since_ns < FULL_NS)
        *ret_next = sooner(*ret_next, FULL_LOOK_MS);
    return true;
}

/* Begin the request that is due. false: there was one, and it could not begin. */
static bool send_next(struct agent *agent)
{
    struct mail *mail = attempts_next(&agent->attempts);
    if (!mail)
        return true;
    if (!permit_take(&agent->mailbox.permit, mail->parts.ordinal)) {
        agent->changed = true;
        return false;
    }
    LG_FAULT_POINT("agent: may send");
    if (attempts_begin(&agent->attempts, mail))
        return true;
    permit_return(&agent->mailbox.permit);
    return false;
}

/* There is a reason to end. The first time the agent lets its place go, and looks at everything
 * once more. true: nothing came before that. */
static bool may_end(struct agent *agent)
{
    if (!agent->serves) {
        LG_FAULT_POINT("agent: ends");
        return true;
    }
    LG_FAULT_POINT("agent: may end");
    serve(agent, false);
    LG_FAULT_POINT("agent: takes nothing more");
    agent->changed = true;
    return false;
}

static unsigned wait_list(const struct agent *agent, struct curl_waitfd *ret_waits, uint32_t *ret_index)
{
    unsigned count = 0;
    ret_waits[count++] = (struct curl_waitfd){ .fd = agent->notify, .events = CURL_WAIT_POLLIN };
    for (uint32_t i = 0; i < agent->runs.count && count < WAITS_MAX; i++)
        if (agent->runs.list[i].state == RUN_ALIVE && agent->runs.list[i].pidfd >= 0 && !agent->runs.list[i].ended) {
            ret_index[count] = i;
            ret_waits[count++] = (struct curl_waitfd){ .fd = agent->runs.list[i].pidfd, .events = CURL_WAIT_POLLIN };
        }
    return count;
}

/* Called before a long wait, once after each period of work. */
static void rest(bool busy, int timeout)
{
    static bool rested;
    if (!busy && !rested && (timeout < 0 || timeout > REST_MS))
        rest_give_back();
    rested = !busy && (timeout < 0 || timeout > REST_MS);
}

static int loop(struct agent *agent)
{
    static struct curl_waitfd waits[WAITS_MAX];
    static uint32_t index[WAITS_MAX];
    const uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC);
    uint64_t idle_since = 0;
    for (;;) {
        struct answer answer;
        char why[LG__REPORT_ERROR_BYTES];
        int timeout, status = work(agent, &timeout) ? GOES_ON : AGENT_NO_CONFIG;
        const int look = look_for_parent(agent, begun);
        uint64_t steady = lg__os_clock_ns(CLOCK_MONOTONIC);
        const bool wanted = place_is_wanted(agent->lock);
        if (status == GOES_ON && !wanted && !agent->attempts.sender.easy && !send_next(agent))
            continue;
        bool busy = agent->attempts.sender.easy != NULL, alive = runs_alive(&agent->runs) > 0;
        bool pending = mailbox_has(&agent->mailbox, LG_DELIVERY_PENDING), held = mailbox_has(&agent->mailbox, LG_DELIVERY_HELD);
        bool is_done = agent->attempts.once && !attempts_next(&agent->attempts) && (timeout < 0 || agent->full_since_ns);
        if (status == GOES_ON && !busy && (wanted || is_done))
            status = pending || agent->full_since_ns ? AGENT_LEFT : AGENT_DONE;
        if (busy || alive || pending || held || timeout >= 0) {
            idle_since = 0;
        } else {
            idle_since = idle_since ? idle_since : steady;
            if (status == GOES_ON && steady - idle_since >= LINGER_NS)
                status = AGENT_DONE;
            timeout = sooner(timeout, (int)((LINGER_NS - (steady - idle_since)) / 1000000 + 1));
        }
        if (status != GOES_ON) {
            if (may_end(agent))
                return status;
            continue;
        }
        serve(agent, !agent->attempts.once); /* again, where something came in the last moment */
        if (!busy)
            timeout = sooner(timeout, attempts_until_due(&agent->attempts));
        if (held)
            timeout = sooner(timeout, (int)(HELD_LOOK_NS / 1000000));
        timeout = sooner(timeout, look);
        rest(busy, timeout);
        unsigned count = wait_list(agent, waits, index);
        int most = busy ? (int)REQUEST_MS : 3600000;
        if (sender_step(&agent->attempts.sender, waits, count, timeout < 0 || timeout > most ? most : timeout, &answer, why)) {
            attempts_conclude(&agent->attempts, &answer, why);
            permit_return(&agent->mailbox.permit);
        }
        if (waits[0].revents)
            drain_notifications(agent);
        for (unsigned i = 1; i < count; i++)
            if (waits[i].revents)
                agent->runs.list[index[i]].ended = true;
        if (held && lg__os_clock_ns(CLOCK_MONOTONIC) - steady >= HELD_LOOK_NS)
            agent->changed = true; /* the credentials may have changed */
    }
}

/* Returns an exit status, or GOES_ON. */
static int open_folders(struct agent *agent)
{
    struct lg__problem problem = { .status = LG_OK };
    const char *path = agent->options->state_directory;
    const int named = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (named >= 0 && !owner_become(named, path))
        return AGENT_NO_OWNER;
    agent->state = named < 0 ? -1 : openat(named, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (agent->state < 0) {
        fprintf(stderr, "launchguard-agent: %s: %s\n", path, strerror(errno));
        return AGENT_NO_SPOOL;
    }
    close(named);
    agent->spool = lg__spool_open(agent->state, path, false, &problem);
    if (agent->spool < 0) {
        fprintf(stderr, "launchguard-agent: %s\n", problem.message);
        return AGENT_NO_SPOOL;
    }
    /* In a folder that all may write to, the spool may be another user's. */
    return owner_is(agent->spool, "spool") ? GOES_ON : AGENT_NO_OWNER;
}

/* Returns an exit status, or GOES_ON. */
static int take_place(struct agent *agent)
{
    const char *path = agent->options->state_directory;
    switch (place_take(agent->spool, agent->attempts.once ? 0 : PLACE_MS, &agent->lock)) {
    case PLACE_TAKEN:
        agent->serves = !agent->attempts.once;
        return GOES_ON;
    case PLACE_SERVED:
        if (agent->options->verbose)
            fputs("launchguard-agent: another agent serves this directory\n", stderr);
        return AGENT_DONE;
    case PLACE_KEPT:
        fprintf(stderr, "launchguard-agent: %s/spool/agent: the agent that it names was to end, and has not\n", path);
        return AGENT_NO_PLACE;
    case PLACE_FAILED:
        fprintf(stderr, "launchguard-agent: %s/spool/agent: it cannot be locked: %s\n", path, strerror(errno));
        return AGENT_NO_PLACE;
    }
    return AGENT_FAILED;
}

/* Before anything is read that others wrote, but the one word of the user's consent: without it the
 * agent starts no program, as to leave a unit. */
static void confine(struct agent *agent)
{
    char words[SANDBOX_WORDS];
    if (may_send(agent))
        scope_leave_unit();
    status_process_begin(agent->options->argv);
    sandbox_enter(agent->state, true, words);
    agent_log("%s", words);
}

int agent_run(const struct agent_options *options)
{
    struct agent agent = { .options = options, .changed = true };
    agent.attempts = (struct attempts){ .state_directory = options->state_directory, .config = &agent.config, .mailbox = &agent.mailbox, .via = options->via, .once = options->once,
                                        .begun_ns = lg__os_clock_ns(CLOCK_REALTIME) };
    int status = open_folders(&agent);
    if (status == GOES_ON)
        status = take_place(&agent);
    if (status != GOES_ON)
        return status;
    agent.composer = (struct composer){ .config = &agent.config, .mailbox = &agent.mailbox, .runs = &agent.runs };
    agent_log_open(agent.spool, options->verbose);
    agent_log("agent %s begins, process %d, via %s", LG_VERSION_STRING, (int)getpid(), options->via);
    lg__crc32c_init();
    confine(&agent);
    agent.notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watch_folder(&agent, "runs", IN_CREATE | IN_MOVED_TO);
    watch_folder(&agent, "spool", IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ATTRIB);
    watch_folder(&agent, "spool/requests", IN_MOVED_TO);
    if (agent.notify < 0 || !runs_open(agent.state, options->state_directory, &agent.runs) || !mailbox_open(agent.spool, &agent.mailbox) ||
        !sender_open(&agent.attempts.sender)) {
        agent_log("the agent cannot begin: %s", strerror(errno));
        return AGENT_FAILED;
    }
    attempts_open(&agent.attempts);
    status = loop(&agent);
    agent_log("agent ends");
    sender_close(&agent.attempts.sender);
    status_process_end();
    return status;
}
