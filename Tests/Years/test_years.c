/* Devices that live for months, in virtual time: see README.md. Arguments: the device-years to
 * live, without one a sample; `count`: broken invariants are counted and fail nothing. */
#include <stdlib.h>
#include <string.h>

#include "life.h"
#include "seeds.h"

#define SAMPLE_YEARS 3000.0
#define YEAR_S (365.25 * 86400)
#define SHOWN_MOST 3

/* Invariants that today's machine is known to break, each with what is waited for. A broken one is
 * printed, and fails no test. Nothing waits where the table is empty. */
static const struct {
    enum broken broken;
    const char *waits_for;
} known[] = {
    { WHOLE, "" },
};

static struct figures figures;
static bool counts_only;
static uint64_t failed, waiting[BROKEN], first_seed[BROKEN];

static const char *waits_for(enum broken broken)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].broken == broken)
            return known[i].waits_for;
    return NULL;
}

static void show(struct life *life, enum broken broken)
{
    struct trace trace = { NULL, 0, 0 };
    shrink(life, broken);
    trace_program(life, &trace);
    live(life, NULL, &trace, NULL);
    printf("seed %" PRIu64 ": %s\n    %s\n", life->seed, broken_names[broken], trace.text);
    for (unsigned i = 0; i < life->bug_count; i++)
        printf("    bug %u: place %u, task %u, end %u, every %u, cures %#x\n", i + 1, (unsigned)life->bugs[i].where, life->bugs[i].task,
               (unsigned)life->bugs[i].end, life->bugs[i].every, life->bugs[i].cures);
    free(trace.text);
}

static void live_one(uint64_t seed)
{
    static struct life life;
    life = life_draw(seed);
    const enum broken broken = live(&life, &figures, NULL, NULL);
    if (broken == WHOLE)
        return;
    if (counts_only || waits_for(broken)) {
        waiting[broken]++;
        return;
    }
    failed++;
    if (first_seed[broken]++ < SHOWN_MOST)
        show(&life, broken);
}

static unsigned share(double part)
{
    uint64_t so_far = 0;
    unsigned i = 0;
    for (; i + 1 < LONGEST && (double)so_far < part * (double)figures.cured; i++)
        so_far += figures.until_cured[i];
    return i ? i - 1 : 0;
}

static void print_figures(void)
{
    unsigned never = 0;
    printf("%.0f device-years, %" PRIu64 " lives, %" PRIu64 " starts, %" PRIu64 " ends, %" PRIu64 " holds, %" PRIu64 " repairs, %" PRIu64 " cures\n",
           (double)figures.device_s / YEAR_S, figures.lives, figures.starts, figures.ends, figures.held, figures.repairs, figures.cured);
    printf("starts from the first at which repairs run until the program lives: median %u, 99 %% %u, most %u\n", share(0.5), share(0.99), share(1.0));
    printf("most starts in a row: dead before a repair %u, until a repair that cures is tried %u, held %u, good until normal %u\n", figures.most_reach,
           figures.most_waiting, figures.most_blocked, figures.most_normal);
    printf("rows:");
    for (unsigned i = 0; i < ROWS; i++)
        printf("%s %s %" PRIu64, i ? "," : "", row_names[i], figures.rows[i]);
    printf("\nnever reached:");
    for (unsigned i = 0; i < ROWS; i++)
        if (!figures.rows[i])
            printf("%s %s", never++ ? "," : "", row_names[i]);
    printf("%s\n", never ? "" : " none");
    for (unsigned i = 0; i < BROKEN; i++)
        if (waiting[i])
            printf("%s%s: %" PRIu64 " lives\n", counts_only ? "broken: " : "known, waits: ", broken_names[i], waiting[i]);
}

int main(int argc, char **argv)
{
    const double years = argc > 1 ? strtod(argv[1], NULL) : SAMPLE_YEARS;
    uint64_t seed;
    counts_only = argc > 2 && strcmp(argv[2], "count") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t round = 0; (double)figures.device_s < years * YEAR_S && seed_of_round(round, UINT64_MAX, &seed) && failed < 50; round++) {
        const uint64_t before = failed;
        live_one(seed);
        if (failed > before)
            printf("%s\n", repeat_command(seed));
    }
    print_figures();
    return failed != 0;
}
