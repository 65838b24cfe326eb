/* The tables of options as JSON: for each structure its fields that are numbers, and what they are
 * in a structure that its INIT macro has made. `test_options.py` reads it. */
#include <stdio.h>
#include <string.h>

#include "launchguard/launchguard.h"
#include "store/given.h"

static void write_field(const struct lg__given_field *field, const uint8_t *initial)
{
    uint64_t value = 0; /* little-endian */
    memcpy(&value, initial + field->at, field->size);
    printf("\n    {\"name\": \"%s\", \"size\": %u, \"isSet\": %s, \"values\": \"%s\", \"normal\": %llu, \"least\": %llu, \"most\": %llu, \"initial\": %llu}",
           field->name, field->size, field->is_set ? "true" : "false", field->values ? field->values : "", (unsigned long long)field->normal,
           (unsigned long long)field->least, (unsigned long long)field->most, (unsigned long long)value);
}

static void write_structure(const struct lg__given *structure, const void *initial, int is_last)
{
    printf("  {\"name\": \"%s\", \"fields\": [", structure->name);
    for (uint32_t i = 0; i < structure->count; i++) {
        if (i)
            putchar(',');
        write_field(&structure->fields[i], initial);
    }
    printf("]}%s\n", is_last ? "" : ",");
}

int main(void)
{
    const lg_options options = LG_OPTIONS_INIT;
    const lg_launch_options launch = LG_LAUNCH_OPTIONS_INIT;
    const lg_repair repair = LG_REPAIR_INIT;
    const lg_task task = LG_TASK_INIT;
    const lg_delivery_options delivery = LG_DELIVERY_OPTIONS_INIT;
    const lg_guard_options guard = LG_GUARD_OPTIONS_INIT;
    const lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    const lg_confinement_options confinement = LG_CONFINEMENT_OPTIONS_INIT;
    const lg_report_options report = LG_REPORT_OPTIONS_INIT;
    const lg_minidump_options minidump = LG_MINIDUMP_OPTIONS_INIT;
    puts("[");
    write_structure(&lg__given_options, &options, 0);
    write_structure(&lg__given_launch_options, &launch, 0);
    write_structure(&lg__given_repair, &repair, 0);
    write_structure(&lg__given_task, &task, 0);
    write_structure(&lg__given_delivery_options, &delivery, 0);
    write_structure(&lg__given_guard_options, &guard, 0);
    write_structure(&lg__given_guard_lists, &lists, 0);
    write_structure(&lg__given_confinement_options, &confinement, 0);
    write_structure(&lg__given_report_options, &report, 0);
    write_structure(&lg__given_minidump_options, &minidump, 1);
    puts("]");
    return 0;
}
