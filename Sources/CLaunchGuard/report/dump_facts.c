#include "report/dump_facts.h"

#include "report/parts.h"
#include "report/values.h"

static bool has_thread(lg_reader *reader, const lg_snapshot_info *snapshot)
{
    lg_thread_info thread;
    for (uint32_t i = 0; i < snapshot->stored; i++)
        if (lg_reader_snapshot_thread(reader, snapshot->kind, i, &thread) == LG_OK)
            return true;
    return false;
}

void lg__dump_facts_crashes(struct lg__dump *dump)
{
    lg_reader *reader = dump->reader;
    const uint32_t count = lg__report_crash_count(dump->report, &dump->crash_index);
    lg_reader_select_crash(reader, dump->crash_index);
    dump->has_crash = count && lg_reader_crash(reader, &dump->crash) == LG_OK;
    dump->recorded = dump->crash;
    dump->recorded_index = dump->crash_index;
    dump->has_recorded = dump->has_crash && !dump->crash.brief;
    for (uint32_t i = 0; dump->has_crash && !dump->has_recorded && i < count; i++) {
        dump->recorded_index = i;
        dump->has_recorded = i != dump->crash_index && lg_reader_select_crash(reader, i) == LG_OK && lg_reader_crash(reader, &dump->recorded) == LG_OK &&
                             !dump->recorded.brief;
    }
    for (lg_snapshot_kind kind = LG_SNAPSHOT_HANG; kind <= LG_SNAPSHOT_MEMORY; kind++) {
        lg_snapshot_info snapshot;
        if (lg_reader_snapshot(reader, kind, &snapshot) != LG_OK || !has_thread(reader, &snapshot))
            continue;
        if (!dump->has_snapshot || snapshot.taken_ns > dump->snapshot.taken_ns)
            dump->snapshot = snapshot;
        dump->has_snapshot = true;
    }
}

void lg__dump_facts_select(struct lg__dump *dump, bool recorded)
{
    lg_reader_select_crash(dump->reader, recorded ? dump->recorded_index : dump->crash_index);
}

bool lg__dump_facts_has_other(const struct lg__dump *dump)
{
    return dump->has_recorded && dump->recorded_index != dump->crash_index;
}

void lg__dump_facts_figures(struct lg__dump *dump)
{
    lg_resource resource;
    size_t size;
    uint32_t cut;
    for (uint32_t i = 0; i <= LG_RESOURCE_TRACER; i++)
        dump->figures[i] = UINT64_MAX;
    lg__dump_facts_select(dump, true);
    if (!dump->has_recorded || lg_reader_map(dump->reader, NULL, 0, &size, &cut) != LG_OK)
        return;
    for (uint32_t i = 0; i <= LG_RESOURCE_TRACER && lg_reader_resource(dump->reader, i, &resource) == LG_OK; i++)
        dump->figures[i] = resource.known ? resource.value : UINT64_MAX;
}

char *lg__dump_facts_text(struct lg__dump *dump, const char *text, size_t *size)
{
    char *plain = lg__values_plain(dump->report, text, size);
    dump->file.part.failed |= !plain;
    return plain;
}
