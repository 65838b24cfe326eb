/* Recursion, with an end and without. */
#include "bugs.h"

#include <alloca.h>
#include <stdio.h>
#include <string.h>

/* Never inlined: a recursion that is half inlined is another one. */
#define APART __attribute__((noinline)) static

#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif

static volatile long *volatile nowhere;
static volatile long sink, odd_limit;

/* ---- recursion that ends in a fault ---- */

APART void visit(long depth)
{
    if (depth)
        visit(depth - 1);
    else
        *nowhere = 1;
    STAY;
}

APART void odd(long depth);
APART void even(long depth)
{
    sink++;
    if (depth)
        odd(depth - 1);
    else
        *nowhere = 2;
    STAY;
}

APART void odd(long depth)
{
    sink += 3;
    even(depth ? depth - 1 : 0);
    STAY;
}

static void even_one(long depth) { even(depth); STAY; }

/* ---- recursion without an end ---- */

APART long expand(long depth)
{
    char room[40];
    memset(room, (int)depth, sizeof room);
    long deeper = expand(depth + 1);
    STAY;
    return deeper + room[depth % 40];
}

APART long fold(long depth)
{
    char room[72];
    memset(room, (int)depth, sizeof room);
    long deeper = fold(depth + 2);
    STAY;
    return deeper + room[depth % 72];
}

APART long ping(long depth);
APART long pong(long depth)
{
    char room[100];
    memset(room, (int)depth, sizeof room);
    long deeper = ping(depth + 1);
    STAY;
    return deeper + room[depth % 100];
}

APART long ping(long depth)
{
    char room[10];
    memset(room, (int)depth, sizeof room);
    long deeper = pong(depth + 1);
    STAY;
    return deeper + room[depth % 10];
}

/* Prints at each level: the stack may end in libc. */
APART long print(long depth)
{
    char room[40];
    snprintf(room, sizeof room, "%ld", depth);
    long deeper = print(depth + 1);
    STAY;
    return deeper + room[depth % 40];
}

APART void below(long (*endless)(long), size_t bytes)
{
    memset(alloca(bytes), 1, bytes);
    sink = endless(0);
}

static void expand_below(long bytes) { below(expand, (size_t)bytes); STAY; }
static void fold_below(long bytes) { below(fold, (size_t)bytes); STAY; }
static void ping_below(long bytes) { below(ping, (size_t)bytes); STAY; }
static void pong_below(long bytes) { below(pong, (size_t)bytes); STAY; }
static void print_below(long bytes) { below(print, (size_t)bytes); STAY; }
static void expand_in_thread(long bytes) { in_thread(expand_below, bytes, 128 << 10); }

const struct bug stack_bugs[] = {
    { "recursion 2", visit, 2 },
    { "recursion 200", visit, 200 },
    { "mutual 4", even_one, 4 },
    { "mutual 6", even_one, 6 },
    { "mutual 60", even_one, 60 },
    { "overflow", expand_below, 16 },
    { "overflow deeper", expand_below, 4000 },
    { "overflow in thread", expand_in_thread, 16 },
    { "other overflow", fold_below, 16 },
    { "mutual overflow", ping_below, 16 },
    { "mutual overflow deeper", ping_below, 80 },
    { "mutual overflow begun by the other", pong_below, 48 },
    { "printing overflow", print_below, 16 },
    { "printing overflow deeper", print_below, 2064 },
    { NULL, NULL, 0 },
};
