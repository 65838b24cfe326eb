#include "store/given.h"

#include <stdio.h>
#include <string.h>

#include "launchguard/launchguard.h"
#include "store/format_record.h"

/* ---- the tables ---- */

#define PLACE(field) .name = #field, .at = offsetof(OF, field), .size = sizeof((OF){ 0 }.field), .is_signed = (__typeof__((OF){ 0 }.field))-1 < 1
/* 0 stands for `normal_`. */
#define NUMBER(field, normal_, least_, most_) { PLACE(field), .normal = normal_, .least = least_, .most = most_ }
/* 0 is a number as any other. */
#define RANGE(field, least_, most_) { PLACE(field), .least = least_, .most = most_ }
#define FLAG(field) RANGE(field, 0, 1)
/* One of the constants whose names begin alike; a set of such constants. */
#define ONE_OF(field, values_, least_, most_) { PLACE(field), .values = values_, .least = least_, .most = most_ }
#define SET_OF(field, values_, normal_, all_) { PLACE(field), .values = values_, .is_set = true, .normal = normal_, .most = all_ }
#define STRUCTURE(name_) \
    const struct lg__given lg__given_##name_ = { "lg_" #name_, sizeof(lg_##name_), sizeof name_ / sizeof name_[0], name_ }

#define OF lg_options
static const struct lg__given_field options[] = {
    NUMBER(deadline_ms, 3000, 100, 60000),
    NUMBER(ring_bytes, 262144, 4096, 16777216),
    NUMBER(keep_runs, 32, 1, UINT32_MAX),
    NUMBER(keep_bytes, 67108864, 1, UINT64_MAX),
    NUMBER(stack_bytes, 131072, 4096, 16777216),
    NUMBER(thread_limit, 64, 1, LG__THREADS_MAX),
    SET_OF(leave_out, "LG_LEAVE_OUT_*", 0, LG_LEAVE_OUT_MESSAGES | LG_LEAVE_OUT_THREADS | LG_LEAVE_OUT_STACKS | LG_LEAVE_OUT_PROCESS),
    FLAG(keep_stderr),
    FLAG(keep_repeats),
    NUMBER(handler_ms, 30000, 100, LG__GIVEN_HANDLER_MAX_MS),
    NUMBER(hang_launching_ms, 2000, 100, 3600000),
    NUMBER(hang_running_ms, 5000, 100, 3600000),
    FLAG(spare_walk),
    FLAG(keep_first),
    ONE_OF(capture, "LG_CAPTURE_*", 0, LG_CAPTURE_NONE),
    FLAG(keep_command_line),
};
STRUCTURE(options);
#undef OF

#define OF lg_launch_options
static const struct lg__given_field launch_options[] = {
    RANGE(report_after, 1, UINT32_MAX),
    RANGE(repair_after, 1, UINT32_MAX),
    RANGE(unknown_after, 0, UINT32_MAX),
    RANGE(window_ms, 0, LG__GIVEN_DAY_MS),
    ONE_OF(finish, "LG_FINISH_*", 0, LG_FINISH_BOTH),
    RANGE(report_wait_ms, 0, 5000),
    SET_OF(count, "LG_COUNT_*", 0, LG_COUNT_DEFAULT | LG_COUNT_EXIT | LG_COUNT_SIGPIPE),
    RANGE(steady_ms, 0, LG__GIVEN_GAP_MAX_MS),
    RANGE(heartbeat_ms, 0, LG__GIVEN_DAY_MS),
    ONE_OF(hold, "LG_HOLD_*", 0, LG_HOLD_NONE),
    RANGE(hold_ms, 1, LG__GIVEN_DAY_MS),
    RANGE(repair_grace_ms, 0, LG__GIVEN_DAY_MS),
    ONE_OF(overrun, "LG_OVERRUN_*", 0, LG_OVERRUN_GO_ON),
    FLAG(auto_repair),
    FLAG(leave_out_suspects),
    RANGE(safe_retry_runs, 1, LG__GIVEN_RETRY_RUNS_MAX),
    RANGE(safe_crash_limit, 0, UINT32_MAX),
    RANGE(deescalate_runs, 0, UINT32_MAX),
    RANGE(deescalate_ms, 0, LG__GIVEN_GAP_MAX_MS),
    FLAG(supervised),
    FLAG(shadow),
    ONE_OF(callbacks, "LG_CALLBACKS_*", 0, LG_CALLBACKS_EXECUTOR),
};
STRUCTURE(launch_options);
#undef OF

#define OF lg_repair
static const struct lg__given_field repair[] = {
    RANGE(impact, 0, 100),
    NUMBER(timeout_ms, 30000, 1, LG__GIVEN_DAY_MS),
    NUMBER(attempts, 2, 1, 100),
    SET_OF(flags, "LG_REPAIR_*", 0, LG_REPAIR_DESTRUCTIVE | LG_REPAIR_CONSENT | LG_REPAIR_NEEDS_RESTART),
    RANGE(reserved, 0, UINT32_MAX),
};
STRUCTURE(repair);
#undef OF

#define OF lg_task
static const struct lg__given_field task[] = {
    SET_OF(flags, "LG_TASK_*", 0, LG_TASK_ESSENTIAL | LG_TASK_SUSPECT | LG_TASK_UNSAFE | LG_TASK_REPLACE | LG_TASK_BY_KEY | LG_TASK_LATE),
};
STRUCTURE(task);
#undef OF

#define OF lg_delivery_options
#define END(identifier, value, name) | UINT32_C(1) << (value)
static const struct lg__given_field delivery_options[] = {
    ONE_OF(target, "LG_TARGET_*", LG_TARGET_HTTP, LG_TARGET_MINIDUMP),
    SET_OF(ends, "LG_DELIVERY_END() of an end", LG_DELIVERY_ENDS, (LG_DELIVERY_UNKNOWN_IN_LAUNCH LG_END_TABLE(END)) & ~LG_DELIVERY_END(LG_END_RUNNING)),
    ONE_OF(consent, "LG_CONSENT_*", 0, LG_CONSENT_WITHHELD),
    NUMBER(keep_reports, 64, 1, 4096),
    FLAG(brief),
    NUMBER(keep_bytes, 16777216, 65536, INT64_MAX),
    NUMBER(daily_bytes, 67108864, 8192, INT64_MAX),
    FLAG(keep_home),
    FLAG(compress),
    FLAG(release_health),
};
STRUCTURE(delivery_options);
#undef END
#undef OF

#define OF lg_guard_options
static const struct lg__given_field guard_options[] = {
    SET_OF(classes, "LG_GUARDS() of a class", LG_GUARDS_DEFAULT, LG_GUARDS_ALL),
    { PLACE(policy), .values = "LG_GUARD_*", .normal = LG_GUARD_FATAL, .least = LG_GUARD_SURVIVE, .most = LG_GUARD_FATAL },
    NUMBER(budget, LG_GUARD_BUDGET, 1, 1000000),
    FLAG(quiet),
};
STRUCTURE(guard_options);
#undef OF

#define OF lg_guard_lists
static const struct lg__given_field guard_lists[] = {
    RANGE(allowed_module_count, 0, UINT32_MAX),
    RANGE(denied_module_count, 0, UINT32_MAX),
    RANGE(allowed_function_count, 0, UINT32_MAX),
    RANGE(denied_function_count, 0, UINT32_MAX),
};
STRUCTURE(guard_lists);
#undef OF

#define OF lg_confinement_options
static const struct lg__given_field confinement_options[] = {
    NUMBER(wait_ms, 5000, 1, UINT32_MAX),
};
STRUCTURE(confinement_options);
#undef OF

#define OF lg_report_options
static const struct lg__given_field report_options[] = {
    SET_OF(left_out, "LG_REPORT_*", 0, 2 * LG_REPORT_SPARE_MODULES - 1),
    RANGE(stack_bytes, 0, 2),
    FLAG(for_sending),
    FLAG(keep_home),
    RANGE(breadcrumbs, 0, UINT32_MAX),
    RANGE(frames, 0, UINT32_MAX),
};
STRUCTURE(report_options);
#undef OF

#define OF lg_minidump_options
static const struct lg__given_field minidump_options[] = {
    FLAG(for_sending),
    FLAG(keep_home),
    RANGE(reserved, 0, 0),
    NUMBER(most_bytes, UINT32_MAX, 4096, UINT32_MAX),
};
STRUCTURE(minidump_options);
#undef OF

/* ---- taking one ---- */

/* The size alone, or garbage: no structure is as small, or as much larger than ours. */
#define LEAST 8u
#define MORE 512u

const struct lg__given_field *lg__given_find(const struct lg__given *structure, const char *name, size_t size)
{
    for (const struct lg__given_field *field = structure->fields; field < structure->fields + structure->count; field++)
        if (strlen(field->name) == size && memcmp(field->name, name, size) == 0)
            return field;
    return NULL;
}

uint64_t lg__given_number(const struct lg__given_field *field, const void *structure)
{
    const uint8_t *at = (const uint8_t *)structure + field->at;
    uint32_t narrow;
    uint64_t wide;
    memcpy(&narrow, at, sizeof narrow);
    if (field->size == sizeof narrow)
        return narrow;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static void write_number(const struct lg__given_field *field, uint8_t *at, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (field->size == sizeof narrow)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &value, sizeof value);
}

static bool is_within(const struct lg__given_field *field, uint64_t number)
{
    return number >= field->least && number <= field->most;
}

bool lg__given_set(const struct lg__given_field *field, void *structure, uint64_t number)
{
    if (is_within(field, number))
        write_number(field, (uint8_t *)structure + field->at, number);
    return is_within(field, number);
}

/* A number below zero is one beyond all limits here. */
static bool is_right(const struct lg__given_field *field, uint64_t value)
{
    if (field->is_set)
        return (value & ~field->most) == 0;
    return (value == 0 && field->normal) || is_within(field, value);
}

static void say(const struct lg__given_field *field, uint64_t value, char *ret_wrong)
{
    char number[24];
    snprintf(number, sizeof number, field->is_set ? "%#llx" : field->is_signed ? "%lld" : "%llu", (unsigned long long)value);
    if (field->values)
        snprintf(ret_wrong, LG__GIVEN_WRONG_BYTES, "%s is %s, which %s %s", field->name, number, field->is_set ? "has bits that are not" : "is none of",
                 field->values);
    else
        snprintf(ret_wrong, LG__GIVEN_WRONG_BYTES, "%s is %s; it must be %s%llu %s %llu", field->name, number,
                 field->normal ? "0 or between " : field->most > 1 ? "between " : "", (unsigned long long)field->least, field->most > 1 ? "and" : "or",
                 (unsigned long long)field->most);
}

bool lg__given_take(const struct lg__given *structure, void *own, const void *given, char *ret_wrong)
{
    char nowhere[LG__GIVEN_WRONG_BYTES];
    const char *whole = NULL;
    uint32_t size;
    if (!ret_wrong)
        ret_wrong = nowhere;
    memcpy(&size, given, sizeof size);
    if (size < LEAST || size > structure->size + MORE)
        whole = "its size is none: set it with its INIT macro";
    for (size_t i = structure->size; !whole && i < size; i++)
        if (((const uint8_t *)given)[i])
            whole = "a field is set that this version of the library does not know";
    if (whole) {
        snprintf(ret_wrong, LG__GIVEN_WRONG_BYTES, "%s: %s", structure->name, whole);
        return false;
    }
    memcpy(own, given, size < structure->size ? size : structure->size);
    memcpy(own, &structure->size, sizeof structure->size);
    for (const struct lg__given_field *field = structure->fields; field < structure->fields + structure->count; field++) {
        uint8_t *at = (uint8_t *)own + field->at;
        const uint64_t value = lg__given_number(field, own);
        if (!is_right(field, value)) {
            say(field, value, ret_wrong);
            return false;
        }
        if (value == 0 && field->normal)
            write_number(field, at, field->normal);
    }
    return true;
}
