/* pthread_create() of the shared library and of Swift packages: every thread begins protected. */
#include "capture/capture.h"

#include <pthread.h>

#ifdef LG_INTERPOSE_PTHREAD_CREATE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

struct begin {
    void *(*run)(void *);
    void *argument;
};

static void *begin_thread(void *argument)
{
    struct begin begin = *(struct begin *)argument;
    free(argument);
    lg__thread_begin(); /* without memory for an alternate stack the thread runs all the same */
    return begin.run(begin.argument);
}

static create_function real_create(void)
{
    static _Atomic(create_function) real;
    create_function create = atomic_load(&real);
    if (!create) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&create, &found, sizeof create);
        atomic_store(&real, create);
    }
    return create;
}

int lg__thread_create_plain(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    create_function create = real_create();
    return create ? create(thread, attributes, run, argument) : EAGAIN;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument)
{
    create_function create = real_create();
    struct begin *begin = create ? malloc(sizeof *begin) : NULL;
    if (!begin)
        return EAGAIN;
    *begin = (struct begin){ run, argument };
    int error = create(thread, attributes, begin_thread, begin);
    if (error)
        free(begin);
    return error;
}
#else
int lg__thread_create_plain(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return pthread_create(thread, attributes, run, argument);
}
#endif
