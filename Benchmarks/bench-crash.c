/* What a crash costs: from the fault to what the handler has committed, and to the wait of the parent.
 * bench-crash DIR COUNT */
#include "common.h"

#include <launchguard/launchguard.h>

#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"

enum { FAULT, ENTRY, HEADER, CONTEXT, FRAMES, DWARF, DONE, STAMPS };
static uint64_t *stamps; /* CLOCK_MONOTONIC, shared with the parent */

/* ---- the child ---- */

static void fault(void)
{
    static int *volatile nowhere;
    stamps[FAULT] = now_ns();
    *nowhere = 1;
}

/* The handler that everybody writes. */
static int output;
static void by_backtrace(int signal)
{
    void *frames[512];
    stamps[ENTRY] = now_ns();
    backtrace_symbols_fd(frames, backtrace(frames, 512), output);
    stamps[DONE] = now_ns();
    raise(signal); /* SA_RESETHAND: ends the process */
}

static void on_point(const char *point)
{
    static const struct { const char *name; int stamp; } points[] = {
        { "handler: header", HEADER }, { "handler: context", CONTEXT }, { "handler: frames", FRAMES },
        { "handler: dwarf", DWARF },   { "handler: done", DONE },
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (strcmp(points[i].name, point) == 0)
            stamps[points[i].stamp] = now_ns();
}

static bool on_entry(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    stamps[ENTRY] = now_ns();
    return false;
}

static void start(const char *directory)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = directory;
    if (lg_start(&options, &session) != LG_OK)
        _exit(1);
}

static int child(const char *kind, int depth, const char *directory)
{
    static const struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    if (strcmp(kind, "backtrace") == 0 || strcmp(kind, "backtrace-warm") == 0) {
        void *frames[4];
        output = memfd_create("trace", MFD_CLOEXEC);
        if (strcmp(kind, "backtrace-warm") == 0)
            backtrace(frames, 4); /* loads libgcc_s */
        struct sigaction action = { .sa_handler = by_backtrace, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
        sigaction(SIGSEGV, &action, NULL);
    } else if (strcmp(kind, "lg") == 0) {
        start(directory);
    } else if (strcmp(kind, "stamps") == 0) {
        lg__capture_add_first_chance(on_entry);
        start(directory);
        lg__fault_hook = on_point;
    }
    usleep(10000); /* whatever was started on other threads is done */
    deeper(depth, fault);
    return 0;
}

/* ---- the parent ---- */

static const struct {
    const char *kind, *name;
} peers[] = {
    { "none", "no handler" },
    { "lg", "LaunchGuard" },
    { "backtrace", "backtrace() + backtrace_symbols_fd()" },
    { "backtrace-warm", "the same, backtrace() called once before" },
};
#define PEERS (sizeof peers / sizeof peers[0])

enum { TO_ENTRY, TO_HEADER, TO_CONTEXT, TO_FRAMES, TO_DWARF, TO_DONE, TO_BACKTRACE, TO_BACKTRACE_WARM, INTERVALS };
static const char *const interval_names[INTERVALS] = {
    "fault -> entry of the handler",
    "entry -> crash header committed",
    "entry -> registers, stack and code bytes committed",
    "entry -> frame-pointer frames committed",
    "entry -> DWARF frames committed",
    "entry -> record complete",
    "entry -> backtrace_symbols_fd() written",
    "the same, backtrace() called once before",
};

static double crash(const char *self, const char *kind, int depth, const char *directory)
{
    char depth_text[16];
    snprintf(depth_text, sizeof depth_text, "%d", depth);
    char *arguments[] = { (char *)self, "child", (char *)kind, depth_text, (char *)directory, (char *)shared_name(), NULL };
    uint64_t took;
    memset(stamps, 0, STAMPS * sizeof *stamps);
    int status = run_child(arguments, &took);
    uint64_t end = now_ns();
    if ((status & 127) != SIGSEGV) {
        fprintf(stderr, "bench-crash: %s did not die of SIGSEGV (status %x)\n", kind, status);
        exit(1);
    }
    return (double)(end - stamps[FAULT]) / 1000;
}

static double between(int from, int to)
{
    return (double)(stamps[to] - stamps[from]) / 1000;
}

static void measure(const char *self, int depth, const char *directory, int rounds)
{
    static struct series whole[PEERS], parts[INTERVALS];
    char title[128];
    memset(whole, 0, sizeof whole);
    memset(parts, 0, sizeof parts);
    for (int round = 0; round < rounds; round++) {
        for (size_t peer = 0; peer < PEERS; peer++) {
            series_add(&whole[peer], crash(self, peers[peer].kind, depth, directory));
            if (strcmp(peers[peer].kind, "backtrace") == 0)
                series_add(&parts[TO_BACKTRACE], between(ENTRY, DONE));
            if (strcmp(peers[peer].kind, "backtrace-warm") == 0)
                series_add(&parts[TO_BACKTRACE_WARM], between(ENTRY, DONE));
        }
        crash(self, "stamps", depth, directory);
        series_add(&parts[TO_ENTRY], between(FAULT, ENTRY));
        series_add(&parts[TO_HEADER], between(ENTRY, HEADER));
        series_add(&parts[TO_CONTEXT], between(ENTRY, CONTEXT));
        series_add(&parts[TO_FRAMES], between(ENTRY, FRAMES));
        series_add(&parts[TO_DWARF], between(ENTRY, DWARF));
        series_add(&parts[TO_DONE], between(ENTRY, DONE));
    }
    snprintf(title, sizeof title, "Crash %d calls deep: from the fault to the wait of the parent", depth);
    print_head(title, "us");
    for (size_t peer = 0; peer < PEERS; peer++) {
        whole[peer].name = peers[peer].name;
        print_line(&whole[peer], peer ? &whole[0] : NULL);
    }
    snprintf(title, sizeof title, "Crash %d calls deep: inside the handler, by the clock read behind each commit", depth);
    print_head(title, "us");
    for (int part = 0; part < INTERVALS; part++) {
        parts[part].name = interval_names[part];
        print_line(&parts[part], part == TO_ENTRY ? NULL : &parts[TO_BACKTRACE_WARM]);
    }
    printf("  (ratios to the last line; the clock is read by a test hook, which itself takes some 50 ns)\n");
}

int main(int count, char **arguments)
{
    if (count == 6 && strcmp(arguments[1], "child") == 0) {
        stamps = shared_open(arguments[5], STAMPS * sizeof *stamps);
        return child(arguments[2], atoi(arguments[3]), arguments[4]);
    }
    if (count != 3)
        return 2;
    stamps = shared_make(STAMPS * sizeof *stamps);
    measure(arguments[0], 10, arguments[1], atoi(arguments[2]));
    measure(arguments[0], 64, arguments[1], atoi(arguments[2]));
    measure(arguments[0], 512, arguments[1], atoi(arguments[2]));
    return 0;
}
