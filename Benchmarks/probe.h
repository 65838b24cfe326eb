/* The figures of a probe, for the program that started it. */
#ifndef PROBE_H
#define PROBE_H

struct probe_figures {
    /* of lg_start(), or of its floor; CPU time and page faults of the calling thread */
    double start_us, start_cpu_us, start_faults;
    double private_kib, virtual_kib, threads; /* after 50 ms */
    double thread_us, fork_us;                /* median of many in the process */
    unsigned long left_ns;                    /* at the end of main(), as from now_ns() */
};

#endif
