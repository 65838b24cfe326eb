#include "send/attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "policy/choice.h"
#include "policy/fate.h"
#include "policy/slice.h"
#include "process/agent_log.h"
#include "send/credentials.h"
#include "send/hint_file.h"
#include "send/server_file.h"
#include "store/digest.h"

static struct moment now_of(const struct attempts *attempts)
{
    return server_file_now(&attempts->server);
}

static uint64_t random_number(void)
{
    uint64_t number;
    lg__os_random(&number, sizeof number);
    return number;
}

static void store_server(struct attempts *attempts)
{
    server_file_write(attempts->mailbox->spool, &attempts->server);
    LG_FAULT_POINT("agent: server stored");
}

/* ---- the settings ---- */

static void add_file(char *text, size_t room, const char *path)
{
    struct stat info;
    const size_t used = strlen(text);
    if (path[0] && stat(path, &info) == 0)
        snprintf(text + used, room - used, "\n%s %ju %jd %ju %ld", path, (uintmax_t)info.st_ino, (intmax_t)info.st_mtim.tv_sec,
                 (uintmax_t)info.st_size, info.st_mtim.tv_nsec);
}

void attempts_set_server(struct attempts *attempts)
{
    static const uint8_t key[16];
    uint8_t digest[16];
    char text[LG__CONFIG_MAX];
    const struct moment now = now_of(attempts);
    snprintf(text, sizeof text, "%u %s", (unsigned)attempts->config->options.target, attempts->config->endpoint);
    add_file(text, sizeof text, attempts->config->credential_file);
    add_file(text, sizeof text, attempts->config->ca_file);
    lg__digest_keyed(key, text, strlen(text), digest);
    if (fate_set_server(&attempts->server, digest))
        store_server(attempts);
    for (uint32_t i = 0; i < attempts->mailbox->count; i++)
        if (fate_set_report(&attempts->mailbox->mails[i], &attempts->server, now))
            mailbox_move(attempts->mailbox, &attempts->mailbox->mails[i], LG_DELIVERY_PENDING);
}

void attempts_open(struct attempts *attempts)
{
    if (server_file_read(attempts->mailbox->spool, &attempts->server)) {
        const struct moment now = now_of(attempts);
        fate_boot(&attempts->server, now);
        for (uint32_t i = 0; i < attempts->mailbox->count; i++)
            if (fate_boot_report(&attempts->mailbox->mails[i], now))
                mailbox_update(attempts->mailbox, &attempts->mailbox->mails[i]);
    }
    store_server(attempts); /* the time of this boot counts, whatever ends the agent */
}

/* ---- which report is next ---- */

void attempts_look_at_meter(struct attempts *attempts)
{
    attempts->is_metered = lg__spool_is_metered(attempts->mailbox->spool);
}

/* The attempt came since the agent began. A time later than now is from before a clock was set
 * back. */
static bool has_failed(const struct mail *mail, const void *user)
{
    const struct attempts *attempts = user;
    const struct lg__report_header *header = &mail->header;
    return attempts->once && header->error[0] && header->attempted_ns >= attempts->begun_ns && header->attempted_ns <= lg__os_clock_ns(CLOCK_REALTIME);
}

/* Those that are not to be tried now, and not before something changes. */
static bool skips(const struct mail *mail, const void *user)
{
    const struct attempts *attempts = user;
    const bool is_brief = target_part(attempts->config->options.target, mail->header.flags) == PART_BRIEF && !(mail->header.flags & LG__REPORT_HEALTH);
    return has_failed(mail, attempts) || (attempts->is_metered && !is_brief);
}

static void release_held(struct attempts *attempts, struct moment now)
{
    for (uint32_t i = 0; i < attempts->mailbox->count; i++) {
        struct mail *mail = &attempts->mailbox->mails[i];
        if (!has_failed(mail, attempts) && fate_release(mail, &attempts->server, now))
            mailbox_move(attempts->mailbox, mail, LG_DELIVERY_PENDING);
    }
}

struct mail *attempts_next(struct attempts *attempts)
{
    const struct moment now = now_of(attempts);
    if (now.on_ns - attempts->server.on_ns >= KEEP_NS)
        store_server(attempts);
    if (attempts->once && attempts->waits)
        return NULL;
    release_held(attempts, now);
    return choice_next(attempts->mailbox->mails, attempts->mailbox->count, &attempts->server, now, skips, attempts);
}

int attempts_until_due(const struct attempts *attempts)
{
    const uint64_t left = choice_left(attempts->mailbox->mails, attempts->mailbox->count, &attempts->server, now_of(attempts), skips, attempts);
    if (left == UINT64_MAX)
        return -1;
    return left == 0 ? 0 : (int)((left < KEEP_NS ? left : KEEP_NS) / 1000000) + 1;
}

/* ---- one attempt ---- */

static void hold(struct attempts *attempts, struct mail *mail)
{
    agent_log("report %s is held: %s", mail->name, mail->header.error);
    mailbox_move(attempts->mailbox, mail, LG_DELIVERY_HELD);
}

static void is_sent(struct attempts *attempts, struct mail *mail)
{
    mail->header.error[0] = 0;
    mail->header.settled_ns = now_of(attempts).wall_ns;
    LG_FAULT_POINT("agent: delivered");
    if (mail->header.flags & LG__REPORT_HEALTH) {
        mailbox_drop(attempts->mailbox, mail);
        return;
    }
    agent_log("report %s was delivered, after %" PRIu32 " requests", mail->name, mail->header.attempts);
    if (!mailbox_move(attempts->mailbox, mail, LG_DELIVERY_SENT)) {
        /* a full disk: it went, and its file can only be deleted */
        agent_log("report %s has no place in spool/sent: %s", mail->name, strerror(errno));
        mailbox_drop(attempts->mailbox, mail);
    }
}

static void give_up(struct attempts *attempts, struct mail *mail)
{
    mail->header.settled_ns = now_of(attempts).wall_ns;
    if (mail->header.flags & LG__REPORT_HEALTH)
        mailbox_drop(attempts->mailbox, mail);
    else
        mailbox_move(attempts->mailbox, mail, LG_DELIVERY_DEAD);
}

static bool is_complete(const struct mail *mail)
{
    const uint32_t both = LG__REPORT_BRIEF_SENT | LG__REPORT_FULL_SENT;
    return (mail->header.flags & both) == both;
}

static void is_damaged(struct attempts *attempts, struct mail *mail)
{
    memset(mail->header.config, 0, sizeof mail->header.config); /* no settings make it whole */
    snprintf(mail->header.error, sizeof mail->header.error, "damaged on the disk");
    agent_log("report %s is damaged on the disk: kept in spool/dead", mail->name);
    give_up(attempts, mail);
}

/* The attempt is stored before a byte of it leaves. */
static void charge(struct attempts *attempts, struct mail *mail)
{
    attempts->before = attempts->server;
    attempts->left = mail->header.flags & LG__REPORT_LEFT;
    memcpy(attempts->sending, mail->parts.uuid, sizeof attempts->sending);
    fate_begin(&mail->header, &attempts->server, attempts->compressed, now_of(attempts), random_number());
    mailbox_update(attempts->mailbox, mail);
    store_server(attempts);
}

static bool begin(struct attempts *attempts, struct mail *mail, const char *bytes)
{
    struct letter letter = { .brief = bytes, .full = bytes + mail->header.brief_bytes, .via = attempts->via };
    struct credentials credentials = { .headers = NULL };
    struct request request = { .headers = NULL };
    attempts->part = target_part(attempts->config->options.target, mail->header.flags);
    letter.header = mail->header;
    letter.header.attempts++;
    bool ready = credentials_read(attempts->config->credential_file, &credentials, mail->header.error) &&
                 target_request(attempts->config, &credentials, &letter, attempts->part, &request, mail->header.error);
    if (ready) {
        attempts->compressed = target_compresses(attempts->config) && !attempts->server.plain && request_compress(&request);
        charge(attempts, mail);
        ready = sender_begin(&attempts->sender, attempts->config->options.target, &request, &credentials, attempts->config->ca_file);
    } else {
        memcpy(mail->header.config, attempts->server.config, sizeof mail->header.config);
        mail->header.next = moment_after(now_of(attempts), REFUSED_NS);
        hold(attempts, mail);
    }
    request_free(&request);
    credentials_free(&credentials);
    return ready;
}

bool attempts_begin(struct attempts *attempts, struct mail *mail)
{
    /* A report that cannot be moved, on a read-only disk, is not due again at once. */
    mail->header.next = moment_after(now_of(attempts), HOUR_NS);
    /* an agent of another version, or another target, may have begun */
    const bool is_too_large = target_second_bytes(attempts->config->options.target, &mail->header) >= attempts->config->options.daily_bytes;
    if (attempts->config->options.brief || is_too_large || !target_takes_second(attempts->config->options.target, mail->header.flags) || (lg__delivery_config_is_whole(attempts->config->options.target) && mail->header.flags & LG__REPORT_BRIEF_SENT))
        mail->header.flags |= LG__REPORT_FULL_SENT;
    const bool is_of_no_use = mail->header.flags & LG__REPORT_HEALTH && attempts->config->options.target != LG_TARGET_SENTRY;
    if (is_complete(mail) || is_of_no_use) {
        is_sent(attempts, mail);
        return false;
    }
    char *bytes = mailbox_read(attempts->mailbox, mail);
    if (!bytes) {
        is_damaged(attempts, mail);
        return false;
    }
    const bool begun = begin(attempts, mail, bytes);
    free(bytes);
    return begun;
}

static void take(struct attempts *attempts, struct mail *mail, uint32_t flag)
{
    mail->header.flags |= flag;
    if (is_complete(mail)) {
        is_sent(attempts, mail);
    } else {
        mailbox_update(attempts->mailbox, mail);
        LG_FAULT_POINT("agent: part delivered");
    }
}

static void try_again(struct attempts *attempts, struct mail *mail)
{
    const struct moment now = now_of(attempts);
    attempts->waits = true;
    const uint64_t own = moment_left(mail->header.next, now), server = moment_left(attempts->server.next, now);
    mailbox_update(attempts->mailbox, mail);
    agent_log("report %s: attempt %" PRIu32 " failed, again in %" PRIu64 " s: %s", mail->name, mail->header.attempts,
              (own > server ? own : server) / SECOND_NS, mail->header.error);
}

void attempts_conclude(struct attempts *attempts, const struct answer *answer, const char *why)
{
    struct mail *mail = mailbox_find(attempts->mailbox, attempts->sending);
    if (!mail || mail->state != LG_DELIVERY_PENDING) {
        attempts->server = attempts->before; /* its consent was withdrawn meanwhile */
        return;
    }
    snprintf(mail->header.error, sizeof mail->header.error, "%s", why);
    const bool is_full = attempts->part != PART_BRIEF;
    struct answer to = *answer;
    to.compressed = attempts->compressed;
    const enum fate fate = fate_conclude(&mail->header, &attempts->server, &attempts->before, attempts->left, &to, is_full, now_of(attempts), random_number());
    fate_spend(&attempts->server, answer->bytes, attempts->config->options.daily_bytes, now_of(attempts));
    store_server(attempts);
    if (fate == FATE_TAKEN && attempts->sender.hints == 1)
        hint_file_take(attempts->state_directory, attempts->config, attempts->sender.hint, now_of(attempts));
    else if (fate == FATE_TAKEN && attempts->sender.hints)
        agent_log("hints of the vendor are refused: an answer has one");
    switch (fate) {
    case FATE_TAKEN:
        take(attempts, mail, attempts->part == PART_FULL && !slice_take(&mail->header) ? 0 : target_flags(attempts->part));
        break;
    case FATE_SMALL:
        agent_log("report %s: without its second part: %s", mail->name, why);
        take(attempts, mail, LG__REPORT_FULL_SENT);
        break;
    case FATE_PLAIN:
        agent_log("report %s goes again, not compressed: %s", mail->name, why);
        mail->header.error[0] = 0;
        mailbox_update(attempts->mailbox, mail);
        break;
    case FATE_AGAIN:
        try_again(attempts, mail);
        break;
    case FATE_HELD:
        hold(attempts, mail);
        break;
    case FATE_DEAD:
        agent_log("report %s is given up after %" PRIu32 " attempts: %s", mail->name, mail->header.attempts, why);
        snprintf(mail->header.error, sizeof mail->header.error, "%s: %s", mail->header.refusals >= REFUSALS_MAX ? "refused on three days" : "90 days old", why);
        give_up(attempts, mail);
        break;
    }
}

/* ---- what makes reports due ---- */

static void hurry(struct attempts *attempts, bool all)
{
    const struct moment now = now_of(attempts);
    for (uint32_t i = 0; i < attempts->mailbox->count; i++)
        if (fate_hurry(&attempts->mailbox->mails[i], all, now))
            mailbox_move(attempts->mailbox, &attempts->mailbox->mails[i], LG_DELIVERY_PENDING);
    fate_hurry_server(&attempts->server);
}

void attempts_take_nudge(struct attempts *attempts)
{
    static const char *const vias[] = { "wait", "tool" };
    char text[16];
    if (lg__spool_read(attempts->mailbox->spool, "nudge", text, sizeof text) < 0)
        return;
    unlinkat(attempts->mailbox->spool, "nudge", 0);
    text[strcspn(text, "\n")] = 0;
    const bool all = strcmp(text, "all") == 0;
    for (size_t i = 0; i < sizeof vias / sizeof vias[0]; i++)
        if (strcmp(text, vias[i]) == 0)
            attempts->via = vias[i];
    if (all || strcmp(text, "tool") == 0) {
        attempts->via = "tool";
        hurry(attempts, all);
    }
}
