/* Each order of the sources, weakened. */
#include "model.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Those with the fewest runs come first. */
void sort_scenarios(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t to = i;
        for (; to > 0 && x->runs_of[x->shortest[to - 1]] > x->runs_of[i]; to--)
            x->shortest[to] = x->shortest[to - 1];
        x->shortest[to] = i;
    }
}

static bool is_found(const struct scenario *scenarios, size_t count, size_t first, size_t next, unsigned mask)
{
    bool found = false;
    for (size_t i = first; i < next; i++)
        x->ordered[i]->mask = mask;
    for (size_t n = 0; n < count && !found; n++) {
        const size_t i = x->shortest[n];
        if (!(x->ordered[first]->scenarios >> i & 1))
            continue;
        x->scenario = &scenarios[i];
        x->scenario_index = (unsigned)i;
        x->weak = true;
        found = !explore();
    }
    for (size_t i = first; i < next; i++)
        x->ordered[i]->mask = ~0u;
    return found;
}

/* The weakest order that no scenario finds; none: all are found. */
static bool survives(const struct scenario *scenarios, size_t count, size_t first, size_t next, unsigned *ret_order)
{
    static const unsigned masks[] = { 0, ACQUIRE, RELEASE, ACQUIRE | RELEASE };
    const unsigned order = x->ordered[first]->order;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        if ((order & masks[i]) != masks[i] || masks[i] == order)
            continue;
        if (!is_found(scenarios, count, first, next, masks[i])) {
            *ret_order = masks[i];
            return true;
        }
    }
    return false;
}

static bool is_listed(const char *list, const char *program, const char *key, const char *order, bool *ret_any)
{
    char text[600], begin[400];
    bool result = false;
    FILE *lines = fopen(list, "r");
    if (!lines)
        return false;
    *ret_any = false;
    const int any = snprintf(begin, sizeof begin, "%s: %s ", program, key);
    const int whole = snprintf(begin, sizeof begin, "%s: %s %s: ", program, key, order);
    while (fgets(text, sizeof text, lines)) {
        result |= strncmp(text, begin, (size_t)whole) == 0 && strlen(text) > (size_t)whole + 4;
        *ret_any |= strncmp(text, begin, (size_t)any) == 0;
    }
    fclose(lines);
    return result;
}

static unsigned count_lines(const char *list, const char *program)
{
    char text[600];
    unsigned count = 0;
    FILE *lines = fopen(list, "r");
    while (lines && fgets(text, sizeof text, lines))
        count += strncmp(text, program, strlen(program)) == 0 && text[strlen(program)] == ':';
    if (lines)
        fclose(lines);
    return count;
}

int try_mutants(const char *program, const struct scenario *scenarios, size_t count, const char *list)
{
    unsigned found = 0, listed = 0, bad = 0;
    name_sites();
    for (size_t first = 0, next; first < x->site_count; first = next) {
        const struct site *site = x->ordered[first];
        bool any = false;
        unsigned order = 0;
        for (next = first + 1; next < x->site_count && strcmp(x->ordered[next]->key, site->key) == 0; next++) {}
        const bool lives = survives(scenarios, count, first, next, &order);
        const bool is_right = lives ? is_listed(list, program, site->key, order_name(order), &any) : (is_listed(list, program, site->key, "", &any), !any);
        if (!is_right && lives)
            printf("NOT FOUND: %s: %s %s: (line %u, is %s)\n", program, site->key, order_name(order), site->line, order_name(site->order));
        else if (!is_right)
            printf("LISTED, BUT FOUND: %s: %s\n", program, site->key);
        fflush(stdout);
        found += !lives;
        listed += lives && is_right;
        bad += !is_right;
    }
    const unsigned lines = count_lines(list, program);
    if (lines > listed + bad) {
        printf("the list has %u lines for %s, and %u places\n", lines, program, listed);
        bad++;
    }
    printf("%s: every weaker order is found at %u places; %u are listed\n", program, found, listed);
    return bad ? 1 : 0;
}
