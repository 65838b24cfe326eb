#include "report/gather.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool is_launching(lg_phase phase)
{
    return phase == LG_PHASE_DECIDING || phase == LG_PHASE_REPAIRING || phase == LG_PHASE_LAUNCHING || phase == LG_PHASE_HELD ||
           phase == LG_PHASE_HALTED;
}

static void note_launch(lg_reader *reader, const lg_run_info *run, struct facts *facts)
{
    lg_run_context context;
    for (uint32_t i = 0; i < run->context_count; i++) {
        if (lg_reader_run_context(reader, i, &context) != LG_OK || !is_launching(context.phase))
            continue;
        bool better = !facts->launching || (!facts->task[0] && context.task[0]);
        facts->launching = true;
        if (better) {
            memcpy(facts->context, context.name, sizeof facts->context);
            memcpy(facts->task, context.task, sizeof facts->task);
        }
    }
}

/* Runs after this one that counted against a context. */
static uint32_t counted_after(lg_reader *ledger, uint32_t timeline_count, uint32_t context, uint64_t ordinal)
{
    lg_timeline_entry entry;
    uint32_t count = 0;
    for (uint32_t i = 0; i < timeline_count; i++)
        count += lg_reader_timeline(ledger, i, &entry) == LG_OK && entry.ordinal > ordinal && entry.counted >> context & 1;
    return count;
}

/* Consecutive launch crashes, this one included. The ledger counts a run when the next one starts,
 * and may have counted others since. */
static void note_streak(const char *state_directory, const lg_run_info *run, struct facts *facts)
{
    char path[4096 + 16];
    lg_reader *ledger;
    lg_ledger_info head;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    if (!facts->launching)
        return;
    facts->streak = 1;
    if (!state_directory)
        return;
    snprintf(path, sizeof path, "%s/ledger.lg", state_directory);
    if (lg_reader_open(path, &ledger) != LG_OK)
        return;
    if (lg_reader_ledger(ledger, &head) == LG_OK)
        for (uint32_t i = 0; i < head.context_count; i++)
            if (lg_reader_ledger_context(ledger, i, &info) == LG_OK && strcmp(info.name, facts->context) == 0) {
                uint32_t later = counted_after(ledger, head.timeline_count, i, run->ordinal);
                uint32_t streak = info.streak + (head.last_ordinal <= run->ordinal);
                facts->streak = streak > later ? streak - later : 1;
            }
    lg_reader_close(ledger);
}

void gather_facts(lg_reader *reader, const lg_run_info *run, const char *state_directory, struct facts *facts)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    facts->made_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    memcpy(facts->run_uuid, run->uuid, sizeof facts->run_uuid);
    if (lg_reader_fingerprint(reader, facts->fingerprint) != LG_OK)
        memset(facts->fingerprint, '0', sizeof facts->fingerprint - 1);
    note_launch(reader, run, facts);
    note_streak(state_directory, run, facts);
    if (facts->verdict.monotonic_ns > run->monotonic_ns && run->wall_ns)
        facts->ended_ns = run->wall_ns + (facts->verdict.monotonic_ns - run->monotonic_ns);
}
