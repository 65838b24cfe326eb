/* The crashes of a run: one in the record, others in brief records; and the crash that counts as
 * the end. */
#include <signal.h>

#include "read/crashes.h"
#include "read/reader.h"

/* ---- the end of the run ---- */

/* Higher for a crash that more likely ended the process; among equal ones the order of the crashes
 * decides. A record takes less than a millisecond: a process that ended meanwhile was more likely
 * ended by the earlier handler of another crash. */
enum rank { RANK_DAMAGED, RANK_HANDLED, RANK_DUMP, RANK_RECORDING, RANK_CHAINED, RANK_LEFT, RANK_DYING };

static enum rank rank(const struct lg__reader_crash *crash)
{
    if (!crash->whole)
        return RANK_DAMAGED;
    if (crash->outcome == LG__OUTCOME_HANDLED)
        return RANK_HANDLED;
    if (crash->signal == SIGQUIT)
        return RANK_DUMP;
    switch (crash->outcome) {
    case LG__OUTCOME_RECORDING: return RANK_RECORDING;
    case LG__OUTCOME_CHAINED: return RANK_CHAINED;
    case LG__OUTCOME_LEFT: return RANK_LEFT;
    default: return RANK_DYING;
    }
}

/* The crash in whose earlier handler a crash happened, if that one counts as well; else the crash
 * itself. */
static uint32_t cause_of(const struct lg__reader_crashes *list, uint32_t index)
{
    const struct lg__reader_crash *crash = &list->crashes[index];
    for (uint32_t i = index; crash->within && i-- > 0;)
        if (rank(&list->crashes[i]) >= RANK_RECORDING && list->crashes[i].sequence == crash->within && crash->within < crash->sequence)
            return i;
    return index;
}

static uint32_t find_end(const struct lg__reader_crashes *list)
{
    uint32_t end = 0;
    enum rank best = RANK_DAMAGED;
    for (uint32_t i = 0; i < list->count; i++)
        if (rank(&list->crashes[i]) >= best && rank(&list->crashes[i]) > RANK_DAMAGED) {
            best = rank(&list->crashes[i]);
            end = i;
        }
    /* Each step goes to a smaller index, so that a circle of numbers ends as well. */
    for (uint32_t cause; best >= RANK_RECORDING && (cause = cause_of(list, end)) != end;)
        end = cause;
    return end;
}

void lg__reader_crashes(const lg_reader *reader, struct lg__reader_crashes *ret_crashes)
{
    uint32_t briefs = 0, bytes = 0, count = 0;
    if (lg__reader_briefs(reader, &briefs, &bytes) != LG_OK)
        briefs = 0;
    const uint64_t begun = briefs ? lg__reader_briefs_begun(reader, briefs, bytes) : 0;
    for (uint32_t place = LG__PLACE_RECORD; place <= briefs; place++) {
        struct lg__crash_header header;
        if (place != LG__PLACE_RECORD && !(begun >> (place - 1) & 1))
            continue;
        lg_status status = lg__reader_stage_at(reader, place, LG_STAGE_HEADER, &header, sizeof header, NULL);
        if (status != LG_OK && status != LG_ERR_DAMAGED)
            continue; /* nothing is there */
        struct lg__reader_crash crash = { .place = place, .whole = status == LG_OK };
        if (crash.whole) {
            crash.sequence = header.sequence;
            crash.signal = header.signal;
        }
        lg__reader_outcome(reader, place, &crash.outcome, &crash.within);
        uint32_t at = count++;
        for (; at > 0 && (ret_crashes->crashes[at - 1].sequence > crash.sequence ||
                          (ret_crashes->crashes[at - 1].whole && !crash.whole)); at--)
            ret_crashes->crashes[at] = ret_crashes->crashes[at - 1];
        ret_crashes->crashes[at] = crash;
    }
    ret_crashes->count = count;
    ret_crashes->end = find_end(ret_crashes);
}

uint32_t lg__crashes_select_end(lg_reader *reader)
{
    struct lg__reader_crashes list;
    uint32_t before = reader->place;
    lg__reader_crashes(reader, &list);
    reader->place = list.count ? list.crashes[list.end].place : LG__PLACE_RECORD;
    return before;
}

void lg__crashes_select(lg_reader *reader, uint32_t place)
{
    reader->place = place;
}

lg_status lg_reader_crash_count(lg_reader *reader, uint32_t *ret_count)
{
    struct lg__reader_crashes list;
    uint32_t briefs, bytes;
    if (!reader || !ret_count)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    if (lg__reader_briefs(reader, &briefs, &bytes) == LG_ERR_DAMAGED)
        return LG_ERR_DAMAGED;
    lg__reader_crashes(reader, &list);
    *ret_count = list.count;
    return LG_OK;
}

lg_status lg_reader_select_crash(lg_reader *reader, uint32_t index)
{
    struct lg__reader_crashes list;
    if (!reader)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    lg__reader_crashes(reader, &list);
    if (index >= list.count)
        return LG_ERR_NOT_FOUND;
    reader->place = list.crashes[index].place;
    return LG_OK;
}
