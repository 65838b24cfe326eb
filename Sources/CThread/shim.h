/* Threads for Swift: functions that Swift does not see, because their number of arguments varies,
 * and types that each platform has its own of. */
#ifndef LAUNCHGUARD_CTHREAD_SHIM_H
#define LAUNCHGUARD_CTHREAD_SHIM_H

#include <pthread.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* Whether the calling thread is the process's first. */
static inline int lg_shim_is_main_thread(void)
{
#ifdef __linux__
    return syscall(SYS_gettid) == getpid();
#else
    return pthread_main_np();
#endif
}

/* Name the calling thread; cut after 15 bytes. */
static inline void lg_shim_name_thread(const char *name)
{
#ifdef __linux__
    prctl(PR_SET_NAME, name, 0, 0, 0);
#else
    pthread_setname_np(name);
#endif
}

/* Run a body on a detached thread of its own. Returns 0, or the system's error number. */
static inline int lg_shim_start_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, argument);
    return error ? error : pthread_detach(thread);
}

/* A counting semaphore: that of POSIX cannot be made on every platform. */
typedef struct lg_shim_semaphore {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    unsigned long count;
} lg_shim_semaphore;

static inline void lg_shim_semaphore_init(lg_shim_semaphore *semaphore)
{
    pthread_mutex_init(&semaphore->lock, NULL);
    pthread_cond_init(&semaphore->posted, NULL);
    semaphore->count = 0;
}

static inline void lg_shim_semaphore_destroy(lg_shim_semaphore *semaphore)
{
    pthread_cond_destroy(&semaphore->posted);
    pthread_mutex_destroy(&semaphore->lock);
}

static inline void lg_shim_semaphore_post(lg_shim_semaphore *semaphore)
{
    pthread_mutex_lock(&semaphore->lock);
    semaphore->count++;
    pthread_cond_signal(&semaphore->posted);
    pthread_mutex_unlock(&semaphore->lock);
}

static inline void lg_shim_semaphore_wait(lg_shim_semaphore *semaphore)
{
    pthread_mutex_lock(&semaphore->lock);
    while (semaphore->count == 0)
        pthread_cond_wait(&semaphore->posted, &semaphore->lock);
    semaphore->count--;
    pthread_mutex_unlock(&semaphore->lock);
}

#endif
