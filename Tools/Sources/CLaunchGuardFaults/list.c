/* The catalogue as text and as JSON. */
#include <stdio.h>
#include <string.h>

#include "catalogue.h"

static const struct lgf_entry *const tables[] = { lgf_hardware, lgf_stack,    lgf_aborts,  lgf_signals, lgf_limits,
                                                  lgf_processes, lgf_handlers, lgf_pid_one, lgf_others };
#define TABLES (sizeof tables / sizeof tables[0])
#define ADDED_MAX 128
static struct lgf_entry added[ADDED_MAX];
static size_t added_count;

void lgf_add(const struct lgf_entry *entry)
{
    if (added_count < ADDED_MAX)
        added[added_count++] = *entry;
}

const struct lgf_entry *lgf_entry_at(size_t index)
{
    for (size_t i = 0; i < TABLES; i++)
        for (const struct lgf_entry *entry = tables[i]; entry->name; entry++)
            if (index-- == 0)
                return entry;
    return index < added_count ? &added[index] : NULL;
}

const struct lgf_entry *lgf_find(const char *name)
{
    const struct lgf_entry *entry;
    for (size_t i = 0; (entry = lgf_entry_at(i)); i++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

/* ---- names that look alike ---- */

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* The number of letters to change, add or leave out (Levenshtein). */
static unsigned distance(const char *from, const char *to)
{
    unsigned row[64];
    size_t width = strlen(to);
    if (width >= 64)
        return 64;
    for (size_t i = 0; i <= width; i++)
        row[i] = (unsigned)i;
    for (unsigned line = 1; *from; from++, line++) {
        unsigned diagonal = row[0];
        row[0] = line;
        for (size_t i = 1; i <= width; i++) {
            unsigned changed = diagonal + (*from != to[i - 1]);
            diagonal = row[i];
            row[i] = least(changed, least(row[i], row[i - 1]) + 1);
        }
    }
    return row[width];
}

void lgf_suggest(const char *name)
{
    const struct lgf_entry *entry;
    const char *before = "near names:";
    for (size_t i = 0; (entry = lgf_entry_at(i)); i++)
        if (distance(name, entry->name) <= 3 || (strlen(name) >= 4 && strstr(entry->name, name))) {
            fprintf(stderr, "%s %s", before, entry->name);
            before = ",";
        }
    fprintf(stderr, before[0] == ',' ? "\n" : "--list shows all names\n");
}

/* ---- lists ---- */

static const char *const statuses[] = { "signal", "exit", "any" };
static const char *const records[] = { "none", "header", "full", "any" };
static const struct {
    uint32_t flag;
    const char *name;
} needs[] = { { LGF_NEEDS_ROOT, "root" },       { LGF_NEEDS_CGROUP, "cgroup" }, { LGF_NEEDS_NAMESPACE, "namespace" },
              { LGF_NEEDS_SECCOMP, "seccomp" }, { LGF_NEEDS_X86_64, "x86-64" } },
  traits[] = { { LGF_CORE, "core" }, { LGF_OWN_THREADS, "own-threads" }, { LGF_PREPARES, "prepares" }, { LGF_OWN_STATE, "own-state" } };

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void print_field(const char *name, const char *text)
{
    printf("\"%s\":", name), print_text(text), putchar(',');
}

static void print_expected(const struct lgf_entry *entry)
{
    printf("\"expected\":{\"status\":\"%s\",\"numbers\":[", statuses[entry->status]);
    if (entry->status != LGF_ANY)
        printf("%d", entry->number);
    if (entry->other_number)
        printf(",%d", entry->other_number);
    printf("],\"kinds\":[");
    for (size_t i = 0; i < LGF_KINDS_MAX && entry->kinds[i]; i++)
        printf(i ? ",\"%s\"" : "\"%s\"", lg_crash_kind_name(entry->kinds[i]));
    printf("],\"record\":\"%s\",\"end\":[", records[entry->record]);
    const char *before = "";
    for (unsigned i = 0; i < 31; i++)
        if (entry->ends & (1u << i))
            printf("%s\"%s\"", before, lg_end_name((lg_end)i)), before = ",";
    if (entry->ends & LGF_END_NO_RUN)
        printf("\"no-run\"");
    printf("],\"has_address\":%s,\"launch\":\"%c\",\"message\":",
           entry->address == LGF_ADDRESS_YES  ? "true"
           : entry->address == LGF_ADDRESS_NO ? "false"
                                              : "null",
           entry->launch);
    if (entry->message)
        print_text(entry->message);
    else
        printf("null");
    printf(",\"sentence\":");
    if (entry->sentence)
        print_text(entry->sentence);
    else
        printf("null");
    printf(",\"lasts_ms\":%u},", entry->lasts_ms);
}

static void print_json(const struct lgf_entry *entry)
{
    const char section[] = { entry->section, 0 };
    putchar('{');
    print_field("name", entry->name), print_field("section", section), print_field("language", entry->language);
    print_field("summary", entry->summary), print_expected(entry);
    if (entry->phase)
        print_field("phase", entry->phase);
    printf("\"needs\":[");
    for (size_t i = 0, count = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (entry->needs & needs[i].flag)
            printf(count++ ? ",\"%s\"" : "\"%s\"", needs[i].name);
    printf("],\"traits\":[");
    for (size_t i = 0, count = 0; i < sizeof traits / sizeof traits[0]; i++)
        if (entry->traits & traits[i].flag)
            printf(count++ ? ",\"%s\"" : "\"%s\"", traits[i].name);
    printf("]}");
}

static void print_line(const struct lgf_entry *entry)
{
    char status[32];
    if (entry->status == LGF_ANY)
        snprintf(status, sizeof status, "any end");
    else
        snprintf(status, sizeof status, entry->status == LGF_SIGNAL ? "SIG%s" : "exit %s",
                 entry->status == LGF_SIGNAL ? (sigabbrev_np(entry->number) ? sigabbrev_np(entry->number) : "RT") : "");
    if (entry->status == LGF_EXIT)
        snprintf(status, sizeof status, "exit %d", entry->number);
    printf("%-33s %c %-6s %-9s %-26s %s\n", entry->name, entry->section, entry->language, status,
           entry->kinds[0]                      ? lg_crash_kind_name(entry->kinds[0])
           : entry->record == LGF_RECORD_NONE ? "-"
                                                : records[entry->record],
           entry->summary);
}

void lgf_list(bool json)
{
    const struct lgf_entry *entry;
    if (json)
        putchar('[');
    for (size_t i = 0; (entry = lgf_entry_at(i)); i++) {
        if (json) {
            printf(i ? ",\n" : "");
            print_json(entry);
        } else {
            print_line(entry);
        }
    }
    if (json)
        printf("]\n");
}
