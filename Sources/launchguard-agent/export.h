/* A run file in the format of a target, on standard output: what a report of the run is made of,
 * without a spool and without a network. Nothing is changed on the disk. */
#ifndef AGENT_EXPORT_H
#define AGENT_EXPORT_H

/* `format`: "sentry" or "otlp". Returns an exit status, and says on standard error what is
 * wrong. */
int export_run(const char *format, const char *path);

#endif
