#include "candidates.h"
#include "measured.h"

#include <stdio.h>
#include <sys/wait.h>

double candidate_instructions(enum candidate candidate)
{
    char file[4096], option[4200], line[256];
    unsigned long long total = 0;
    const char *directory = candidate_directory();
    snprintf(file, sizeof file, "%s/counted", directory);
    snprintf(option, sizeof option, "--callgrind-out-file=%s", file);
    char *arguments[] = { "/usr/bin/env", "valgrind", "--tool=callgrind", "--toggle-collect=counted_call", option,
                          (char *)candidate_program(candidate), (char *)candidate_mode(candidate), (char *)directory, "count", NULL };
    struct child child = { .arguments = arguments };
    int status = child_run(&child);
    FILE *counted = fopen(file, "re");
    if (!counted)
        return 0;
    while (fgets(line, sizeof line, counted) && sscanf(line, "totals: %llu", &total) != 1)
        ;
    fclose(counted);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !child.hung ? (double)total / COUNTED_CALLS : 0;
}
