/* With AddressSanitizer: the alternate stack of a thread that ended is not unmapped twice. The
 * sanitizer's runtime unmaps it first. The test then maps the same addresses before LaunchGuard's
 * turn comes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <launchguard/launchguard.h>

static pthread_key_t key;
static stack_t made;
static void *mapped;

/* Takes the addresses once they are free. Destructors of keys run in the order of their creation:
 * this one between the sanitizer's and LaunchGuard's. */
static void take(void *rounds)
{
    void *got = mmap(made.ss_sp, made.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == made.ss_sp)
        mapped = got;
    else if (got != MAP_FAILED)
        munmap(got, made.ss_size);
    if (!mapped)
        pthread_setspecific(key, rounds);
}

static void *run(void *argument)
{
    pthread_setspecific(key, &key);
    sigaltstack(NULL, &made);
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
    pthread_t thread;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.launchguard.asan-thread";
    options.state_directory = count > 1 ? arguments[1] : NULL;
    if (pthread_key_create(&key, take) != 0 || lg_start(&options, &session) != LG_OK)
        return 2;
    if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    if (made.ss_size < 65536 || (made.ss_flags & SS_DISABLE)) {
        fprintf(stderr, "the thread had no alternate stack of LaunchGuard's\n");
        return 1;
    }
    if (mapped ? !is_mapped(mapped) : is_mapped(made.ss_sp)) {
        fprintf(stderr, "%s\n", mapped ? "LaunchGuard unmapped memory that the program had mapped at the same addresses" : "the alternate stack is still mapped");
        return 1;
    }
    printf("%s\n", mapped ? "taken" : "not taken");
    return 0;
}
