/* With AddressSanitizer: the alternate stack of a thread that ended is not unmapped twice, by
 * LaunchGuard and by the sanitizer's runtime. More threads end at once than LaunchGuard keeps
 * stacks for, and the test maps the addresses of each stack as soon as they are free. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include <launchguard/launchguard.h>

#define THREADS 20

/* Destructors of keys run in the order of their creation: one before LaunchGuard's, one after. */
static pthread_key_t first_key, last_key;
static pthread_barrier_t all_begun;
static struct thread {
    pthread_t thread;
    stack_t made;
    void *mapped;
} threads[THREADS];

static void take(struct thread *thread, pthread_key_t key)
{
    if (thread->mapped)
        return;
    void *got = mmap(thread->made.ss_sp, thread->made.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == thread->made.ss_sp)
        thread->mapped = got;
    else if (got != MAP_FAILED)
        munmap(got, thread->made.ss_size);
    if (!thread->mapped)
        pthread_setspecific(key, thread);
}

static void take_first(void *thread)
{
    take(thread, first_key);
}

static void take_last(void *thread)
{
    take(thread, last_key);
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    pthread_setspecific(first_key, thread);
    pthread_setspecific(last_key, thread);
    sigaltstack(NULL, &thread->made);
    pthread_barrier_wait(&all_begun);
    return argument;
}

static bool is_mapped(void *address)
{
    unsigned char resident;
    return mincore(address, 1, &resident) == 0 || errno != ENOMEM;
}

int main(int count, char **arguments)
{
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.launchguard.asan-thread";
    options.state_directory = count > 1 ? arguments[1] : NULL;
    if (pthread_key_create(&first_key, take_first) != 0 || lg_start(&options, &session) != LG_OK || pthread_key_create(&last_key, take_last) != 0 ||
        pthread_barrier_init(&all_begun, NULL, THREADS) != 0)
        return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i].thread, NULL, run, &threads[i]) != 0)
            return 2;
    int taken = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_join(threads[i].thread, NULL) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++) {
        if (threads[i].made.ss_size < 65536 || (threads[i].made.ss_flags & SS_DISABLE)) {
            fprintf(stderr, "a thread had no alternate stack of LaunchGuard's\n");
            return 1;
        }
        if (threads[i].mapped && !is_mapped(threads[i].mapped)) {
            fprintf(stderr, "memory was unmapped that the program had mapped at the addresses of a stack that was freed\n");
            return 1;
        }
        taken += threads[i].mapped != NULL;
    }
    printf("%d of %d taken\n", taken, THREADS);
    if (taken == 0)
        fprintf(stderr, "all alternate stacks are still mapped\n");
    return taken == 0;
}
