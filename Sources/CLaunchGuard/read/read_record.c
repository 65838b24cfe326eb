/* A crash, put together from the stages of its record. */
#include <signal.h>
#include <stdio.h>

#include "read/reader.h"
#include "store/crc32c.h"

static uint32_t whole_stages(const lg_reader *reader)
{
    uint32_t stages = 0;
    for (unsigned stage = 1; stage < LG__STAGES; stage++)
        if (lg__reader_stage(reader, stage, NULL, 0, NULL) == LG_OK)
            stages |= 1u << stage;
    return stages;
}

lg_status lg_reader_crash(lg_reader *reader, lg_crash_info *ret_crash)
{
    if (!reader || !ret_crash)
        return LG_ERR_ARGUMENT;
    struct lg__crash_header header;
    struct lg__crash_context context;
    lg_status status = lg__reader_stage(reader, LG_STAGE_HEADER, &header, sizeof header, NULL);
    if (status != LG_OK)
        return status == LG_ERR_INCOMPLETE ? LG_ERR_NOT_FOUND : status;
    lg_crash_info crash;
    memset(&crash, 0, sizeof crash);
    crash.signal = header.signal;
    crash.code = header.code;
    crash.kind = (lg_crash_kind)header.kind;
    struct lg__crash_messages messages;
    if (lg__reader_messages(reader, &messages) == LG_OK && messages.kind)
        crash.kind = (lg_crash_kind)messages.kind;
    if (crash.kind == LG_CRASH_BUS_FILE && (header.flags & LG__CRASH_HAS_ADDRESS) && lg__reader_is_memory(reader, header.address))
        crash.kind = LG_CRASH_BUS_MEMORY;
    crash.exiting = (header.flags & LG__CRASH_EXITING) != 0;
    crash.any_thread = header.code != SI_TKILL && (crash.kind == LG_CRASH_SIGNAL_SELF || crash.kind == LG_CRASH_SIGNAL_EXTERNAL ||
                                                   crash.kind == LG_CRASH_SIGNAL_QUEUED || crash.kind == LG_CRASH_QUIT);
    crash.siginfo_lost = (header.flags & LG__CRASH_SIGINFO_LOST) != 0;
    crash.has_address = (header.flags & LG__CRASH_HAS_ADDRESS) != 0;
    crash.address = crash.has_address ? header.address : 0;
    crash.pc = header.pc;
    crash.sp = header.sp;
    crash.fp = header.fp;
    crash.trap = header.trap;
    crash.error = header.error;
    crash.tid = header.tid;
    if (header.flags & LG__CRASH_HAS_SENDER) {
        crash.sender_pid = header.sender_pid;
        crash.sender_uid = header.sender_uid;
    }
    crash.syscall_number = header.flags & LG__CRASH_HAS_SYSCALL ? header.syscall_number : -1;
    crash.monotonic_ns = header.monotonic_ns;
    crash.boottime_ns = header.boottime_ns;
    crash.wall_ns = header.wall_ns;
    crash.stack_low = header.stack_low;
    crash.stack_high = header.stack_high;
    crash.sequence = header.sequence;
    crash.stages = whole_stages(reader);
    struct lg__crash_done done;
    struct lg__reader_process process;
    if (lg__reader_stage(reader, LG_STAGE_DONE, &done, sizeof done, NULL) == LG_OK)
        crash.skipped = done.skipped;
    if (lg__reader_process(reader, &process, NULL, 0) == LG_OK)
        crash.stacks_cut = process.stacks_cut;
    struct lg__crash_async async;
    struct lg__reader_chains chains;
    if (lg__reader_async(reader, &async, &chains) == LG_OK)
        crash.async_omitted = async.omitted;
    uint32_t outcome;
    lg__reader_outcome(reader, reader->place, &outcome, &crash.within);
    crash.handled = outcome == LG__OUTCOME_HANDLED;
    crash.brief = reader->place != LG__PLACE_RECORD;
    struct lg__reader_crashes crashes;
    lg__reader_crashes(reader, &crashes);
    crash.is_end = crashes.count && crashes.crashes[crashes.end].place == reader->place;
    if (lg__reader_stage(reader, LG_STAGE_CONTEXT, &context, sizeof context, NULL) == LG_OK)
        lg__reader_text(crash.thread_name, sizeof crash.thread_name, context.thread_name, sizeof context.thread_name);
    lg_note note;
    for (uint32_t i = 0; lg_reader_note(reader, i, &note) == LG_OK; i++) {
        if (note.kind == LG_NOTE_RECRASH)
            crash.recrash_count++;
        else
            crash.also_crashed_count++;
    }
    *ret_crash = crash;
    return LG_OK;
}

void lg__reader_register_name(uint32_t arch, uint32_t index, char to[8])
{
    static const char *const x86_64[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                          "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "eflags" };
    static const char *const aarch64_last[] = { "sp", "pc", "pstate" };
    if (arch == LG__ARCH_X86_64 && index < sizeof x86_64 / sizeof x86_64[0])
        snprintf(to, 8, "%s", x86_64[index]);
    else if (arch == LG__ARCH_AARCH64 && index >= 31 && index < 34)
        snprintf(to, 8, "%s", aarch64_last[index - 31]);
    else
        snprintf(to, 8, arch == LG__ARCH_AARCH64 ? "x%u" : "r%u", index & 255);
}

lg_status lg_reader_register(lg_reader *reader, uint32_t index, lg_register *ret_register)
{
    struct lg__crash_context context;
    if (!reader || !ret_register)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_stage(reader, LG_STAGE_CONTEXT, &context, sizeof context, NULL);
    if (status != LG_OK)
        return status;
    if (index >= context.register_count || index >= LG__REGISTERS_MAX)
        return LG_ERR_NOT_FOUND;
    lg__reader_register_name(context.arch, index, ret_register->name);
    ret_register->value = context.registers[index];
    return LG_OK;
}

lg_status lg_reader_bytes(lg_reader *reader, uint32_t which, uint8_t *buffer, uint64_t *ret_start, size_t *ret_size)
{
    struct lg__crash_context context;
    if (!reader || !buffer || !ret_start || !ret_size || which > 1)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_stage(reader, LG_STAGE_CONTEXT, &context, sizeof context, NULL);
    if (status != LG_OK)
        return status;
    uint32_t size = which == 0 ? context.stack_size : context.code_size;
    size_t most = which == 0 ? sizeof context.stack : sizeof context.code;
    if (size > most)
        return LG_ERR_DAMAGED;
    memcpy(buffer, which == 0 ? context.stack : context.code, size);
    *ret_start = which == 0 ? context.stack_start : context.code_start;
    *ret_size = size;
    return LG_OK;
}

lg_status lg_reader_note(lg_reader *reader, uint32_t index, lg_note *ret_note)
{
    struct lg__record record;
    if (!reader || !ret_note)
        return LG_ERR_ARGUMENT;
    lg_status status = reader->place == LG__PLACE_RECORD ? lg__reader_record(reader, &record) : LG_ERR_NOT_FOUND;
    if (status != LG_OK)
        return status;
    uint32_t found = 0;
    for (uint32_t i = 0; i < LG__NOTES_MAX; i++) {
        struct lg__note *note = &record.notes[i];
        if (atomic_load(&note->commit) != 1)
            continue;
        bool whole = note->crc == lg__crc32c(0, note, offsetof(struct lg__note, crc)) &&
                     (note->kind == LG_NOTE_RECRASH || note->kind == LG_NOTE_ALSO_CRASHED);
        if (!whole || found++ != index)
            continue;
        *ret_note = (lg_note){ (lg_note_kind)note->kind, note->signal, note->tid, (lg_stage)note->stage, note->pc };
        return LG_OK;
    }
    return LG_ERR_NOT_FOUND;
}
