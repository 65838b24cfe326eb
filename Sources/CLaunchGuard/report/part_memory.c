/* The memory of the program at the selected crash: its map, and bytes of it. */
#include "report/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/secrets.h"
#include "report/values.h"

/* ---- the map ---- */

struct map {
    char *text; /* of /proc/PID/maps; from malloc() */
    size_t size;
    uint32_t cut;
};

struct mapping {
    uint64_t start, end, offset;
    char permissions[5];
    char path[4096]; /* "": memory without a name */
};

/* False: there is none. */
static bool map_open(struct lg__report *report, struct map *ret_map)
{
    *ret_map = (struct map){ 0 };
    if (!lg__report_wants(report, LG_REPORT_MEMORY) ||
        !lg__report_has(report, lg_reader_map(report->reader, NULL, 0, &ret_map->size, &ret_map->cut), "process") || !ret_map->size)
        return false;
    ret_map->text = malloc(ret_map->size + 1);
    if (ret_map->text && lg__report_has(report, lg_reader_map(report->reader, ret_map->text, ret_map->size + 1, &ret_map->size, &ret_map->cut), "process"))
        return true;
    free(ret_map->text);
    return false;
}

/* The next line that is one of a map; `at` is where it begins. The last line counts only where the
 * text was not cut in it. */
static bool map_next(const struct map *map, size_t *at, struct mapping *ret)
{
    while (*at < map->size) {
        const char *line = map->text + *at, *newline = memchr(line, '\n', map->size - *at);
        size_t length = newline ? (size_t)(newline - line) : map->size - *at;
        int path = -1;
        char copy[4352];
        *at += length + 1;
        if (!newline && map->cut)
            return false;
        snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), line);
        if (sscanf(copy, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s%n", &ret->start, &ret->end, ret->permissions, &ret->offset, &path) < 4 ||
            path < 0 || ret->start >= ret->end || strlen(ret->permissions) != 4)
            continue;
        path += (int)strspn(copy + path, " ");
        snprintf(ret->path, sizeof ret->path, "%s", copy + path);
        return true;
    }
    return false;
}

#define OF struct mapping

static void mapping_path(struct lg__report *report, const void *of)
{
    const struct mapping *mapping = of;
    if (mapping->path[0])
        lg__values_path(report, mapping->path);
}

static const struct lg__field mapping_fields[] = {
    FIELD(ADDRESS, "start", start, "", "First address."),
    FIELD(ADDRESS, "end", end, "", "The address after the last one."),
    FIELD(TEXT, "permissions", permissions, "", "As in proc(5), for example r-xp."),
    FIELD(NUMBER, "offset", offset, "bytes", "Place of the first byte in the file."),
    MAY_BE("path", mapping_path, "string", "", "The file, or a name such as [stack]; left out: memory without a name."),
    LAST,
};
const struct lg__shape lg__shape_mapping = { "mapping", LG__SENTENCE("One stretch of mapped memory."), mapping_fields };

#undef OF
#define OF struct map

static void mappings(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    struct mapping mapping;
    lg__json_list_begin(&report->json, &list);
    for (size_t at = 0; map_next(of, &at, &mapping);) {
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_mapping, &mapping);
    }
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field map_fields[] = {
    VALUE("mappings", mappings, "[mapping]", "", "In the order of their addresses."),
    FIELD(BOOL, "isCut", cut, "", "Whether the record had no room for all of them."),
    LAST,
};
const struct lg__shape lg__shape_map = { "memory-map", LG__SENTENCE("The memory map of the process at the crash."), map_fields };

#undef OF

void lg__report_memory_map(struct lg__report *report, const void *crash)
{
    struct map map;
    (void)crash;
    if (!map_open(report, &map))
        return;
    lg__table_object(report, &lg__shape_map, &map);
    free(map.text);
}

bool lg__report_map_each(struct lg__report *report, lg__report_map_taker take, void *user)
{
    struct mapping mapping;
    struct map map;
    if (!map_open(report, &map))
        return false;
    for (size_t at = 0; map_next(&map, &at, &mapping);)
        take(mapping.start, mapping.end, mapping.permissions, mapping.offset, mapping.path, user);
    free(map.text);
    return true;
}

/* ---- the faulting address in it ---- */

static bool mapping_at(const struct map *map, uint64_t address, struct mapping *ret)
{
    for (size_t at = 0; map_next(map, &at, ret);)
        if (ret->start <= address && address < ret->end)
            return true;
    return false;
}

void lg__report_address_mapping(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    struct mapping mapping;
    struct map map;
    if (!crash->has_address || !map_open(report, &map))
        return;
    if (mapping_at(&map, crash->address, &mapping))
        lg__table_object(report, &lg__shape_mapping, &mapping);
    free(map.text);
}

static const char *name_of(const struct mapping *mapping)
{
    const char *slash = strrchr(mapping->path, '/');
    return !mapping->path[0] ? "memory without a name" : mapping->path[0] == '/' ? slash + 1 : mapping->path;
}

#define DISTANCE_BYTES 64u

/* As a person reads it, for example "12 bytes" or "1.5 MiB". */
static void bytes_text(uint64_t bytes, char buffer[DISTANCE_BYTES])
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    uint64_t unit = 1024;
    size_t name = 0;
    if (bytes < 4096) {
        snprintf(buffer, DISTANCE_BYTES, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
        return;
    }
    for (; name < 5 && bytes / unit >= 1024; name++)
        unit *= 1024;
    snprintf(buffer, DISTANCE_BYTES, "%" PRIu64 ".%" PRIu64 " %s", bytes / unit, bytes % unit / (unit / 1024) * 10 / 1024, names[name]);
}

/* The thread whose stack ends in a mapping, or right above it. */
static bool stack_above(struct lg__report *report, const lg_crash_info *crash, const struct mapping *mapping, char name[64])
{
    lg_threads_info threads = { .stored = 0 };
    lg_thread_info thread;
    const char *of = NULL;
    if (!crash->brief && lg_reader_threads(report->reader, &threads) != LG_OK)
        threads.stored = 0;
    if (crash->stack_low >= mapping->start && crash->stack_low <= mapping->end)
        of = crash->thread_name;
    for (uint32_t i = 0; !of && i < threads.stored; i++)
        if (lg_reader_thread(report->reader, i, &thread) == LG_OK && thread.stack_low && thread.stack_low >= mapping->start && thread.stack_low <= mapping->end)
            of = thread.name;
    if (of)
        snprintf(name, 64, "%s", of);
    return of;
}

/* A mapping that an address is beside. */
static void neighbour_name(struct lg__report *report, const lg_crash_info *crash, const struct mapping *mapping, char *text, size_t room)
{
    char name[64];
    if (!mapping->path[0] && stack_above(report, crash, mapping, name))
        snprintf(text, room, "the stack of \"%s\"", name);
    else
        snprintf(text, room, "%s", name_of(mapping));
}

/* Where no mapping holds the address: how far it is from the next one. */
static void place_beside(struct lg__report *report, const lg_crash_info *crash, const struct map *map, char *text, size_t room)
{
    const uint64_t address = crash->address;
    struct mapping mapping, below = { 0 }, above = { 0 };
    char distance[DISTANCE_BYTES], name[sizeof mapping.path];
    for (size_t at = 0; map_next(map, &at, &mapping);) {
        if (mapping.end <= address && mapping.end > below.end)
            below = mapping;
        if (mapping.start > address && (!above.end || mapping.start < above.start))
            above = mapping;
    }
    if (map->cut && !above.end)
        return;
    const uint64_t after = below.end ? address - below.end : UINT64_MAX, before = above.end ? above.start - address : UINT64_MAX;
    const uint64_t least = after <= before ? after : before;
    bytes_text(least, distance);
    neighbour_name(report, crash, after <= before ? &below : &above, name, sizeof name);
    if (least >= UINT64_C(1) << 30)
        snprintf(text, room, "in no mapping");
    else
        snprintf(text, room, "in no mapping, %s %s %s", distance, after <= before ? "after" : "before", name);
}

/* Memory without a name. */
static void place_in_nameless(struct lg__report *report, const lg_crash_info *crash, const struct mapping *mapping, char *text, size_t room)
{
    char name[64];
    const bool is_guard = strncmp(mapping->permissions, "---", 3) == 0;
    if (is_guard && stack_above(report, crash, mapping, name))
        snprintf(text, room, "in the guard pages below the stack of \"%s\", mapped %s", name, mapping->permissions);
    else if (is_guard && crash->kind == LG_CRASH_STACK_OVERFLOW)
        snprintf(text, room, "in the guard pages below a stack, mapped %s", mapping->permissions);
    else
        snprintf(text, room, "in memory without a name, mapped %s", mapping->permissions);
}

void lg__report_address_place(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    const uint64_t address = crash->address;
    struct mapping mapping;
    struct map map;
    char text[4352] = "";
    if (!crash->has_address || !map_open(report, &map))
        return;
    if (!mapping_at(&map, address, &mapping)) {
        /* low addresses say nothing about their neighbours: they are offsets to a null pointer */
        if (address >= 65536)
            place_beside(report, crash, &map, text, sizeof text);
    } else if (mapping.path[0] == '/') {
        snprintf(text, sizeof text, "in the mapped file %s at offset 0x%" PRIx64 ", mapped %s", mapping.path,
                 mapping.offset + (address - mapping.start), mapping.permissions);
    } else if (!mapping.path[0]) {
        place_in_nameless(report, crash, &mapping, text, sizeof text);
    } else {
        snprintf(text, sizeof text, "in %s, mapped %s", name_of(&mapping), mapping.permissions);
    }
    if (text[0])
        lg__values_text(report, text, strlen(text));
    free(map.text);
}

/* ---- bytes ---- */

struct bytes {
    uint64_t start;
    size_t size;
    uint8_t *bytes;
};

#define OF struct bytes

static void digits(struct lg__report *report, const void *of)
{
    const struct bytes *bytes = of;
    lg__json_hex(&report->json, bytes->bytes, bytes->size);
}

static const struct lg__field bytes_fields[] = {
    FIELD(ADDRESS, "start", start, "", "Address of the first byte."),
    VALUE("bytes", digits, "string", "", "The bytes, as hexadecimal digits. Redacted values are blanked."),
    LAST,
};
const struct lg__shape lg__shape_bytes = { "crash-memory", LG__SENTENCE("Bytes of the crashed process."), bytes_fields };

#undef OF

static void bytes_beside(struct lg__report *report, uint32_t which, const char *part)
{
    uint8_t buffer[512];
    struct bytes bytes = { .bytes = buffer };
    lg_status status = lg_reader_bytes(report->reader, which, buffer, &bytes.start, &bytes.size);
    if (!lg__report_has(report, status, part) || !lg__report_wants(report, LG_REPORT_MEMORY) || !bytes.size)
        return;
    if (report->options->stack_bytes == 1 || lg__secrets_memory_blank(report->secrets, buffer, bytes.size))
        lg__table_object(report, &lg__shape_bytes, &bytes);
}

void lg__report_stack_memory(struct lg__report *report, const void *crash)
{
    (void)crash;
    bytes_beside(report, 0, "stack memory");
}

void lg__report_code_memory(struct lg__report *report, const void *crash)
{
    (void)crash;
    bytes_beside(report, 1, "code memory");
}

/* ---- stretches of the stacks ---- */

struct stretch {
    lg_memory_info info;
    uint8_t *bytes; /* NULL: they were not asked for */
};

#define OF struct stretch

static void stretch_bytes(struct lg__report *report, const void *of)
{
    const struct stretch *stretch = of;
    if (stretch->bytes)
        lg__json_hex(&report->json, stretch->bytes, stretch->info.size);
}

static const struct lg__field stretch_fields[] = {
    FIELD(SIGNED, "threadID", info.tid, "", "The thread of the stack."),
    FIELD(ADDRESS, "start", info.start, "", "Address of the first byte."),
    FIELD(NUMBER, "size", info.size, "bytes", "The number of bytes."),
    MAY_BE("bytes", stretch_bytes, "string", "", "The bytes as hexadecimal digits, where they were asked for."),
    LAST,
};
const struct lg__shape lg__shape_stretch = { "crash-memory-chunk", LG__SENTENCE("A stretch of stack memory."), stretch_fields };

#undef OF

/* Its bytes, from malloc(); NULL: they cannot be read. */
static uint8_t *read_bytes(struct lg__report *report, uint32_t index, const lg_memory_info *info)
{
    uint8_t *bytes = malloc(info->size ? info->size : 1);
    if (bytes && lg__report_has(report, lg_reader_memory_bytes(report->reader, index, bytes, info->size), "stack memory"))
        return bytes;
    free(bytes);
    return NULL;
}

void lg__report_stack_stretches(struct lg__report *report, const void *crash)
{
    struct lg__json_list list = lg__json_list(&report->json);
    struct stretch stretch = { .bytes = NULL };
    (void)crash;
    for (uint32_t i = 0; lg__report_wants(report, LG_REPORT_MEMORY) && i < 65536; i++) {
        if (!lg__report_has(report, lg_reader_memory(report->reader, i, &stretch.info), "stack memory"))
            break;
        if (report->options->stack_bytes && !(stretch.bytes = read_bytes(report, i, &stretch.info)))
            break;
        uint8_t *bytes = stretch.bytes;
        if (report->options->stack_bytes == 2 && !lg__secrets_memory_blank(report->secrets, bytes, stretch.info.size))
            stretch.bytes = NULL;
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_stretch, &stretch);
        free(bytes);
    }
    lg__json_list_end(&report->json, &list);
}

/* ---- where no walk came to its end ---- */

/* As many frames as a person looks through, and the first bytes of the stack, where the innermost
 * ones are. */
#define POSSIBLE_FRAMES 64u
#define POSSIBLE_BYTES 65536u
/* No line of a map is as short: "0-1 r-xp 0 0 0" and its end. */
#define LINE_LEAST 8u

/* Where the map has code. It is asked for each word of the stack, and parsed once. */
struct code {
    uint64_t (*ranges)[2]; /* start, and the address after the last one; from malloc() */
    size_t count;
};

static struct code code_of(const struct map *map)
{
    struct code code = { .ranges = malloc((map->size + 1) * sizeof *code.ranges / LINE_LEAST + sizeof *code.ranges) };
    struct mapping mapping;
    for (size_t at = 0; code.ranges && map_next(map, &at, &mapping);)
        if (strchr(mapping.permissions, 'x')) {
            code.ranges[code.count][0] = mapping.start;
            code.ranges[code.count++][1] = mapping.end;
        }
    return code;
}

static bool is_code(const struct code *code, uint64_t address)
{
    for (size_t i = 0; i < code->count; i++)
        if (address >= code->ranges[i][0] && address < code->ranges[i][1])
            return true;
    return false;
}

static bool is_walked(struct lg__report *report, uint64_t pc)
{
    static const lg_stage stages[] = { LG_STAGE_FRAMES, LG_STAGE_DWARF };
    for (size_t stage = 0; stage < 2; stage++) {
        lg_stack_info info;
        uint64_t frame;
        if (lg_reader_stack(report->reader, stages[stage], &info) != LG_OK)
            continue;
        for (uint32_t i = 0; i < info.stored; i++)
            if (lg_reader_frame(report->reader, stages[stage], i, &frame) == LG_OK && frame == pc)
                return true;
    }
    return false;
}

/* A walk came to its end, and the one that is shown passed no code without unwind tables: that code
 * may have callers which the step by frame pointer left out. */
static bool is_whole(struct lg__report *report)
{
    lg_stack_info frames, dwarf;
    const bool has_dwarf = lg_reader_stack(report->reader, LG_STAGE_DWARF, &dwarf) == LG_OK;
    if (has_dwarf && dwarf.assumed)
        return false;
    return (lg_reader_stack(report->reader, LG_STAGE_FRAMES, &frames) == LG_OK && !frames.truncated) || (has_dwarf && !dwarf.truncated);
}

/* The words that point into code of a module. */
static void write_possible(struct lg__report *report, const struct code *code, const uint8_t *bytes, const lg_memory_info *info)
{
    struct lg__json_list list = lg__json_list(&report->json);
    const size_t size = info->size < POSSIBLE_BYTES ? info->size : POSSIBLE_BYTES;
    uint64_t last = 0;
    uint32_t found = 0;
    for (size_t at = (8 - info->start % 8) % 8; at + 8 <= size && found < POSSIBLE_FRAMES; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if ((found && word == last) || !lg__report_is_in_module(report, word - 1) || !is_code(code, word - 1))
            continue;
        last = word;
        found++;
        if (is_walked(report, word))
            continue;
        lg__json_item(&report->json, &list);
        lg__report_frame(report, word, false);
    }
    lg__json_list_end(&report->json, &list);
}

void lg__report_possible_frames(struct lg__report *report, const void *of)
{
    const lg_crash_info *crash = of;
    lg_memory_info info;
    struct map map;
    if (is_whole(report) || !map_open(report, &map))
        return;
    struct code code = code_of(&map);
    for (uint32_t i = 0; i < 65536 && lg_reader_memory(report->reader, i, &info) == LG_OK; i++) {
        if (info.tid != crash->tid)
            continue;
        uint8_t *bytes = read_bytes(report, i, &info);
        if (bytes)
            write_possible(report, &code, bytes, &info);
        free(bytes);
        break;
    }
    free(code.ranges);
    free(map.text);
}
