/* No file can be opened, so that every other call lacks its reader. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "launchguard/reader.h"
#include "launchguard/report.h"

lg_status lg_reader_open(const char *path, lg_reader **ret_reader)
{
    return path && ret_reader ? LG_ERR_UNSUPPORTED : LG_ERR_ARGUMENT;
}

void lg_reader_close(lg_reader *reader)
{
}

lg_file_kind lg_reader_kind(const lg_reader *reader)
{
    return LG_FILE_RUN;
}

lg_status lg_reader_run(lg_reader *reader, lg_run_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_system(lg_reader *reader, lg_system_info *ret_system)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_run_context(lg_reader *reader, uint32_t index, lg_run_context *ret_context)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_stderr(lg_reader *reader, uint8_t *buffer, size_t *ret_size, uint64_t *ret_total)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_module(lg_reader *reader, uint32_t index, lg_module *ret_module)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_annotation(lg_reader *reader, uint32_t index, lg_annotation *ret_annotation)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_annotations_used(lg_reader *reader, uint64_t *ret_used)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_redacted(lg_reader *reader, const char *key)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_log(lg_reader *reader, lg_log_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_log_check(lg_reader *reader)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_log_entry(lg_reader *reader, uint64_t index, lg_log_entry *ret_entry)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t field, lg_log_field *ret_field)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_verdict(lg_reader *reader, lg_verdict *ret_verdict)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_fingerprint(lg_reader *reader, char ret_hex[33])
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_report(lg_reader *reader, const lg_report_options *options, lg_report_sink sink, void *user)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_fingerprint_of(lg_reader *reader, const lg_verdict *end, char ret_hex[33])
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_verify(lg_reader *reader, lg_verify_callback callback, void *user)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_crash_count(lg_reader *reader, uint32_t *ret_count)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_select_crash(lg_reader *reader, uint32_t index)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_crash(lg_reader *reader, lg_crash_info *ret_crash)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_register(lg_reader *reader, uint32_t index, lg_register *ret_register)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_bytes(lg_reader *reader, uint32_t which, uint8_t *buffer, uint64_t *ret_start, size_t *ret_size)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_note(lg_reader *reader, uint32_t index, lg_note *ret_note)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_stack(lg_reader *reader, lg_stage stage, lg_stack_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_stack_choice(lg_reader *reader, lg_stack_choice *ret_choice)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_frame(lg_reader *reader, lg_stage stage, uint32_t index, uint64_t *ret_pc)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_function(lg_reader *reader, uint32_t index, lg_function *ret_function)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_message(lg_reader *reader, uint32_t index, lg_message *ret_message)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_threads(lg_reader *reader, lg_threads_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_thread(lg_reader *reader, uint32_t index, lg_thread_info *ret_thread)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_thread_register(lg_reader *reader, uint32_t thread, uint32_t index, lg_register *ret_register)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_thread_stack(lg_reader *reader, uint32_t thread, lg_stack_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_thread_frame(lg_reader *reader, uint32_t thread, uint32_t index, uint64_t *ret_pc)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_thread_function(lg_reader *reader, uint32_t thread, uint32_t index, lg_function *ret_function)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_map(lg_reader *reader, char *buffer, size_t size, size_t *ret_size, uint32_t *ret_cut)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_resource(lg_reader *reader, uint32_t index, lg_resource *ret_resource)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_heart(lg_reader *reader, uint32_t index, lg_heart_info *ret_heart)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_deadline(lg_reader *reader, uint32_t index, lg_deadline_info *ret_deadline)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot(lg_reader *reader, lg_snapshot_kind kind, lg_snapshot_info *ret_snapshot)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot_thread(lg_reader *reader, lg_snapshot_kind kind, uint32_t index, lg_thread_info *ret_thread)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot_register(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_register *ret_register)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot_stack(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, lg_stack_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot_frame(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, uint64_t *ret_pc)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot_function(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_function *ret_function)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_guards(lg_reader *reader, lg_guards_info *ret_guards)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_guard(lg_reader *reader, uint32_t index, lg_guard_info *ret_guard)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_guard_field(lg_reader *reader, uint32_t index, uint32_t field, lg_guard_field *ret_field)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_guard_frame(lg_reader *reader, uint32_t index, uint32_t frame, uint64_t *ret_pc)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger(lg_reader *reader, lg_ledger_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger_context(lg_reader *reader, uint32_t index, lg_launch_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger_rung(lg_reader *reader, uint32_t context, uint32_t index, lg_ledger_rung *ret_rung)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger_suspect(lg_reader *reader, uint32_t context, uint32_t index, lg_ledger_suspect *ret_suspect)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_timeline(lg_reader *reader, uint32_t index, lg_timeline_entry *ret_entry)
{
    return LG_ERR_ARGUMENT;
}
#endif
