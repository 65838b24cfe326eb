#include "export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent.h"
#include "os/os.h"
#include "process/sandbox.h"
#include "report/gather.h"
#include "target/target.h"

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "launchguard-agent: %s: %s\n", path, why);
    return AGENT_NO_RUN;
}

/* The state directory of a run file, in memory of malloc(); NULL: the file lies elsewhere. */
static char *state_directory_of(const char *path)
{
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (slash) {
        *slash = 0;
        slash = strrchr(real, '/');
    }
    if (slash && strcmp(slash, "/runs") == 0) {
        *slash = 0;
        return real;
    }
    free(real);
    return NULL;
}

/* The report gets the time of the file: so a run becomes the same bytes at any time, and a run
 * whose end has no time does not seem to have ended just now. In seconds, as archives keep no
 * more. */
static uint64_t last_change_ns(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_mtim.tv_sec > 0 ? (uint64_t)info.st_mtim.tv_sec * 1000000000 : 0;
}

static bool write_body(const char *format, lg_reader *reader, const struct facts *facts, char ret_why[LG__REPORT_ERROR_BYTES])
{
    struct letter letter = { .header.made_ns = facts->made_ns };
    struct request request = { .headers = NULL };
    size_t brief_bytes = 0, full_bytes = 0;
    char *brief = compose_brief(reader, facts, &brief_bytes), *full = compose_full(reader, facts, &full_bytes);
    bool is_otlp = strcmp(format, "otlp") == 0, made = false;
    snprintf(ret_why, LG__REPORT_ERROR_BYTES, "no memory");
    if (brief && full) {
        letter.brief = brief;
        letter.full = full;
        letter.header.brief_bytes = (uint32_t)brief_bytes;
        letter.header.full_bytes = (uint32_t)full_bytes;
        lg__os_uuid(facts->uuid, letter.header.uuid);
        made = is_otlp ? otlp_body(&letter, PART_WHOLE, &request, ret_why) : sentry_body(&letter, PART_WHOLE, &request, ret_why);
    }
    if (made && (fwrite(request.body, 1, request.bytes, stdout) != request.bytes || (is_otlp && putchar('\n') == EOF) || fflush(stdout) != 0)) {
        snprintf(ret_why, LG__REPORT_ERROR_BYTES, "standard output cannot be written");
        made = false;
    }
    request_free(&request);
    free(brief);
    free(full);
    return made;
}

int export_run(const char *format, const char *path)
{
    struct facts facts = { .reason = NULL };
    char why[LG__REPORT_ERROR_BYTES];
    char words[SANDBOX_WORDS];
    lg_reader *reader;
    lg_run_info run;
    sandbox_enter(-1, false, words);
    lg_status status = lg_reader_open(path, &reader);
    if (status != LG_OK)
        return refuse(path, lg_status_message(status));
    status = lg_reader_run(reader, &run);
    status = status == LG_OK ? lg_reader_verdict(reader, &facts.verdict) : status;
    if (status != LG_OK || facts.verdict.end == LG_END_RUNNING) {
        lg_reader_close(reader);
        return refuse(path, status != LG_OK ? lg_status_message(status) : "the process lives: there is no end to report");
    }
    memcpy(facts.uuid, run.uuid, sizeof facts.uuid);
    char *directory = state_directory_of(path);
    gather_facts(reader, &run, directory, &facts);
    facts.made_ns = last_change_ns(path);
    bool written = write_body(format, reader, &facts, why);
    free(directory);
    lg_reader_close(reader);
    if (written)
        return AGENT_DONE;
    fprintf(stderr, "launchguard-agent: %s: %s\n", path, why);
    return AGENT_FAILED;
}
