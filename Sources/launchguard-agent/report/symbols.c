#include "report/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "report/demangle.h"
#include "report/elf_symbols.h"
#include "report/json_words.h"

#define MODULES_MAX 65536u
#define FRAMES_MAX 65536u
#define DEPTH_MAX 64u
#define NAME_BYTES 1024u
/* Tables of the largest programs; a hostile file says any size. */
#define BUDGET (UINT64_C(256) << 20)

struct frames {
    struct frame {
        uint64_t lookup, file_address;
        json_t *json;
    } *list;
    size_t count, room;
};

static void take(struct frames *frames, json_t *frame)
{
    const char *lookup = json_string_value(json_object_get(frame, "lookup")), *in_file = json_string_value(json_object_get(frame, "fileAddress"));
    if (!lookup || !in_file || frames->count == FRAMES_MAX)
        return;
    if (frames->count == frames->room) {
        const size_t room = frames->room ? 2 * frames->room : 256;
        struct frame *list = realloc(frames->list, room * sizeof *list);
        if (!list)
            return;
        frames->list = list;
        frames->room = room;
    }
    frames->list[frames->count++] = (struct frame){ strtoull(lookup, NULL, 16), strtoull(in_file, NULL, 16), frame };
}

/* A frame is an object that says what is to be looked up. */
static void gather(struct frames *frames, json_t *value, unsigned depth)
{
    json_t *member;
    const char *key;
    size_t index;
    if (depth == DEPTH_MAX)
        return;
    if (json_is_object(value)) {
        take(frames, value);
        json_object_foreach(value, key, member)
            gather(frames, member, depth + 1);
    }
    json_array_foreach(value, index, member)
        gather(frames, member, depth + 1);
}

static int by_lookup(const void *a, const void *b)
{
    const struct frame *one = a, *other = b;
    return (one->lookup > other->lookup) - (one->lookup < other->lookup);
}

static size_t first_from(const struct frames *frames, uint64_t start)
{
    size_t low = 0, high = frames->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (frames->list[middle].lookup < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add(const struct frame *frame, const struct elf_symbol *symbol)
{
    char plain[NAME_BYTES];
    const bool is_mangled = demangle_function(symbol->name, plain, sizeof plain);
    const char *name = is_mangled ? plain : symbol->name;
    json_t *list = json_array(), *object = json_object();
    put(object, "name", words_text(name, strlen(name)));
    put(object, "mangledName", is_mangled ? words_text(symbol->name, strlen(symbol->name)) : NULL);
    put(object, "offset", words_number(symbol->address - symbol->start));
    put(object, "isInlined", json_false());
    json_array_append_new(list, object);
    put(frame->json, "symbols", list);
}

/* The frames of one module, which are in order. */
static void look_up(const lg_module *module, const struct frame *frames, size_t count, uint64_t *budget)
{
    struct elf_symbol *symbols = calloc(count, sizeof *symbols);
    if (!symbols)
        return;
    for (size_t i = 0; i < count; i++)
        symbols[i].address = frames[i].lookup - module->bias;
    elf_symbols_find(module->path, module->build_id, symbols, count, budget);
    for (size_t i = 0; i < count; i++) {
        /* another address: that of a module within this one */
        if (symbols[i].name && symbols[i].address == frames[i].file_address)
            add(&frames[i], &symbols[i]);
        free(symbols[i].name);
    }
    free(symbols);
}

void symbols_add(lg_reader *reader, json_t *full)
{
    struct frames frames = { .count = 0 };
    uint64_t budget = BUDGET;
    lg_module module;
    gather(&frames, full, 0);
    if (frames.count)
        qsort(frames.list, frames.count, sizeof *frames.list, by_lookup);
    for (uint32_t i = 0; frames.count && i < MODULES_MAX; i++) {
        const lg_status status = lg_reader_module(reader, i, &module);
        if (status == LG_ERR_DAMAGED && i < 256)
            continue;
        if (status != LG_OK)
            break;
        size_t end;
        const size_t first = first_from(&frames, module.start);
        for (end = first; end < frames.count && frames.list[end].lookup < module.end; end++) {}
        if (end > first && module.bias <= module.start)
            look_up(&module, frames.list + first, end - first, &budget);
    }
    free(frames.list);
}
