/* Prints lg_delivery_entries() as lines of JSON; then the number of entries that there are. */
#include <stdio.h>
#include <stdlib.h>

#include <launchguard/delivery.h>

int main(int argc, char **argv)
{
    static const char *const states[] = { "", "pending", "sent", "held", "dead", "told" };
    static const char *const pauses[] = { "", "paced", "away", "busy", "asked", "spent", "behind", "metered" };
    static lg_delivery_info entries[4096];
    uint32_t count = 0;
    lg_status status = argc == 2 ? lg_delivery_entries(argv[1], entries, 4096, &count) : LG_ERR_ARGUMENT;
    if (status != LG_OK) {
        printf("{\"status\": \"%s\"}\n", lg_status_name(status));
        return 1;
    }
    for (uint32_t i = 0; i < count && i < 4096; i++) {
        const lg_delivery_info *entry = &entries[i];
        printf("{\"uuid\": \"%s\", \"run_uuid\": \"%s\", \"ordinal\": %llu, \"state\": \"%s\", \"end\": \"%s\", \"fingerprint\": \"%s\", "
               "\"attempts\": %u, \"http_status\": %d, \"next_ns\": %llu, \"pause\": \"%s\", "
               "\"settled_ns\": %llu, \"told_ns\": %llu, \"more\": %llu, \"error\": \"",
               entry->uuid, entry->run_uuid, (unsigned long long)entry->ordinal, states[entry->state], lg_end_name(entry->end),
               entry->fingerprint, entry->attempts, entry->http_status, (unsigned long long)entry->next_ns, pauses[entry->pause],
               (unsigned long long)entry->settled_ns, (unsigned long long)entry->told_ns, (unsigned long long)entry->more);
        for (const char *at = entry->error; *at; at++)
            printf(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        puts("\"}");
    }
    printf("{\"count\": %u}\n", count);
    return 0;
}
