#include "policy/choice.h"

#include <string.h>

/* As many reports of one fingerprint go out at once; each later one waits twice as long as the one
 * before, and stands for the runs that end until then. */
#define FREE_REPORTS 3u

/* The first of a streak, then the newest launch crash, then the oldest of the others. */
static bool goes_before(const struct lg__report_name *a, const struct lg__report_name *b)
{
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
            (!best || goes_before(&mail->parts, &best->parts)))
            best = mail;
    return best;
}

uint64_t choice_left(const struct mail *mails, uint32_t count, const struct lg__server *server, struct moment now)
{
    uint64_t least = UINT64_MAX;
    const uint64_t server_left = moment_left(server->next, now);
    for (const struct mail *mail = mails; mail < mails + count; mail++) {
        if (mail->state != LG_DELIVERY_PENDING && mail->state != LG_DELIVERY_HELD)
            continue;
        const uint64_t own = moment_left(mail->header.next, now), left = own > server_left ? own : server_left;
        least = left < least ? left : least;
    }
    return least;
}

struct mail *choice_for_more(struct mail *mails, uint32_t count, const uint8_t fingerprint[16])
{
    struct mail *found = NULL;
    for (struct mail *mail = mails; mail < mails + count; mail++) {
        const bool waits = mail->state == LG_DELIVERY_PENDING || mail->state == LG_DELIVERY_HELD;
        if (waits && !(mail->header.flags & LG__REPORT_LEFT) && memcmp(mail->header.fingerprint, fingerprint, 16) == 0 &&
            (!found || found->parts.priority == LG__PRIORITY_FIRST))
            found = mail;
    }
    return found;
}

struct lg__due choice_pace(const struct mail *mails, uint32_t count, const uint8_t fingerprint[16], struct moment now)
{
    uint64_t newest = UINT64_MAX, wait = SECOND_NS;
    uint32_t lately = 0;
    for (const struct mail *mail = mails; mail < mails + count; mail++) {
        const uint64_t since = moment_since(&mail->header, now);
        if (memcmp(mail->header.fingerprint, fingerprint, 16) != 0 || since > DAY_NS)
            continue;
        lately++;
        newest = since < newest ? since : newest;
    }
    if (lately < FREE_REPORTS)
        return (struct lg__due){ 0, 0 };
    for (uint32_t i = FREE_REPORTS; i < lately && wait < HOUR_NS; i++)
        wait *= 2;
    wait = wait < HOUR_NS ? wait : HOUR_NS;
    return moment_after(now, wait > newest ? wait - newest : 0);
}

bool choice_counts(const struct mail *like, struct lg__due next, struct moment now)
{
    return like && (!moment_is_due(next, now) || like->parts.priority != LG__PRIORITY_FIRST);
}

static struct mail *oldest(struct mail *mails, uint32_t count, lg_delivery_state state, uint64_t least_ns, struct moment now)
{
    struct mail *found = NULL;
    for (struct mail *mail = mails; mail < mails + count; mail++)
        if (mail->state == state && moment_since(&mail->header, now) >= least_ns && (!found || mail->parts.ordinal < found->parts.ordinal))
            found = mail;
    return found;
}

struct mail *choice_to_drop(struct mail *mails, uint32_t count, struct moment now)
{
    struct mail *mail = oldest(mails, count, LG_DELIVERY_SENT, HOUR_NS, now);
    return mail ? mail : oldest(mails, count, LG_DELIVERY_DEAD, 0, now);
}
