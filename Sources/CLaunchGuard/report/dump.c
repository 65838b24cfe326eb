/* A run as a minidump. */
#include <errno.h>

#include "report/dump_facts.h"
#include "report/parts.h"
#include "store/given.h"

#define MODULES_MAX 16384u

/* Of the crash, or of the end: nanoseconds since 1970; 0: not known. */
static uint64_t moment(const struct lg__dump *dump)
{
    const lg_run_info *run = &dump->report->run;
    uint64_t monotonic = dump->has_verdict ? dump->verdict.monotonic_ns : 0;
    if (dump->has_crash && dump->crash.wall_ns)
        return dump->crash.wall_ns;
    monotonic = monotonic ? monotonic : dump->has_snapshot ? dump->snapshot.taken_ns : 0;
    if (!dump->report->has_run || !run->wall_ns)
        return 0;
    if (monotonic < run->monotonic_ns)
        return run->monotonic_ns - monotonic <= run->wall_ns ? run->wall_ns - (run->monotonic_ns - monotonic) : 0;
    return monotonic - run->monotonic_ns <= UINT64_MAX - run->wall_ns ? run->wall_ns + (monotonic - run->monotonic_ns) : 0;
}

/* False: there is no memory, or the file is larger than it may be. */
static bool write_file(struct lg__dump *dump, const struct lg__dump_limits *limits)
{
    dump->limits = limits;
    lg__dump_file_begin(&dump->file);
    lg__dump_process_system(dump);
    lg__dump_process_misc(dump);
    lg__dump_threads_add(dump);
    lg__dump_modules_add(dump);
    lg__dump_process_map(dump);
    lg__dump_process_status(dump);
    lg__dump_annotations_add(dump);
    return lg__dump_file_finish(&dump->file, moment(dump) / 1000000000) && dump->file.part.size <= dump->options->most_bytes;
}

/* As much as fits, into the sink. */
static lg_status write_most(struct lg__dump *dump, lg_report_sink sink, void *user)
{
    const size_t most = (size_t)dump->options->most_bytes;
    const struct lg__dump_limits limits[] = {
        { most, true, UINT32_MAX, UINT32_MAX }, { most / 2, true, UINT32_MAX, UINT32_MAX }, { most / 4, true, UINT32_MAX, UINT32_MAX },
        { most / 4, false, UINT32_MAX, UINT32_MAX }, { 0, false, 64, 256 }, { 0, false, 1, 1 },
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const bool made = write_file(dump, &limits[i]), failed = dump->file.part.failed;
        lg_status status = LG_OK;
        if (made && sink((const char *)dump->file.part.bytes, dump->file.part.size, user) != 0)
            status = LG_ERR_SYSTEM;
        lg__dump_file_free(&dump->file);
        if (made || failed) {
            if (failed)
                errno = ENOMEM;
            return failed ? LG_ERR_SYSTEM : status;
        }
    }
    return LG_ERR_LIMIT;
}

lg_status lg_reader_minidump(lg_reader *reader, const lg_minidump_options *options, lg_report_sink sink, void *user)
{
    lg_minidump_options own = LG_MINIDUMP_OPTIONS_INIT;
    if (!reader || !sink)
        return LG_ERR_ARGUMENT;
    if (!options)
        options = &own;
    if (!lg__given_take(&lg__given_minidump_options, &own, options, NULL))
        return LG_ERR_OPTION;
    if (lg_reader_kind(reader) != LG_FILE_RUN)
        return LG_ERR_STATE;
    lg_report_options for_report = LG_REPORT_OPTIONS_INIT;
    for_report.for_sending = own.for_sending;
    for_report.keep_home = own.keep_home;
    for_report.verdict = own.verdict;
    struct lg__dump dump = { .report = lg__report_new(reader, &for_report), .reader = reader, .options = &own };
    lg_status status = LG_ERR_SYSTEM;
    if (!dump.report)
        return status;
    lg__report_read_run(dump.report);
    lg__report_read_modules(dump.report, true, MODULES_MAX);
    lg__report_read_log(dump.report);
    dump.has_verdict = lg__report_final_verdict(dump.report, &dump.verdict);
    if (dump.report->secrets) {
        lg__dump_facts_crashes(&dump);
        lg__dump_threads_processor(&dump);
        lg__dump_facts_figures(&dump);
        status = !own.for_sending && !dump.has_crash && !dump.has_snapshot               ? LG_ERR_NOT_FOUND
                 : !own.for_sending && dump.processor == LG__DUMP_UNKNOWN ? LG_ERR_UNSUPPORTED
                                                                                         : write_most(&dump, sink, user);
        lg_reader_select_crash(reader, dump.crash_index);
    }
    lg__report_free(dump.report);
    return status;
}
