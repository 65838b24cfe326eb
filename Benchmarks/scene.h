/* The scene that every handler is shown: so many threads, so many calls, then a crash. Shared by the programs that are measured and
 * by those that measure. */
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

/* What the program tells the one that started it. */
struct scene_shared {
    uint64_t stamps[SCENE_STAMPS]; /* CLOCK_MONOTONIC, nanoseconds; 0: not reached */
    uint64_t begin, end;           /* where the code of the scene is: a frame in between is one of the program's calls */
    char record[512];              /* path of the file that the handler writes; "": it writes to standard error */
};

/* From the command line: PROGRAM MODE DEPTH THREADS CASE DESCRIPTOR DIRECTORY */
struct scene {
    const char *mode;      /* which handler, for a program that has several */
    const char *directory; /* for the files of a handler */
    struct scene_shared *shared;
};
extern struct scene scene;

/* First thing in main(): read the command line, be killed with the parent, leave no core file. */
void scene_open(int count, char **arguments);

/* With the handler installed: start the threads, call as deep as wanted, crash. Does not return. */
void scene_play(void) __attribute__((noreturn));

static inline void scene_stamp(enum scene_stamp stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    scene.shared->stamps[stamp] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The code of the scene has a section of its own, so that its addresses can be told from all others. */
#define IN_SCENE __attribute__((noinline, section("scene_text")))

/* Call `depth` different functions, one inside the other (from 512 on, the same again), then scene_fall(). */
void scene_descend(unsigned depth);
void scene_fall(void);

#ifdef __cplusplus
}
#endif

#endif
