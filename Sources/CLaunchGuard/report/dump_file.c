#include "report/dump_file.h"

#include <string.h>

#define HEADER_BYTES 32u
#define VERSION 0xA793u /* MINIDUMP_VERSION */

void lg__dump_file_begin(struct lg__dump_file *file)
{
    *file = (struct lg__dump_file){ .count = 0 };
    lg__dump_part_zeros(&file->part, HEADER_BYTES);
}

void lg__dump_file_free(struct lg__dump_file *file)
{
    lg__dump_part_free(&file->part);
}

struct lg__dump_place lg__dump_file_append(struct lg__dump_file *file, struct lg__dump_part *part)
{
    lg__dump_part_zeros(&file->part, (8 - file->part.size % 8) % 8);
    const struct lg__dump_place place = { (uint32_t)part->size, (uint32_t)file->part.size };
    lg__dump_part_bytes(&file->part, part->bytes, part->size);
    file->part.failed |= part->failed;
    lg__dump_part_free(part);
    return place;
}

void lg__dump_file_place(struct lg__dump_part *part, struct lg__dump_place place)
{
    lg__dump_part_u32(part, place.size);
    lg__dump_part_u32(part, place.offset);
}

/* The size that stands before a text, once the text is there. */
static uint32_t append_text(struct lg__dump_file *file, struct lg__dump_part *text, size_t nul)
{
    struct lg__dump_part part = { .bytes = NULL };
    lg__dump_part_u32(&part, (uint32_t)text->size);
    lg__dump_part_bytes(&part, text->bytes, text->size);
    lg__dump_part_zeros(&part, nul);
    part.failed |= text->failed;
    lg__dump_part_free(text);
    return lg__dump_file_append(file, &part).offset;
}

uint32_t lg__dump_file_text(struct lg__dump_file *file, const char *text, size_t size)
{
    struct lg__dump_part part = { .bytes = NULL };
    lg__dump_part_utf16(&part, text, size);
    return append_text(file, &part, sizeof(uint16_t));
}

uint32_t lg__dump_file_utf8(struct lg__dump_file *file, const char *text, size_t size)
{
    struct lg__dump_part part = { .bytes = NULL };
    lg__dump_part_utf8(&part, text, size);
    return append_text(file, &part, 1);
}

void lg__dump_file_add(struct lg__dump_file *file, enum lg__dump_stream kind, struct lg__dump_part *part)
{
    const struct lg__dump_place place = lg__dump_file_append(file, part);
    file->part.failed |= file->count == LG__DUMP_STREAMS_MAX;
    if (file->part.failed)
        return;
    file->streams[file->count].kind = kind;
    file->streams[file->count++].place = place;
}

bool lg__dump_file_finish(struct lg__dump_file *file, uint64_t seconds)
{
    struct lg__dump_part directory = { .bytes = NULL }, header = { .bytes = NULL };
    for (uint32_t i = 0; i < file->count; i++) {
        lg__dump_part_u32(&directory, file->streams[i].kind);
        lg__dump_file_place(&directory, file->streams[i].place);
    }
    const uint32_t offset = lg__dump_file_append(file, &directory).offset;
    lg__dump_part_bytes(&header, "MDMP", 4);
    lg__dump_part_u32(&header, VERSION);
    lg__dump_part_u32(&header, file->count);
    lg__dump_part_u32(&header, offset);
    lg__dump_part_u32(&header, 0); /* checksum: nobody writes it */
    lg__dump_part_u32(&header, seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX);
    lg__dump_part_u64(&header, 0); /* MiniDumpNormal */
    const bool whole = !file->part.failed && !header.failed && file->part.size <= UINT32_MAX;
    if (whole)
        memcpy(file->part.bytes, header.bytes, header.size);
    lg__dump_part_free(&header);
    return whole;
}
