#include "report/dump_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSOR_AMD64 9u          /* PROCESSOR_ARCHITECTURE_AMD64 */
#define PROCESSOR_ARM64_OLD 0x8003u /* MD_CPU_ARCHITECTURE_ARM64_OLD of Breakpad */
#define PROCESSOR_UNKNOWN 0xFFFFu
#define SYSTEM_LINUX 0x8201u        /* MD_OS_LINUX of Breakpad */

/* ---- processors ---- */

enum lg__dump_processor lg__dump_streams_processor(const char *hardware)
{
    return strcmp(hardware, "x86_64") == 0 ? LG__DUMP_X86_64 : strcmp(hardware, "aarch64") == 0 ? LG__DUMP_ARM64 : LG__DUMP_UNKNOWN;
}

static bool is_named(const lg_register *cell, const char *name)
{
    return strncmp(cell->name, name, sizeof cell->name) == 0;
}

static bool has(const struct lg__dump_registers *registers, const char *name, uint64_t *ret_value)
{
    *ret_value = 0;
    for (uint32_t i = 0; i < registers->count; i++)
        if (is_named(&registers->list[i], name)) {
            *ret_value = registers->list[i].value;
            return true;
        }
    return false;
}

static uint64_t value_of(const struct lg__dump_registers *registers, const char *name)
{
    uint64_t value;
    has(registers, name, &value);
    return value;
}

enum lg__dump_processor lg__dump_streams_processor_of(const struct lg__dump_registers *registers)
{
    uint64_t value;
    return has(registers, "rip", &value) ? LG__DUMP_X86_64 : has(registers, "x0", &value) ? LG__DUMP_ARM64 : LG__DUMP_UNKNOWN;
}

void lg__dump_streams_guess(struct lg__dump_registers *registers, enum lg__dump_processor processor, uint64_t pc, uint64_t sp, uint64_t fp)
{
    static const char *const names[][3] = { [LG__DUMP_X86_64] = { "rip", "rsp", "rbp" }, [LG__DUMP_ARM64] = { "pc", "sp", "x29" } };
    const uint64_t values[] = { pc, sp, fp };
    registers->count = 0;
    for (size_t i = 0; processor != LG__DUMP_UNKNOWN && i < 3; i++)
        if (values[i]) {
            lg_register *cell = &registers->list[registers->count++];
            snprintf(cell->name, sizeof cell->name, "%s", names[processor][i]);
            cell->value = values[i];
        }
}

/* CONTEXT of winnt.h for x86-64, 1232 bytes. The record has no segment registers and no floating
 * point: their flags are not set, and the selectors of CONTEXT_CONTROL are 0. */
static struct lg__dump_place amd64(struct lg__dump_file *file, const struct lg__dump_registers *registers)
{
    static const char *const names[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
                                         "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip" };
    struct lg__dump_part part = { .bytes = NULL };
    uint64_t value;
    if (!has(registers, "rip", &value) && !has(registers, "rsp", &value))
        return (struct lg__dump_place){ 0, 0 };
    lg__dump_part_zeros(&part, 6 * 8); /* homes of parameters */
    /* CONTEXT_AMD64 with CONTEXT_CONTROL, and CONTEXT_INTEGER */
    lg__dump_part_u32(&part, 0x100001u | (has(registers, "rbp", &value) ? 2u : 0));
    lg__dump_part_zeros(&part, 4 + 6 * 2); /* MXCSR, segments */
    lg__dump_part_u32(&part, (uint32_t)value_of(registers, "eflags"));
    lg__dump_part_zeros(&part, 6 * 8); /* debug registers */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        lg__dump_part_u64(&part, value_of(registers, names[i]));
    /* floating point, vectors, traces of branches */
    lg__dump_part_zeros(&part, 512 + 26 * 16 + 6 * 8);
    return lg__dump_file_append(file, &part);
}

/* MDRawContextARM64_Old of Breakpad, 796 bytes: the one that Breakpad writes on Linux, and that
 * lldb reads. */
static struct lg__dump_place arm64(struct lg__dump_file *file, const struct lg__dump_registers *registers)
{
    struct lg__dump_part part = { .bytes = NULL };
    uint64_t value;
    char name[8];
    if (!has(registers, "pc", &value) && !has(registers, "sp", &value))
        return (struct lg__dump_place){ 0, 0 };
    /* MD_CONTEXT_ARM64_INTEGER_OLD: all but floating point */
    lg__dump_part_u64(&part, 0x80000002u);
    for (unsigned i = 0; i < 31; i++) {
        snprintf(name, sizeof name, "x%u", i);
        lg__dump_part_u64(&part, value_of(registers, name));
    }
    lg__dump_part_u64(&part, value_of(registers, "sp"));
    lg__dump_part_u64(&part, value_of(registers, "pc"));
    lg__dump_part_u32(&part, (uint32_t)value_of(registers, "pstate"));
    lg__dump_part_zeros(&part, 2 * 4 + 32 * 16); /* floating point */
    return lg__dump_file_append(file, &part);
}

struct lg__dump_place lg__dump_streams_context(struct lg__dump_file *file, enum lg__dump_processor processor, const struct lg__dump_registers *registers)
{
    switch (processor) {
    case LG__DUMP_X86_64: return amd64(file, registers);
    case LG__DUMP_ARM64: return arm64(file, registers);
    case LG__DUMP_UNKNOWN: break;
    }
    return (struct lg__dump_place){ 0, 0 };
}

/* ---- the system and the process ---- */

static uint32_t clamped(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* The next number of a release such as "6.1.0-13"; 0: there is none, or it is too large. */
static uint32_t next_number(const char **text)
{
    uint64_t number = 0;
    *text += strcspn(*text, "0123456789");
    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number > UINT32_MAX ? number : number * 10 + (uint64_t)(**text - '0');
    return number > UINT32_MAX ? 0 : (uint32_t)number;
}

void lg__dump_streams_system(struct lg__dump_file *file, enum lg__dump_processor processor, const char *kernel, const char *hardware)
{
    static const uint16_t numbers[] = { PROCESSOR_UNKNOWN, PROCESSOR_AMD64, PROCESSOR_ARM64_OLD };
    static const char *const words[] = { "", "x86_64", "aarch64" };
    struct lg__dump_part part = { .bytes = NULL };
    const char *release = kernel;
    char name[256];
    hardware = hardware[0] ? hardware : words[processor];
    snprintf(name, sizeof name, "Linux%s%.100s%s%.100s", kernel[0] ? " " : "", kernel, hardware[0] ? " " : "", hardware);
    const uint32_t place = lg__dump_file_text(file, name, strlen(name));
    lg__dump_part_u16(&part, numbers[processor]);
    lg__dump_part_zeros(&part, 2 * 2 + 1 + 1); /* level, revision, number of processors, product */
    for (int i = 0; i < 3; i++)
        lg__dump_part_u32(&part, next_number(&release));
    lg__dump_part_u32(&part, SYSTEM_LINUX);
    lg__dump_part_u32(&part, place);
    lg__dump_part_zeros(&part, 2 * 2 + 24); /* suites, reserved, features of the processor */
    lg__dump_file_add(file, LG__DUMP_SYSTEM_INFO, &part);
}

void lg__dump_streams_misc(struct lg__dump_file *file, int32_t pid, uint64_t started, uint64_t user, uint64_t kernel)
{
    struct lg__dump_part part = { .bytes = NULL };
    lg__dump_part_u32(&part, 24);
    /* MINIDUMP_MISC1_PROCESS_ID and MINIDUMP_MISC1_PROCESS_TIMES */
    lg__dump_part_u32(&part, started ? 3 : 1);
    lg__dump_part_u32(&part, (uint32_t)pid);
    lg__dump_part_u32(&part, clamped(started));
    lg__dump_part_u32(&part, clamped(started ? user : 0));
    lg__dump_part_u32(&part, clamped(started ? kernel : 0));
    lg__dump_file_add(file, LG__DUMP_MISC_INFO, &part);
}

/* ---- threads ---- */

/* As Breakpad fills it on Linux: the signal is the code, and si_code stands in the flags. */
void lg__dump_streams_exception(struct lg__dump_file *file, int32_t tid, int32_t signal, int32_t code, uint64_t address, struct lg__dump_place context)
{
    struct lg__dump_part part = { .bytes = NULL };
    lg__dump_part_u32(&part, (uint32_t)tid);
    lg__dump_part_u32(&part, 0);
    lg__dump_part_u32(&part, (uint32_t)signal);
    lg__dump_part_u32(&part, (uint32_t)code);
    lg__dump_part_u64(&part, 0); /* no exception after it */
    lg__dump_part_u64(&part, address);
    lg__dump_part_zeros(&part, 2 * 4 + 15 * 8); /* no parameters */
    lg__dump_file_place(&part, context);
    lg__dump_file_add(file, LG__DUMP_EXCEPTION, &part);
}

void lg__dump_streams_request(struct lg__dump_file *file, int32_t tid)
{
    struct lg__dump_part part = { .bytes = NULL };
    lg__dump_part_u32(&part, 2); /* MD_BREAKPAD_INFO_VALID_REQUESTING_THREAD_ID */
    lg__dump_part_u32(&part, 0);
    lg__dump_part_u32(&part, (uint32_t)tid);
    lg__dump_file_add(file, LG__DUMP_BREAKPAD_INFO, &part);
}

void lg__dump_streams_threads(struct lg__dump_file *file, const struct lg__dump_thread *threads, size_t count)
{
    struct lg__dump_part list = { .bytes = NULL }, names = { .bytes = NULL };
    uint32_t named = 0;
    lg__dump_part_u32(&list, (uint32_t)count);
    for (size_t i = 0; i < count; i++) { /* MINIDUMP_THREAD */
        named += threads[i].name > 0;
        lg__dump_part_u32(&list, (uint32_t)threads[i].tid);
        lg__dump_part_zeros(&list, 3 * 4 + 8); /* suspend count, priorities, environment block */
        lg__dump_part_u64(&list, threads[i].stack);
        lg__dump_file_place(&list, threads[i].memory);
        lg__dump_file_place(&list, threads[i].context);
    }
    lg__dump_part_u32(&names, named);
    for (size_t i = 0; i < count; i++)
        if (threads[i].name) {
            lg__dump_part_u32(&names, (uint32_t)threads[i].tid);
            lg__dump_part_u64(&names, threads[i].name);
        }
    lg__dump_file_add(file, LG__DUMP_THREAD_LIST, &list);
    lg__dump_file_add(file, LG__DUMP_THREAD_NAMES, &names);
}

/* ---- modules ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* MDCVInfoELF of Breakpad: the bytes "LEpB" (MD_CVINFOELF_SIGNATURE, 'BpEL'), then the build id;
 * all zero: it is not one. */
static struct lg__dump_place code_view(struct lg__dump_file *file, const char *build_id)
{
    struct lg__dump_part part = { .bytes = NULL };
    const size_t digits = strlen(build_id);
    lg__dump_part_bytes(&part, "LEpB", 4);
    for (size_t i = 0; i + 1 < digits; i += 2) {
        const int high = digit(build_id[i]), low = digit(build_id[i + 1]);
        const uint8_t byte = (uint8_t)(high << 4 | low);
        if (high < 0 || low < 0)
            break;
        lg__dump_part_bytes(&part, &byte, 1);
    }
    if (digits && part.size == 4 + digits / 2 && digits % 2 == 0)
        return lg__dump_file_append(file, &part);
    lg__dump_part_free(&part);
    return (struct lg__dump_place){ 0, 0 };
}

void lg__dump_streams_modules(struct lg__dump_file *file, const struct lg__dump_module *modules, size_t count)
{
    struct lg__dump_part list = { .bytes = NULL };
    lg__dump_part_u32(&list, (uint32_t)count);
    for (size_t i = 0; i < count; i++) { /* MINIDUMP_MODULE */
        lg__dump_part_u64(&list, modules[i].start);
        lg__dump_part_u32(&list, clamped(modules[i].end - modules[i].start));
        lg__dump_part_zeros(&list, 2 * 4); /* checksum and time, which ELF does not have */
        lg__dump_part_u32(&list, lg__dump_file_text(file, modules[i].path.bytes, modules[i].path.size));
        lg__dump_part_zeros(&list, 52); /* version */
        lg__dump_file_place(&list, code_view(file, modules[i].build_id));
        lg__dump_part_zeros(&list, 8 + 2 * 8); /* further debug record, reserved */
    }
    lg__dump_file_add(file, LG__DUMP_MODULE_LIST, &list);
}

/* ---- annotations ---- */

/* A UUID in the order of a GUID: its first three numbers are little-endian. */
static void add_guid(struct lg__dump_part *part, const char *uuid)
{
    static const int order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    uint8_t bytes[16] = { 0 }, guid[16];
    size_t digits = 0;
    for (const char *c = uuid; *c; c++) {
        const int value = digit(*c);
        if (*c == '-')
            continue;
        if (value < 0 || digits == 32) {
            digits = 0;
            break;
        }
        bytes[digits / 2] = (uint8_t)(bytes[digits / 2] << 4 | value);
        digits++;
    }
    for (int i = 0; i < 16; i++)
        guid[i] = digits == 32 ? bytes[order[i]] : 0;
    lg__dump_part_bytes(part, guid, sizeof guid);
}

void lg__dump_streams_annotations(struct lg__dump_file *file, const struct lg__dump_annotation *annotations, size_t count, const char *uuid)
{
    struct lg__dump_part list = { .bytes = NULL }, part = { .bytes = NULL };
    lg__dump_part_u32(&list, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        lg__dump_part_u32(&list, lg__dump_file_utf8(file, annotations[i].key.bytes, annotations[i].key.size));
        lg__dump_part_u32(&list, lg__dump_file_utf8(file, annotations[i].value.bytes, annotations[i].value.size));
    }
    lg__dump_part_u32(&part, 1);
    add_guid(&part, uuid);
    lg__dump_part_zeros(&part, 16); /* client */
    lg__dump_file_place(&part, lg__dump_file_append(file, &list));
    lg__dump_part_zeros(&part, 8); /* annotations of single modules */
    lg__dump_file_add(file, LG__DUMP_CRASHPAD_INFO, &part);
}
