/* Names and sentences of the public enums, each from its one place. */
#include "launchguard/end.h"
#include "launchguard/guard.h"
#include "launchguard/launch.h"
#include "launchguard/record.h"
#include "launchguard/status.h"

const char *lg_version(void)
{
    return LG_VERSION_STRING;
}

const char *lg_status_name(lg_status status)
{
    switch (status) {
#define NAME(identifier, value, name, message) \
    case identifier: return name;
        LG_STATUS_TABLE(NAME)
#undef NAME
    }
    return "unknown";
}

const char *lg_status_message(lg_status status)
{
    switch (status) {
#define MESSAGE(identifier, value, name, message) \
    case identifier: return message;
        LG_STATUS_TABLE(MESSAGE)
#undef MESSAGE
    }
    return "a status that this version does not know";
}

const char *lg_end_name(lg_end end)
{
    switch (end) {
#define NAME(identifier, value, name) \
    case identifier: return name;
        LG_END_TABLE(NAME)
#undef NAME
    }
    return "invalid";
}

const char *lg_evidence_sentence(lg_evidence evidence)
{
    switch (evidence) {
#define SENTENCE(identifier, value, name, sentence) \
    case identifier: return sentence;
        LG_EVIDENCE_TABLE(SENTENCE)
#undef SENTENCE
    }
    return "evidence that this version does not know";
}

const char *lg_launch_status_name(lg_launch_status status)
{
    switch (status) {
    case LG_LAUNCH_NORMAL: return "normal";
    case LG_LAUNCH_CHECKING: return "checking";
    case LG_LAUNCH_NEEDS_REPAIR: return "needs-repair";
    case LG_LAUNCH_REPAIRING: return "repairing";
    }
    return "invalid";
}

const char *lg_launch_mode_name(lg_launch_mode mode)
{
    switch (mode) {
    case LG_LAUNCH_MODE_NORMAL: return "normal";
    case LG_LAUNCH_MODE_PROBATION: return "probation";
    case LG_LAUNCH_MODE_SAFE: return "safe";
    case LG_LAUNCH_MODE_TRIAL: return "trial";
    }
    return "invalid";
}

const char *lg_crash_kind_name(lg_crash_kind kind)
{
    switch (kind) {
#define NAME(identifier, value, name, what, sentence) \
    case identifier: return name;
        LG_CRASH_TABLE(NAME)
#undef NAME
    }
    return "invalid";
}

const char *lg_guard_class_name(lg_guard_class guard_class)
{
    switch (guard_class) {
#define CASE(identifier, value, name, message) \
    case identifier:                           \
        return name;
        LG_GUARD_CLASS_TABLE(CASE)
#undef CASE
    case LG_GUARD_CLASS_NONE: break;
    }
    return "unknown";
}

const char *lg_guard_action_name(lg_guard_action action)
{
    switch (action) {
#define NAME(identifier, value, name) \
    case identifier: return name;
        LG_GUARD_ACTION_TABLE(NAME)
#undef NAME
    }
    return "unknown";
}
