/* The surroundings of a crash: resource figures, memory map, the last words on standard error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/reader.h"

lg_status lg__reader_process(const lg_reader *reader, struct lg__reader_process *ret_process, char *map, size_t size)
{
    size_t committed = 0;
    lg_status status = lg__reader_crashed(reader);
    if (status == LG_OK)
        status = lg__reader_stage_parts(reader, LG_STAGE_PROCESS, ret_process, sizeof *ret_process, map, size, &committed);
    if (status != LG_OK)
        return status;
    return ret_process->map_size <= LG__MAP_BYTES && committed >= sizeof *ret_process + ret_process->map_size ? LG_OK : LG_ERR_DAMAGED;
}

lg_status lg_reader_map(lg_reader *reader, char *buffer, size_t size, size_t *ret_size, uint32_t *ret_cut)
{
    struct lg__reader_process process;
    if (!reader || (!buffer && size) || !ret_size || !ret_cut)
        return LG_ERR_ARGUMENT;
    size_t room = size ? size - 1 : 0;
    lg_status status = lg__reader_process(reader, &process, buffer, room < LG__MAP_BYTES ? room : LG__MAP_BYTES);
    if (size)
        buffer[status == LG_OK && process.map_size < room ? process.map_size : status == LG_OK ? room : 0] = 0;
    if (status != LG_OK)
        return status;
    *ret_size = process.map_size;
    *ret_cut = process.map_cut == 1;
    return LG_OK;
}

bool lg__reader_is_memory(const lg_reader *reader, uint64_t address)
{
    struct lg__reader_process process;
    char *map = malloc(LG__MAP_BYTES + 1);
    bool found = false;
    if (map && lg__reader_process(reader, &process, map, LG__MAP_BYTES) == LG_OK) {
        map[process.map_size] = 0;
        for (char *line = map, *end; !found && (end = strchr(line, '\n')); line = end + 1) {
            uint64_t low, high, inode;
            int path = 0;
            *end = 0;
            if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64 " %n", &low, &high, &inode, &path) == 3 && path && address >= low &&
                address < high)
                found = !line[path] || line[path] == '[' || strncmp(line + path, "/anon_hugepage", 14) == 0;
        }
    }
    free(map);
    return found;
}

static bool is_limit(uint32_t index)
{
    return index == LG_RESOURCE_VIRTUAL_LIMIT || index == LG_RESOURCE_DATA_LIMIT || index == LG_RESOURCE_STACK_LIMIT ||
           index == LG_RESOURCE_CGROUP_LIMIT || index == LG_RESOURCE_DESCRIPTOR_LIMIT || index == LG_RESOURCE_CPU_LIMIT;
}

lg_status lg_reader_resource(lg_reader *reader, uint32_t index, lg_resource *ret_resource)
{
    static const struct { const char *name, *unit; } table[] = {
#define ROW(identifier, index, name, unit) [index] = { name, unit },
        LG_RESOURCE_TABLE(ROW)
#undef ROW
    };
    static_assert(sizeof table / sizeof table[0] <= LG__RESOURCES, "every figure has its place");
    struct lg__reader_process process;
    if (!reader || !ret_resource)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_process(reader, &process, NULL, 0);
    if (status != LG_OK)
        return status;
    if (index >= sizeof table / sizeof table[0])
        return LG_ERR_NOT_FOUND;
    memset(ret_resource, 0, sizeof *ret_resource);
    snprintf(ret_resource->name, sizeof ret_resource->name, "%s", table[index].name);
    snprintf(ret_resource->unit, sizeof ret_resource->unit, "%s", table[index].unit);
    uint64_t value = process.resources[index];
    ret_resource->known = value != LG__RESOURCE_UNKNOWN;
    ret_resource->value = !ret_resource->known ? 0 : is_limit(index) && value == LG__RESOURCE_UNLIMITED ? UINT64_MAX : value;
    return LG_OK;
}

lg_status lg_reader_stderr(lg_reader *reader, uint8_t *buffer, size_t *ret_size, uint64_t *ret_total)
{
    struct lg__tail tail;
    if (!reader || !buffer || !ret_size || !ret_total)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    struct lg__section section;
    if (!lg__reader_has_section(reader, LG__SECTION_TAIL))
        return LG_ERR_NOT_FOUND; /* there was no space for it */
    if (!lg__reader_section(reader, LG__SECTION_TAIL, &section) || section.size <= offsetof(struct lg__tail, bytes))
        return LG_ERR_DAMAGED;
    /* The tail of another version may be shorter. */
    const size_t whole = section.size < sizeof tail ? (size_t)section.size : sizeof tail, room = whole - offsetof(struct lg__tail, bytes);
    /* The total before the bytes and the total after them: a living process writes. */
    uint64_t total, begun;
    if (!lg__reader_block(reader, LG__SECTION_TAIL, 0, &total, sizeof total) || !lg__reader_block(reader, LG__SECTION_TAIL, 0, &tail, whole) ||
        !lg__reader_block(reader, LG__SECTION_TAIL, offsetof(struct lg__tail, begun), &begun, sizeof begun))
        return LG_ERR_DAMAGED;
    if (total == 0)
        return LG_ERR_NOT_FOUND;
    const uint64_t end = begun > total && begun - total < room ? begun : total, oldest = end < room ? 0 : end - room;
    const size_t size = (size_t)(total - oldest), first = (size_t)(oldest % room);
    const size_t straight = size < room - first ? size : room - first;
    memcpy(buffer, tail.bytes + first, straight);
    memcpy(buffer + straight, tail.bytes, size - straight);
    *ret_size = size;
    *ret_total = total;
    return LG_OK;
}
