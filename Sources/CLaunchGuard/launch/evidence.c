#include "launch/evidence.h"

#include <signal.h>
#include <string.h>

#include "os/os.h"
#include "store/run.h"

bool lg__evidence_finished(const lg_run_context *context, uint64_t end_ns)
{
    if (context->phase == LG_PHASE_FINISHED)
        return true;
    if (context->phase != LG_PHASE_LAUNCHING || context->finish == LG_FINISH_MARK || context->window_ms <= 0)
        return false;
    /* The end came after the window, but before anybody could note it. */
    bool passed = context->launching_ns && end_ns > context->launching_ns &&
                  end_ns - context->launching_ns >= (uint64_t)context->window_ms * 1000000u;
    return passed && (context->finish != LG_FINISH_BOTH || context->marked);
}

static bool this_boot(const char *boot_id)
{
    uint8_t now[LG__UUID_BYTES];
    char text[37];
    if (!lg__os_boot_id(now))
        return true; /* not to be known: no claim of a reboot */
    lg__run_uuid_text(now, text);
    return strcmp(text, boot_id) == 0;
}

lg_status lg_reader_verdict(lg_reader *reader, lg_verdict *ret_verdict)
{
    lg_run_info run;
    if (!reader || !ret_verdict)
        return LG_ERR_ARGUMENT;
    lg_status status = lg_reader_run(reader, &run);
    return status == LG_OK ? lg__evidence_verdict(reader, &run, ret_verdict) : status;
}

/* The first match wins. */
lg_status lg__evidence_verdict(lg_reader *reader, const lg_run_info *run, lg_verdict *ret_verdict)
{
    lg_crash_info crash;
    lg_status status = lg_reader_crash(reader, &crash);
    if (status != LG_OK && status != LG_ERR_NOT_FOUND && status != LG_ERR_DAMAGED)
        return status;
    bool crashed = status == LG_OK;
    lg_verdict verdict = { .end = LG_END_UNKNOWN, .evidence = LG_EVIDENCE_NO_MARK };
    if (run->alive) {
        verdict.end = LG_END_RUNNING;
        verdict.evidence = LG_EVIDENCE_PROCESS_ALIVE;
    } else if (crashed && !crash.handled && crash.signal == SIGQUIT) {
        verdict.end = LG_END_TERMINATED;
        verdict.evidence = LG_EVIDENCE_DUMP_RECORD;
        verdict.signal = crash.signal;
        verdict.monotonic_ns = crash.monotonic_ns;
    } else if (crashed && !crash.handled) {
        /* Under a debugger people stop, change and kill programs: that counts against nobody. */
        lg_resource tracer;
        bool traced = lg_reader_resource(reader, LG_RESOURCE_TRACER, &tracer) == LG_OK && tracer.known && tracer.value != 0;
        verdict.end = traced ? LG_END_DEBUGGER : LG_END_CRASH;
        verdict.evidence = traced ? LG_EVIDENCE_TRACER : LG_EVIDENCE_CRASH_RECORD;
        verdict.signal = crash.signal;
        verdict.code = crash.code;
        verdict.kind = crash.kind;
        verdict.monotonic_ns = crash.monotonic_ns;
    } else if (run->stop_marked) {
        verdict.end = LG_END_CLEAN;
        verdict.evidence = LG_EVIDENCE_STOP_MARK;
        verdict.monotonic_ns = run->end_ns;
    } else if (run->exit_marked) {
        verdict.end = run->exit_code == 0 ? LG_END_CLEAN : LG_END_EXIT;
        verdict.evidence = LG_EVIDENCE_EXIT_MARK;
        verdict.code = run->exit_code;
        verdict.monotonic_ns = run->end_ns;
    } else if (run->term_signal) {
        verdict.end = LG_END_TERMINATED;
        verdict.evidence = LG_EVIDENCE_TERMINATE_MARK;
        verdict.signal = run->term_signal;
        verdict.monotonic_ns = run->term_ns;
    } else if (!this_boot(run->boot_id)) {
        verdict.end = LG_END_REBOOT;
        verdict.evidence = LG_EVIDENCE_BOOT_DIFFERS;
    } else if (crashed) {
        verdict.evidence = LG_EVIDENCE_HANDLED;
    }
    *ret_verdict = verdict;
    return LG_OK;
}
