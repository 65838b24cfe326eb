#include "policy/fate.h"

#include <string.h>

/* Back-off with full jitter: a random time up to 2 s, 4 s, 8 s, … 1 h; up to 6 h for a server that
 * gave no verdict for a day. One that is not reached does not know of the attempts, and may be
 * there for an hour a week. */
#define BACKOFF_FIRST_NS (2 * SECOND_NS)
#define BACKOFF_MAX_NS HOUR_NS
#define BACKOFF_BUSY_NS (6 * HOUR_NS)

enum kind { AWAY, BUSY, TAKEN, DENIED, REFUSED, TOO_LARGE };

static enum kind kind_of(const struct answer *answer)
{
    const int status = answer->http_status;
    if (status == 0)
        return answer->none_left ? AWAY : BUSY;
    if (status >= 200 && status < 300)
        return answer->reply == REPLY_FOREIGN ? AWAY : answer->reply == REPLY_REFUSED ? REFUSED : TAKEN;
    switch (status) {
    case 400: case 422: return REFUSED;
    case 413: return TOO_LARGE;
    case 408: case 425: case 429: return BUSY;
    case 511: return AWAY; /* a portal */
    }
    return status >= 500 ? BUSY : status >= 400 ? DENIED : AWAY;
}

static uint64_t backoff(uint32_t failures, uint64_t most, uint64_t random)
{
    uint64_t wait = BACKOFF_FIRST_NS;
    for (uint32_t i = 1; i < failures && wait < most; i++)
        wait *= 2;
    return random % (wait < most ? wait : most);
}

static void is_away(struct lg__server *server, struct moment now, uint64_t random)
{
    server->pause = LG_PAUSE_AWAY;
    server->absences++;
    server->next = moment_after(now, backoff(server->absences, BACKOFF_MAX_NS, random));
}

static void is_busy(struct lg__server *server, struct moment now, uint64_t random)
{
    if (server->failures++ == 0)
        server->failing_on_ns = now.on_ns;
    server->pause = LG_PAUSE_BUSY;
    server->absences = 0;
    const bool is_long = now.on_ns - server->failing_on_ns > DAY_NS;
    server->next = moment_after(now, backoff(server->failures, is_long ? BACKOFF_BUSY_NS : BACKOFF_MAX_NS, random));
}

static void answers(struct lg__server *server)
{
    server->pause = LG_PAUSE_NONE;
    server->failures = server->absences = 0;
    server->next = (struct lg__due){ 0, 0 };
}

/* A server that cannot read a compressed body says 415, or calls it wrong. Which of both it is,
 * its answer to the plain one shows. */
static bool wants_plain(const struct lg__server *server, const struct answer *answer)
{
    return answer->compressed && !server->plain && (answer->http_status == 400 || answer->http_status == 415);
}

static void learn_plain(struct lg__server *server, const struct answer *answer, enum kind kind)
{
    if (server->plain && server->plain != LG__PLAIN_TAKEN && !answer->compressed && kind >= TAKEN)
        server->plain = server->plain == LG__PLAIN_REFUSED && kind == TAKEN ? LG__PLAIN_TAKEN : LG__PLAIN_NOT;
}

static void ask(struct lg__server *server, uint64_t pause_ns, struct moment now)
{
    const struct lg__due asked = moment_after(now, pause_ns < PAUSE_MAX_NS ? pause_ns : PAUSE_MAX_NS);
    if (moment_left(asked, now) < moment_left(server->next, now))
        return;
    server->next = asked;
    server->pause = pause_ns ? LG_PAUSE_ASKED : server->pause;
}

static bool is_old(const struct lg__report_header *report, struct moment now)
{
    return now.on_ns > report->since_on_ns && now.on_ns - report->since_on_ns > AGE_MAX_NS;
}

/* ---- an attempt ---- */

void fate_begin(struct lg__report_header *report, struct lg__server *server, bool compressed, struct moment now, uint64_t random)
{
    report->attempts++;
    report->attempted_ns = now.wall_ns;
    report->http_status = 0;
    report->flags |= LG__REPORT_LEFT;
    report->failures++; /* others go first from now on: perhaps this one kills the agent */
    report->next = moment_after(now, HOUR_NS);
    memcpy(report->config, server->config, sizeof report->config);
    if (compressed)
        server->plain = LG__PLAIN_UNANSWERED;
    is_busy(server, now, random);
}

/* The server says no, and does not mean the body: a firewall, a deployment, credentials. */
static void deny(struct lg__report_header *report, const struct lg__server *server, struct moment now)
{
    if (report->denials++ == 0)
        report->delivered = server->delivered;
    report->next = moment_after(now, REFUSED_NS);
}

/* The server says that this very body is wrong. Whether that is to be believed shows what it says
 * on other days, and of others. Returns whether it is. */
static bool refuse(struct lg__report_header *report, const struct lg__server *server, struct moment now)
{
    report->next = moment_after(now, REFUSED_NS);
    if (report->denials)
        report->denials++; /* no success of others releases it */
    if (report->refusals == 0)
        report->delivered = server->delivered;
    if (report->refusals == 0 || moment_is_due(report->refusal, now)) {
        report->refusals++;
        report->refusal = moment_after(now, REFUSAL_NS);
    }
    return report->refusals >= REFUSALS_MAX && server->delivered > report->delivered;
}

enum fate fate_conclude(struct lg__report_header *report, struct lg__server *server, const struct lg__server *before, bool left,
                        const struct answer *answer, bool is_full, struct moment now, uint64_t random)
{
    const enum kind kind = kind_of(answer);
    const enum fate over = is_full ? FATE_SMALL : FATE_DEAD;
    enum fate fate = is_old(report, now) ? over : FATE_AGAIN;
    *server = *before;
    report->next = (struct lg__due){ 0, 0 };
    report->http_status = answer->http_status;
    if (answer->none_left && !left)
        report->flags &= ~LG__REPORT_LEFT;
    if (wants_plain(server, answer)) {
        answers(server);
        server->plain = LG__PLAIN_REFUSED;
        report->failures--;
        return FATE_PLAIN;
    }
    learn_plain(server, answer, kind);
    switch (kind) {
    case AWAY:
        report->failures--;
        is_away(server, now, random);
        break;
    case BUSY:
        is_busy(server, now, random);
        report->next = moment_after(now, backoff(report->failures, BACKOFF_BUSY_NS, random));
        break;
    case TAKEN:
        answers(server);
        server->delivered++;
        report->failures = report->denials = report->refusals = 0;
        fate = FATE_TAKEN;
        break;
    case DENIED:
        answers(server);
        deny(report, server, now);
        fate = fate == FATE_AGAIN ? FATE_HELD : fate;
        break;
    case TOO_LARGE:
    case REFUSED:
        answers(server);
        fate = refuse(report, server, now) || (is_full && kind == TOO_LARGE) ? over : fate == FATE_AGAIN ? FATE_HELD : fate;
        break;
    }
    if (fate == FATE_SMALL)
        report->next = (struct lg__due){ 0, 0 };
    if (answer->has_pause)
        ask(server, answer->pause_ns, now);
    return fate;
}

/* ---- the server ---- */

void fate_spend(struct lg__server *server, uint64_t bytes, uint64_t daily_bytes, struct moment now)
{
    if (moment_is_due(server->day, now)) {
        server->day = moment_after(now, DAY_NS);
        server->day_bytes = 0;
    }
    server->day_bytes += bytes;
    if (server->day_bytes >= daily_bytes && moment_left(server->day, now) > moment_left(server->next, now)) {
        server->next = server->day;
        server->pause = LG_PAUSE_SPENT;
    }
}

bool fate_set_server(struct lg__server *server, const uint8_t config[16])
{
    if (memcmp(server->config, config, sizeof server->config) == 0)
        return false;
    memcpy(server->config, config, sizeof server->config);
    answers(server);
    server->delivered = 0;
    server->plain = LG__PLAIN_NOT;
    return true;
}

static bool shorten(struct lg__due *due, struct moment now)
{
    if (moment_left(*due, now) <= BOOT_NS)
        return false;
    *due = moment_after(now, BOOT_NS);
    return true;
}

void fate_boot(struct lg__server *server, struct moment now)
{
    if (server->pause == LG_PAUSE_AWAY) {
        server->absences = 0;
        server->next = (struct lg__due){ 0, 0 };
    } else if (server->pause == LG_PAUSE_BUSY) {
        shorten(&server->next, now);
    }
    if (now.wall_ns + DAY_NS < server->day.wall_ns && shorten(&server->day, now) && server->pause == LG_PAUSE_SPENT)
        server->next = server->day; /* the device has no clock */
}

bool fate_boot_report(struct mail *mail, struct moment now)
{
    const bool failed = mail->state == LG_DELIVERY_HELD || (mail->state == LG_DELIVERY_PENDING && mail->header.failures);
    return failed && shorten(&mail->header.next, now);
}

void fate_hurry_server(struct lg__server *server)
{
    if (server->pause != LG_PAUSE_ASKED)
        answers(server);
}

/* ---- what makes a report pending, and due ---- */

static bool now_due(struct mail *mail)
{
    mail->header.next = (struct lg__due){ 0, 0 };
    mail->header.settled_ns = 0;
    return true;
}

bool fate_release(struct mail *mail, const struct lg__server *server, struct moment now)
{
    const struct lg__report_header *report = &mail->header;
    const bool takes_others = report->denials == 1 && server->delivered > report->delivered;
    return mail->state == LG_DELIVERY_HELD && (takes_others || moment_is_due(report->next, now)) && now_due(mail);
}

bool fate_set_report(struct mail *mail, const struct lg__server *server, struct moment now)
{
    static const uint8_t none[16];
    struct lg__report_header *report = &mail->header;
    if (mail->state == LG_DELIVERY_SENT || memcmp(report->config, server->config, 16) == 0 || memcmp(report->config, none, 16) == 0)
        return false;
    memset(report->config, 0, sizeof report->config);
    report->failures = report->denials = report->refusals = report->full_taken = 0;
    report->since_on_ns = now.on_ns;
    return now_due(mail);
}

bool fate_hurry(struct mail *mail, bool all, struct moment now)
{
    const bool is_meant = mail->state == LG_DELIVERY_PENDING || (all && mail->state != LG_DELIVERY_SENT);
    if (is_meant && mail->state == LG_DELIVERY_DEAD)
        mail->header.since_on_ns = now.on_ns; /* the next refusal of its body is believed at once */
    return is_meant && now_due(mail);
}

/* ---- further runs ---- */

bool fate_stand_for(struct lg__report_header *report, const struct more *more)
{
    if (report->more_ordinal == more->ordinal)
        return false;
    report->more += more->count;
    report->more_ordinal = more->ordinal;
    if (!report->more_first_ns || more->first_ns < report->more_first_ns)
        report->more_first_ns = more->first_ns;
    if (more->last_ns > report->more_last_ns)
        report->more_last_ns = more->last_ns;
    return true;
}
