/* The crashes of a run. */
#include "report/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/items.h"
#include "report/values.h"

#define OF lg_crash_info

static const char *const stages[] = { NULL, "header", "context", "frames", "dwarf", "messages", "threads", "process", "done", "async" };
const struct lg__names lg__names_stage = { "crash-stage", LG__SENTENCE("A part of the record, in the order in which they are committed; async comes after dwarf."), stages, sizeof stages / sizeof stages[0], "" };

static void code_name(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    const char *name = lg__values_code_name(crash->signal, crash->code);
    if (name)
        lg__json_string(&report->json, name);
}

static void kind(struct lg__report *report, const void *of)
{
    lg__values_kind(report, ((const lg_crash_info *)of)->kind);
}

static void what(struct lg__report *report, const void *of)
{
    const char *words = lg__values_what(((const lg_crash_info *)of)->kind);
    if (words[0])
        lg__json_string(&report->json, words);
}

static void address(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    if (crash->has_address)
        lg__json_address(&report->json, crash->address);
}

static void sender(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    if (crash->sender_pid)
        lg__json_signed(&report->json, crash->sender_pid);
}

static void sender_user(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    if (crash->sender_pid)
        lg__json_unsigned(&report->json, crash->sender_uid);
}

static void syscall_number(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    if (crash->syscall_number >= 0 && crash->kind == LG_CRASH_SYSCALL)
        lg__json_signed(&report->json, crash->syscall_number);
}

static void committed(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    struct lg__json_list list = lg__json_list(&report->json);
    lg__json_list_begin(&report->json, &list);
    for (unsigned stage = 0; stage < lg__names_stage.count; stage++)
        if (crash->stages >> stage & 1 && stages[stage]) {
            lg__json_item(&report->json, &list);
            lg__json_string(&report->json, stages[stage]);
        }
    lg__json_list_end(&report->json, &list);
}

#undef OF

LG__READ(read_register, lg_reader_register, lg_register)

static void registers(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_register, "registers", false, read_register };
    lg_register cell;
    lg__items_write(report, &items, of, 256, &cell);
}

/* ---- notes ---- */

#define OF lg_note

static const char *const note_kinds[] = { [LG_NOTE_RECRASH] = "recrash", [LG_NOTE_ALSO_CRASHED] = "also-crashed" };
const struct lg__names lg__names_note_kind = { "crash-note-kind", LG__SENTENCE("What happened while the record was written."), note_kinds,
                                               LG_NOTE_ALSO_CRASHED + 1, "also-crashed" };

static void note_stage(struct lg__report *report, const void *of)
{
    const unsigned stage = (unsigned)((const lg_note *)of)->stage;
    if (stage < lg__names_stage.count && stages[stage])
        lg__json_string(&report->json, stages[stage]);
}

static const struct lg__field note_fields[] = {
    NAMED("kind", kind, &lg__names_note_kind, "What happened."),
    FIELD(SIGNAL, "signal", signal, "", "The signal."),
    FIELD(SIGNED, "threadID", tid, "", "The thread."),
    MAY_BE("stage", note_stage, "crash-stage", "", "Where the handler was."),
    FIELD(ADDRESS, "programCounter", pc, "", "Where the code was that crashed."),
    LAST,
};
const struct lg__shape lg__shape_note = { "crash-note", LG__SENTENCE("A crash of the handler, or of another thread, while the record was written."), note_fields };

#undef OF

LG__READ(read_note, lg_reader_note, lg_note)

static void notes(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_note, "notes", false, read_note };
    lg_note note;
    lg__items_write(report, &items, of, UINT32_MAX, &note);
}

/* ---- stacks ---- */

static lg_status frame_by_pointers(struct lg__report *report, const void *of, uint32_t index, uint64_t *ret_pc)
{
    (void)of;
    return lg_reader_frame(report->reader, LG_STAGE_FRAMES, index, ret_pc);
}

static lg_status frame_by_tables(struct lg__report *report, const void *of, uint32_t index, uint64_t *ret_pc)
{
    (void)of;
    return lg_reader_frame(report->reader, LG_STAGE_DWARF, index, ret_pc);
}

static void frame_pointer_stack(struct lg__report *report, const void *of)
{
    struct lg__walk walk = { .part = "frame-pointers stack", .pc = frame_by_pointers, .is_top_exact = !lg__report_is_past_breakpoint(report->reader, of) };
    if (lg__report_has(report, lg_reader_stack(report->reader, LG_STAGE_FRAMES, &walk.info), walk.part))
        lg__report_stack(report, &walk);
}

static void dwarf_stack(struct lg__report *report, const void *of)
{
    struct lg__walk walk = { .part = "dwarf stack", .pc = frame_by_tables, .is_top_exact = !lg__report_is_past_breakpoint(report->reader, of) };
    if (lg__report_has(report, lg_reader_stack(report->reader, LG_STAGE_DWARF, &walk.info), walk.part))
        lg__report_stack(report, &walk);
}

static void disagreement(struct lg__report *report, const void *of)
{
    lg_stack_choice choice;
    (void)of;
    if (lg_reader_stack_choice(report->reader, &choice) == LG_OK && choice.disagree && choice.reason[0])
        lg__json_string(&report->json, choice.reason);
}

/* ---- asynchronous callers ---- */

static lg_status get_chain(struct lg__report *report, const void *of, uint32_t index, lg_async_chain *ret_chain)
{
    (void)of;
    return lg_reader_async_chain(report->reader, index, ret_chain);
}

static lg_status get_caller(struct lg__report *report, const void *of, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    (void)of;
    return lg_reader_async_caller(report->reader, chain, index, ret_pc);
}

static void async_chains(struct lg__report *report, const void *of)
{
    const struct lg__chains chains = { "asynchronous callers", !lg__report_is_past_breakpoint(report->reader, of), get_chain, get_caller, of };
    lg__report_chains(report, &chains);
}

/* ---- messages ---- */

#define OF lg_message

static const char *const sources[] = {
    [LG_MESSAGE_LIBC] = "libc", [LG_MESSAGE_SWIFT] = "swift", [LG_MESSAGE_CPP_TYPE] = "cpp-type", [LG_MESSAGE_CPP_WHAT] = "cpp-what",
    [LG_MESSAGE_GUARD] = "guard", [LG_MESSAGE_STDERR] = "stderr", [LG_MESSAGE_GLIB] = "glib",
};
const struct lg__names lg__names_source = { "message-source", LG__SENTENCE("Who said it."), sources, LG_MESSAGE_GLIB + 1, NULL };

static void message_text(struct lg__report *report, const void *of)
{
    const lg_message *message = of;
    (message->source == LG_MESSAGE_STDERR ? lg__values_late_text : lg__values_text)(report, message->text, message->size);
}

static const struct lg__field message_fields[] = {
    NAMED("source", source, &lg__names_source, "Who said it; a source that this version does not know is its number."),
    VALUE("text", message_text, "string", "", "The text as it was said; bytes that are no UTF-8 became U+FFFD."),
    FIELD(BOOL, "isCut", cut, "", "Whether there was more than the record had room for."),
    ADDED("demangled", "string", "The C++ type as a person writes it, where the text is its mangled name."),
    ADDED("earlierAccess", "frame", "Where the earlier one of two overlapping accesses of Swift began."),
    LAST,
};
const struct lg__shape lg__shape_message = { "message", LG__SENTENCE("A text from before the end."), message_fields };

#undef OF

LG__READ(read_message, lg_reader_message, lg_message)

static void messages(struct lg__report *report, const void *of)
{
    static const struct lg__items items = { &lg__shape_message, "messages", false, read_message };
    lg_message *message = malloc(sizeof *message);
    if (message)
        lg__items_write(report, &items, of, 64, message);
    free(message);
}

void lg__report_last_words(struct lg__report *report, const void *of)
{
    lg_message *message = malloc(sizeof *message);
    (void)of;
    /* what cannot be read of it is a problem of standard error itself */
    if (message && lg_reader_last_words(report->reader, message) == LG_OK)
        lg__table_object(report, &lg__shape_message, message);
    free(message);
}

/* ---- resources ---- */

#define OF lg_resource

static void resource_value(struct lg__report *report, const void *of)
{
    const lg_resource *resource = of;
    if (resource->value != UINT64_MAX)
        lg__values_number(report, resource->value);
}

static const struct lg__field resource_fields[] = {
    MAY_BE("value", resource_value, "number", "", "The figure; left out: a limit that is unlimited."),
    FIELD(TEXT, "unit", unit, "", "For example bytes, ns or 0.01 %; empty for plain counts."),
    LAST,
};
const struct lg__shape lg__shape_resource = { "resource", LG__SENTENCE("A figure of the process or of the system at the crash."), resource_fields };

#undef OF

static void resources(struct lg__report *report, const void *of)
{
    lg_resource resource;
    bool begun = false;
    size_t size = 0;
    uint32_t cut;
    (void)of;
    if (!lg__report_has(report, lg_reader_map(report->reader, NULL, 0, &size, &cut), "process"))
        return;
    for (uint32_t i = 0; i < 256 && lg_reader_resource(report->reader, i, &resource) == LG_OK; i++) {
        if (!resource.known)
            continue;
        if (!begun)
            lg__json_open(&report->json);
        begun = true;
        report->json.key = resource.name;
        lg__table_object(report, &lg__shape_resource, &resource);
    }
    if (begun)
        lg__json_close(&report->json);
}

/* ---- the crash ---- */

/* The next parts are there, or a note says that they failed; in a complete record a missing part
 * was left out on purpose. */
static void surroundings(struct lg__report *report, const lg_crash_info *crash, void (*part)(struct lg__report *, const void *))
{
    report->is_complete = crash->stages >> LG_STAGE_DONE & 1;
    part(report, crash);
    report->is_complete = false;
}

#define SURROUNDING(part) \
    static void surrounding_##part(struct lg__report *report, const void *of) { surroundings(report, of, part); }
SURROUNDING(messages)
SURROUNDING(resources)
SURROUNDING(lg__report_memory_map)
SURROUNDING(lg__report_address_mapping)
SURROUNDING(lg__report_address_place)
SURROUNDING(lg__report_stack_stretches)
SURROUNDING(lg__report_possible_frames)
SURROUNDING(lg__report_threads)
SURROUNDING(lg__report_thread_counts)
SURROUNDING(lg__report_cpu_time)

#define OF lg_crash_info

static const struct lg__field crash_fields[] = {
    FIELD(SIGNAL, "signal", signal, "", "The signal."),
    FIELD(SIGNED, "code", code, "", "The si_code."),
    MAY_BE("codeName", code_name, "string", "", "Its name, where it has one."),
    VALUE("kind", kind, "crash-kind", "", "Kind of the crash."),
    MAY_BE("what", what, "string", "", "What happened, as a noun: the kind in words; left out: the signal says it."),
    ADDED("reason", "crash-reason", "A finer kind."),
    MAY_BE("messages", surrounding_messages, "[message]", "", "The messages of libc, of the Swift runtime or of a C++ exception."),
    ADDED("message", "string", "The reason for a trap in the words of the Swift compiler, by the symbols, where there is no message."),
    MAY_BE("address", address, "address", "", "The faulting address; left out: there is none."),
    MAY_BE_THAT(LEAVES_NEVER, "addressMapping", surrounding_lg__report_address_mapping, "mapping", "", "The mapping that holds the faulting address."),
    MAY_BE_THAT(LEAVES_NEVER, "addressPlace", surrounding_lg__report_address_place, "string", "", "The place of the faulting address, in words."),
    FIELD(ADDRESS, "programCounter", pc, "", "Value in the crashed thread."),
    FIELD(ADDRESS, "stackPointer", sp, "", "Value in the crashed thread."),
    FIELD(ADDRESS, "framePointer", fp, "", "Value in the crashed thread."),
    FIELD(NUMBER_IF, "trap", trap, "", "Trap number of the processor, on x86-64."),
    FIELD(NUMBER_IF, "error", error, "", "Page fault error code of the processor, on x86-64."),
    FIELD(SIGNED, "threadID", tid, "", "The crashed thread."),
    FIELD(TEXT_IF, "threadName", thread_name, "", "Its name."),
    FIELD(ADDRESS_IF, "stackLow", stack_low, "", "Lowest address of the thread's stack."),
    FIELD(ADDRESS_IF, "stackHigh", stack_high, "", "The address after its highest one."),
    MAY_BE("senderProcessID", sender, "integer", "", "The sender of the signal, if it was sent."),
    MAY_BE_THAT(LEAVES_ON_WISH, "senderUserID", sender_user, "number", "", "The sender's user."),
    MAY_BE("syscall", syscall_number, "integer", "", "The system call that seccomp refused."),
    FIELD(TIME_IF, "time", wall_ns, "", "When."),
    FIELD(NUMBER, "monotonicNanoseconds", monotonic_ns, "ns", "The same moment."),
    FIELD(NUMBER, "sequence", sequence, "", "1 for the first crash of the run."),
    FIELD(BOOL, "isHandled", handled, "", "Whether the program survived the crash in an earlier handler."),
    FIELD(TRUE_IF, "isSiginfoLost", siginfo_lost, "",
          "True: the program took SA_SIGINFO from the handler, so that code, address and sender are not known."),
    FIELD(NUMBER_IF, "cutStacks", stacks_cut, "", "Stretches of stack memory that are shorter than they should be, for lack of room."),
    VALUE("stages", committed, "[crash-stage]", "", "The committed stages of the record."),
    MAY_BE("registers", registers, "[crash-register]", "", "Registers of the crashed thread."),
    MAY_BE("framePointerStack", frame_pointer_stack, "stack", "", "The walk by frame pointers."),
    MAY_BE("stackDisagreement", disagreement, "string", "",
           "Where the two walks have different callers: why one of them is shown; left out: they agree."),
    MAY_BE("dwarfStack", dwarf_stack, "stack", "", "The walk by unwind tables."),
    ADDED("storedStack", "stack", "The handler's walk by unwind tables, where dwarfStack is one that the tool made again."),
    MAY_BE("asyncChains", async_chains, "[async-chain]", "", "Chains of what may be asynchronous callers."),
    FIELD(NUMBER_IF, "asyncChainsOmitted", async_omitted, "", "Chains that found no room in the record."),
    MAY_BE_THAT(LEAVES_NEVER, "possibleFrames", surrounding_lg__report_possible_frames, "[frame]", "",
           "Words of the stack memory that point into code, where no walk came to its end, or frames were assumed: each may be the return "
           "address of a caller, or of a call that is long over."),
    MAY_BE("threads", surrounding_lg__report_threads, "[thread-state]", "", "The other threads, as far as they are in the record."),
    MAY_BE("threadCounts", surrounding_lg__report_thread_counts, "thread-counts", "", "Their number."),
    MAY_BE("cpuNanoseconds", surrounding_lg__report_cpu_time, "number", "ns", "CPU time of the crashed thread since it began."),
    MAY_BE_THAT(LEAVES_IN_DUMP, "stackMemory", lg__report_stack_memory, "crash-memory", "", "Bytes from the stack pointer up."),
    MAY_BE_THAT(LEAVES_IN_DUMP, "codeMemory", lg__report_code_memory, "crash-memory", "", "Bytes around the program counter."),
    MAY_BE_THAT(LEAVES_IN_DUMP, "memory", surrounding_lg__report_stack_stretches, "[crash-memory-chunk]", "",
           "Stretches of stack memory, that of the crashed thread first."),
    MAY_BE_THAT(LEAVES_IN_DUMP, "memoryMap", surrounding_lg__report_memory_map, "memory-map", "", "The memory map of the process."),
    MAY_BE("resources", surrounding_resources, "{resource}", "", "Figures of the process and of the system by name."),
    MAY_BE("notes", notes, "[crash-note]", "", "Other events while the record was written."),
    FIELD(TRUE_IF, "isBrief", brief, "",
          "True: the crash came while another crash was with an earlier handler of the program, and is in a brief record: registers and a "
          "walk by frame pointers, and nothing of the surroundings."),
    FIELD(NUMBER_IF, "within", within, "", "Sequence of the crash in whose earlier handler this one happened, on the same thread."),
    FIELD(TRUE_IF, "isExiting", exiting, "", "True: the process had passed through exit() before the crash."),
    FIELD(TRUE_IF, "isOfAnyThread", any_thread, "",
          "True: the signal was sent to the process, and any thread may have got it: the thread and its stack say nothing about the cause."),
    LAST,
};
const struct lg__shape lg__shape_crash = { "crash", LG__SENTENCE("The record of a crash."), crash_fields };

#undef OF

/* The selected crash; nothing where its header cannot be read. */
static bool write_crash(struct lg__report *report, struct lg__json_list *list)
{
    lg_crash_info crash;
    if (!lg__report_has(report, lg_reader_crash(report->reader, &crash), "crash header"))
        return false;
    if (list)
        lg__json_item(&report->json, list);
    lg__table_object(report, &lg__shape_crash, &crash);
    return true;
}

uint32_t lg__report_crash_count(struct lg__report *report, uint32_t *ret_end)
{
    uint32_t count = 0;
    lg_crash_info crash;
    *ret_end = 0;
    if (lg_reader_crash_count(report->reader, &count) != LG_OK)
        return 1; /* the record, as far as it can be read */
    for (uint32_t i = 0; i < count; i++)
        if (lg_reader_select_crash(report->reader, i) == LG_OK && lg_reader_crash(report->reader, &crash) == LG_OK && crash.is_end)
            *ret_end = i;
    return count;
}

void lg__report_crash(struct lg__report *report, const void *of)
{
    uint32_t count = 0, end;
    (void)of;
    lg__report_has(report, lg_reader_crash_count(report->reader, &count), "brief records");
    if (!lg__report_crash_count(report, &end) || !lg__report_wants(report, LG_REPORT_CRASH))
        return;
    lg_reader_select_crash(report->reader, end);
    write_crash(report, NULL);
}

void lg__report_other_crashes(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    uint32_t end, count = lg__report_crash_count(report, &end);
    (void)of;
    report->prefix = "another crash: ";
    for (uint32_t i = 0; lg__report_wants(report, LG_REPORT_OTHER_CRASHES) && i < count; i++)
        if (i != end && lg_reader_select_crash(report->reader, i) == LG_OK)
            write_crash(report, &list);
    report->prefix = "";
    lg__json_list_end(&report->json, &list);
    lg_reader_select_crash(report->reader, end);
}
