/* One way to log, in a program of its own that harness.c drives. */
#ifndef WRITER_H
#define WRITER_H

#include <stdint.h>

#define TEXT_BYTES 40

struct writer {
    const char *mode; /* the program's first argument; NULL ends the list */
    void (*open)(const char *directory);

    /* Append level, time, thread and the text: TEXT_BYTES bytes, and a NUL after them. A mode that
     * formats four arguments of its own does not use the text. */
    void (*append)(const char *text);

    uint32_t burst;       /* most entries, of all threads, before settle(); 0: no limit */
    void (*settle)(void); /* wait until the appended entries are written */
};

/* The pattern of every mode that formats: "opened %s: %u rows in %u ms, code %d". Volatile, because
 * real arguments are not known beforehand. */
struct writer_arguments {
    const char *volatile name;
    volatile unsigned rows, milliseconds;
    volatile int code;
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct writer writers[];
extern struct writer_arguments writer_arguments;

/* Ends the program: no figures. */
__attribute__((noreturn)) void writer_fail(const char *what);
#ifdef __cplusplus
}
#endif

#endif
