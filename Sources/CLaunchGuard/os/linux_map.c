/* The kernel's map of this process, /proc/self/maps: what lies at an address. */
#include "os/os.h"

#include <string.h>

/* A line of the map: begin, end, rights, offset, device and inode, then the name. Lines are taken
 * apart as they come, for a map may be long. */
enum { LINE_LOW, LINE_HIGH, LINE_RIGHTS, LINE_OFFSET, LINE_DEVICE, LINE_INODE, LINE_NAME, LINE_PARTS };

struct line {
    uint64_t part[LINE_PARTS];
    unsigned now;
    bool in_part; /* spaces are between two parts */
    size_t name_size;
};

static uint64_t digit(char c)
{
    return c >= '0' && c <= '9' ? (uint64_t)(c - '0') : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10 : 15;
}

static void take_letter(struct line *line, char c, char *name)
{
    if (line->now < LINE_NAME && (c == ' ' || (c == '-' && line->now == LINE_LOW))) {
        line->now += line->in_part;
        line->in_part = false;
    } else if (line->now < LINE_NAME) {
        line->in_part = true;
        line->part[line->now] = line->part[line->now] << 4 | digit(c);
    } else if (line->in_part || c != ' ') {
        line->in_part = true;
        if (line->name_size < LG__OS_NAME_BYTES)
            name[line->name_size] = c;
        line->name_size++;
    }
}

static void end_name(const struct line *line, char *name)
{
    static const char deleted[] = " (deleted)";
    const size_t last = sizeof deleted - 1;
    size_t size = line->name_size < LG__OS_NAME_BYTES ? line->name_size : 0;
    if (size > last && memcmp(name + size - last, deleted, last) == 0)
        size -= last;
    name[size] = 0;
}

bool lg__os_mapping_at(uint64_t address, struct lg__os_mapping *ret_mapping)
{
    struct line line = { .now = LINE_LOW };
    uint64_t before = 0, first = 0, device = 0, inode = 0;
    char text[512];
    const int file = lg__os_open("/proc/self/maps");
    long size = file < 0 ? file : 0;
    bool found = false;
    while (file >= 0 && !found && (size = lg__os_read(file, text, sizeof text)) > 0)
        for (long i = 0; i < size && !found; i++) {
            if (text[i] != '\n') {
                take_letter(&line, text[i], ret_mapping->name);
                continue;
            }
            const uint64_t *part = line.part;
            if (part[LINE_INODE] && part[LINE_OFFSET] == 0 && !(first && part[LINE_INODE] == inode && part[LINE_DEVICE] == device && before == part[LINE_LOW])) {
                first = part[LINE_LOW];
                device = part[LINE_DEVICE];
                inode = part[LINE_INODE];
            }
            found = address < part[LINE_HIGH];
            if (found) {
                const bool is_gap = address < part[LINE_LOW];
                const bool has_first = !is_gap && inode && part[LINE_INODE] == inode && part[LINE_DEVICE] == device;
                ret_mapping->is_mapped = !is_gap;
                ret_mapping->low = is_gap ? before : part[LINE_LOW];
                ret_mapping->high = is_gap ? part[LINE_LOW] : part[LINE_HIGH];
                ret_mapping->file_low = has_first ? first : 0;
                end_name(&line, ret_mapping->name);
            }
            before = part[LINE_HIGH];
            line = (struct line){ .now = LINE_LOW };
        }
    if (file >= 0)
        lg__os_close(file);
    if (!found && size == 0 && before) {
        /* field by field: a whole one would lie on the small stack of a handler first */
        ret_mapping->is_mapped = false;
        ret_mapping->low = before;
        ret_mapping->high = UINT64_MAX;
        ret_mapping->file_low = 0;
        ret_mapping->name[0] = 0;
        found = true;
    }
    return found;
}

bool lg__os_stack_bounds_by_map(uint64_t *ret_low, uint64_t *ret_high)
{
    struct lg__os_mapping mapping;
    if (!lg__os_mapping_at((uint64_t)(uintptr_t)__builtin_frame_address(0), &mapping) || !mapping.is_mapped)
        return false;
    *ret_low = mapping.low;
    *ret_high = mapping.high;
    return true;
}
