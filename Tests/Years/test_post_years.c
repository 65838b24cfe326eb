/* Devices that deliver their reports for months, in virtual time: see README.md. Argument: the
 * device-years to live, without one a sample. */
#include <inttypes.h>
#include <stdlib.h>

#include "post.h"
#include "seeds.h"

#define SAMPLE_YEARS 4000.0
#define YEAR_S (365.25 * 86400)
#define SHOWN_MOST 3

static struct post_figures figures;
static unsigned failed;

static void show(const struct world *world, enum post_broken broken, unsigned day)
{
    printf("seed %" PRIu64 ": %s, on day %u: %u bugs, %u crashes, poison %d, clock %d, %u %% of the answers are lost, %u %% of the agents killed, %u reports\n%s\n",
           world->seed, post_broken_names[broken], day, world->bug_count, world->crash_count, world->poison, (int)world->clock, world->lost_percent,
           world->killed_percent, world->keep_reports, repeat_command(world->seed));
}

static void print_figures(void)
{
    static const char *const fates[] = { "again", "taken", "not compressed", "without its second part", "held", "given up" };
    printf("%.0f device-years, %" PRIu64 " lives, %" PRIu64 " crashes, %" PRIu64 " reports, %" PRIu64 " requests, %" PRIu64 " reports arrived\n",
           (double)figures.device_s / YEAR_S, figures.lives, figures.crashes, figures.reports, figures.requests, figures.arrived);
    printf("attempts:");
    for (unsigned i = 0; i <= FATE_DEAD; i++)
        printf("%s %s %" PRIu64, i ? "," : "", fates[i], figures.fates[i]);
    printf("\nmost: online days until a bug is known %u; requests a day %u, of which %u reach a server\n", figures.most_days, figures.most_requests_a_day,
           figures.most_left_a_day);
}

int main(int argc, char **argv)
{
    static struct world world;
    const double years = argc > 1 ? strtod(argv[1], NULL) : SAMPLE_YEARS;
    uint64_t seed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t round = 0; (double)figures.device_s < years * YEAR_S && seed_of_round(round, UINT64_MAX, &seed) && failed < 50; round++) {
        unsigned day;
        world_draw(&world, seed);
        const enum post_broken broken = post_live(&world, &figures, &day);
        if (broken != POST_WHOLE && failed++ < SHOWN_MOST)
            show(&world, broken, day);
    }
    print_figures();
    return failed != 0;
}
