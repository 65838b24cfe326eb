#include "record.h"

#include <launchguard/launchguard.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peers.h"

static bool in_scene(uint64_t address)
{
    return address >= peer_shared->begin && address < peer_shared->end;
}

/* As numbers after "0x" in text, or as words in a file of addresses. */
static unsigned frames_of_output(void)
{
    static char output[1 << 20];
    unsigned count = 0;
    ssize_t size = pread(peer_output, output, sizeof output - 1, 0);
    if (size <= 0)
        return 0;
    output[size] = 0;
    for (ssize_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, output + i, sizeof word);
        count += in_scene(word);
    }
    for (ssize_t i = 0; i + 2 < size; i++)
        if (output[i] == '0' && output[i + 1] == 'x' && isxdigit((unsigned char)output[i + 2]))
            count += in_scene(strtoull(output + i + 2, NULL, 16));
    return count;
}

static unsigned frames_of_walk(lg_reader *reader, lg_stage stage)
{
    unsigned count = 0;
    uint64_t pc;
    for (uint32_t i = 0; lg_reader_frame(reader, stage, i, &pc) == LG_OK; i++)
        count += in_scene(pc);
    return count;
}

static unsigned frames_of_run(void)
{
    lg_reader *reader;
    lg_crash_info crash;
    if (lg_reader_open(peer_shared->record, &reader) != LG_OK)
        return 0;
    unsigned count = lg_reader_crash(reader, &crash) == LG_OK && in_scene(crash.pc);
    unsigned by_pointer = frames_of_walk(reader, LG_STAGE_FRAMES), by_dwarf = frames_of_walk(reader, LG_STAGE_DWARF);
    lg_reader_close(reader);
    count = by_pointer > count ? by_pointer : count;
    return by_dwarf > count ? by_dwarf : count;
}

unsigned record_frames(void)
{
    return peer_shared->record[0] ? frames_of_run() : frames_of_output();
}
