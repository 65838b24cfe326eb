/* The stages of a crash, in the full record and in brief ones: exactly those that were committed
 * and whose checksum is right. */
#include "os/fault_point.h"
#include "read/reader.h"
#include "store/crc32c.h"

/* ---- brief records ---- */

static lg_status read_briefs(const lg_reader *reader, uint32_t *ret_count, uint32_t *ret_bytes)
{
    uint32_t head[offsetof(struct lg__briefs, briefs) / sizeof(uint32_t)];
    if (!lg__reader_has_section(reader, LG__SECTION_BRIEFS))
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_places(reader, LG__SECTION_BRIEFS, head, sizeof head, sizeof(struct lg__brief), LG__BRIEFS_MAX))
        return LG_ERR_DAMAGED;
    *ret_count = head[0];
    *ret_bytes = head[1];
    return LG_OK;
}

void lg__reader_briefs_open(lg_reader *reader)
{
    reader->briefs = read_briefs(reader, &reader->brief_count, &reader->brief_bytes);
}

lg_status lg__reader_briefs(const lg_reader *reader, uint32_t *ret_count, uint32_t *ret_bytes)
{
    /* a process that lives may have some by now */
    if (reader->briefs == LG_OK && !reader->brief_count)
        return read_briefs(reader, ret_count, ret_bytes);
    *ret_count = reader->brief_count;
    *ret_bytes = reader->brief_bytes;
    return reader->briefs;
}

uint64_t lg__reader_briefs_begun(const lg_reader *reader, uint32_t count, uint32_t bytes)
{
    static_assert(LG__BRIEFS_MAX <= 64, "a bit each");
    uint8_t all[16384];
    const size_t size = (size_t)count * bytes;
    uint64_t begun = 0, commit;
    if (size > sizeof all || !lg__reader_block(reader, LG__SECTION_BRIEFS, offsetof(struct lg__briefs, briefs), all, size))
        return UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&commit, all + (size_t)i * bytes + offsetof(struct lg__brief_commit, commit), sizeof commit);
        begun |= (uint64_t)(commit != 0) << i;
    }
    return begun;
}

/* Where the brief record of a place is in its section. */
static lg_status find_brief(const lg_reader *reader, uint32_t place, uint64_t *ret_at)
{
    uint32_t count, bytes;
    lg_status status = lg__reader_briefs(reader, &count, &bytes);
    if (status != LG_OK)
        return status;
    if (place > count)
        return LG_ERR_NOT_FOUND;
    *ret_at = offsetof(struct lg__briefs, briefs) + (uint64_t)(place - 1) * bytes;
    return LG_OK;
}

lg_status lg__reader_brief_part(const lg_reader *reader, uint32_t place, unsigned stage, struct lg__reader_commit *ret_commit)
{
    static const struct { uint32_t at, capacity; } parts[] = {
        { offsetof(struct lg__brief, header), sizeof(struct lg__crash_header) },
        { offsetof(struct lg__brief, context), sizeof(struct lg__crash_context) },
        { offsetof(struct lg__brief, head), sizeof(struct lg__frames_head) + LG__BRIEF_FRAMES_MAX * sizeof(uint64_t) },
    };
    static_assert(sizeof parts / sizeof parts[0] == LG__BRIEF_PARTS, "every part has its place");
    struct lg__brief_commit commit;
    uint64_t at;
    lg_status status = find_brief(reader, place, &at);
    if (status != LG_OK)
        return status;
    uint32_t part = stage - LG_STAGE_HEADER;
    if (part >= LG__BRIEF_PARTS)
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_block(reader, LG__SECTION_BRIEFS, at + part * sizeof commit, &commit, sizeof commit))
        return LG_ERR_DAMAGED; /* the file shrank meanwhile */
    *ret_commit = (struct lg__reader_commit){ LG__SECTION_BRIEFS, at + parts[part].at, parts[part].capacity, commit.size, commit.crc,
                                             atomic_load(&commit.commit) };
    return LG_OK;
}

void lg__reader_outcome(const lg_reader *reader, uint32_t place, uint32_t *ret_outcome, uint32_t *ret_within)
{
    bool brief = place != LG__PLACE_RECORD;
    uint32_t kind = brief ? LG__SECTION_BRIEFS : LG__SECTION_RECORD;
    uint64_t at = 0;
    *ret_outcome = *ret_within = 0;
    if (brief && find_brief(reader, place, &at) != LG_OK)
        return;
    lg__reader_block(reader, kind, at + (brief ? offsetof(struct lg__brief, outcome) : offsetof(struct lg__record, outcome)),
                     ret_outcome, sizeof *ret_outcome);
    *ret_outcome &= (1u << LG__OUTCOME_BITS) - 1;
    lg__reader_block(reader, kind, at + (brief ? offsetof(struct lg__brief, within) : offsetof(struct lg__record, within)), ret_within,
                     sizeof *ret_within);
}

/* ---- stages ---- */

lg_status lg__reader_record(const lg_reader *reader, struct lg__record *ret_record)
{
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    return lg__reader_stable(reader, LG__SECTION_RECORD, 0, ret_record, sizeof *ret_record) ? LG_OK : LG_ERR_DAMAGED;
}

/* The part of `from`, which starts at byte `at` of a block, that belongs into the range [start,
 * start + size) of it. */
static void copy_part(uint8_t *to, size_t start, size_t size, const uint8_t *from, size_t at, size_t count)
{
    size_t low = at > start ? at : start, high = at + count < start + size ? at + count : start + size;
    if (low < high)
        memcpy(to + (low - start), from + (low - at), high - low);
}

static lg_status find_stage(const lg_reader *reader, uint32_t place, unsigned stage, struct lg__reader_commit *ret_commit)
{
    if (place != LG__PLACE_RECORD)
        return lg__reader_brief_part(reader, place, stage, ret_commit);
    struct lg__record record;
    lg_status status = lg__reader_record(reader, &record);
    if (status != LG_OK)
        return status;
    struct lg__stage *entry = &record.stages[stage];
    *ret_commit = (struct lg__reader_commit){ LG__SECTION_RECORD, entry->offset, entry->capacity, entry->size, entry->crc,
                                             atomic_load(&entry->commit) };
    return LG_OK;
}

static bool same_commit(const struct lg__reader_commit *a, const struct lg__reader_commit *b)
{
    return a->section == b->section && a->at == b->at && a->capacity == b->capacity && a->size == b->size && a->crc == b->crc &&
           a->commit == b->commit;
}

static lg_status copy_stage(const lg_reader *reader, struct lg__reader_commit commit, unsigned stage, void *head, size_t head_size, void *rest,
                            size_t rest_size, size_t *ret_size)
{
    if (commit.commit == 0)
        return commit.capacity ? LG_ERR_INCOMPLETE : LG_ERR_NOT_FOUND; /* there was no space */
    if (commit.commit != LG__COMMIT_STAGE + stage || commit.size > commit.capacity || commit.size > LG__STAGE_BYTES_MAX)
        return LG_ERR_DAMAGED;
    if (head_size)
        memset(head, 0, head_size);
    if (rest_size)
        memset(rest, 0, rest_size);
    /* A larger block than this version knows is checked whole and shown as far as it is known. */
    struct lg__reader_memo *memo = &reader->memo[stage != LG_STAGE_HEADER];
    const bool known = memo->known && same_commit(&memo->commit, &commit);
    uint32_t crc = known ? commit.crc : 0;
    memo->known = known;
    for (size_t at = 0; at < commit.size; at += sizeof memo->bytes) {
        size_t count = commit.size - at < sizeof memo->bytes ? commit.size - at : sizeof memo->bytes;
        if (!known) {
            LG_FAULT_POINT("reader: block");
            if (!lg__reader_block(reader, commit.section, commit.at + at, memo->bytes, count))
                return LG_ERR_DAMAGED;
            crc = lg__crc32c(crc, memo->bytes, count);
        }
        copy_part(head, 0, head_size, memo->bytes, at, count);
        copy_part(rest, head_size, rest_size, memo->bytes, at, count);
    }
    memo->known = commit.crc == crc && commit.size <= sizeof memo->bytes;
    memo->commit = commit;
    if (commit.crc != crc) {
        if (rest_size)
            memset(rest, 0, rest_size);
        return LG_ERR_DAMAGED;
    }
    if (ret_size)
        *ret_size = commit.size;
    return LG_OK;
}

/* The same commit before and after the copy: a living process may take the record for a later
 * crash. */
static lg_status read_stage(const lg_reader *reader, uint32_t place, unsigned stage, void *head, size_t head_size, void *rest,
                            size_t rest_size, size_t *ret_size)
{
    struct lg__reader_commit commit, after;
    lg_status status = find_stage(reader, place, stage, &commit);
    for (int tries = 0; status == LG_OK && tries < LG__READER_TRIES; tries++, commit = after) {
        lg_status copied = copy_stage(reader, commit, stage, head, head_size, rest, rest_size, ret_size);
        LG_FAULT_POINT("reader: stage");
        status = find_stage(reader, place, stage, &after);
        if (status == LG_OK && same_commit(&commit, &after))
            return copied;
        reader->memo[stage != LG_STAGE_HEADER].known = false;
    }
    return status == LG_OK ? LG_ERR_INCOMPLETE : status;
}

lg_status lg__reader_stage_parts(const lg_reader *reader, unsigned stage, void *head, size_t head_size, void *rest, size_t rest_size,
                                 size_t *ret_size)
{
    return read_stage(reader, reader->place, stage, head, head_size, rest, rest_size, ret_size);
}

lg_status lg__reader_stage_at(const lg_reader *reader, uint32_t place, unsigned stage, void *to, size_t size, size_t *ret_size)
{
    return read_stage(reader, place, stage, to, size, NULL, 0, ret_size);
}

lg_status lg__reader_stage(const lg_reader *reader, unsigned stage, void *to, size_t size, size_t *ret_size)
{
    return read_stage(reader, reader->place, stage, to, size, NULL, 0, ret_size);
}

lg_status lg__reader_crashed(const lg_reader *reader)
{
    /* A damaged header does not hide the other parts. */
    lg_status status = lg__reader_stage(reader, LG_STAGE_HEADER, NULL, 0, NULL);
    return status == LG_ERR_INCOMPLETE ? LG_ERR_NOT_FOUND : status == LG_ERR_STATE ? status : LG_OK;
}

lg_status lg__reader_recorded(const lg_reader *reader)
{
    return reader->place == LG__PLACE_RECORD ? lg__reader_crashed(reader) : LG_ERR_NOT_FOUND;
}
