/* The scene for every handler: a number of threads and of calls, then a crash. Shared by the
 * programs that are measured and by those that measure. */
#ifndef SCENE_H
#define SCENE_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum scene_stamp {
    SCENE_FAULT,
    SCENE_ENTRY,
    SCENE_HEADER,
    SCENE_CONTEXT,
    SCENE_FRAMES,
    SCENE_DWARF,
    SCENE_MESSAGES,
    SCENE_THREADS,
    SCENE_STACKS,
    SCENE_PROCESS,
    SCENE_DONE,
    SCENE_STAMPS
};

/* Data from the program for the program that started it. */
struct scene_shared {
    uint64_t stamps[SCENE_STAMPS]; /* CLOCK_MONOTONIC, nanoseconds; 0: not reached */
    /* bounds of the scene's code: a frame in between is one of the program's calls */
    uint64_t begin, end;
    /* path of the file that the handler writes; "": standard error */
    char record[512];
};

/* From the command line: PROGRAM MODE DEPTH THREADS CASE DESCRIPTOR DIRECTORY */
struct scene {
    const char *mode;      /* the handler, for a program that has several */
    const char *directory; /* for the files of a handler */
    struct scene_shared *shared;
};
extern struct scene scene;

/* Call it first in main(): read the command line, die with the parent, leave no core file. */
void scene_open(int count, char **arguments);

/* Call it with the handler installed: start the threads, call to the depth, crash. Does not
 * return. */
void scene_play(void) __attribute__((noreturn));

static inline void scene_stamp(enum scene_stamp stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    scene.shared->stamps[stamp] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The code of the scene has a section of its own, so that its addresses are distinct from all
 * others. */
#define IN_SCENE __attribute__((noinline, section("scene_text")))

/* Call `depth` different functions, one inside the other (from 512 on, the same again), then
 * scene_fall(). */
void scene_descend(unsigned depth);
void scene_fall(void);

#ifdef __cplusplus
}
#endif

#endif
