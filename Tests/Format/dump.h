/* Shared by the two files that print the results of the public reader. */
#ifndef DUMP_H
#define DUMP_H

#include <launchguard/launchguard.h>
#include <launchguard/reader.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern lg_reader *reader;

/* Bytes, each as the character of its number. */
void json_text(const char *text, size_t size);
void json_hex(const uint8_t *bytes, size_t size);

#define NUMBER(from, name) printf("\"%s\":%lld,", #name, (long long)(from).name)
#define UNSIGNED(from, name) printf("\"%s\":%llu,", #name, (unsigned long long)(from).name)
#define RARE(from, name) ((from).name ? UNSIGNED(from, name) : 0)
#define TEXT(from, name) (printf("\"%s\":", #name), json_text((from).name, strlen((from).name)), putchar(','))

/* Each part prints its key only where it exists: a file for which there was little space lacks
 * some. */
void dump_messages(void);
/* The threads of a dump: the crashed thread's walk by unwind tables, or walks of some threads. */
struct threads;
void dump_functions(const struct threads *of, uint32_t thread, uint32_t stored);
void dump_chains(const struct threads *of, uint32_t thread);
void dump_process(void);
void dump_threads(void);
void dump_memory(void);
void dump_stderr(void);
void dump_annotations(void);
void dump_pulse(void);
void dump_snapshots(void);
void dump_memory_snapshot(void);
void dump_guards(void);

#endif
