/* The places of the sources from which accesses come: the order of each, and its name. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const op_names[] = { "load", "store", "rmw", "fence" };

unsigned order_of(int order)
{
    static const unsigned flags[] = { 0, ACQUIRE, ACQUIRE, RELEASE, ACQUIRE | RELEASE, ACQUIRE | RELEASE | SC };
    return flags[order];
}

/* The order with which an access of the sources takes place. */
unsigned order_at(uintptr_t pc, enum op op, unsigned order)
{
    size_t i = pc * 2654435761u % SITES;
    while (x->sites[i].pc && x->sites[i].pc != pc)
        i = (i + 1) % SITES;
    struct site *site = &x->sites[i];
    if (!site->pc) {
        *site = (struct site){ .pc = pc, .op = op, .order = order, .mask = ~0u };
        if (op == LOAD)
            site->order &= ~(unsigned)RELEASE;
        if (op == STORE)
            site->order &= ~(unsigned)ACQUIRE;
        if (!x->named)
            x->ordered[x->site_count++] = site;
    }
    site->scenarios |= UINT64_C(1) << x->scenario_index;
    return order & site->order & site->mask;
}

void note(const char *what, void *where, uint64_t value, uint32_t age, uintptr_t pc)
{
    if (x->tracing && x->event_count < EVENTS)
        x->events[x->event_count++] = (struct event){ (uint8_t)x->self, what, where, value, age, pc };
}

static void name_pc(uintptr_t pc, char *function, size_t function_size, char *file, size_t file_size, unsigned *line)
{
    char command[200], text[600];
    snprintf(command, sizeof command, "addr2line -f -e /proc/%d/exe %#lx", (int)getpid(), (unsigned long)pc - 1);
    FILE *names = popen(command, "r");
    *line = 0;
    if (!names || !fgets(function, (int)function_size, names) || !fgets(text, sizeof text, names))
        abort();
    pclose(names);
    function[strcspn(function, ".\n")] = 0;
    char *colon = strrchr(text, ':');
    if (colon) {
        *line = (unsigned)strtoul(colon + 1, NULL, 10);
        *colon = 0;
    }
    const char *product = strstr(text, "Sources/CLaunchGuard/");
    snprintf(file, file_size, "%s", product ? product + strlen("Sources/CLaunchGuard/") : strrchr(text, '/') ? strrchr(text, '/') : text);
}

void print_events(void)
{
    for (size_t i = 0; i < x->event_count; i++) {
        const struct event *event = &x->events[i];
        char function[200] = "", file[700] = "";
        unsigned line = 0;
        if (event->pc)
            name_pc(event->pc, function, sizeof function, file, sizeof file, &line);
        printf("    thread %d %s %p %#llx%s %s:%u %s\n", (int8_t)event->thread, event->what, (void *)event->at, (unsigned long long)event->value,
               event->age ? " (older)" : "", file, line, function);
    }
}

const char *order_name(unsigned order)
{
    static const char *const names[] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst", "seq_cst", "seq_cst", "seq_cst" };
    return names[order];
}

static int by_place(const void *left, const void *right)
{
    const struct site *a = *(struct site *const *)left, *b = *(struct site *const *)right;
    const int keys = strcmp(a->key, b->key);
    return keys ? keys : (a->line > b->line) - (a->line < b->line);
}

/* Key: file, function, kind of access, and a number where the function has several. */
void name_sites(void)
{
    size_t count = 0;
    x->named = true;
    for (size_t i = 0; i < x->site_count; i++) {
        struct site *site = x->ordered[i];
        char function[100], file[700];
        name_pc(site->pc, function, sizeof function, file, sizeof file, &site->line);
        if (file[0] == '/' || site->order == 0)
            continue;
        snprintf(site->key, sizeof site->key, "%.90s %.60s %s", file, function, op_names[site->op]);
        x->ordered[count++] = site;
    }
    x->site_count = count;
    qsort(x->ordered, count, sizeof x->ordered[0], by_place);
    unsigned number = 1, line = 0;
    char key[200] = "";
    for (size_t i = 0; i < count; i++) {
        struct site *site = x->ordered[i];
        if (strcmp(key, site->key) != 0) {
            snprintf(key, sizeof key, "%s", site->key);
            number = 1;
        } else if (site->line != line) {
            number++;
        }
        line = site->line;
        if (number > 1)
            snprintf(site->key + strlen(site->key), 12, "#%u", number);
    }
}
