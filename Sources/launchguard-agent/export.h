/* Writes a run file in the format of a target to standard output: the content of a report, without
 * a spool and without a network. Changes nothing on the disk. */
#ifndef AGENT_EXPORT_H
#define AGENT_EXPORT_H

/* `format`: "sentry" or "otlp". Returns an exit status, and prints problems on standard error. */
int export_run(const char *format, const char *path);

#endif
