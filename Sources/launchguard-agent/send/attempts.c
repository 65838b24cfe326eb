#include "send/attempts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "process/agent_log.h"
#include "send/credentials.h"

static uint64_t wall_ns(void)
{
    return lg__os_clock_ns(CLOCK_REALTIME);
}

/* The time is past, or so far away that a clock must have been wrong. */
static bool is_due(uint64_t when_ns, uint64_t now_ns)
{
    return when_ns <= now_ns || when_ns - now_ns > PAUSE_MAX_NS + BACKOFF_MAX_NS;
}

/* A last attempt in the future means that the clock was set back, and that the report has
 * waited. */
static bool mail_is_due(const struct mail *mail, uint64_t now_ns)
{
    return mail->header.attempted_ns > now_ns || is_due(mail->header.next_ns, now_ns);
}

/* ---- which report is next ---- */

/* The attempt came since the agent began. A time later than now is from before a clock was set
 * back. */
static bool has_failed(const struct attempts *attempts, const struct mail *mail, uint64_t now)
{
    return mail->header.error[0] && mail->header.attempted_ns >= attempts->begun_ns && mail->header.attempted_ns <= now;
}

struct mail *attempts_next(const struct attempts *attempts, uint64_t now)
{
    struct mail *best = NULL;
    if (!is_due(attempts->paused_until_ns, now))
        return NULL;
    for (uint32_t i = 0; i < attempts->mailbox->count; i++) {
        struct mail *mail = &attempts->mailbox->mails[i];
        if (mail->state != LG_DELIVERY_PENDING || !mail_is_due(mail, now) || (attempts->once && has_failed(attempts, mail, now)))
            continue;
        const struct lg__report_name *a = &mail->parts, *b = best ? &best->parts : NULL;
        /* the first of a streak, then the newest launch crash, then the oldest of the others */
        if (!best || a->priority < b->priority ||
            (a->priority == b->priority && (a->priority == LG__PRIORITY_LAUNCH ? a->ordinal > b->ordinal : a->ordinal < b->ordinal)))
            best = mail;
    }
    return best;
}

int attempts_until_due(const struct attempts *attempts, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < attempts->mailbox->count; i++) {
        const struct mail *mail = &attempts->mailbox->mails[i];
        if (mail->state != LG_DELIVERY_PENDING)
            continue;
        uint64_t when = mail_is_due(mail, now) ? now : mail->header.next_ns;
        if (!is_due(attempts->paused_until_ns, now) && attempts->paused_until_ns > when)
            when = attempts->paused_until_ns;
        next = when < next ? when : next;
    }
    if (next == UINT64_MAX)
        return -1;
    uint64_t ms = (next - now) / 1000000 + 1;
    return next <= now ? 0 : ms < 3600000 ? (int)ms : 3600000;
}

/* ---- one attempt ---- */

static uint64_t random_number(void)
{
    uint64_t number;
    lg__os_random(&number, sizeof number);
    return number;
}

static void hold(struct attempts *attempts, struct mail *mail, const char *why)
{
    memcpy(mail->header.config, attempts->config_digest, sizeof mail->header.config);
    snprintf(mail->header.error, sizeof mail->header.error, "%s", why);
    agent_log("report %s is held: %s", mail->name, why);
    mailbox_move(attempts->mailbox, mail, LG_DELIVERY_HELD);
}

static void is_sent(struct attempts *attempts, struct mail *mail)
{
    mail->header.error[0] = 0;
    agent_log("report %s was delivered, after %" PRIu32 " requests", mail->name, mail->header.attempts);
    LG_FAULT_POINT("agent: delivered");
    if (!mailbox_move(attempts->mailbox, mail, LG_DELIVERY_SENT)) {
        /* a full disk: it went, and its file can only be deleted */
        agent_log("report %s has no place in spool/sent: %s", mail->name, strerror(errno));
        mailbox_drop(attempts->mailbox, mail);
    }
}

static bool is_complete(const struct mail *mail)
{
    const uint32_t both = LG__REPORT_BRIEF_SENT | LG__REPORT_FULL_SENT;
    return (mail->header.flags & both) == both;
}

bool attempts_begin(struct attempts *attempts, struct mail *mail)
{
    struct letter letter = { .header = mail->header, .via = attempts->via };
    struct credentials credentials = { .headers = NULL };
    struct request request = { .headers = NULL };
    char why[LG__REPORT_ERROR_BYTES] = "";
    /* A report that cannot be moved, on a read-only disk, is not due again at once. */
    mail->header.next_ns = wall_ns() + BACKOFF_MAX_NS;
    /* an agent of another version, or another target, may have begun */
    if (attempts->config->brief || (target_is_whole(attempts->config->target) && mail->header.flags & LG__REPORT_BRIEF_SENT))
        mail->header.flags |= LG__REPORT_FULL_SENT;
    if (is_complete(mail)) {
        is_sent(attempts, mail);
        return false;
    }
    char *bytes = mailbox_read(attempts->mailbox, mail);
    if (!bytes) {
        snprintf(mail->header.error, sizeof mail->header.error, "damaged on the disk");
        agent_log("report %s is damaged on the disk: kept in spool/dead", mail->name);
        mailbox_move(attempts->mailbox, mail, LG_DELIVERY_DEAD);
        return false;
    }
    letter.brief = bytes;
    letter.full = bytes + mail->header.brief_bytes;
    letter.header.attempts++;
    attempts->part = target_part(attempts->config->target, mail->header.flags);
    bool ready = credentials_read(attempts->config->credential_file, &credentials, why) &&
                 target_request(attempts->config, &credentials, &letter, attempts->part, &request, why);
    if (!ready)
        hold(attempts, mail, why);
    else if (!sender_begin(&attempts->sender, &request, &credentials, attempts->config->ca_file))
        ready = false;
    memcpy(attempts->sending, mail->parts.uuid, sizeof attempts->sending);
    request_free(&request);
    credentials_free(&credentials);
    free(bytes);
    return ready;
}

void attempts_conclude(struct attempts *attempts, const struct answer *answer, const char *why)
{
    struct mail *mail = mailbox_find(attempts->mailbox, attempts->sending);
    uint64_t now = wall_ns();
    if (!mail || mail->state != LG_DELIVERY_PENDING)
        return; /* its consent was withdrawn meanwhile */
    struct lg__report_header *header = &mail->header;
    header->attempts++;
    header->attempted_ns = now;
    header->first_ns = header->first_ns && header->first_ns <= now ? header->first_ns : now;
    header->http_status = answer->http_status;
    header->next_ns = now + BACKOFF_MAX_NS; /* where it cannot be moved */
    struct outcome outcome = retry_decide(answer, header->attempts, now - header->first_ns, random_number(), attempts->part != PART_BRIEF);
    snprintf(header->error, sizeof header->error, "%s", why);
    if (outcome.pause_ns) {
        attempts->paused_until_ns = now + outcome.pause_ns;
        char text[32];
        int size = snprintf(text, sizeof text, "%" PRIu64 "\n", attempts->paused_until_ns);
        lg__spool_write(attempts->mailbox->spool, "pause", text, (size_t)size, false);
    }
    switch (outcome.fate) {
    case FATE_SMALL:
        agent_log("report %s: without its second part: %s", mail->name, why);
        header->flags |= LG__REPORT_FULL_SENT;
        break;
    case FATE_SENT:
        header->flags |= target_flags(attempts->part);
        break;
    case FATE_RETRY:
        header->next_ns = now + outcome.wait_ns;
        agent_log("report %s: attempt %" PRIu32 " failed, again in %" PRIu64 " s: %s", mail->name, header->attempts,
                  outcome.wait_ns / 1000000000, why);
        mailbox_update(attempts->mailbox, mail);
        return;
    case FATE_HELD:
        hold(attempts, mail, why);
        return;
    case FATE_DEAD:
        agent_log("report %s is given up after %" PRIu32 " attempts: %s", mail->name, header->attempts, why);
        mailbox_move(attempts->mailbox, mail, LG_DELIVERY_DEAD);
        return;
    }
    header->next_ns = 0;
    if (is_complete(mail)) {
        is_sent(attempts, mail);
    } else {
        mailbox_update(attempts->mailbox, mail);
        LG_FAULT_POINT("agent: part delivered");
    }
}

/* ---- what changes when a report is due ---- */

void attempts_release_held(struct attempts *attempts)
{
    for (uint32_t i = 0; i < attempts->mailbox->count; i++) {
        struct mail *mail = &attempts->mailbox->mails[i];
        if (mail->state != LG_DELIVERY_HELD || memcmp(mail->header.config, attempts->config_digest, 16) == 0)
            continue;
        mail->header.attempts = 0;
        mail->header.first_ns = mail->header.next_ns = 0;
        mailbox_move(attempts->mailbox, mail, LG_DELIVERY_PENDING);
    }
}

void attempts_take_nudge(struct attempts *attempts)
{
    char text[16];
    if (lg__spool_read(attempts->mailbox->spool, "nudge", text, sizeof text) < 0)
        return;
    unlinkat(attempts->mailbox->spool, "nudge", 0);
    attempts->via = strncmp(text, "tool", 4) == 0 ? "tool" : strncmp(text, "wait", 4) == 0 ? "wait" : attempts->via;
    for (uint32_t i = 0; i < attempts->mailbox->count; i++)
        if (attempts->mailbox->mails[i].state == LG_DELIVERY_PENDING && attempts->mailbox->mails[i].header.attempts) {
            attempts->mailbox->mails[i].header.next_ns = 0;
            mailbox_update(attempts->mailbox, &attempts->mailbox->mails[i]);
        }
}

void attempts_read_pause(struct attempts *attempts)
{
    char text[32];
    if (lg__spool_read(attempts->mailbox->spool, "pause", text, sizeof text) > 0)
        attempts->paused_until_ns = strtoull(text, NULL, 10);
}

