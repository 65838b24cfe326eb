/* The thread that dies, and those beside it. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalogue.h"
#include "threads.h"

/* ---- kinds of threads ---- */

#define KINDS_MAX 8
static struct {
    const char *name;
    void (*start)(lgf_body body, void *argument);
} kinds[KINDS_MAX];
static unsigned kind_count;

void lgf_add_thread_kind(const char *name, void (*start)(lgf_body body, void *argument))
{
    if (kind_count < KINDS_MAX) {
        kinds[kind_count].name = name;
        kinds[kind_count++].start = start;
    }
}

struct begin {
    lgf_body body;
    void *argument;
};

void lgf_thread_begins(void)
{
#ifdef LGF_REGISTERS_THREADS
    lg_thread_register();
#endif
}

static void *begin_pthread(void *argument)
{
    lgf_thread_begins();
    struct begin begin = *(struct begin *)argument;
    free(argument);
    begin.body(begin.argument);
    return NULL;
}

static void start_pthread(lgf_body body, void *argument)
{
    pthread_t thread;
    struct begin *begin = malloc(sizeof *begin);
    if (begin)
        *begin = (struct begin){ body, argument };
    if (!begin || pthread_create(&thread, NULL, begin_pthread, begin) != 0)
        lgf_skip("no thread can be made");
    pthread_detach(thread);
}

bool lgf_has_thread_kind(const char *name)
{
    bool known = strcmp(name, "main") == 0 || strcmp(name, "pthread") == 0;
    for (unsigned i = 0; i < kind_count; i++)
        known |= strcmp(kinds[i].name, name) == 0;
    return known;
}

void lgf_start_thread(const char *kind, lgf_body body, void *argument)
{
    for (unsigned i = 0; i < kind_count; i++)
        if (strcmp(kinds[i].name, kind) == 0) {
            kinds[i].start(body, argument);
            return;
        }
    start_pthread(body, argument);
}

/* ---- threads that wait ---- */

static void wait_condition(void *argument)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
}
static void wait_asleep(void *argument)
{
    (void)argument;
    for (;;)
        lgf_sleep_ms(60000);
}
static void wait_spinning(void *argument)
{
    (void)argument;
    while (!lgf_zero) {}
}
static void wait_reading(void *argument)
{
    int ends[2];
    char byte;
    (void)argument;
    if (pipe(ends) == 0)
        while (read(ends[0], &byte, 1) != 0) {}
}
static void wait_deaf(void *argument)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    wait_asleep(argument);
}

void lgf_start_idle_threads(unsigned count)
{
    static const lgf_body ways[] = { wait_condition, wait_asleep, wait_spinning, wait_reading, wait_deaf };
    for (unsigned i = 0; i < count; i++)
        start_pthread(ways[i % (sizeof ways / sizeof ways[0])], NULL);
    if (count)
        lgf_sleep_ms(10); /* wait until they wait */
}

/* ---- the threads that die ---- */

static atomic_uint arrived;
static sem_t returned;

static void set_altstack(void)
{
    enum { GUARD = 4096, SIZE = 32768 }; /* as large as those of the Go runtime */
    stack_t stack = { .ss_flags = SS_DISABLE };
    if (strcmp(lgf_options.altstack, "ours") == 0)
        return;
    if (strcmp(lgf_options.altstack, "foreign") == 0) {
        char *base = mmap(NULL, GUARD + SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED || mprotect(base + GUARD, SIZE, PROT_READ | PROT_WRITE) != 0)
            lgf_skip("no memory for a stack");
        stack = (stack_t){ .ss_sp = base + GUARD, .ss_size = SIZE };
    }
    sigaltstack(&stack, NULL);
}

/* All at once, as far as this kind of thread permits: a pool may be too small for them. */
static void meet(void)
{
    atomic_fetch_add(&arrived, 1);
    for (int i = 0; atomic_load(&arrived) < lgf_options.threads && i < 100; i++)
        lgf_sleep_ms(1);
}

static __attribute__((noinline)) void deep(unsigned depth, void (*run)(void))
{
    volatile unsigned frame[4] = { depth };
    if (depth > 0)
        deep(depth - 1, run);
    else
        run();
    frame[1] = frame[0]; /* a statement after the call keeps the frame */
}

static void die(void *entry)
{
    void (*run)(void) = ((const struct lgf_entry *)entry)->run;
    set_altstack();
    if (lgf_options.threads > 1)
        meet();
    deep(lgf_options.depth, run);
    sem_post(&returned);
}

void lgf_run(const struct lgf_entry *entry)
{
    bool here = strcmp(lgf_options.thread, "main") == 0;
    void *argument = (void *)(uintptr_t)entry;
    sem_init(&returned, 0, 0);
    for (unsigned i = here ? 1 : 0; i < lgf_options.threads; i++)
        lgf_start_thread(here ? "pthread" : lgf_options.thread, die, argument);
    if (here)
        die(argument);
    for (unsigned i = 0; i < lgf_options.threads; i++)
        while (sem_wait(&returned) != 0) {}
}
