/* Names and sentences of the public enums, each from its one table. */
#include "launchguard/end.h"
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
#define SENTENCE(identifier, value, sentence) \
    case identifier: return sentence;
        LG_EVIDENCE_TABLE(SENTENCE)
#undef SENTENCE
    }
    return "evidence that this version does not know";
}
