/* The end of the last run: it is classified, and its last words go to the program's logger. A
 * signal handler calls no code of the program, so the next start reads the record here. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>

#include "launchguard/record.h"
#include "os/os.h"
#include "session/session.h"
#include "store/text.h"

/* Messages of a crash that go to the logger: libc's, the Swift runtime's, type and text of an
 * exception. */
#define MESSAGES_MAX 4u

static void say(const struct lg__host *host, lg_level level, const char *format, ...) LG_PRINTF(3, 4);

static void say(const struct lg__host *host, lg_level level, const char *format, ...)
{
    char text[LG_ON_LOG_MAX];
    va_list arguments;
    va_start(arguments, format);
    size_t size = lg__text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    lg__outbox_put(host->run.ring.outbox, level, text, size < sizeof text ? size : sizeof text);
}

/* A program that ended on request, or with the machine, needs no attention. */
static lg_level level_of(lg_end end)
{
    return end == LG_END_TERMINATED || end == LG_END_REBOOT || end == LG_END_UPGRADE || end == LG_END_DEBUGGER ? LG_LEVEL_INFO : LG_LEVEL_WARNING;
}

static void say_end(const struct lg__host *host, const struct lg__ledger_run *run)
{
    char uuid[37], crash[96] = "";
    lg__run_uuid_text(run->uuid, uuid);
    if (run->end == LG_END_CRASH && run->signal)
        snprintf(crash, sizeof crash, "; signal %d, %s", run->signal, lg_crash_kind_name((lg_crash_kind)run->kind));
    say(host, level_of((lg_end)run->end), "the last run (number %llu, %s) has the end \"%s\": %s%s", (unsigned long long)run->ordinal, uuid,
        lg_end_name((lg_end)run->end), lg_evidence_sentence((lg_evidence)run->evidence), crash);
}

static void say_record(const struct lg__host *host, lg_reader *reader)
{
    lg_message message;
    lg_run_info info;
    uint32_t crashes = 0, survived = 0;
    for (uint32_t i = 0; i < MESSAGES_MAX && lg_reader_message(reader, i, &message) == LG_OK; i++)
        say(host, LG_LEVEL_WARNING, "the last run said before its crash: %s", message.text);
    lg_reader_crash_count(reader, &crashes);
    for (uint32_t i = 0; i < crashes; i++) {
        lg_crash_info crash;
        survived += lg_reader_select_crash(reader, i) == LG_OK && lg_reader_crash(reader, &crash) == LG_OK && crash.handled;
    }
    if (survived)
        say(host, LG_LEVEL_WARNING, "the last run survived crashes before its end: its file holds %u of them", survived);
    if (lg_reader_run(reader, &info) != LG_OK)
        return;
    if (info.crash_noted_ns)
        say(host, LG_LEVEL_WARNING, "the last run noted a crash of its own: %s", info.crash_type);
    if (info.healed_pages)
        say(host, LG_LEVEL_WARNING, "the last run lost %u pages of its file, which had been cut or could not be read", info.healed_pages);
}

static void say_last_run(struct lg__host *host)
{
    const struct lg__ledger_payload *payload = &host->ledger.payload;
    const struct lg__ledger_run *run = payload->timeline_count ? &payload->timeline[payload->timeline_count - 1] : NULL;
    char name[LG__RUN_NAME_BYTES], path[4096 + 96];
    lg_reader *reader;
    if (!host->run.ring.outbox || !run || run->end == LG_END_CLEAN || run->end == LG_END_RUNNING)
        return;
    say_end(host, run);
    lg__run_name(run->ordinal, run->uuid, name);
    snprintf(path, sizeof path, "%s/runs/%s", host->directory, name);
    if (lg_reader_open(path, &reader) != LG_OK)
        return;
    say_record(host, reader);
    lg_reader_close(reader);
}

/* Wait for a witness that stores how that run ended. A witness that comes later learns that it is
 * late. */
void lg__last_run_account(struct lg_session *session, const struct lg__identity *identity)
{
    lg__witness_wait(session);
    bool locked = lg__map_flock(session->runs_directory, LOCK_SH);
    lg__account_run_last(&session->host, identity);
    if (locked)
        flock(session->runs_directory, LOCK_UN);
    say_last_run(&session->host);
}
