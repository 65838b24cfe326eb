/* Marks by which a program says to the supervisor what it does from here on: a system call that
 * fails, with arguments that nobody else uses. */
#ifndef MARK_H
#define MARK_H

#include <sys/syscall.h>
#include <unistd.h>

#define MARK 0x6c67

/* THREAD: what any thread but the first does, from the first mark on. */
enum phase { BEFORE, START, LIFE, CRASH, EXIT, THREAD, PHASES };

static inline void mark(enum phase phase)
{
    syscall(SYS_getpriority, MARK, phase);
}

#endif
