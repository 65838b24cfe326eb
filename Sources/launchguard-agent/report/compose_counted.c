/* The brief part of a report for runs of which only the count is left. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compose.h"
#include "report/json_words.h"

char *compose_counted(const struct facts *facts, const char *state_directory, uint64_t ordinal, uint64_t count, size_t *ret_bytes)
{
    char path[4096 + 16];
    lg_reader *ledger;
    lg_ledger_info head;
    json_t *object = json_object();
    put(object, "schema", json_string("launchguard-report/1"));
    put(object, "uuid", json_string(facts->uuid));
    put(object, "runUUID", json_string(facts->run_uuid));
    put(object, "fingerprint", json_string(facts->fingerprint));
    put(object, "end", json_string(lg_end_name(facts->verdict.end)));
    put(object, "ordinal", words_number(ordinal));
    put(object, "counted", words_number(count));
    put(object, "made", words_time(facts->made_ns));
    snprintf(path, sizeof path, "%s/ledger.lg", state_directory);
    if (lg_reader_open(path, &ledger) == LG_OK) {
        if (lg_reader_ledger(ledger, &head) == LG_OK) {
            put(object, "appID", words_string(head.app_id));
            put(object, "appVersion", words_string(head.app_version));
        }
        lg_reader_close(ledger);
    }
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    *ret_bytes = text ? strlen(text) : 0;
    return text;
}
