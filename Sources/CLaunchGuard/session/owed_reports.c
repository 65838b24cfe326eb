#include "session/owed_reports.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "launch/decide.h"
#include "launchguard/reader.h"
#include "os/os.h"
#include "store/delivery_config.h"
#include "store/map.h"
#include "store/spool.h"
#include "store/tally.h"

/* A configuration that this version cannot read belongs to another version, and asks for reports
 * too. */
static uint32_t read_ends(int spool)
{
    char wrong[128];
    uint32_t ends = LG_DELIVERY_ENDS;
    char *text = malloc(LG__CONFIG_MAX + 1);
    struct lg__delivery_config *config = malloc(sizeof *config);
    if (text && config && lg__spool_read(spool, "config", text, LG__CONFIG_MAX + 1) > 0 && lg__delivery_config_parse(text, config, wrong) && config->options.ends)
        ends = config->options.ends;
    free(config);
    free(text);
    return ends;
}

struct lg__owed_reports lg__owed_reports_open(int runs)
{
    const struct lg__owed_reports nothing = { .spool = -1 };
    if (faccessat(runs, "../spool/config", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return nothing;
    int spool = openat(runs, "../spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (spool < 0)
        return nothing;
    struct lg__consent consent = lg__consent_read(spool);
    bool withheld = !consent.given && consent.from_ordinal; /* no decision yet: consent may come */
    if (withheld || lg__spool_is_off(spool)) {
        close(spool);
        return nothing;
    }
    return (struct lg__owed_reports){ spool, read_ends(spool), consent.from_ordinal };
}

void lg__owed_reports_close(const struct lg__owed_reports *owed)
{
    if (owed->spool >= 0)
        close(owed->spool);
}

static lg_reader *open_run(const char *directory, const char *name)
{
    char path[4096 + 96];
    lg_reader *reader;
    int size = snprintf(path, sizeof path, "%s/runs/%s", directory, name);
    return size > 0 && (size_t)size < sizeof path && lg_reader_open(path, &reader) == LG_OK ? reader : NULL;
}

static bool was_launching(lg_reader *reader, uint32_t contexts)
{
    lg_run_context context;
    for (uint32_t i = 0; i < contexts; i++)
        if (lg_reader_run_context(reader, i, &context) == LG_OK && lg__phase_launching(context.phase))
            return true;
    return false;
}

bool lg__owed_reports_is(const struct lg__owed_reports *owed, const char *directory, const char *name)
{
    lg_run_info run;
    lg_verdict verdict;
    if (owed->spool < 0 || strtoull(name, NULL, 10) < owed->from_ordinal)
        return false;
    lg_reader *reader = open_run(directory, name);
    bool is = reader && lg_reader_run(reader, &run) == LG_OK && !run.reported && !run.alive && lg_reader_verdict(reader, &verdict) == LG_OK &&
              lg__delivery_config_wants(owed->ends, verdict.end, was_launching(reader, run.context_count));
    lg_reader_close(reader);
    return is;
}

bool lg__owed_reports_count(const struct lg__owed_reports *owed, const char *directory, const char *name)
{
    lg_run_info run;
    lg_verdict verdict;
    char fingerprint[33];
    struct lg__tally_row row = { .count = 1 };
    lg_reader *reader = open_run(directory, name);
    bool known = reader && lg_reader_run(reader, &run) == LG_OK && lg_reader_verdict(reader, &verdict) == LG_OK &&
                 lg_reader_fingerprint(reader, fingerprint) == LG_OK;
    lg_reader_close(reader);
    if (!known)
        return true; /* the file is gone, or belongs to another run */
    lg__os_uuid(fingerprint, row.fingerprint);
    lg__os_uuid(run.uuid, row.uuid);
    row.first_ns = row.last_ns = run.wall_ns;
    row.ordinal = run.ordinal;
    row.end = (uint32_t)verdict.end;
    lg__map_flock(owed->spool, LOCK_SH);
    /* Consent may have been withheld meanwhile: the run needs no count then. */
    bool counted = lg__consent_read(owed->spool).from_ordinal != owed->from_ordinal || lg__tally_add(owed->spool, &row);
    flock(owed->spool, LOCK_UN);
    return counted;
}
