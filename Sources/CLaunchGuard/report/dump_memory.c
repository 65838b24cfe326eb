#include "report/dump_memory.h"

#include <stdlib.h>
#include <string.h>

#include "report/home.h"
#include "report/values.h"

#define STRETCHES_MAX 65536u
#define BESIDE_BYTES 512u

/* Takes over the bytes. */
static void take(struct lg__dump_memory *memory, struct lg__dump_stretch stretch)
{
    if (memory->count == memory->room) {
        const size_t room = memory->room ? 2 * memory->room : 16;
        struct lg__dump_stretch *list = realloc(memory->list, room * sizeof *list);
        memory->failed |= !list;
        if (!list) {
            free(stretch.bytes);
            return;
        }
        memory->list = list;
        memory->room = room;
    }
    memory->list[memory->count++] = stretch;
}

static bool fits(uint64_t start, size_t size)
{
    return size && size <= UINT64_MAX - start;
}

void lg__dump_memory_stacks(struct lg__dump_memory *memory, lg_reader *reader)
{
    lg_memory_info info;
    for (uint32_t i = 0; i < STRETCHES_MAX && lg_reader_memory(reader, i, &info) == LG_OK; i++) {
        if (!fits(info.start, info.size) || info.size > memory->left)
            continue;
        uint8_t *bytes = malloc(info.size);
        memory->failed |= !bytes;
        if (!bytes || lg_reader_memory_bytes(reader, i, bytes, info.size) != LG_OK) {
            free(bytes);
            return;
        }
        memory->left -= info.size;
        take(memory, (struct lg__dump_stretch){ .start = info.start, .size = info.size, .bytes = bytes, .is_stack = true, .tid = info.tid });
    }
}

static int by_start(const void *a, const void *b)
{
    const struct lg__dump_stretch *one = a, *other = b;
    return one->start != other->start ? (one->start > other->start) - (one->start < other->start) : (one->size < other->size) - (one->size > other->size);
}

static void sort(struct lg__dump_memory *memory)
{
    if (memory->count)
        qsort(memory->list, memory->count, sizeof *memory->list, by_start);
}

void lg__dump_memory_part(struct lg__dump_memory *memory)
{
    uint64_t end = 0;
    size_t count = 0;
    sort(memory);
    for (size_t i = 0; i < memory->count; i++) {
        struct lg__dump_stretch stretch = memory->list[i];
        const uint64_t its_end = stretch.start + stretch.size;
        if (its_end <= end) {
            free(stretch.bytes);
            continue;
        }
        if (stretch.start < end) {
            const size_t lost = (size_t)(end - stretch.start);
            stretch.size -= lost;
            stretch.start = end;
            memmove(stretch.bytes, stretch.bytes + lost, stretch.size);
        }
        end = its_end;
        memory->list[count++] = stretch;
    }
    memory->count = count;
}

void lg__dump_memory_beside(struct lg__dump_memory *memory, lg_reader *reader, int32_t tid)
{
    for (uint32_t which = 0; which < 2; which++) {
        struct lg__dump_stretch stretch = { .bytes = malloc(BESIDE_BYTES), .is_stack = which == 0, .tid = tid };
        memory->failed |= !stretch.bytes;
        bool is_apart = stretch.bytes && lg_reader_bytes(reader, which, stretch.bytes, &stretch.start, &stretch.size) == LG_OK && fits(stretch.start, stretch.size);
        for (size_t i = 0; is_apart && i < memory->count; i++)
            is_apart = memory->list[i].start + memory->list[i].size <= stretch.start || stretch.start + stretch.size <= memory->list[i].start;
        if (is_apart)
            take(memory, stretch);
        else
            free(stretch.bytes);
    }
}

/* ---- what must not be in it ---- */

#define ARGUMENTS_MAX 65536u

static uint64_t word_at(const struct lg__dump_stretch *stretch, size_t at)
{
    uint64_t word = 0;
    if (at + sizeof word <= stretch->size)
        memcpy(&word, stretch->bytes + at, sizeof word);
    return word;
}

/* Pointers to texts above, each to the one after that before, and a zero. The place after it; 0: it
 * is none. */
static size_t after_pointers(const struct lg__dump_stretch *stretch, size_t at, size_t count, uint64_t *last)
{
    const uint64_t end = stretch->start + stretch->size;
    size_t found = 0;
    for (; at + 8 <= stretch->size && found <= count; at += 8, found++) {
        const uint64_t word = word_at(stretch, at);
        if (word == 0)
            return count == SIZE_MAX || found == count ? at + 8 : 0;
        if (word <= *last || word < stretch->start + at || word >= end)
            return 0;
        *last = word;
    }
    return 0;
}

/* The first stack begins with the number of arguments, pointers to them, a zero, pointers to the
 * environment, and a zero; the texts lie above, up to its end (binfmt_elf of the kernel). */
static void blank_arguments(struct lg__dump_stretch *stretch)
{
    for (size_t at = (8 - stretch->start % 8) % 8; at + 24 <= stretch->size; at += 8) {
        const uint64_t count = word_at(stretch, at), first = word_at(stretch, at + 8);
        uint64_t last = 0;
        size_t next = 0;
        if (count && count <= ARGUMENTS_MAX)
            next = after_pointers(stretch, at + 8, (size_t)count, &last);
        if (next && after_pointers(stretch, next, SIZE_MAX, &last)) {
            memset(stretch->bytes + (first - stretch->start), '*', stretch->size - (size_t)(first - stretch->start));
            return;
        }
    }
}

/* Stretches that follow each other are searched as one: a value may stand across the border. False:
 * no memory, or it is not known what is redacted. */
static bool blank(struct lg__dump_stretch *first, size_t count, const struct lg__report *report)
{
    size_t size = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        size += first[i].size;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return false;
    for (size_t i = 0; i < count; at += first[i++].size)
        memcpy(bytes + at, first[i].bytes, first[i].size);
    const bool known = lg__secrets_memory_blank(report->secrets, bytes, size);
    if (lg__values_hide_home(report))
        lg__home_blank(bytes, size);
    at = 0;
    for (size_t i = 0; i < count; at += first[i++].size)
        memcpy(first[i].bytes, bytes + at, first[i].size);
    free(bytes);
    return known;
}

void lg__dump_memory_blank(struct lg__dump_memory *memory, const struct lg__report *report)
{
    bool known = true;
    sort(memory);
    for (size_t i = 0; report->options->for_sending && i < memory->count; i++)
        blank_arguments(&memory->list[i]);
    for (size_t i = 0, count; known && i < memory->count; i += count) {
        const struct lg__dump_stretch *stretch = memory->list + i;
        for (count = 1; i + count < memory->count && stretch[count - 1].start + stretch[count - 1].size == stretch[count].start; count++) {}
        known = blank(memory->list + i, count, report);
    }
    if (!known)
        lg__dump_memory_free(memory);
}

/* ---- the file ---- */

const struct lg__dump_stretch *lg__dump_memory_stack(const struct lg__dump_memory *memory, int32_t tid, uint64_t sp)
{
    const struct lg__dump_stretch *first = NULL;
    for (size_t i = 0; i < memory->count; i++) {
        const struct lg__dump_stretch *stretch = &memory->list[i];
        if (!stretch->is_stack || stretch->tid != tid)
            continue;
        if (stretch->start <= sp && sp < stretch->start + stretch->size)
            return stretch;
        first = first ? first : stretch;
    }
    return first;
}

void lg__dump_memory_append(struct lg__dump_memory *memory, struct lg__dump_file *file)
{
    for (size_t i = 0; i < memory->count; i++) {
        struct lg__dump_part part = { .bytes = NULL };
        lg__dump_part_bytes(&part, memory->list[i].bytes, memory->list[i].size);
        memory->list[i].place = lg__dump_file_append(file, &part);
    }
}

void lg__dump_memory_add(const struct lg__dump_memory *memory, struct lg__dump_file *file)
{
    struct lg__dump_part list = { .bytes = NULL };
    lg__dump_part_u32(&list, (uint32_t)memory->count);
    for (size_t i = 0; i < memory->count; i++) {
        lg__dump_part_u64(&list, memory->list[i].start);
        lg__dump_file_place(&list, memory->list[i].place);
    }
    lg__dump_file_add(file, LG__DUMP_MEMORY_LIST, &list);
}

void lg__dump_memory_free(struct lg__dump_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        free(memory->list[i].bytes);
    free(memory->list);
    const bool failed = memory->failed;
    *memory = (struct lg__dump_memory){ .failed = failed };
}
