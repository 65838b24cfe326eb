/* Random numbers of a test. Round i of a test draws from LAUNCHGUARD_SEED plus i, so that a round
 * that failed is the first one of its own seed. The rounds of the seeds in Tests/seeds.txt come
 * before them: ctest passes those of a test in LAUNCHGUARD_FOUND, and the test's name in
 * LAUNCHGUARD_TEST. */
#ifndef SEEDS_H
#define SEEDS_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ORDINARY_SEED "1"

static inline const char *seed_variable(const char *name, const char *otherwise)
{
    const char *text = getenv(name);
    return text && *text ? text : otherwise;
}

/* The seed of a round; false: all rounds are done. */
static inline bool seed_of_round(uint64_t round, uint64_t rounds, uint64_t *ret_seed)
{
    char *rest;
    for (const char *found = seed_variable("LAUNCHGUARD_FOUND", ""); *found; found = rest) {
        *ret_seed = strtoull(found, &rest, 10);
        if (rest == found)
            break;
        if (round-- == 0)
            return true;
    }
    *ret_seed = strtoull(seed_variable("LAUNCHGUARD_SEED", ORDINARY_SEED), NULL, 10) + round;
    return round < rounds;
}

/* The command line that begins with the round of this seed. */
static inline const char *repeat_command(uint64_t seed)
{
    static char command[512];
    const char *test = getenv("LAUNCHGUARD_TEST");
    snprintf(command, sizeof command, "again with: LAUNCHGUARD_SEED=%" PRIu64 " %s%s", seed, test ? "ctest --output-on-failure --test-dir " : "",
             test ? test : program_invocation_name);
    return command;
}

/* Neighbouring seeds draw nothing alike: SplitMix64, S. Vigna 2015. */
static inline uint64_t mix_seed(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

#endif
