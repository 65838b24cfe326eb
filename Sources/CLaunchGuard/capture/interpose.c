/* pthread_create() of the shared library and of Swift packages: every thread begins with an alternate stack. */
#include "capture/capture.h"

#ifdef LG_INTERPOSE_PTHREAD_CREATE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
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
    lg__altstack_ensure(); /* without memory for it the thread runs all the same */
    return begin.run(begin.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument)
{
    static _Atomic(create_function) real;
    create_function create = atomic_load(&real);
    if (!create) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&create, &found, sizeof create);
        if (!create)
            return EAGAIN;
        atomic_store(&real, create);
    }
    struct begin *begin = malloc(sizeof *begin);
    if (!begin)
        return EAGAIN;
    *begin = (struct begin){ run, argument };
    int error = create(thread, attributes, begin_thread, begin);
    if (error)
        free(begin);
    return error;
}
#else
typedef int lg__no_interposition;
#endif
