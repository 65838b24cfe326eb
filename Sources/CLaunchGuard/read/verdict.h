/* The end of a run, and the facts by which it is judged. For the reader and for launch/. */
#ifndef LG_READ_VERDICT_H
#define LG_READ_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/reader.h"
#include "os/os.h"

struct lg__case {
    lg_reader *reader;
    lg_run_info run;
    uint8_t boot_id[LG__UUID_BYTES];
    bool has_boot_id;
    bool crashed; /* there is a crash record */
    bool died;    /* and the program is not known to have survived it */
    lg_crash_info crash;
    lg_verdict verdict;
};

/* Read a run file and judge it. `replaced`: the living process has executed another program over
 * itself, so that the run has ended. */
lg_status lg__reader_case(lg_reader *reader, bool replaced, struct lg__case *ret_case);

#endif
