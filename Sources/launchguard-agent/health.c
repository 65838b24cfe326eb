#include "health.h"

#include <stdlib.h>
#include <string.h>

#include "policy/fate.h"
#include "process/agent_log.h"
#include "report/json_words.h"
#include "store/digest.h"

/* Counts that wait for a server, of all versions. */
#define COUNTS_MAX 8u

/* The words of Sentry's sessions. */
static const char *outcome(lg_end end)
{
    return end == LG_END_CRASH ? "crashed" : lg_end_is_bad(end) ? "abnormal" : "exited";
}

/* The count that a run of this version and outcome adds to: no byte of it has left. */
static struct mail *count_for(const struct mailbox *mailbox, const uint8_t fingerprint[16])
{
    for (struct mail *mail = mailbox->mails; mail < mailbox->mails + mailbox->count; mail++)
        if (!(mail->header.flags & LG__REPORT_LEFT) && memcmp(mail->header.fingerprint, fingerprint, 16) == 0)
            return mail;
    return NULL;
}

static void begin(const struct composer *composer, const struct lg__report_name *parts, const struct lg__report_header *header, const char *text)
{
    const struct mailbox *mailbox = composer->mailbox;
    if (mailbox->count - mailbox_reports(mailbox) < COUNTS_MAX && !mailbox_add(composer->mailbox, parts, header, text, strlen(text), "", 0))
        agent_log("the count of runs for release health cannot be stored");
}

void health_count(const struct composer *composer, const struct known_run *run, const lg_run_info *info, lg_end end)
{
    static const uint8_t key[] = "LG health of run"; /* the key is what is before the NUL */
    struct lg__report_name parts = { .priority = LG__PRIORITY_OTHER, .ordinal = run->ordinal };
    struct lg__report_header header = { .made_ns = composer->now.wall_ns, .since_on_ns = composer->now.on_ns, .end = (uint32_t)end,
                                        .flags = LG__REPORT_FULL_SENT | LG__REPORT_HEALTH, .next = moment_after(composer->now, DAY_NS) };
    const struct more one = { 1, run->ordinal, header.made_ns, header.made_ns };
    if (!composer->config->options.release_health || composer->config->options.target != LG_TARGET_SENTRY || !info->app_version[0])
        return;
    json_t *release = json_object();
    put(release, "appID", words_string(info->app_id));
    put(release, "appVersion", words_string(info->app_version));
    put(release, "outcome", words_string(outcome(end)));
    char *text = json_dumps(release, JSON_COMPACT);
    json_decref(release);
    if (!text)
        return;
    lg__digest_keyed(key, run->uuid, sizeof run->uuid, parts.uuid);
    lg__digest_keyed(key, text, strlen(text), header.fingerprint);
    memcpy(header.run_uuid, run->uuid, sizeof header.run_uuid);
    struct mail *mail = count_for(composer->mailbox, header.fingerprint);
    if (!mail)
        begin(composer, &parts, &header, text);
    else if (memcmp(mail->parts.uuid, parts.uuid, 16) != 0 && fate_stand_for(&mail->header, &one))
        mailbox_update(composer->mailbox, mail);
    free(text);
}
