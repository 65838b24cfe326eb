/* pthread_create() of the shared library and of Swift packages, and thrd_create() of the shared
 * library: every thread begins protected. */
#include "capture/internal.h"

#include "os/os.h"

#include <pthread.h>

#ifdef LG_INTERPOSE_PTHREAD_CREATE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* A thread that is about to begin. Such places are kept for later threads and never freed: what a
 * new thread frees or allocates gets it an arena of 64 MiB of addresses, which a program with a
 * limit of them has not. */
struct begin {
    void *(*run)(void *);
    thrd_start_t run_thrd; /* in place of `run` */
    void *argument;
    uint64_t choice; /* of its mask */
};
struct place {
    struct begin begin;
    _Atomic bool busy;
    struct place *next;
};
static _Atomic(struct place *) places;

/* NULL: no memory. */
static struct place *take_place(void)
{
    struct place *place = atomic_load(&places);
    for (; place; place = place->next)
        if (!atomic_exchange(&place->busy, true))
            return place;
    place = malloc(sizeof *place);
    if (!place)
        return NULL;
    atomic_store(&place->busy, true);
    place->next = atomic_load(&places);
    while (!atomic_compare_exchange_weak(&places, &place->next, place)) {}
    return place;
}

static void *begin_thread(void *argument)
{
    struct place *place = argument;
    const struct begin begin = place->begin;
    atomic_store(&place->busy, false);
    lg__mask_inherit(begin.choice);
    /* a thread without memory for an alternate stack runs all the same */
    lg__capture_thread_begin();
    /* thrd_join() takes the result of pthread_join() for the number */
    void *result;
    LG__ARCH_FIRST_CALL(result, begin.run ? begin.run(begin.argument) : (void *)(intptr_t)begin.run_thrd(begin.argument));
    return result;
}

/* The pthread_create() of the sanitizers' runtimes, which must know every thread. */
extern int __interceptor_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));

/* Our function, wherever the name leads to. */
static int own_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    __attribute__((alias("pthread_create"), nothrow, nonnull(1, 3)));

/* In one program with such a runtime, our function takes the place of theirs, which is weak; the
 * next one is that of libc. Where theirs comes first, it calls ours. */
static bool took_place(void)
{
    create_function ours = own_create;
    void *first = dlsym(RTLD_DEFAULT, "pthread_create");
    return memcmp(&ours, &first, sizeof ours) == 0;
}

/* libc's function in a program without shared libraries, where dlsym() finds no next one. */
extern int __pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));

static create_function real_create(void)
{
    static _Atomic(create_function) real;
    create_function create = atomic_load(&real);
    if (!create) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&create, &found, sizeof create);
        if (!create)
            create = __pthread_create;
        if (__interceptor_pthread_create && took_place())
            create = __interceptor_pthread_create;
        atomic_store(&real, create);
    }
    return create;
}

/* The thread of ThreadSanitizer's runtime, which the runtime makes inside the first
 * pthread_create(), or before. */
extern void __tsan_init(void) __attribute__((weak));

static void *begin_nothing(void *argument)
{
    return argument;
}

static bool note_other(uint32_t number, void *argument)
{
    (void)argument;
    if ((int32_t)number == lg__os_tid())
        return true;
    lg__capture_never_ask((int32_t)number);
    return false;
}

/* Before the first thread of the program: the only other one is that of the runtime, and the kernel
 * lists threads in the order in which they began. */
static void note_runtime_thread(create_function create)
{
    static _Atomic bool noted;
    pthread_t thread;
    if (!__tsan_init || atomic_exchange(&noted, true) || create(&thread, NULL, begin_nothing, NULL) != 0)
        return;
    pthread_join(thread, NULL);
    int directory = lg__os_open("/proc/self/task");
    if (directory < 0)
        return;
    lg__os_list_numbers(directory, note_other, NULL);
    lg__os_close(directory);
}

int lg__capture_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    create_function create = real_create();
    if (create)
        note_runtime_thread(create);
    return create ? create(thread, attributes, run, argument) : EAGAIN;
}

static int create_protected(pthread_t *thread, const pthread_attr_t *attributes, struct begin how)
{
    create_function create = real_create();
    /* valgrind: there is no handler, and a report of each shared word */
    if (create && how.run && lg__arch_is_simulated())
        return create(thread, attributes, how.run, how.argument);
    struct place *place = create ? take_place() : NULL;
    if (!place)
        return EAGAIN;
    note_runtime_thread(create);
    how.choice = lg__mask_choice();
    place->begin = how;
    int error = create(thread, attributes, begin_thread, place);
    if (error)
        atomic_store(&place->busy, false);
    return error;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument)
{
    return create_protected(thread, attributes, (struct begin){ .run = run, .argument = argument });
}

#ifdef LG_INTERPOSE_SIGNALS
__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    const int error = create_protected(thread, NULL, (struct begin){ .run_thrd = run, .argument = argument });
    return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}
#else
/* A reference to this one brings __pthread_create() from the archive of libc. */
__attribute__((used)) static int (*const brings)(thrd_t *, thrd_start_t, void *) = thrd_create;
#endif
#else
int lg__capture_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return pthread_create(thread, attributes, run, argument);
}
#endif
