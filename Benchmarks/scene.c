#include "scene.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

struct scene scene;
static unsigned depth, threads;
static const char *what;
static atomic_uint ready;

/* From the linker: the ends of the section. */
extern const char __start_scene_text[], __stop_scene_text[];

void scene_open(int count, char **arguments)
{
    static const struct rlimit no_core = { 0, 0 };
    if (count != 7)
        _exit(2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    scene.mode = arguments[1];
    depth = (unsigned)atoi(arguments[2]);
    threads = (unsigned)atoi(arguments[3]);
    what = arguments[4];
    scene.directory = arguments[6];
    void *shared = mmap(NULL, sizeof *scene.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, atoi(arguments[5]), 0);
    if (shared == MAP_FAILED)
        _exit(2);
    scene.shared = shared;
    scene.shared->begin = (uintptr_t)__start_scene_text;
    scene.shared->end = (uintptr_t)__stop_scene_text;
}

/* ---- threads that do nothing, in three ways ---- */

static void *idle(void *argument)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    int pipe_ends[2];
    char byte;
    if (pipe(pipe_ends) != 0)
        _exit(2);
    atomic_fetch_add(&ready, 1);
    for (;;)
        switch ((uintptr_t)argument % 3) {
        case 0:
            pthread_mutex_lock(&mutex);
            pthread_cond_wait(&never, &mutex);
            pthread_mutex_unlock(&mutex);
            break;
        case 1: sleep(1000); break;
        default:
            if (read(pipe_ends[0], &byte, 1) < 0)
                usleep(1000);
        }
    return NULL;
}

/* A thread that is inside dlopen() for good: the constructor of the module that it loads does not
 * return. */
static void *hold_loader(void *argument)
{
    (void)argument;
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 32);
    if (size <= 0)
        _exit(2);
    path[size] = 0;
    strcpy(strrchr(path, '/'), "/scene-lock.so");
    dlopen(path, RTLD_NOW);
    _exit(2); /* the module could not be loaded */
}

static void start_thread(void *(*run)(void *), uintptr_t argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)argument) != 0)
        _exit(2);
}

/* ---- ways to crash ---- */

static int *volatile nowhere;

static IN_SCENE void scene_smash(void)
{
    volatile uintptr_t *frame = __builtin_frame_address(0);
    for (int i = 0; i < 512; i++)
        frame[i] = (uintptr_t)0x4141414141414141u;
    scene_stamp(SCENE_FAULT);
    *nowhere = 1;
}

static IN_SCENE void scene_jump(void)
{
    void (*volatile wild)(void) = (void (*)(void))(uintptr_t)0x41410000u;
    scene_stamp(SCENE_FAULT);
    wild();
    /* no tail call: the function that jumps stays on the stack */
    __asm__ volatile("" ::: "memory");
}

static IN_SCENE void scene_lose_frame(void)
{
    scene_stamp(SCENE_FAULT);
#if defined(__x86_64__)
    __asm__ volatile("mov $0x4242, %%rbp\n\tmovl $1, 0" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mov x29, #0x4242\n\tmov x9, #0\n\tstr w9, [x9]" ::: "x9", "memory");
#endif
}

IN_SCENE void scene_fall(void)
{
    if (strcmp(what, "smash") == 0)
        scene_smash();
    if (strcmp(what, "jump") == 0)
        scene_jump();
    if (strcmp(what, "frame") == 0)
        scene_lose_frame();
    scene_stamp(SCENE_FAULT);
    *nowhere = 1;
}

void scene_play(void)
{
    char room[8192]; /* end of the memory that scene_smash() destroys */
    __asm__ volatile("" ::"r"(room) : "memory");
    for (unsigned i = 1; i < threads; i++)
        start_thread(idle, i);
    while (atomic_load(&ready) + 1 < threads)
        usleep(100);
    usleep(10000); /* by now the threads sleep, and the handler's work on them is done */
    if (strcmp(what, "lock") == 0) {
        usleep(40000);
        start_thread(hold_loader, 0);
        usleep(100000);
    }
    scene_descend(depth);
    _exit(2);
}
