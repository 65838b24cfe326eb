#include "composer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launchguard/ledger.h"
#include "health.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "policy/choice.h"
#include "policy/fate.h"
#include "process/agent_log.h"
#include "report/compose.h"
#include "report/gather.h"
#include "store/tally.h"

/* ---- limits ---- */

/* Make room for one more report of so many bytes; reports that nobody waits for give way. */
static bool make_room(struct composer *composer, uint64_t bytes)
{
    struct mailbox *mailbox = composer->mailbox;
    const struct lg__delivery_config *config = composer->config;
    while (mailbox_reports(mailbox) >= config->options.keep_reports || mailbox->bytes + bytes > config->options.keep_bytes) {
        struct mail *mail = choice_to_drop(mailbox->mails, mailbox->count, composer->now);
        if (!mail)
            return false;
        const bool sent = mail->state == LG_DELIVERY_SENT;
        agent_log("report %s, %s, gives way to a new one", mail->name, sent ? "delivered" : "given up");
        if (memcmp(mail->header.uuid, mail->header.run_uuid, 16) == 0)
            runs_note(composer->runs, mail->parts.ordinal, mail->parts.uuid, sent ? LG_REPORTED_SENT : LG_REPORTED_DEAD);
        LG_FAULT_POINT("composer: run noted");
        mailbox_drop(mailbox, mail);
    }
    return true;
}

static struct mail *for_more(const struct composer *composer, const uint8_t fingerprint[16])
{
    return choice_for_more(composer->mailbox->mails, composer->mailbox->count, fingerprint);
}

static void pace(const struct composer *composer, struct lg__report_header *new)
{
    choice_pace(composer->mailbox->mails, composer->mailbox->count, new, composer->now);
}

/* The report counts further runs, too. */
static bool stand_for(struct composer *composer, struct mail *mail, const struct more *more)
{
    return !fate_stand_for(&mail->header, more) || mailbox_update(composer->mailbox, mail);
}

/* ---- one report ---- */

enum made { MADE, MADE_COUNTED, MADE_NO_ROOM };

static enum made count(struct composer *composer, const uint8_t fingerprint[16], const struct more *one, uint64_t *ret_in)
{
    struct mail *mail = for_more(composer, fingerprint);
    if (!mail || !stand_for(composer, mail, one))
        return MADE_NO_ROOM;
    *ret_in = mail->parts.ordinal;
    return MADE_COUNTED;
}

/* `ret_in`: of MADE_COUNTED the number of the run whose report counts it. */
static enum made make(struct composer *composer, lg_reader *reader, const struct facts *facts, const struct lg__report_name *parts, uint64_t *ret_in)
{
    struct lg__report_header header = { .made_ns = facts->made_ns, .since_on_ns = composer->now.on_ns, .end = (uint32_t)facts->verdict.end };
    const uint64_t ended_ns = facts->ended_ns ? facts->ended_ns : facts->made_ns;
    const struct more one = { 1, parts->ordinal, ended_ns, ended_ns };
    size_t brief_bytes = 0, full_bytes = 0;
    char *brief = NULL, *full = NULL;
    struct mail *mail = NULL;
    lg__os_uuid(facts->run_uuid, header.run_uuid);
    lg__os_uuid(facts->fingerprint, header.fingerprint);
    if (!facts->reason) {
        pace(composer, &header);
        if (choice_counts(composer->mailbox->mails, composer->mailbox->count, &header, composer->now))
            return count(composer, header.fingerprint, &one, ret_in);
    }
    brief = compose_brief(reader, facts, &brief_bytes);
    const bool is_dump = composer->config->options.target == LG_TARGET_MINIDUMP;
    if (!composer->config->options.brief)
        full = (is_dump ? compose_dump : compose_full)(reader, facts, &full_bytes);
    header.flags |= full && is_dump ? LG__REPORT_DUMP : 0;
    if (!full) {
        full_bytes = 0;
        header.flags |= LG__REPORT_FULL_SENT;
    }
    if (brief && make_room(composer, sizeof header + brief_bytes + full_bytes))
        mail = mailbox_add(composer->mailbox, parts, &header, brief, brief_bytes, full ? full : "", full_bytes);
    if (!mail && brief && full && make_room(composer, sizeof header + brief_bytes)) {
        header.flags |= LG__REPORT_FULL_SENT; /* no room for the second part */
        mail = mailbox_add(composer->mailbox, parts, &header, brief, brief_bytes, "", 0);
    }
    free(brief);
    free(full);
    if (mail) {
        agent_log("run %" PRIu64 ": report %s made: %s%s%s", parts->ordinal, facts->uuid, lg_end_name(facts->verdict.end),
                  facts->launching ? " in a launch" : "", !moment_is_due(header.next, composer->now) ? ", to go later with its likes" : "");
        return MADE;
    }
    return facts->reason ? MADE_NO_ROOM : count(composer, header.fingerprint, &one, ret_in);
}

/* ---- owed runs ---- */

static bool report_run(struct composer *composer, struct known_run *run)
{
    struct lg__report_name parts = { .priority = LG__PRIORITY_OTHER, .ordinal = run->ordinal };
    struct facts facts = { .reason = NULL };
    lg_run_info info;
    memcpy(parts.uuid, run->uuid, sizeof parts.uuid);
    if (mailbox_find(composer->mailbox, run->uuid)) { /* an agent died before it could say so */
        runs_settle(composer->runs, run, LG_REPORTED_SPOOLED, 0);
        return true;
    }
    if (run->ordinal < composer->consent.from_ordinal) {
        runs_settle(composer->runs, run, LG_REPORTED_NO_CONSENT, 0);
        return true;
    }
    lg_reader *reader = runs_reader(composer->runs, run->name);
    if (!reader)
        return true;
    if (lg_reader_run(reader, &info) != LG_OK || lg_reader_verdict(reader, &facts.verdict) != LG_OK) {
        lg_reader_close(reader);
        run->state = RUN_UNREADABLE;
        return true;
    }
    gather_facts(reader, &info, composer->runs->state_directory, &facts);
    facts.keep_home = composer->config->options.keep_home;
    memcpy(facts.uuid, info.uuid, sizeof facts.uuid);
    enum made made = MADE;
    uint64_t in = 0;
    bool wanted = lg__delivery_config_wants(composer->config->options.ends, facts.verdict.end, facts.launching);
    if (wanted) {
        parts.priority = !facts.launching ? LG__PRIORITY_OTHER : facts.streak <= 1 ? LG__PRIORITY_FIRST : LG__PRIORITY_LAUNCH;
        made = make(composer, reader, &facts, &parts, &in);
    }
    lg_reader_close(reader);
    LG_FAULT_POINT("composer: report made");
    if (made != MADE_NO_ROOM) {
        health_count(composer, run, &info, facts.verdict.end);
        LG_FAULT_POINT("composer: run counted");
        runs_settle(composer->runs, run, !wanted ? LG_REPORTED_UNWANTED : made == MADE ? LG_REPORTED_SPOOLED : LG_REPORTED_COUNTED, in);
    }
    LG_FAULT_POINT("composer: run settled");
    return made != MADE_NO_ROOM;
}

static struct known_run *oldest_owed(const struct runs *runs, uint64_t after)
{
    struct known_run *oldest = NULL;
    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->list[i].state == RUN_OWED && runs->list[i].ordinal > after && (!oldest || runs->list[i].ordinal < oldest->ordinal))
            oldest = &runs->list[i];
    return oldest;
}

/* ---- requests ---- */

static bool report_request(struct composer *composer, const char *name, const char *text)
{
    struct lg__report_name parts = { .priority = LG__PRIORITY_OTHER };
    struct facts facts = { .verdict.end = LG_END_RUNNING };
    char run_name[LG__RUN_NAME_BYTES], run_uuid_text[37], reason[256] = "";
    uint8_t run_uuid[16];
    lg_run_info info;
    if (strlen(name) != 36 || !lg__os_uuid(name, parts.uuid) || mailbox_find(composer->mailbox, parts.uuid))
        return true;
    if (sscanf(text, "%36s %" SCNu64 " %255[^\n]", run_uuid_text, &parts.ordinal, reason) < 2 || strlen(run_uuid_text) != 36 ||
        !lg__os_uuid(run_uuid_text, run_uuid)) {
        agent_log("request %s cannot be read, and is dropped", name);
        return true;
    }
    if (parts.ordinal < composer->consent.from_ordinal)
        return true;
    lg__run_name(parts.ordinal, run_uuid, run_name);
    lg_reader *reader = runs_reader(composer->runs, run_name);
    if (!reader || lg_reader_run(reader, &info) != LG_OK) {
        agent_log("request %s: the file of run %" PRIu64 " cannot be read", name, parts.ordinal);
        lg_reader_close(reader);
        return true;
    }
    gather_facts(reader, &info, composer->runs->state_directory, &facts);
    facts.keep_home = composer->config->options.keep_home;
    memcpy(facts.uuid, name, sizeof facts.uuid);
    facts.reason = reason;
    uint64_t in = 0;
    enum made made = make(composer, reader, &facts, &parts, &in);
    lg_reader_close(reader);
    return made != MADE_NO_ROOM;
}

static bool report_requests(struct composer *composer)
{
    int folder = openat(composer->mailbox->spool, "requests", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = folder < 0 ? NULL : fdopendir(folder);
    bool all = true;
    if (!stream) {
        if (folder >= 0)
            close(folder);
        return true;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        char text[512];
        if (entry->d_name[0] == '.' || lg__spool_read(dirfd(stream), entry->d_name, text, sizeof text) < 0)
            continue;
        if (report_request(composer, entry->d_name, text)) {
            LG_FAULT_POINT("composer: request done");
            unlinkat(dirfd(stream), entry->d_name, 0);
        } else {
            all = false;
        }
    }
    closedir(stream);
    return all;
}

/* ---- runs of which only the count is left ---- */

static bool report_counted(struct composer *composer, const struct lg__tally_row *row)
{
    const struct more more = { row->count, row->ordinal, row->first_ns, row->last_ns };
    struct lg__report_name parts = { .priority = LG__PRIORITY_OTHER, .ordinal = row->ordinal };
    struct lg__report_header header = { .made_ns = composer->now.wall_ns, .since_on_ns = composer->now.on_ns, .end = row->end, .flags = LG__REPORT_FULL_SENT, .more = row->count - 1,
                                        .more_first_ns = row->first_ns, .more_last_ns = row->last_ns };
    struct facts facts = { .verdict.end = (lg_end)row->end, .made_ns = header.made_ns };
    size_t bytes = 0;
    struct mail *mail = for_more(composer, row->fingerprint);
    if (mail)
        return stand_for(composer, mail, &more);
    if (mailbox_find(composer->mailbox, row->uuid)) /* an agent died before it could take the row */
        return true;
    memcpy(parts.uuid, row->uuid, sizeof parts.uuid);
    memcpy(header.run_uuid, row->uuid, sizeof header.run_uuid);
    memcpy(header.fingerprint, row->fingerprint, sizeof header.fingerprint);
    pace(composer, &header);
    lg__run_uuid_text(row->uuid, facts.uuid);
    lg__run_uuid_text(row->uuid, facts.run_uuid);
    for (int i = 0; i < 16; i++)
        snprintf(facts.fingerprint + 2 * i, 3, "%02x", row->fingerprint[i]);
    char *brief = compose_counted(&facts, composer->runs->state_directory, row->ordinal, row->count, &bytes);
    if (brief && make_room(composer, sizeof header + bytes))
        mail = mailbox_add(composer->mailbox, &parts, &header, brief, bytes, "", 0);
    free(brief);
    if (mail)
        agent_log("run %" PRIu64 ": report %s made: stands for %" PRIu64 " runs that gave way", row->ordinal, facts.uuid, row->count);
    return mail != NULL;
}

static bool report_tally(struct composer *composer)
{
    struct lg__tally_row rows[LG__TALLY_ROWS];
    uint32_t count = lg__tally_read(composer->mailbox->spool, rows);
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        bool reported = rows[i].ordinal < composer->consent.from_ordinal || report_counted(composer, &rows[i]);
        LG_FAULT_POINT("composer: row reported");
        if (reported)
            lg__tally_take(composer->mailbox->spool, &rows[i], 1);
        all &= reported;
    }
    return all;
}

bool composer_work(struct composer *composer, struct moment now)
{
    composer->now = now;
    bool full = !report_requests(composer);
    uint64_t after = 0;
    for (struct known_run *run; (run = oldest_owed(composer->runs, after));) {
        after = run->ordinal;
        if (!lg__consent_read(composer->mailbox->spool).given)
            return false; /* withheld in between: the agent ends */
        if (!report_run(composer, run))
            full = true;
    }
    /* After the runs: their reports can stand for the counted ones. */
    return !report_tally(composer) || full;
}
