/* The contexts that a crash belongs to. */
#include <stdlib.h>
#include <string.h>

#include "launch/decide.h"
#include "launch/evidence.h"

struct owned {
    uint64_t start, end;
    uint32_t owners; /* bit i: contexts[i] */
};

static bool owns_module(const lg_run_context *context, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    /* The list ends with an empty name; the reader has seen that it does. */
    for (const char *own = context->modules; *own; own += strlen(own) + 1)
        if (strcmp(own, name) == 0)
            return true;
    return false;
}

/* The loaded modules that launching contexts own. The table is read only where one of them owns
 * any. */
static uint32_t list_owned(lg_reader *reader, const lg_run_context *contexts, uint32_t count, struct owned *ret_owned, uint32_t room)
{
    lg_module module;
    uint32_t found = 0, asking = 0;
    for (uint32_t c = 0; c < count; c++)
        if (lg__phase_launching(contexts[c].phase) && contexts[c].modules[0])
            asking |= 1u << c;
    for (uint32_t i = 0; asking && found < room && lg_reader_module(reader, i, &module) == LG_OK; i++) {
        uint32_t owners = 0;
        for (uint32_t c = 0; c < count; c++)
            if ((asking & 1u << c) && owns_module(&contexts[c], module.path))
                owners |= 1u << c;
        if (owners)
            ret_owned[found++] = (struct owned){ module.start, module.end, owners };
    }
    return found;
}

/* The walk goes from the innermost frame outwards, to the first one in a module that a launching
 * context owns. It passes over all other frames, those of the main program too. The main program is
 * on every stack, and a crash in libc, in a callback of the program or in LaunchGuard itself
 * belongs to the code that called them. Without such a frame the crash belongs to the context whose
 * task ran on the crashed thread; else to no context in particular. */
uint32_t lg__attribution_of(lg_reader *reader, const lg_crash_info *crash, const lg_run_context *contexts, uint32_t count)
{
    struct owned owned[64];
    uint32_t owned_count = list_owned(reader, contexts, count, owned, sizeof owned / sizeof owned[0]), owners = 0;
    if (owned_count) {
        lg_stack_choice walk = { .stage = LG_STAGE_DWARF };
        uint64_t pc;
        lg_reader_stack_choice(reader, &walk);
        for (uint32_t frame = 0; lg_reader_frame(reader, walk.stage, frame, &pc) == LG_OK; frame++) {
            /* a return address may be the first byte after its function, and its module */
            uint64_t at = frame ? pc - 1 : pc;
            for (uint32_t i = 0; i < owned_count; i++)
                if (at >= owned[i].start && at < owned[i].end)
                    return owned[i].owners;
        }
    }
    for (uint32_t c = 0; c < count; c++)
        if (lg__phase_launching(contexts[c].phase) && contexts[c].task[0] && contexts[c].task_tid && contexts[c].task_tid == crash->tid)
            owners |= 1u << c;
    return owners;
}
