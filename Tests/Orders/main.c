/* The program of a test. */
#include "model.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct explorer *x;

static int find_tls(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            x->tls = info->dlpi_tls_data;
            x->tls_size = info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the program is the first */
}

static void *map(size_t size)
{
    void *result = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (result == MAP_FAILED)
        abort();
    return result;
}

static void prepare(void)
{
    extern uint8_t __data_start[], _end[];
    x = map(sizeof *x);
    x->self = -1;
    x->begin = __data_start;
    x->end = _end;
    const size_t bytes = (size_t)(x->end - x->begin);
    x->cut = map(bytes);
    x->writers = (struct users){ map(bytes), map(bytes) };
    x->users = (struct users){ map(bytes), map(bytes) };
    x->kinds = map(bytes);
    x->location_at = map(bytes * sizeof x->location_at[0]);
    x->locations = map(LOCATIONS * sizeof x->locations[0]);
    x->arena = map(ARENA_BYTES);
    x->limit = UINT64_MAX;
    dl_iterate_phdr(find_tls, NULL);
    x->tls_initial = map(x->tls_size + 1);
    tls_copy(x->tls_initial, x->tls);
    for (int i = 0; i < ORDERS_THREADS; i++) {
        x->threads[i].stack = map(STACK_BYTES);
        x->threads[i].tls = map(x->tls_size + 1);
    }
    x->initial = map(bytes);
    memcpy(x->initial, x->begin, bytes);
}

static bool explore_and_print(bool weak)
{
    x->weak = weak;
    const bool right = explore();
    x->runs_of[x->scenario_index] = x->runs;
    const uint64_t wanted = weak ? x->scenario->wanted : x->scenario->wanted_x86;
    const bool all = (x->seen & wanted) == wanted;
    printf("%s, %s: %llu runs, %s%s%s\n", x->scenario->name, weak ? "C11" : "x86-64", (unsigned long long)x->runs, x->bounded ? "bounded" : "complete",
           right ? "" : ": WRONG: ", right ? "" : x->wrong);
    if (!right) {
        x->tracing = true;
        run_once();
        x->tracing = false;
        print_events();
    } else if (!all) {
        printf("    outcomes %#llx were not seen\n", (unsigned long long)(wanted & ~x->seen));
    }
    fflush(stdout);
    return right && all;
}

int orders_main(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
    const char *name = NULL, *list = NULL, *program = strrchr(argv[0], '/');
    bool right = true, wide = false;
    program = program ? program + 1 : argv[0];
    if (strncmp(program, "test-orders-", 12) == 0)
        program += 12;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (size_t j = 0; j < count; j++)
                printf("%s: %s: %s\n", program, scenarios[j].name, scenarios[j].sections ? scenarios[j].sections : "");
            return 0;
        }
        if (strcmp(argv[i], "--all") == 0)
            wide = true;
        else if (strcmp(argv[i], "--mutants") == 0 && i + 1 < argc)
            list = argv[++i];
        else
            name = argv[i];
    }
    prepare();
    x->all = wide;
    for (size_t i = 0; i < count; i++) {
        if (name && strcmp(name, scenarios[i].name) != 0)
            continue;
        x->scenario = &scenarios[i];
        x->scenario_index = (unsigned)i;
        if (wide)
            right &= explore_and_print(false);
        right &= explore_and_print(true);
    }
    if (list && right) {
        sort_scenarios(count);
        return try_mutants(program, scenarios, count, list);
    }
    return right ? 0 : 1;
}
