/* Every public function that does nothing here, as `Tests/Docs/test_shell.py --write` makes it from
 * the headers. A reader is never opened, so that no call has one. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "launchguard/annotate.h"
#include "launchguard/completion.h"
#include "launchguard/delivery.h"
#include "launchguard/guard.h"
#include "launchguard/guard_checked.h"
#include "launchguard/guard_memory.h"
#include "launchguard/guard_record.h"
#include "launchguard/launch.h"
#include "launchguard/ledger.h"
#include "launchguard/log.h"
#include "launchguard/query.h"
#include "launchguard/reader.h"
#include "launchguard/record.h"
#include "launchguard/repair.h"
#include "launchguard/report.h"
#include "launchguard/session.h"
#include "launchguard/simulate.h"
#include "launchguard/snapshot.h"
#include "launchguard/undo.h"
#include "launchguard/watch.h"

lg_status lg_annotate(lg_session *session, const char *key, const char *value)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_redact(lg_session *session, const char *key)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

void lg_complete(lg_completion *done, lg_status outcome)
{
}

int lg_completion_wanted(const lg_completion *done)
{
    return 0;
}

void lg_completion_wait_unwanted(const lg_completion *done)
{
}

void lg_complete_text(lg_completion *done, lg_status outcome, const char *text)
{
}

lg_status lg_delivery_start(lg_session *session, const lg_delivery_options *options)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_consent(lg_session *session, lg_consent consent)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_wait(lg_session *session, uint32_t ms, lg_delivery_pump pump, void *user, lg_delivery_result *ret_result)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_report_now(lg_session *session, const char *reason, char *ret_uuid)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_delivery_entries(const char *state_directory, lg_delivery_info *ret_entries, uint32_t room, uint32_t *ret_count)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_guard_start(lg_session *session, const lg_guard_options *options)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_guard_set_classes(lg_session *session, uint32_t classes)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_guard_set_policy(lg_session *session, uint32_t classes, lg_guard_policy policy)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_guard_set_lists(lg_session *session, const lg_guard_lists *lists)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

int lg_guard_claim(lg_guard_class guard_class, const void *site, const char *text, const lg_field *fields, size_t count)
{
    return 0;
}

int lg_guard_claim_index(size_t index, size_t count)
{
    return 0;
}

int lg_guard_claim_signed(const char *type, const char *operation, int64_t left, int64_t right)
{
    return 0;
}

int lg_guard_claim_unsigned(const char *type, const char *operation, uint64_t left, uint64_t right)
{
    return 0;
}

int lg_guard_claim_null(void)
{
    return 0;
}

int lg_guard_claim_range(size_t offset, size_t length, size_t size)
{
    return 0;
}

lg_status lg_guard_map(lg_session *session, void *base, size_t size, int protection)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_guard_unmap(lg_session *session, void *base)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

size_t lg_guard_map_lost(const void *base)
{
    return 0;
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

lg_status lg_launch_try_safe(lg_launch *launch)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_launch_protect(lg_launch *launch, const char *reason)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

uint32_t lg_launch_streak(const lg_launch *launch)
{
    return 0;
}

lg_status lg_launch_get_info(const lg_launch *launch, lg_launch_info *ret_info)
{
    return launch ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger(lg_reader *reader, lg_ledger_info *ret_info)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger_last_run(lg_reader *reader, const char *state_directory)
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

lg_status lg_log_write(lg_session *session, lg_level level, const char *text, size_t size)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_log(lg_session *session, lg_level level, const char *format, ...)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_log_fields(lg_session *session, lg_level level, const char *category, const char *text, size_t size, const lg_field *fields, size_t count)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_log_slices(lg_session *session, lg_level level, lg_slice category, lg_slice text, const lg_slice *keys_and_values, size_t count)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_logv(lg_session *session, lg_level level, const char *format, va_list arguments)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_launch_query(const char *state_directory, const char *context, const lg_launch_options *options, lg_launch_info *ret_info)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_launch_reset(const char *state_directory, const char *context)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_witness_finished(const char *state_directory, int32_t pid, const char *context)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_reports_untold(lg_session *session, lg_report_visitor visit, void *user)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_report_told(lg_session *session, uint64_t ordinal)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_reader_open(const char *path, lg_reader **ret_reader)
{
    return LG_ERR_UNSUPPORTED;
}

void lg_reader_close(lg_reader *reader)
{
}

lg_file_kind lg_reader_kind(const lg_reader *reader)
{
    return (lg_file_kind)0;
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

lg_status lg_reader_modules_omitted(lg_reader *reader, uint32_t *ret_count)
{
    return LG_ERR_ARGUMENT;
}

int lg_code_is_common(const char *module, const char *function, const char *file)
{
    return 0;
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

lg_status lg_reader_fingerprint_of(lg_reader *reader, const lg_verdict *end, char ret_hex[33])
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_place(lg_reader *reader, char ret_place[LG_PLACE_BYTES])
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_verify(lg_reader *reader, lg_verify_callback callback, void *user)
{
    return LG_ERR_ARGUMENT;
}

void lg_bug_key_digest(const char *lines, size_t size, char ret_hex[33])
{
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

lg_status lg_reader_async_chain(lg_reader *reader, uint32_t index, lg_async_chain *ret_chain)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_async_caller(lg_reader *reader, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_message(lg_reader *reader, uint32_t index, lg_message *ret_message)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_last_words(lg_reader *reader, lg_message *ret_message)
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

lg_status lg_reader_thread_async_chain(lg_reader *reader, uint32_t thread, uint32_t index, lg_async_chain *ret_chain)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_thread_async_caller(lg_reader *reader, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *ret_pc)
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

lg_status lg_launch_repair(lg_launch *launch)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_launch_refuse(lg_launch *launch)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_launch_skip(lg_launch *launch)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_launch_repaired(lg_launch *launch)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_launch_answer(lg_launch *launch, uint32_t hold, lg_answer answer)
{
    return launch ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_fleet_row_report(const lg_fleet_row *row, lg_report_sink sink, void *user)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_fleet_example_report(const lg_fleet_example *example, lg_report_sink sink, void *user)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_reader_report(lg_reader *reader, const lg_report_options *options, lg_report_sink sink, void *user)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_minidump(lg_reader *reader, const lg_minidump_options *options, lg_report_sink sink, void *user)
{
    return LG_ERR_ARGUMENT;
}

const char *lg_path_without_home(const char *path, char *buffer, size_t room)
{
    return "";
}

lg_status lg_reader_secrets(lg_reader *reader, const lg_log_info *log, lg_secrets **ret_secrets)
{
    return LG_ERR_ARGUMENT;
}

int lg_secrets_hide_key(const lg_secrets *secrets, const char *key)
{
    return 0;
}

size_t lg_secrets_hide(const lg_secrets *secrets, char *text, size_t size)
{
    return 0;
}

void lg_secrets_free(lg_secrets *secrets)
{
}

lg_status lg_will_terminate(lg_session *session)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_will_restart(lg_session *session)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_crash_note(lg_session *session, const char *type)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_witness_stderr(const char *state_directory, int32_t pid, const char *bytes, size_t size, uint64_t total)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_state_directory(const char *app_id, char *buffer, size_t size)
{
    return LG_ERR_UNSUPPORTED;
}

lg_protection lg_session_protection(const lg_session *session)
{
    return (lg_protection)0;
}

const char *lg_session_run_path(const lg_session *session)
{
    return "";
}

const char *lg_session_state_directory(const lg_session *session)
{
    return "";
}

lg_status lg_modules_refresh(lg_session *session)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_simulate_start(lg_session **ret_session)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_simulate(lg_session *session, lg_end end)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

lg_status lg_simulate_pass(lg_session *session, int64_t milliseconds)
{
    return session ? LG_ERR_STATE : LG_ERR_ARGUMENT;
}

void lg_simulate_close(lg_session *session)
{
}

lg_status lg_reader_heartbeat(lg_reader *reader, uint32_t index, lg_heartbeat_info *ret_heartbeat)
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

lg_status lg_reader_snapshot_async_chain(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_async_chain *ret_chain)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_reader_snapshot_async_caller(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    return LG_ERR_ARGUMENT;
}

lg_status lg_completion_keep(lg_completion *done, const char *path)
{
    return LG_ERR_UNPROTECTED;
}

lg_status lg_completion_undo(lg_completion *done)
{
    return LG_ERR_UNPROTECTED;
}

lg_status lg_undo(const char *state_directory, const char *context)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_undo_list(const char *state_directory, const char *context, lg_kept_visitor visit, void *user)
{
    return LG_ERR_UNSUPPORTED;
}

lg_status lg_heartbeat(lg_session *session)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_heartbeat_pause(lg_session *session)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_deadline_begin(lg_session *session, const char *name, uint32_t milliseconds, uint64_t *ret_deadline)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_deadline_of_task(lg_session *session, uint64_t deadline, const void *task)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}

lg_status lg_deadline_end(lg_session *session, uint64_t deadline)
{
    return session ? LG_ERR_UNPROTECTED : LG_ERR_ARGUMENT;
}
#endif
