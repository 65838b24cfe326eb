#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent_log.h"
#include "composer.h"
#include "credentials.h"
#include "mailbox.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "rest.h"
#include "runs.h"
#include "scope.h"
#include "sender.h"
#include "store/crc32c.h"
#include "store/digest.h"
#include "store/map.h"

/* With no process to wait for and nothing to send, the agent stays that long, for a program that is
 * started again. */
#define LINGER_NS (UINT64_C(10) * 1000000000)
/* Whether the credential file has changed is seen this often, while a report is held. */
#define HELD_LOOK_NS (UINT64_C(300) * 1000000000)
/* A run that finds no room in the spool is tried again this often, for so long. */
#define FULL_LOOK_MS 60000
#define FULL_NS (UINT64_C(2) * 3600 * 1000000000)
#define WAITS_MAX 1024
#define REST_MS 1000

struct agent {
    const struct agent_options *options;
    struct lg__delivery_config config;
    uint8_t config_digest[16];
    int state, spool, lock, notify;
    struct runs runs;
    struct mailbox mailbox;
    struct composer composer;
    struct sender sender;
    const char *via;
    uint64_t paused_until_ns; /* CLOCK_REALTIME; the server asked for it */
    uint64_t begun_ns;        /* CLOCK_REALTIME */
    uint8_t sending[16];      /* identity of the report under way */
    enum part part;
    bool changed;             /* something in the directory */
    uint64_t full_since_ns;   /* CLOCK_MONOTONIC; a run is owed that finds no room; 0: none is */
};

static uint64_t wall_ns(void)
{
    return lg__os_clock_ns(CLOCK_REALTIME);
}

/* A time in the past, or one so far away that a clock must have been wrong. */
static bool is_due(uint64_t when_ns, uint64_t now_ns)
{
    return when_ns <= now_ns || when_ns - now_ns > PAUSE_MAX_NS + BACKOFF_MAX_NS;
}

/* Where the last attempt is yet to come, the clock was set back, and the report has waited. */
static bool mail_is_due(const struct mail *mail, uint64_t now_ns)
{
    return mail->header.attempted_ns > now_ns || is_due(mail->header.next_ns, now_ns);
}

/* ---- configuration ---- */

static bool read_config(struct agent *agent)
{
    char text[LG__CONFIG_MAX + 64], wrong[128];
    struct stat info;
    static const uint8_t key[16];
    long size = lg__spool_read(agent->spool, "config", text, LG__CONFIG_MAX);
    if (size < 0) {
        agent_log("there is no spool/config: no program has said where reports go");
        return false;
    }
    if (!lg__delivery_config_parse(text, &agent->config, wrong)) {
        agent_log("spool/config cannot be used: %s", wrong);
        return false;
    }
    /* Of a held report: what has to change before it is tried again. */
    size_t used = (size_t)size;
    if (agent->config.credential_file[0] && stat(agent->config.credential_file, &info) == 0)
        used += (size_t)snprintf(text + used, 64, "%ju %jd %ju %ld", (uintmax_t)info.st_ino, (intmax_t)info.st_mtim.tv_sec,
                                 (uintmax_t)info.st_size, info.st_mtim.tv_nsec);
    lg__digest_keyed(key, text, used, agent->config_digest);
    return true;
}

static bool may_send(struct agent *agent)
{
    agent->composer.consent = lg__consent_read(agent->spool);
    return agent->composer.consent.given && !lg__spool_is_off(agent->spool);
}

/* ---- sending ---- */

/* Since this agent began; a later time than now is one of before a clock was set back. */
static bool has_failed(const struct agent *agent, const struct mail *mail, uint64_t now)
{
    return mail->header.error[0] && mail->header.attempted_ns >= agent->begun_ns && mail->header.attempted_ns <= now;
}

static struct mail *next_due(struct agent *agent, uint64_t now)
{
    struct mail *best = NULL;
    if (!is_due(agent->paused_until_ns, now))
        return NULL;
    for (uint32_t i = 0; i < agent->mailbox.count; i++) {
        struct mail *mail = &agent->mailbox.mails[i];
        if (mail->state != LG_DELIVERY_PENDING || !mail_is_due(mail, now) || (agent->options->once && has_failed(agent, mail, now)))
            continue;
        const struct lg__report_name *a = &mail->parts, *b = best ? &best->parts : NULL;
        /* the first of a streak, then the newest launch crash, then the oldest of the others */
        if (!best || a->priority < b->priority ||
            (a->priority == b->priority && (a->priority == LG__PRIORITY_LAUNCH ? a->ordinal > b->ordinal : a->ordinal < b->ordinal)))
            best = mail;
    }
    return best;
}

static uint64_t random_number(void)
{
    uint64_t number;
    lg__os_random(&number, sizeof number);
    return number;
}

static void hold(struct agent *agent, struct mail *mail, const char *why)
{
    memcpy(mail->header.config, agent->config_digest, sizeof mail->header.config);
    snprintf(mail->header.error, sizeof mail->header.error, "%s", why);
    agent_log("report %s is held: %s", mail->name, why);
    mailbox_move(&agent->mailbox, mail, LG_DELIVERY_HELD);
}

/* Held reports go again once what was refused has changed. */
static void release_held(struct agent *agent)
{
    for (uint32_t i = 0; i < agent->mailbox.count; i++) {
        struct mail *mail = &agent->mailbox.mails[i];
        if (mail->state != LG_DELIVERY_HELD || memcmp(mail->header.config, agent->config_digest, 16) == 0)
            continue;
        mail->header.attempts = 0;
        mail->header.first_ns = mail->header.next_ns = 0;
        mailbox_move(&agent->mailbox, mail, LG_DELIVERY_PENDING);
    }
}

static void is_sent(struct agent *agent, struct mail *mail)
{
    mail->header.error[0] = 0;
    agent_log("report %s was delivered, after %" PRIu32 " requests", mail->name, mail->header.attempts);
    LG_FAULT_POINT("agent: delivered");
    if (!mailbox_move(&agent->mailbox, mail, LG_DELIVERY_SENT)) {
        /* a full disk: it went, and its file can only be deleted */
        agent_log("report %s has no place in spool/sent: %s", mail->name, strerror(errno));
        mailbox_drop(&agent->mailbox, mail);
    }
}

static bool is_complete(const struct mail *mail)
{
    const uint32_t both = LG__REPORT_BRIEF_SENT | LG__REPORT_FULL_SENT;
    return (mail->header.flags & both) == both;
}

static bool begin(struct agent *agent, struct mail *mail)
{
    struct letter letter = { .header = mail->header, .via = agent->via };
    struct credentials credentials = { .headers = NULL };
    struct request request = { .headers = NULL };
    char why[LG__REPORT_ERROR_BYTES] = "";
    /* A report that cannot be moved, on a read-only disk, is not due again at once. */
    mail->header.next_ns = wall_ns() + BACKOFF_MAX_NS;
    if (!target_takes(agent->config.target, PART_FULL) || agent->config.brief)
        mail->header.flags |= LG__REPORT_FULL_SENT;
    if (is_complete(mail)) {
        is_sent(agent, mail);
        return false;
    }
    char *bytes = mailbox_read(&agent->mailbox, mail);
    if (!bytes) {
        snprintf(mail->header.error, sizeof mail->header.error, "damaged on the disk");
        agent_log("report %s is damaged on the disk: kept in spool/dead", mail->name);
        mailbox_move(&agent->mailbox, mail, LG_DELIVERY_DEAD);
        return false;
    }
    letter.brief = bytes;
    letter.full = bytes + mail->header.brief_bytes;
    letter.header.attempts++;
    agent->part = mail->header.flags & LG__REPORT_BRIEF_SENT ? PART_FULL : PART_BRIEF;
    bool ready = credentials_read(agent->config.credential_file, &credentials, why) &&
                 target_request(&agent->config, &credentials, &letter, agent->part, &request, why);
    if (!ready)
        hold(agent, mail, why);
    else if (!sender_begin(&agent->sender, &request, &credentials, agent->config.ca_file))
        ready = false;
    memcpy(agent->sending, mail->parts.uuid, sizeof agent->sending);
    request_free(&request);
    credentials_free(&credentials);
    free(bytes);
    return ready;
}

/* An attempt has ended. */
static void conclude(struct agent *agent, const struct answer *answer, const char *why)
{
    struct mail *mail = mailbox_find(&agent->mailbox, agent->sending);
    uint64_t now = wall_ns();
    if (!mail || mail->state != LG_DELIVERY_PENDING)
        return; /* its consent was withdrawn meanwhile */
    struct lg__report_header *header = &mail->header;
    header->attempts++;
    header->attempted_ns = now;
    header->first_ns = header->first_ns && header->first_ns <= now ? header->first_ns : now;
    header->http_status = answer->http_status;
    header->next_ns = now + BACKOFF_MAX_NS; /* where it cannot be moved */
    struct outcome outcome = retry_decide(answer, header->attempts, now - header->first_ns, random_number(), agent->part == PART_FULL);
    snprintf(header->error, sizeof header->error, "%s", why);
    if (outcome.pause_ns) {
        agent->paused_until_ns = now + outcome.pause_ns;
        char text[32];
        int size = snprintf(text, sizeof text, "%" PRIu64 "\n", agent->paused_until_ns);
        lg__spool_write(agent->spool, "pause", text, (size_t)size, false);
    }
    switch (outcome.fate) {
    case FATE_SMALL:
        agent_log("report %s: without its second part: %s", mail->name, why);
        header->flags |= LG__REPORT_FULL_SENT;
        break;
    case FATE_SENT:
        header->flags |= agent->part == PART_BRIEF ? LG__REPORT_BRIEF_SENT : LG__REPORT_FULL_SENT;
        break;
    case FATE_RETRY:
        header->next_ns = now + outcome.wait_ns;
        agent_log("report %s: attempt %" PRIu32 " failed, again in %" PRIu64 " s: %s", mail->name, header->attempts,
                  outcome.wait_ns / 1000000000, why);
        mailbox_update(&agent->mailbox, mail);
        return;
    case FATE_HELD:
        hold(agent, mail, why);
        return;
    case FATE_DEAD:
        agent_log("report %s is given up after %" PRIu32 " attempts: %s", mail->name, header->attempts, why);
        mailbox_move(&agent->mailbox, mail, LG_DELIVERY_DEAD);
        return;
    }
    header->next_ns = 0;
    if (is_complete(mail)) {
        is_sent(agent, mail);
    } else {
        mailbox_update(&agent->mailbox, mail);
        LG_FAULT_POINT("agent: part delivered");
    }
}

/* ---- the loop ---- */

static bool take_lock(struct agent *agent)
{
    char text[64];
    agent->lock = openat(agent->spool, "agent", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (agent->lock < 0 || !lg__map_lock(agent->lock))
        return false;
    int size = snprintf(text, sizeof text, "%d %s\n", (int)getpid(), LG_VERSION_STRING);
    if (ftruncate(agent->lock, 0) == 0 && pwrite(agent->lock, text, (size_t)size, 0) == size)
        LG_FAULT_POINT("agent: locked");
    return true;
}

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

/* Somebody waits: what is due later is tried now. */
static void take_nudge(struct agent *agent)
{
    char text[16];
    if (lg__spool_read(agent->spool, "nudge", text, sizeof text) < 0)
        return;
    unlinkat(agent->spool, "nudge", 0);
    agent->via = strncmp(text, "tool", 4) == 0 ? "tool" : strncmp(text, "wait", 4) == 0 ? "wait" : agent->via;
    for (uint32_t i = 0; i < agent->mailbox.count; i++)
        if (agent->mailbox.mails[i].state == LG_DELIVERY_PENDING && agent->mailbox.mails[i].header.attempts) {
            agent->mailbox.mails[i].header.next_ns = 0;
            mailbox_update(&agent->mailbox, &agent->mailbox.mails[i]);
        }
}

static void read_pause(struct agent *agent)
{
    char text[32];
    if (lg__spool_read(agent->spool, "pause", text, sizeof text) > 0)
        agent->paused_until_ns = strtoull(text, NULL, 10);
}

/* Milliseconds until a pending report is due; −1: none is pending. */
static int until_due(const struct agent *agent, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < agent->mailbox.count; i++) {
        const struct mail *mail = &agent->mailbox.mails[i];
        if (mail->state != LG_DELIVERY_PENDING)
            continue;
        uint64_t when = mail_is_due(mail, now) ? now : mail->header.next_ns;
        if (!is_due(agent->paused_until_ns, now) && agent->paused_until_ns > when)
            when = agent->paused_until_ns;
        next = when < next ? when : next;
    }
    if (next == UINT64_MAX)
        return -1;
    uint64_t ms = (next - now) / 1000000 + 1;
    return next <= now ? 0 : ms < 3600000 ? (int)ms : 3600000;
}

static bool any(const struct agent *agent, lg_delivery_state state)
{
    for (uint32_t i = 0; i < agent->mailbox.count; i++)
        if (agent->mailbox.mails[i].state == state)
            return true;
    return false;
}

static int sooner(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* The user refused them, and the program died before it had deleted them. */
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

/* Everything but the network. Returns milliseconds until it has to be done again; −1: never. */
static int work(struct agent *agent, bool *ret_go_on)
{
    *ret_go_on = true;
    bool was_changed = agent->changed;
    if (agent->changed) {
        agent->changed = false;
        const uint64_t from_ordinal = agent->composer.consent.from_ordinal;
        if (!may_send(agent)) {
            sender_cancel(&agent->sender);
            agent_log("the user has not consented, or delivery is switched off: the agent ends");
            *ret_go_on = false;
            return -1;
        }
        if (!read_config(agent)) {
            *ret_go_on = false;
            return -1;
        }
        if (agent->composer.consent.from_ordinal > from_ordinal)
            sender_cancel(&agent->sender); /* the user has said no in between */
        if (!agent->sender.easy)
            mailbox_refresh(&agent->mailbox);
        else
            agent->changed = was_changed; /* again when the request is over */
        drop_refused(agent);
        release_held(agent);
        take_nudge(agent);
        runs_scan(&agent->runs);
    }
    int next = runs_look(&agent->runs);
    agent->composer.sending = agent->sender.easy ? agent->sending : NULL;
    if (!composer_work(&agent->composer)) {
        agent->full_since_ns = 0;
        return next;
    }
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (!agent->full_since_ns)
        agent_log("the spool has no room for a report: a run stays owed");
    agent->full_since_ns = agent->full_since_ns ? agent->full_since_ns : now;
    return now - agent->full_since_ns < FULL_NS ? sooner(next, FULL_LOOK_MS) : next;
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

/* Before a long wait, once after each time that there was something to do. */
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
    uint64_t idle_since = 0;
    for (;;) {
        struct answer answer;
        char why[LG__REPORT_ERROR_BYTES];
        bool go_on;
        int timeout = work(agent, &go_on);
        if (!go_on)
            return AGENT_NO_CONFIG;
        uint64_t now = wall_ns(), steady = lg__os_clock_ns(CLOCK_MONOTONIC);
        if (!agent->sender.easy) {
            struct mail *mail = next_due(agent, now);
            if (mail) {
                if (!may_send(agent)) {
                    agent->changed = true;
                    continue;
                }
                if (!begin(agent, mail))
                    continue;
            }
        }
        bool busy = agent->sender.easy != NULL, alive = runs_alive(&agent->runs) > 0, pending = any(agent, LG_DELIVERY_PENDING);
        if (agent->options->once && !busy && !next_due(agent, now) && (timeout < 0 || agent->full_since_ns))
            return pending || agent->full_since_ns ? AGENT_LEFT : AGENT_DONE;
        if (busy || alive || pending || timeout >= 0) {
            idle_since = 0;
        } else {
            idle_since = idle_since ? idle_since : steady;
            if (steady - idle_since >= LINGER_NS)
                return AGENT_DONE;
            timeout = sooner(timeout, (int)((LINGER_NS - (steady - idle_since)) / 1000000 + 1));
        }
        if (!busy)
            timeout = sooner(timeout, until_due(agent, now));
        if (any(agent, LG_DELIVERY_HELD) && (alive || pending))
            timeout = sooner(timeout, (int)(HELD_LOOK_NS / 1000000));
        rest(busy, timeout);
        unsigned count = wait_list(agent, waits, index);
        int most = busy ? (int)REQUEST_MS : 3600000;
        if (sender_step(&agent->sender, waits, count, timeout < 0 || timeout > most ? most : timeout, &answer, why))
            conclude(agent, &answer, why);
        if (waits[0].revents)
            drain_notifications(agent);
        for (unsigned i = 1; i < count; i++)
            if (waits[i].revents)
                agent->runs.list[index[i]].ended = true;
        if (any(agent, LG_DELIVERY_HELD) && wall_ns() - now >= HELD_LOOK_NS)
            agent->changed = true; /* the credentials may have changed */
    }
}

static bool open_folders(struct agent *agent)
{
    struct lg__problem problem = { .status = LG_OK };
    const char *path = agent->options->state_directory;
    agent->state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (agent->state < 0) {
        fprintf(stderr, "launchguard-agent: %s: %s\n", path, strerror(errno));
        return false;
    }
    agent->spool = lg__spool_open(agent->state, path, false, &problem);
    if (agent->spool < 0) {
        fprintf(stderr, "launchguard-agent: %s\n", problem.message);
        return false;
    }
    return true;
}

int agent_run(const struct agent_options *options)
{
    struct agent agent = { .options = options, .via = options->via, .begun_ns = wall_ns(), .changed = true };
    umask(077);
    if (!open_folders(&agent))
        return AGENT_NO_SPOOL;
    if (!take_lock(&agent)) {
        if (options->verbose)
            fputs("launchguard-agent: another agent serves this directory\n", stderr);
        return AGENT_DONE;
    }
    agent_log_open(agent.spool, options->verbose);
    lg__crc32c_init();
    if (chdir("/") != 0)
        agent_log("chdir: %s", strerror(errno));
    if (!read_config(&agent))
        return AGENT_NO_CONFIG;
    if (!may_send(&agent)) {
        agent_log("the user has not consented, or delivery is switched off: the agent ends");
        return AGENT_NO_CONFIG;
    }
    agent.notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watch_folder(&agent, "runs", IN_CREATE | IN_MOVED_TO);
    watch_folder(&agent, "spool", IN_MOVED_TO | IN_CREATE | IN_DELETE);
    watch_folder(&agent, "spool/requests", IN_MOVED_TO);
    if (agent.notify < 0 || !runs_open(agent.state, options->state_directory, &agent.runs) || !mailbox_open(agent.spool, &agent.mailbox) ||
        !sender_open(&agent.sender)) {
        agent_log("the agent cannot begin: %s", strerror(errno));
        return AGENT_FAILED;
    }
    agent.composer = (struct composer){ .config = &agent.config, .mailbox = &agent.mailbox, .runs = &agent.runs };
    agent_log("agent %s begins, process %d, via %s", LG_VERSION_STRING, (int)getpid(), options->via);
    scope_leave_unit();
    read_pause(&agent);
    int status = loop(&agent);
    agent_log("agent ends");
    sender_close(&agent.sender);
    return status;
}
