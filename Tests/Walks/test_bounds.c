/* Registers and stack bytes of an attacker: every walk ends, within its bounds, and reads nothing
 * but what it was given. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "seeds.h"
#include "stack_walk.h"

#define ROUNDS 20000u
#define WORDS 2048u
#define STACK UINT64_C(0x7ffd00000000)

static struct stack_walk_module modules[8];
static const char *files[8];
static uint64_t code[8][2]; /* from, size */
static size_t count;

static int add_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size, (void)argument;
    uint64_t start = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        if (info->dlpi_phdr[i].p_flags & PF_X && count < 8)
            code[count][0] = at, code[count][1] = info->dlpi_phdr[i].p_memsz;
        start = at < start ? at : start;
        end = at + info->dlpi_phdr[i].p_memsz > end ? at + info->dlpi_phdr[i].p_memsz : end;
    }
    if (count < 8 && (count == 0 || info->dlpi_name[0] == '/')) {
        files[count] = count == 0 ? "/proc/self/exe" : info->dlpi_name;
        modules[count++] = (struct stack_walk_module){ start, end, info->dlpi_addr };
    }
    return 0;
}

static uint64_t state;

static uint64_t draw(void)
{
    return state = mix_seed(state);
}

static uint64_t draw_code(void)
{
    const uint64_t *in = code[draw() % count];
    return in[0] + draw() % in[1];
}

/* Mostly an address of code, or else one of the stack, or anything. */
static uint64_t draw_word(void)
{
    const uint64_t kind = draw() % 64;
    return kind < 60 ? draw_code() : kind < 63 ? STACK + draw() % (WORDS * 8 + 64) / 8 * 8 : draw();
}

static bool is_within(const struct stack_walk_result *result)
{
    if (result->count == 0 || result->count > STACK_WALK_FRAMES || result->end == STACK_WALK_NO_FILE)
        return false;
    return result->end != STACK_WALK_LIMIT || result->count == STACK_WALK_FRAMES;
}

int main(void)
{
    static struct stack_walk_result result;
    uint64_t seed, longest = 0;
    stack_walk *walk = stack_walk_begin();
    if (!walk) {
        puts("libdw.so.1 is missing: scripts/install-packages");
        return 0;
    }
    dl_iterate_phdr(add_module, NULL);
    for (size_t i = 0; i < count; i++)
        if (!stack_walk_add(walk, &modules[i], &files[i], 1) || !stack_walk_has(walk, modules[i].start))
            return 1;
    for (uint64_t round = 0; seed_of_round(round, ROUNDS, &seed); round++) {
        struct stack_walk_registers registers;
        state = seed;
        /* of exactly that size, so that a read beyond it is seen */
        const size_t words = 1 + draw() % WORDS;
        uint64_t *bytes = malloc(words * sizeof *bytes);
        for (size_t i = 0; i < words; i++)
            bytes[i] = draw_word();
        memset(&registers, 0, sizeof registers);
        for (size_t i = 0; i < STACK_WALK_REGISTERS; i++)
            registers.values[i] = draw_word();
        registers.pc = draw() % 8 ? draw_code() : draw();
        registers.is_aarch64 = draw() % 8 == 0;
        registers.is_pc_wild = draw() % 8 == 0;
        registers.values[registers.is_aarch64 ? 31 : 7] = draw() % 8 ? STACK + draw() % (words * 8) : draw();
        const struct stack_walk_memory memory = { draw() % 16 ? STACK : UINT64_MAX - words * 8 + 1 + draw() % 8, words * 8 - draw() % 8, (const uint8_t *)bytes };
        stack_walk_thread(walk, modules, count, &memory, 1, &registers, &result);
        free(bytes);
        longest = result.count > longest ? result.count : longest;
        if (!is_within(&result)) {
            printf("%u frames, end %d; again with: %s\n", result.count, (int)result.end, repeat_command(seed));
            return 1;
        }
    }
    stack_walk_end(walk);
    printf("%u walks, the longest of %u frames\n", ROUNDS, (unsigned)longest);
    return longest > 10 ? 0 : 1;
}
