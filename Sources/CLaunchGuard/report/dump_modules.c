/* The modules of a run in a minidump. */
#include <stdlib.h>
#include <string.h>

#include "report/dump_facts.h"
#include "report/values.h"

const char *lg__dump_modules_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *lg__dump_modules_program(const struct lg__report *report)
{
    const lg_run_info *run = &report->run;
    const char *executable = report->has_run ? run->executable : "";
    for (uint32_t i = 0; report->has_run && run->build_id[0] && i < report->module_count; i++)
        if (strcmp(report->modules[i].build_id, run->build_id) == 0)
            return report->modules[i].path;
    for (uint32_t i = 0; executable[0] && i < report->module_count; i++)
        if (strcmp(lg__dump_modules_name(report->modules[i].path), lg__dump_modules_name(executable)) == 0)
            return report->modules[i].path;
    return executable;
}

static int by_start(const void *a, const void *b)
{
    const lg_module *const *one = a, *const *other = b;
    return (*one)->start != (*other)->start ? ((*one)->start > (*other)->start) - ((*one)->start < (*other)->start)
                                            : (*one > *other) - (*one < *other);
}

/* Those that stay of a list in order: readers refuse one in which two overlap. The program comes
 * first. */
static size_t choose_modules(const struct lg__report *report, const lg_module **list, uint32_t most)
{
    const char *program = lg__dump_modules_program(report);
    size_t count = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < report->module_count; i++)
        list[i] = &report->modules[i];
    if (report->module_count)
        qsort(list, report->module_count, sizeof *list, by_start);
    for (uint32_t i = 0; i < report->module_count; i++)
        if (list[i]->start < list[i]->end && end <= list[i]->start) {
            end = list[i]->end;
            list[count++] = list[i];
        }
    for (size_t i = 0; program[0] && i < count; i++)
        if (strcmp(list[i]->path, program) == 0) {
            const lg_module *own = list[i];
            memmove(list + 1, list, i * sizeof *list);
            list[0] = own;
            break;
        }
    return count < most ? count : most;
}

void lg__dump_modules_add(struct lg__dump *dump)
{
    const struct lg__report *report = dump->report;
    const lg_module **list = calloc(report->module_count + 1, sizeof *list);
    struct lg__dump_module *modules = calloc(report->module_count + 1, sizeof *modules);
    const size_t count = list && modules ? choose_modules(report, list, dump->limits->modules) : 0;
    dump->file.part.failed |= !list || !modules;
    for (size_t i = 0; i < count; i++) {
        modules[i] = (struct lg__dump_module){ list[i]->start, list[i]->end, { NULL, 0 }, list[i]->build_id };
        modules[i].path.bytes = lg__values_plain_path(dump->report, list[i]->path, &modules[i].path.size);
        dump->file.part.failed |= !modules[i].path.bytes;
    }
    if (!dump->file.part.failed)
        lg__dump_streams_modules(&dump->file, modules, count);
    for (size_t i = 0; i < count; i++)
        free((char *)modules[i].path.bytes);
    free(modules);
    free(list);
}
