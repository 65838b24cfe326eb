#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "export.h"
#include "hint/signature.h"
#include "launchguard/base.h"
#include "process/environment.h"
#include "process/fault.h"
#include "process/limits.h"

static const char help[] =
    "usage: launchguard-agent --state DIRECTORY [--once] [--verbose]\n"
    "       launchguard-agent --export sentry|otlp --run FILE\n"
    "\n"
    "Waits for the end of the programs whose state is in DIRECTORY, makes reports of what ended\n"
    "badly, and sends them to where the program said. lg_delivery_start() starts it; a service or a\n"
    "person may as well. One agent serves a directory: a second one ends at once; one of another\n"
    "version takes its place. The agent acts as the owner of DIRECTORY: root becomes that user, and\n"
    "others are refused. Limits, scheduling and environment are the agent's own.\n"
    "\n"
    "  --state DIRECTORY  the state directory of the program\n"
    "  --once             send what is due now, each report once, then end\n"
    "  --via tool         say in the requests that a person asked for them\n"
    "  --verbose          log to standard error too\n"
    "  --export FORMAT    write the report of one ended run to standard output, as it is sent to such\n"
    "                     a server, and send nothing; `launchguard export` does that\n"
    "  --run FILE         the run file for --export\n"
    "  --help, --version\n"
    "\n"
    "exit status: 0 nothing is left to do, or another agent serves the directory; 2 usage; 3 there\n"
    "is no spool; 4 no configuration that can be used, or no consent; 5 a failure, see\n"
    "spool/agent.log; 6 with --once: reports are left that cannot go now;\n"
    "7 with --export: the file holds no run that ended, or cannot be read; 8 DIRECTORY belongs to\n"
    "another user; 9 spool/agent cannot be locked, or another agent does not end\n";

static int usage(const char *problem)
{
    fprintf(stderr, "launchguard-agent: %s; see launchguard-agent --help\n", problem);
    return AGENT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "state", required_argument, NULL, 's' }, { "once", no_argument, NULL, 'o' },    { "via", required_argument, NULL, 'v' },
        { "verbose", no_argument, NULL, 'e' },     { "help", no_argument, NULL, 'h' },    { "version", no_argument, NULL, 'V' },
        { "export", required_argument, NULL, 'x' }, { "run", required_argument, NULL, 'r' }, { NULL, 0, NULL, 0 },
    };
    struct agent_options chosen = { .via = "agent", .argv = argv };
    const char *format = NULL, *run = NULL;
    char *path;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's': chosen.state_directory = optarg; break;
        case 'o': chosen.once = true; break;
        case 'e': chosen.verbose = true; break;
        case 'v':
            if (strcmp(optarg, "tool") != 0 && strcmp(optarg, "agent") != 0)
                return usage("--via is \"agent\" or \"tool\"");
            chosen.via = strcmp(optarg, "tool") == 0 ? "tool" : "agent";
            break;
        case 'x': format = optarg; break;
        case 'r': run = optarg; break;
        case 'h': fputs(help, stdout); return AGENT_DONE;
        case 'V': printf("launchguard-agent " LG_VERSION_STRING "%s\n", signature_is_possible() ? "" : ", built without OpenSSL: hint_key has no effect"); return AGENT_DONE;
        default: return usage("an option cannot be understood");
        }
    }
    if (optind != argc)
        return usage("there is an argument too many");
    if (format && strcmp(format, "sentry") != 0 && strcmp(format, "otlp") != 0)
        return usage("--export is \"sentry\" or \"otlp\"");
    if (!format != !run || (format && chosen.state_directory))
        return usage("--export needs --run FILE, and no --state");
    if (format)
        return export_run(format, run);
    if (!chosen.state_directory)
        return usage("--state DIRECTORY is missing");
    path = realpath(chosen.state_directory, NULL);
    if (!path) {
        fprintf(stderr, "launchguard-agent: %s: no such directory, or not permitted\n", chosen.state_directory);
        return AGENT_NO_SPOOL;
    }
    chosen.state_directory = path;
    environment_reduce(argv);
    limits_reset();
    signal(SIGPIPE, SIG_IGN);
    fault_prepare();
    int status = agent_run(&chosen);
    free(path);
    return status;
}
