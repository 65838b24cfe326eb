/* The cost of one append to a log, in LaunchGuard and elsewhere, and the entries that survive
 * SIGKILL. bench-append DIR ROUNDS */
#include "candidates.h"
#include "measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define KILLS 5

enum figure { NS, CALLS_US, MIDDLE, P99, P999, FIGURES };

static struct series series[CANDIDATES][WIDTHS][FIGURES];
static double instructions[CANDIDATES];
static int kept; /* by LaunchGuard */
static bool by_counter;

static void run_once(enum candidate candidate, struct measured *measured, int round)
{
    char *arguments[] = { (char *)candidate_program(candidate), (char *)candidate_mode(candidate), (char *)candidate_directory(), "time",
                          (char *)shared_name(), NULL };
    struct child child = { .arguments = arguments };
    memset(measured, 0, sizeof *measured);
    int status = child_run(&child);
    if (child.hung || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || !measured->done) {
        candidate_give_up(candidate, child.hung ? "the program hangs" : "the program failed");
        return;
    }
    by_counter = measured->counter;
    for (unsigned of = 0; round >= 0 && of < WIDTHS; of++) {
        const struct figures *now = &measured->of[of];
        const double values[FIGURES] = { now->ns, now->calls_us, now->middle, now->p99, now->p999 };
        for (int i = 0; i < FIGURES; i++)
            series_put(&series[candidate][of][i], (size_t)round, values[i]);
    }
}

static double figure(enum candidate candidate, unsigned of, enum figure figure)
{
    return series_median(&series[candidate][of][figure]);
}

static enum candidate floor_of(enum candidate candidate)
{
    return candidate_formats(candidate) ? FLOOR_FORMAT : FLOOR_CLOCK;
}

static void print_width(unsigned of, enum candidate from, enum candidate to, const char *what)
{
    char title[128];
    snprintf(title, sizeof title, "%s, %u thread%s at once", what, widths[of], of ? "s" : "");
    print_head(title, "ns");
    for (enum candidate i = from; i < to; i++) {
        series[i][of][NS].name = candidate_name(i);
        if (candidate_missing(i))
            print_missing(candidate_name(i), candidate_missing(i));
        else
            print_line(&series[i][of][NS], &series[floor_of(i)][of][NS]);
    }
    printf("\n  %-58s %9s %9s %9s %9s\n", "", "calls/us", "median", "99 %", "99.9 %");
    for (enum candidate i = from; i < to; i++)
        if (!candidate_missing(i))
            printf("  %-58s %9.2f %9.0f %9.0f %9.0f\n", candidate_name(i), figure(i, of, CALLS_US), figure(i, of, MIDDLE), figure(i, of, P99),
                   figure(i, of, P999));
}

static const struct {
    enum candidate candidate;
    const char *mode, *name, *note; /* NULL: from the candidate */
} killed[] = {
    { FLOOR_CLOCK, NULL, NULL, "in a file; half-written entries cannot be recognised" },
    { LG_TEXT, "kept", "LaunchGuard, a ring log of 2 MiB", "in the run file, by lg_reader; no helper" },
    { LG_TEXT, NULL, "LaunchGuard, its ring log as by default", "the newest ones, which the thread's lane of 32 KiB holds" },
    { WRITE_TEXT, NULL, NULL, "in a file" },
    { SPDLOG_BACKTRACE, NULL, NULL, "memory only: there is nothing to read" },
    { SPDLOG_ASYNC, NULL, NULL, "in a file; the rest was in memory, in its queue or stdio's buffer" },
    { GLOG_TEXT, NULL, NULL, "in a file; the rest was in stdio's buffer" },
    { LTTNG_TEXT, NULL, NULL, "in memory of its daemons, which must run and be asked" },
};

static void print_kept(void)
{
    printf("\nKept of %d entries of 40 bytes after SIGKILL right after the last call, least and most of %d kills\n", KILLED_AFTER, KILLS);
    for (size_t row = 0; row < sizeof killed / sizeof killed[0]; row++) {
        enum candidate candidate = killed[row].candidate;
        const char *name = killed[row].name ? killed[row].name : candidate_name(candidate);
        const char *mode = killed[row].mode ? killed[row].mode : candidate_mode(candidate);
        int least = KILLED_AFTER, most = -1;
        for (unsigned kill = 0; kill < KILLS && !candidate_missing(candidate); kill++) {
            int now = candidate_kept(candidate, mode, kill);
            least = now < least ? now : least;
            most = now > most ? now : most;
            if (now < 0)
                candidate_give_up(candidate, "the program did not reach the last call");
        }
        if (candidate_missing(candidate))
            printf("  %-42s not measured: %s\n", name, candidate_missing(candidate));
        else
            printf("  %-42s %4d to %4d  %s\n", name, least, most, killed[row].note);
        if (candidate == LG_TEXT && killed[row].mode)
            kept = least;
        fflush(stdout);
    }
}

static void print_instructions(void)
{
    printf("\nInstructions of one call, of the calling thread, by callgrind; reading the system's clock is a system call there, which counts nothing\n");
    for (enum candidate i = 0; i < CANDIDATES; i++) {
        if (!candidate_missing(i))
            instructions[i] = candidate_instructions(i);
        if (i == 0 && instructions[0] == 0) {
            printf("  not measured: there is no valgrind\n");
            return;
        }
        if (instructions[i] > 0)
            printf("  %-42s %9.0f%s\n", candidate_name(i), instructions[i], candidate_formats(i) ? "  four arguments" : "");
        fflush(stdout);
    }
}

/* ---- Figures of the budget ---- */

static void put_ratio(const char *name, enum candidate over, unsigned over_of, enum candidate under, unsigned under_of)
{
    const char *missing = candidate_missing(over) ? candidate_missing(over) : candidate_missing(under);
    put_figure(name, missing ? NAN : series_ratio(&series[over][over_of][NS], &series[under][under_of][NS]), missing);
}

static void put_figures(void)
{
    put_ratio("floor", LG_TEXT, 0, FLOOR_COUNTER, 0);
    put_ratio("threads", LG_TEXT, 1, LG_TEXT, 0);
    put_ratio("lttng", LTTNG_TEXT, 0, LG_TEXT, 0);
    put_ratio("lttng-threads", LTTNG_TEXT, 1, LG_TEXT, 1);
    put_figure("format", candidate_missing(LG_FORMAT) ? NAN : figure(LG_FORMAT, 0, NS), candidate_missing(LG_FORMAT));
    put_figure("kept", candidate_missing(LG_TEXT) ? NAN : kept, candidate_missing(LG_TEXT));
    put_figure("instructions", instructions[LG_TEXT] > 0 ? instructions[LG_TEXT] : NAN, "valgrind is not installed");
    put_figure("slowest", candidate_missing(LG_TEXT) ? NAN : figure(LG_TEXT, 0, P999), candidate_missing(LG_TEXT));
}

/* ---- All of it ---- */

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "--try") == 0)
        return 0; /* the program can run */
    if (count != 3)
        return 2;
    int rounds = atoi(arguments[2]);
    struct measured *measured = shared_make(sizeof *measured);
    candidates_open(arguments[0], arguments[1]);
    unsigned order[CANDIDATES];
    for (int round = -1; round < rounds; round++) { /* the first round warms up */
        shuffle(order, CANDIDATES);
        for (int i = 0; i < CANDIDATES; i++)
            if (!candidate_missing((enum candidate)order[i]))
                run_once((enum candidate)order[i], measured, round);
    }
    printf("\nOne append to a log: level, time, thread, text; ratios to the floor with the system's clock. Second tables: calls/us of all\n"
           "threads together; median, 99 %%, 99.9 %%: ns of single calls from one reading of %s to the next\n",
           by_counter ? "the CPU's counter" : "the system's clock");
    for (unsigned of = 0; of < WIDTHS; of++)
        print_width(of, 0, TEXTS, "40 bytes of text");
    for (unsigned of = 0; of < WIDTHS; of++)
        print_width(of, TEXTS, CANDIDATES, "Four arguments");
    print_kept();
    print_instructions();
    put_figures();
    return 0;
}
