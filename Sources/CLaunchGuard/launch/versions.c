/* The versions of the program that have crashed. A new one begins anew: its counters do not inherit
 * the trouble of the version before. One that has crashed itself goes on with them, so that two
 * versions which alternate and both crash are no way around the machine. */
#include "launch/versions.h"

#include <string.h>

static uint32_t index_of(const struct lg__ledger_payload *payload, uint32_t program)
{
    uint32_t i = 0;
    while (i < LG__CRASHED_PROGRAMS && payload->crashed_programs[i] != program)
        i++;
    return i;
}

void lg__versions_note_crash(struct lg__ledger_payload *payload, uint32_t program)
{
    uint32_t *list = payload->crashed_programs, at = index_of(payload, program);
    if (at == LG__CRASHED_PROGRAMS)
        at--; /* the one whose crash is the longest ago makes room */
    memmove(list + 1, list, at * sizeof *list);
    list[0] = program;
}

bool lg__versions_begin_anew(const struct lg__ledger_payload *payload, uint32_t before, uint32_t now)
{
    return now != before && index_of(payload, now) == LG__CRASHED_PROGRAMS;
}
