#include "policy/choice.h"

#include <limits.h>
#include <string.h>

#include "policy/fate.h"

/* As many reports of one fingerprint go out at once; each later one waits twice as long as the one
 * before, and stands for the runs that end until then. */
#define FREE_REPORTS 3u

static bool is_behind(const struct mail *mails, uint32_t count, const struct mail *mail)
{
    for (const struct mail *other = mails; other < mails + count; other++)
        if (lg__report_is_behind(&mail->header, &other->header, other->state))
            return true;
    return false;
}

/* Those that have not failed, then those that were due first; of them the first parts; of them the
 * first of a streak, then the newest launch crash, then the oldest of the others. */
static bool goes_before(const struct mail *one, const struct mail *other)
{
    const struct lg__report_name *a = &one->parts, *b = &other->parts;
    const bool failed = one->header.failures, other_failed = other->header.failures;
    if (failed != other_failed)
        return other_failed;
    if (failed && one->header.next.on_ns != other->header.next.on_ns)
        return one->header.next.on_ns < other->header.next.on_ns;
    const bool is_second = one->header.flags & LG__REPORT_BRIEF_SENT, other_is_second = other->header.flags & LG__REPORT_BRIEF_SENT;
    if (is_second != other_is_second)
        return other_is_second;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    return a->priority == LG__PRIORITY_LAUNCH ? a->ordinal > b->ordinal : a->ordinal < b->ordinal;
}

struct mail *choice_next(struct mail *mails, uint32_t count, const struct lg__server *server, struct moment now,
                         bool (*skips)(const struct mail *mail, const void *user), const void *user)
{
    struct mail *best = NULL;
    if (!moment_is_due(server->next, now))
        return NULL;
    for (struct mail *mail = mails; mail < mails + count; mail++)
        if (mail->state == LG_DELIVERY_PENDING && moment_is_due(mail->header.next, now) && !skips(mail, user) &&
            !is_behind(mails, count, mail) && (!best || goes_before(mail, best)))
            best = mail;
    return best;
}

uint64_t choice_left(const struct mail *mails, uint32_t count, const struct lg__server *server, struct moment now,
                     bool (*skips)(const struct mail *mail, const void *user), const void *user)
{
    uint64_t least = UINT64_MAX;
    const uint64_t server_left = moment_left(server->next, now);
    for (const struct mail *mail = mails; mail < mails + count; mail++) {
        if (!lg__report_waits(mail->state) || skips(mail, user) || is_behind(mails, count, mail))
            continue;
        const uint64_t own = moment_left(mail->header.next, now), left = own > server_left ? own : server_left;
        least = left < least ? left : least;
    }
    return least;
}

static bool takes_more(const struct mail *mail, const uint8_t fingerprint[16])
{
    return lg__report_waits(mail->state) && lg__report_is_of_end(&mail->header) && !(mail->header.flags & LG__REPORT_LEFT) && memcmp(mail->header.fingerprint, fingerprint, 16) == 0;
}

struct mail *choice_for_more(struct mail *mails, uint32_t count, const uint8_t fingerprint[16])
{
    struct mail *found = NULL;
    for (struct mail *mail = mails; mail < mails + count; mail++)
        if (takes_more(mail, fingerprint) && (!found || found->parts.priority == LG__PRIORITY_FIRST))
            found = mail;
    return found;
}

bool choice_counts(struct mail *mails, uint32_t count, const struct lg__report_header *new, struct moment now)
{
    const struct mail *like = choice_for_more(mails, count, new->fingerprint);
    uint32_t waiting = 0;
    for (const struct mail *mail = mails; mail < mails + count; mail++)
        waiting += takes_more(mail, new->fingerprint);
    return like && (waiting > 1 || like->parts.priority != LG__PRIORITY_FIRST || !moment_is_due(new->next, now));
}

void choice_pace(const struct mail *mails, uint32_t count, struct lg__report_header *new, struct moment now)
{
    uint64_t since = DAY_NS + 1, wait = SECOND_NS;
    for (const struct mail *mail = mails; mail < mails + count; mail++) {
        const uint64_t its = moment_since(&mail->header, now);
        if (its < since && memcmp(mail->header.fingerprint, new->fingerprint, 16) == 0) {
            since = its;
            new->before = mail->header.before + 1;
        }
    }
    for (uint32_t i = FREE_REPORTS; i < new->before && wait < HOUR_NS; i++)
        wait *= 2;
    wait = wait < HOUR_NS ? wait : HOUR_NS;
    new->next = moment_after(now, new->before < FREE_REPORTS || wait <= since ? 0 : wait - since);
}

/* 0: the report does not give way; of the others the smallest goes first. */
static unsigned turn_to_drop(const struct mail *mail, struct moment now)
{
    if (mail->state == LG_DELIVERY_SENT && moment_since(&mail->header, now) >= HOUR_NS)
        return mail->header.told_ns ? 1 : 2;
    if (mail->state == LG_DELIVERY_HELD && mail->header.refusals >= REFUSALS_MAX)
        return 4; /* such reports alone could fill the spool, and no other one would ever arrive */
    return mail->state == LG_DELIVERY_DEAD ? 3 : 0;
}

struct mail *choice_to_drop(struct mail *mails, uint32_t count, struct moment now)
{
    struct mail *found = NULL;
    unsigned first = UINT_MAX;
    for (struct mail *mail = mails; mail < mails + count; mail++) {
        const unsigned turn = turn_to_drop(mail, now);
        if (turn && (turn < first || (turn == first && mail->parts.ordinal < found->parts.ordinal))) {
            found = mail;
            first = turn;
        }
    }
    return found;
}
