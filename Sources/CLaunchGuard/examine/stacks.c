/* Stack memory: chunks one after the other. */
#include "os/fault_point.h"
#include "read/reader.h"
#include "store/crc32c.h"

/* The chunk at a place of the section, its checksum not yet compared. */
static lg_status read_chunk(const lg_reader *reader, const struct lg__section *section, uint64_t at, struct lg__chunk *ret_chunk)
{
    if (at > section->size || section->size - at < sizeof *ret_chunk)
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_bytes(reader, section->offset + at, ret_chunk, sizeof *ret_chunk))
        return LG_ERR_DAMAGED;
    uint32_t commit = atomic_load(&ret_chunk->commit);
    if (commit == 0)
        return LG_ERR_NOT_FOUND;
    return commit == LG__COMMIT_CHUNK && ret_chunk->size <= section->size - at - sizeof *ret_chunk ? LG_OK : LG_ERR_DAMAGED;
}

/* Compare the checksum of a chunk; the memory goes to `to` unless that is NULL. */
static lg_status check_chunk(const lg_reader *reader, uint64_t memory_at, const struct lg__chunk *chunk, uint8_t *to)
{
    const size_t from = offsetof(struct lg__chunk, start);
    uint32_t crc = lg__crc32c(0, (const uint8_t *)chunk + from, sizeof *chunk - from);
    uint8_t piece[1024];
    for (size_t at = 0; at < chunk->size; at += sizeof piece) {
        size_t count = chunk->size - at < sizeof piece ? chunk->size - at : sizeof piece;
        if (!lg__reader_bytes(reader, memory_at + at, piece, count))
            return LG_ERR_DAMAGED;
        crc = lg__crc32c(crc, piece, count);
        if (to)
            memcpy(to + at, piece, count);
    }
    struct lg__chunk after;
    LG_FAULT_POINT("reader: chunk");
    if (!lg__reader_bytes(reader, memory_at - sizeof after, &after, sizeof after))
        return LG_ERR_DAMAGED;
    if (memcmp(&after, chunk, sizeof after) != 0)
        return LG_ERR_INCOMPLETE; /* a later crash is being recorded */
    return crc == chunk->crc ? LG_OK : LG_ERR_DAMAGED;
}

static lg_status find_chunk(lg_reader *reader, uint32_t index, struct lg__chunk *ret_chunk, uint64_t *ret_memory_at)
{
    struct lg__section section;
    lg_status status = lg__reader_recorded(reader);
    if (status != LG_OK)
        return status;
    if (!lg__reader_has_section(reader, LG__SECTION_STACKS))
        return LG_ERR_NOT_FOUND; /* there was no space for it */
    if (!lg__reader_section(reader, LG__SECTION_STACKS, &section) || section.size > LG__STACKS_BYTES_MAX)
        return LG_ERR_DAMAGED;
    if (index < reader->chunk_index)
        reader->chunk_index = 0, reader->chunk_at = 0;
    for (;;) {
        status = read_chunk(reader, &section, reader->chunk_at, ret_chunk);
        if (status == LG_OK && reader->chunk_index < index)
            status = check_chunk(reader, section.offset + reader->chunk_at + sizeof *ret_chunk, ret_chunk, NULL);
        /* The first one that is not whole ends the list. */
        if (status != LG_OK)
            return reader->chunk_index < index ? LG_ERR_NOT_FOUND : status;
        if (reader->chunk_index == index)
            break;
        uint64_t next = reader->chunk_at + sizeof *ret_chunk + ret_chunk->size;
        reader->chunk_at = (next + LG__CHUNK_ALIGN - 1) & ~(uint64_t)(LG__CHUNK_ALIGN - 1);
        reader->chunk_index++;
    }
    *ret_memory_at = section.offset + reader->chunk_at + sizeof *ret_chunk;
    return LG_OK;
}

lg_status lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info)
{
    struct lg__chunk chunk;
    uint64_t memory_at = 0;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = find_chunk(reader, index, &chunk, &memory_at);
    if (status == LG_OK)
        status = check_chunk(reader, memory_at, &chunk, NULL);
    if (status != LG_OK)
        return status;
    *ret_info = (lg_memory_info){ chunk.start, chunk.size, chunk.tid };
    return LG_OK;
}

lg_status lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size)
{
    struct lg__chunk chunk;
    uint64_t memory_at = 0;
    if (!reader || (!buffer && size))
        return LG_ERR_ARGUMENT;
    lg_status status = find_chunk(reader, index, &chunk, &memory_at);
    if (status != LG_OK)
        return status;
    if (size < chunk.size)
        return LG_ERR_ARGUMENT;
    status = check_chunk(reader, memory_at, &chunk, buffer);
    if (status != LG_OK && chunk.size)
        memset(buffer, 0, chunk.size); /* a chunk that fails its check is not shown */
    return status;
}
