/* The cost of lg_start(). A process has one start, so every figure is from a child of its own.
 *
 * bench-start EMPTY DIR COUNT */
#include "common.h"

#include <launchguard/launchguard.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES 65536
#define STACK_BYTES 65536

static void handler(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
}

/* The least work of any crash reporter with a mapped file. */
static void floor_start(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || posix_fallocate(file, 0, FILE_BYTES) != 0)
        _exit(1);
    char *map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || stack == MAP_FAILED)
        _exit(1);
    map[0]++; /* the header is written */
    const stack_t alternate = { .ss_sp = stack, .ss_size = STACK_BYTES };
    sigaltstack(&alternate, NULL);
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTERM };
    for (size_t i = 0; i < 8; i++) {
        struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };
        sigaction(signals[i], &action, NULL);
    }
}

/* Times of one start. The CPU time is that of the calling thread, which other work on the machine
 * changes less. */
struct took {
    uint64_t ns, cpu_ns;
};

static struct took since(struct took begin)
{
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return (struct took){ now_ns() - begin.ns, (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec - begin.cpu_ns };
}

static int child(char **arguments)
{
    struct took *took = shared_open(arguments[4], sizeof *took), begin = since((struct took){ 0, 0 });
    if (strcmp(arguments[2], "floor") == 0) {
        floor_start(arguments[3]);
        *took = since(begin);
        return 0;
    }
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = arguments[3];
    lg_status status = lg_start(&options, &session);
    *took = since(begin);
    return status != LG_OK;
}

enum { FLOOR_NEW, FLOOR, START_NEW, START, KINDS };
static const char *const names[KINDS] = { "the floor, making its file", "the floor, existing file", "lg_start(), new state directory",
                                          "lg_start(), existing state directory" };
static struct series inside[KINDS], cpu[KINDS];
static struct series whole[2] = { { .name = "an empty program" }, { .name = "a program that calls lg_start(), existing state directory" } };

static void measure(const char *self, int kind, const char *path, const struct took *shared, struct series *out)
{
    const char *what = kind == FLOOR || kind == FLOOR_NEW ? "floor" : "start";
    char *arguments[] = { (char *)self, "child", (char *)what, (char *)path, (char *)shared_name(), NULL };
    uint64_t took;
    if (run_child(arguments, &took) != 0) {
        fprintf(stderr, "bench-start: %s in %s does not work\n", what, path);
        exit(1);
    }
    series_add(&inside[kind], (double)shared->ns / 1000);
    series_add(&cpu[kind], (double)shared->cpu_ns / 1000);
    if (out)
        series_add(out, (double)took / 1000);
}

int main(int count, char **arguments)
{
    if (count == 5 && strcmp(arguments[1], "child") == 0)
        return child(arguments);
    if (count != 4)
        return 2;
    int rounds = atoi(arguments[3]);
    struct took *shared = shared_make(sizeof *shared);
    char path[4096], floor_path[4096], same[4096];
    snprintf(same, sizeof same, "%s/same", arguments[2]);
    snprintf(floor_path, sizeof floor_path, "%s/floor", arguments[2]);
    for (int i = 0; i < rounds; i++) {
        snprintf(path, sizeof path, "%s/floor-%d", arguments[2], i);
        measure(arguments[0], FLOOR_NEW, path, shared, NULL);
        measure(arguments[0], FLOOR, floor_path, shared, NULL);
        snprintf(path, sizeof path, "%s/new-%d", arguments[2], i);
        measure(arguments[0], START_NEW, path, shared, NULL);
        measure(arguments[0], START, same, shared, &whole[1]);
        char *empty[] = { arguments[1], NULL };
        uint64_t took;
        run_child(empty, &took);
        series_add(&whole[0], (double)took / 1000);
    }
    double first[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        first[kind] = inside[kind].values[0];
    print_head("Start, inside the process; the floor: open, fallocate, map, 8 sigaction, sigaltstack", "us");
    for (int kind = 0; kind < KINDS; kind++) {
        inside[kind].name = names[kind];
        print_line(&inside[kind], kind == FLOOR_NEW ? NULL : &inside[FLOOR_NEW]);
    }
    inside[START].name = "  the same, as a ratio to the floor with an existing file";
    print_line(&inside[START], &inside[FLOOR]);
    printf("  (lg_start() makes a run file each time; the first calls, caches cold: floor %.1f, lg_start() %.1f)\n", first[FLOOR_NEW],
           first[START_NEW]);
    print_head("The same, CPU time of the calling thread", "us");
    for (int kind = 0; kind < KINDS; kind++) {
        cpu[kind].name = names[kind];
        print_line(&cpu[kind], kind == FLOOR_NEW ? NULL : &cpu[FLOOR_NEW]);
    }
    print_head("Start: the whole process, from spawn to wait", "us");
    print_line(&whole[0], NULL);
    print_line(&whole[1], &whole[0]);
    return 0;
}
