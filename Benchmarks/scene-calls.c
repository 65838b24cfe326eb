/* 512 functions: the frames of a deep stack are as different as those of a real program, so that no
 * unwinder profits from a cache of one. */
#include "scene.h"

#define EIGHT(make, prefix) \
    make(prefix##0) make(prefix##1) make(prefix##2) make(prefix##3) make(prefix##4) make(prefix##5) make(prefix##6) make(prefix##7)
#define SIXTY_FOUR(make, prefix)                                                                                              \
    EIGHT(make, prefix##0) EIGHT(make, prefix##1) EIGHT(make, prefix##2) EIGHT(make, prefix##3) EIGHT(make, prefix##4)        \
    EIGHT(make, prefix##5) EIGHT(make, prefix##6) EIGHT(make, prefix##7)
#define ALL(make)                                                                                                             \
    SIXTY_FOUR(make, scene_call_0) SIXTY_FOUR(make, scene_call_1) SIXTY_FOUR(make, scene_call_2) SIXTY_FOUR(make, scene_call_3) \
    SIXTY_FOUR(make, scene_call_4) SIXTY_FOUR(make, scene_call_5) SIXTY_FOUR(make, scene_call_6) SIXTY_FOUR(make, scene_call_7)

#define DECLARE(name) void name(unsigned depth);
#define LIST(name) name,
ALL(DECLARE)

static void (*const volatile calls[512])(unsigned) = { ALL(LIST) };

/* Inlined into each of them: one frame for each call. */
#define STEP(depth)                                       \
    do {                                                  \
        if ((depth) == 0)                                 \
            scene_fall();                                 \
        else                                              \
            calls[((depth) - 1) % 512]((depth) - 1);      \
    } while (0)

/* The comment in the assembler text keeps the compiler from merging equal functions. Its place
 * after the call prevents a tail call. */
#define DEFINE(name)                               \
    IN_SCENE void name(unsigned depth)             \
    {                                              \
        STEP(depth);                               \
        __asm__ volatile("# " #name ::: "memory"); \
    }
ALL(DEFINE)

IN_SCENE void scene_descend(unsigned depth)
{
    STEP(depth);
    __asm__ volatile("" ::: "memory");
}
