/* The process of a run, and its system, in a minidump. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/dump_facts.h"
#include "report/parts.h"
#include "report/values.h"

void lg__dump_process_system(struct lg__dump *dump)
{
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    if (lg_reader_system(dump->reader, &system) != LG_OK)
        system.kernel[0] = system.hardware[0] = 0;
    size_t kernel_bytes = strlen(system.kernel), hardware_bytes = strlen(system.hardware);
    char *kernel = lg__dump_facts_text(dump, system.kernel, &kernel_bytes), *hardware = lg__dump_facts_text(dump, system.hardware, &hardware_bytes);
    if (kernel && hardware)
        lg__dump_streams_system(&dump->file, dump->processor, kernel, hardware);
    free(kernel);
    free(hardware);
}

static uint64_t seconds_of(uint64_t ns)
{
    return ns == UINT64_MAX ? 0 : ns / 1000000000;
}

void lg__dump_process_misc(struct lg__dump *dump)
{
    const lg_run_info *run = &dump->report->run;
    if (dump->report->has_run)
        lg__dump_streams_misc(&dump->file, run->pid, run->wall_ns / 1000000000, seconds_of(dump->figures[LG_RESOURCE_CPU_USER]),
                              seconds_of(dump->figures[LG_RESOURCE_CPU_SYSTEM]));
}

/* ---- texts of proc(5) ---- */

struct lines {
    struct lg__dump *dump;
    struct lg__dump_part part;
};

/* The record has no devices and no inodes. */
static void add_mapping(uint64_t start, uint64_t end, const char *permissions, uint64_t offset, const char *path, void *user)
{
    struct lines *lines = user;
    char text[128];
    size_t size = 0;
    char *plain = path[0] ? lg__values_plain_path(lines->dump->report, path, &size) : NULL;
    snprintf(text, sizeof text, "%" PRIx64 "-%" PRIx64 " %.4s %" PRIx64 " 00:00 0%s", start, end, permissions, offset, path[0] ? " " : "");
    lg__dump_part_bytes(&lines->part, text, strlen(text));
    lg__dump_part_utf8(&lines->part, plain ? plain : "", size);
    lg__dump_part_bytes(&lines->part, "\n", 1);
    lines->part.failed |= path[0] && !plain;
    free(plain);
}

void lg__dump_process_map(struct lg__dump *dump)
{
    struct lines lines = { .dump = dump };
    lg__dump_facts_select(dump, true);
    if (dump->has_recorded && dump->limits->has_map && lg__report_map_each(dump->report, add_mapping, &lines))
        lg__dump_file_add(&dump->file, LG__DUMP_LINUX_MAPS, &lines.part);
    lg__dump_part_free(&lines.part);
}

/* As many bytes of a process's name as the kernel keeps, in whole characters. */
static size_t name_bytes(const char *name, size_t size)
{
    size_t most = size < 15 ? size : 15;
    while (most && most < size && ((unsigned char)name[most] & 0xC0) == 0x80)
        most--;
    return most;
}

static void add_line(struct lg__dump_part *part, const char *name, uint64_t value, const char *unit)
{
    char text[96];
    if (value == UINT64_MAX)
        return;
    snprintf(text, sizeof text, "%s:\t%" PRIu64 "%s\n", name, value, unit);
    lg__dump_part_bytes(part, text, strlen(text));
}

static uint64_t kilobytes(uint64_t figure)
{
    return figure == UINT64_MAX ? figure : figure / 1024;
}

/* The record's facts from /proc/PID/status. */
void lg__dump_process_status(struct lg__dump *dump)
{
    const lg_run_info *run = &dump->report->run;
    const char *path = run->executable[0] ? run->executable : lg__dump_modules_program(dump->report);
    struct lg__dump_part part = { .bytes = NULL };
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    char text[64];
    size_t size;
    if (!dump->report->has_run)
        return;
    char *plain = lg__values_plain_path(dump->report, path, &size);
    dump->file.part.failed |= !plain;
    if (plain && plain[0]) {
        const char *name = lg__dump_modules_name(plain);
        lg__dump_part_bytes(&part, "Name:\t", 6);
        size = name_bytes(name, strlen(name));
        for (size_t i = 0, run_bytes; i < size; i += run_bytes) {
            const char *newline = memchr(name + i, '\n', size - i);
            run_bytes = newline ? (size_t)(newline - name) - i : size - i;
            lg__dump_part_utf8(&part, name + i, run_bytes);
            if (newline)
                lg__dump_part_bytes(&part, "\\n", 2);
            run_bytes += newline != NULL;
        }
        lg__dump_part_bytes(&part, "\n", 1);
    }
    free(plain);
    snprintf(text, sizeof text, "Pid:\t%d\n", (int)run->pid);
    lg__dump_part_bytes(&part, text, strlen(text));
    if (lg_reader_system(dump->reader, &system) == LG_OK && system.parent_pid) {
        snprintf(text, sizeof text, "PPid:\t%d\n", (int)system.parent_pid);
        lg__dump_part_bytes(&part, text, strlen(text));
    }
    add_line(&part, "TracerPid", dump->figures[LG_RESOURCE_TRACER], "");
    add_line(&part, "VmSize", kilobytes(dump->figures[LG_RESOURCE_VIRTUAL]), " kB");
    add_line(&part, "VmHWM", kilobytes(dump->figures[LG_RESOURCE_RESIDENT_PEAK]), " kB");
    add_line(&part, "VmRSS", kilobytes(dump->figures[LG_RESOURCE_RESIDENT]), " kB");
    add_line(&part, "Threads", dump->figures[LG_RESOURCE_THREADS], "");
    lg__dump_file_add(&dump->file, LG__DUMP_LINUX_STATUS, &part);
}
